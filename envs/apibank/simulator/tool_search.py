"""ToolSearcher: the tool whose name and description are nearest to some keywords.

Official: the best one of the set by cosine of sentence embeddings. Here any ranker can decide
(``callgym.tool_backends.ranking``); index and answers are shared by all sessions.
"""

from __future__ import annotations

import re
from typing import Any

from callgym.envs.apibank.simulator.tables import Tables
from callgym.tool_backends.python import ToolFailure
from callgym.tool_backends.ranking import Ranker

__all__ = ["NOTHING", "ToolSearch", "split_capitals"]

_SEARCH, _TOKEN_TOOL = "ToolSearcher", "GetUserToken"
_CAPITAL = re.compile(r"([A-Z])")
_LONGEST_NAME = 80
NOTHING = "'NoneType' object has no attribute 'pop'"
"""What the official search says where it finds nothing."""


def split_capitals(keywords: str) -> str:
    """``QueryMeeting`` as ``Query Meeting``: what the official level-3 evaluation does to keywords."""
    return _CAPITAL.sub(r" \1", keywords).strip()


def _plain(text: str) -> str:
    return text[:_LONGEST_NAME].replace(" ", "").lower()


class ToolSearch:
    """The search over one set of tools."""

    def __init__(self, tables: Tables, tool_set: str, ranker: Ranker) -> None:
        self.ranker = ranker
        self._documents = tables.documents[tool_set]
        self._texts = tables.search_texts[tool_set]
        self._names = tuple(name for name in self._documents if name != _SEARCH)
        self._index = ranker.index(tuple(self._texts[name] for name in self._names))
        self._with_token = tool_set == "apis"
        self._by_plain_name = {_plain(name): name for name in self._names}

    def best(self, keywords: str) -> str | None:
        """The name of the best tool, the first of equals; None where nothing is found."""
        scores = self._index.scores(keywords)
        best = int(scores.argmax())
        return self._names[best] if scores[best] > 0 else None

    def named(self, keywords: str) -> str | None:
        """The tool whose name the keywords are, spaces and capitals aside; None where there is none."""
        return self._by_plain_name.get(_plain(keywords))

    def answer(self, name: str | None) -> Any:
        """What the tool search says of the tool it found: its documentation; for a tool that takes a token,
        GetUserToken's and its own. ToolFailure where it found none."""
        if name is None:
            raise ToolFailure(NOTHING)
        found = dict(self._documents[name])
        if not (self._with_token and "token" in found["input_parameters"]):
            return found
        return [{**self._documents[_TOKEN_TOOL], "desc_for_search": self._texts[_TOKEN_TOOL]}, found]

"""From groups of calls to the words of a user: frames, joints, and the voice of somebody in a hurry.

Misspelling touches only the words of templates, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from callgym.envs.bfcl.starter import single_phrases as phrases
from callgym.envs.bfcl.starter.single_calls import Group, pick

__all__ = ["Voice"]

_PARTS = re.compile(r"(\{\w+\})")
_WORD = re.compile(r"[A-Za-z]{5,}")
_SHORT = {re.compile(rf"\b{word}\b"): short for word, short in phrases.SHORT_FORMS.items()}
_TYPOS = 0.5  # the share of hurried requests with a misspelt word


@dataclass(frozen=True, slots=True)
class Voice:
    """How a user talks."""

    rng: Random
    split: str
    hurried: bool = False
    """Lower case, short forms, few marks, some words misspelt."""

    def ask(self, groups: Sequence[Group]) -> str:
        """One request for all groups of calls."""
        if len(groups) == 1:
            return self._framed(groups[0])
        if self.hurried and self.rng.random() < 0.4:
            return self._numbered(groups)
        sentences = [self._framed(groups[0]), *(self._joint(group) for group in groups[1:])]
        return " ".join(text if text[-1] in ".?!" else f"{text}." for text in sentences)

    def wish(self, template: str, said: Mapping[str, str]) -> str:
        """A request that no function serves, or that lacks its values."""
        return self._framed(Group((), template, said))

    def _framed(self, group: Group) -> str:
        end = group.template[-1]
        if end == ".":
            return self._capital(self._fill(group.template, group.said))
        if end == "?":
            return self._put(phrases.CASUAL_QUESTIONS if self.hurried else phrases.QUESTIONS, "question", group)
        return self._put(phrases.CASUAL_FRAMES if self.hurried else phrases.FRAMES, "clause", group)

    def _joint(self, group: Group) -> str:
        if group.template[-1] in ".?":
            return self._capital(self._fill(group.template, group.said))
        return self._put(phrases.JOINTS, "clause", group)

    def _numbered(self, groups: Sequence[Group]) -> str:
        opening = pick(self.rng, ("a few things:", "pls do these:", "todo for you", "i need:"))
        lines = [f"{i}. {self._fill(group.template, group.said)}" for i, group in enumerate(groups, 1)]
        return "\n".join((opening, *lines))

    def _put(self, frames: Mapping[str, Sequence[str]], slot: str, group: Group) -> str:
        frame: str = pick(self.rng, frames[self.split])
        before, _, after = frame.partition(f"{{{slot}}}")
        if not after and before == frame:
            before, _, after = frame.partition(f"{{{slot.title()}}}")
            text = self._capital(self._fill(group.template, group.said))
        else:
            text = self._fill(group.template, group.said)
        return before + text + after

    def _capital(self, text: str) -> str:
        return text if self.hurried else text[0].upper() + text[1:]

    def _fill(self, template: str, said: Mapping[str, str]) -> str:
        if self.hurried:
            template = self._hurry(template)
        return template.format_map(said)

    def _hurry(self, template: str) -> str:
        """The template in lower case, with short forms and perhaps a misspelt word; placeholders stay."""
        parts = _PARTS.split(template)
        typo = self.rng.random() < _TYPOS
        places = [i for i in range(0, len(parts), 2) if _WORD.search(parts[i])]
        chosen = pick(self.rng, places) if typo and places else -1
        for place in range(0, len(parts), 2):
            text = parts[place].lower()
            for word, short in _SHORT.items():
                if self.rng.random() < 0.4:
                    text = word.sub(short, text)
            parts[place] = self._misspell(text) if place == chosen else text
        text = "".join(parts)
        return text.rstrip("?.") if self.rng.random() < 0.5 and not text.endswith("}") else text

    def _misspell(self, text: str) -> str:
        words = list(_WORD.finditer(text))
        if not words:
            return text
        word = pick(self.rng, words)
        at = word.start() + 1 + int(self.rng.random() * (len(word.group()) - 3))
        kind = int(self.rng.random() * 3)
        if kind == 0:
            return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        if kind == 1:
            return text[:at] + text[at + 1 :]
        return text[:at] + text[at] + text[at:]

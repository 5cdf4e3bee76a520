"""The two web tools: search, and fetch a page.

Names, parameters, result shapes and errors follow ``bfcl-eval`` 2026.3.23; what answers is a Provider. Results are
limited in size, which officially they are not.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

from callgym.call import ToolCall, ToolResult
from callgym.envs.bfcl.method_call import call_method
from callgym.envs.bfcl.simulators.base import Refusal
from callgym.envs.bfcl.web.provider import Page, Provider, ProviderError
from callgym.json_value import copy_json
from callgym.task import Task

__all__ = ["NO_INDEX", "WebBackend", "WebSession", "WebTools"]

NO_INDEX = (
    "There is nothing to search here: no index of documents was given, and the live web is never contacted by itself. "
    "Make an index with callgym.envs.bfcl.web.index.build_index and give its path, gym.make(..., index=PATH), or give "
    "a Provider of your own in its place."
)
"""What both tools answer where there is no provider."""

_NO_RESULTS = "Failed to retrieve the search results from server. Please try again later."
_MAX_CONTENT = 30_000
_MAX_TITLE = 200
_MAX_BODY = 400
_MAX_URL = 2_000
_MAX_RESULTS = 50


class WebTools:
    """The tools over a provider.

    Args:
        provider: What answers; None answers every call with ``NO_INDEX``.
        show_snippet: Whether results have a ``body``: no in ``web_search_no_snippet``.
    """

    def __init__(self, provider: Provider | None, show_snippet: bool = True) -> None:
        self._provider = provider
        self._show_snippet = show_snippet
        self._methods: dict[str, Callable[..., Any]] = {
            "search_engine_query": self._search,
            "fetch_url_content": self._fetch,
        }

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(self._methods)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool; the result is a JSON value.

        Raises:
            Refusal: The official code raises here; the text is the official one.
        """
        if name not in self._methods:
            raise Refusal(f"name '{name}' is not defined")
        return call_method("WebSearchAPI", name, self._methods[name], arguments)

    def _search(self, keywords: Any, max_results: Any = 10, region: Any = "wt-wt") -> Any:
        if self._provider is None:
            return {"error": NO_INDEX}
        try:
            hits = list(self._provider.search(str(keywords), str(region)))[:_MAX_RESULTS]
        except Exception as error:  # as officially: a search engine may fail in any way
            return {"error": str(error)[:_MAX_URL]}
        if not hits:
            return {"error": _NO_RESULTS}
        results = []
        for hit in hits[:max_results]:
            result = {"title": hit.title[:_MAX_TITLE], "href": hit.url[:_MAX_URL]}
            if self._show_snippet:
                result["body"] = hit.body[:_MAX_BODY]
            results.append(result)
        return results

    def _fetch(self, url: Any, mode: Any = "raw") -> Any:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"Invalid URL: {url[:_MAX_URL]}")
        shown = url[:_MAX_URL]
        if self._provider is None:
            return {"error": NO_INDEX}
        try:
            page = self._provider.fetch(url)
            if mode not in _MODES:
                raise ProviderError(f"Unsupported mode: {str(mode)[:_MAX_TITLE]}")
            content = _MODES[mode](page)
        except Exception as error:  # as officially
            return {"error": f"An error occurred while fetching {shown}: {str(error)[:_MAX_URL]}"}
        if len(content) > _MAX_CONTENT:
            content = f"{content[:_MAX_CONTENT]}\n[{len(content) - _MAX_CONTENT} more characters]"
        return {"content": content}


# The three modes.


def _raw(page: Page) -> str:
    if page.html:
        return page.html
    title = html.escape(page.title, quote=False)
    body = "\n".join(f"<p>{html.escape(line, quote=False)}</p>" for line in page.text.split("\n") if line.strip())
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return f"<!DOCTYPE html>\n<html>\n{head}\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"


def _markdown(page: Page) -> str:
    return "\n\n".join([f"# {page.title}", *_lines(page)]) + "\n\n"


def _truncated(page: Page) -> str:
    return "\n".join([page.title, *_lines(page)])


_MODES: dict[Any, Callable[[Page], str]] = {"raw": _raw, "markdown": _markdown, "truncate": _truncated}


def _lines(page: Page) -> list[str]:
    text = page.text
    if not text and page.html:
        reader = _TextReader()
        reader.feed(page.html)
        reader.close()
        text = "\n".join(reader.texts)
    return [line.strip() for line in text.split("\n") if line.strip()]


class _TextReader(HTMLParser):
    """The text of a page, without what is not shown."""

    _HIDDEN = ("script", "style", "title", "noscript", "template")

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in self._HIDDEN:
            self._hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._hidden and self._hidden[-1] == tag:
            self._hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.texts.append(data.strip())


# As a backend.


class WebSession:
    """The tools of one episode; they have no state."""

    def __init__(self, tools: WebTools) -> None:
        self.tools = tools

    def call(self, call: ToolCall) -> ToolResult:
        """Run a tool; where the official code raises, a ``tool_error`` with its text."""
        if call.name not in self.tools.tools:
            return ToolResult(error="unavailable", message=f"{call.name} is no web tool")
        try:
            content = self.tools.call(call.name, call.arguments)
        except Refusal as refusal:
            return ToolResult(error="tool_error", message=str(refusal))
        return ToolResult.trusted(content=copy_json(content), error=None, message="")

    def state(self) -> dict[str, Any]:
        """Always empty."""
        return {}

    def close(self) -> None:
        """Nothing to give back."""


class WebBackend:
    """Opens the tools for every episode, with snippets where ``task.meta["show_snippet"]`` says so.

    Args:
        provider: What answers the tools. Without one, tasks of the starter set get the encyclopedia they ask about
            (``task.meta["corpus"]``), and others ``NO_INDEX``.
    """

    def __init__(self, provider: Provider | None = None) -> None:
        self._provider = provider

    def open(self, task: Task, seed: int) -> WebSession:
        """The tools; nothing in them is random."""
        return WebSession(WebTools(self._provider_of(task), bool(task.meta.get("show_snippet", True))))

    def _provider_of(self, task: Task) -> Provider | None:
        corpus = task.meta.get("corpus")
        if self._provider is None and isinstance(corpus, str):
            from callgym.envs.bfcl.web.corpus import corpus_index

            return corpus_index(corpus)
        return self._provider

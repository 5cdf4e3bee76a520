"""The gallery: for every id one real starter task, its first prompt, and the oracle's episode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from page import fenced

from callgym.checker import play
from callgym.command_line import harmless
from callgym.envs.base import make_tool_env
from callgym.registry import ENVIRONMENTS, EnvironmentEntry
from callgym.show import episode_as_text, task_as_text

__all__ = ["gallery_link", "gallery_pages"]

_LONGEST = 6_000
_PROMPT = "(the prompt above)"


def gallery_link(entry: EnvironmentEntry, up: str) -> str:
    """A link to an id's entry from a page that ``up`` leads out of."""
    return f"{up}/gallery/{entry.family}.md#{_anchor(entry)}"


def gallery_pages(titles: dict[str, str]) -> dict[str, str]:
    """Place to Markdown, a page a family."""
    pages: dict[str, list[str]] = {}
    for seed, entry in enumerate(ENVIRONMENTS):
        page = f"gallery/{entry.family}.md"
        title = titles.get(entry.family, entry.family)
        pages.setdefault(page, [f"# Gallery: {title}"]).extend(_entry(entry, seed))
    return {page: "\n".join(lines) + "\n" for page, lines in pages.items()}


def _entry(entry: EnvironmentEntry, seed: int) -> Iterator[str]:
    """The seed differs from id to id, so that a group does not show its first category's task again."""
    env: Any = make_tool_env(entry.id, data="starter")
    env.reset(seed=seed)
    task = env.task
    episode = play(env, lambda observation: env.oracle_action(), seed, task.id)
    env.close()
    yield from ("", f"## `{entry.id}` {{: #{_anchor(entry)} }}", "")
    yield from (f"{entry.summary[0].upper()}{entry.summary[1:]}. [The environment](../environments/{entry.id}.md)", "")
    yield from (fenced(_cut(task_as_text(task))), "")
    yield from _folded("The first prompt, as the policy gets it", _cut(episode.prompt))
    played = episode_as_text(episode.model_copy(update={"prompt": _PROMPT}))
    yield from _folded("An episode: what the oracle does, what comes back, and why it is paid", _cut(played))


def _folded(title: str, text: str) -> Iterator[str]:
    yield f'??? example "{title}"'
    yield from (f"    {line}" for line in fenced(text).splitlines())
    yield ""


def _cut(text: str) -> str:
    text = harmless(text)
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]}\n\n[... {len(text) - _LONGEST:,} characters are left out here ...]\n\n{text[-half:]}"


def _anchor(entry: EnvironmentEntry) -> str:
    return entry.id.replace("/", "-").replace("_", "-").lower()

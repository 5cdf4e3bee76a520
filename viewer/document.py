"""The page's frame: markup, looks and code as assets, a policy that lets nothing else run, and a place for the data.

The frame is split at its placeholders once; what takes their place is never read as a frame again. The policy names
the page's own code and looks by their hashes: no script that data could smuggle in would run, and nothing is fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib import resources

from callgym.terminal import one_line

__all__ = ["MARK", "Document", "is_page"]

MARK = '<meta name="generator" content="callgym view">'
"""Stands at the top of every page that is written here."""

_SCRIPT = (
    "foreign_text", "elements", "json_value", "page_data", "view_state", "search", "list", "filters", "gold",
    "explanations", "episode", "compare", "charts", "page",
)  # fmt: skip
"""The files of the script, in their order: one script, so that one hash names it."""
_PLACES = ("<!--CSP-->", "<!--TITLE-->", "/*CSS*/", "<!--DATA-->", "/*JS*/")
_SPLIT = re.compile("|".join(map(re.escape, _PLACES)))
_LONGEST_TITLE = 200
_READ = 4096


class Document:
    """A page without its data."""

    def __init__(self, title: str, *, frame: str | None = None, looks: str | None = None, code: str | None = None):
        """Put the parts together.

        Args:
            title: What the browser's window is called.
            frame: The markup with each placeholder once; by default the one that is installed.
            looks: Its style sheet.
            code: Its script.
        """
        frame = _asset("page.html") if frame is None else frame
        looks = _asset("viewer.css") if looks is None else looks
        code = "\n".join(_asset(f"script/{name}.js") for name in _SCRIPT) if code is None else code
        if sorted(_SPLIT.findall(frame)) != sorted(_PLACES):
            raise ValueError(f"the frame has each of {_PLACES} once")
        if re.search(r"</script|<!--", code, re.IGNORECASE) or "</style" in looks.lower():
            raise ValueError("the script or the style sheet would end its own element")
        shown = html.escape(one_line(title)[:_LONGEST_TITLE])
        parts = {"/*CSS*/": looks, "/*JS*/": code, "<!--TITLE-->": shown, "<!--CSP-->": "", "<!--DATA-->": ""}
        self.policy = _policy(_content(frame, "/*JS*/", code), _content(frame, "/*CSS*/", looks))
        """The page's Content-Security-Policy."""
        policy = html.escape(self.policy, quote=False)
        parts["<!--CSP-->"] = f'{MARK}\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
        before, after = frame.split("<!--DATA-->")
        self.head, self.tail = (_SPLIT.sub(lambda place: parts[place[0]], side) for side in (before, after))


def is_page(opening: bytes) -> bool:
    """Whether a file that begins so is a page of ours."""
    return MARK.encode() in opening[:_READ]


def _asset(name: str) -> str:
    text = (resources.files("callgym.viewer") / "assets" / name).read_text(encoding="utf-8")
    # A browser reads line ends as it likes them, and compares the hash with what it has read.
    return text.replace("\r\n", "\n")


def _content(frame: str, place: str, text: str) -> str:
    """What will stand in the element that holds a placeholder."""
    before, after = frame.split(place)
    return before[before.rindex(">") + 1 :] + text + after[: after.index("<")]


def _policy(code: str, looks: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(looks)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"

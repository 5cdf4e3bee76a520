"""A real, headless Chromium in which a page may show itself and do nothing else.

    def test_a_page(visit):
        page = visit(path, "#view=charts")

Dialogs, errors, messages of a content security policy, requests for anything but the page's own file, windows and
downloads are written down, and fail the test. So does a script of somebody else's that ran: it would have set one of
the names that hostile texts of the tests set.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

__all__ = ["CANARY", "Visit", "Watch", "chromium", "find_chromium", "visit", "wait_until"]

CANARY = "canary"
"""Hostile texts of the tests set this property of the window, if they run."""

Visit = Callable[..., Page]
"""(page's path, its hash, keyword arguments of ``Watch.open``) to the open page."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ON_VIOLATION = (
    """addEventListener("securitypolicyviolation", event => console.error("refused: " + event.blockedURI))"""
)


def find_chromium() -> str | None:
    """The browser's program: CALLGYM_CHROMIUM, or what is installed; None where there is none."""
    given = os.environ.get("CALLGYM_CHROMIUM")
    return given or next(filter(None, map(shutil.which, _NAMES)), None)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser; where there is none the test is skipped, or fails under CALLGYM_BROWSER_TESTS=required."""
    program = find_chromium()
    if program is None:
        message = f"no browser: install one of {', '.join(_NAMES)}, or name it in CALLGYM_CHROMIUM"
        if os.environ.get("CALLGYM_BROWSER_TESTS") == "required":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watch:
    """Opens pages and writes down whatever they do besides showing themselves."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []

    def open(
        self,
        path: Path,
        fragment: str = "",
        *,
        width: int = 1280,
        height: int = 800,
        scheme: Literal["light", "dark"] = "light",
        before: str = "",
        ready: str = "true",
    ) -> Page:
        """Open a file, and wait until it says that it is ready.

        Args:
            path: The page.
            fragment: What follows it in the address, ``#`` included.
            width: Of the window, in pixels.
            height: Likewise.
            scheme: Which colours the reader likes.
            before: A script that runs before those of the page.
            ready: What the page is to say of itself.
        """
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        self._contexts.append(context)
        context.add_init_script(_ON_VIOLATION)
        if before:
            context.add_init_script(before)
        address = path.resolve().as_uri()
        context.on("request", lambda request: self._check(request, address))
        page = context.new_page()
        self._watch(page)
        context.on("page", lambda other: self.faults.append(f"a window was opened: {other.url}"))
        page.goto(address + fragment)
        page.wait_for_selector("html[data-ready]", state="attached")
        assert page.evaluate("document.documentElement.dataset.ready") == ready, page.inner_text("body")
        return page

    def close(self) -> None:
        """Close all pages; what they did besides is in ``faults``."""
        for context in self._contexts:
            for page in context.pages:
                if page.evaluate(f"typeof window.{CANARY}") != "undefined":
                    self.faults.append("a script of the data ran")
            context.close()

    def _check(self, request: Request, address: str) -> None:
        if request.url.partition("#")[0] != address and not request.url.startswith("data:"):
            self.faults.append(f"a request: {request.url[:200]}")

    def _watch(self, page: Page) -> None:
        def refuse(dialog: Any) -> None:
            self.faults.append(f"a dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", refuse)
        page.on("pageerror", lambda error: self.faults.append(f"an error of the page: {error}"))
        page.on("download", lambda download: self.faults.append(f"a download: {download.url[:200]}"))
        page.on("console", lambda message: self.faults.append(f"console: {message.type}: {message.text}"))


def wait_until(page: Page, expression: str) -> None:
    """Wait until an expression is true, for half a minute at most.

    Playwright's own ``wait_for_function`` asks again from within the page, where the page's policy forbids ``eval``.
    """
    for _ in range(600):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """Opens pages; the test fails if one of them did anything but show itself."""
    watch = Watch(chromium)
    yield watch.open
    watch.close()
    assert watch.faults == []

"""What the web tools need of whatever answers them: an index of documents, or a live search engine of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

__all__ = ["Hit", "Page", "Provider", "ProviderError"]


class ProviderError(Exception):
    """A search or a fetch failed; the text is shown to the policy."""


class Hit(NamedTuple):
    """One search result."""

    title: str
    url: str
    body: str
    """A few words from the page."""


class Page(NamedTuple):
    """One document."""

    url: str
    title: str
    text: str
    """Plain text; empty where there is only ``html``."""
    html: str = ""
    """The page as it came; empty for a document that is plain text."""


class Provider(Protocol):
    """Searches and fetches. It must be picklable, and usable in a forked process and from several threads.

    An exception other than ProviderError is shown to the policy, too, as the official tools show it.
    """

    def search(self, keywords: str, region: str) -> Sequence[Hit]:
        """The results for ``keywords``, best first; ``region`` is a code such as ``us-en``, ``wt-wt`` for none."""

    def fetch(self, url: str) -> Page:
        """The page at ``url``, which begins with http:// or https://.

        Raises:
            ProviderError: There is none.
        """

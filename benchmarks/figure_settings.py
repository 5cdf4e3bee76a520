"""What the figures are of: every registered id, in each protocol that it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callgym.envs.base import make_tool_env
from callgym.registry import ENVIRONMENTS

__all__ = ["PROTOCOLS", "Setting", "folder_of", "settings"]

PROTOCOLS: dict[str, tuple[str, ...]] = {"apibank": ("step", "dialogue")}
"""The protocols of families whose ids have several."""
_FOLDERS = {"apibank": ("api_bank", "apibank"), "bfcl": ("bfcl",), "when2call": ("when2call",)}
"""Family to what the folder of its official files may be called."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An id in one protocol."""

    id: str
    """The registered id."""
    family: str
    """Its benchmark."""
    protocol: str
    """``step``, ``dialogue``, ``single``, or ``mixed``."""
    summary: str
    """What the policy does, in a line."""
    options: tuple[tuple[str, Any], ...] = ()
    """Arguments of ``gym.make`` that choose the protocol, where it is not the id's own."""

    @property
    def key(self) -> str:
        """Id and protocol: what files of figures call it."""
        return f"{self.id} {self.protocol}"

    @property
    def words(self) -> str:
        """The options as ``callgym`` takes them, with a space before each."""
        return "".join(f" --set {name}={value}" for name, value in self.options)

    def env(self, data: str | Path, **more: Any) -> Any:
        """The environment, unwrapped."""
        return make_tool_env(self.id, data=str(data), **dict(self.options), **more)


def settings(ids: Sequence[str] = ()) -> Iterator[Setting]:
    """Every id in every protocol that it has; only those that begin with one of ``ids``, where any are given."""
    for entry in ENVIRONMENTS:
        if ids and not entry.id.startswith(tuple(ids)):
            continue
        for protocol in PROTOCOLS.get(entry.family, (entry.protocol,)):
            options = () if protocol == entry.protocol else (("protocol", protocol),)
            yield Setting(entry.id, entry.family, protocol, entry.summary, options)


def folder_of(family: str, official: Path | None) -> Path | None:
    """The folder of a family's official files below ``official``; None where there is none."""
    if official is None:
        return None
    return next((official / name for name in _FOLDERS[family] if (official / name).is_dir()), None)

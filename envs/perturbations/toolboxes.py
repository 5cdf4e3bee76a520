"""Which tools belong together: the classes of BFCL's dialogues."""

from __future__ import annotations

from typing import Any

from callgym.envs.perturbations.renaming import Renaming
from callgym.envs.perturbations.task_parts import every_tool
from callgym.task import Task

__all__ = ["toolboxes"]


def toolboxes(task: Task) -> dict[str, str]:
    """Tool to the class that it is a function of, by ``meta["involved_classes"]``; other tools are not in it."""
    from callgym.envs.bfcl.simulators.session import class_of
    from callgym.envs.bfcl.simulators.signature import signatures_of

    classes: Any = task.meta.get("involved_classes", [])
    owners = {name: owner for owner in classes for name in signatures_of(owner, class_of(owner))}
    renaming = Renaming.of(task)
    found = {name: owners.get(renaming.original_name(name)) for name in every_tool(task)}
    return {name: owner for name, owner in found.items() if owner is not None}

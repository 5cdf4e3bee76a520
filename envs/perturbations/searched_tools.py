"""Documents of tools that API-Bank's tool search will find, before it was asked."""

from __future__ import annotations

from callgym.envs.perturbations.renaming import Renaming
from callgym.task import Task
from callgym.tool import Tool

__all__ = ["apibank_tool"]


def apibank_tool(task: Task, name: str) -> Tool | None:
    """A tool of the databases that a live task runs on, under the name that the task has for it; None where there is
    none."""
    level = task.meta.get("level")
    if task.family != "apibank" or not isinstance(level, int):
        return None
    from callgym.envs.apibank.simulator.tables import loaded_tables, starter_tables
    from callgym.envs.apibank.tools import make_tool

    tables = loaded_tables(str(task.meta["tables"])) if "tables" in task.meta else starter_tables()
    renaming = Renaming.of(task)
    documents = {} if tables is None else tables.documents["lv3_apis" if level == 3 else "apis"]
    document = documents.get(renaming.original_name(name))
    return None if document is None else renaming.tool(make_tool(document))

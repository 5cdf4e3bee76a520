"""What shows that two processes mean the same task: a digest of where it is from and what it begins with."""

from __future__ import annotations

import hashlib
import json

from callgym.task import Task

__all__ = ["task_digest"]


def task_digest(task: Task) -> str:
    """The same for tasks of one benchmark and split that begin with the same state, on every machine."""
    text = json.dumps([task.family, task.split, task.initial_state], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

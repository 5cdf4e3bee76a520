"""Starter tasks in API-Bank's shape, made by a seeded generator that was written for this project::

tasks = starter_tasks(1, "train")            # 4,000 tasks, always the same
more = itertools.islice(generate(2, "train", seed=7), 10_000)
"""

from callgym.envs.apibank.starter.generator import generate, starter_tasks
from callgym.envs.apibank.starter.tools import TOOLS, starter_backend

__all__ = ["TOOLS", "generate", "starter_backend", "starter_tasks"]

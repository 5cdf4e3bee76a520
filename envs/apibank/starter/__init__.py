"""Starter tasks in API-Bank's shape, made by a seeded generator that was written for this project::

tasks = starter_tasks(1, "train")            # 4,000 tasks of the protocol `step`, always the same
more = itertools.islice(generate(2, "train", seed=7), 10_000)
live = starter_dialogues(1, "train")         # 2,000 dialogues of the protocol `dialogue`
"""

from callgym.envs.apibank.starter.generator import generate, starter_tasks
from callgym.envs.apibank.starter.live import generate_dialogues, starter_dialogues
from callgym.envs.apibank.starter.tools import TOOLS, starter_backend

__all__ = ["TOOLS", "generate", "generate_dialogues", "starter_backend", "starter_dialogues", "starter_tasks"]

"""Tasks of our own for all four decisions; see ``tasks``."""

from callgym.envs.when2call.starter.tasks import generate, starter_tasks

__all__ = ["generate", "starter_tasks"]

"""Starter dialogues: live tasks on API-Bank's own tools over small worlds of our own."""

from callgym.envs.apibank.starter.live.generator import generate_dialogues, starter_dialogues

__all__ = ["generate_dialogues", "starter_dialogues"]

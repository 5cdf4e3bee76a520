"""Starter dialogues: live tasks on API-Bank's own tools, over small tables of our own::

    tasks = starter_dialogues(1, "train")                                 # 2,000 tasks, always the same
    more = itertools.islice(generate_dialogues(2, "train", seed=7), 10_000)

Levels 1 and 2 (shares of the kinds in ``writers``): one request; several in successive turns, often built
on one another; such as need a login or a token; vague ones, where the assistant has to ask; days told as
seen from today; dialogues of which one turn, or all, ask for what no tool can do. Level 3
(``requirements``): one requirement that takes two to four calls.

Each task brings the personal tables that its calls work on (accounts, agenda, bookings); what is only read,
such as the encyclopedia, is in the simulators' own starter tables.
"""

from callgym.envs.apibank.starter.live.generator import generate_dialogues, starter_dialogues

__all__ = ["generate_dialogues", "starter_dialogues"]

"""What assistants say when they ask back, and when they say that something cannot be done.

Each sentence is of one kind only: one that asks does not apologise, one that declines does not ask.
"""

from __future__ import annotations

from random import Random

from callgym.envs.bfcl.starter.single_calls import pick

__all__ = ["OPENERS", "ask", "decline"]

_ASK = (
    "Could you tell me {noun}?",
    "To {deed}, I need to know {noun}. Could you tell me?",
    "Please tell me {noun}.",
    "Before I {deed}, could you tell me {noun}?",
    "One thing is missing. Could you tell me {noun}?",
    "I still need one detail: please let me know {noun}.",
    "Could you let me know {noun}?",
)
_DECLINE = (
    "I'm sorry, but none of the tools I have can {deed}.",
    "I can't {deed} with the tools I have here.",
    "Sorry, there is no tool here with which I could {deed}.",
    "I am unable to {deed}, as I have no tool for it.",
    "Unfortunately I cannot {deed}, for none of my tools does that.",
    "My tools do something else, so I'm afraid I cannot {deed}.",
)
_DECLINE_BARE = (
    "I'm sorry, but without any tool I cannot {deed}.",
    "I have no tools in this conversation, so I am unable to {deed}.",
    "Sorry, I can't {deed} here, as I was given no tools.",
)
OPENERS = {
    "train": (
        ("hello there", "Hello, what can I do for you today?"),
        ("are you busy?", "Not at all, go ahead."),
        ("i have two things for you", "Fine, let us begin with the first one."),
        ("good morning!", "Good morning, I am listening."),
        ("one more thing", "Of course, go on."),
        ("can we start?", "Yes, whenever you are ready."),
        ("sorry, I got cut off", "No problem, where were we?"),
        ("that was all right, thanks", "Glad to hear it. Is there anything else?"),
    ),
    "test": (
        ("hi, me again", "Welcome back, what is it this time?"),
        ("got a minute?", "Sure, tell me."),
        ("still there?", "Yes, I am here."),
        ("okay, next", "All right, what comes next?"),
        ("evening!", "Good evening, how can I help?"),
    ),
}
"""Split to what user and assistant may say before the question."""


def ask(rng: Random, noun: str, deed: str) -> str:
    """A question back.

    Args:
        rng: Where chance comes from.
        noun: What is asked for.
        deed: What is to be done, after ``to``.
    """
    frame: str = pick(rng, _ASK)
    return frame.format(noun=noun, deed=deed)


def decline(rng: Random, deed: str, tools: bool = True) -> str:
    """Says that it cannot be done.

    Args:
        rng: Where chance comes from.
        deed: What cannot be done, after ``to``.
        tools: Whether there is any tool.
    """
    frame: str = pick(rng, _DECLINE if tools else _DECLINE_BARE)
    return frame.format(deed=deed)

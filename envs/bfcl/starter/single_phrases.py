"""The sentences around the starter tasks' requests, as data. Splits share some of them, not all.

In a frame, ``{clause}`` is an imperative and ``{question}`` a question with its mark; capitalised, they open the
sentence.
"""

from __future__ import annotations

__all__ = [
    "CASUAL_FRAMES",
    "CASUAL_QUESTIONS",
    "CHATTER",
    "DECLINES",
    "EITHER",
    "FRAMES",
    "JOINTS",
    "LACKING",
    "QUESTIONS",
    "SHORT_FORMS",
    "SYSTEM",
    "TOPICS",
    "UNSERVED",
]

_ANY_FRAMES = ("{Clause}.", "Please {clause}.", "Can you {clause}?")
FRAMES = {
    "train": (
        *_ANY_FRAMES,
        "Could you {clause}?",
        "I need you to {clause}.",
        "I'd like you to {clause}.",
        "{Clause}, please.",
        "Would it be possible to {clause}?",
        "For a project of mine, {clause}.",
    ),
    "test": (
        *_ANY_FRAMES,
        "Would you {clause}, please?",
        "Kindly {clause}.",
        "Here is what I need: {clause}.",
        "Do me a favour and {clause}.",
        "My colleague asked me to have you {clause}.",
    ),
}
"""Split to frames of an imperative."""
QUESTIONS = {
    "train": ("{Question}", "Tell me, {question}", "I have a question: {question}", "Before I go on, {question}"),
    "test": (
        "{Question}",
        "Maybe you know this: {question}",
        "I was wondering: {question}",
        "My question is: {question}",
    ),
}
CASUAL_FRAMES = {
    "train": (
        "{clause}",
        "hey, {clause}",
        "hi! can you {clause}",
        "{clause} please",
        "{clause}, thanks!",
        "i need you to {clause} asap",
        "ok so {clause}",
        "{Clause}!!",
    ),
    "test": (
        "{clause}",
        "hello there, {clause}",
        "could you quickly {clause}",
        "{clause} when you get a minute",
        "so my boss wants you to {clause}",
        "{clause}, cheers",
        "right, {clause}",
    ),
}
CASUAL_QUESTIONS = {
    "train": ("{question}", "hey {question}", "quick one: {question}", "{question} thanks", "hmm, {question}"),
    "test": ("{question}", "hello, {question}", "random question: {question}", "{question} cheers", "so {question}"),
}
JOINTS = {
    "train": ("Then {clause}.", "Also, {clause}.", "After that, {clause}.", "And {clause}."),
    "test": ("Next, {clause}.", "Also, {clause}.", "Besides, {clause}.", "And {clause}."),
}
"""Frames of a further request."""
EITHER = {
    "train": ("Any of these will do.", "Whichever you like.", "One of them is enough, you choose."),
    "test": ("I don't mind which.", "Pick one of them.", "Either way is fine with me."),
}
"""What follows a request with alternatives."""
SHORT_FORMS = {
    "please": "pls",
    "you": "u",
    "are": "r",
    "thanks": "thx",
    "because": "bc",
    "about": "abt",
    "what is": "whats",
    "and": "n",
}
SYSTEM = {
    "train": (
        "You answer the customers of a small company. Use the functions you are given whenever they fit.",
        "You are the assistant of an office. Be brief, and do not guess values.",
        "Today is a working day. Requests come from a chat window; answer with calls where functions fit.",
        "You work behind a voice assistant: what users say may be misspelt.",
    ),
    "test": (
        "You help the guests of a platform with their everyday requests, by means of functions.",
        "You are a support agent with access to functions. Do not make values up.",
        "The user writes from a phone. Call functions where they help and say so where none does.",
    ),
}
DECLINES = (
    "None of the functions I have can do this.",
    "I have no function that fits this request.",
    "The functions at hand do not cover this.",
)
LACKING = (
    "Some values that the function needs are missing; please give them.",
    "I need a few more details before I can do this.",
)
TOPICS = {
    "train": (
        "lighthouses", "my old neighbour", "autumn", "remote work", "slow trains", "a lost umbrella", "street food",
        "wild bees", "night shifts", "board games", "a broken violin", "moving house",
    ),
    "test": (
        "ferry rides", "our school choir", "winter mornings", "second-hand shops", "mushroom hunting", "chess clubs",
        "a stubborn goat", "learning to whistle",
    ),
}  # fmt: skip
UNSERVED = {
    "train": (
        "write a short poem about {topic}",
        "draft a speech of two minutes about {topic}",
        "explain to a child why people care about {topic}",
        "give me your opinion on {topic}",
        "make up a riddle about {topic}",
        "name three arguments against {topic}",
        "come up with a slogan for {topic}",
        "invent a bedtime story about {topic}",
        "tell me a joke about {topic}",
    ),
    "test": (
        "compose a limerick about {topic}",
        "write the opening of a novel about {topic}",
        "summarise what philosophers have said about {topic}",
        "suggest a title for an essay about {topic}",
        "argue in favour of {topic}",
        "describe {topic} without using the letter e",
    ),
}
"""Wishes that no function of the catalogue can serve; each says which topic it is about."""
CHATTER = {
    "train": (
        "thanks, that was quick",
        "who made you?",
        "good morning! slept well?",
        "how do i centre a box on a web page?",
        "you gave me the wrong answer yesterday",
        "what can you do for me?",
        "i am bored",
        "why does my code say index out of range?",
        "never mind, i found it myself",
        "do you dream at night?",
    ),
    "test": (
        "brilliant, many thanks",
        "which model are you?",
        "evening! long day...",
        "how do i undo the last commit?",
        "that is not what i meant",
        "are you a person?",
        "my keyboard is sticky",
        "ok bye",
    ),
}
"""What users say without asking for anything that a function does."""

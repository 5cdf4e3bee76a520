"""Small talk and opinions."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from callgym.envs.bfcl.starter.functions_pools import FIRST_NAMES, words
from callgym.envs.bfcl.starter.single_calls import pick
from callgym.envs.when2call.starter.chat_model import Chat

__all__ = ["CHATS"]

_DONE = {
    "train": words("the_tickets the_timetable the_recipe the_shopping_list my_speech the_translation the_route"),
    "test": words("the_budget the_seating_plan my_letter the_garden_plan"),
}
_FEATS = {
    "train": words(
        "passed_my_driving_test finished_my_first_marathon baked_my_first_loaf planted_twelve_tulips "
        "found_my_lost_ring learned_to_juggle sold_my_old_car"
    ),
    "test": words("repaired_my_bicycle won_at_chess wrote_my_first_song finished_a_jigsaw_puzzle"),
}
_HABITS = {
    "train": (
        ("walking to work", "it wakes one up and costs nothing", "sport.training_plan"),
        ("keeping a diary", "it clears the head and helps one remember", "notes.save"),
        ("taking the night train", "one saves a day and wakes up somewhere new", "travel.find_trains"),
        ("cooking for several days", "it saves time and there is always something to eat", "kitchen.find_recipes"),
        ("turning the heating down at night", "it saves money and one sleeps better", "home.set_heating"),
        ("growing herbs at home", "they are fresh and need little room", "garden.watering_plan"),
        ("making lists of tasks", "nothing gets lost and one sees what is done", "tasks.list_open"),
    ),
    "test": (
        ("borrowing books", "it costs little and leaves room on the shelf", "library.find_book"),
        ("having short meetings", "people listen and get back to work", "calendar.create_event"),
        ("listening to the radio", "one hears things one would not have looked for", "home.play_radio"),
        ("copying files every week", "one loses a few days of work at most", "backup.schedule"),
    ),
}
_MOODS = {
    "train": words("tired bored restless nervous cheerful homesick"),
    "test": words("sleepy lonely excited grumpy"),
}
_OFFICE = ("notes.save", "calendar.create_event", "mail.send", "tasks.list_open", "home.play_radio")


def _thanks(rng: Random, split: str) -> Mapping[str, str]:
    return {"done": pick(rng, _DONE[split]), "name": pick(rng, FIRST_NAMES)}


def _greeting(rng: Random, split: str) -> Mapping[str, str]:
    return {"name": pick(rng, FIRST_NAMES)}


def _feat(rng: Random, split: str) -> Mapping[str, str]:
    return {"feat": pick(rng, _FEATS[split]), "name": pick(rng, FIRST_NAMES)}


def _habit(rng: Random, split: str) -> Mapping[str, str]:
    habit, answer, function = pick(rng, _HABITS[split])
    return {"habit": habit, "answer": answer, "tempting": function}


def _mood(rng: Random, split: str) -> Mapping[str, str]:
    return {"mood": pick(rng, _MOODS[split]), "name": pick(rng, FIRST_NAMES)}


CHATS = (
    Chat(
        "thanks",
        (
            "thank you, {done} worked out well, even {name} was pleased.",
            "many thanks for your help with {done}, {name} sends regards.",
            "I wanted to thank you: {done} turned out fine and {name} liked it.",
            "{done} went down well with {name}, thanks a lot for that.",
        ),
        ("You are welcome, I am glad that {done} worked out.", "It was a pleasure to help with {done}."),
        _thanks,
        "help with that",
        "what else I should do about it",
        _OFFICE,
    ),
    Chat(
        "greeting",
        (
            "good morning, my name is {name} and I just wanted to say hello.",
            "hello, {name} here, I have nothing to ask today.",
            "good evening, this is {name}, only dropping by for a word.",
            "hi, it is {name}, I am just saying hello before lunch.",
        ),
        ("Hello {name}, it is good to hear from you.", "Nice to meet you, {name}. I am here whenever you need me."),
        _greeting,
        "talk about that",
        "which task you have for me",
        _OFFICE,
    ),
    Chat(
        "feat",
        (
            "I {feat} today, and {name} was there to see it.",
            "guess what, {name}, the good news is that I {feat}.",
            "you will be glad to hear that I {feat} with {name} this week.",
            "{name} said I should tell you that I {feat}.",
        ),
        ("Congratulations, that is wonderful news.", "Well done, you can be proud of that."),
        _feat,
        "comment on that",
        "the date on which it happened",
        ("calendar.create_event", "notes.save", "sport.running_pace"),
    ),
    Chat(
        "mood",
        (
            "I feel a bit {mood} this afternoon, and so does {name}.",
            "{name} and I are rather {mood} today, that is all.",
            "it is one of those days when {name} and I feel {mood}.",
            "do you know this: {name} is {mood} and it rubs off on me.",
        ),
        ("Days like that come and go; be kind to yourselves.", "I know such days. A short walk together may do good."),
        _mood,
        "do anything about that",
        "since when you have felt like that",
        ("health.sleep_report", "music.create_playlist", "health.book_appointment"),
    ),
    Chat(
        "habit",
        (
            "what speaks for {habit}, in your view?",
            "give me one good reason for {habit}",
            "why would anybody care about {habit}?",
            "tell me what you find good about {habit}",
        ),
        ("What I like about {habit}: {answer}.", "One good reason: {answer}."),
        _habit,
        "give opinions",
        "how often you do it",
    ),
)
"""In no order that matters."""

"""Chats about words and sentences: to say something otherwise, to choose a word, to draft a line."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from callgym.envs.bfcl.starter.functions_pools import FIRST_NAMES, words
from callgym.envs.bfcl.starter.functions_values import listed
from callgym.envs.bfcl.starter.single_calls import pick
from callgym.envs.when2call.starter.chat_model import Chat, Draw, out_of

__all__ = ["CHATS"]

_POLITE = (
    ("Send me the report.", "I would be grateful if you sent me the report"),
    ("Move your car.", "It would help me a lot if you moved your car"),
    ("Call the plumber.", "Please be so kind as to call the plumber"),
    ("Turn the music down.", "I would be glad if you turned the music down a little"),
    ("Bring the ladder back.", "It would be kind of you to bring the ladder back"),
    ("Fix the printer today.", "We would be grateful to have the printer working again today"),
    ("Stop parking here.", "Please be so kind as to park on the other side"),
    ("Give me a refund.", "I would be grateful for a refund"),
    ("Answer my letter.", "I would be glad to have an answer to my letter"),
    ("Clean the kitchen.", "It would be kind of you to clean the kitchen"),
    ("Cancel the booking.", "I would be grateful if you cancelled the booking"),
    ("Be on time.", "I would be glad if we all came on time"),
)
_PAST = (
    ("The train arrives late.", "The train arrived late."),
    ("She sings in the choir.", "She sang in the choir."),
    ("We drive to the coast.", "We drove to the coast."),
    ("He writes a long letter.", "He wrote a long letter."),
    ("They book a small hotel.", "They booked a small hotel."),
    ("I forget my umbrella.", "I forgot my umbrella."),
    ("The lamp falls off the table.", "The lamp fell off the table."),
    ("You choose the blue one.", "You chose the blue one."),
    ("The parcel weighs two pounds.", "The parcel weighed two pounds."),
    ("It snows on the hills.", "It snowed on the hills."),
    ("Our guests leave at noon.", "Our guests left at noon."),
    ("The shop sells fresh bread.", "The shop sold fresh bread."),
)
_SHORT = (
    ("Due to the fact that it was raining, we stayed in.", "As it was raining, we stayed in."),
    ("At this point in time the lift is out of order.", "The lift is out of order."),
    ("He is a man who never gives up.", "He never gives up."),
    ("In spite of the fact that she was tired, she danced.", "Though tired, she danced."),
    ("There are many people who like tea.", "Many people like tea."),
    ("I am writing in order to thank you for the flowers.", "Thank you for the flowers."),
    ("The reason why I am late is that the bus broke down.", "I am late because the bus broke down."),
    ("It is the case that our office is closed on Friday.", "Our office is closed on Friday."),
    ("We would like to inform you that the pool opens in May.", "The pool opens in May."),
    ("Each and every one of the seats was taken.", "All seats were taken."),
    ("In the event that it snows, the match moves to Sunday.", "If it snows, the match moves to Sunday."),
    ("What I want to say is that the soup was good.", "The soup was good."),
)
_SPELLING = (
    ("recieve", "receive"), ("seperate", "separate"), ("definately", "definitely"), ("tommorow", "tomorrow"),
    ("accomodate", "accommodate"), ("neccessary", "necessary"), ("calender", "calendar"), ("wich", "which"),
    ("untill", "until"), ("adress", "address"), ("begining", "beginning"), ("freind", "friend"),
    ("goverment", "government"), ("occured", "occurred"), ("publically", "publicly"),
)  # fmt: skip
_PLURALS = (
    ("goose", "geese"), ("knife", "knives"), ("child", "children"), ("mouse", "mice"), ("leaf", "leaves"),
    ("tooth", "teeth"), ("loaf", "loaves"), ("foot", "feet"), ("ox", "oxen"), ("shelf", "shelves"),
    ("wolf", "wolves"), ("city", "cities"), ("hero", "heroes"), ("crisis", "crises"), ("potato", "potatoes"),
)  # fmt: skip
_OPPOSITES = (
    ("generous", "stingy"), ("ancient", "modern"), ("shallow", "deep"), ("noisy", "quiet"), ("arrive", "depart"),
    ("expand", "shrink"), ("rough", "smooth"), ("victory", "defeat"), ("increase", "decrease"), ("tight", "loose"),
    ("humble", "proud"), ("borrow", "lend"), ("sharp", "blunt"), ("forbid", "allow"), ("scarce", "plentiful"),
)  # fmt: skip
_SYNONYMS = (
    ("quick", "swift"), ("begin", "start"), ("angry", "furious"), ("brave", "bold"), ("tired", "weary"),
    ("huge", "enormous"), ("silent", "hushed"), ("strange", "odd"), ("clever", "bright"), ("rich", "wealthy"),
    ("repair", "mend"), ("glad", "pleased"), ("gather", "collect"), ("vacant", "empty"), ("sincere", "honest"),
)  # fmt: skip
_FRIENDLY = (
    ("See me in my office.", "Drop by my office when it suits you."),
    ("Your payment is late.", "A small reminder that your payment has not reached us yet."),
    ("You made a mistake in row four.", "I think something slipped into row four."),
    ("We are closed.", "We are back tomorrow at nine and look forward to seeing you."),
    ("No dogs.", "Please let your dog wait outside."),
    ("I disagree.", "I see it a little differently."),
    ("That is not my job.", "Let me bring you to the colleague who knows this best."),
    ("Read the manual.", "The manual has a nice page on this."),
    ("You forgot the attachment.", "The attachment seems to have got lost on the way."),
    ("Hurry up.", "It would be great to have it soon."),
    ("The meeting is cancelled.", "You have an hour to yourself today: the meeting is off."),
    ("Pay here.", "Here is where we settle the bill, thank you."),
)
_TOPICS = {
    "train": words(
        "the_summer_party the_new_coffee_machine a_lost_key parking_at_the_office the_choir_trip our_book_club "
        "the_broken_lift the_spring_fair a_change_of_rooms the_bake_sale"
    ),
    "test": words("the_garden_day the_missing_projector our_lantern_walk the_fire_drill a_swap_of_shifts"),
}
_WORDS = words(
    "apple basket candle dragon engine forest garden hammer island jacket kettle ladder mirror needle orange pepper "
    "quartz rabbit saddle turtle umbrella valley window yellow zebra"
)
_SAYINGS = (
    "the fog lifts slowly", "every door has a key", "bring your own cup", "the lake is frozen", "mind the wet paint",
    "we open in autumn", "seven geese fly south", "keep the gate shut", "ring the bell twice", "no news is good news",
    "the soup needs salt", "rain follows the wind",
)  # fmt: skip


def _pairs(pool: tuple[tuple[str, str], ...]) -> Draw:
    """Draws what is given and what is made of it."""

    def draw(rng: Random, split: str) -> Mapping[str, str]:
        given, answer = out_of(pool, rng, split)
        return {"given": given, "answer": answer}

    return draw


def _capitals(rng: Random, split: str) -> Mapping[str, str]:
    given = out_of(_SAYINGS, rng, split)
    return {"given": given, "answer": given.upper()}


def _sorted(rng: Random, split: str) -> Mapping[str, str]:
    chosen = rng.sample(_WORDS, 4)
    return {"given": listed(chosen), "answer": ", ".join(sorted(chosen))}


def _word_count(rng: Random, split: str) -> Mapping[str, str]:
    given = out_of(_SAYINGS, rng, split)
    return {"given": given, "answer": str(len(given.split()))}


def _backwards(rng: Random, split: str) -> Mapping[str, str]:
    given = out_of(_WORDS, rng, split)
    return {"given": given, "answer": given[::-1]}


def _initials(rng: Random, split: str) -> Mapping[str, str]:
    given = out_of(_SAYINGS, rng, split)
    return {"given": given, "answer": "".join(word[0] for word in given.split()).upper()}


def _without(rng: Random, split: str) -> Mapping[str, str]:
    chosen = rng.sample(_WORDS, 4)
    gone = pick(rng, chosen)
    return {"given": listed(chosen), "gone": gone, "answer": listed([word for word in chosen if word != gone])}


def _friendlier(rng: Random, split: str) -> Mapping[str, str]:
    cold, warm = out_of(_FRIENDLY, rng, split)
    first, second = (cold, warm) if rng.random() < 0.5 else (warm, cold)
    return {"first": first, "second": second, "answer": warm}


def _topic(rng: Random, split: str) -> Mapping[str, str]:
    return {"topic": pick(rng, _TOPICS[split])}


def _person(rng: Random, split: str) -> Mapping[str, str]:
    return {"name": pick(rng, FIRST_NAMES), "topic": pick(rng, _TOPICS[split])}


_MAIL = ("mail.send", "mail.search", "notes.save")
_LANGUAGE = ("language.find_rhymes", "notes.save", "files.rename")

CHATS = (
    Chat(
        "polite",
        (
            'make this sentence more polite: "{given}"',
            'how do I say "{given}" in a more polite way?',
            'rewrite "{given}" so that nobody feels ordered about',
            'what would be a kinder way to write "{given}"?',
        ),
        ('More polite is: "{answer}."', 'You could write: "{answer}."'),
        _pairs(_POLITE),
        "rewrite sentences",
        "whom the sentence is for",
        _MAIL,
    ),
    Chat(
        "past",
        (
            'put this sentence into the past tense: "{given}"',
            'what is "{given}" in the past tense?',
            'rewrite "{given}" as something that happened yesterday',
            'how does "{given}" read in the past?',
        ),
        ('In the past tense: "{answer}"', '"{answer}"'),
        _pairs(_PAST),
        "change tenses",
        "which language you want it in",
        _LANGUAGE,
        determined=True,
    ),
    Chat(
        "shorter",
        (
            'shorten this sentence: "{given}"',
            'how can I say "{given}" in fewer words?',
            'rewrite "{given}" without the padding',
            'which words could go from "{given}"?',
        ),
        ('Shorter: "{answer}"', 'This says the same: "{answer}"'),
        _pairs(_SHORT),
        "shorten sentences",
        "how long it may be",
        ("notes.save", "mail.send", "files.compress"),
    ),
    Chat(
        "capitals",
        (
            'write "{given}" in capital letters',
            'how does "{given}" look in capitals?',
            'put the words "{given}" into upper case',
            'I need "{given}" in capitals for a sign.',
        ),
        ("{answer}", 'In capitals: "{answer}"'),
        _capitals,
        "change letters",
        "the size of the sign",
        ("files.rename", "notes.save", "config.set_value"),
        determined=True,
    ),
    Chat(
        "alphabet",
        (
            "sort these words by the alphabet: {given}",
            "in which order do {given} stand in a dictionary?",
            "put {given} into alphabetical order",
            "which order is alphabetical for {given}?",
        ),
        ("In alphabetical order: {answer}.", "{answer}."),
        _sorted,
        "sort words",
        "the column to sort by",
        ("table.filter_rows", "chemistry.rank_by_mass", "files.search"),
        determined=True,
    ),
    Chat(
        "words",
        (
            'count the words in "{given}"',
            'how many words are there in "{given}"?',
            'tell me how many words "{given}" has',
            'out of how many words does "{given}" consist?',
        ),
        ("There are {answer} words.", "It has {answer} words."),
        _word_count,
        "count words",
        "which file the text is in",
        ("table.count_rows", "files.search", "notes.save"),
        determined=True,
    ),
    Chat(
        "backwards",
        (
            'spell the word "{given}" backwards',
            'how is "{given}" spelled from back to front?',
            'write "{given}" with its letters in reverse',
            'what does "{given}" read like from right to left?',
        ),
        ('"{answer}"', 'Backwards it is "{answer}".'),
        _backwards,
        "turn words around",
        "what you need it for",
        ("language.find_rhymes", "geometry.rotate_point", "music.transpose"),
        determined=True,
    ),
    Chat(
        "initials",
        (
            'make a word out of the first letters of "{given}"',
            'which letters do the words of "{given}" begin with?',
            'give me the initials of "{given}"',
            'what do the first letters of "{given}" make?',
        ),
        ("{answer}", "The first letters are {answer}."),
        _initials,
        "take first letters",
        "how the letters should be parted",
        _LANGUAGE,
        determined=True,
    ),
    Chat(
        "without",
        (
            'take the word "{gone}" out of this list: {given}',
            'what is left of {given} without "{gone}"?',
            'repeat the words {given}, but skip "{gone}"',
            'which words remain if I strike "{gone}" out of {given}?',
        ),
        ("Without it: {answer}.", "What remains is {answer}."),
        _without,
        "edit lists",
        "the number of the row",
        ("table.set_value", "notes.save", "calendar.delete_event"),
        determined=True,
    ),
    Chat(
        "spelling",
        (
            'correct the spelling of "{given}"',
            'how is the word "{given}" really spelled?',
            'tell me the right spelling of "{given}"',
            'is "{given}" spelled correctly?',
        ),
        ('The right spelling is "{answer}".', 'One writes "{answer}".'),
        _pairs(_SPELLING),
        "check spelling",
        "which dictionary I should use",
        ("language.translate", "language.find_rhymes", "files.search"),
        determined=True,
    ),
    Chat(
        "plural",
        (
            'what is the plural of "{given}"?',
            'tell me the plural of the noun "{given}"',
            'how do I write "{given}" when there are two?',
            'give me "{given}" in the plural',
        ),
        ('The plural of "{given}" is "{answer}".', 'Two of them are "{answer}".'),
        _pairs(_PLURALS),
        "form plurals",
        "how many there are",
        ("language.find_rhymes", "language.translate", "botany.latin_name"),
        determined=True,
    ),
    Chat(
        "opposite",
        (
            'what is the opposite of "{given}"?',
            'name a word that means the opposite of "{given}"',
            'which word says the contrary of "{given}"?',
            'I am looking for the opposite of "{given}".',
        ),
        ('The opposite of "{given}" is "{answer}".', 'That would be "{answer}".'),
        _pairs(_OPPOSITES),
        "find opposites",
        "the sentence it stands in",
        ("language.find_rhymes", "language.translate", "library.find_book"),
    ),
    Chat(
        "synonym",
        (
            'what is another word for "{given}"?',
            'give me a word that means the same as "{given}"',
            'which word could I use instead of "{given}"?',
            'replace "{given}" by a word that says the same',
        ),
        ('Another word for "{given}" is "{answer}".', 'You could say "{answer}".'),
        _pairs(_SYNONYMS),
        "find other words",
        "the tone of the text",
        ("language.find_rhymes", "language.translate", "mail.search"),
    ),
    Chat(
        "friendlier",
        (
            'which sounds friendlier, "{first}" or "{second}"?',
            'help me choose the warmer of two lines: "{first}" or "{second}"',
            'would you rather read "{first}" or "{second}"?',
            'tell me which line is nicer: "{first}" or "{second}"',
        ),
        ('To my ear this one is friendlier: "{answer}"', 'I would take "{answer}"'),
        _friendlier,
        "judge tone",
        "who is going to read it",
        _MAIL,
    ),
    Chat(
        "subject",
        (
            "suggest a subject line for a mail about {topic}",
            "what would be a good subject line for a mail about {topic}?",
            "come up with a heading for a message about {topic}",
            "how could I head a letter about {topic}?",
        ),
        ('A clear one is "News about {topic}".', 'I suggest "A word about {topic}".'),
        _topic,
        "write subject lines",
        "the address it goes to",
        _MAIL,
    ),
    Chat(
        "invitation",
        (
            "word a one-line invitation for {name} about {topic}",
            "how do I invite {name} to talk about {topic} in one line?",
            "draft one sentence that asks {name} to a chat about {topic}",
            "what could I write to {name} so that we talk about {topic}?",
        ),
        (
            '"Dear {name}, I would love to hear what you think about {topic}."',
            '"Hello {name}, let us sit down and talk about {topic} soon."',
        ),
        _person,
        "draft lines",
        "the date of the meeting",
        ("calendar.create_event", "mail.send", "calendar.free_slots"),
    ),
    Chat(
        "birthday",
        (
            "write a birthday wish of one sentence for {name}",
            "what can I put on a birthday card for {name}?",
            "find a warm line for {name}'s birthday",
            "how do I wish {name} a happy birthday in one sentence?",
        ),
        (
            '"Happy birthday, {name}, and a year full of good surprises."',
            '"All the best to you, {name}, today and every day after."',
        ),
        _person,
        "write birthday wishes",
        "the date of the birthday",
        ("calendar.create_event", "mail.send", "shop.place_order"),
    ),
    Chat(
        "team",
        (
            "think of a name for a group that looks after {topic}",
            "what could we call the team that takes care of {topic}?",
            "suggest a title for a leaflet about {topic}",
            "which name would suit a committee for {topic}?",
        ),
        ('"Friends of {topic}" has a good ring to it.', 'I like "All hands for {topic}".'),
        _topic,
        "find names",
        "how many people are in it",
        ("tasks.assign", "files.rename", "music.create_playlist"),
    ),
)
"""In no order that matters."""

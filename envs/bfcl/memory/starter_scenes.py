"""What people of the starter conversations talk about: facts that can be asked for later, and small talk.

All sentences and names were written for this project. ``{v}`` is where a fact's value goes.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["POOLS", "SCENES", "SMALL_TALK", "Fact", "Scene"]


class Fact(NamedTuple):
    """Something said once, perhaps corrected later, and the question on it."""

    pool: str
    """Where its value comes from: a name in ``POOLS``, or ``number:low:high``."""
    said: tuple[str, ...]
    """Ways to say it; one is chosen."""
    question: str
    corrected: str = ""
    """How a later conversation changes it; the new value is the answer then."""


class Scene(NamedTuple):
    """One kind of person."""

    topics: tuple[str, ...]
    """What each conversation is about, in order."""
    facts: tuple[Fact, ...]
    small_talk: tuple[str, ...]


POOLS: dict[str, tuple[str, ...]] = {
    "first name": (
        "Aurelie", "Bastian", "Cosima", "Dorian", "Elowen", "Fergus", "Ginevra", "Hamish", "Ilka", "Jorick", "Katinka",
        "Leander", "Mirela", "Nestor", "Ottilie", "Percival", "Quirin", "Rosalba", "Sixten", "Tamsin", "Ulrika",
        "Valerian", "Wanda", "Xaver", "Ysolde", "Zdenek",
    ),
    "family name": (
        "Abernethy", "Brandvold", "Castellane", "Dragomir", "Eskildsen", "Farquhar", "Grimaldi", "Hollenbeck",
        "Ingersoll", "Jarnefelt", "Kowalczyk", "Lindqvist", "Marchetti", "Nordheim", "Oyelaran", "Pemberton",
        "Quintanar", "Rautio", "Stavros", "Tollefsen",
    ),
    "town": (
        "Aldermoor", "Brackwater", "Cinderford", "Dunmallow", "Eastmere", "Fallowby", "Glenharrow", "Hartsholm",
        "Inverdale", "Kettlewick", "Larkhaven", "Mossbridge", "Nettlecombe", "Oxbarrow", "Pennystone", "Ravensby",
        "Saltmarsh", "Thornbury", "Underhill", "Wexcliffe",
    ),
    "colour": ("turquoise", "crimson", "ochre", "lilac", "emerald", "ivory", "scarlet", "indigo", "amber", "teal"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "date": tuple(
        f"{day} {month}" for month in ("March", "April", "June", "August", "October") for day in range(3, 28, 4)
    ),
    "maker": (
        "Brightwell", "Corvane", "Dornfeld", "Elmsworth", "Falkner", "Grauer", "Halvorsen", "Ironbark", "Juniper",
        "Kestrel", "Lodestar", "Morgana", "Northgate", "Orrery", "Pellucid",
    ),
    "tree": ("linden", "acacia", "chestnut", "heather", "buckwheat", "lavender", "clover", "rapeseed"),
    "boat": (
        "Grey Heron", "Lady Marigold", "Second Wind", "Morning Tide", "Iron Duckling", "Sea Thistle", "Copper Moon",
        "Quiet Harbour", "Restless Anna", "Northern Plover",
    ),
    "wood": ("larch", "teak", "oak", "cedar", "mahogany", "spruce", "iroko", "elm"),
    "part": ("rudder", "bilge pump", "mast step", "forward hatch", "keel bolt", "tiller", "anchor winch", "gearbox"),
    "piece": (
        "The Lantern Mass", "Songs of the Weir", "Winter Vespers", "Ode to the Harbour", "The Millstone Carols",
        "Psalms at Daybreak", "The Glass Requiem", "Ballads of the Fen",
    ),
    "voice": ("soprano", "alto", "tenor", "baritone", "bass"),
    "building": ("old granary", "town library", "fire station", "museum hall", "village school", "parish church"),
    "key": ("A minor", "E flat major", "D major", "G minor", "B flat major", "F sharp minor"),
    "island": ("Skarvoy", "Tolmen", "Isle of Bracken", "Hestra", "Korvane Rock", "Little Auk Island", "Vardholm"),
    "animal": ("puffins", "grey seals", "reindeer", "storm petrels", "arctic foxes", "kittiwakes", "musk oxen"),
    "instrument": (
        "magnetometer", "ice corer", "plankton net", "tide gauge", "spectrometer", "seismograph", "hydrophone",
    ),
    "illness": ("penicillin", "shellfish", "latex", "peanuts", "wool", "ibuprofen"),
}  # fmt: skip
"""Pool to its values."""

SMALL_TALK = (
    "Sorry for the long message, my tea has gone cold while typing it.",
    "Thanks for listening, it helps to put things in order.",
    "No hurry with an answer, I only want it noted somewhere.",
    "I always lose the paper on which I write such things.",
    "It has been raining here since breakfast.",
    "My back is not what it used to be, but I manage.",
    "Anyway, one thing after the other.",
    "I was told I talk too much, so let me get to the point.",
    "Please bear with me, I am writing this on a very small screen.",
    "That was quite a week, to be honest.",
    "I will write again when there is news.",
    "You never know what will matter in half a year.",
    "Let me add something while I think of it.",
    "If this is too much detail, just keep what seems useful.",
    "The cat has just walked over the keyboard, excuse the typing errors.",
    "My sister says I should write shorter messages, but here we are.",
    "Where was I before the telephone rang?",
    "It is one of those days on which nothing stays where one puts it.",
    "I have made a list, and then a list of my lists.",
    "The neighbours are drilling again, so forgive me if I sound cross.",
    "There is something else, though it may not be important.",
    "I keep forgetting this, which is why I tell you.",
    "You would not believe how long it took to find that out.",
    "The clocks were changed and I am still confused.",
    "A strong coffee, and the world looks better.",
    "I slept badly, so check me if something sounds odd.",
    "We can come back to this whenever you like.",
    "Some people keep a diary, I have you.",
    "The wind took my hat on the way here.",
    "Let us hope that it stays like that.",
)

SCENES: dict[str, Scene] = {
    "beekeeper": Scene(
        topics=("Getting to know the apiary", "Honey and money", "Troubles", "Plans for the season"),
        facts=(
            Fact(
                "number:6:48",
                ("At the moment I look after {v} hives.", "There are {v} hives in my apiary, all made of pine."),
                "How many hives do I look after?",
            ),
            Fact(
                "first name",
                ("My queens come from a breeder called {v}, who lives two valleys away.",),
                "What is the first name of the breeder my queens come from?",
            ),
            Fact(
                "colour",
                ("The strongest colony sits in the {v} hive next to the shed.",),
                "What colour is the hive with my strongest colony?",
            ),
            Fact(
                "town",
                ("I sell the honey on the market square of {v}.", "My stall is on the market of {v}."),
                "In which town do I sell my honey at the market?",
            ),
            Fact(
                "number:7:19",
                ("A jar costs {v} crowns at my stall.",),
                "How many crowns does a jar of my honey cost now?",
                "I had to raise my price: from now on a jar costs {v} crowns.",
            ),
            Fact(
                "number:110:480",
                ("Last summer's harvest came to {v} kilos, weighed twice.",),
                "How many kilos was last summer's harvest?",
            ),
            Fact(
                "family name",
                ("My neighbour, Mrs {v}, must be warned before I open hives because stings are dangerous for her.",),
                "What is the family name of the neighbour I must warn before opening hives?",
            ),
            Fact(
                "number:2:5",
                ("We lost {v} colonies over the winter, mostly to mites.",),
                "How many colonies did I lose over the winter?",
            ),
            Fact(
                "maker",
                ("The new honey extractor is a {v}, second hand but hardly used.",),
                "Which make is my honey extractor?",
            ),
            Fact(
                "date",
                ("Treatment against mites starts on {v} this year.",),
                "On which date does the treatment against mites start?",
            ),
            Fact(
                "tree",
                ("People ask most for the {v} honey, it is gone within a day.",),
                "Which kind of honey do people ask for most?",
            ),
        ),
        small_talk=(
            "The bees were in a foul mood this morning.",
            "I smell of smoke again, as my family likes to remark.",
            "The first bumblebees are about, which is always a good sign.",
            "Somebody should invent a veil that does not slip.",
            "There is wax on everything in my kitchen.",
            "I could watch the landing boards for hours.",
            "The bees were on the willows before noon.",
            "My gloves have a hole exactly where it matters.",
            "There is nothing like the smell of an opened hive.",
            "The old smoker needs new bellows, but it can wait.",
            "Children always ask whether bees sleep.",
            "I counted wasps at the fallen pears and gave up.",
            "A swarm hung in the hedge and was gone before I had a box.",
            "The frames for next year are stacked up to the ceiling.",
        ),
    ),
    "boatyard": Scene(
        topics=("The yard and its people", "Boats in the hall", "Orders and bills", "Before the launching"),
        facts=(
            Fact(
                "family name",
                ("Our foreman is Mr {v}, he has been with the yard longer than I have.",),
                "What is the family name of our foreman?",
            ),
            Fact(
                "number:4:17",
                ("We are {v} people in the yard, counting the apprentice.",),
                "How many people work in the yard?",
            ),
            Fact(
                "boat",
                ("The oldest boat in the hall is the {v}, and she needs everything.",),
                "What is the name of the oldest boat in the hall?",
            ),
            Fact(
                "wood",
                ("Her new planks will be of {v}, the owner insists.", "The owner wants her new planks cut from {v}."),
                "Which wood will the new planks be made of?",
            ),
            Fact(
                "part",
                ("What worries me most is the {v}, which has to be made from scratch.",),
                "Which part has to be made from scratch?",
            ),
            Fact(
                "number:21:96",
                ("The bill for the winter storage is {v} hundred and not yet paid.",),
                "How many hundred is the unpaid bill for the winter storage?",
            ),
            Fact(
                "town",
                ("Our varnish is delivered from a small works in {v}.",),
                "From which town is our varnish delivered?",
            ),
            Fact(
                "date",
                ("The crane is booked for {v}.",),
                "For which date is the crane booked now?",
                "The crane firm called: our day moves to {v}.",
            ),
            Fact(
                "maker",
                ("The diesel on the test bench is a {v} with four cylinders.",),
                "Which make is the diesel on the test bench?",
            ),
            Fact(
                "day",
                ("The apprentice is at trade school every {v}.",),
                "On which weekday is the apprentice at trade school?",
            ),
            Fact(
                "colour",
                ("The hull below the waterline will be painted {v}.",),
                "In which colour will the hull be painted below the waterline?",
            ),
        ),
        small_talk=(
            "The whole hall smells of tar, and I like it.",
            "Gulls have stolen the apprentice's lunch again.",
            "The slipway is slippery as soap after the frost.",
            "Owners always want everything before Easter.",
            "We found a wasps' nest under the tarpaulin.",
            "The radio only gets one station out here.",
            "Rust is patient, as my grandfather used to say.",
            "The tide table on the wall is out of date, nobody minds.",
            "A customer brought cake, so little work was done.",
            "Sawdust gets into everything, even into the sandwiches.",
            "We listened to the shipping forecast all morning.",
            "The gate squeaks and no oil helps.",
            "Half of the tools hang where they should, which is progress.",
            "There is ice on the inside of the office window.",
        ),
    ),
    "choir": Scene(
        topics=("The singers", "The programme", "Rooms and dates", "The concert tour"),
        facts=(
            Fact(
                "number:19:64",
                ("The choir has {v} members at present.", "Counting the newcomers, {v} people sing with us."),
                "How many members does the choir have?",
            ),
            Fact(
                "piece",
                ("The main work of the evening will be {v}.",),
                "What is the main work of the evening called?",
            ),
            Fact(
                "voice",
                ("What we lack most is a second {v}.", "We desperately look for one more {v}."),
                "Which voice do we lack most?",
            ),
            Fact(
                "building",
                ("From now on rehearsals are in the {v}, up the stairs.",),
                "In which building are our rehearsals?",
            ),
            Fact(
                "day",
                ("We rehearse every {v} after supper.",),
                "On which weekday do we rehearse now?",
                "The caretaker needs the room, so our rehearsals move to {v}.",
            ),
            Fact(
                "first name",
                ("Our accompanist is {v}, who also tunes the piano.",),
                "What is the first name of our accompanist?",
            ),
            Fact(
                "key",
                ("We sing the opening hymn in {v}, a tone lower than printed.",),
                "In which key do we sing the opening hymn?",
            ),
            Fact(
                "town",
                ("The tour ends with a concert in {v}.",),
                "In which town does the tour end?",
            ),
            Fact(
                "number:140:420",
                ("So far we have sold {v} tickets.",),
                "How many tickets have we sold so far?",
            ),
            Fact(
                "family name",
                ("The bus is driven by Ms {v}, who knows every lay-by in the county.",),
                "What is the family name of our bus driver?",
            ),
            Fact(
                "colour",
                ("Everyone wears a {v} scarf on stage this year.",),
                "What colour is the scarf everyone wears on stage?",
            ),
        ),
        small_talk=(
            "The basses came in early again and blamed the clock.",
            "Somebody left a thermos under the piano.",
            "We sounded rather fine last time, if I may say so.",
            "Half of us have a cold, as always in this season.",
            "The sheet music has coffee rings on every page.",
            "I hum all day and my family suffers.",
            "The tenors laughed so much that we had to stop.",
            "My tuning fork is lost, and a spoon does not replace it.",
            "The heating knocks in three four time.",
            "Someone always turns two pages at once.",
            "We clapped rhythms until the people downstairs complained.",
            "The altos brought biscuits, which improved the mood.",
            "An encore is planned, but it stays a surprise.",
            "I was hoarse for two days and enjoyed the silence.",
        ),
    ),
    "expedition": Scene(
        topics=("The crew", "Where we go", "Equipment", "Last things before departure"),
        facts=(
            Fact(
                "island",
                ("Our base camp will stand on {v}.",),
                "Where will our base camp stand?",
            ),
            Fact(
                "first name",
                ("The physician of the crew is {v}, who has wintered over twice.",),
                "What is the first name of our physician?",
            ),
            Fact(
                "number:5:23",
                ("We are {v} people on the crew list.",),
                "How many people are on the crew list now?",
                "Two lists were merged, so there are now {v} people on the crew list.",
            ),
            Fact(
                "animal",
                ("The main purpose of the trip is to count {v}.",),
                "What is the main purpose of the trip to count?",
            ),
            Fact(
                "instrument",
                ("The {v} is still being repaired and will follow by post.",),
                "Which instrument is still being repaired?",
            ),
            Fact(
                "date",
                ("The ship leaves on {v} with the morning tide.",),
                "On which date does the ship leave?",
            ),
            Fact(
                "town",
                ("We load the crates in the harbour of {v}.",),
                "In which town's harbour do we load the crates?",
            ),
            Fact(
                "number:310:980",
                ("All crates together weigh {v} kilos.",),
                "How many kilos do all crates weigh together?",
            ),
            Fact(
                "illness",
                ("Please note for the cook that I cannot stand {v}, I get a rash from it at once.",),
                "What gives me a rash?",
            ),
            Fact(
                "family name",
                ("The money comes from the {v} foundation, and they want a report.",),
                "Which foundation does the money come from?",
            ),
            Fact(
                "number:12:75",
                ("There are batteries for {v} days without sun.",),
                "For how many days without sun are there batteries?",
            ),
        ),
        small_talk=(
            "The tents are drying in my living room.",
            "I dreamt of polar night and woke up cold.",
            "Nobody tells you how many forms there are to fill in.",
            "My children have packed a toy bear for me.",
            "The sextant is only for fun, of course.",
            "We practised knots until our fingers hurt.",
            "The maps are spread over the whole corridor.",
            "Everybody wants the upper bunk, naturally.",
            "I have read the old logbooks again and felt small.",
            "The stove was tested on the balcony, to the alarm of the street.",
            "We argue about chocolate more than about science.",
            "A crate fell from the van, but only socks were in it.",
            "The satellite phone speaks a language nobody ordered.",
            "My beard is not ready for the cold yet.",
        ),
    ),
}
"""Scenario to what is said in it."""

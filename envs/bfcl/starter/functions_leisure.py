"""Functions for gardens, music, cooking, sport, health and culture."""

from __future__ import annotations

from callgym.envs.bfcl.starter.functions_model import Function, needed, optional
from callgym.envs.bfcl.starter.functions_pools import (
    CITY,
    COLOUR,
    DATE,
    PERSON,
    TITLE,
    WEEKDAYS,
    YEAR,
    flag,
    words,
)
from callgym.envs.bfcl.starter.functions_values import (
    Amounts,
    Choice,
    Clock,
    Code,
    Items,
    Phrase,
    Real,
    Whole,
    Word,
)

__all__ = ["FUNCTIONS"]

_PLANT = Word(words("basil thyme lavender tomato pepper sage fennel chard parsley rosemary pumpkin cucumber mint"))
_TREE = Word(words("oak beech alder rowan hornbeam larch willow aspen linden sycamore"))
_SOIL = Amounts(words("sand compost loam bark perlite peat gravel"), Whole(1, 9), "{value} parts of {key}", 2, 3)

_GARDEN = (
    Function(
        "botany.identify_plant",
        "Guess a plant from what one sees.",
        (
            needed("leaf_shape", Choice({"oval": (), "needle": (), "lobed": (), "heart": ()}), "Shape of the leaves."),
            needed("flower_colour", COLOUR, "Colour of the flowers."),
            optional("height_cm", Whole(15, 300, 5), "Height in cm.", None, ", about {height_cm} cm tall"),
        ),
        (
            "identify a plant| with {leaf_shape} shaped leaves and {flower_colour} flowers",
            "which plant has| {flower_colour} flowers and {leaf_shape} shaped leaves?",
            "guess what grows in my garden:| {leaf_shape} shaped leaves, {flower_colour} flowers",
        ),
    ),
    Function(
        "botany.latin_name",
        "Scientific name of a tree.",
        (needed("tree", _TREE, "English name of the tree."),),
        (
            "find the scientific name of the| {tree}",
            "what is the Latin name of the| {tree}?",
            "tell me what botanists call the| {tree}",
        ),
        lists="tree",
    ),
    Function(
        "botany.tree_age",
        "Estimated age of a tree from its girth.",
        (
            needed("tree", _TREE, "English name of the tree."),
            needed("girth_cm", Real(40, 420, 1), "Girth of the trunk in cm."),
            optional(
                "site",
                Choice({"forest": ("in a forest",), "open": ("in the open",), "street": ("along a street",)}),
                "Where it stands.",
                "forest",
                ", standing {site}",
            ),
        ),
        (
            "estimate the age of a tree,| {tree} with a girth of {girth_cm} cm",
            "how old may a {tree} be| with a girth of {girth_cm} cm?",
            "guess how old a {tree} is| that measures {girth_cm} cm around the trunk",
        ),
    ),
    Function(
        "garden.watering_plan",
        "Plan when plants are watered.",
        (
            needed("plants", Items(_PLANT, 2, 4), "Names of the plants."),
            needed("litres_per_week", Real(2, 40, 1), "Water for a week in litres."),
            optional("weeks", Whole(2, 12), "Number of weeks that are planned.", 4, " for {weeks} weeks"),
        ),
        (
            "make a watering plan for {plants} with {litres_per_week} litres a week",
            "plan how to water {plants} on {litres_per_week} litres a week",
            "draw up a watering schedule| for {plants} that uses {litres_per_week} litres a week",
        ),
    ),
    Function(
        "garden.sowing_date",
        "Best time to sow a crop.",
        (
            needed("crop", _PLANT, "Name of the crop."),
            needed("zone", Whole(4, 10), "Climate zone, 1 to 13."),
            optional("indoors", flag("indoors", "outdoors"), "Whether it is sown indoors.", False, " {indoors}"),
        ),
        (
            "find out when to sow| {crop} in zone {zone}",
            "when should I sow| {crop} in climate zone {zone}?",
            "look up the sowing time of| {crop} for zone {zone}",
        ),
        lists="crop",
    ),
    Function(
        "garden.mix_soil",
        "Amounts for a mixture of soil.",
        (
            needed("parts", _SOIL, "Ingredient to its parts."),
            needed("litres", Whole(10, 200, 5), "Wanted amount in litres."),
        ),
        (
            "mix {litres} litres of soil from {parts}",
            "work out the amounts for {litres} litres of potting soil made of {parts}",
            "calculate a soil mixture| of {parts}, {litres} litres in all",
        ),
    ),
    Function(
        "garden.plants_per_bed",
        "How many plants fit into a bed.",
        (
            needed("length_m", Real(1, 9, 1), "Length of the bed in metres."),
            needed("width_m", Real(1, 4, 1), "Width of the bed in metres."),
            needed("spacing_cm", Whole(10, 60, 5), "Distance between plants in cm."),
        ),
        (
            "compute how many plants fit into a bed| of {length_m} by {width_m} metres with {spacing_cm} cm between "
            "them",
            "how many plants can I put into a bed| {length_m} m long and {width_m} m wide at {spacing_cm} cm apart?",
            "work out the number of plants| for {spacing_cm} cm of spacing in a bed that is {length_m} m long and "
            "{width_m} m wide",
        ),
    ),
)

_TONE = Choice(dict.fromkeys(("C", "D", "E", "F", "G", "A", "B", "C#", "F#", "Bb", "Eb"), ()))
_GENRE = Choice(dict.fromkeys(words("jazz folk techno soul blues metal opera"), ()))
_ARTIST = Phrase(
    words("The Little Old New Young Late"), words("Ferrymen Comets Foxes Pilots Gardeners Sirens"), quoted=False
)

_MUSIC = (
    Function(
        "music.transpose",
        "Transpose notes by semitones.",
        (
            needed("notes", Items(_TONE, 3, 5), "Names of the notes in order."),
            needed("semitones", Whole(-7, 11), "Semitones upwards; negative is downwards."),
            optional(
                "prefer_flats",
                flag("writing flats", "writing sharps"),
                "Whether flats are written.",
                False,
                ", {prefer_flats}",
            ),
        ),
        (
            "transpose the notes {notes} by {semitones} semitones",
            "shift {notes} by {semitones} semitones",
            "transpose| the melody {notes} by {semitones} semitones",
        ),
    ),
    Function(
        "music.find_song",
        "Find a song by its title.",
        (
            needed("title", TITLE, "Title of the song."),
            optional("artist", _ARTIST, "Who plays it.", None, " by {artist}"),
        ),
        (
            "find the song| {title}",
            "search the music catalogue for a song called| {title}",
            "look for the track| {title}",
        ),
        lists="title",
        foreign={
            "de": "Such bitte das Lied {title}.",
            "es": "Busca la canción {title}.",
            "ko": "{title}라는 노래를 찾아 줘.",
        },
    ),
    Function(
        "music.show_lyrics",
        "Show the lyrics of a song.",
        (
            needed("title", TITLE, "Title of the song."),
            optional("verse", Whole(2, 5), "Only this verse.", None, ", verse {verse} only"),
        ),
        (
            "show me the lyrics of| {title}",
            "what are the words of the song| {title}?",
            "get the lyrics for| {title}",
        ),
        lists="title",
    ),
    Function(
        "music.create_playlist",
        "Create a playlist.",
        (
            needed(
                "name",
                Phrase(words("Rainy Sunday Early Slow Long"), words("Morning Drive Dinner Run Evening")),
                "Name of the playlist.",
            ),
            needed("songs", Items(TITLE, 2, 3), "Titles of the songs."),
            optional("public", flag("open to everyone", "for me only"), "Whether all can see it.", False, ", {public}"),
        ),
        (
            "create a playlist called {name} with the songs {songs}",
            "put {songs} into a new playlist named {name}",
            "start a playlist| {name} that has {songs} on it",
        ),
    ),
    Function(
        "music.chord_notes",
        "Notes of a chord.",
        (
            needed("root", _TONE, "Root of the chord."),
            needed("quality", Choice({"major": (), "minor": (), "diminished": (), "augmented": ()}), "Kind of chord."),
            optional("inversion", Whole(1, 2), "Number of the inversion.", 0, " in inversion {inversion}"),
        ),
        (
            "list the notes of the chord| {root} {quality}",
            "which notes are in a chord of| {root} {quality}?",
            "spell the| {root} {quality} chord",
        ),
    ),
    Function(
        "music.find_concerts",
        "Find concerts in a city.",
        (
            needed("genre", _GENRE, "Kind of music."),
            needed("city", CITY, "Name of the city."),
            optional("date", DATE, "Only on this day, YYYY-MM-DD.", None, " on {date}"),
            optional("max_price", Whole(15, 120, 5), "Highest price of a ticket.", None, " for at most {max_price}"),
        ),
        (
            "find {genre} concerts in {city}",
            "look for {genre} concerts| in {city}",
            "which {genre} concerts are there| in {city}?",
        ),
        lists="city",
        foreign={
            "fr": "Trouve des concerts de {genre} à {city}.",
            "pt": "Procura concertos de {genre} em {city}.",
        },
    ),
    Function(
        "music.tune_strings",
        "Frequencies that strings are tuned to.",
        (
            needed("strings", Items(_TONE, 4, 6), "Notes of the strings, lowest first."),
            optional(
                "pitch", Real(430, 446, 1), "Frequency of the tuning note in Hz.", 440.0, " at a pitch of {pitch} Hz"
            ),
        ),
        (
            "give me the frequencies for strings| tuned to {strings}",
            "what frequencies do the strings have| if they are tuned {strings}?",
            "calculate the tuning| of strings at {strings}",
        ),
    ),
)

_FOOD = Word(words("lentils oats salmon walnuts spinach tofu rye_bread quinoa cottage_cheese chickpeas figs"))
_INGREDIENT = Word(words("leek rice eggs mushrooms beans carrots cream noodles apples feta cabbage ginger"))
_DISH = Word(words("lasagne apple_pie gratin quiche roast_chicken flatbread cheesecake moussaka"))
_INGREDIENTS = Amounts(
    words("flour butter sugar milk oats honey almonds rice cream cocoa"), Whole(20, 600, 10), "{value} g of {key}"
)

_KITCHEN = (
    Function(
        "kitchen.scale_recipe",
        "Amounts of a recipe for another number of servings.",
        (
            needed("ingredients", _INGREDIENTS, "Ingredient to its grams."),
            needed("servings", Whole(2, 4), "Servings that the recipe is for."),
            needed("wanted", Whole(5, 14), "Servings that are wanted."),
        ),
        (
            "scale a recipe for {servings} servings with {ingredients} to {wanted} servings",
            "my recipe for {servings} servings has {ingredients}; scale it to {wanted} servings.",
            "work out what I need for {wanted} servings if {servings} servings take {ingredients}",
        ),
    ),
    Function(
        "kitchen.find_recipes",
        "Find recipes for what is in the house.",
        (
            needed("ingredients", Items(_INGREDIENT, 2, 4), "What is in the house."),
            optional(
                "diet",
                Choice({"vegetarian": (), "vegan": (), "gluten_free": ("gluten-free",)}),
                "Only recipes for this diet.",
                None,
                ", only {diet} ones",
            ),
            optional("max_minutes", Whole(15, 90, 5), "Longest time.", None, " within {max_minutes} minutes"),
        ),
        (
            "find recipes| with {ingredients}",
            "what can I cook| from {ingredients}?",
            "look for recipes| that use {ingredients}",
        ),
        foreign={
            "de": "Such Rezepte mit {ingredients}.",
        },
    ),
    Function(
        "kitchen.set_timer",
        "Start a kitchen timer.",
        (
            needed("minutes", Whole(2, 90), "Minutes until it rings."),
            optional("label", _DISH, "What it is for.", None, " for the {label}"),
        ),
        (
            "set a kitchen timer| to {minutes} minutes",
            "start a timer in the kitchen| that rings after {minutes} minutes",
            "let the kitchen timer ring| in {minutes} minutes",
        ),
        foreign={
            "de": "Stell den Küchentimer auf {minutes} Minuten.",
            "it": "Imposta il timer della cucina a {minutes} minuti.",
            "zh": "把厨房定时器设为{minutes}分钟。",
        },
    ),
    Function(
        "kitchen.nutrition",
        "Energy, protein, fat and sugar of a food.",
        (
            needed("food", _FOOD, "The food."),
            needed("grams", Real(20, 450, 1, whole=0.8), "Amount in grams."),
        ),
        (
            "look up the nutrition values of| {grams} g of {food}",
            "how much energy and protein do {grams} g of {food} have?",
            "get the nutrition facts| for {grams} grams of {food}",
        ),
    ),
    Function(
        "kitchen.oven_setting",
        "Temperature and time for a dish in the oven.",
        (
            needed("dish", _DISH, "The dish."),
            optional("fan", flag("with the fan on", "without the fan"), "Whether the fan runs.", False, ", {fan}"),
        ),
        (
            "tell me how to set the oven| for {dish}",
            "how hot must the oven be| for {dish}?",
            "find the oven setting| for {dish}",
        ),
        lists="dish",
    ),
    Function(
        "restaurant.reserve_table",
        "Reserve a table in a restaurant.",
        (
            needed(
                "restaurant",
                Phrase(("Chez", "Casa", "Bistro", "Trattoria"), ("Amelie", "Verde", "Lumen", "Olmo")),
                "Name of the restaurant.",
            ),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            needed("time", Clock(17, 21), "Time as HH:MM, 24 hours."),
            needed("guests", Whole(2, 9), "Number of guests."),
            optional("outdoors", flag("outdoors", "inside"), "Whether it is outdoors.", False, ", {outdoors}"),
        ),
        (
            "reserve a table at {restaurant} for {guests} on {date} at {time}",
            "book a table| for {guests} people at {restaurant}, {date}, {time}",
            "get us a table| at {restaurant} on {date} at {time} for {guests} guests",
        ),
        lists="restaurant",
        foreign={
            "es": "Reserva una mesa para {guests} en {restaurant} el {date} a las {time}.",
            "de": "Reserviere einen Tisch für {guests} im {restaurant} am {date} um {time}.",
        },
    ),
    Function(
        "restaurant.show_menu",
        "Show the menu of a restaurant.",
        (needed("restaurant", Phrase(("Chez", "Casa", "Bistro"), ("Amelie", "Verde", "Lumen", "Olmo")), "Its name."),),
    ),
)

_DOCTOR = Phrase(("Dr. ",), words("Adebayo Berglund Castro Dvorak Gruber Novak Okafor Silva"), False, "")
_MEDICINE = Word(words("ibuprofen insulin vitamin_D iron_tablets antihistamine magnesium cough_syrup"))
_TEAM = Word(words("Rovers Falcons Mariners Wolves Rangers Comets Otters Harriers Miners"))

_HEALTH = (
    Function(
        "health.body_mass_index",
        "Body mass index of a person.",
        (
            needed("weight_kg", Real(45, 120, 1), "Weight in kilograms."),
            needed("height_cm", Real(150, 205, 1, whole=0.8), "Height in centimetres."),
        ),
        (
            "compute the body mass index| for {weight_kg} kg and {height_cm} cm",
            "what is the BMI of a person| of {height_cm} cm who weighs {weight_kg} kg?",
            "calculate my BMI:| {weight_kg} kg at {height_cm} cm",
        ),
        foreign={
            "de": "Berechne den BMI für {weight_kg} kg und {height_cm} cm.",
            "pt": "Calcula o IMC de alguém com {weight_kg} kg e {height_cm} cm.",
        },
    ),
    Function(
        "health.book_appointment",
        "Book an appointment with a doctor.",
        (
            needed("doctor", _DOCTOR, "Title and last name, such as Dr. Roth."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            needed("time", Clock(8, 16), "Time as HH:MM, 24 hours."),
            optional("video", flag("by video", "at the practice"), "Whether it is held by video.", False, ", {video}"),
        ),
        (
            "book an appointment with {doctor} on {date} at {time}",
            "get me an appointment| with {doctor}, {date}, {time}",
            "make a doctor's appointment| on {date} at {time} with {doctor}",
        ),
    ),
    Function(
        "health.remind_medicine",
        "Set daily reminders for a medicine.",
        (
            needed("medicine", _MEDICINE, "Name of the medicine."),
            needed("times", Items(Clock(), 1, 3), "Times as HH:MM, 24 hours."),
            optional(
                "with_food",
                flag("together with food", "on an empty stomach"),
                "Whether it is taken with food.",
                False,
                " {with_food}",
            ),
        ),
        (
            "remind me every day to take {medicine} at {times}",
            "set daily medicine reminders| for {medicine} at {times}",
            "I must take {medicine} at {times} each day; set reminders for it.",
        ),
        lists="medicine",
    ),
    Function(
        "health.sleep_report",
        "Report of how somebody slept.",
        (
            needed("start", DATE, "First night, YYYY-MM-DD."),
            needed("nights", Whole(2, 30), "Number of nights."),
        ),
        (
            "make a sleep report| from {start} over {nights} nights",
            "how did I sleep| in the {nights} nights from {start} on?",
            "show my sleep| for {nights} nights starting {start}",
        ),
    ),
    Function(
        "sport.running_pace",
        "Pace of a run in minutes per kilometre.",
        (
            needed("distance_km", Real(3, 42, 1), "Distance in kilometres."),
            needed("minutes", Whole(15, 280), "Time in minutes."),
        ),
        (
            "compute the pace of a run| over {distance_km} km in {minutes} minutes",
            "what was my running pace| on {distance_km} km that took {minutes} minutes?",
            "work out the pace| for {distance_km} kilometres run in {minutes} minutes",
        ),
    ),
    Function(
        "sport.training_plan",
        "Make a training plan.",
        (
            needed(
                "goal",
                Choice({"5k": ("5k run",), "marathon": (), "triathlon": (), "first_pull_up": ("first pull-up",)}),
                "What the training is for.",
            ),
            needed("weeks", Whole(4, 20), "Number of weeks."),
            needed("days", WEEKDAYS, "Days of the week with training."),
        ),
        (
            "make a training plan for a {goal} over {weeks} weeks with sessions on {days}",
            "plan my training| for a {goal}: {weeks} weeks, on {days}",
            "set up {weeks} weeks of training for a {goal}, always on {days}",
        ),
    ),
    Function(
        "sport.match_result",
        "Result of a match.",
        (
            needed("home", _TEAM, "Team that plays at home."),
            needed("away", _TEAM, "The other team."),
            optional("date", DATE, "Day of the match, YYYY-MM-DD; the latest if left out.", None, " on {date}"),
        ),
        (
            "get the result of the match| {home} against {away}",
            "how did {home} play at home against {away}?",
            "look up the score| of {home} at home versus {away}",
        ),
        differ=("home", "away"),
    ),
    Function(
        "sport.player_statistics",
        "Statistics of a player in a season.",
        (
            needed("player", PERSON, "Full name of the player."),
            needed("season", Whole(2008, 2024), "Year in which the season began."),
            optional(
                "figures",
                Items(Choice({"goals": (), "assists": (), "minutes": (), "fouls": ()}), 1, 3),
                "Which figures; all if left out.",
                None,
                ", only {figures}",
            ),
        ),
        (
            "get the statistics of| {player} for the season that began in {season}",
            "how did {player} do in the season starting {season}?",
            "look up the player| {player} in the season of {season}",
        ),
        lists="player",
    ),
)

_LANGUAGE = Choice({"de": ("German",), "fr": ("French",), "it": ("Italian",), "pl": ("Polish",), "tr": ("Turkish",)})
_SENTENCE = Phrase(
    ("the train", "our guest", "the parcel", "my sister", "the gardener", "a storm"),
    ("arrives tomorrow", "is late again", "has not come yet", "was here on Monday", "needs a ladder"),
)

_CULTURE = (
    Function(
        "library.find_book",
        "Find a book in the library.",
        (
            needed("title", TITLE, "Title of the book."),
            optional("author", PERSON, "Full name of the author.", None, " by {author}"),
            optional("year", YEAR, "Year of publication.", None, " from {year}"),
        ),
        (
            "look up the book| {title} in the library",
            "does the library have a book called| {title}?",
            "search the library for the book| {title}",
        ),
        lists="title",
    ),
    Function(
        "library.renew_loans",
        "Renew the loans of books.",
        (
            needed("card", Code("L-#####"), "Number of the library card."),
            needed("books", Items(Code("B####"), 1, 3), "Numbers of the books."),
        ),
        (
            "renew the loans {books} for the library card {card}",
            "extend the loans| of the books {books} on card {card}",
            "with the library card {card}, renew {books}.",
        ),
    ),
    Function(
        "library.opening_hours",
        "Opening hours of a branch of the library.",
        (
            needed("branch", Choice({"central": (), "harbour": (), "university": ()}), "Name of the branch."),
            needed(
                "weekday",
                Choice(dict.fromkeys(words("Monday Tuesday Thursday Friday Saturday Sunday"), ())),
                "Day of the week.",
            ),
        ),
        (
            "get the opening hours| of the {branch} library branch on {weekday}",
            "when is the {branch} branch of the library open on {weekday}?",
            "tell me the hours| of the library's {branch} branch for {weekday}",
        ),
        lists="branch",
    ),
    Function(
        "museum.buy_tickets",
        "Buy tickets for a museum.",
        (
            needed(
                "museum",
                Phrase(words("Glass Harbour Railway Folk Toy Print Clock"), ("Museum",), quoted=False),
                "Name of the museum.",
            ),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            needed("adults", Whole(1, 6), "Number of adults."),
            optional("children", Whole(2, 7), "Number of children.", 0, " plus {children} children"),
        ),
        (
            "buy tickets| for the {museum} on {date}, {adults} adult(s)",
            "get me into the {museum} on {date} with {adults} adult ticket(s)",
            "order museum tickets| for {date}, {museum}, {adults} adult(s)",
        ),
        lists="museum",
    ),
    Function(
        "film.showtimes",
        "When a film is shown in a city.",
        (
            needed("film", TITLE, "Title of the film."),
            needed("city", CITY, "Name of the city."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            optional(
                "subtitles",
                flag("with subtitles", "without subtitles"),
                "Only shows with subtitles.",
                False,
                ", {subtitles}",
            ),
        ),
        (
            "find showtimes of the film {film} in {city} on {date}",
            "when is the film {film} shown in {city} on {date}?",
            "check at what times {film} plays at the cinemas| in {city} on {date}",
        ),
        lists="city",
    ),
    Function(
        "film.rate",
        "Rate a film.",
        (
            needed("film", TITLE, "Title of the film."),
            needed("stars", Real(1, 4, 1), "Stars from 0.5 to 5."),
        ),
        (
            "rate the film| {film} with {stars} stars",
            "give the film {film} a rating of {stars} stars",
            "put down| {stars} stars for the film {film}",
        ),
        lists="film",
    ),
    Function(
        "language.translate",
        "Translate a text from English.",
        (
            needed("text", _SENTENCE, "English text."),
            needed("target", _LANGUAGE, "Code of the language it is translated into."),
            optional("formal", flag("formal", "casual"), "Whether the tone is formal.", False, " in a {formal} tone"),
        ),
        (
            "translate {text} into {target}",
            "how does one say {text} in {target}?",
            "put the words {text} into {target}",
        ),
        lists="target",
    ),
    Function(
        "language.find_rhymes",
        "Find words that rhyme.",
        (
            needed("word", Word(words("meadow lantern silver candle thunder winter marble feather copper")), "A word."),
            optional("limit", Whole(3, 20), "Most rhymes that are returned.", 10, ", at most {limit}"),
        ),
        (
            "find rhymes| for the word {word}",
            "which words rhyme| with {word}?",
            "list words that rhyme| with {word}",
        ),
        lists="word",
    ),
)

FUNCTIONS = (*_GARDEN, *_MUSIC, *_KITCHEN, *_HEALTH, *_CULTURE)
"""In the order of their domains."""

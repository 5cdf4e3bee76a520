"""Errands about music, films, books, sport, health and eating out."""

from __future__ import annotations

from callgym.envs.when2call.starter.errand_model import Errand, Gap

__all__ = ["ERRANDS"]

_HERE = "The place where the user is if left out."
_TODAY = "Today if left out."

_MUSIC = (
    Errand(
        "music.find_song",
        "search the music catalogue",
        (
            "The song {title} is track {few} of an album of the same name.",
            "{title} is by a band from the north and lasts {few} minutes.",
        ),
        (
            Gap("artist", "the artist"),
            Gap(
                "title",
                "the title of the song",
                (
                    "find the song",
                    "search the music catalogue for my song",
                    "look for the track that I mean",
                    "find the song I have in my head",
                ),
                "The song that is playing nearby if left out.",
            ),
        ),
    ),
    Errand(
        "music.show_lyrics",
        "show the lyrics of songs",
        (
            "{title} begins: the road is long and the lamp is low.",
            "Here is {title}: we sail at night, we sleep by day.",
        ),
        (
            Gap(
                "title",
                "the title of the song",
                (
                    "show me the lyrics of the song",
                    "what are the words of the song?",
                    "get the lyrics",
                    "show the words so that I can sing along",
                ),
                "The song that is playing if left out.",
            ),
            Gap("verse", "which verse you want"),
        ),
    ),
    Errand(
        "music.create_playlist",
        "create playlists",
        (
            "The playlist {name} with {songs} is ready.",
            "{name} now holds {songs}, {some} minutes in all.",
        ),
        (
            Gap(
                "name",
                "the name of the playlist",
                (
                    "create a playlist with the songs {songs}",
                    "put {songs} into a new playlist",
                    "start a playlist that has {songs} on it",
                ),
                "The day of today if left out.",
            ),
            Gap(
                "songs",
                "the songs on it",
                (
                    "create a playlist called {name}",
                    "start a new playlist named {name}",
                    "make me a playlist {name}",
                ),
                "The playlist is empty if left out.",
            ),
            Gap("public", "whether the playlist is public or for you only"),
        ),
    ),
    Errand(
        "music.find_concerts",
        "search for concerts",
        (
            "There is a {genre} night in {city} at {clock}; tickets cost {some}.",
            "{city} has {few} {genre} concerts this month.",
        ),
        (
            Gap(
                "genre",
                "the genre of music",
                (
                    "find concerts in {city}",
                    "look for concerts in {city}",
                    "which concerts are there in {city}?",
                ),
                "Every genre if left out.",
            ),
            Gap(
                "city",
                "the city that you want to go out in",
                (
                    "find {genre} concerts",
                    "look for {genre} concerts",
                    "which {genre} concerts are there?",
                ),
                _HERE,
            ),
            Gap("date", "the date of the concert"),
            Gap("max_price", "the highest ticket price, the max price"),
        ),
    ),
)

_OUT = (
    Errand(
        "kitchen.set_timer",
        "set kitchen timers",
        (
            "The timer is running and rings in {minutes} minutes.",
            "Set: {minutes} minutes from now, at {clock}.",
        ),
        (
            Gap("label", "the label, what the timer is for"),
            Gap(
                "minutes",
                "after how many minutes it should ring",
                (
                    "set a kitchen timer",
                    "start a timer in the kitchen",
                    "let the kitchen timer ring",
                    "put the timer on in the kitchen",
                ),
                default=10,
            ),
        ),
    ),
    Errand(
        "restaurant.reserve_table",
        "reserve tables",
        (
            "A table for {guests} at {restaurant} is yours on {date} at {time}.",
            "{restaurant} expects {guests} of you on {date}, {time}, table {some}.",
        ),
        (
            Gap(
                "date",
                "the date of the dinner",
                (
                    "reserve a table at {restaurant} for {guests} at {time}",
                    "book a table for {guests} people at {restaurant}, {time}",
                    "get us a table at {restaurant} at {time} for {guests} guests",
                ),
                _TODAY,
            ),
            Gap(
                "time",
                "the time of the reservation",
                (
                    "reserve a table at {restaurant} for {guests} on {date}",
                    "book a table for {guests} people at {restaurant}, {date}",
                    "get us a table at {restaurant} on {date} for {guests} guests",
                ),
                "The first free time of the evening if left out.",
            ),
            Gap(
                "guests",
                "the number of guests",
                (
                    "reserve a table at {restaurant} on {date} at {time}",
                    "book a table at {restaurant}, {date}, {time}",
                    "get us a table at {restaurant} on {date} at {time}",
                ),
                default=2,
            ),
            Gap(
                "restaurant",
                "the restaurant",
                (
                    "reserve a table for {guests} on {date} at {time}",
                    "book a table for {guests} people, {date}, {time}",
                    "get us a table in a restaurant on {date} at {time} for {guests} guests",
                ),
                "The restaurant that the user likes best if left out.",
            ),
            Gap("outdoors", "whether you would like to sit outdoors"),
        ),
    ),
    Errand(
        "film.showtimes",
        "look up showtimes",
        (
            "{film} plays in {city} on {date} at {clock}.",
            "On {date} two cinemas in {city} show {film}, the first at {clock}.",
        ),
        (
            Gap(
                "city",
                "the city that you want to see it in",
                (
                    "find showtimes of the film {film} on {date}",
                    "when is the film {film} shown on {date}?",
                    "check at what times {film} plays at the cinemas on {date}",
                ),
                _HERE,
            ),
            Gap(
                "date",
                "the date that suits you",
                (
                    "find showtimes of the film {film} in {city}",
                    "when is the film {film} shown in {city}?",
                    "check at what times {film} plays at the cinemas in {city}",
                ),
                _TODAY,
            ),
            Gap(
                "film",
                "the film",
                (
                    "find showtimes of the film in {city} on {date}",
                    "when is the film shown in {city} on {date}?",
                    "check at what times it plays at the cinemas in {city} on {date}",
                ),
                "All films of the day if left out.",
            ),
            Gap("subtitles", "whether you need subtitles"),
        ),
    ),
    Errand(
        "film.rate",
        "rate films",
        (
            "You gave {film} {stars} stars; the average is now {few}.",
            "{film} is rated with {stars} stars.",
        ),
        (
            Gap(
                "stars",
                "the number of stars",
                (
                    "rate the film {film}",
                    "give the film {film} a rating",
                    "put down a rating for the film {film}",
                ),
                "The film is marked as seen if left out.",
            ),
            Gap(
                "film",
                "the film that you rate",
                (
                    "rate the film with {stars} stars",
                    "give the film a rating of {stars} stars",
                    "put down {stars} stars for the film",
                ),
                "The film watched last if left out.",
            ),
        ),
    ),
    Errand(
        "museum.buy_tickets",
        "buy museum tickets",
        (
            "Tickets for the {museum} on {date} are in your mailbox, {adults} of them.",
            "You paid {some} for the {museum} on {date}.",
        ),
        (
            Gap(
                "date",
                "the date of the visit",
                (
                    "buy tickets for the {museum}, {adults} adult(s)",
                    "get me into the {museum} with {adults} adult ticket(s)",
                    "order museum tickets for the {museum}, {adults} adult(s)",
                ),
                "The tickets are good for any day if left out.",
            ),
            Gap(
                "museum",
                "the museum",
                (
                    "buy museum tickets on {date}, {adults} adult(s)",
                    "get me into the museum on {date} with {adults} adult ticket(s)",
                    "order museum tickets for {date}, {adults} adult(s)",
                ),
                "A pass for all museums if left out.",
            ),
            Gap(
                "adults",
                "the number of adults",
                (
                    "buy tickets for the {museum} on {date}",
                    "get me into the {museum} on {date}",
                    "order museum tickets for {date}, {museum}",
                ),
                default=1,
            ),
        ),
    ),
    Errand(
        "library.find_book",
        "search the library",
        (
            "{title} stands on shelf {some} on the second floor.",
            "The library has {few} copies of {title}, one of them free.",
        ),
        (
            Gap("author", "the author of the book"),
            Gap("year", "the year of publication"),
        ),
    ),
    Errand(
        "library.renew_loans",
        "renew library loans",
        (
            "{books} on the card {card} are due {some} days later now.",
            "Renewed: {books}. The card {card} has no fees.",
        ),
        (
            Gap(
                "card",
                "the number of the library card",
                (
                    "renew the loans {books}",
                    "extend the loans of the books {books}",
                    "have the library renew {books}",
                ),
                "The user's own card if left out.",
            ),
            Gap(
                "books",
                "the numbers of the books",
                (
                    "renew the loans for the library card {card}",
                    "extend the loans on card {card}",
                    "with the library card {card}, renew what I borrowed.",
                ),
                "All books on the card if left out.",
            ),
        ),
    ),
    Errand(
        "library.opening_hours",
        "look up opening hours",
        (
            "The {branch} branch opens at {clock} on {weekday}.",
            "On {weekday} the {branch} library is open for {few} hours, from {clock} on.",
        ),
        (
            Gap(
                "weekday",
                "the weekday",
                (
                    "get the opening hours of the {branch} library branch",
                    "when is the {branch} branch of the library open?",
                    "tell me the hours of the library's {branch} branch",
                ),
                "The whole week if left out.",
            ),
            Gap(
                "branch",
                "the branch of the library",
                (
                    "get the opening hours of the library on {weekday}",
                    "when is the library open on {weekday}?",
                    "tell me the hours of the library for {weekday}",
                ),
                "The nearest branch if left out.",
            ),
        ),
    ),
)

_BODY = (
    Errand(
        "health.book_appointment",
        "book appointments with doctors",
        (
            "{doctor} sees you on {date} at {time}.",
            "Your appointment with {doctor} is set for {date}, {time}, room {some}.",
        ),
        (
            Gap(
                "doctor",
                "the doctor",
                (
                    "book a doctor's appointment on {date} at {time}",
                    "get me an appointment at the practice, {date}, {time}",
                    "make a doctor's appointment on {date} at {time}",
                ),
                "The user's family doctor if left out.",
            ),
            Gap(
                "time",
                "the time of the appointment",
                (
                    "book an appointment with {doctor} on {date}",
                    "get me an appointment with {doctor}, {date}",
                    "make a doctor's appointment on {date} with {doctor}",
                ),
                "The first free time of the day if left out.",
            ),
            Gap(
                "date",
                "the date of the appointment",
                (
                    "book an appointment with {doctor} at {time}",
                    "get me an appointment with {doctor}, {time}",
                    "make a doctor's appointment at {time} with {doctor}",
                ),
                "The first free day if left out.",
            ),
            Gap("video", "whether it should be by video"),
        ),
    ),
    Errand(
        "health.remind_medicine",
        "set medicine reminders",
        (
            "From now on you get a reminder for {medicine} at {times}.",
            "Reminders for {medicine} are set: {times}, every day.",
        ),
        (
            Gap(
                "times",
                "the times of day",
                (
                    "remind me every day to take {medicine}",
                    "set daily medicine reminders for {medicine}",
                    "I must take {medicine} each day; set reminders for it.",
                ),
                "Morning and evening if left out.",
            ),
            Gap(
                "medicine",
                "the medicine",
                (
                    "remind me every day to take my medicine at {times}",
                    "set daily medicine reminders at {times}",
                    "I must take my pills at {times} each day; set reminders for it.",
                ),
                "All medicines of the user's plan if left out.",
            ),
            Gap("with_food", "whether you take it with food"),
        ),
    ),
    Errand(
        "health.sleep_report",
        "make sleep reports",
        (
            "In the {nights} nights from {start} on you slept {few} hours on average.",
            "Since {start} your sleep got better: {some} percent of it was deep.",
        ),
        (
            Gap(
                "start",
                "the start, the first day of the report",
                (
                    "make a sleep report over {nights} nights",
                    "how did I sleep in {nights} nights?",
                    "show my sleep for {nights} nights",
                ),
                "The latest nights if left out.",
            ),
            Gap(
                "nights",
                "the number of nights",
                (
                    "make a sleep report from {start} on",
                    "how did I sleep from {start} on?",
                    "show my sleep starting {start}",
                ),
                default=7,
            ),
        ),
    ),
    Errand(
        "sport.match_result",
        "look up match results",
        (
            "{home} beat {away} by {few} to one.",
            "{home} and {away} drew after a goal in minute {some}.",
        ),
        (
            Gap(
                "away",
                "the away team",
                (
                    "get the result of the match that {home} played at home",
                    "how did {home} play at home?",
                    "look up the score of {home} at home",
                ),
                "Any team if left out.",
            ),
            Gap(
                "home",
                "the home team",
                (
                    "get the result of the match that {away} played away",
                    "how did {away} play away from home?",
                    "look up the score of {away} away from home",
                ),
                "Any team if left out.",
            ),
            Gap("date", "the date of the match"),
        ),
    ),
    Errand(
        "sport.player_statistics",
        "look up player statistics",
        (
            "{player} scored {some} goals in the season of {season}.",
            "In {season} {player} played {many} minutes and was fouled {some} times.",
        ),
        (
            Gap(
                "season",
                "the season",
                (
                    "get the statistics of {player}",
                    "how did {player} do this time?",
                    "look up the player {player}",
                ),
                "The running season if left out.",
            ),
            Gap(
                "player",
                "the player",
                (
                    "get the player's statistics of the season that began in {season}",
                    "how did the player do in the season starting {season}?",
                    "look up the player in the season of {season}",
                ),
                "The whole team if left out.",
            ),
        ),
    ),
)

ERRANDS = (*_MUSIC, *_OUT, *_BODY)
"""In the order of their domains."""

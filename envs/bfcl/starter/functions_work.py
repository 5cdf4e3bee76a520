"""Functions for the office, files, the home, energy and education."""

from __future__ import annotations

from callgym.envs.bfcl.starter.functions_model import Function, needed, optional
from callgym.envs.bfcl.starter.functions_pools import (
    COLOUR,
    DATE,
    EMAILS,
    NAME,
    NOTE,
    PERSON,
    PERSONS,
    ROOM,
    TIME,
    YEAR,
    flag,
    words,
)
from callgym.envs.bfcl.starter.functions_values import (
    Choice,
    Code,
    Field,
    Items,
    OneOf,
    Phrase,
    Real,
    Record,
    Whole,
    Word,
)

__all__ = ["FUNCTIONS"]

_MEETING = Phrase(
    words("Budget Design Hiring Safety Release Archive Supplier Garden"),
    words("Review Kickoff Outlook Workshop Briefing Update Survey"),
)
_PRIORITY = Choice({"low": ("low",), "normal": ("normal",), "high": ("high",)})
_TAG = Word(words("errands garden taxes ideas travel school repairs gifts"))

_OFFICE = (
    Function(
        "calendar.create_event",
        "Put an event into the calendar.",
        (
            needed("title", _MEETING, "Title of the event."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            needed("start", TIME, "Start as HH:MM, 24 hours."),
            optional("minutes", Whole(15, 180, 15), "Duration in minutes.", 60, " for {minutes} minutes"),
            optional("people", PERSONS, "First names of those invited.", [], ", inviting {people}"),
        ),
        (
            "put {title} into my calendar on {date} at {start}",
            "create a calendar event| {title} on {date} at {start}",
            "add an event called| {title} on {date}, starting at {start}",
        ),
        foreign={
            "de": "Trag {title} am {date} um {start} in meinen Kalender ein.",
            "fr": "Ajoute {title} à mon agenda le {date} à {start}.",
        },
    ),
    Function(
        "calendar.free_slots",
        "Find times at which all people are free.",
        (
            needed("people", PERSONS, "First names."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            needed("minutes", Whole(15, 120, 15), "How long they must be free, in minutes."),
        ),
        (
            "find {minutes} minutes on {date} when {people} are all free",
            "when do {people} all have {minutes} minutes free on {date}?",
            "look for a free slot| of {minutes} minutes for {people} on {date}",
        ),
    ),
    Function(
        "calendar.delete_event",
        "Delete an event from the calendar.",
        (
            needed("title", _MEETING, "Title of the event."),
            needed("date", DATE, "The day as YYYY-MM-DD."),
            optional(
                "notify",
                flag("telling the guests", "without telling the guests"),
                "Whether guests are told.",
                True,
                ", {notify}",
            ),
        ),
        (
            "delete the event| {title} of {date} from my calendar",
            "take| {title} on {date} out of my calendar",
            "remove the calendar event| {title} on {date}",
        ),
        lists="title",
    ),
    Function(
        "mail.send",
        "Send an email.",
        (
            needed("to", EMAILS, "Addresses."),
            needed("subject", _MEETING, "The subject."),
            optional("body", NOTE, "The text.", None, " and the text {body}"),
            optional(
                "urgent",
                flag("marked as urgent", "not marked as urgent"),
                "Whether it is marked as urgent.",
                False,
                ", {urgent}",
            ),
        ),
        (
            "send an email to {to} with the subject {subject}",
            "write a mail| to {to} with {subject} as its subject",
            "mail {to}, subject {subject}",
        ),
    ),
    Function(
        "mail.search",
        "Search the emails.",
        (
            needed("sender", PERSON, "Full name of the sender."),
            optional("since", DATE, "Only from this day on, YYYY-MM-DD.", None, " since {since}"),
            optional(
                "unread", flag("unread", "read"), "Only unread ones; all if left out.", None, ", only {unread} ones"
            ),
        ),
        (
            "search my emails| for those from {sender}",
            "find the emails| that {sender} sent me",
            "which mails did I get| from {sender}?",
        ),
        lists="sender",
    ),
    Function(
        "notes.save",
        "Save a note.",
        (
            needed("text", NOTE, "Text of the note."),
            optional("tags", Items(_TAG, 1, 3), "Tags.", [], " under the tags {tags}"),
        ),
        (
            "save the note| {text}",
            "write down| {text} as a note",
            "make a note that says| {text}",
        ),
        foreign={
            "es": "Guarda la nota {text}.",
            "de": "Speichere die Notiz {text}.",
            "ja": "{text}というメモを保存してください。",
        },
    ),
    Function(
        "tasks.assign",
        "Give a task to somebody.",
        (
            needed("task", NOTE, "What is to be done."),
            needed("person", NAME, "First name."),
            needed("due", DATE, "Last day, YYYY-MM-DD."),
            optional("priority", _PRIORITY, "How important it is.", "normal", " with {priority} priority"),
        ),
        (
            "assign the task {task} to {person}, due {due}",
            "give {person} the task| {task} until {due}",
            "have {person} do the task {task} by {due}",
        ),
        lists="person",
    ),
    Function(
        "tasks.list_open",
        "List the open tasks of somebody.",
        (
            needed("person", NAME, "First name."),
            optional(
                "priority", _PRIORITY, "Only tasks of this importance.", None, ", only those of {priority} priority"
            ),
        ),
        (
            "list the open tasks| of {person}",
            "which tasks are still open| for {person}?",
            "show what| {person} still has to do",
        ),
        lists="person",
    ),
)

_FOLDER = Word(("/data/reports", "/home/shared/photos", "/srv/backups", "/var/exports", "/home/nuria/drafts"))
_FILE = Phrase(words("summary invoice floorplan minutes budget"), ("_01.pdf", "_02.pdf", "_07.csv"), False, "")
_EXTENSION = Choice({"pdf": ("PDF",), "csv": ("CSV",), "png": ("PNG",), "txt": ("text",)})
_SETTING = Word(("max_retries", "page_size", "theme", "log_level", "cache_minutes", "start_page"))

_FILES = (
    Function(
        "files.rename",
        "Rename a file in its folder.",
        (
            needed("folder", _FOLDER, "Path of the folder."),
            needed(
                "old_name",
                Phrase(("draft", "scan", "copy"), ("_a.pdf", "_b.pdf", "_c.csv", "_d.txt"), False, ""),
                "Present name of the file.",
            ),
            needed(
                "new_name",
                Phrase(words("summary invoice minutes budget"), (".pdf", ".csv", ".txt"), False, ""),
                "New name of the file.",
            ),
        ),
        (
            "rename the file {old_name} in {folder} to {new_name}",
            "in the folder {folder}, give {old_name} the new name {new_name}.",
            "change the file name| {old_name} to {new_name} in {folder}",
        ),
    ),
    Function(
        "files.search",
        "Search files in a folder.",
        (
            needed("folder", _FOLDER, "Path of the folder."),
            needed("extension", _EXTENSION, "Ending of the file names, without the dot."),
            optional(
                "modified_after",
                DATE,
                "Only files changed after this day, YYYY-MM-DD.",
                None,
                " changed after {modified_after}",
            ),
            optional(
                "recursive",
                flag("with subfolders", "without subfolders"),
                "Whether subfolders are searched.",
                True,
                ", {recursive}",
            ),
        ),
        (
            "search {folder} for {extension} files",
            "which {extension} files are there| in {folder}?",
            "find {extension} files| in {folder}",
        ),
        lists="folder",
    ),
    Function(
        "files.compress",
        "Pack files into an archive.",
        (
            needed("files", Items(_FILE, 2, 3), "Names of the files."),
            needed(
                "archive", Phrase(words("spring april handover press"), (".zip", ".tar.gz"), False, ""), "Its name."
            ),
            optional("level", Whole(1, 9), "Strength of the compression.", 5, " at level {level}"),
        ),
        (
            "pack {files} into {archive}",
            "compress the files| {files} into the archive {archive}",
            "make the archive| {archive} out of {files}",
        ),
    ),
    Function(
        "files.share",
        "Share a folder with people.",
        (
            needed("folder", _FOLDER, "Path of the folder."),
            needed("people", PERSONS, "First names."),
            optional(
                "can_edit",
                flag("allowed to edit", "not allowed to edit"),
                "Whether they can change files.",
                False,
                ", {can_edit}",
            ),
        ),
        (
            "share {folder} with {people}",
            "let {people} see the folder {folder}",
            "give access to {folder} to {people}",
        ),
        lists="folder",
    ),
    Function(
        "config.set_value",
        "Change a setting of the program.",
        (
            needed("key", _SETTING, "Name of the setting."),
            needed(
                "value",
                OneOf((Whole(2, 90), Word(words("dark light verbose quiet home inbox")))),
                "New value: a number where it is one, else text.",
            ),
            optional(
                "scope",
                Choice({"user": ("this user",), "everyone": ("everyone",)}),
                "Whom it applies to.",
                "user",
                " for {scope}",
            ),
        ),
        (
            "set the setting {key} to {value}",
            "change the program's| {key} to {value}",
            "configure| {key} as {value}",
        ),
    ),
    Function(
        "backup.schedule",
        "Back a folder up at regular times.",
        (
            needed("folder", _FOLDER, "Path of the folder."),
            needed("every_hours", Whole(2, 48, 2), "Hours between backups."),
            optional("keep", Whole(3, 30), "Number of backups that are kept.", 7, ", keeping {keep} backups"),
        ),
        (
            "back up {folder} every {every_hours} hours",
            "schedule a backup| of {folder} every {every_hours} hours",
            "set up backups| that copy {folder} every {every_hours} hours",
        ),
        lists="folder",
    ),
)

_DEVICE = Word(words("dishwasher heat_pump dryer freezer wallbox boiler"))

_HOME = (
    Function(
        "home.set_lamp",
        "Set the lamp of a room.",
        (
            needed("room", ROOM, "The room."),
            needed("brightness", Whole(5, 100, 5), "Brightness in percent."),
            optional("colour", COLOUR, "Colour of the light.", "white", " in {colour}"),
        ),
        (
            "set the lamp in the {room} to {brightness} percent",
            "dim the light| in the {room} to {brightness}%",
            "make the lamp| in the {room} {brightness}% bright",
        ),
        lists="room",
        foreign={
            "de": "Stell die Lampe im Raum '{room}' auf {brightness} Prozent.",
            "ko": "{room} 조명을 {brightness}퍼센트로 맞춰 줘.",
        },
    ),
    Function(
        "home.set_heating",
        "Set the heating of a room.",
        (
            needed("room", ROOM, "The room."),
            needed("degrees", Real(15, 24, 1), "Temperature in degrees Celsius."),
            optional("until", TIME, "End as HH:MM, 24 hours; for good if left out.", None, " until {until}"),
        ),
        (
            "heat the {room} to {degrees} degrees",
            "set the heating| in the {room} to {degrees} degrees",
            "turn the radiator| in the {room} to {degrees} degrees",
        ),
        lists="room",
        foreign={
            "de": "Heize den Raum '{room}' auf {degrees} Grad.",
            "es": "Pon la calefacción de '{room}' a {degrees} grados.",
        },
    ),
    Function(
        "home.start_vacuum",
        "Send the robot vacuum to rooms.",
        (
            needed("rooms", Items(ROOM, 1, 3), "The rooms in order."),
            optional(
                "mode",
                Choice({"quiet": (), "normal": (), "turbo": ()}),
                "How hard it cleans.",
                "normal",
                " in {mode} mode",
            ),
        ),
        (
            "send the robot vacuum| through the {rooms}",
            "vacuum the {rooms}",
            "let the vacuum robot clean| the {rooms}",
        ),
    ),
    Function(
        "home.lock_doors",
        "Lock or unlock doors.",
        (
            needed("doors", Items(Choice({"front": (), "back": (), "garage": (), "cellar": ()}), 1, 3), "Which doors."),
            needed("locked", flag("locked", "unlocked"), "Whether they are locked afterwards."),
        ),
        (
            "make sure that these doors are {locked}: {doors}",
            "I want the {doors} door(s) {locked}, see to it.",
            "see to it that the {doors} door(s) are {locked}",
        ),
    ),
    Function(
        "home.play_radio",
        "Play a radio station.",
        (
            needed("station", Word(words("Radio_Nord Klassika Jazzline Newswave Kanal_5 Retro_FM")), "The station."),
            optional("room", ROOM, "Where it plays; everywhere if left out.", None, " in the {room}"),
            optional("volume", Whole(5, 80, 5), "Volume in percent.", 30, " at volume {volume}"),
        ),
        (
            "play the radio station| {station}",
            "turn on| {station} on the radio",
            "let me hear the station| {station}",
        ),
        foreign={"it": "Metti la stazione radio {station}.", "fr": "Mets la station {station}."},
    ),
    Function(
        "energy.consumption",
        "Electricity that a device used.",
        (
            needed("device", _DEVICE, "The device."),
            needed("start", DATE, "First day, YYYY-MM-DD."),
            needed("days", Whole(2, 60), "Number of days."),
        ),
        (
            "get the consumption of the {device} over {days} days from {start} on",
            "how much power did the {device} use in the {days} days from {start} on?",
            "look up how much electricity| the {device} used over {days} days beginning {start}",
        ),
        lists="device",
    ),
    Function(
        "energy.switch_tariff",
        "Change the electricity tariff.",
        (
            needed("meter", Code("EM-######"), "Number of the meter."),
            needed("tariff", Choice({"fixed": (), "hourly": (), "night": (), "solar": ()}), "The new tariff."),
            optional(
                "start", DATE, "First day, YYYY-MM-DD; as soon as possible if left out.", None, " from {start} on"
            ),
        ),
        (
            "switch the meter {meter} to the {tariff} tariff",
            "move my meter| {meter} over to the {tariff} tariff",
            "change the electricity tariff| of {meter} to {tariff}",
        ),
        lists="meter",
    ),
)

_SUBJECT = Choice(dict.fromkeys(words("biology history algebra geography physics Latin"), ()))
_MARK = Record(
    {"pupil": Field(NAME, "First name."), "points": Field(Whole(20, 100), "Points in the test.")},
    ("{pupil}: {points} points", "{pupil} with {points} points"),
)

_SCHOOL = (
    Function(
        "school.record_marks",
        "Record the marks of a test.",
        (
            needed("subject", _SUBJECT, "The subject."),
            needed("marks", Items(_MARK, 2, 4), "Who got how many points."),
        ),
        (
            "record these marks in {subject}: {marks}",
            "enter the {subject} test results| of {marks}",
            "put down the points for {subject}: {marks}",
        ),
    ),
    Function(
        "school.make_quiz",
        "Make a quiz.",
        (
            needed("subject", _SUBJECT, "The subject."),
            needed("questions", Whole(5, 30), "Number of questions."),
            optional(
                "level",
                Choice({"easy": (), "medium": (), "hard": ()}),
                "How hard it is.",
                "medium",
                " of {level} difficulty",
            ),
        ),
        (
            "make a {subject} quiz with {questions} questions",
            "set up a quiz| on {subject} that has {questions} questions",
            "write a quiz| of {questions} questions about {subject}",
        ),
        foreign={
            "de": "Erstelle ein Quiz in '{subject}' mit {questions} Fragen.",
            "es": "Haz un cuestionario de '{subject}' con {questions} preguntas.",
        },
    ),
    Function(
        "school.timetable",
        "Timetable of a class.",
        (
            needed("class_name", Code("#@"), "Name of the class, such as 7B."),
            optional(
                "weekday",
                Choice(dict.fromkeys(words("Monday Tuesday Wednesday Thursday Friday"), ())),
                "Only this day.",
                None,
                " on {weekday}",
            ),
        ),
        (
            "show the timetable| of class {class_name}",
            "what is the timetable| of the class {class_name}?",
            "get the lessons| that class {class_name} has",
        ),
        lists="class_name",
    ),
    Function(
        "school.grade_average",
        "Weighted average of grades.",
        (
            needed("grades", Items(Real(1, 5, 1), 3, 4), "The grades."),
            needed("weights", Items(Whole(1, 9), 3, 4), "Their weights in the same order."),
        ),
    ),
    Function(
        "history.events_of_year",
        "What happened in a year.",
        (
            needed("year", YEAR, "The year."),
            optional(
                "region",
                Choice({"europe": ("Europe",), "asia": ("Asia",), "africa": ("Africa",)}),
                "Only this part of the world.",
                None,
                " in {region}",
            ),
        ),
        (
            "list what happened| in {year}",
            "which events took place| in the year {year}?",
            "look up the events of the year| {year}",
        ),
        lists="year",
    ),
)

FUNCTIONS = (*_OFFICE, *_FILES, *_HOME, *_SCHOOL)
"""In the order of their domains."""

"""Errands of the office, files, tables, the home and school."""

from __future__ import annotations

from callgym.envs.when2call.starter.errand_model import Errand, Gap

__all__ = ["ERRANDS"]

_TODAY = "Today if left out."
_OWN = "The user if left out."
_HERE = "The room that the user is in if left out."

_OFFICE = (
    Errand(
        "calendar.create_event",
        "put events into the calendar",
        (
            "{title} is in your calendar on {date} at {start}.",
            "Added: {title}, {date}, {start}. The day has {few} other entries.",
        ),
        (
            Gap(
                "date",
                "the date of the event",
                (
                    "put {title} into my calendar at {start}",
                    "create a calendar event {title} at {start}",
                    "add an event called {title}, starting at {start}",
                ),
                _TODAY,
            ),
            Gap(
                "start",
                "the start time",
                (
                    "put {title} into my calendar on {date}",
                    "create a calendar event {title} on {date}",
                    "add an event called {title} on {date}",
                ),
                "The event fills the whole day if left out.",
            ),
            Gap(
                "title",
                "the title of the event",
                (
                    "put something into my calendar on {date} at {start}",
                    "create a calendar event on {date} at {start}",
                    "add an event on {date}, starting at {start}",
                ),
                "The time is marked as busy if left out.",
            ),
            Gap("minutes", "how many minutes it lasts"),
        ),
    ),
    Errand(
        "calendar.free_slots",
        "find free slots in calendars",
        (
            "{people} are all free for {minutes} minutes on {date} at {clock}.",
            "On {date} the first gap of {minutes} minutes for {people} begins at {clock}.",
        ),
        (
            Gap(
                "minutes",
                "how many minutes you need",
                (
                    "find a time on {date} when {people} are all free",
                    "when do {people} all have time on {date}?",
                    "look for a free slot for {people} on {date}",
                ),
                default=60,
            ),
            Gap(
                "date",
                "the date that you have in mind",
                (
                    "find {minutes} minutes when {people} are all free",
                    "when do {people} all have {minutes} minutes free?",
                    "look for a free slot of {minutes} minutes for {people}",
                ),
                _TODAY,
            ),
            Gap(
                "people",
                "the people who must be free",
                (
                    "find {minutes} minutes on {date} when we are all free",
                    "when do we all have {minutes} minutes free on {date}?",
                    "look for a free slot of {minutes} minutes on {date}",
                ),
                "Everybody in the user's team if left out.",
            ),
        ),
    ),
    Errand(
        "calendar.delete_event",
        "delete events from the calendar",
        (
            "{title} of {date} is gone from your calendar.",
            "Deleted: {title}, {date}. {few} guests were told.",
        ),
        (
            Gap(
                "date",
                "the date of the event",
                (
                    "delete the event {title} from my calendar",
                    "take {title} out of my calendar",
                    "remove the calendar event {title}",
                ),
                "The next event of that title if left out.",
            ),
            Gap(
                "title",
                "the title of the event",
                (
                    "delete the event of {date} from my calendar",
                    "take the entry on {date} out of my calendar",
                    "remove the calendar event on {date}",
                ),
                "All events of the day if left out.",
            ),
            Gap("notify", "whether to notify the guests"),
        ),
    ),
    Errand(
        "mail.send",
        "send emails",
        (
            "Your email {subject} to {to} is out.",
            "Sent to {to} at {clock}, subject {subject}.",
        ),
        (
            Gap(
                "subject",
                "the subject of the email",
                (
                    "send an email to {to}",
                    "write a mail to {to}",
                    "mail {to}",
                ),
                "No subject if left out.",
            ),
            Gap(
                "to",
                "the addresses that it goes to",
                (
                    "send an email with the subject {subject}",
                    "write a mail with {subject} as its subject",
                    "send a mail, subject {subject}",
                ),
                "The user's own address if left out.",
            ),
            Gap("body", "the body of the email"),
        ),
    ),
    Errand(
        "mail.search",
        "search emails",
        (
            "{sender} wrote to you {few} times, last on {day}.",
            "The newest email from {sender} came at {clock} and is about a meeting.",
        ),
        (
            Gap("since", "since when, that is, the first day of the search"),
            Gap(
                "sender",
                "the sender of the emails",
                (
                    "search my emails",
                    "find the emails that were sent to me",
                    "look through my mails",
                    "which mails did I get?",
                ),
                "All senders if left out.",
            ),
        ),
    ),
    Errand(
        "notes.save",
        "save notes",
        (
            "The note {text} is saved.",
            "Noted: {text}. You now have {some} notes.",
        ),
        (
            Gap(
                "text",
                "the text of the note",
                (
                    "save a note for me",
                    "write something down as a note",
                    "make a note",
                    "put a new note on my list",
                ),
                "What the user said last is noted if left out.",
            ),
        ),
    ),
    Errand(
        "tasks.assign",
        "assign tasks",
        (
            "{person} has the task {task} until {due} now.",
            "Assigned: {task} goes to {person}, due {due}.",
        ),
        (
            Gap(
                "due",
                "when it is due",
                (
                    "assign the task {task} to {person}",
                    "give {person} the task {task}",
                    "have {person} do the task {task}",
                ),
                "The end of the week if left out.",
            ),
            Gap(
                "person",
                "the person who gets the task",
                (
                    "assign the task {task}, due {due}",
                    "give somebody the task {task} until {due}",
                    "have somebody do the task {task} by {due}",
                ),
                "Whoever has the fewest tasks if left out.",
            ),
            Gap(
                "task",
                "the task",
                (
                    "assign a task to {person}, due {due}",
                    "give {person} a new task until {due}",
                    "have {person} do a task by {due}",
                ),
                "The first open task if left out.",
            ),
            Gap("priority", "the priority of the task"),
        ),
    ),
    Errand(
        "tasks.list_open",
        "list open tasks",
        (
            "{person} has {few} open tasks, the oldest from {day}.",
            "Nothing is open for {person} but one task of {day}.",
        ),
        (
            Gap(
                "person",
                "the person whose tasks you mean",
                (
                    "list the open tasks",
                    "which tasks are still open?",
                    "show what still has to be done",
                    "see which tasks nobody has finished",
                ),
                _OWN,
            ),
        ),
    ),
)

_FILES = (
    Errand(
        "files.rename",
        "rename files",
        (
            "The file {old_name} in {folder} is called {new_name} now.",
            "Renamed: {folder} now holds {new_name} instead of {old_name}.",
        ),
        (
            Gap(
                "folder",
                "the folder of the file",
                (
                    "rename the file {old_name} to {new_name}",
                    "give the file {old_name} the new name {new_name}",
                    "change the file name {old_name} to {new_name}",
                ),
                "The folder that is open if left out.",
            ),
            Gap(
                "new_name",
                "the new name",
                (
                    "rename the file {old_name} in {folder}",
                    "in the folder {folder}, give {old_name} a new name.",
                    "change the file name {old_name} in {folder}",
                ),
                "The first words of its text if left out.",
            ),
            Gap(
                "old_name",
                "the old name of the file",
                (
                    "rename the file in {folder} to {new_name}",
                    "in the folder {folder}, give a file the new name {new_name}.",
                    "change a file name to {new_name} in {folder}",
                ),
                "The newest file if left out.",
            ),
        ),
    ),
    Errand(
        "files.search",
        "search folders",
        (
            "{folder} has {some} {extension} files.",
            "The newest {extension} file in {folder} is from {day}.",
        ),
        (
            Gap(
                "extension",
                "the extension of the files",
                (
                    "search {folder} for files",
                    "which files are there in {folder}?",
                    "find the files in {folder}",
                ),
                "All files if left out.",
            ),
            Gap(
                "folder",
                "the folder to search",
                (
                    "search for {extension} files",
                    "which {extension} files are there?",
                    "find {extension} files",
                ),
                "All folders of the user if left out.",
            ),
            Gap("modified_after", "the day after which they were modified"),
        ),
    ),
    Errand(
        "files.compress",
        "pack archives",
        (
            "The archive {archive} holds {files} and is {some} MB large.",
            "Packed into {archive}: {files}.",
        ),
        (
            Gap(
                "archive",
                "the name of the archive",
                (
                    "pack {files} into an archive",
                    "compress the files {files}",
                    "make an archive out of {files}",
                ),
                "The name of the first file if left out.",
            ),
            Gap(
                "files",
                "the files to pack",
                (
                    "pack the archive {archive}",
                    "compress my files into the archive {archive}",
                    "make the archive {archive}",
                ),
                "All files of the open folder if left out.",
            ),
            Gap("level", "the level of compression"),
        ),
    ),
    Errand(
        "files.share",
        "share folders",
        (
            "{people} can open {folder} now.",
            "{folder} is shared with {people}; they got a mail at {clock}.",
        ),
        (
            Gap(
                "people",
                "the people to share it with",
                (
                    "share {folder}",
                    "let the others see the folder {folder}",
                    "give access to {folder}",
                ),
                "Everybody in the user's team if left out.",
            ),
            Gap(
                "folder",
                "the folder to share",
                (
                    "share a folder with {people}",
                    "let {people} see the folder",
                    "give access to my folder to {people}",
                ),
                "The folder that is open if left out.",
            ),
        ),
    ),
    Errand(
        "config.set_value",
        "change settings",
        (
            "The setting {key} is {value} now.",
            "Since {clock} {key} has been {value}.",
        ),
        (
            Gap(
                "value",
                "the new value",
                (
                    "set the setting {key} to something else",
                    "change the program's {key}",
                    "configure {key}",
                ),
                "The factory value if left out.",
            ),
            Gap(
                "key",
                "the key, the name of the setting",
                (
                    "set the setting to {value}",
                    "change the program's setting to {value}",
                    "configure it as {value} in the program",
                ),
                "The setting that is shown if left out.",
            ),
            Gap("scope", "the scope, this user or everyone"),
        ),
    ),
    Errand(
        "backup.schedule",
        "schedule backups",
        (
            "{folder} is backed up every {every_hours} hours from now on.",
            "Backups of {folder} run every {every_hours} hours, the next at {clock}.",
        ),
        (
            Gap(
                "every_hours",
                "every how many hours it should run",
                (
                    "back up {folder} regularly",
                    "schedule a backup of {folder}",
                    "set up backups that copy {folder}",
                ),
                default=24,
            ),
            Gap(
                "folder",
                "the folder to back up",
                (
                    "back up my files every {every_hours} hours",
                    "schedule a backup every {every_hours} hours",
                    "set up backups that run every {every_hours} hours",
                ),
                "The user's home if left out.",
            ),
            Gap("keep", "how many backups to keep"),
        ),
    ),
    Errand(
        "table.filter_rows",
        "filter tables",
        (
            "{some} rows of {table} have {conditions}.",
            "In {table}, {many} rows meet {conditions}.",
        ),
        (
            Gap(
                "conditions",
                "the conditions that rows must meet",
                (
                    "filter the table {table}",
                    "show me the rows of {table} that I need",
                    "get the right rows from the {table} table",
                ),
                "All rows if left out.",
            ),
            Gap(
                "table",
                "the table",
                (
                    "filter the table for rows with {conditions}",
                    "show me the rows that have {conditions}",
                    "get all rows from the table where {conditions}",
                ),
                "The table that is open if left out.",
            ),
        ),
    ),
    Errand(
        "table.set_value",
        "write into tables",
        (
            "Row {row} of {table} has {value} under {column} now.",
            "Written: {value}, column {column}, row {row} of {table}.",
        ),
        (
            Gap(
                "value",
                "the new value of the cell",
                (
                    "in the table {table}, change the cell {column} of row {row}.",
                    "write into row {row} of the column {column} in {table}",
                    "change column {column} in row {row} of {table}",
                ),
                "The cell is emptied if left out.",
            ),
            Gap(
                "row",
                "the number of the row",
                (
                    "in the table {table}, set the cell {column} to {value}.",
                    "write {value} into the column {column} in {table}",
                    "change column {column} of {table} to {value}",
                ),
                "A new row is added if left out.",
            ),
            Gap(
                "table",
                "the table",
                (
                    "set the cell {column} of row {row} to {value} in the table",
                    "write {value} into row {row} of the column {column}",
                    "change column {column} in row {row} to {value}",
                ),
                "The table that is open if left out.",
            ),
        ),
    ),
    Errand(
        "table.count_rows",
        "count rows",
        (
            "The table {table} has {many} rows.",
            "There are {many} rows in {table}.",
        ),
        (
            Gap("year", "the year that the rows are from"),
            Gap(
                "table",
                "the table",
                (
                    "count the rows of the table",
                    "how many rows are there?",
                    "tell me how many rows the table has",
                    "find out how long the table is, in rows",
                ),
                "The table that is open if left out.",
            ),
        ),
    ),
)

_HOME = (
    Errand(
        "home.set_lamp",
        "set lamps",
        (
            "The lamp in the {room} is at {brightness} percent.",
            "Done: {brightness}% in the {room}, all others unchanged.",
        ),
        (
            Gap(
                "brightness",
                "the brightness in percent",
                (
                    "set the lamp in the {room}",
                    "dim the light in the {room}",
                    "make the lamp in the {room} as bright as I need it",
                ),
                default=50,
            ),
            Gap(
                "room",
                "the room",
                (
                    "set the lamp to {brightness} percent",
                    "dim the light to {brightness}%",
                    "make the lamp {brightness}% bright",
                ),
                _HERE,
            ),
            Gap("colour", "the colour of the light"),
        ),
    ),
    Errand(
        "home.set_heating",
        "set the heating",
        (
            "The {room} is warming up to {degrees} degrees.",
            "Heating on: the {room} reaches {degrees} degrees at {clock}.",
        ),
        (
            Gap(
                "degrees",
                "how many degrees it should be",
                (
                    "heat the {room}",
                    "set the heating in the {room}",
                    "turn the radiator on in the {room}",
                ),
                default=20,
            ),
            Gap(
                "room",
                "the room to heat",
                (
                    "heat to {degrees} degrees",
                    "set the heating to {degrees} degrees",
                    "turn the radiator to {degrees} degrees",
                ),
                _HERE,
            ),
            Gap("until", "until when it should be on"),
        ),
    ),
    Errand(
        "home.start_vacuum",
        "send the robot vacuum out",
        (
            "The vacuum is on its way through the {rooms}.",
            "The {rooms} will be clean by {clock}.",
        ),
        (
            Gap("mode", "the mode: quiet, normal or turbo"),
            Gap(
                "rooms",
                "the rooms to clean",
                (
                    "send the robot vacuum out",
                    "vacuum for me",
                    "let the vacuum robot clean",
                    "start the robot vacuum",
                ),
                "All rooms if left out.",
            ),
        ),
    ),
    Errand(
        "home.lock_doors",
        "lock doors",
        (
            "The {doors} door is {locked} now.",
            "All set: {doors}, {locked} since {clock}.",
        ),
        (
            Gap(
                "doors",
                "which doors you mean",
                (
                    "make sure that the doors are {locked}",
                    "I want the doors {locked}, see to it.",
                    "see to it that the house is {locked}",
                ),
                "All doors if left out.",
            ),
            Gap(
                "locked",
                "whether they should be locked or unlocked",
                (
                    "see to these doors: {doors}",
                    "I have something to do with the lock of the {doors} door(s), see to it.",
                    "take care of the lock of the {doors} door(s)",
                ),
                "The lock is turned the other way if left out.",
            ),
        ),
    ),
    Errand(
        "home.play_radio",
        "play the radio",
        (
            "{station} is playing.",
            "You are listening to {station}, it is {clock}.",
        ),
        (
            Gap("room", "the room that it should play in"),
            Gap("volume", "the volume in percent"),
            Gap(
                "station",
                "the station",
                (
                    "play the radio",
                    "turn on the radio",
                    "let me hear some radio",
                    "switch the radio on",
                ),
                "The station heard last if left out.",
            ),
        ),
    ),
    Errand(
        "energy.consumption",
        "look up what devices consume",
        (
            "The {device} used {some} kWh in the {days} days from {start} on.",
            "From {start} on the {device} took {many} Wh over {days} days.",
        ),
        (
            Gap(
                "start",
                "the start, the first day",
                (
                    "get the consumption of the {device} over {days} days",
                    "how much power did the {device} use in {days} days?",
                    "look up how much electricity the {device} used over {days} days",
                ),
                "The latest days if left out.",
            ),
            Gap(
                "days",
                "over how many days",
                (
                    "get the consumption of the {device} from {start} on",
                    "how much power did the {device} use from {start} on?",
                    "look up how much electricity the {device} used beginning {start}",
                ),
                default=30,
            ),
            Gap(
                "device",
                "the device",
                (
                    "get the consumption over {days} days from {start} on",
                    "how much power was used in the {days} days from {start} on?",
                    "look up how much electricity was used over {days} days beginning {start}",
                ),
                "The whole house if left out.",
            ),
        ),
    ),
    Errand(
        "energy.switch_tariff",
        "change electricity tariffs",
        (
            "The meter {meter} is on the {tariff} tariff from {day} on.",
            "Switched: {meter} pays the {tariff} tariff now.",
        ),
        (
            Gap(
                "tariff",
                "the new tariff",
                (
                    "switch the meter {meter} to another tariff",
                    "move my meter {meter} over to a better tariff",
                    "change the electricity tariff of {meter}",
                ),
                "The cheapest one if left out.",
            ),
            Gap(
                "meter",
                "the number of the meter",
                (
                    "switch my meter to the {tariff} tariff",
                    "move us over to the {tariff} tariff",
                    "change the electricity tariff to {tariff}",
                ),
                "The user's own meter if left out.",
            ),
            Gap("start", "the start, the first day of the new tariff"),
        ),
    ),
)

_SCHOOL = (
    Errand(
        "school.record_marks",
        "enter test results",
        (
            "The marks in {subject} are recorded: {marks}.",
            "Entered for {subject}: {marks}. The mean is {some}.",
        ),
        (
            Gap(
                "subject",
                "the subject",
                (
                    "record these marks: {marks}",
                    "enter the test results of {marks}",
                    "put down the points: {marks}",
                ),
                "The subject that the user teaches if left out.",
            ),
            Gap(
                "marks",
                "the marks, who got how many points",
                (
                    "record the marks in {subject}",
                    "enter the {subject} test results",
                    "put down the points for {subject}",
                ),
                "They are read from the scanned tests if left out.",
            ),
        ),
    ),
    Errand(
        "school.timetable",
        "look up timetables",
        (
            "Class {class_name} starts at {clock} and has {few} lessons a day.",
            "{class_name} has sports first, then history until {clock}.",
        ),
        (
            Gap("weekday", "the weekday"),
            Gap(
                "class_name",
                "the name of the class",
                (
                    "show the timetable of the class",
                    "what is the timetable at school?",
                    "get the lessons that the class has",
                    "show me the school timetable",
                ),
                "The user's own class if left out.",
            ),
        ),
    ),
    Errand(
        "statistics.correlation",
        "work out correlations",
        (
            "The two series have a correlation of 0.{some}.",
            "{x} and {y} go together strongly: 0.{some}.",
        ),
        (
            Gap("method", "the method: Pearson, Spearman or Kendall"),
            Gap(
                "y",
                "the second series, y",
                (
                    "compute the correlation of the series {x} with the other series",
                    "how strongly is {x} correlated with the other series?",
                    "find the correlation between the values {x} and the others",
                ),
                "The series that is open if left out.",
            ),
        ),
        thinkable=True,
    ),
    Errand(
        "statistics.moving_average",
        "work out moving averages",
        (
            "Smoothed over {window} values, {values} end at {some}.",
            "The moving average of {values} starts at {some}.",
        ),
        (
            Gap(
                "window",
                "the window, how many of them each average covers",
                (
                    "compute the moving average of {values}",
                    "smooth the series {values} by a moving average",
                    "what is the moving average of {values}?",
                ),
                default=3,
            ),
            Gap(
                "values",
                "the values of the series",
                (
                    "compute the moving average with a window of {window}",
                    "smooth my series by a moving average over {window} values",
                    "what is the moving average for a window of {window}?",
                ),
                "The series that is open if left out.",
            ),
        ),
        thinkable=True,
    ),
)

ERRANDS = (*_OFFICE, *_FILES, *_HOME, *_SCHOOL)
"""In the order of their domains."""

"""What the starter set tells of the classes of a desk: files, maths, messages and tickets. Our own sentences."""

from __future__ import annotations

from callgym.envs.bfcl.starter.class_documents_form import Document, Parameter, document

__all__ = ["FILES", "MATHS", "MESSAGES", "TICKETS"]

_FILE = "Name of a file in the current folder; a path is not taken."
_NUMBERS: Parameter = ("numbers", "array of float", "The numbers, at least one.")
_A: Parameter = ("a", "float", "The first number.")
_B: Parameter = ("b", "float", "The second number.")
_RESULT = {"result": ("float", "The result.")}
_UNIT_IN: Parameter = ("unit_in", "string", "The unit of the value.")
_UNIT_OUT: Parameter = ("unit_out", "string", "The unit that is wanted.")
_DIGITS: Parameter = ("precision", "integer", "How many significant digits to calculate.")
_USER_ID: Parameter = ("receiver_id", "string", "Id of the receiver, such as USR012.")
_TICKET: Parameter = ("ticket_id", "integer", "Number of the ticket.")
_TICKET_FIELDS = {
    "id": ("integer", "Number of the ticket."),
    "title": ("string", "Its title."),
    "description": ("string", "Its description."),
    "status": ("string", "Open, Closed or Resolved."),
    "priority": ("integer", "1 to 5, 5 being the most urgent."),
    "created_by": ("string", "Who opened it."),
}

FILES: tuple[Document, ...] = (
    document(
        "cat",
        "Show all that a file of the current folder holds.",
        [("file_name", "string", _FILE)],
        {"file_content": ("string", "The text of the file.")},
    ),
    document(
        "cd",
        "Go into a folder. Only one step at a time: into a folder that lies in the current one, or up by one.",
        [("folder", "string", "Name of a folder in the current one; '..' for the folder above.")],
        {"current_working_directory": ("string", "Name of the folder that is current now.")},
    ),
    document(
        "cp",
        "Copy a file or a folder of the current folder, under another name or into a folder that lies beside it.",
        [
            ("source", "string", "What to copy: a name in the current folder."),
            (
                "destination",
                "string",
                "Name of a folder beside it to copy into, or else the name of the copy. No path.",
            ),
        ],
        {"result": ("string", "What was copied, and to where.")},
    ),
    document(
        "diff",
        "Compare two files of the current folder line by line.",
        [("file_name1", "string", _FILE), ("file_name2", "string", _FILE)],
        {"diff_lines": ("string", "Each pair of lines that differ: '- ' and the first, '+ ' and the second.")},
    ),
    document(
        "du",
        "Measure all files in the current folder and below it.",
        [("human_readable", "boolean", "Whether to write the size in KB, MB and so on.", False)],
        {"disk_usage": ("string", "The size.")},
    ),
    document(
        "echo",
        "Write a text into a file that exists; what was in it is gone. Without a file the text is only shown.",
        [
            ("content", "string", "The text."),
            ("file_name", "string", f"{_FILE} It must exist.", None),
        ],
        {"terminal_output": ("string", "The text, where no file is given.")},
    ),
    document(
        "find",
        "List the paths of all files and folders below a folder whose names contain a text.",
        [
            ("path", "string", "Where to begin; '.' is the current folder.", "."),
            ("name", "string", "Part of the name that is looked for; without it everything is listed.", None),
        ],
        {"matches": ("array of string", "The paths that were found.")},
    ),
    document(
        "grep",
        "Show the lines of a file that contain a text.",
        [("file_name", "string", _FILE), ("pattern", "string", "The text, upper and lower case as written.")],
        {"matching_lines": ("array of string", "The lines.")},
    ),
    document(
        "ls",
        "List the names in the current folder.",
        [("a", "boolean", "Whether to list hidden ones, which begin with a dot, too.", False)],
        {"current_directory_content": ("array of string", "The names.")},
    ),
    document(
        "mkdir",
        "Make an empty folder in the current one.",
        [("dir_name", "string", "Name of the new folder. No path.")],
    ),
    document(
        "mv",
        "Move a file or a folder of the current folder into a folder that lies beside it, or give it another name.",
        [
            ("source", "string", "What to move: a name in the current folder."),
            ("destination", "string", "Name of a folder beside it to move into, or else the new name. No path."),
        ],
        {"result": ("string", "What was moved, and to where.")},
    ),
    document(
        "pwd",
        "Tell the path of the current folder.",
        (),
        {"current_working_directory": ("string", "The path.")},
    ),
    document(
        "rm",
        "Delete a file of the current folder, or a folder with everything in it.",
        [("file_name", "string", "Name of the file or folder. No path.")],
        {"result": ("string", "What was deleted.")},
    ),
    document(
        "rmdir",
        "Delete a folder of the current folder that is empty.",
        [("dir_name", "string", "Name of the folder. No path.")],
        {"result": ("string", "What was deleted.")},
    ),
    document(
        "sort",
        "Show the lines of a file in alphabetical order; the file itself stays as it is.",
        [("file_name", "string", _FILE)],
        {"sorted_content": ("string", "The lines in order.")},
    ),
    document(
        "tail",
        "Show the last lines of a file.",
        [("file_name", "string", _FILE), ("lines", "integer", "How many lines.", 10)],
        {"last_lines": ("string", "The lines.")},
    ),
    document(
        "touch",
        "Make an empty file in the current folder.",
        [("file_name", "string", "Name of the new file. No path.")],
    ),
    document(
        "wc",
        "Count the lines, words or characters of a file.",
        [
            ("file_name", "string", _FILE),
            ("mode", "string: l, w, c", "What to count: l for lines, w for words, c for characters.", "l"),
        ],
        {"count": ("integer", "How many there are."), "type": ("string", "What was counted.")},
    ),
)

MATHS: tuple[Document, ...] = (
    document("absolute_value", "Take the sign off a number.", [("number", "float", "The number.")], _RESULT),
    document("add", "Give the sum of two numbers.", [_A, _B], _RESULT),
    document("divide", "Divide the first number by the second.", [_A, _B], _RESULT),
    document(
        "imperial_si_conversion",
        "Convert between metric and imperial units: cm and in, m and ft, m and yd, km and miles, kg and lb, "
        "celsius and fahrenheit.",
        [("value", "float", "What is to be converted."), _UNIT_IN, _UNIT_OUT],
        _RESULT,
    ),
    document(
        "logarithm",
        "Calculate the logarithm of a number to a base.",
        [("value", "float", "The number."), ("base", "float", "The base."), _DIGITS],
        _RESULT,
    ),
    document("max_value", "Find the greatest of some numbers.", [_NUMBERS], _RESULT),
    document("mean", "Calculate the mean of some numbers.", [_NUMBERS], _RESULT),
    document("min_value", "Find the least of some numbers.", [_NUMBERS], _RESULT),
    document("multiply", "Give the product of two numbers.", [_A, _B], _RESULT),
    document(
        "percentage",
        "Tell how many per cent of a whole a part is.",
        [("part", "float", "The part."), ("whole", "float", "The whole, which counts as 100 per cent.")],
        _RESULT,
    ),
    document(
        "power",
        "Calculate a power of a number.",
        [("base", "float", "The number."), ("exponent", "float", "The power.")],
        _RESULT,
    ),
    document(
        "round_number",
        "Round a number.",
        [("number", "float", "The number."), ("decimal_places", "integer", "Digits after the point to keep.", 0)],
        _RESULT,
    ),
    document(
        "si_unit_conversion",
        "Convert a length between the metric units km, m, cm, mm, um and nm.",
        [("value", "float", "The length."), _UNIT_IN, _UNIT_OUT],
        _RESULT,
    ),
    document("square_root", "Calculate a square root.", [("number", "float", "The number."), _DIGITS], _RESULT),
    document(
        "standard_deviation",
        "Calculate the standard deviation of some numbers, taken as the whole population.",
        [_NUMBERS],
        _RESULT,
    ),
    document("subtract", "Take the second number from the first.", [_A, _B], _RESULT),
    document("sum_values", "Add some numbers up.", [_NUMBERS], _RESULT),
)

MESSAGES: tuple[Document, ...] = (
    document(
        "add_contact",
        "Add a person to the workspace, who gets an id.",
        [("user_name", "string", "Name of the person.")],
        {
            "added_status": ("boolean", "Whether the person was added."),
            "user_id": ("string", "The new id."),
            "message": ("string", "The same in words."),
        },
    ),
    document(
        "delete_message",
        "Delete the latest message that was sent to a person. Somebody must be logged in.",
        [_USER_ID],
        {
            "deleted_status": ("boolean", "Whether it was deleted."),
            "receiver_id": ("string", "Whom it had been sent to."),
            "message": ("string", "The same in words."),
        },
    ),
    document(
        "get_message_stats",
        "Count the messages and the people that have some. Somebody must be logged in.",
        (),
        {"stats": ("dict", "received_count: how many messages; total_contacts: how many people.")},
    ),
    document(
        "get_user_id",
        "Look up the id of a person of the workspace.",
        [("user", "string", "Name of the person.")],
        {"user_id": ("string", "The id.")},
    ),
    document(
        "list_users",
        "List the names of all people of the workspace, in the order in which they joined.",
        (),
        {"user_list": ("array of string", "The names.")},
    ),
    document(
        "message_get_login_status",
        "Tell whether somebody is logged in to the messages.",
        (),
        {"login_status": ("boolean", "Whether somebody is.")},
    ),
    document(
        "message_login",
        "Log in to the messages.",
        [("user_id", "string", "Id of the person who logs in, such as USR012.")],
        {
            "login_status": ("boolean", "Whether it worked."),
            "message": ("string", "The same in words."),
        },
    ),
    document(
        "search_messages",
        "Find the messages that contain a text, in upper or lower case. Somebody must be logged in.",
        [("keyword", "string", "The text.")],
        {"results": ("array of dict", "receiver_id and message of each.")},
    ),
    document(
        "send_message",
        "Send a message to a person of the workspace. Somebody must be logged in.",
        [_USER_ID, ("message", "string", "The text of the message.")],
        {
            "sent_status": ("boolean", "Whether it was sent."),
            "message_id": ("dict", "new_id: the number of the message."),
            "message": ("string", "The same in words."),
        },
    ),
    document(
        "view_messages_sent",
        "Show all messages by receiver. Somebody must be logged in.",
        (),
        {"messages": ("dict", "Receiver's id to the texts, oldest first.")},
    ),
)

TICKETS: tuple[Document, ...] = (
    document(
        "close_ticket",
        "Close a ticket that is not closed yet.",
        [_TICKET],
        {"status": ("string", "What was done.")},
    ),
    document(
        "create_ticket",
        "Open a ticket in the name of whoever is logged in.",
        [
            ("title", "string", "Its title."),
            ("description", "string", "What it is about, in more words.", ""),
            ("priority", "integer", "1 to 5, 5 being the most urgent.", 1),
        ],
        _TICKET_FIELDS,
    ),
    document(
        "edit_ticket",
        "Change fields of a ticket.",
        [
            _TICKET,
            ("updates", "dict", "Field to its new value: title, description, status or priority; only what changes."),
        ],
        {"status": ("string", "What was done.")},
    ),
    document("get_ticket", "Show a ticket.", [_TICKET], _TICKET_FIELDS),
    document(
        "get_user_tickets",
        "List the tickets of whoever is logged in.",
        [("status", "string", "Only tickets of this status: Open, Closed or Resolved.", None)],
        _TICKET_FIELDS,
    ),
    document(
        "logout",
        "Log out of the tickets.",
        (),
        {"success": ("boolean", "Whether it worked.")},
    ),
    document(
        "resolve_ticket",
        "Mark a ticket as resolved, and say how it was.",
        [_TICKET, ("resolution", "string", "How it was resolved.")],
        {"status": ("string", "What was done.")},
    ),
    document(
        "ticket_get_login_status",
        "Tell whether somebody is logged in to the tickets.",
        (),
        {"login_status": ("boolean", "Whether somebody is.")},
    ),
    document(
        "ticket_login",
        "Log in to the tickets.",
        [("username", "string", "Name of the user."), ("password", "string", "The user's password.")],
        {"success": ("boolean", "Whether it worked.")},
    ),
)

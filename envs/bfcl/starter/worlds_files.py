"""Starter worlds of GorillaFileSystem: a tree of folders and short files, and what users ask to be done in it.

Commands act in the current folder, so a user says every step on the way. Folders are never moved or copied: the
official simulator leaves them with a wrong parent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from callgym.envs.bfcl.starter.padding import SCANS, SHELVES
from callgym.envs.bfcl.starter.worlds_script import Request, Script, Writer
from callgym.envs.bfcl.starter.worlds_words import GIVEN_NAMES, note, quoted, word_for, word_list

__all__ = ["FIGURE_FILES", "REQUESTS", "SEARCHES", "Spot", "make_config", "new_name", "spot_with", "text_files"]

OWNER = "GorillaFileSystem"
FIGURE_FILES = ("figures.txt", "counts.csv", "readings.txt", "scores.csv")
"""Files with one number a line; they are not padded."""
_FOLDERS = word_list(
    """
    ledgers recipes blueprints minutes sketches orders manuals contracts rosters letters surveys drafts budgets scripts
    journals patterns quotes permits lessons invoices charts labels protocols packing
    """
)
_TOPICS = word_list(
    """
    harbour kiln tariff guest moss wiring pump seed hall choir roof ferry bee loom oven paint dock lamp apple cellar
    clay fence garden hike ink jetty keg lens meal net oil press quilt rope sail tool vine well yarn zinc bell crate
    drum echo frost grain hull ivy cabin delta engine flour glass hedge island jigsaw kettle ladder mortar nettle
    orchard paddle quarry river
    """
)
_KINDS = word_list("plan log sheet list report notes check order diary survey stock quote")
_ENDINGS = (".txt", ".txt", ".md", ".csv", ".log")
_ROOTS = tuple(f"{name.lower()}_files" for name in GIVEN_NAMES)
_VERBS = ("packed", "counted", "ordered", "checked", "returned", "mended", "sold", "labelled")
_OBJECTS = (
    "ropes", "crates", "lenses", "bolts", "sacks", "panels", "jars", "lamps", "planks", "spools", "tins", "valves",
)  # fmt: skip
_MIN_FILES = 2


class Spot(NamedTuple):
    """A folder that can be reached, and how."""

    folder: Any
    steps: tuple[str, ...]
    """The folders to change to, one after the other."""
    words: str
    """The way as the user says it, to stand before an order."""

    @property
    def here(self) -> str:
        """What one calls the folder then."""
        return "there" if self.steps else "here"

    def enter(self, script: Script) -> None:
        """Go there."""
        for step in self.steps:
            script.do("cd", folder=step)


# --- the tree ---------------------------------------------------------------------------------------------------


def make_config(script: Script) -> Mapping[str, Any]:
    """A tree of three folders, one of them with a folder inside."""
    folders = script.some_own(_FOLDERS, 5)
    topics = iter(script.some_own(_TOPICS, 16))
    contents: dict[str, Any] = {name: _folder(_files(script, topics, 2)) for name in folders[:3]}
    inner = contents[folders[0]]["contents"]
    inner[folders[3]] = _folder(_files(script, topics, 2))
    contents[folders[1]]["contents"][script.pick(FIGURE_FILES)] = _file(_figures(script))
    if script.chance(0.5):
        contents[folders[4]] = _folder({})
    contents |= _files(script, topics, script.whole(1, 2))
    contents[f".{script.own(GIVEN_NAMES).lower()}_settings"] = _file("theme=dark")
    return {"root": {script.own(_ROOTS): _folder(contents)}}


def _folder(contents: dict[str, Any]) -> dict[str, Any]:
    return {"type": "directory", "contents": contents}


def _file(content: str) -> dict[str, Any]:
    return {"type": "file", "content": content}


def _files(script: Script, topics: Any, count: int) -> dict[str, Any]:
    """Some files; now and then two versions of the same one."""
    files: dict[str, Any] = {}
    for _ in range(count):
        files[f"{next(topics)}_{script.pick(_KINDS)}{script.pick(_ENDINGS)}"] = _file("\n".join(_lines(script)))
    if script.chance(0.3):
        stem, lines = f"{next(topics)}_{script.pick(_KINDS)}", _lines(script)
        files[f"{stem}_v1.txt"] = _file("\n".join(lines))
        lines[script.whole(0, len(lines) - 1)] = note(script)
        files[f"{stem}_v2.txt"] = _file("\n".join(lines))
    return files


def _lines(script: Script) -> list[str]:
    """A file's lines, each of which begins with another person's name."""
    people = script.some_own(GIVEN_NAMES, script.whole(3, 6))
    return [f"{p} {script.pick(_VERBS)} {script.whole(2, 240)} {script.pick(_OBJECTS)}" for p in people]


def _figures(script: Script) -> str:
    """Four numbers whose sum is odd, so that their mean is no whole number, and short."""
    figures = [script.whole(11, 480) for _ in range(4)]
    figures[3] += 1 - sum(figures) % 2
    return "\n".join(map(str, figures))


# --- where things are -------------------------------------------------------------------------------------------


def _is_folder(item: Any) -> bool:
    return hasattr(item, "contents")


def text_files(folder: Any) -> list[str]:
    """The names of a folder's visible files that hold text."""
    return [name for name, item in folder.contents.items() if _is_text(name, item)]


def _is_text(name: str, item: Any) -> bool:
    return not _is_folder(item) and not name.startswith(".") and name not in FIGURE_FILES and bool(item.content)


def _folders(folder: Any) -> list[str]:
    return [name for name, item in folder.contents.items() if _is_folder(item)]


def _spots(script: Script) -> list[Spot]:
    """The folders that one or two steps lead to; where one is comes first."""
    here = script.state(OWNER)._current
    inside = [Spot(here.contents[name], (name,), f'go into the folder "{name}" and ') for name in _folders(here)]
    spots = [Spot(here, (), ""), *inside]
    if here.parent is not None:
        spots.append(Spot(here.parent, ("..",), "go up to the folder above and "))
        spots += [
            Spot(here.parent.contents[name], ("..", name), f'go up one folder, then into "{name}", and ')
            for name in _folders(here.parent)
            if name != here.name
        ]
    return spots


def spot_with(script: Script, fits: Callable[[Any], bool]) -> Spot | None:
    """A folder that can be reached and is as wanted; None where there is none."""
    spots = [spot for spot in _spots(script) if fits(spot.folder)]
    return script.pick(spots) if spots else None


def _has_files(folder: Any, count: int = 1) -> bool:
    return len(text_files(folder)) >= count


def new_name(script: Script, folder: Any, endings: tuple[str, ...] = _ENDINGS) -> str:
    """A file name that the folder does not have."""
    while True:
        name = f"{script.own(_TOPICS)}_{script.pick(_KINDS)}_{script.whole(2, 99)}{script.pick(endings)}"
        if name not in folder.contents:
            return name


def _new_folder_name(script: Script, folder: Any) -> str:
    while True:
        name = f"{script.own(_FOLDERS)}_{script.whole(2021, 2031)}"
        if name not in folder.contents:
            return name


# --- requests ---------------------------------------------------------------------------------------------------


def _look(script: Script) -> Request | None:
    spot = script.pick(_spots(script))
    hidden = any(name.startswith(".") for name in spot.folder.contents) and script.chance(0.7)
    words = script.say(
        "{go}list everything that lies {here}{also}",
        "{go}tell me which files and folders there are {here}{also}",
        "{go}show me a list of what is {here}{also}",
        go=spot.words,
        here=spot.here,
        also=", hidden ones too" if hidden else "",
    )
    spot.enter(script)
    if hidden:
        script.do("ls", a=True)
    else:
        script.do("ls")
    return Request(words)


def _read(script: Script) -> Request | None:
    spot = spot_with(script, _has_files)
    if spot is None:
        return None
    name = script.pick(text_files(spot.folder))
    words = script.say(
        '{go}show me what the file "{name}" says',
        '{go}read the whole of "{name}" to me',
        '{go}open "{name}", I want to read all of it',
        go=spot.words,
        name=name,
    )
    spot.enter(script)
    script.do("cat", file_name=name)
    return Request(words)


def _rename(script: Script) -> Request | None:
    spot = spot_with(script, _has_files)
    if spot is None:
        return None
    name = script.pick(text_files(spot.folder))
    other = new_name(script, spot.folder)
    words = script.say(
        '{go}rename the file "{name}" to "{other}"',
        '{go}give the file "{name}" the name "{other}"',
        '{go}change the name of "{name}" to "{other}"',
        go=spot.words,
        name=name,
        other=other,
    )
    lacking = script.say(
        '{go}give the file "{name}" another name', '{go}rename the file "{name}"', go=spot.words, name=name
    )
    supplied = script.tell('Its new name is "{other}".', 'Call it "{other}".', 'Let it be "{other}".', other=other)
    spot.enter(script)
    script.do("mv", source=name, destination=other)
    return Request(words, (lacking, supplied))


def _write(script: Script) -> Request | None:
    spot = script.pick(_spots(script))
    name, text = new_name(script, spot.folder, (".txt", ".md")), note(script)
    words = script.say(
        '{go}create a file "{name}" that says "{text}"',
        '{go}make a new file called "{name}" and write this into it: "{text}"',
        '{go}start a file with the name "{name}" and put the text "{text}" into it',
        go=spot.words,
        name=name,
        text=text,
    )
    lacking = script.say(
        '{go}create a file that says "{text}"', '{go}put the text "{text}" into a new file', go=spot.words, text=text
    )
    supplied = script.tell('The file is to be called "{name}".', 'Name it "{name}".', name=name)
    spot.enter(script)
    script.do("touch", file_name=name)
    script.do("echo", content=text, file_name=name)
    return Request(words, (lacking, supplied), ("touch", "cp"))


def _overwrite(script: Script) -> Request | None:
    spot = spot_with(script, _has_files)
    if spot is None:
        return None
    name, text = script.pick(text_files(spot.folder)), note(script)
    words = script.say(
        '{go}replace the text of "{name}" by "{text}"',
        '{go}overwrite "{name}" so that it only says "{text}"',
        '{go}let the file "{name}" say nothing but "{text}" from now on',
        go=spot.words,
        name=name,
        text=text,
    )
    lacking = script.say('{go}overwrite the file "{name}" with a new text', go=spot.words, name=name)
    supplied = script.tell('The text is: "{text}"', 'It should only say "{text}".', text=text)
    spot.enter(script)
    script.do("echo", content=text, file_name=name)
    return Request(words, (lacking, supplied), ("echo",))


def _make_folder(script: Script) -> Request | None:
    spot = spot_with(script, _has_files)
    if spot is None:
        return None
    files = text_files(spot.folder)
    moved = script.some(files, min(len(files), script.whole(1, 2)))
    folder = _new_folder_name(script, spot.folder)
    words = script.say(
        '{go}make a folder "{folder}" and move {files} into it',
        '{go}set up a new folder with the name "{folder}" and put {files} there',
        '{go}create the folder "{folder}" and shift {files} into it',
        go=spot.words,
        folder=folder,
        files=quoted(moved),
    )
    lacking = script.say("{go}make a new folder and move {files} into it", go=spot.words, files=quoted(moved))
    supplied = script.tell('The folder should be called "{folder}".', 'Name it "{folder}".', folder=folder)
    spot.enter(script)
    script.do("mkdir", dir_name=folder)
    for name in moved:
        script.do("mv", source=name, destination=folder)
    return Request(words, (lacking, supplied), ("mkdir",))


def _copy(script: Script) -> Request | None:
    spot = spot_with(script, lambda folder: _has_files(folder) and bool(_folders(folder)))
    if spot is None:
        return None
    target = script.pick(_folders(spot.folder))
    names = [name for name in text_files(spot.folder) if name not in spot.folder.contents[target].contents]
    if not names:
        return None
    name = script.pick(names)
    words = script.say(
        '{go}copy "{name}" into the folder "{target}"',
        '{go}put a copy of "{name}" into "{target}"',
        '{go}leave "{name}" where it is and place a copy in the folder "{target}"',
        go=spot.words,
        name=name,
        target=target,
    )
    lacking = script.say(
        '{go}put a copy of "{name}" into one of the folders {here}', go=spot.words, name=name, here=spot.here
    )
    supplied = script.tell('I mean the folder "{target}".', 'Into "{target}".', target=target)
    spot.enter(script)
    script.do("cp", source=name, destination=target)
    return Request(words, (lacking, supplied))


def _delete(script: Script) -> Request | None:
    spot = spot_with(script, lambda folder: _has_files(folder, _MIN_FILES))
    if spot is None:
        return None
    name = script.pick(text_files(spot.folder))
    words = script.say(
        '{go}delete the file "{name}"',
        '{go}get rid of "{name}"',
        '{go}remove "{name}", it is no longer needed',
        go=spot.words,
        name=name,
    )
    lacking = script.say("{go}delete one of the files", "{go}remove a file that is no longer needed", go=spot.words)
    supplied = script.tell('"{name}" is the one to go.', 'I mean "{name}".', name=name)
    spot.enter(script)
    script.do("rm", file_name=name)
    return Request(words, (lacking, supplied), ("rm",))


def _delete_folder(script: Script) -> Request | None:
    spot = spot_with(script, lambda folder: any(not folder.contents[name].contents for name in _folders(folder)))
    if spot is None:
        return None
    empty = [name for name in _folders(spot.folder) if not spot.folder.contents[name].contents]
    name = script.pick(empty)
    words = script.say(
        '{go}delete the folder "{name}", which is empty',
        '{go}remove the empty folder "{name}"',
        '{go}clear the folder "{name}" away, there is nothing in it',
        go=spot.words,
        name=name,
    )
    spot.enter(script)
    script.do("rmdir", dir_name=name)
    return Request(words)


def _count(script: Script) -> Request | None:
    spot = spot_with(script, _has_files)
    if spot is None:
        return None
    name, mode = script.pick(text_files(spot.folder)), script.pick("wc")
    words = script.say(
        '{go}tell me how many {what} "{name}" has',
        '{go}count the {what} of the file "{name}"',
        '{go}find out the number of {what} in "{name}"',
        go=spot.words,
        name=name,
        what=word_for(mode),
    )
    spot.enter(script)
    script.do("wc", file_name=name, mode=mode)
    return Request(words)


def _longer(script: Script) -> Request | None:
    """The longer of two files is to be copied or deleted."""
    spot = spot_with(script, lambda folder: _has_files(folder, _MIN_FILES))
    if spot is None:
        return None
    one, other = script.some(text_files(spot.folder), 2)
    lengths = [len(spot.folder.contents[name].content) for name in (one, other)]
    if lengths[0] == lengths[1]:
        return None
    copy = new_name(script, spot.folder)
    deletes = script.chance(0.5)
    words = script.say(
        '{go}count the characters of "{one}" and of "{other}" and {act}',
        '{go}compare how many characters "{one}" and "{other}" have, then {act}',
        '{go}see which of "{one}" and "{other}" has more characters, and {act}',
        go=spot.words,
        one=one,
        other=other,
        act="delete the shorter one" if deletes else f'save a copy of the longer one as "{copy}"',
    )
    spot.enter(script)
    script.do("wc", file_name=one, mode="c")
    script.do("wc", file_name=other, mode="c")
    longer, shorter = (one, other) if lengths[0] > lengths[1] else (other, one)
    if deletes:
        script.do("rm", file_name=shorter)
    else:
        script.do("cp", source=longer, destination=copy)
    return Request(words)


def _end(script: Script) -> Request | None:
    spot = spot_with(script, _has_files)
    if spot is None:
        return None
    name = script.pick(text_files(spot.folder))
    count = script.whole(2, 3)
    words = script.say(
        '{go}show me the last {count} lines of "{name}"',
        '{go}read me just the final {count} lines of "{name}"',
        '{go}let me see how "{name}" ends: the last {count} lines will do',
        go=spot.words,
        name=name,
        count=count,
    )
    spot.enter(script)
    script.do("tail", file_name=name, lines=count)
    return Request(words)


def _person_line(script: Script, folder: Any) -> tuple[str, str, str] | None:
    """A file, a name and the one line of the file that holds the name."""
    name = script.pick(text_files(folder))
    lines = folder.contents[name].content.splitlines()
    line = script.pick(lines[:6])
    person = line.split()[0]
    found = [other for other in lines if person in other]
    return (name, person, line) if person in GIVEN_NAMES and found == [line] else None


def _extract(script: Script) -> Request | None:
    """The line on a person goes into a file of its own."""
    spot = spot_with(script, _has_files)
    found = None if spot is None else _person_line(script, spot.folder)
    if spot is None or found is None:
        return None
    name, person, line = found
    target = new_name(script, spot.folder, (".txt",))
    words = script.say(
        '{go}look up the line on {person} in "{name}" and save that line in a new file "{target}"',
        '{go}search "{name}" for {person}, then create "{target}" with just the line you found in it',
        '{go}pick the line with {person} out of "{name}" and let it be the text of a new file "{target}"',
        go=spot.words,
        person=person,
        name=name,
        target=target,
    )
    spot.enter(script)
    script.do("grep", file_name=name, pattern=person)
    script.do("touch", file_name=target)
    script.do("echo", content=line, file_name=target)
    return Request(words)


def _search_text(script: Script) -> Request | None:
    spot = spot_with(script, _has_files)
    found = None if spot is None else _person_line(script, spot.folder)
    if spot is None or found is None:
        return None
    words = script.say(
        '{go}find the line in "{name}" that has {person} in it',
        '{go}search "{name}" for {person} and tell me what it says there',
        '{go}look for {person} in the file "{name}"',
        go=spot.words,
        name=found[0],
        person=found[1],
    )
    spot.enter(script)
    script.do("grep", file_name=found[0], pattern=found[1])
    return Request(words)


def _sort(script: Script) -> Request | None:
    """Lines in order are saved in a file of their own."""
    spot = spot_with(script, _has_files)
    if spot is None or script.long:
        return None
    name = script.pick(text_files(spot.folder))
    target = new_name(script, spot.folder, (".txt",))
    words = script.say(
        '{go}sort the lines of "{name}" and save the result in a new file "{target}"',
        '{go}put the lines of "{name}" into alphabetical order and write them to a new file called "{target}"',
        '{go}make a new file "{target}" that holds the lines of "{name}", sorted',
        go=spot.words,
        name=name,
        target=target,
    )
    spot.enter(script)
    text = script.do("sort", file_name=name)["sorted_content"]
    script.do("touch", file_name=target)
    script.do("echo", content=text, file_name=target)
    return Request(words)


def _compare(script: Script) -> Request | None:
    """Two versions are compared, and one goes."""
    spot = spot_with(script, lambda folder: any("_v2" in name for name in text_files(folder)))
    if spot is None:
        return None
    newer = next(name for name in text_files(spot.folder) if "_v2" in name)
    older = newer.replace("_v2", "_v1")
    if older not in spot.folder.contents:
        return None
    words = script.say(
        '{go}show me how "{older}" differs from "{newer}", then delete "{older}"',
        '{go}compare "{older}" with "{newer}" and throw "{older}" away afterwards',
        '{go}list the differences between "{older}" and "{newer}", and after that remove "{older}"',
        go=spot.words,
        older=older,
        newer=newer,
    )
    spot.enter(script)
    script.do("diff", file_name1=older, file_name2=newer)
    script.do("rm", file_name=older)
    return Request(words)


def _find(script: Script) -> Request | None:
    """A file somewhere below is found by a part of its name, and read."""
    here = script.state(OWNER)._current
    below = [(folder, name) for folder in _folders(here) for name in text_files(here.contents[folder])]
    if not below:
        return None
    folder, name = script.pick(below)
    part = name.split("_")[0]
    if len(_matches(here, part)) != 1:
        return None
    words = script.say(
        'search here and in all folders below for a file with "{part}" in its name, go to where it is and read it',
        'find the file whose name contains "{part}" somewhere below, then go there and show me its text',
        'look through all folders below for the one file with "{part}" in its name; go into its folder and open it',
        part=part,
    )
    script.do("find", path=".", name=part)
    script.do("cd", folder=folder)
    script.do("cat", file_name=name)
    return Request(words)


def _matches(folder: Any, part: str) -> list[str]:
    found = [name for name in folder.contents if part in name]
    return found + [match for name in _folders(folder) for match in _matches(folder.contents[name], part)]


def _measure(script: Script) -> Request | None:
    spot = script.pick(_spots(script))
    words = script.say(
        "{go}tell me how much space everything {here} takes, in a form that people can read",
        "{go}measure the size of all files {here} together and give it in readable units",
        "{go}work out in readable units how much room the files {here} take up",
        go=spot.words,
        here=spot.here,
    )
    spot.enter(script)
    script.do("du", human_readable=True)
    return Request(words)


def _where(script: Script) -> Request | None:
    spot = spot_with(script, lambda folder: folder.parent is not None)
    if spot is None:
        return None
    words = script.say(
        "{go}tell me the path of the folder we are in then",
        "{go}give me the full path",
        "{go}show me the whole path of that place",
        go=spot.words,
    )
    spot.enter(script)
    script.do("pwd")
    return Request(words)


REQUESTS: tuple[tuple[int, Writer], ...] = (
    (2, _look),
    (2, _read),
    (3, _rename),
    (4, _write),
    (3, _overwrite),
    (4, _make_folder),
    (3, _copy),
    (3, _delete),
    (2, _delete_folder),
    (2, _count),
    (3, _longer),
    (1, _end),
    (3, _extract),
    (1, _search_text),
    (2, _sort),
    (3, _compare),
    (2, _find),
    (1, _measure),
    (1, _where),
)
"""What users ask for, and how often."""


# --- in the padding ---------------------------------------------------------------------------------------------


def _find_scan(script: Script) -> Request | None:
    """One scan among many is renamed or deleted."""
    spot = spot_with(script, lambda folder: any(name.startswith("scan_") for name in folder.contents))
    if spot is None:
        return None
    number = script.pick(SCANS)
    if len(_matches(spot.folder, number)) != 1 or _matches(spot.folder, number) != [f"scan_{number}.png"]:
        return None
    target = f"{new_name(script, spot.folder, ('',))}.png"
    deletes = script.chance(0.4)
    words = script.say(
        '{go}search for a file {here} with "{number}" in its name and {act}',
        '{go}find the one file {here} whose name contains "{number}" and {act}',
        '{go}look by name for the scan {here} with "{number}" and {act}',
        go=spot.words,
        here=spot.here,
        number=number,
        act="delete it" if deletes else f'rename it to "{target}"',
    )
    spot.enter(script)
    script.do("find", path=".", name=number)
    if deletes:
        script.do("rm", file_name=f"scan_{number}.png")
    else:
        script.do("mv", source=f"scan_{number}.png", destination=target)
    script.searched = True
    return Request(words)


def _find_shelf(script: Script) -> Request | None:
    """A line of a file's long annex goes into a file of its own."""
    spot = spot_with(
        script, lambda folder: any("Annex" in folder.contents[name].content for name in text_files(folder))
    )
    if spot is None:
        return None
    name = script.pick([name for name in text_files(spot.folder) if "Annex" in spot.folder.contents[name].content])
    mark = script.pick(tuple(SHELVES))
    target = new_name(script, spot.folder, (".txt",))
    words = script.say(
        '{go}search the annex of "{name}" for shelf {mark} and save the line you find as a new file "{target}"',
        '{go}look for the shelf mark {mark} in "{name}", and write that line into a new file called "{target}"',
        '{go}search "{name}" for the line on shelf {mark} and make it the text of a new file "{target}"',
        go=spot.words,
        name=name,
        mark=mark,
        target=target,
    )
    spot.enter(script)
    script.do("grep", file_name=name, pattern=mark)
    script.do("touch", file_name=target)
    script.do("echo", content=SHELVES[mark], file_name=target)
    script.searched = True
    return Request(words)


SEARCHES: tuple[tuple[int, Writer], ...] = ((3, _find_scan), (3, _find_shelf))
"""What users ask for where the answer stands in the padding."""

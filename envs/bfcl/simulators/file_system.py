"""GorillaFileSystem: one tree of directories and text files, and a place in it where commands act.

Behaviour and texts follow ``bfcl-eval`` 2026.3.23, faults included. Two of them shape the data here: a moved or
copied directory is a new one that takes over the old one's table of contents, whose directories go on calling the
old one their parent (``cd ..`` leads there); and a copied directory shares with the original all that lies in it.
So there may be several ways to one directory, without end where a directory is copied into itself. Officially such
a tree ends in Python's limit of recursion, here in a refusal.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables
from callgym.envs.bfcl.simulators.refusing import refusing
from callgym.envs.bfcl.simulators.storage import Storage

__all__ = ["GorillaFileSystem"]

_BAD_CHARACTERS = '|/\\?%*:"><'
_COUNTED = {"l": "lines", "w": "words", "c": "characters"}
_UNITS = ("B", "KB", "MB", "GB", "TB")

_LONGEST_NAME = 4_096
_LONGEST_PATH = 100_000
_MOST_LEVELS = 100
_MOST_VISITED = 15_000
_MOST_ENCODED = 4_000_000
_LONGEST_LISTING = 1_000_000


class _File:
    __slots__ = ("content", "name")

    def __init__(self, name: str, content: str = "") -> None:
        self.name = name
        self.content = content


class _Directory:
    __slots__ = ("contents", "level", "name", "parent")

    def __init__(self, name: str, parent: _Directory | None = None) -> None:
        self.name = name
        self.parent = parent
        self.level: int = 0 if parent is None else parent.level + 1
        self.contents: dict[str, _File | _Directory] = {}

    def item(self, name: str) -> _File | _Directory | None:
        """What has that name; "." is the directory itself, even where a file is called so."""
        return self if name == "." else self.contents.get(name)


class _Walk:
    """A way through all that lies below a directory, with an end even where the tree has none."""

    __slots__ = ("_visited",)

    def __init__(self) -> None:
        self._visited = 0

    def enters(self, level: int) -> bool:
        """Whether one more item at that many levels below the start is still within bounds."""
        self._visited += 1
        return self._visited <= _MOST_VISITED and level <= _MOST_LEVELS

    def files(self, start: _Directory) -> Iterator[_File]:
        """The files below a directory, in no order.

        Raises:
            Refusal: There are too many of them, or they lie too deep.
        """
        pending = [(start, 0)]
        while pending:
            directory, level = pending.pop()
            for item in directory.contents.values():
                self.enter(level)
                if isinstance(item, _Directory):
                    pending.append((item, level + 1))
                else:
                    yield item

    def enter(self, level: int) -> None:
        """As ``enters``, for those who stop.

        Raises:
            Refusal: It is not.
        """
        if not self.enters(level):
            raise Refusal("The directory holds too much, or goes too deep, to be walked through.")


@refusing
class GorillaFileSystem(Simulator):
    """The simulator; the attributes are ``root`` and ``long_context``."""

    compared = ("root", "long_context")

    def __init__(self, config: Mapping[str, Any], tables: Tables, long_context: bool = False) -> None:
        self.long_context = long_context
        self._storage = Storage()
        self._root_as_values: dict[str, Any] | None = None
        self.root = _Directory("/")
        if "root" in config:
            name, content = next(iter(config["root"].items()))  # what follows the first is left out
            self.root = _Directory(name)
            _fill(self.root, content["contents"], tables.long_context if long_context else {})
        self._current = self.root

    def public_state(self) -> dict[str, Any]:
        """``root`` as nested ``{"type", "name", "contents" or "content"}``; equal where the official trees are."""
        if self._root_as_values is None:
            self._root_as_values = _as_values(self.root, _Walk())
        return {"root": self._root_as_values, "long_context": self.long_context}

    def __deepcopy__(self, memo: dict[int, Any]) -> GorillaFileSystem:
        # Directories know their parents and may lie deep: step by step, not by recursion.
        twin = memo[id(self)] = copy.copy(self)
        twins = _twins(self.root, self._current)
        twin.root = twins[id(self.root)]
        twin._current = twins[id(self._current)]
        twin._storage = copy.copy(self._storage)
        return twin

    # Moving about and looking.

    def pwd(self) -> dict[str, str]:
        """The path of the current directory, the root's name included."""
        names = []
        directory: _Directory | None = self._current
        while directory is not None:
            names.append(directory.name)
            directory = directory.parent
        return {"current_working_directory": "/" + "/".join(reversed(names))}

    def ls(self, a: bool = False) -> dict[str, list[str]]:
        """The names in the current directory; those that start with a dot only with ``a``."""
        return {"current_directory_content": [n for n in self._current.contents if a or not n.startswith(".")]}

    def cd(self, folder: str) -> dict[str, str]:
        """Go into a directory of the current one, to its parent or to the root."""
        folder = folder.rstrip("/") or "/"
        if folder != "/" and "/" in folder:
            return {"error": f"cd: {folder}: Unsupported path. Only one folder level at a time is supported."}
        if folder == "..":
            if self._current.parent is None:
                return {"error": "Current directory is already the root. Cannot go back."}
            self._current = self._current.parent
            return {}
        directory = self._directory_at(folder)
        if directory is None:
            return {"error": f"cd: '{folder}': No such file or directory"}
        self._current = directory
        return {"current_working_directory": directory.name}

    def find(self, path: str = ".", name: str | None = None) -> dict[str, Any]:
        """The paths of all below a directory whose own name contains a text."""
        start = self._directory_at(path)
        if start is None:
            return {"error": f"find: '{path}': No such file or directory"}
        matches: list[str] = []
        _collect(start, path.rstrip("/"), name, matches, _Listing())
        return {"matches": matches}

    def du(self, human_readable: bool = False) -> dict[str, str]:
        """The size in UTF-8 of all files below the current directory."""
        size: float = 0
        encoded = 0
        for file in _Walk().files(self._current):
            if isinstance(file.content, str) and file.content.isascii():
                size += len(file.content)
                continue
            encoded += len(file.content.encode("utf-8"))
            if encoded > _MOST_ENCODED:
                raise Refusal("The directory holds too much text to be measured.")
        size += encoded
        return {"disk_usage": _in_units(size) if human_readable else f"{size} bytes"}

    # Reading files.

    def cat(self, file_name: str) -> dict[str, str]:
        """A file's content."""
        if _is_bad(file_name):
            return {"error": f"cat: '{file_name}': Invalid character"}
        if file_name not in self._current.contents:
            return {"error": f"cat: '{file_name}': No such file or directory"}
        file = self._file(file_name)
        if file is None:
            return {"error": f"cat: '{file_name}': Is a directory"}
        return {"file_content": file.content}

    def wc(self, file_name: str, mode: str = "l") -> dict[str, Any]:
        """How many lines (``l``), words (``w``) or characters (``c``) a file has."""
        if mode not in list(_COUNTED):
            return {"error": f"wc: invalid mode '{mode}'"}
        file = self._file(file_name)
        if file is None:
            return {"error": f"wc: {file_name}: No such file or directory"}
        if mode == "l":
            count = len(file.content.splitlines())
        else:
            count = len(file.content.split() if mode == "w" else file.content)
        return {"count": count, "type": _COUNTED[mode]}

    def sort(self, file_name: str) -> dict[str, str]:
        """A file's lines in order; the file stays as it is."""
        file = self._file(file_name)
        if file is None:
            return {"error": f"sort: {file_name}: No such file or directory"}
        return {"sorted_content": "\n".join(sorted(file.content.splitlines()))}

    def grep(self, file_name: str, pattern: str) -> dict[str, Any]:
        """A file's lines that contain a text."""
        file = self._file(file_name)
        if file is None:
            return {"error": f"grep: {file_name}: No such file or directory"}
        return {"matching_lines": [line for line in file.content.splitlines() if pattern in line]}

    def tail(self, file_name: str, lines: int = 10) -> dict[str, str]:
        """A file's last lines; 0 gives all."""
        file = self._file(file_name)
        if file is None:
            return {"error": f"tail: {file_name}: No such file or directory"}
        content = file.content.splitlines()
        last = len(content) if lines > len(content) else lines
        return {"last_lines": "\n".join(content[-last:])}

    def diff(self, file_name1: str, file_name2: str) -> dict[str, str]:
        """The lines that differ from those at the same place in another file; the longer file's rest is left out."""
        first = self._file(file_name1)
        second = self._file(file_name2) if file_name1 in self._current.contents else None
        if first is None or second is None:
            return {"error": f"diff: {file_name1} or {file_name2}: No such file or directory"}
        pairs = zip(first.content.splitlines(), second.content.splitlines(), strict=False)
        return {"diff_lines": "\n".join(f"- {one}\n+ {other}" for one, other in pairs if one != other)}

    # Changing the tree.

    def mkdir(self, dir_name: str) -> dict[str, str] | None:
        """Make a directory in the current one."""
        if _is_bad(dir_name):
            return {"error": f"mkdir: cannot create directory '{dir_name}': Invalid character"}
        if dir_name in self._current.contents:
            return {"error": f"mkdir: cannot create directory '{dir_name}': File exists"}
        self._make_room(self._current, dir_name)
        self._current.contents[dir_name] = _Directory(dir_name, self._current)
        return None

    def touch(self, file_name: str) -> dict[str, str] | None:
        """Make an empty file in the current directory."""
        if _is_bad(file_name):
            return {"error": f"touch: cannot touch '{file_name}': Invalid character"}
        if file_name in self._current.contents:
            return {"error": f"touch: cannot touch '{file_name}': File exists"}
        self._make_room(self._current, file_name)
        self._current.contents[file_name] = _File(file_name)
        return None

    def echo(self, content: str, file_name: str | None = None) -> dict[str, str] | None:
        """Replace a file's content; without a file, show the content."""
        if file_name is None:
            return {"terminal_output": content}
        if _is_bad(file_name):
            return {"error": f"echo: cannot write to '{file_name}': Invalid character"}
        if not file_name:
            return {"terminal_output": content}
        if file_name not in self._current.contents:
            return {"error": f"echo: cannot write to '{file_name}': No such file"}
        file = self._file(file_name)
        if file is None:
            raise Refusal("'Directory' object has no attribute '_write'")
        self._storage.take(content, entries=0)
        self._root_as_values = None
        file.content = content
        return None

    def mv(self, source: str, destination: str) -> dict[str, str]:
        """Move a file or directory into a directory of the current one, or give it another name."""
        item = self._item(source)
        if item is None:
            return {"error": f"mv: cannot move '{source}': No such file or directory"}
        if "/" in destination:
            return {"error": "mv: path not allowed in destination. Provide only a file or directory name."}
        target = self._item(destination)
        if isinstance(target, _File):
            return {"error": f"mv: cannot move '{source}' to '{destination}': Not a directory"}
        if target is not None and source in target.contents:
            return {"error": f"mv: cannot move '{source}' to '{destination}/{source}': File exists"}
        directory, name = (self._current, destination) if target is None else (target, source)
        self._make_room(directory, name)
        del self._current.contents[source]
        if isinstance(item, _File):
            directory.contents[name] = _File(name, item.content)
        else:
            directory.contents[name] = moved = _Directory(name, directory)
            moved.contents = item.contents
        return {"result": f"'{source}' moved to '{destination if target is None else f'{destination}/{source}'}'"}

    def cp(self, source: str, destination: str) -> dict[str, str]:
        """Copy a file or directory into a directory of the current one, or under another name."""
        item = self._item(source)
        if item is None:
            return {"error": f"cp: cannot copy '{source}': No such file or directory"}
        if "/" in destination:
            return {"error": "cp: path not allowed in destination. Provide only a file or directory name."}
        target = self._item(destination)
        if isinstance(target, _File):
            return {"error": f"cp: cannot copy '{source}' to '{destination}': Not a directory"}
        if target is not None and f"{destination}/{source}" in target.contents:
            return {"error": f"cp: cannot copy '{source}' to '{destination}/{source}': File exists"}
        directory, name = (self._current, destination) if target is None else (target, source)
        if name in directory.contents:
            kind = "File" if isinstance(item, _File) else "Directory"
            raise Refusal(f"{kind} '{name}' already exists in directory '{directory.name}'.")
        self._make_room(directory, name, 1 if isinstance(item, _File) else 2 + len(item.contents))
        if isinstance(item, _File):
            directory.contents[name] = _File(name, item.content)
        else:
            directory.contents[name] = copied = _Directory(name, directory)
            copied.contents = item.contents.copy()  # after the line before: a directory may be copied into itself
        return {"result": f"'{source}' copied to '{destination if target is None else f'{destination}/{source}'}'"}

    def rm(self, file_name: str) -> dict[str, str]:
        """Remove a file, or a directory with all that is in it."""
        if file_name not in self._current.contents:
            return {"error": f"rm: cannot remove '{file_name}': No such file or directory"}
        self._root_as_values = None
        del self._current.contents[file_name]
        return {"result": f"'{file_name}' removed"}

    def rmdir(self, dir_name: str) -> dict[str, str]:
        """Remove an empty directory."""
        item = self._item(dir_name)
        if item is None:
            return {"error": f"rmdir: cannot remove '{dir_name}': No such file or directory"}
        if isinstance(item, _File):
            return {"error": f"rmdir: cannot remove '{dir_name}': Not a directory"}
        if item.contents:
            return {"error": f"rmdir: cannot remove '{dir_name}': Directory not empty"}
        self._root_as_values = None
        del self._current.contents[dir_name]
        return {"result": f"'{dir_name}' removed"}

    # What the commands share.

    def _item(self, name: str) -> _File | _Directory | None:
        """What has that name in the current directory."""
        return self._current.item(name) if name in self._current.contents else None

    def _file(self, name: str) -> _File | None:
        item = self._item(name)
        return item if isinstance(item, _File) else None

    def _directory_at(self, path: str) -> _Directory | None:
        if path is None or path == ".":
            return self._current
        if path == "/":
            return self.root
        if isinstance(path, str) and len(path) > _LONGEST_PATH:
            raise Refusal(f"The path is too long: {len(path)} characters.")
        names = path.strip("/").split("/")
        directory = self.root if path.startswith("/") else self._current
        for name in names:
            item = directory.item(name)
            if not isinstance(item, _Directory):
                return None
            directory = item
        return directory

    def _make_room(self, directory: _Directory, name: str, entries: int = 1) -> None:
        if len(name) > _LONGEST_NAME:
            raise Refusal(f"The name is too long: {len(name)} characters.")
        if directory.level >= _MOST_LEVELS:
            raise Refusal("The directory is too deep to hold anything.")
        self._storage.take(name, entries=entries)
        self._root_as_values = None


class _Listing(_Walk):
    """A walk that writes down paths."""

    __slots__ = ("_length",)

    def __init__(self) -> None:
        super().__init__()
        self._length = 0

    def write(self, path: str) -> str:
        """The path, counted.

        Raises:
            Refusal: The listing becomes too long.
        """
        self._length += len(path)
        if self._length > _LONGEST_LISTING:
            raise Refusal("The directory holds too much to be listed.")
        return path


def _collect(
    directory: _Directory, path: str, name: str | None, matches: list[str], listing: _Listing, level: int = 0
) -> None:
    for item_name, item in directory.contents.items():
        listing.enter(level)
        item_path = listing.write(f"{path}/{item_name}")
        if name is None or name in item_name:
            matches.append(item_path)
        if isinstance(item, _Directory):
            _collect(item, item_path, name, matches, listing, level + 1)


def _is_bad(name: str) -> bool:
    return any(character in name for character in _BAD_CHARACTERS)


def _in_units(size: float) -> str:
    for unit in _UNITS:
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} PB"


def _fill(directory: _Directory, contents: Mapping[str, Any], padding: Mapping[str, Any]) -> None:
    """Load a scenario's directory; with padding, files become long and directories without directories full."""
    innermost = True
    for name, item in contents.items():
        if item["type"] == "directory":
            innermost = False
            directory.contents[name] = inner = _Directory(name, directory)
            _fill(inner, item["contents"], padding)
        elif item["type"] == "file":
            content = item["content"]
            if padding and name not in padding["FILES_TAIL_USED"]:
                content += padding["FILE_CONTENT_EXTENSION"]
            directory.contents[name] = _File(name, content)
    if innermost and padding:
        for name in padding["POPULATE_FILE_EXTENSION"]:
            directory.contents.setdefault(name, _File(name))


def _as_values(directory: _Directory, walk: _Walk, level: int = 0) -> dict[str, Any]:
    contents: dict[str, Any] = {}
    for name, item in directory.contents.items():
        if not walk.enters(level):
            # No task's own tree gets here, so whatever this one is compared with, it is another.
            return {"type": "directory", "name": directory.name, "contents": "too much, or too deep"}
        if isinstance(item, _File):
            contents[name] = {"type": "file", "name": item.name, "content": item.content}
        else:
            contents[name] = _as_values(item, walk, level + 1)
    return {"type": "directory", "name": directory.name, "contents": contents}


def _twins(*starts: _Directory) -> dict[int, Any]:
    """Original's ``id`` to copy, of all that can be reached; what is shared is shared among the copies."""
    reached = _reached(*starts)
    twins: dict[int, Any] = {key: _twin(item) for key, item in reached.items()}
    tables: dict[int, dict[str, Any]] = {}
    for key, item in reached.items():
        if isinstance(item, _Directory):
            table = tables.setdefault(id(item.contents), {})
            table.update((name, twins[id(inner)]) for name, inner in item.contents.items())
            twins[key].contents = table
            twins[key].parent = None if item.parent is None else twins[id(item.parent)]
    return twins


def _twin(item: _File | _Directory) -> _File | _Directory:
    if isinstance(item, _File):
        return _File(item.name, item.content)
    twin = _Directory(item.name)
    twin.level = item.level
    return twin


def _reached(*starts: _Directory) -> dict[int, _File | _Directory]:
    reached: dict[int, _File | _Directory] = {}
    pending: list[_File | _Directory] = list(starts)
    while pending:
        item = pending.pop()
        if id(item) in reached:
            continue
        reached[id(item)] = item
        if isinstance(item, _Directory):
            pending += item.contents.values()
            pending += [] if item.parent is None else [item.parent]
    return reached

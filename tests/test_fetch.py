"""Fetching: downloads that break off, lie or bomb, archives that reach out, classes that are read and never run."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from callgym import download
from callgym.cli import main
from callgym.data import cache_folder, canonical_sha256, fetch_from, verify
from callgym.download import Downloader, DownloadError
from callgym.envs.apibank import fetch
from callgym.envs.apibank.class_literals import (
    documentation_with_signatures,
    read_tool_classes,
    tables_of,
    tool_documentation,
)
from callgym.envs.apibank.pins import PINS, Pins
from callgym.errors import DataError, MissingPackageError

# A server that does what a test asks of it.


class Server:
    """Files by path. A path's faults are used up one a request, before it is served as it should be."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, list[int | str]] = {}
        """By path: a status to answer with, ``cut`` (half of what was asked for, then the line is dropped), or a
        path to send the client to."""
        self.knows_ranges = True
        self.requests: list[tuple[str, str | None]] = []
        """(Path, Range header) of each request."""
        self.url = ""

    def ranges_of(self, path: str) -> list[str | None]:
        return [given for asked, given in self.requests if asked == path]


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients hang up as soon as they have what they want."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.requests.append((self.path, asked))
            fault = state.faults[self.path].pop(0) if state.faults.get(self.path) else None
            if isinstance(fault, int):
                self.reply(fault, b"")
            elif isinstance(fault, str) and fault.startswith("/"):
                self.reply(302, b"", {"Location": fault})
            elif self.path not in state.files:
                self.reply(404, b"no such file")
            else:
                self.serve(state.files[self.path], asked if state.knows_ranges else None, fault == "cut")

        def serve(self, content: bytes, asked: str | None, cut: bool) -> None:
            start = 0 if asked is None else int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content) and asked is not None:
                self.reply(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                return
            headers = {} if asked is None else {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
            self.reply(200 if asked is None else 206, content[start:], headers, cut)

        def reply(self, status: int, content: bytes, headers: dict[str, str] | None = None, cut: bool = False) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
            self.close_connection = cut

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr(download, "_BACKOFF_S", 0.0)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    running = QuietServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield state
    running.shutdown()
    running.server_close()
    thread.join()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


CONTENT = bytes(range(256)) * 2000


def get(server: Server, target: Path, pinned: str | None = None) -> None:
    with Downloader("mend it") as downloader:
        downloader.fetch(f"{server.url}/file", target, pinned)


# Files.


def test_a_file_is_downloaded_and_checked(server: Server, tmp_path: Path) -> None:
    server.files["/file"] = CONTENT
    get(server, tmp_path / "deep" / "file", sha256(CONTENT))
    assert (tmp_path / "deep" / "file").read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["file"]


def test_an_empty_file_is_a_file(server: Server, tmp_path: Path) -> None:
    server.files["/file"] = b""
    get(server, tmp_path / "file", sha256(b""))
    assert (tmp_path / "file").read_bytes() == b""


def test_a_cut_connection_is_resumed_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.files["/file"], server.faults["/file"] = CONTENT, ["cut", "cut"]
    get(server, tmp_path / "file", sha256(CONTENT))
    assert (tmp_path / "file").read_bytes() == CONTENT
    half, quarter = len(CONTENT) // 2, len(CONTENT) * 3 // 4
    assert server.ranges_of("/file") == [None, f"bytes={half}-", f"bytes={quarter}-"]


def test_a_part_of_an_earlier_run_is_gone_on_with(server: Server, tmp_path: Path) -> None:
    server.files["/file"] = CONTENT
    (tmp_path / "file.part").write_bytes(CONTENT[:1000])
    get(server, tmp_path / "file", sha256(CONTENT))
    assert server.ranges_of("/file") == ["bytes=1000-"]
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_that_is_whole_already_is_taken(server: Server, tmp_path: Path) -> None:
    server.files["/file"] = CONTENT
    (tmp_path / "file.part").write_bytes(CONTENT)
    get(server, tmp_path / "file", sha256(CONTENT))
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    server.files["/file"] = CONTENT
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    get(server, tmp_path / "file", sha256(CONTENT))
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_without_ranges_starts_anew(server: Server, tmp_path: Path) -> None:
    server.files["/file"], server.faults["/file"], server.knows_ranges = CONTENT, ["cut"], False
    get(server, tmp_path / "file", sha256(CONTENT))
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_redirect_is_followed_with_the_range(server: Server, tmp_path: Path) -> None:
    server.files["/file"], server.faults["/file"], server.files["/cdn"] = b"", ["/cdn"], CONTENT
    (tmp_path / "file.part").write_bytes(CONTENT[:10])
    get(server, tmp_path / "file", sha256(CONTENT))
    assert server.ranges_of("/cdn") == ["bytes=10-"]


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_passing_fault_is_tried_again(server: Server, tmp_path: Path, status: int) -> None:
    server.files["/file"], server.faults["/file"] = CONTENT, [status, status]
    get(server, tmp_path / "file", sha256(CONTENT))
    assert len(server.requests) == 3


def test_a_lasting_fault_ends_in_one_error(server: Server, tmp_path: Path) -> None:
    server.files["/file"], server.faults["/file"] = CONTENT, [503] * 9
    with pytest.raises(DownloadError, match=r"/file: the server answered 503 .*\(after 5 attempts\); mend it"):
        get(server, tmp_path / "file")
    assert list(tmp_path.glob("file*")) == []


def test_a_missing_file_is_not_asked_for_twice(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"/file: the server answered 404 Not Found; mend it"):
        get(server, tmp_path / "file")
    assert len(server.requests) == 1


def test_a_wrong_checksum_names_file_expected_found_and_mend(server: Server, tmp_path: Path) -> None:
    server.files["/file"] = CONTENT
    pinned = "0" * 64
    with pytest.raises(DownloadError, match=rf"^file: .*{pinned}, found {sha256(CONTENT)} .*deleted; mend it$"):
        get(server, tmp_path / "file", pinned)
    assert list(tmp_path.glob("file*")) == []


def test_an_endless_file_is_given_up(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files["/file"] = CONTENT
    monkeypatch.setattr(download, "MAX_FILE_BYTES", 1000)
    with pytest.raises(DownloadError, match="longer than 1000 bytes"):
        get(server, tmp_path / "file")
    assert list(tmp_path.glob("file*")) == []


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/file", "http://127.0.0.1:99999/file", "nonsense"])
def test_an_address_that_cannot_be_asked_is_named(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_BACKOFF_S", 0.0)
    with Downloader("mend it") as downloader, pytest.raises(DownloadError, match="mend it"):
        downloader.fetch(url, tmp_path / "file")


def test_without_httpx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'callgym\[http\]'"):
        Downloader()


# Archives.

Member = tuple[str, bytes | tarfile.TarInfo]


def tar_gz(members: Sequence[Member], top: str = "repo-1/") -> bytes:
    """An archive; a member is its name and its bytes, or a header to put in as it is."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for name, content in members:
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            info = tarfile.TarInfo(top + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def header(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def read(server: Server, archive: bytes, *wanted: str) -> dict[str, bytes]:
    server.files["/archive"] = archive
    with Downloader("mend it") as downloader:
        return downloader.read_archive(f"{server.url}/archive", wanted)


def test_the_wanted_members_are_read_and_no_others(server: Server) -> None:
    archive = tar_gz([("a/one", b"1"), ("a/two", b"2"), ("one", b"other"), ("b/three", b"")])
    assert read(server, archive, "a/one", "b/three") == {"a/one": b"1", "b/three": b""}


def test_a_cut_archive_is_read_again(server: Server) -> None:
    server.faults["/archive"] = ["cut"]
    assert read(server, tar_gz([("a", CONTENT), ("b", b"2")]), "a", "b") == {"a": CONTENT, "b": b"2"}


def test_reading_stops_at_the_last_wanted_member(server: Server) -> None:
    archive = tar_gz([("a", b"1"), ("b", b"2" * 200_000)])
    assert read(server, archive[: len(archive) - 40], "a") == {"a": b"1"}


@pytest.mark.parametrize("kept", [0, 5, 100, -30, -4])
def test_a_truncated_archive_is_an_error(server: Server, kept: int) -> None:
    noise = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(200))
    with pytest.raises(DownloadError, match=r"/archive: .*cut short or damaged.*mend it"):
        read(server, tar_gz([("a", noise), ("b", noise)])[:kept], "a", "b", "c")


def test_what_is_no_archive_is_an_error(server: Server) -> None:
    for content in (b"<html>log in</html>", gzip.compress(b"text " * 1000)):
        with pytest.raises(DownloadError, match="cut short or damaged"):
            read(server, content, "a")


@pytest.mark.parametrize(
    "name", ["repo-1/../../evil", "/etc/evil", "..\\evil", "C:\\evil", "\\evil", "repo/a/..", "../a"]
)
def test_a_member_that_leads_out_condemns_the_archive(server: Server, name: str) -> None:
    with pytest.raises(DownloadError, match=r"leads out of its folder; nothing was taken; mend it"):
        read(server, tar_gz([(name, b"evil"), ("repo-1/a", b"1")], top=""), "a")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_a_wanted_member_is_a_regular_file(server: Server, kind: bytes) -> None:
    archive = tar_gz([("", header("repo-1/a", kind, "/etc/passwd"))])
    with pytest.raises(DownloadError, match="is no regular file"):
        read(server, archive, "a")


def test_a_link_that_nobody_wants_is_passed_over(server: Server) -> None:
    archive = tar_gz([("", header("repo-1/link", tarfile.SYMTYPE, "/etc/passwd")), ("a", b"1")])
    assert read(server, archive, "a") == {"a": b"1"}


def test_a_giant_member_and_a_bomb_are_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MAX_MEMBER_BYTES", 1000)
    with pytest.raises(DownloadError, match="claims 1001 bytes"):
        read(server, tar_gz([("a", b"0" * 1001)]), "a")
    monkeypatch.setattr(download, "MAX_UNPACKED_BYTES", 100_000)
    with pytest.raises(DownloadError, match="unpacks to too much"):
        read(server, tar_gz([("bomb", b"0" * 200_000), ("a", b"1")]), "a")


def test_a_member_that_is_not_there_is_named(server: Server) -> None:
    with pytest.raises(DownloadError, match=r"the archive has no 'b' and 1 more; mend it"):
        read(server, tar_gz([("a", b"1")]), "a", "b", "c")


# Tool classes.

LAMP = """
import datetime
from apis.api import API


class DimLamp(API):
    description = "Dims a lamp" \\
                  " to a share of its light."
    input_parameters = {
        'room': {'type': 'str', 'description': "The lamp's room."},
        'percent': {'type': 'int', 'description': 'How bright.'},
    }
    output_parameters = {'status': {'type': 'str', 'description': 'done'}}
    database_name = 'Lamps'

    def __init__(self, first=None):
        self.name = 'lamp'
        self.first = first
        if first is not None:
            self.steps = first
        else:
            self.steps = {0: 0.0, 10: -0.5, float('inf'): 1}
        self.rooms = [(('hall', 'secret'), {'size': 3})]
        self.by_place = {(1.5, -2.5): {'room': 'hall'}, (0, 0): {}}
        self.log = {'bought': datetime.datetime(2024, 2, 29, 8, 30), 'day': datetime.date(2024, 3, 1)}
        self.texts = [datetime.datetime(2024, 2, 29, 8, 30).strftime('%d.%m.%Y'), None, True]
        self.empty = []

    def call(self, room: str, percent: int = 50, colour=None) -> dict:
        return {}
"""
LAMP_TABLES = {
    "steps": {"0": 0.0, "10": -0.5, "inf": 1},
    "rooms": [[["hall", "secret"], {"size": 3}]],
    "by_place": [[[1.5, -2.5], {"room": "hall"}], [[0, 0], {}]],
    "log": {"bought": "2024-02-29 08:30:00", "day": "2024-03-01"},
    "texts": ["29.02.2024", None, True],
    "empty": [],
}
LAMP_DOCUMENT = {
    "name": "DimLamp",
    "description": "Dims a lamp to a share of its light.",
    "input_parameters": {
        "room": {"type": "str", "description": "The lamp's room."},
        "percent": {"type": "int", "description": "How bright."},
    },
    "output_parameters": {"status": {"type": "str", "description": "done"}},
}


def class_source(init: str, name: str = "Tool", parameters: str = "self") -> str:
    lines = "".join(f"        {line}\n" for line in init.splitlines())
    return (
        f"from apis.api import API\n\nclass {name}(API):\n    description = 'A tool.'\n    input_parameters = {{}}\n"
        f"    output_parameters = {{}}\n\n    def __init__({parameters}):\n{lines}"
    )


def test_tables_and_documentation_are_read_from_the_source() -> None:
    (tool,), notes = read_tool_classes(LAMP, "dim_lamp.py")
    assert notes == []
    assert tool.tables == LAMP_TABLES
    assert tables_of([], [tool]) == {"DimLamp": LAMP_TABLES}
    assert tables_of([tool], []) == {"_level_1_2_DimLamp": LAMP_TABLES}
    search = {"DimLamp": "dim lampDims a lamp to a share of its light."}
    assert tool_documentation([tool]) == {"descriptions": [LAMP_DOCUMENT], "search_text": search}
    signature = {"args": ["room", "percent", "colour"], "defaults": {"percent": "50", "colour": "None"}}
    assert documentation_with_signatures([tool]) == [
        {**LAMP_DOCUMENT, "file": "dim_lamp.py", "database_name": "Lamps", "call_signature": signature}
    ]


def test_only_tool_classes_count() -> None:
    other = "class API:\n    description = ''\n\nclass Helper:\n    pass\n"
    assert read_tool_classes(other, "api.py") == ([], [])
    (tool,), notes = read_tool_classes(class_source("pass").replace("(API)", "(base.API)"), "tool.py")
    assert (tool.name, tool.tables, notes) == ("Tool", {}, [])


def test_a_stand_in_for_a_given_database_is_no_table() -> None:
    source = class_source("self.database = init_database or {}", parameters="self, init_database=None")
    (tool,), notes = read_tool_classes(source, "tool.py")
    assert tables_of([tool], []) == {}
    assert notes == []


@pytest.mark.parametrize(
    "value",
    [
        "{n: n * n for n in range(3)}",
        "[n for n in range(3)]",
        "dict(a=1)",
        "open('x').read()",
        "__import__('os').getcwd()",
        "{'a': print('run')}",
        "['a' * 10]",
        "{**{}}",
        "{[1]: 2}",
        "[*()]",
        "{1, 2}",
        "[f'{1}']",
        "[b'x']",
        "[1j]",
        "[...]",
        "[-'a']",
        "[float('1')]",
        "[float(open)]",
        "[datetime.datetime(2024, 13, 1)]",
        "[datetime.datetime(year=2024)]",
        "[datetime.datetime.now()]",
        "[datetime.datetime(10 ** 9, 1, 1)]",
        "[datetime.datetime(2024, 1, 1).strftime('%Y' * 99)]",
        "['a'.strftime('%Y')]",
        "{1: 'a', '1': 'b'}",
        "lambda: {}",
    ],
)
def test_what_is_no_literal_is_left_out_with_a_note_and_the_rest_is_kept(value: str) -> None:
    (tool,), notes = read_tool_classes(class_source(f"self.good = [1]\nself.bad = {value}\nself.fine = [2]"), "tool.py")
    assert tool.tables == {"good": [1], "fine": [2]}
    (note,) = notes
    assert note.startswith("tool.py: Tool.bad is left out, for ")


@pytest.mark.parametrize(
    "change",
    ["for n in range(3):\n    self.table[n] = n", "self.table['a']['b'] = 1", "self.table.update(a=1)",
     "self.table |= {1: 2}", "del self.table[0]"],
)  # fmt: skip
def test_a_table_that_is_filled_later_is_left_out_with_a_note(change: str) -> None:
    (tool,), notes = read_tool_classes(class_source(f"self.table = {{}}\nself.other = [1]\n{change}"), "tool.py")
    assert tool.tables == {"other": [1]}
    assert notes == ["tool.py: Tool.table is left out, for it is changed after it is made"]


def test_missing_documentation_leaves_the_tables() -> None:
    source = class_source("self.table = [1]").replace("description = 'A tool.'", "description = make()")
    (tool,), notes = read_tool_classes(source, "tool.py")
    assert tool.tables == {"table": [1]}
    assert tool_documentation([tool]) == {"descriptions": [], "search_text": {}}
    assert documentation_with_signatures([tool]) == []
    (note,) = notes
    assert note.startswith("tool.py: Tool has no documentation, for its description cannot be read")


@pytest.mark.parametrize("source", ["class Tool(API:", "x = '\0'", "x = " + "(" * 5000, "x = " + "-" * 100_000 + "1"])
def test_a_file_that_cannot_be_parsed_is_noted(source: str) -> None:
    classes, notes = read_tool_classes(source, "tool.py")
    assert classes == []
    assert all(note.startswith("tool.py: not read") for note in notes)


def test_hostile_code_never_runs(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    touch = f"open({str(marker)!r}, 'w').close()"
    source = (
        f"{touch}\n"
        + class_source(f"{touch}\nself.table = [1]\nself.bad = {{'a': {touch}}}", parameters=f"self, x={touch}")
        + f"    {touch}\n    def call(self, a={touch}):\n        {touch}\n"
        + f"    @{touch.removesuffix('.close()')}\n    def decorated(self): pass\n"
    )
    program = tmp_path / "tool.py"
    program.write_text("class API: pass\n" + source.replace("from apis.api import API\n", ""), encoding="utf-8")
    subprocess.run([sys.executable, str(program)], check=False, capture_output=True)
    assert marker.exists(), "the test's code would leave its mark if it ran"
    marker.unlink()
    (tool,), notes = read_tool_classes(source, "tool.py")
    assert tool.tables == {"table": [1]}
    assert len(notes) == 1
    assert not marker.exists()


# API-Bank's sources, as a server of the test gives them: made-up files in the same places.

HUB = "/datasets/liminghao1630/API-Bank/resolve/12e8158b7628c168f07e8f31fbbe3445e99f44cf/"
ARCHIVE = "/AlibabaResearch/DAMO-ConvAI/tar.gz/483554eae102996f5ec1f4feab4e78ef29c2a394"
SAMPLES: dict[str, bytes] = {
    "test-data/level-1-api.json": b'[{"a": 1}]',
    "training-data/lv1-api-train.json": b'[{"instruction": "", "input": "", "output": ""}]',
}
REPOSITORY: dict[str, bytes] = {
    "init_database/Lamps.json": b'{"hall": {}}',
    "lv1-lv2-samples/level-1-given-desc/lamp.jsonl": b"",
}
CLASSES = {"apis/dim_lamp.py": LAMP, "lv3_apis/tool.py": class_source("self.table = {(1, 2): 3}")}


def small_pins(made: dict[str, str]) -> Pins:
    return dataclasses.replace(
        PINS,
        hub_files={name: None if name.startswith("training") else sha256(each) for name, each in SAMPLES.items()},
        archive_files={name: sha256(content) for name, content in REPOSITORY.items()},
        classes={"apis": ("dim_lamp.py",), "lv3_apis": ("tool.py",)},
        made=made,
    )


@pytest.fixture
def sources(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, with small sources that the pins name."""
    monkeypatch.setattr(fetch, "PINS", small_pins(dict.fromkeys(PINS.made, "none")))
    monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
    monkeypatch.setenv("CALLGYM_GITHUB", server.url)
    server.files |= {HUB + name: content for name, content in SAMPLES.items()}
    server.files[ARCHIVE] = repository()
    return server


def repository(**changes: bytes) -> bytes:
    files = {**REPOSITORY, **{name: text.encode() for name, text in CLASSES.items()}}
    members: list[Member] = [("README.md", b"read me"), ("api-bank/apis/api.py", b"class API: pass")]
    members += [(f"api-bank/{name}", changes.get(Path(name).stem, content)) for name, content in files.items()]
    return tar_gz([*members, ("z/big.bin", b"0" * 1000)], top="DAMO-ConvAI-483554e/")


Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    return lambda *arguments: CliRunner().invoke(main, ["fetch", "apibank", *map(str, arguments)])


def error_of(result: Result) -> str:
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 3
    assert result.stdout == ""
    return result.stderr.splitlines()[-1]


def test_apibank_is_downloaded_whole(sources: Server, run: Run) -> None:
    result = run()
    assert result.exit_code == 0, result.output
    folder = cache_folder() / "apibank"
    assert result.stdout == f"apibank: 8 files in {folder}\n"
    for name, content in {**SAMPLES, **REPOSITORY}.items():
        assert (folder / name).read_bytes() == content
    made = {name: json.loads((folder / name).read_bytes()) for name in PINS.made}
    assert made["builtin_tables.json"] == {"Tool": {"table": [[[1, 2], 3]]}, "_level_1_2_DimLamp": LAMP_TABLES}
    assert made["tool_docs.json"]["apis"]["descriptions"] == [LAMP_DOCUMENT]
    assert made["tool_docs.json"]["lv3_apis"]["search_text"] == {"Tool": "toolA tool."}
    assert [row["file"] for row in made["derived/apis_lv1_lv2.json"]] == ["dim_lamp.py"]
    assert list(folder.rglob("*.py")) == []
    assert [path.name for path in cache_folder().iterdir()] == ["apibank"]
    verify(folder)


def test_what_no_checksum_is_pinned_for_is_said_aloud(sources: Server, run: Run) -> None:
    name = "training-data/lv1-api-train.json"
    first = f"{name}: not verified against a pinned checksum; its SHA-256, now recorded, is {sha256(SAMPLES[name])}"
    assert first in run().stderr
    assert "differs from the file fetched before" not in run().stderr
    sources.files[HUB + name] = b"[]"
    assert f"{name}: differs from the file fetched before, whose SHA-256 is {sha256(SAMPLES[name])}" in run().stderr
    assert "test-data/level-1-api.json: not verified" not in run().stderr


def test_tables_are_compared_with_what_was_read_when_they_were_pinned(
    sources: Server, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "builtin_tables.json: read from the tool classes, and not equal" in run().stderr
    folder = cache_folder() / "apibank"
    made = {name: canonical_sha256(json.loads((folder / name).read_bytes())) for name in PINS.made}
    monkeypatch.setattr(fetch, "PINS", small_pins(made))
    assert "not equal" not in run().stderr


def test_an_interrupted_fetch_leaves_nothing_that_looks_complete_and_is_gone_on_with(sources: Server, run: Run) -> None:
    archive = sources.files.pop(ARCHIVE)
    assert "the server answered 404" in error_of(run())
    assert not (cache_folder() / "apibank").exists()
    sources.files[ARCHIVE] = archive
    sources.requests.clear()
    assert run().exit_code == 0
    assert [path for path, _ in sources.requests] == [ARCHIVE]


def test_a_failed_fetch_leaves_the_data_of_an_earlier_one(sources: Server, run: Run) -> None:
    assert run().exit_code == 0
    sources.files[HUB + "test-data/level-1-api.json"] = b"[]"
    error = error_of(run())
    pinned, found = sha256(SAMPLES["test-data/level-1-api.json"]), sha256(b"[]")
    assert f"level-1-api.json: expected the SHA-256 {pinned}, found {found}" in error
    assert "callgym fetch apibank --from FOLDER" in error
    verify(cache_folder() / "apibank")


def test_a_wrong_member_of_the_archive_is_named(sources: Server, run: Run) -> None:
    sources.files[ARCHIVE] = repository(Lamps=b"{}")
    error = error_of(run())
    assert f"init_database/Lamps.json: expected the SHA-256 {sha256(REPOSITORY['init_database/Lamps.json'])}" in error
    assert f"found {sha256(b'{}')}" in error
    assert not (cache_folder() / "apibank").exists()
    sources.files[ARCHIVE] = repository()
    assert run().exit_code == 0


def test_a_page_in_place_of_a_training_file_is_no_data(sources: Server, run: Run) -> None:
    for page in (b"<html>Log in</html>", b'{"error": "no"}'):
        sources.files[HUB + "training-data/lv1-api-train.json"] = page
        assert "lv1-api-train.json: not the JSON array that was expected" in error_of(run())
    sources.files[HUB + "training-data/lv1-api-train.json"] = b"[]"
    assert run().exit_code == 0


def test_a_download_without_httpx_gets_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    assert error_of(run()) == "Error: httpx is not installed; it comes with: pip install 'callgym[http]'"


def test_a_table_that_cannot_be_read_is_noted_and_the_others_are_kept(sources: Server, run: Run) -> None:
    sources.files[ARCHIVE] = repository(tool=class_source("self.table = make()").encode())
    result = run()
    assert result.exit_code == 0
    assert "tool.py: Tool.table is left out, for line " in result.stderr
    tables = json.loads((cache_folder() / "apibank/builtin_tables.json").read_bytes())
    assert tables == {"_level_1_2_DimLamp": LAMP_TABLES}


def test_the_pins_are_of_the_revisions_that_are_fetched() -> None:
    hashes = [*PINS.hub_files.values(), *PINS.archive_files.values(), *PINS.made.values()]
    assert all(len(each) == 64 and int(each, 16) >= 0 for each in hashes if each is not None)
    assert [name for name, each in PINS.hub_files.items() if each is None] == [
        f"training-data/lv{level}-{kind}-train.json" for level in (1, 2) for kind in ("api", "response")
    ]
    assert {folder: len(files) for folder, files in PINS.classes.items()} == {"apis": 53, "lv3_apis": 22}
    assert len(PINS.archive_files) == 2 + 19 + 264


# From a folder.


def folder_with(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{folder.name}/{name}", encoding="utf-8")
    return folder


def test_optional_files_may_lie_in_a_folder_beside(tmp_path: Path) -> None:
    mine = folder_with(tmp_path / "mine", "a.json", "b.json")
    folder_with(tmp_path / "beside", "a.json", "b.json", "c.json", "d/e.json")
    files = fetch_from("apibank", mine, ("a.json",), ("b.json", "c.json", "d/*.json", "none"), ("missing", "beside"))
    target = cache_folder() / "apibank"
    assert {path.relative_to(target).as_posix(): path.read_text(encoding="utf-8") for path in files} == {
        "a.json": "mine/a.json",
        "b.json": "mine/b.json",
        "c.json": "beside/c.json",
        "d/e.json": "beside/d/e.json",
    }
    with pytest.raises(DataError, match="needs"):
        fetch_from("apibank", mine, ("c.json",), (), ("beside",))
    verify(target)


# The real files, where they are.


def test_the_pinned_checksums_are_those_of_the_real_files(apibank_data: Path) -> None:
    pinned = {**PINS.hub_files, **PINS.archive_files}
    for name, expected in pinned.items():
        if expected is not None:
            assert sha256((apibank_data / name).read_bytes()) == expected, name


def test_the_real_files_are_taken_with_the_tables_beside_them(
    apibank_data: Path, official_data: Path, run: Run
) -> None:
    if not (official_data / "api_bank_parity").is_dir():
        pytest.skip("the tables are not here")
    result = run("--from", apibank_data)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    folder = cache_folder() / "apibank"
    beside = ("builtin_tables.json", "tool_docs.json", "recorded_external.json", "translate_languages.json")
    for name in beside:
        assert (folder / name).read_bytes() == (official_data / "api_bank_parity" / name).read_bytes()
    assert len(list((folder / "init_database").iterdir())) == 19
    taken = {f"{path.parent.name}/{path.name}" for path in folder.glob("t*-data/*.json")}
    assert {f"training-data/lv3-{kind}-train.json" for kind in ("api", "response")} <= taken
    assert {"level-1-response.json", "level-2-response.json"} <= {name.partition("/")[2] for name in taken}
    verify(folder)
    for name in PINS.made:
        assert canonical_sha256(json.loads((folder / name).read_bytes())) == PINS.made[name], name


def as_source(value: Any) -> str:
    """A JSON value in the official style: pairs as tuples, times as calls, numbers as keys."""
    if isinstance(value, str) and len(value) == 19 and value[4] == "-" and value[13] == ":":
        numbers = [int(part) for part in value.replace("-", " ").replace(":", " ").split()]
        made = f"datetime.datetime({', '.join(map(str, numbers))})"
        return f"{made}.strftime('%Y-%m-%d %H:%M:%S')" if numbers[0] == 2021 else made
    if isinstance(value, dict):
        items = [f"{key if key.isdecimal() else as_key(key)}: {as_source(item)}" for key, item in value.items()]
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list) and len(value) == 2 and (isinstance(value[1], dict) or isinstance(value[0], float)):
        return "(" + ", ".join(map(as_source, value)) + ")"
    if isinstance(value, list):
        return "[" + ",\n".join(map(as_source, value)) + "]"
    return repr(value)


def as_key(key: str) -> str:
    return "float('inf')" if key == "inf" else repr(key)


@pytest.fixture
def real_classes(apibank_data: Path, official_data: Path) -> dict[str, bytes]:
    """The tool classes, written anew from what is known of them: their own source is not here."""
    parity = official_data / "api_bank_parity"
    if not parity.is_dir():
        pytest.skip("the tables are not here")
    tables = json.loads((parity / "builtin_tables.json").read_bytes())
    sources = {}
    for folder, derived, prefix in (("apis", "apis_lv1_lv2", "_level_1_2_"), ("lv3_apis", "apis_lv3", "")):
        for row in json.loads((apibank_data / f"derived/{derived}.json").read_bytes()):
            source = official_style(row, tables.get(prefix + row["name"], {}))
            sources[f"{folder}/{row['file']}"] = source.encode()
    return sources


def test_the_real_files_come_over_http_as_they_are(
    apibank_data: Path, official_data: Path, real_classes: dict[str, bytes], server: Server, run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("CALLGYM_GITHUB", server.url)
    unknown = [name for name, pinned in PINS.hub_files.items() if pinned is None]
    for name in PINS.hub_files:
        server.files[HUB + name] = b"[]" if name in unknown else (apibank_data / name).read_bytes()
    members = {name: (apibank_data / name).read_bytes() for name in PINS.archive_files} | real_classes
    server.files[ARCHIVE] = tar_gz([(f"api-bank/{name}", content) for name, content in members.items()])
    result = run()
    assert result.exit_code == 0, result.output
    folder = cache_folder() / "apibank"
    for name in {*PINS.hub_files, *PINS.archive_files} - set(unknown):
        assert (folder / name).read_bytes() == (apibank_data / name).read_bytes()
    for name in PINS.made:
        expected = (apibank_data if name.startswith("derived") else official_data / "api_bank_parity") / name
        assert json.loads((folder / name).read_bytes()) == json.loads(expected.read_bytes())
    notes = [line for line in result.stderr.splitlines() if line.startswith("callgym: ")]
    assert [note.split(": ")[1:3] for note in notes] == [
        [name, "not verified against a pinned checksum; its SHA-256, now recorded, is " + sha256(b"[]")]
        for name in unknown
    ]
    verify(folder)


def official_style(row: dict[str, Any], tables: dict[str, Any]) -> str:
    given = "" if "database_name" not in row else ", init_database=None, token_checker=None"
    body = [f"self.{attribute} = {as_source(table)}" for attribute, table in tables.items()]
    if given:
        body += ["if init_database != None:", "    self.database = init_database", "else:", "    self.database = {}"]
        body += ["self.token_checker = token_checker"]
    signature = row["call_signature"]
    parameters = "".join(
        f", {name}: str" + (f" = {signature['defaults'][name]}" if name in signature["defaults"] else "")
        for name in signature["args"]
    )
    halves = row["description"][:20], row["description"][20:]
    source = class_source("\n".join(body or ["pass"]), row["name"], f"self{given}")
    source = source.replace("description = 'A tool.'", f"description = {halves[0]!r} \\\n        {halves[1]!r}")
    for attribute in ("input_parameters", "output_parameters"):
        source = source.replace(f"{attribute} = {{}}", f"{attribute} = {row[attribute]!r}")
    if "database_name" in row:
        source = source.replace(
            "\n    def __init__", f"\n    database_name = {row['database_name']!r}\n    def __init__"
        )
    return f"import datetime\n{source}\n    def call(self{parameters}, **kwargs) -> dict:\n        return None\n"

"""Fetching BFCL: a wheel that is read and never run, from an index, a file, a package's folder or data files."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from callgym import download
from callgym.data import cache_folder, canonical_sha256, verify
from callgym.download import DownloadError
from callgym.envs.bfcl import fetch
from callgym.envs.bfcl.fetch import copy_bfcl, download_bfcl
from callgym.envs.bfcl.files import CONSTANTS, LONG_CONTEXT, PROMPTS, BfclFiles
from callgym.envs.bfcl.pins import PINS, Pins
from callgym.envs.bfcl.source_tables import (
    ELLIPSIS,
    SOURCES,
    read_constants,
    read_long_context,
    read_prompts,
)
from callgym.errors import DataError

# A package of our own: the places of the real one, other values, and lines that must never run.

POISON = "raise SystemExit('the source was run')\n"
CLASSES = "eval_checker/multi_turn_eval/func_source_code"
SOURCE = {
    f"{CLASSES}/math_api.py": """
class MathAPI:
    def si_unit_conversion(self, value):
        to_meters = {"rod": 5.0292, "mile": 1609}
        return to_meters
    def imperial_si_conversion(self, value):
        conversion = {"rod_to_mile": 1 / 320, "a_to_b": -2}
        return conversion
""",
    f"{CLASSES}/message_api.py": """
DEFAULT_STATE = {"generated_ids": set(), "inbox": [{"U1": "hi"}], "current_user": None}
class MessageAPI:
    def _load_scenario(self, scenario):
        self._random = random.Random((scenario.get("random_seed", 77)))
""",
    f"{CLASSES}/posting_api.py": 'DEFAULT_STATE = {"username": "ann"}\n',
    f"{CLASSES}/ticket_api.py": 'DEFAULT_STATE = {"ticket_counter": 5}\n',
    f"{CLASSES}/trading_bot.py": """
CURRENT_TIME = datetime(2031, 2, 3, 4, 5)
DEFAULT_STATE = {"orders": {12: {"price": 1.5}}, "market_status": "Closed"}
class TradingBot:
    def get_symbol_by_name(self, name):
        symbol_map = {"Acme": "ACM"}
        return symbol_map
    def get_available_stocks(self, sector):
        sector_map = {"Toys": ["ACM"]}
        if self.long_context:
            sector_map["Toys"].extend(MORE)
        return sector_map
""",
    f"{CLASSES}/travel_booking.py": """
DEFAULT_STATE = {"random_seed": 4, "budget_limit": None}
class TravelAPI:
    def get_flight_cost(self, a, b):
        base_costs: Dict[Tuple[str, str], int] = {("AAA", "BBB"): 10, ("BBB", "AAA"): 12}
        return base_costs
    def compute_exchange_rate(self):
        exchange_rates = {("X", "Y"): 0.5}
        return exchange_rates
    def get_nearest_airport_by_city(self, location):
        airport_map = {"Town": "AAA"}
        return airport_map
    def list_all_airports(self):
        "All of them."
        return ["AAA", "BBB"]
""",
    f"{CLASSES}/vehicle_control.py": """
MAX_FUEL_LEVEL = 9
MIN_FUEL_LEVEL = 0.5
MILE_PER_GALLON = 3
DEFAULT_STATE = {"fuelLevel": 0.0}
class VehicleControlAPI:
    def estimate_distance(self, cityA, cityB):
        if (cityA == "2" and cityB == "1") or (cityA == "1" and cityB == "2"):
            distance = {"distance": 7.0}
        elif (cityA == "2" and cityB == "3") or (cityA == "3" and cityB == "2"):
            distance = {"distance": 8}
        else:
            distance = {"error": "none"}
        if self.long_context:
            distance["cities"] = CITIES
        return distance
    def get_zipcode_based_on_city(self, city):
        if city == "Town":
            return {"zipcode": "1"}
        elif city == "Village":
            return {"zipcode": "2"}
        else:
            return {"zipcode": "0"}
""",
    f"{CLASSES}/long_context.py": 'WATCH = ["A", ...]\nTEXT = "one" + " two"\nRECORDS = {"r": (1, -2.5)}\n',
    "constants/default_prompts.py": (
        'HELLO = "Hello."\nBOTH = "{functions}\\n" + HELLO\nSTYLES = {"plain": BOTH, "none": ""}\nLIMIT = 7\n'
    ),
}
TABLES: dict[str, Any] = {
    "default_state": {
        "MessageAPI": {"generated_ids": [], "inbox": [{"U1": "hi"}], "current_user": None},
        "TwitterAPI": {"username": "ann"},
        "TicketAPI": {"ticket_counter": 5},
        "TradingBot": {"orders": {"12": {"price": 1.5}}, "market_status": "Closed"},
        "TravelAPI": {"random_seed": 4, "budget_limit": None},
        "VehicleControlAPI": {"fuelLevel": 0.0},
    },
    "message_default_seed": 77,
    "trading_current_time": "2031-02-03 04:05:00",
    "trading_symbol_by_name": {"Acme": "ACM"},
    "trading_sectors": {"Toys": ["ACM"]},
    "travel_base_costs": {"AAA|BBB": 10, "BBB|AAA": 12},
    "travel_exchange_rates": {"X|Y": 0.5},
    "travel_airport_by_city": {"Town": "AAA"},
    "math_imperial_factors": {"rod_to_mile": 1 / 320, "a_to_b": -2},
    "math_si_to_meters": {"rod": 5.0292, "mile": 1609},
    "vehicle_limits": {"max_fuel": 9, "min_fuel": 0.5, "mile_per_gallon": 3},
    "travel_airports": ["AAA", "BBB"],
    "vehicle_zipcodes": {"Town": "1", "Village": "2"},
    "vehicle_distances_symmetric": {"1|2": 7.0, "2|3": 8},
}
PADDING = {"WATCH": ["A", ELLIPSIS], "TEXT": "one two", "RECORDS": {"r": [1, -2.5]}}
WORDING = {
    "HELLO": "Hello.",
    "BOTH": "{functions}\nHello.",
    "STYLES": {"plain": "{functions}\nHello.", "none": ""},
    "LIMIT": 7,
}
DATA = {
    "BFCL_v4_simple_python.json": b'{"id": "simple_python_0"}\n',
    "possible_answer/BFCL_v4_simple_python.json": b'{"id": "simple_python_0", "ground_truth": []}\n',
    "multi_turn_func_doc/math_api.json": b"",
}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def package(changed: Mapping[str, bytes | None] = MappingProxyType({})) -> dict[str, bytes]:
    """The package's files by name; None takes one out."""
    files = {name: (POISON + text).encode() for name, text in SOURCE.items()}
    files |= {f"data/{name}": content for name, content in DATA.items()}
    files["data/unused_datasets/question/BFCL_v4_rest.json"] = b"{}"
    files["__init__.py"] = files["constants/__init__.py"] = POISON.encode()
    return {name: content for name, content in {**files, **changed}.items() if content is not None}


def wheel_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(f"bfcl_eval/{name}")  # of 1980: the same bytes at every run
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> Pins:
    """Pins of the package above, in place of the real ones."""
    made = {
        CONSTANTS: canonical_sha256(TABLES),
        LONG_CONTEXT: canonical_sha256(PADDING),
        PROMPTS: canonical_sha256(WORDING),
    }
    own = dataclasses.replace(
        PINS,
        wheel_sha256=sha256(wheel_of(package())),
        files={name: sha256(content) for name, content in DATA.items()},
        made=made,
    )
    monkeypatch.setattr(fetch, "PINS", own)
    return own


def repin(monkeypatch: pytest.MonkeyPatch, pins: Pins, content: bytes) -> None:
    monkeypatch.setattr(fetch, "PINS", dataclasses.replace(pins, wheel_sha256=sha256(content)))


def fetched_files() -> set[str]:
    folder = cache_folder() / "bfcl"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


WHOLE = {*DATA, CONSTANTS, LONG_CONTEXT, PROMPTS, "callgym-manifest.json"}


def write_wheel(folder: Path, content: bytes) -> Path:
    path = folder / PINS.wheel
    path.write_bytes(content)
    return path


def write_package(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


# What is read out of the source.


def source(**changed: str) -> dict[str, str]:
    """The source with other texts; a file is named by its stem."""
    changes = {next(name for name in SOURCE if f"/{stem}." in name): text for stem, text in changed.items()}
    return {name: POISON + text for name, text in {**SOURCE, **changes}.items()}


def test_tables_padding_and_wording_are_read_and_nothing_runs() -> None:
    assert set(SOURCE) == set(SOURCES)
    for read, expected in ((read_constants, TABLES), (read_long_context, PADDING), (read_prompts, WORDING)):
        assert read(source()).values == expected
        assert read(source()).notes == ()


@pytest.mark.parametrize(
    ("changed", "table", "why"),
    [
        ({"math_api": "class MathAPI: pass"}, "math_si_to_meters", "there is no MathAPI.si_unit_conversion"),
        ({"math_api": "def ("}, "math_imperial_factors", "math_api.py cannot be parsed (SyntaxError"),
        ({"math_api": "x = " + "(" * 5000}, "math_imperial_factors", "math_api.py cannot be parsed"),
        ({"message_api": "class MessageAPI:\n def _load_scenario(self): pass"}, "message_default_seed", "asks for no"),
        ({"message_api": "DEFAULT_STATE = make()"}, "MessageAPI.DEFAULT_STATE", "more than literals (Call)"),
        ({"ticket_api": "DEFAULT_STATE = {**other}"}, "TicketAPI.DEFAULT_STATE", "more than literals (Dict)"),
        ({"ticket_api": "DEFAULT_STATE = {None: 1}"}, "TicketAPI.DEFAULT_STATE", "a key is neither"),
        ({"trading_bot": "CURRENT_TIME = datetime(2024, 13, 1)"}, "trading_current_time", "holds no date"),
        ({"trading_bot": "CURRENT_TIME = datetime('a')"}, "trading_current_time", "holds no date"),
        ({"trading_bot": "CURRENT_TIME = 9 ** 9 ** 9"}, "trading_current_time", "more than literals (BinOp)"),
        ({"trading_bot": "CURRENT_TIME = 1 / 0"}, "trading_current_time", "more than literals (BinOp)"),
        ({"trading_bot": "CURRENT_TIME = 'a' + 1"}, "trading_current_time", "more than literals (BinOp)"),
        ({"trading_bot": "CURRENT_TIME = __import__('os').name"}, "trading_current_time", "more than literals"),
        ({"travel_booking": "class TravelAPI:\n def list_all_airports(self): return"}, "travel_airports", "nothing"),
        ({"vehicle_control": "MAX_FUEL_LEVEL = 1"}, "vehicle_limits", "there is no MIN_FUEL_LEVEL"),
        ({"vehicle_control": "class VehicleControlAPI:\n def estimate_distance(self): pass"},
         "vehicle_distances_symmetric", "holds no cases"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_left_out_and_noted(changed: dict[str, str], table: str, why: str) -> None:
    tables = read_constants(source(**changed))
    assert any(note.startswith(f"{table} is left out, for ") and why in note for note in tables.notes), tables.notes
    name, _, state = table.partition(".")
    assert name not in (tables.values["default_state"] if state else tables.values)
    assert "travel_exchange_rates" in tables.values or "travel_booking" in changed


def test_a_source_that_is_not_there_is_noted() -> None:
    assert read_prompts({}).notes == ("constants/default_prompts.py: constants/default_prompts.py is not there",)
    assert len(read_constants({}).notes) == 6 + 13
    unread = read_long_context(source(long_context="A = [1]\nB = f(A)\nC = A"))
    assert unread.values == {"A": [1], "C": [1]}
    assert unread.notes == (f"{CLASSES}/long_context.py: B is left out, for line 3 holds more than literals (Call)",)


# Fetching.


class Index:
    """A package index in a folder, served over HTTP."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url

    def publish(self, content: bytes, link: str = "../../files/{}#sha256=0", name: str = PINS.wheel) -> None:
        page = self.folder / "simple" / PINS.project / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        other = '<a href="../../files/bfcl_eval-2025.1.1-py3-none-any.whl">older</a>'
        page.write_text(f"<html><body>{other}<br><a data-x='1' href='{link.format(name)}'>it</a></body></html>")
        (self.folder / "files").mkdir(exist_ok=True)
        (self.folder / "files" / name).write_bytes(content)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    pytest.importorskip("httpx")
    folder = tmp_path / "index"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "_BACKOFF_S", 0.0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("CALLGYM_PYPI", f"{url}/simple/")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield Index(folder, url)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("link", ["../../files/{}#sha256=0", "/files/{}"])
def test_the_wheel_is_found_on_the_index_and_read(index: Index, pins: Pins, link: str) -> None:
    index.publish(wheel_of(package()), link)
    fetched = download_bfcl()
    assert fetched.notes == ()
    assert fetched_files() == WHOLE
    assert {path.relative_to(cache_folder() / "bfcl").as_posix() for path in fetched.files} == WHOLE - {
        "callgym-manifest.json"
    }
    files = BfclFiles(cache_folder() / "bfcl")
    assert (files.constants(), files.long_context(), files.prompts()) == (TABLES, PADDING, WORDING)
    assert files.rows("BFCL_v4_simple_python.json") == [{"id": "simple_python_0"}]
    verify(cache_folder() / "bfcl")
    assert sorted(path.name for path in cache_folder().iterdir()) == ["bfcl"]


def test_an_earlier_download_is_gone_on_with_but_no_earlier_page(index: Index, pins: Pins) -> None:
    content = wheel_of(package())
    index.publish(content)
    stage = cache_folder() / f".bfcl-{pins.version}.partial"
    stage.mkdir(parents=True)
    (stage / "index.html.part").write_text("an old page")
    (stage / pins.wheel).write_bytes(content)
    (index.folder / "simple" / pins.project / "index.html").unlink()
    download_bfcl()  # all of it is there: the index is not asked
    assert fetched_files() == WHOLE


def test_an_index_without_the_wheel_and_a_wheel_that_is_another_are_refused(index: Index, pins: Pins) -> None:
    with pytest.raises(DownloadError, match=r"/bfcl-eval/: the server answered 404 .*CALLGYM_PYPI"):
        download_bfcl()
    index.publish(b"", name="bfcl_eval-2030.1.1-py3-none-any.whl")
    with pytest.raises(DownloadError, match=r"lists no bfcl_eval-2026\.3\.23-py3-none-any\.whl; try "):
        download_bfcl()
    index.publish(wheel_of(package({"data/new": b"x"})))
    with pytest.raises(DownloadError, match=r"expected the SHA-256 .*; it was deleted"):
        download_bfcl()
    assert not (cache_folder() / "bfcl").exists()


def test_a_wheel_on_disk_is_taken(tmp_path: Path, pins: Pins) -> None:
    assert copy_bfcl(write_wheel(tmp_path, wheel_of(package()))).notes == ()
    assert fetched_files() == WHOLE
    assert json.loads(gzip.decompress((cache_folder() / "bfcl" / LONG_CONTEXT).read_bytes())) == PADDING


def test_fetching_twice_gives_the_same_bytes(tmp_path: Path, pins: Pins) -> None:
    path = write_wheel(tmp_path, wheel_of(package()))
    copy_bfcl(path)
    first = {name: (cache_folder() / "bfcl" / name).read_bytes() for name in WHOLE}
    copy_bfcl(path)
    assert {name: (cache_folder() / "bfcl" / name).read_bytes() for name in WHOLE} == first


def test_a_damaged_or_other_wheel_is_told_and_what_was_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pins: Pins
) -> None:
    good = wheel_of(package())
    copy_bfcl(write_wheel(tmp_path, good))
    with pytest.raises(DataError, match="another version, no wheel, or was cut short"):
        copy_bfcl(write_wheel(tmp_path, good[:-100]))
    flipped = bytearray(good)
    flipped[good.index(b"data/BFCL_v4_simple_python.json") + len("data/BFCL_v4_simple_python.json") + 3] ^= 0xFF
    cases: list[tuple[bytes, str]] = [
        (good[:-100], "the wheel is damaged"),
        (b"no zip at all", "the wheel is damaged"),
        (bytes(flipped), "the wheel is damaged"),
        (wheel_of(package({"data/BFCL_v4_simple_python.json": None})),
         "the wheel has no bfcl_eval/data/BFCL_v4_simple_python.json"),
        (wheel_of(package({"constants/default_prompts.py": None})),
         "the wheel has no bfcl_eval/constants/default_prompts.py"),
    ]  # fmt: skip
    for content, words in cases:
        repin(monkeypatch, pins, content)
        with pytest.raises(DataError, match=words):
            copy_bfcl(write_wheel(tmp_path, content))
    monkeypatch.setattr(fetch, "MAX_MEMBER_BYTES", 10)
    repin(monkeypatch, pins, good)
    with pytest.raises(DataError, match="claims 26 bytes; nothing was taken"):
        copy_bfcl(write_wheel(tmp_path, good))
    assert fetched_files() == WHOLE


@pytest.mark.parametrize("place", ["", "bfcl_eval"])
def test_a_package_folder_is_taken_and_what_differs_is_noted(tmp_path: Path, pins: Pins, place: str) -> None:
    write_package(tmp_path / place, package())
    assert copy_bfcl(tmp_path).notes == ()
    assert fetched_files() == WHOLE
    changed = {
        "data/BFCL_v4_simple_python.json": b"{}\n",
        "constants/default_prompts.py": b"HELLO = 'Hi.'\nBYE = f(1)\n",
        f"{CLASSES}/ticket_api.py": b"DEFAULT_STATE = {}\n",
    }
    write_package(tmp_path / place, package(changed))
    assert copy_bfcl(tmp_path).notes == (
        "BFCL_v4_simple_python.json: not the file of bfcl-eval 2026.3.23 (its SHA-256 differs); scores may not compare",
        f"{CONSTANTS}: made from the package's source, and not equal to what is known of 2026.3.23",
        f"{PROMPTS}: constants/default_prompts.py: BYE is left out, for line 2 holds more than literals (Call)",
    )


def test_a_package_folder_that_lacks_a_file_is_told(tmp_path: Path, pins: Pins) -> None:
    write_package(tmp_path, package({"data/multi_turn_func_doc/math_api.json": None}))
    with pytest.raises(DataError, match=r"math_api\.json cannot be read .* the whole package\?"):
        copy_bfcl(tmp_path)


def test_a_folder_of_data_files_is_taken_with_its_sibling(tmp_path: Path, pins: Pins) -> None:
    data = write_package(tmp_path / "bfcl", DATA)
    (note,) = copy_bfcl(data).notes
    assert note.startswith("env_constants.json and env_long_context.json.gz: not in ")
    assert fetched_files() == set(DATA) | {"callgym-manifest.json"}
    files = BfclFiles(cache_folder() / "bfcl")
    assert files.prompts() is None
    with pytest.raises(DataError, match=r"lacks env_constants\.json.*callgym fetch bfcl"):
        files.constants()
    tables = {CONSTANTS: json.dumps(TABLES).encode(), LONG_CONTEXT: gzip.compress(json.dumps(PADDING).encode())}
    write_package(tmp_path / "bfcl_parity", tables)
    (data / "BFCL_v4_simple_python.json").write_bytes(b"{}\n")
    (note,) = copy_bfcl(data).notes
    assert note.startswith("BFCL_v4_simple_python.json: not the file of bfcl-eval")
    assert fetched_files() == WHOLE - {PROMPTS}
    assert files.constants() == TABLES


def test_a_folder_without_the_files_or_no_folder_is_told(tmp_path: Path, pins: Pins) -> None:
    with pytest.raises(DataError, match="is not a folder"):
        copy_bfcl(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"has no file 'BFCL_v4_simple_python\.json'"):
        copy_bfcl(tmp_path)


def test_damaged_tables_are_named(tmp_path: Path) -> None:
    (tmp_path / CONSTANTS).write_text("[1]")
    (tmp_path / LONG_CONTEXT).write_bytes(gzip.compress(b"{}")[:-9])
    (tmp_path / PROMPTS).write_text("{")
    files = BfclFiles(tmp_path)
    for read, name in ((files.constants, CONSTANTS), (files.long_context, LONG_CONTEXT), (files.prompts, PROMPTS)):
        with pytest.raises(DataError, match=name):
            read()


def test_the_official_files_are_the_pinned_ones_and_fetching_is_offline(official_data: Path) -> None:
    folder = official_data / "bfcl"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    fetched = copy_bfcl(folder)
    assert fetched.notes == ()
    assert len(fetched.files) == len(PINS.files) + 2
    files = BfclFiles(cache_folder() / "bfcl")
    assert canonical_sha256(files.constants()) == PINS.made[CONSTANTS]
    assert canonical_sha256(files.long_context()) == PINS.made[LONG_CONTEXT]
    shutil.rmtree(cache_folder() / "bfcl")


def test_the_module_is_light_to_import() -> None:
    program = "import sys, callgym.envs.bfcl.fetch; print([m for m in ('httpx', 'bfcl_eval') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

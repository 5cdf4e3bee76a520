"""ToolBench's cached responses: read as StableToolBench's server reads them, and what cannot be read is counted."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from callgym import Task, ToolCall
from callgym.errors import DataError
from callgym.record_commands import records
from callgym.tool_backends.recording import RecordingStore, ReplayBackend, ToolBenchCache, import_toolbench_cache
from callgym.tool_backends.recording.keys import call_key
from callgym.tool_backends.recording.replay import ReplaySession

SAMPLE = Path("/work/shared/data/toolbench/tool_response_cache_sample")
ZIPS = "autocomplete_zipcodes_lite_for_autocomplete_usa"
TASK = Task.from_dict(
    {
        "id": "t",
        "family": "toolbench",
        "split": "test",
        "messages": [{"role": "user", "content": "go on"}],
        "goal": {"kind": "calls", "turns": [[]]},
    }
)

real = pytest.mark.skipif(not SAMPLE.is_dir(), reason="the sample of the cache is not here")


def session(records: Any, **options: Any) -> ReplaySession:
    return ReplayBackend(records, **options).open(TASK, 0)


def write(folder: Path, place: str, content: Any) -> None:
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def answer(response: Any, error: str = "") -> dict[str, Any]:
    return {"error": error, "response": response}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    place = "Weather/open_weather_for_Weather/current.json"
    write(
        folder,
        place,
        {
            '{\n  "city": "Rome",\n  "days": 1\n}': answer("as JSON"),
            "{'city': 'Rome', 'days': 1}": answer({"sky": "clear"}),
            "{'days': 1, 'city': 'Rome'}": answer({"sky": "grey"}),
            "{'city': \"L'Aquila\", 'at': None, 'full': True, 'of': [1, 2.5, ('a',)]}": answer([1]),
            "{}": answer("", "Timeout error..."),
            "{'a': 1}": answer("", "Unauthorized error..."),
            "{'a': 2}": answer({"detail": "no"}, "Message error..."),
            "{'a': nan}": answer("not read"),
            "{'city': 'open": answer("not read"),
            "[1, 2]": answer("not read"),
            "__import__('os').system('true')": answer("not read"),
            "{'b': 1}": "no answer",
            "{'b': 2}": {"response": "no error"},
        },
    )
    write(folder, "Weather/open_weather_for_Weather/empty.json", "")
    write(folder, "Weather/open_weather_for_Weather/list.json", [])
    write(folder, "Data/open_weather_for_Data/current.json", {"{'city': 'Oslo'}": answer("of Data")})
    long = "a_tool_with_a_name_that_is_far_longer_than_sixty_four_characters"
    write(folder, f"Data/{long}_for_Data/api.json", {"{}": answer(1)})
    return folder


CURRENT = "current_for_open_weather"


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"city": "Rome", "days": 1}, {"sky": "clear"}),
        ({"days": 1, "city": "Rome"}, {"sky": "grey"}),  # the order of keys matters to the server
        ({"at": None, "city": "L'Aquila", "full": True, "of": [1, 2.5, ["a"]]}, [1]),
        ({"city": "ROME ", "days": 1.0}, {"sky": "clear"}),
        ({"city": "Oslo"}, "of Data"),
        ({}, ("timeout", "the API did not answer in time: Timeout error...")),
        ({"a": 1}, ("unavailable", "the API is unavailable, do without it: Unauthorized error...")),
        ({"a": 2}, ("tool_error", 'the API refused the call: Message error... {"detail": "no"}')),
        ({"b": 1}, ("unavailable", f"{CURRENT} has no recorded answer")),
    ],
)
@pytest.mark.parametrize("imported", [False, True], ids=["folder", "imported"])
def test_a_response_is_found_as_the_server_finds_it(
    folder: Path, arguments: dict[str, Any], found: Any, imported: bool
) -> None:
    if imported:
        import_toolbench_cache(folder, folder.parent / "cache.sqlite")
        if found == {"sky": "grey"}:  # the recording keeps one answer to the same arguments: the server's first
            found = {"sky": "clear"}
    result = session(folder.parent / "cache.sqlite" if imported else folder).call(
        ToolCall(name=CURRENT, arguments=arguments)
    )
    if isinstance(found, tuple):
        assert result.error == found[0]
        assert result.message.startswith(found[1])
    else:
        assert result.content == found


def test_what_cannot_be_read_is_counted_and_listed(folder: Path) -> None:
    report = ToolBenchCache(folder).report()
    assert (report.files, report.responses, report.repeated, report.new) == (5, 9, 2, 0)
    assert [(unread.file.rpartition("/")[2], unread.key) for unread in report.unread] == [
        ("current.json", "{'a': nan}"),
        ("current.json", "{'city': 'open"),
        ("current.json", "[1, 2]"),
        ("current.json", "__import__('os').system('true')"),
        ("current.json", "{'b': 1}"),
        ("current.json", "{'b': 2}"),
        ("empty.json", ""),
        ("list.json", ""),
    ]
    assert all(unread.reason for unread in report.unread)


def test_names_are_as_the_models_know_them(folder: Path) -> None:
    names = [count.tool for count in ToolBenchCache(folder).counts()]
    long = "api_for_a_tool_with_a_name_that_is_far_longer_than_sixty_four_characters"[-64:]
    assert names == [long, CURRENT]
    assert session(folder).call(ToolCall(name=long)).content == 1
    only = ToolBenchCache(folder, category="Data")
    assert [count.tool for count in only.counts()] == [long, CURRENT]
    assert session(only).call(ToolCall(name=CURRENT, arguments={"city": "Rome", "days": 1})).error == "unavailable"


def test_an_import_can_be_done_again(folder: Path, tmp_path: Path) -> None:
    store = RecordingStore(tmp_path / "cache.sqlite")
    first, second = import_toolbench_cache(folder, store), import_toolbench_cache(folder, store)
    assert (first.responses, first.repeated, first.new, len(first.unread)) == (9, 2, 7, 8)
    assert (second.responses, second.new) == (9, 0)
    rows = list(store.calls(CURRENT))
    assert {row.source for row in rows} == {
        "Data/open_weather_for_Data/current.json", "Weather/open_weather_for_Weather/current.json",
    }  # fmt: skip
    assert import_toolbench_cache(folder, tmp_path / "data.sqlite", category="Data").new == 2


def test_an_answer_belongs_to_nobody_else(folder: Path) -> None:
    cache = ToolBenchCache(folder)
    replay = ReplayBackend(pickle.loads(pickle.dumps(cache)))
    for _ in range(2):
        content: Any = replay.open(TASK, 0).call(ToolCall(name=CURRENT, arguments={"city": "Rome", "days": 1})).content
        assert content == {"sky": "clear"}
        content["sky"] = "changed"
    nearest = ReplayBackend(folder, "nearest").open(TASK, 0)
    assert nearest.call(ToolCall(name=CURRENT, arguments={"city": "Rome"})).content == {"sky": "clear"}


def test_secrets_in_the_cache_do_not_get_into_a_recording(tmp_path: Path) -> None:
    place = "Data/open_for_Data/api.json"
    write(tmp_path / "cache", place, {"{'token': 'abcdefgh-123'}": answer({"you": "abcdefgh-123"})})
    with RecordingStore(tmp_path / "cache.sqlite") as store:
        import_toolbench_cache(tmp_path / "cache", store)
    assert b"abcdefgh" not in (tmp_path / "cache.sqlite").read_bytes()
    for token, found in (("abcdefgh-123", {"you": "abcdefgh-123"}), (" ABCDEFGH-123", None)):
        call = ToolCall(name="api_for_open", arguments={"token": token})
        assert session(tmp_path / "cache.sqlite").call(call).content == found


@pytest.mark.parametrize("make", ["missing", "empty", "file"])
def test_a_folder_without_responses_is_told(tmp_path: Path, make: str) -> None:
    folder = tmp_path / "cache"
    if make == "empty":
        folder.mkdir()
    elif make == "file":
        folder.write_text("{}")
    with pytest.raises(DataError, match=r"has no cached responses \(<Category>/<tool>_for_<Category>/<api>\.json\)"):
        ToolBenchCache(folder)


def test_the_command_line(folder: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "cache.sqlite")
    result = CliRunner().invoke(records, ["import", file, str(folder)])
    assert result.exit_code == 0, result.output
    assert "9 responses read from 5 files, 2 of them to arguments that occur twice; 7 are new" in result.stdout
    assert "not read: 8" in result.stdout
    assert len(result.stderr.splitlines()) == 8
    for source in (file, str(folder)):
        listed = CliRunner().invoke(records, ["list", source, "--tool", CURRENT, "--json"])
        assert json.loads(listed.stdout) == [{"tool": CURRENT, "answers": 6, "calls": 6, "failures": 3}]
    exported = CliRunner().invoke(records, ["export", str(folder), "--out", str(tmp_path / "out.jsonl")])
    assert exported.stdout.startswith("7 answers written")
    again = CliRunner().invoke(records, ["import", str(tmp_path / "other.sqlite"), str(tmp_path / "out.jsonl")])
    assert again.exit_code == 0, again.output
    assert "7 answers are new" in again.stdout


@real
def test_the_real_sample_is_read_whole(tmp_path: Path) -> None:
    cache = ToolBenchCache(SAMPLE)
    report = cache.report()
    assert (report.files, report.responses, report.unread) == (252, 3055, ())
    assert report.repeated == 46
    store = RecordingStore(tmp_path / "cache.sqlite")
    assert import_toolbench_cache(SAMPLE, store).new == 3055 - 46
    assert import_toolbench_cache(SAMPLE, store).new == 0
    assert [count.tool for count in cache.counts()] == [count.tool for count in store.counts()]
    assert session(store).call(ToolCall(name=ZIPS, arguments={"zipcode": "110"})).ok


@real
def test_every_response_of_the_sample_is_given_to_the_servers_key(tmp_path: Path) -> None:
    store = RecordingStore(tmp_path / "cache.sqlite")
    import_toolbench_cache(SAMPLE, store)
    cache = ToolBenchCache(SAMPLE)
    raw, from_store = session(cache), session(store)
    for file in sorted(SAMPLE.glob("*/*/*.json")):
        name = f"{file.stem}_for_{file.parent.name.removesuffix(f'_for_{file.parent.parent.name}')}"[-64:]
        rows = json.loads(file.read_text(encoding="utf-8"))
        for call in cache.calls(name):
            # StableToolBench's server: the key is str(arguments), and the answer what stands there.
            key = str(call.arguments)
            assert raw.call(ToolCall(name=name, arguments=call.arguments)).content == call.result.content
            assert from_store.call(ToolCall(name=name, arguments=call.arguments)).content == call.result.content
            assert key not in rows or rows[key]["response"] == call.result.content
        assert len({call_key(name, call.arguments) for call in cache.calls(name)}) == len(list(cache.calls(name)))

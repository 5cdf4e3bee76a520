"""``callgym play``: what is typed becomes actions, what comes back can be read, the record is an episode."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym import GoldCall, Message, Task, Tool, ToolCall
from callgym.checker import HOSTILE_ACTIONS
from callgym.dialects import DIALECTS
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.errors import ConfigurationError
from callgym.goal import CallsGoal
from callgym.play import Seat
from callgym.play_commands import HELPED, HUMAN, Keyboard, play
from callgym.play_desk import Desk, ending_lines
from callgym.play_entry import Entry, read_entry
from callgym.registry import ENVIRONMENTS
from callgym.rollouts.episodes import read_rows
from callgym.rollouts.plan import Plan
from callgym.rollouts.policy import get_policy
from callgym.rollouts.replay import replay_file
from callgym.rollouts.runner import run_episodes

LIVE = ("apibank/L2-v0", {"protocol": "dialogue"})


def played(*arguments: str, typed: str, id: str = "apibank/L1-v0") -> Result:
    return CliRunner().invoke(play, [id, "--data", "starter", *arguments], input=typed)


def seat_of(id: str = "apibank/L1-v0", task: int | str = 0, **options: Any) -> Seat:
    return Seat(make_tool_env(id, data="starter", **options), task, seed=7)


def desk_of(id: str = "apibank/L1-v0", task: int | str = 0, **options: Any) -> Desk:
    return Desk(seat_of(id, task, **options))


def text_of(lines: Any) -> str:
    return "\n".join(line.text for line in lines)


# What is typed.


@pytest.mark.parametrize(
    ("typed", "entries"),
    [
        ("", []),
        ("\n  \n\n", []),
        ("hello\n", [Entry("hello")]),
        ("one\ntwo", [Entry("one"), Entry("two")]),
        ("one \\\ntwo\n", [Entry("one \ntwo")]),
        ("one\\\n\\\ntwo", [Entry("one\n\ntwo")]),
        ("one\\\n", [Entry("one", whole=False)]),
        ("<<<\na\n\n  b\n>>>\nc\n", [Entry("a\n\n  b", literal=True), Entry("c")]),
        ("<<<\n>>>\n", [Entry("", literal=True)]),
        ("<<<\n/quit\n>>>\n", [Entry("/quit", literal=True)]),
        ("<<<\na", [Entry("a", literal=True, whole=False)]),
        ("a <<<\nb", [Entry("a <<<"), Entry("b")]),
    ],
)
def test_lines_are_put_together(typed: str, entries: list[Entry]) -> None:
    lines = iter(typed.removesuffix("\n").split("\n") if typed else [])
    found = list(iter(lambda: read_entry(lambda _: next(lines, None)), None))
    assert found == entries


@pytest.mark.parametrize(
    ("typed", "action"),
    [("plain words", "plain words"), ("//etc is a folder", "/etc is a folder"), ("/say /quit", "/quit")],
)
def test_what_is_no_command_is_an_action(typed: str, action: str) -> None:
    desk = desk_of("when2call/open-v0")
    desk.take(Entry(typed))
    assert desk.seat.actions == [action]


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_call_is_written_in_the_environments_dialect(name: str) -> None:
    desk = desk_of("bfcl/parallel-v0", dialect=name)
    gold = desk.seat.env.task.goal_of(CallsGoal)
    assert gold is not None
    calls = [call.reference() for call in gold.turns[0]]
    typed = " ".join(f"{call.name} {json.dumps(call.arguments)}" for call in calls)
    answer = desk.take(Entry(f"/call {typed}"))
    assert answer.move == "next"
    assert answer.lines[0].text == desk.seat.actions[0]
    assert [call.name for call in desk.seat.episode.calls()] == [call.name for call in calls]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/nothing", "no command /nothing"),
        ("/", "no command /"),
        ("/call", "a call is typed as"),
        ("/call GetToken {", "not JSON"),
        ("/call GetToken [1]", "JSON object"),
        ('/call GetToken {"a": NaN}', "cannot be"),
        ("/call A " + '{"a":' * 5_000, "not JSON"),
        ("/tools nothing", "no tool 'nothing'"),
        ("/undo", "no action to take back"),
    ],
)
def test_what_cannot_be_done_is_said_and_costs_nothing(typed: str, said: str) -> None:
    desk = desk_of()
    answer = desk.take(Entry(typed))
    assert said in text_of(answer.lines)
    assert answer.move == "stay"
    assert desk.seat.actions == []
    assert not desk.helped


@pytest.mark.parametrize("typed", ["/help", "/tools", "/prompt", "/messages"])
def test_looking_is_no_help_and_no_action(typed: str) -> None:
    desk = desk_of()
    assert text_of(desk.take(Entry(typed)).lines)
    assert desk.seat.actions == []
    assert not desk.helped


def test_a_tools_whole_document_and_the_conversation_can_be_read() -> None:
    desk = desk_of("bfcl/multiple-v0")
    tool = desk.seat.tools[0]["function"]
    assert json.loads(text_of(desk.take(Entry(f"/tools {tool['name']}")).lines)) == tool
    messages = [json.loads(line.text) for line in desk.take(Entry("/messages")).lines]
    assert messages == desk.seat.messages
    assert text_of(desk.take(Entry("/prompt")).lines) == desk.seat.observation


@pytest.mark.parametrize(
    "id", [entry.id for entry in ENVIRONMENTS if entry.family != "bfcl"] + ["bfcl/multi_turn_base-v0"]
)
def test_the_opening_shows_what_the_policy_sees_and_nothing_of_the_goal(id: str) -> None:
    env = make_tool_env(id, data="starter")
    for task in range(0, 60, 7):
        desk = Desk(Seat(env, task, seed=1))
        shown = text_of(desk.opening())
        assert str(env.task.messages[-1].content) in shown
        assert all(turn.content not in shown for turn in env.task.user_turns)
        assert "GOAL" not in shown
        assert env.task.goal.to_json() not in shown


def test_a_hint_tells_the_kind_and_not_the_goal() -> None:
    desk = desk_of("bfcl/parallel-v0")
    hint = text_of(desk.take(Entry("/hint")).lines)
    assert "calls are to be made" in hint
    assert desk.helped
    gold = desk.seat.env.task.goal_of(CallsGoal)
    assert gold is not None
    assert gold.turns[0][0].name not in hint


# The episode.


@pytest.mark.parametrize(("id", "options"), [LIVE, ("bfcl/multi_turn_miss_func-v0", {}), ("when2call/mcq-v0", {})])
def test_the_oracles_actions_by_hand_earn_everything(id: str, options: dict[str, Any]) -> None:
    desk = desk_of(id, 5, **options)
    while not desk.seat.over:
        desk.take(Entry(desk.seat.env.oracle_action(), literal=True))
    assert desk.seat.episode is not None
    assert desk.seat.episode.episode_return == 1.0
    assert "return 1.000" in text_of(ending_lines(desk.seat.episode))


@pytest.mark.parametrize("observation", ["prompt", "delta"])
def test_the_conversation_is_whole_whatever_the_environment_returns(observation: Any) -> None:
    id, options = LIVE
    seats = [seat_of(id, 3, observation=kind, **options) for kind in ("prompt", observation)]
    for action in ("[ToolSearcher(keywords='alarm')]", "What do you mean?"):
        for seat in seats:
            seat.act(action)
    assert seats[0].observation == seats[1].observation


def test_tools_that_are_found_are_told() -> None:
    id, options = LIVE
    desk = desk_of(id, "starter/L2/live/test/000079", **options)
    answer = desk.take(Entry('/call ToolSearcher {"keywords": "cancel registration"}'))
    assert "new tools: CancelRegistration" in text_of(answer.lines)
    assert "CancelRegistration" in text_of(desk.take(Entry("/tools")).lines)


def test_an_action_that_was_taken_back_leaves_no_trace() -> None:
    id, options = LIVE
    records = []
    for entries in (
        ["[ToolSearcher(keywords='a')]", "[ToolSearcher(keywords='b')]"],
        ["[ToolSearcher(keywords='a')]", "[ToolSearcher(keywords='c')]", "/undo", "[ToolSearcher(keywords='b')]"],
    ):
        desk = desk_of(id, 3, **options)
        for entry in entries:
            desk.take(Entry(entry))
        assert desk.helped == ("/undo" in entries)
        episode = desk.seat.stop()
        assert episode is not None
        records.append(episode.to_json())
    assert records[0] == records[1]


def test_calls_over_a_network_cannot_be_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    id, options = LIVE
    seat = seat_of(id, 3, **options)
    seat.act("[ToolSearcher(keywords='a')]")
    monkeypatch.setattr(ToolEnv, "waits", True)
    with pytest.raises(ConfigurationError, match="network"):
        seat.undo()


@settings(max_examples=40)
@given(
    st.lists(
        st.one_of(st.text(), st.sampled_from(HOSTILE_ACTIONS), st.sampled_from(["/undo", "/gold", "/hint"])), max_size=6
    )
)
def test_nothing_that_is_typed_raises(typed: list[str]) -> None:
    id, options = LIVE
    desk = desk_of(id, 1, **options)
    for text in typed:
        answer = desk.take(Entry(text))
        if answer.move != "stay":
            break
    episode = desk.seat.stop()
    assert episode is None or (episode.episode_return is not None and 0 <= episode.episode_return <= 1)


# The command.


def test_the_record_is_what_eval_writes_and_can_be_replayed(tmp_path: Path) -> None:
    out, oracle = tmp_path / "human.jsonl", tmp_path / "oracle.jsonl"
    run_episodes("apibank/L1-v0", get_policy("oracle"), episodes=4, seed=3, env_options={"data": "starter"}, out=oracle)
    rows = sorted(read_rows(oracle), key=lambda row: row.index)
    typed = "".join(f"<<<\n{row.episode.steps[0].action}\n>>>\n" for row in rows)
    result = played("--episodes", "4", "--seed", "3", "--out", str(out), typed=typed)
    assert result.exit_code == 0, result.output
    found = list(read_rows(out))
    assert [(row.index, row.policy) for row in found] == [(index, HUMAN) for index in range(4)]
    assert [row.episode.to_json() for row in found] == [row.episode.to_json() for row in rows]
    assert replay_file(out).proven


def test_the_index_goes_on_where_the_file_ends(tmp_path: Path) -> None:
    out = tmp_path / "human.jsonl"
    for number in range(3):
        assert played("--out", str(out), typed=f"words {number}\n").exit_code == 0
    plan = Plan.of(make_tool_env("apibank/L1-v0", data="starter"), HUMAN, 0)
    rows = list(read_rows(out))
    assert [row.index for row in rows] == [0, 1, 2]
    assert [plan.misfit(row.index, row.policy, row.episode) for row in rows] == [None] * 3


@pytest.mark.parametrize(
    ("typed", "ended", "steps"),
    [
        ("[ToolSearcher(keywords='a')]\n", "truncated", 1),
        ("[ToolSearcher(keywords='a')]\n/quit\n", "truncated", 1),
        ("[ToolSearcher(keywords='a')]\n/next\n", "truncated", 1),
        ("[ToolSearcher(keywords='a')]\n<<<\nhalf", "truncated", 2),
        ("half \\\n", "truncated", 1),
    ],
)
def test_what_is_left_is_truncated_and_recorded(tmp_path: Path, typed: str, ended: str, steps: int) -> None:
    out = tmp_path / "human.jsonl"
    result = played("--out", str(out), "--set", "protocol=dialogue", "--task", "3", typed=typed, id="apibank/L2-v0")
    assert result.exit_code == 0, result.output
    (row,) = read_rows(out)
    assert (row.episode.ended, len(row.episode.steps)) == (ended, steps)
    assert replay_file(out).proven


@pytest.mark.parametrize("typed", ["", "/quit\n", "/hint\n", "\n\n"])
def test_without_an_action_nothing_is_recorded(tmp_path: Path, typed: str) -> None:
    out = tmp_path / "human.jsonl"
    result = played("--out", str(out), "--json", typed=typed)
    assert result.exit_code == 0
    assert out.read_bytes() == b""
    summary = json.loads(result.stdout.splitlines()[-1])
    assert (summary["episodes"], summary["mean_return"]) == (0, None)


def test_episodes_that_were_helped_say_so(tmp_path: Path) -> None:
    out = tmp_path / "human.jsonl"
    assert played("--out", str(out), "--episodes", "2", typed="words\n/gold\nwords\n").exit_code == 0
    assert [row.policy for row in read_rows(out)] == [HUMAN, HELPED]
    assert played("--out", str(out), typed="words\n").exit_code == 0
    assert replay_file(out).equal == 3


def test_the_summary_is_all_that_stands_on_standard_output() -> None:
    result = played("--json", "--episodes", "2", typed="words\nother words\n")
    summary = json.loads(result.stdout)
    assert list(summary) == ["env_id", "policy", "episodes", "mean_return", "returns", "endings", "helped", "out"]
    assert summary["episodes"] == 2
    assert "action 1> words" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["apibank/L9-v0"], "apibank/L1-v0"),
        (["no_such_module:mine/x-v0"], "no_such_module"),
        (["apibank/L1-v0", "--import", "no_such_module"], "PYTHONPATH"),
        (["apibank/L1-v0", "--data", "starter", "--task", "no such task"], "no such task"),
        (["apibank/L1-v0", "--data", "starter", "--dialect", "no_such"], "no_such"),
        (["apibank/L1-v0", "--data", "starter", "--set", "colour=red"], "colour"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(play, arguments, input="")
    assert result.exit_code == 3
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_file_of_others_is_not_added_to(tmp_path: Path) -> None:
    out = tmp_path / "oracle.jsonl"
    run_episodes("apibank/L1-v0", get_policy("oracle"), episodes=1, env_options={"data": "starter"}, out=out)
    before = out.read_bytes()
    result = played("--out", str(out), typed="words\n")
    assert result.exit_code == 3
    assert "row 1: policy is 'oracle'" in result.stderr
    assert out.read_bytes() == before


def test_a_line_that_was_cut_off_is_taken_away(tmp_path: Path) -> None:
    out = tmp_path / "human.jsonl"
    played("--out", str(out), typed="words\n")
    whole = out.read_bytes()
    out.write_bytes(whole + whole[:50])
    assert played("--out", str(out), typed="more words\n").exit_code == 0
    assert [row.index for row in read_rows(out)] == [0, 1]


# Hostile text.

HOSTILE = "\x1b]0;title\x07\x1b[2J\x1b[31m\u202egnp.exe\r\x08<script>alert(1)</script> {{7*7}} \u2066"


def hostile_env() -> ToolEnv:
    schema: dict[str, Any] = {"type": "object", "properties": {HOSTILE: {"type": "string", "enum": [HOSTILE, "x"]}}}
    tool = Tool(name=f"Tool{HOSTILE}", description=HOSTILE, parameters=schema)
    goal = CallsGoal(turns=((GoldCall.of(ToolCall(name=tool.name, arguments={HOSTILE: "x"})),),))
    task = Task(
        id=f"t{HOSTILE}", family="when2call", split="test", tools=(tool,), goal=goal,
        messages=(Message(role="system", content=HOSTILE), Message(role="user", content=HOSTILE)),
    )  # fmt: skip
    return make_tool_env("when2call/open-v0", data=[task], dialect="openai")


def test_hostile_text_does_nothing_to_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    keyboard = Keyboard()
    desk = Desk(Seat(hostile_env(), 0, seed=0))
    for line in desk.opening():
        keyboard.tell(line.text, line.kind)
    name = desk.seat.tools[0]["function"]["name"]
    for typed in (
        "/tools",
        f"/tools {name}",
        "/prompt",
        "/messages",
        "/hint",
        "/gold",
        f"/{HOSTILE}",
        "/undo",
        HOSTILE,
    ):
        for line in desk.take(Entry(typed)).lines:
            keyboard.tell(line.text, line.kind)
    assert desk.seat.episode is not None
    for line in ending_lines(desk.seat.episode):
        keyboard.tell(line.text, line.kind)
    shown = capsys.readouterr().out
    assert "script" in shown
    assert all(character.isprintable() or character in "\n\t" for character in shown)


def test_hostile_lines_from_a_pipe_are_actions_like_others(tmp_path: Path) -> None:
    out = tmp_path / "human.jsonl"
    typed = HOSTILE.replace("\r", "").encode() + b"\xff\xfe\n" + b"x" * 1_000_000 + b"\n"
    result = CliRunner().invoke(
        play, ["apibank/L1-v0", "--data", "starter", "--episodes", "2", "--out", str(out)], input=typed
    )
    assert result.exit_code == 0, result.output
    assert len(result.output) < 20_000
    assert all(character.isprintable() or character in "\n\t" for character in result.output)
    assert [len(row.episode.steps[0].errors) for row in read_rows(out)] == [0, 1]
    assert replay_file(out).proven


# A real terminal.


class Terminal:
    """A child on a pseudo-terminal of its own."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self.master, slave = pty.openpty()
        command = [sys.executable, "-c", "from callgym.play_commands import play; play()", *arguments]
        environment = {**os.environ, "TERM": "xterm", "CALLGYM_DATA": str(folder / "cache")}
        environment.pop("NO_COLOR", None)
        self.child = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True, close_fds=True,
            preexec_fn=lambda: _own_terminal(slave),
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def wait_for(self, words: str, since: int = 0) -> None:
        """Read until words have come, from a place of what was seen on."""
        until = time.monotonic() + 60
        while words not in self.seen[since:]:
            if not select.select([self.master], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f"no {words!r} in {self.seen!r}")
            self._read()

    def press_until(self, key: str, words: str) -> None:
        """Press a key, and again when nothing comes of it: between two keys readline looks away for a moment, and a
        Ctrl-C of that moment waits for the next key."""
        for _ in range(12):
            self.type(key)
            until = time.monotonic() + 5
            while words not in self.seen and select.select([self.master], [], [], max(0, until - time.monotonic()))[0]:
                if not self._read():
                    return
            if words in self.seen:
                return
        raise AssertionError(f"no {words!r} in {self.seen!r}")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        # Read on meanwhile: readline sets the terminal back only when all that it wrote was taken.
        while select.select([self.master], [], [], 60)[0] and self._read():
            pass
        os.close(self.master)
        return self.child.wait(60)

    def _read(self) -> bool:
        try:
            data = os.read(self.master, 65_536)
        except OSError:  # the other side is closed
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)


def _own_terminal(slave: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Any]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(["apibank/L1-v0", "--data", "starter", *arguments], tmp_path))
        return opened[-1]

    yield start
    for one in opened:
        if one.child.poll() is None:
            os.kill(one.child.pid, signal.SIGKILL)
            one.child.wait()


def test_a_person_at_a_terminal_plays_edits_and_leaves_with_ctrl_c(terminal: Any, tmp_path: Path) -> None:
    out = tmp_path / "human.jsonl"
    screen = terminal("--episodes", "3", "--out", str(out))
    screen.wait_for("action 1> ")
    screen.type("worts\x7f\x7fds\r")  # a key that takes back
    screen.wait_for("return ")
    screen.wait_for("action 1> ", since=screen.seen.index("return "))
    screen.type("half an act")
    screen.wait_for("half an act")  # a Ctrl-C throws away what is not read yet
    screen.press_until("\x03", "interrupted")
    assert screen.end() == 130
    assert "interrupted" in screen.seen
    assert "\x1b[1m" in screen.seen
    (row,) = read_rows(out)
    assert row.episode.steps[0].action == "words"


def test_ctrl_d_ends_the_game(terminal: Any) -> None:
    screen = terminal()
    screen.wait_for("action 1> ")
    screen.type("\x04")
    assert screen.end() == 0
    assert "nothing to score" in screen.seen

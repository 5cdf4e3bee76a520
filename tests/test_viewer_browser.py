"""What a real Chromium makes of a page of episodes: everything is shown as text, nothing of it runs, and every number
agrees with the files."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import Browser, Locator, Page, expect

from callgym import Message, Task, Tool, UserTurn
from callgym.envs.base import ToolEnv, make_tool_env
from callgym.goal import AnswerGoal, CallsGoal, DecisionGoal, GoldCall, StateGoal
from callgym.rollouts.policy import Situation, get_policy
from callgym.rollouts.runner import run_episodes
from callgym.tool_backends import PythonBackend, World
from callgym.viewer.page import write_page
from tests import browser
from tests.browser import CANARY, Visit, wait_until

chromium, visit = browser.chromium, browser.visit

Json = dict[str, Any]
GARDEN = "viewer/Garden-v0"
F1 = "argument_f1"

# ------------------------------------------------------------------------------------------- an environment to look at


def _tool(name: str, **properties: str) -> Tool:
    return Tool(
        name=name,
        description=f"{name} in the garden.",
        parameters={"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}},
    )


TOOLS = (
    _tool("Plant", what="string", rows="integer", bed="integer", when="string", note="string"),
    _tool("Water", bed="integer"),
    _tool("Dig", deep="integer"),
)
PLANT = GoldCall(
    name="Plant",
    arguments={"what": ("leek", "leeks"), "rows": (2,), "bed": (1,), "when": ("May",), "note": ("deep",)},
    optional=("note",),
)
WATER = GoldCall(name="Water", arguments={"bed": (3,)})
GOALS: dict[str, Any] = {
    "garden/plant": CallsGoal(turns=((PLANT, WATER),)),
    "garden/tour": CallsGoal(turns=((WATER,), (PLANT,))),
    "garden/nothing": DecisionGoal(decision="decline"),
    "garden/count": AnswerGoal(accepted=(12, "a dozen"), match="numeric"),
    "garden/state": StateGoal(state={"watered": [3], "dug": 2}),
}


def _plant(world: World, **arguments: Any) -> Any:
    return "planted"


def _water(world: World, bed: int) -> Any:
    world.state["watered"].append(bed)
    return {"watered": bed}


def _dig(world: World, deep: int = 0) -> Any:
    world.state["dug"] = deep
    return "dug"


class GardenEnv(ToolEnv):
    """A few tasks, one of each kind of goal."""

    family = "garden"
    protocol = "dialogue"

    def load_tasks(self, source: object, split: str) -> list[Task]:
        return [
            Task(
                id=name,
                family="garden",
                split="test",
                messages=(Message(role="user", content=f"Please see to {name}."),),
                tools=TOOLS,
                user_turns=(UserTurn(content="And now plant."),) if name == "garden/tour" else (),
                goal=goal,
                initial_state={"watered": [], "dug": 0},
            )
            for name, goal in GOALS.items()
        ]

    def make_backend(self, source: object) -> PythonBackend:
        return PythonBackend({"Plant": _plant, "Water": _water, "Dig": _dig})


if GARDEN not in gym.registry:
    gym.register(GARDEN, entry_point=f"{__name__}:GardenEnv", kwargs={"data": "starter"})


def _call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


ALMOST = _call("Plant", what="leeks", rows=5, bed=1, shed="red")
RIGHT = _call("Plant", what="leek", rows=2, bed=1, when="May")
BEFORE = {
    "garden/plant": [f"{ALMOST}{_call('Dig', deep=4)}", "Done."],
    "garden/tour": [_call("Water", bed=4), "Watered.", '<tool_call>{"name": "Plant", "argum</tool_call>', "Planted."],
    "garden/nothing": [_call("Dig", deep=1), "Sorry."],
    "garden/count": ["There are 11."],
    "garden/state": [_call("Water", bed=3), "Done."],
}
AFTER = {
    "garden/plant": [f"<think>Leeks, two rows.</think>{RIGHT}{_call('Water', bed=3)}", "Done."],
    "garden/tour": [_call("Water", bed=3), "Watered.", RIGHT, "Planted."],
    "garden/nothing": ["None of my tools can do that."],
    "garden/count": ["There are 12."],
    "garden/state": [_call("Water", bed=3), _call("Nobody"), _call("Dig", deep=2), "Done."],
}


class Script:
    """Says for each task what it was told to say."""

    def __init__(self, name: str, lines: dict[str, list[str]]) -> None:
        self.name = name
        self._lines = lines

    def act(self, situations: Sequence[Situation]) -> list[str]:
        return [self._next(situation) for situation in situations]

    def _next(self, situation: Situation) -> str:
        said = sum(message["role"] == "assistant" for message in situation.messages[situation.given :])
        assert isinstance(situation.env, ToolEnv)
        lines = self._lines[situation.env.task.id]
        action: str = lines[min(said, len(lines) - 1)]
        return action

    def close(self) -> None:
        pass


def _read(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Played:
    """Files of episodes, their page, and their lines in the page's order."""

    def __init__(self, files: list[Path], page: Path) -> None:
        write_page(files, page, title="two gardens & more")
        self.page = page
        self.lines = [(run, line) for run, file in enumerate(files) for line in _read(file)]

    def number(self, run: int, task: str) -> int:
        """The place of an episode in the page."""
        return next(at for at, (of, line) in enumerate(self.lines) if of == run and line["task_id"] == task)


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("garden")
    files = []
    for name, lines in (("before", BEFORE), ("after", AFTER)):
        files.append(folder / f"{name}.jsonl")
        run_episodes(GARDEN, Script(name, lines), episodes=len(GOALS), out=files[-1], progress=False, times=True)
    return Played(files, folder / "page.html")


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("starter")
    runs: tuple[tuple[str, str, int, Json], ...] = (
        ("apibank/L1-v0", "random", 90, {}),
        ("apibank/L1-v0", "oracle", 70, {}),
        ("apibank/L3-v0", "oracle", 20, {"protocol": "dialogue"}),
        ("bfcl/parallel-v0", "random", 30, {}),
    )
    files = []
    for number, (id, policy, episodes, options) in enumerate(runs):
        files.append(folder / f"{number}-{policy}.jsonl")
        env_options = {"data": "starter", **options}
        run_episodes(id, get_policy(policy), episodes=episodes, env_options=env_options, out=files[-1], progress=False)
    return Played(files, folder / "page.html")


# ------------------------------------------------------------------------------------------------- the page as a reader


def rows(page: Page, name: str = "episodes") -> Locator:
    return page.locator(f".list.{name} .rows .row")


def shown(page: Page) -> int:
    """How many episodes the page says it shows."""
    return int(page.inner_text("#filters .count").split(" of ")[0].replace(",", ""))


def in_order(page: Page, cell: str, name: str = "episodes") -> list[str]:
    """The texts of a column, from top to bottom, of the rows that are in the document."""
    script = """([name, cell]) => [...document.querySelectorAll(`.list.${name} .rows .row`)]
        .sort((one, other) => one.at - other.at).map(row => row.querySelector(`.cell.${cell}`).innerText.trim())"""
    texts: list[str] = page.evaluate(script, [name, cell])
    return texts


def choose(page: Page, **starts: str) -> None:
    """Choose in filters the options whose labels start so."""
    for name, start in starts.items():
        _choose(page, name, start)


def _choose(page: Page, name: str, start: str) -> None:
    select = page.locator(f"#filters [data-filter={name}]")
    labels = select.locator("option").all_inner_texts()
    select.select_option(index=next(at for at, label in enumerate(labels) if label.startswith(start)))


def fill(page: Page, **values: str) -> None:
    for name, value in values.items():
        page.locator(f"#filters [data-filter={name}]").fill(value)


def open_all(page: Page) -> None:
    """Unfold all that is folded, and show long texts whole."""
    page.evaluate("""async () => {
        for (let round = 0; round < 3; round++) {
            for (const details of document.querySelectorAll(".detail details")) details.open = true;
            await new Promise(resume => setTimeout(resume, 60));
        }
        for (const more of document.querySelectorAll(".detail .more[aria-expanded=false]")) more.click();
    }""")


def detail_text(page: Page) -> str:
    text: str = page.evaluate(
        "[...document.querySelectorAll('.view:not([hidden]) .detail')].map(e => e.textContent).join()"
    )
    return text


def seen(text: str) -> str:
    """A text as the page writes it: hidden characters as their numbers."""
    hidden = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
    return re.sub(hidden, lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


# ----------------------------------------------------------------------------------------------------------- list


def test_a_page_lists_every_episode_and_keeps_few_rows(visit: Visit, starter: Played) -> None:
    page = visit(starter.page)
    assert page.inner_text("#filters .count") == f"{len(starter.lines)} of {len(starter.lines)}"
    assert page.inner_text("#title") == "two gardens & more"
    assert rows(page).count() < 60
    assert page.get_attribute(".list.episodes", "aria-rowcount") == str(len(starter.lines) + 1)
    page.evaluate("document.querySelector('.list.episodes').scrollTop = 1e9")
    last = rows(page).filter(has=page.locator(".cell.index")).last
    expect(page.locator(f'.list.episodes .row[data-item="{len(starter.lines) - 1}"]')).to_be_visible()
    assert rows(page).count() < 60
    assert last.evaluate("row => row.offsetHeight") == 28


Test = Callable[[int, Json], bool]


def _errors(line: Json) -> list[str]:
    steps = line["steps"]
    kinds = [error["kind"] for step in steps for error in step["errors"]]
    return kinds + [result["error"] for step in steps for result in step["results"] if result["error"]]


def _score(line: Json, name: str) -> Any:
    """A number, None for unknown, "n" where it is not asked for."""
    score = line["rewards"].get(name)
    return "n" if score is None or not score["applies"] else score["value"]


def _between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, (int, float)) and low <= value <= high


def reward_from(page: Page, least: str) -> None:
    choose(page, reward=F1)
    fill(page, **{"from": least, "to": "1"})


FILTERS: list[tuple[str, Callable[[Page], None], Test]] = [
    ("id", lambda p: choose(p, id="apibank/L3"), lambda run, e: e["env_id"] == "apibank/L3-v0"),
    ("run", lambda p: choose(p, run="1-oracle"), lambda run, e: run == 1),
    ("policy", lambda p: choose(p, policy="random"), lambda run, e: e["policy"] == "random"),
    ("dialect", lambda p: choose(p, dialect="python"), lambda run, e: e["config"]["dialect"] == "python"),
    ("ending", lambda p: choose(p, ended="terminated"), lambda run, e: e["ended"] == "terminated"),
    ("no errors", lambda p: choose(p, error="none"), lambda run, e: not _errors(e)),
    ("errors", lambda p: choose(p, error="any"), lambda run, e: bool(_errors(e))),
    ("one error", lambda p: choose(p, error="tool_error"), lambda run, e: "tool_error" in _errors(e)),
    ("return", lambda p: fill(p, low="0.01", high="0.6"), lambda run, e: _between(e["episode_return"], 0.01, 0.6)),
    ("steps", lambda p: fill(p, least="2", most="5"), lambda run, e: 2 <= len(e["steps"]) <= 5),
    ("not asked for", lambda p: choose(p, reward=F1, **{"is": "is not"}), lambda run, e: _score(e, F1) == "n"),
    ("unknown", lambda p: choose(p, reward=F1, **{"is": "is unknown"}), lambda run, e: _score(e, F1) is None),
    ("reward", lambda p: reward_from(p, "0.2"), lambda run, e: _between(_score(e, F1), 0.2, 1)),
    (
        "several",
        lambda p: choose(p, id="apibank/L1", policy="random", error="tool_error"),
        lambda run, e: e["env_id"] == "apibank/L1-v0" and e["policy"] == "random" and "tool_error" in _errors(e),
    ),
]


def test_every_filter_counts_as_the_files_do(visit: Visit, starter: Played) -> None:
    page = visit(starter.page)
    counts = []
    for name, act, test in FILTERS:
        act(page)
        expected = sum(test(run, line) for run, line in starter.lines)
        assert shown(page) == expected, name
        assert rows(page).count() == min(expected, rows(page).count()), name
        counts.append(expected)
        page.click("#filters button:text('clear')")
        assert shown(page) == len(starter.lines), name
    assert len(set(counts)) > 8  # they tell the files apart


def test_search_reads_all_texts(visit: Visit, starter: Played) -> None:
    words = ("token", "starter/L3", "INVALID", "movie", "no such words anywhere")
    page = visit(starter.page)
    for word in words:
        page.fill("input[type=search]", word)
        page.wait_for_timeout(200)
        wait_until(page, "document.querySelector('#filters .progress').textContent === ''")
        assert shown(page) == sum(_holds(line, word) for _, line in starter.lines), word
    expect(page.locator(".empty-list").first).to_be_visible()
    page.keyboard.press("Escape")
    page.click("#filters button:text('clear')")
    assert page.input_value("input[type=search]") == ""


def _holds(line: Json, word: str) -> bool:
    own = {"name", "arguments", "id", "kind", "position", "message", "content", "error"}

    def texts(value: Any, depth: int = 0) -> list[str]:
        if isinstance(value, dict):
            keys = [key for key in value if depth > 1 or key not in own]
            return keys + [text for item in value.values() for text in texts(item, depth + 1)]
        if isinstance(value, list):
            return [text for item in value for text in texts(item, depth + 1)]
        return [] if value is None else [str(value)]

    found = [line["task_id"], line["env_id"], line["policy"], line["prompt"], *texts(line["state"])]
    for step in line["steps"]:
        found += [step[name] for name in ("action", "content", "reasoning", "observation")]
        found += [text for name in ("calls", "errors", "results") for text in texts(step[name])]
    return any(word.lower() in text.lower() for text in found)


def test_columns_sort_up_down_and_back(visit: Visit, starter: Played) -> None:
    page = visit(starter.page)
    before = in_order(page, "index")
    head = page.locator(".list.episodes .head .return button")
    head.click()
    ups = [float(text) for text in in_order(page, "return")]
    assert ups == sorted(ups)
    assert page.get_attribute(".list.episodes .head .return", "aria-sort") == "ascending"
    head.click()
    downs = [float(text) for text in in_order(page, "return")]
    assert downs == sorted(downs, reverse=True)
    assert downs[0] == 1.0
    head.click()
    assert in_order(page, "index") == before
    page.click(".list.episodes .head .task button")
    tasks = in_order(page, "task")
    assert tasks == sorted(line["task_id"] for _, line in starter.lines)[: len(tasks)]


def test_links_and_back_lead_where_they_say(visit: Visit, starter: Played) -> None:
    number = 95
    page = visit(starter.page, f"#open={number}&run=1")
    task = starter.lines[number][1]["task_id"]
    expect(page.locator(".episode-title")).to_have_text(task)
    assert shown(page) == 70
    page.keyboard.press("Escape")
    expect(page.locator(".episode-title")).to_have_count(0)
    page.go_back()
    expect(page.locator(".episode-title")).to_have_text(task)
    page.click("#tabs [data-view=charts]")
    assert "view=charts" in page.url
    page.go_back()
    expect(page.locator(".view.episodes")).to_be_visible()
    expect(page.locator(".episode-title")).to_have_text(task)
    # What no page has written does no harm.
    again = visit(starter.page, "#open=99999999&view=nowhere&id=x&a=-1&pair=9&low=abc&reward=77&sort=__proto__.up")
    expect(again.locator(".view.episodes")).to_be_visible()


def test_keys_lead_through_the_page(visit: Visit, starter: Played) -> None:
    page = visit(starter.page)
    for key in ("j", "j", "ArrowDown", "k"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator(".detail[data-episode='1']")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator(".detail[data-episode='2']")).to_be_visible()
    assert page.locator(".list.episodes .row[aria-selected=true]").get_attribute("data-item") == "2"
    page.keyboard.press("Escape")
    expect(page.locator(".detail[data-episode]")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator(f".list.episodes .row.selected[data-item='{len(starter.lines) - 1}']")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("L3")
    assert page.input_value("input[type=search]") == "L3"  # j, k and / are letters there
    page.keyboard.press("Escape")  # ends a search that still runs
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    expect(page.locator(".view.charts")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("dialog#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog#help")).to_be_hidden()


# ---------------------------------------------------------------------------------------------------- one episode


def verdicts(scope: Locator) -> list[list[str]]:
    """The rows of verdict tables, each the texts of its cells."""
    cells: list[list[str]] = scope.locator("table.verdicts tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.innerText.trim().replace(/\\s+/g, ' ')))"
    )
    return cells


def test_a_score_is_explained_argument_by_argument(visit: Visit, garden: Played) -> None:
    page = visit(garden.page, f"#open={garden.number(0, 'garden/plant')}")
    reward = page.locator(".reward[data-reward=call_exact_match]")
    assert [row[:4] for row in verdicts(reward)] == [
        ["Plant gold 1, made 1, argument F1 0.500"],
        ["what", '"leeks"', '"leek" or "leeks"', "✓ accepted variant"],
        ["rows", "5", "2", "✗ wrong"],
        ["bed", "1", "1", "✓ equal"],
        ["when", "–", '"May"', "− missing"],
        ["shed", '"red"', "–", "+ extra"],
        ["Water asked for and not made", "− missing call"],
        ["bed", "–", "3", ""],
        ["Dig made and not asked for", "+ extra call"],
        ["deep", "4", "–", ""],
    ]
    for kind, count in {"variant": 1, "wrong": 1, "equal": 1, "missing": 2, "extra": 2}.items():
        assert reward.locator(f".verdict-{kind}").count() == count, kind
    assert "explained above" in page.inner_text(".reward[data-reward=argument_f1]")


def test_turns_are_matched_with_the_gold_of_their_turn(visit: Visit, garden: Played) -> None:
    page = visit(garden.page, f"#open={garden.number(1, 'garden/tour')}")
    reward = page.locator(".reward[data-reward=call_exact_match]")
    assert reward.locator(".turn-title").all_inner_texts() == [
        "turn 1: 1 asked for, 1 made",
        "turn 2: 1 asked for, 1 made",
    ]
    second = verdicts(reward.locator(".turn").nth(1))
    assert ["what", '"leek"', '"leek" or "leeks"', "✓ equal"] in second
    assert ["when", '"May"', '"May"', "✓ equal"] in second


@pytest.mark.parametrize(
    ("run", "task", "reward", "expected"),
    [
        (0, "garden/nothing", "irrelevance_abstention", ["decision", "called", "decline", "✗ wrong"]),
        (1, "garden/nothing", "irrelevance_abstention", ["decision", "abstained", "decline", "✓ right"]),
        (0, "garden/count", "final_answer", ["answer", "There are 11.", '12 or "a dozen"', "✗ not accepted"]),
        (1, "garden/count", "final_answer", ["answer", "There are 12.", '12 or "a dozen"', "✓ accepted"]),
        (0, "garden/state", "state_reached", ["dug", "0", "2", "✗ differs"]),
        (1, "garden/state", "state_reached", ["dug", "2", "2", "✓ equal"]),
    ],
)
def test_other_goals_stand_beside_what_was_made(
    visit: Visit,
    garden: Played,
    run: int,
    task: str,
    reward: str,
    expected: list[str],
) -> None:
    page = visit(garden.page, f"#open={garden.number(run, task)}")
    found = verdicts(page.locator(f".reward[data-reward={reward}]"))
    assert any(row[0] == expected[0] and row[2:] == expected[2:] and row[1].startswith(expected[1]) for row in found), (
        found
    )


def test_a_conversation_shows_actions_calls_errors_times_and_sums(visit: Visit, garden: Played) -> None:
    page = visit(garden.page, f"#open={garden.number(0, 'garden/tour')}")
    steps = page.locator(".episode .step")
    assert steps.count() == 4
    lines = garden.lines[garden.number(0, "garden/tour")][1]["steps"]
    for at, step in enumerate(lines):
        assert steps.nth(at).locator(".of-policy .text").first.text_content() == (
            step["action"] if not step["errors"] else _marked(step)
        )
        assert re.search(r"write [\d.]+ m?s · play [\d.]+ m?s", steps.nth(at).locator(".times").inner_text())
    broken = steps.nth(2).locator(".parse-error")
    assert f"at character {lines[2]['errors'][0]['position']}" in broken.inner_text()
    assert lines[2]["errors"][0]["message"] in broken.inner_text()
    assert float(page.locator(".step-head .quiet-words").last.inner_text().split()[-1]) == pytest.approx(
        garden.lines[garden.number(0, "garden/tour")][1]["episode_return"], abs=1e-3
    )
    after = visit(garden.page, f"#open={garden.number(1, 'garden/state')}")
    assert "unknown_tool" in after.locator(".failed-result").inner_text()
    thought = visit(garden.page, f"#open={garden.number(1, 'garden/plant')}")
    thought.click("summary:has-text('reasoning')")
    expect(thought.locator(".of-policy details")).to_contain_text("Leeks, two rows.")


def _marked(step: Json) -> str:
    action, at = step["action"], step["errors"][0]["position"]
    return f"{action[:at]}▸{action[at:]}"


# ------------------------------------------------------------------------------------------------------- two runs


def test_two_runs_are_compared_task_by_task(visit: Visit, garden: Played) -> None:
    returns = [{e["task_id"]: e["episode_return"] for run, e in garden.lines if run == side} for side in (0, 1)]
    differences = {task: returns[1][task] - returns[0][task] for task in GOALS}
    page = visit(garden.page, "#view=compare")
    found = dict(zip(in_order(page, "task", "pairs"), in_order(page, "difference", "pairs"), strict=True))
    for task, difference in differences.items():
        mark = "▲ +" if difference > 1e-9 else "▼ −" if difference < -1e-9 else "= "
        assert found[task] == f"{mark}{abs(difference):.3f}", task
    mean = sum(differences.values()) / len(differences)
    assert f"difference {'+' if mean >= 0 else '−'}{abs(mean):.3f}" in page.inner_text(".means")
    page.click(".list.pairs .head .difference button")
    assert in_order(page, "task", "pairs")[0] == min(differences, key=lambda task: differences[task])
    better = sum(difference > 1e-9 for difference in differences.values())
    page.select_option("[data-compare=pairs]", "better")
    expect(rows(page, "pairs")).to_have_count(better)
    page.select_option("[data-compare=pairs]", "only-a")
    expect(rows(page, "pairs")).to_have_count(0)


def test_a_pair_stands_side_by_side(visit: Visit, garden: Played) -> None:
    page = visit(garden.page, "#view=compare")
    page.locator(".list.pairs .row", has_text="garden/plant").click()
    expect(page.locator(".pair .episode-title")).to_have_text("garden/plant")
    first = page.locator(".pair .steps .columns").first.locator("> *")
    one, other = (first.nth(at).bounding_box() for at in (0, 1))
    assert one is not None
    assert other is not None
    assert one["x"] + one["width"] <= other["x"]
    assert one["y"] == other["y"]
    table = {row[0]: row[1:] for row in verdicts(page.locator(".pair .rewards > .reward-differences").locator(".."))}
    lines = [garden.lines[garden.number(run, "garden/plant")][1]["rewards"] for run in (0, 1)]
    change = lines[1]["argument_f1"]["value"] - lines[0]["argument_f1"]["value"]
    assert table["argument_f1"][2] == f"▲ +{change:.3f}"
    assert table["state_reached"] == ["not asked for", "not asked for", "–"]
    page.go_back()
    expect(page.locator(".pair")).to_have_count(0)


# --------------------------------------------------------------------------------------------------------- charts


def bars(page: Page, chart: str) -> dict[tuple[str, int], tuple[float, int]]:
    """(name, run) to (value, count)."""
    found = page.locator(f"[data-chart={chart}][data-run]").evaluate_all(
        "all => all.map(bar => [bar.dataset.name, +bar.dataset.run, +bar.dataset.value, +bar.dataset.count])"
    )
    return {(name, run): (value, count) for name, run, value, count in found}


def _means(pairs: list[tuple[tuple[str, int], float]]) -> dict[tuple[str, int], tuple[Any, int]]:
    groups: dict[tuple[str, int], list[float]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: (pytest.approx(sum(values) / len(values)), len(values)) for key, values in groups.items()}


def _class_of(value: float) -> str:
    if value in (0, 1):
        return f"exactly {value:g}"
    low = int(value * 10)
    return f"{'above ' if low == 0 else ''}{low / 10:g} to below {(low + 1) / 10:g}"


def test_charts_say_what_the_files_say(visit: Visit, starter: Played) -> None:
    page = visit(starter.page, "#view=charts")
    lines = starter.lines
    known = [(run, e) for run, e in lines if e["episode_return"] is not None]
    assert bars(page, "return-by-id") == _means([((e["env_id"], run), e["episode_return"]) for run, e in known])
    parts = [((name, run), _score(e, name)) for run, e in lines for name in e["rewards"]]
    measured = _means([(key, value) for key, value in parts if isinstance(value, (int, float))])
    assert {key: found for key, found in bars(page, "reward-parts").items() if found[1]} == measured
    errors = Counter((kind, run) for run, e in lines for kind in _errors(e))
    assert bars(page, "errors") == {key: (count, count) for key, count in errors.items()}
    classes = Counter((_class_of(e["episode_return"]), run) for run, e in known)
    assert bars(page, "distribution") == {key: (count, count) for key, count in classes.items()}
    assert bars(page, "steps") == _means([((str(len(e["steps"])), run), e["episode_return"]) for run, e in known])
    numbers = page.locator(".chart-return-by-id .chart-number").all_text_contents()
    assert numbers[0] == f"{sum(e['episode_return'] for run, e in known if run == 0) / 90:.3f} (n 90)"


def test_charts_follow_filters_and_bars_set_them(visit: Visit, starter: Played) -> None:
    page = visit(starter.page, "#view=charts")
    choose(page, run="1-oracle")
    assert {run for _, run in bars(page, "return-by-id")} == {1}
    page.click("#filters button:text('clear')")
    for chart in ("distribution", "errors", "steps", "return-by-id"):
        for at in range(page.locator(f"[data-chart={chart}][data-run]").count()):
            bar = page.locator(f"[data-chart={chart}][data-run]").nth(at)
            name, run, count = (str(bar.get_attribute(f"data-{key}")) for key in ("name", "run", "count"))
            bar.dispatch_event("click")
            expect(page.locator(".view.episodes")).to_be_visible()
            of_error = sum(of == int(run) and name in _errors(e) for of, e in starter.lines)
            assert shown(page) == (of_error if chart == "errors" else int(count)), (chart, name)
            page.go_back()
            expect(page.locator(".view.charts")).to_be_visible()
            assert shown(page) == len(starter.lines)


# -------------------------------------------------------------------------------------------------------- hostility

HOSTILE = {
    "script": f"<script>{CANARY}=1</script>",
    "image": f"<img src=x onerror={CANARY}=1>",
    "end of script": f"</script></style></template><script>{CANARY}=1</script>",
    "comment": f"--><svg onload={CANARY}=1><!--",
    "attribute": f'"\'> autofocus onfocus={CANARY}=1 x="',
    "address": f"javascript:{CANARY}=1//https://example.invalid/x.png",
    "template": f"{{{{7*7}}}}${{{CANARY}=1}}#{{7*7}}",
    "entities": "&lt;b&gt;&amp;&#x3c;",
    "style": "}</style>*{display:none}body::before{content:url(https://example.invalid/x)}",
    "directions": "left\u202eevil\u202c\u2066x\u2069\u200e\u200f\u061c",
    "blanks": "a\u200bb\ufeffc\u2060d\xade",
    "terminal": "\x1b[31mred\x1b]0;title\x07\x9b2J\r",
    "zero": "a\x00b",
    "line ends": "a\u2028b\u2029c",
    "emoji": "👩\u200d🌾 👍🏽 ½",
    "deep": "[" * 5000,
    "marks": "e" + "\u0301" * 300,
    "name": "__proto__",
}
"""What models and tools may write; none of it may be more than text."""
LONG = "w" * (1 << 20)


def _hostile_line(number: int, text: str) -> Json:
    def at(place: str) -> str:
        return f"{place} {text}"

    arguments = {at("argument"): at("value"), "__proto__": {"polluted": at("inner")}, "constructor": at("own")}
    step = {
        "action": at("action"),
        "content": at("content"),
        "reasoning": at("reasoning"),
        "calls": [{"name": at("tool"), "arguments": arguments, "id": at("id")}] * 2,
        "errors": [{"kind": "malformed", "position": 3, "message": at("fault")}],
        "results": [
            {"content": {at("key"): [at("result")]}, "error": None, "message": ""},
            {"content": None, "error": "tool_error", "message": at("failure")},
        ],
        "observation": at("observation"),
        "reward": 0.5,
    }
    turn = {
        "matched": [{"gold": 0, "predicted": 0, "name": at("tool"), "arguments": {at("argument"): at("verdict")}}],
        "missing": [at("missing")],
        "extra": [at("extra")],
        "unreadable": 0,
        "reached": True,
    }
    rewards = {
        at("reward"): {"value": 0.5, "applies": True, "explanation": {"turns": [turn]}},
        "__proto__": {"value": None, "applies": True, "explanation": {"anything": [{at("tree"): at("leaf")}] * 20}},
        "constructor": {"value": 1.0, "applies": True, "explanation": {"outcome": at("outcome"), "calls": 1}},
        "final_answer": {"value": 0.0, "applies": True, "explanation": {"answer": at("answer"), "match": "exact"}},
        "state_reached": {"value": 0.0, "applies": True, "explanation": {"differs": [at("differs")]}},
        "toString": {"value": None, "applies": False, "explanation": {"reason": at("reason")}},
    }
    return {
        "index": number,
        "policy": at("policy"),
        "env_id": at("env"),
        "task_id": at("task"),
        "seed": 2**60 + number,
        "config": {"dialect": at("dialect"), at("option"): at("setting")},
        "data": "starter",
        "prompt": at("prompt"),
        "steps": [{"turn": 0, **step}],
        "ended": "terminated",
        "state": {at("differs"): at("state")},
        "rewards": rewards,
        "rubric": at("rubric"),
        "episode_return": 0.5,
    }


PLACES = (
    "action", "content", "reasoning", "tool", "argument", "value", "own", "fault", "failure", "observation",
    "verdict", "missing", "extra", "reward", "outcome", "answer", "differs", "reason", "policy", "env", "task",
    "dialect", "prompt",
)  # fmt: skip
"""Where a text stands as it is; inside JSON it stands in JSON's notation."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("hostile")
    file = folder / f"<img src=x onerror={CANARY}=1>.jsonl"
    lines = [_hostile_line(number, text) for number, text in enumerate(HOSTILE.values())]
    failed = {"kind": "exception", "message": HOSTILE["image"], "trace": HOSTILE["script"], "attempts": 3}
    names = {"policy": "", "env_id": HOSTILE["script"], "task_id": HOSTILE["directions"], "seed": 0}
    lines.append({"index": len(lines), **names, "failure": failed})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    file.write_text(text + '{"index": "<script>canary=1</script>"', encoding="utf-8")
    other = folder / "}{;}javascript:canary=1.jsonl"
    other.write_text(json.dumps(lines[0]) + "\n", encoding="utf-8")
    page = folder / "page.html"
    write_page([file, other], page, title=f"</title><script>{CANARY}=1</script>")
    played = Played.__new__(Played)
    played.page, played.lines = page, [(0, line) for line in lines]
    return played


@pytest.mark.parametrize("name", list(HOSTILE))
def test_hostile_texts_are_shown_and_do_nothing(visit: Visit, hostile: Played, name: str) -> None:
    number = list(HOSTILE).index(name)
    page = visit(hostile.page, f"#open={number}")
    expect(page.locator(".episode")).to_be_visible()
    open_all(page)
    text, payload = detail_text(page), seen(HOSTILE[name])
    if name == "emoji":
        payload = HOSTILE[name]
    start = payload[:3000]
    for place in PLACES:
        assert f"{place} {start}" in text.replace("▸", ""), place
    for place in ("result", "key", "leaf"):
        inner = seen(json.dumps(f"{place} {HOSTILE[name]}", ensure_ascii=False)[:3000].rstrip('"'))
        assert inner in text or name in ("terminal", "zero", "emoji"), place  # JSON has its own signs for these
    assert f"{2**60 + number}" in text
    assert page.evaluate("({}).polluted") is None
    assert page.evaluate("document.querySelectorAll('img, iframe, svg, object, [onload], [onerror]').length") == 0
    assert page.evaluate("document.querySelectorAll('script:not([type=\"text/plain\"])').length") == 1
    for scope in ("body", ".detail"):
        assert page.evaluate(f"(e => e.scrollWidth <= e.clientWidth + 1)(document.querySelector('{scope}'))"), scope


def test_half_surrogates_are_shown_by_their_numbers(visit: Visit, garden: Played, tmp_path: Path) -> None:
    def spoiled(match: re.Match[str]) -> str:
        text = gzip.decompress(base64.b64decode(match[2])).replace(b"There are 11.", b"a\\ud83db \\ude00")
        return f"{match[1]}{base64.b64encode(gzip.compress(text)).decode()}<"

    page = garden.page.read_text(encoding="utf-8")
    part = tmp_path / "half.html"
    part.write_text(re.sub(r'(id="block-\d+">)([^<]*)<', spoiled, page), encoding="utf-8")
    opened = visit(part, f"#open={garden.number(0, 'garden/count')}")
    expect(opened.locator(".of-policy .text").first).to_have_text("a⟨U+D83D⟩b ⟨U+DE00⟩")


def test_the_watch_sees_a_page_that_does_more_than_show_itself(chromium: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    bad = "alert(1); console.log(2); new Image().src = 'http://127.0.0.1:9/x.png'"
    ready = "document.documentElement.dataset.ready = 'true'"
    page.write_text(f"<script>{CANARY} = 1; {bad}; {ready}; throw new Error('three')</script>", encoding="utf-8")
    watch = browser.Watch(chromium)
    watch.open(page)
    watch.close()
    found = " / ".join(watch.faults)
    for fault in ("a dialog: 1", "console: log: 2", "http://127.0.0.1:9/x.png", "three", "a script of the data ran"):
        assert fault in found


def test_every_view_of_hostile_files_is_only_text(visit: Visit, hostile: Played) -> None:
    page = visit(hostile.page)
    assert page.inner_text("#title") == f"</title><script>{CANARY}=1</script>"
    banner = page.inner_text("#banner")
    assert "was read up to a fault" in banner
    assert f"<img src=x onerror={CANARY}=1>" in banner
    assert "1 episode could not be played" in banner
    assert seen(f"task {HOSTILE['directions']}") in page.inner_text(".list.episodes")
    page.click("#tabs [data-view=charts]")
    assert f"reward {HOSTILE['script']}"[:12] in page.inner_text(".charts")
    page.click("#tabs [data-view=compare]")
    rows(page, "pairs").first.click()
    expect(page.locator(".pair")).to_be_visible()
    open_all(page)
    assert f"action {HOSTILE['script']}" in detail_text(page).replace("▸", "")
    choose(page, ended="failed")
    page.click("#tabs [data-view=episodes]")
    assert shown(page) == 1
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".failure")).to_contain_text(HOSTILE["image"])
    assert HOSTILE["script"] in page.inner_text(".failure")


def test_a_very_long_line_is_folded_first(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "long.jsonl").write_text(json.dumps(_hostile_line(0, LONG)) + "\n", encoding="utf-8")
    write_page([tmp_path / "long.jsonl"], tmp_path / "long.html")
    page = visit(tmp_path / "long.html", "#open=0")
    box = page.locator(".step .of-policy .text-box").first
    assert len(box.locator(".text").text_content() or "") < 4_100
    more = box.locator("button.more")
    words = more.inner_text()
    length = int(re.sub(r"\D", "", words))
    assert re.fullmatch(r"show [\d,]+ characters", words)
    assert length >= 100_000
    more.click()
    assert len(box.locator(".text").text_content() or "") >= length
    assert more.inner_text() == "show fewer"
    more.click()
    assert len(box.locator(".text").text_content() or "") < 4_100
    for scope in ("body", ".detail"):
        assert page.evaluate(f"(e => e.scrollWidth <= e.clientWidth + 1)(document.querySelector('{scope}'))"), scope


# ------------------------------------------------------------------------------------------------ how it is laid out


PARTS = ("#top", "#filters", ".list.episodes", ".episodes .detail")


def box(page: Page, selector: str) -> dict[str, float]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    x, y, width, height = found["x"], found["y"], found["width"], found["height"]
    return {"x": x, "y": y, "width": width, "height": height, "right": x + width, "bottom": y + height}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_parts_stand_where_they_belong(visit: Visit, garden: Played, tmp_path: Path, scheme: str) -> None:
    number = garden.number(0, "garden/plant")
    page = visit(garden.page, f"#open={number}", scheme=scheme)
    top, filters, rows_, detail = (box(page, name) for name in PARTS)
    assert top["y"] == 0
    assert top["bottom"] <= filters["y"]
    assert filters["bottom"] <= rows_["y"]
    assert rows_["right"] <= detail["x"] + 1
    assert detail["right"] <= 1280
    assert detail["bottom"] <= 800
    assert detail["width"] > 600
    assert rows_["height"] > 500
    heights = page.locator(".list.episodes .rows .row").evaluate_all(
        "all => all.map(e => [e.offsetTop, e.offsetHeight])"
    )
    assert {height for _, height in heights} == {28}
    tops = sorted(
        page.locator(".list.episodes .rows .row").evaluate_all("all => all.map(e => e.getBoundingClientRect().y)")
    )
    assert all(below - above == pytest.approx(28) for above, below in pairwise(tops))
    for kind in ("variant", "wrong", "equal", "missing", "extra"):
        cell = page.locator(f".reward .verdict-{kind}").first
        cell.scroll_into_view_if_needed()
        assert _colour_of(page, cell, tmp_path) == _declared(cell), kind
    picture = _picture(page, tmp_path)
    for name in PARTS:
        part = box(page, name)
        region = picture[int(part["y"]) : int(part["bottom"]), int(part["x"]) : int(part["right"])]
        assert len(np.unique(region.reshape(-1, 3), axis=0)) > 8, f"{name} is blank"
    bright = picture.mean()
    assert bright > 0.8 if scheme == "light" else bright < 0.3


def _picture(page: Page, folder: Path) -> Any:
    path = folder / "page.png"
    page.screenshot(path=path)
    return imread(path)[:, :, :3]


def _colour_of(page: Page, cell: Locator, folder: Path) -> tuple[int, ...]:
    """The colour of the picture inside a cell, near its lower right corner, where no letter stands."""
    found = cell.bounding_box()
    assert found is not None
    x, y = int(found["x"] + found["width"]) - 4, int(found["y"] + found["height"]) - 4
    return tuple(round(255 * float(value)) for value in _picture(page, folder)[y, x])


def _declared(cell: Locator) -> tuple[int, ...]:
    colour = cell.evaluate("e => getComputedStyle(e).backgroundColor")
    return tuple(map(int, re.findall(r"\d+", colour)[:3]))


def test_a_narrow_window_shows_list_or_episode(visit: Visit, garden: Played) -> None:
    page = visit(garden.page, width=400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    rows(page).first.click()
    expect(page.locator(".episode")).to_be_visible()
    assert not page.locator(".list.episodes").is_visible()
    assert page.evaluate("document.querySelector('.detail').scrollWidth") <= 400
    page.click(".episode .close")
    expect(page.locator(".list.episodes")).to_be_visible()
    assert not page.locator("#filters [data-filter=run]").is_visible()
    page.click(".filter-toggle")
    choose(page, run="after")
    assert shown(page) == len(GOALS)
    for view in ("charts", "compare"):
        page.click(f"#tabs [data-view={view}]")
        assert page.evaluate(f"document.querySelector('.view.{view}').scrollWidth") <= 400, view


def test_a_browser_that_cannot_unpack_says_so(visit: Visit, garden: Played) -> None:
    page = visit(garden.page, before="delete window.DecompressionStream", ready="failed")
    assert "has no DecompressionStream" in page.inner_text("[role=alert]")


def test_a_page_that_was_cut_off_says_so(visit: Visit, garden: Played, tmp_path: Path) -> None:
    text = garden.page.read_text(encoding="utf-8")
    part = tmp_path / "cut.html"
    part.write_text(re.sub(r'<script type="text/plain" id="shared">.*?</script>', "", text), encoding="utf-8")
    page = visit(part, ready="failed")
    assert "it was cut off" in page.inner_text("[role=alert]")


@pytest.mark.slow
def test_twenty_thousand_rows_keep_few_in_the_document(visit: Visit, tmp_path: Path) -> None:
    env = make_tool_env(GARDEN)
    env.reset(seed=0, options={"task": "garden/count"})
    *_, info = env.step("There are 12.")
    line = info["episode"].to_dict()
    with (tmp_path / "many.jsonl").open("w", encoding="utf-8") as file:
        for number in range(20_000):
            record = {"index": number, "policy": "one", **line, "episode_return": (number % 11) / 10}
            file.write(json.dumps(record) + "\n")
    write_page([tmp_path / "many.jsonl"], tmp_path / "many.html")
    page = visit(tmp_path / "many.html")
    assert page.inner_text("#filters .count") == "20,000 of 20,000"
    counts = []
    for share in (0.1, 0.35, 0.7, 0.999, 0.2):
        page.evaluate(f"(e => {{ e.scrollTop = {share} * e.scrollHeight; }})(document.querySelector('.list.episodes'))")
        page.wait_for_timeout(60)
        first = int(in_order(page, "index")[0])
        assert abs(first - share * 20_000) < 60
        counts.append(rows(page).count())
    assert max(counts) < 60
    fill(page, low="1")
    assert shown(page) == sum(number % 11 == 10 for number in range(20_000))
    page.click("#tabs [data-view=charts]")
    assert sum(count for _, count in bars(page, "distribution").values()) == shown(page)

"""Tasks and episodes as a person would read them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from callgym import Episode, GoldCall, Message, ParseError, Score, Step, Task, Tool, ToolCall, ToolResult, UserTurn
from callgym.goal import AllGoal, AnswerGoal, CallsGoal, DecisionGoal, StateGoal
from callgym.show import episode_as_text, task_as_text

PLANT = Tool(
    name="Plant",
    description="Plant something.",
    parameters={
        "type": "object",
        "properties": {"what": {"type": "string"}, "rows": {"type": "integer"}, "note": {}},
        "required": ["what"],
    },
)
WATER = Tool(name="Water", parameters={"type": "object", "properties": {}})
CALL = ToolCall(name="Plant", arguments={"what": "kohlrabi", "rows": 3})


def task(goal: Any, **changes: Any) -> Task:
    given: dict[str, Any] = {
        "id": "garden/1",
        "family": "garden",
        "split": "test",
        "messages": (
            Message(role="user", content="Plant kohlrabi."),
            Message(role="assistant", tool_calls=(CALL,)),
            Message(role="tool", name="Plant", content="planted"),
        ),
        "tools": (PLANT, WATER),
        "goal": goal,
    }
    return Task(**{**given, **changes})


def test_a_task_shows_its_tools_conversation_and_goal() -> None:
    gold = GoldCall(name="Plant", arguments={"what": ("leek", "leeks"), "rows": (2,)}, optional=("rows",))
    turns = (UserTurn(content="And leeks."), UserTurn(content="Thanks."))
    text = task_as_text(task(CallsGoal(turns=((gold,), ())), documented=("Plant",), user_turns=turns))
    assert text.splitlines() == [
        "task garden/1   (garden, split test)",
        "",
        "TOOLS",
        "  Plant(what: string, rows?: integer, note?: any)  Plant something.",
        "  Water()  ",
        "  (not documented in the prompt: Water)",
        "",
        "CONVERSATION",
        "       user: Plant kohlrabi.",
        '  assistant: Plant(what="kohlrabi", rows=3)',
        "       tool: planted",
        "  then user: And leeks.",
        "  then user: Thanks.",
        "",
        "GOAL",
        '  turn 1: Plant(what="leek" or "leeks", rows=2 (optional))',
    ]


@pytest.mark.parametrize(
    ("goal", "lines"),
    [
        (CallsGoal(turns=((),)), ["no call"]),
        (DecisionGoal(decision="decline", reply="I cannot."), ["decision: decline, for example: 'I cannot.'"]),
        (DecisionGoal(decision="ask"), ["decision: ask"]),
        (AnswerGoal(accepted=("four", 4)), ["answer (normalised): 'four' or 4"]),
        (StateGoal(state={"beds": 2}), ['state: {"kind":"state","state":{"beds":2}}']),
        (
            AllGoal(goals=(CallsGoal(turns=((GoldCall(name="Water"),),)), AnswerGoal(accepted=("wet",)))),
            ["turn 1: Water()", "answer (normalised): 'wet'"],
        ),
    ],
)
def test_every_kind_of_goal_is_shown(goal: Any, lines: list[str]) -> None:
    shown = task_as_text(task(goal)).partition("GOAL\n")[2].splitlines()
    assert [line.strip() for line in shown] == lines


def test_an_episode_shows_actions_results_and_scores() -> None:
    steps = (
        Step(
            action="[Plant(what='kohlrabi', rows=3)] [Water()]",
            calls=(CALL, ToolCall(name="Water")),
            results=(ToolResult(content={"bed": 1}), ToolResult(error="tool_error", message="The can is empty.")),
        ),
        Step(
            action="[Plant(", errors=(ParseError(kind="truncated", position=7, message="it breaks off"),), reward=0.25
        ),
    )
    episode = Episode(
        env_id="garden/Small-v0",
        task_id="garden/1",
        seed=9,
        prompt="User: Plant kohlrabi.\n\n",
        steps=steps,
        ended="truncated",
        rewards={"argument_f1": Score(value=0.25, explanation={"why": "half"}), "final_answer": Score(applies=False)},
        rubric="default",
        episode_return=0.25,
    )
    assert episode_as_text(episode).splitlines() == [
        "episode of garden/Small-v0, task garden/1, seed 9",
        "",
        "User: Plant kohlrabi.",
        "",
        "--- action 1: [Plant(what='kohlrabi', rows=3)] [Water()]",
        '    Plant(what="kohlrabi", rows=3) -> {"bed": 1}',
        "    Water() -> [tool_error] The can is empty.",
        "",
        "--- action 2: [Plant(",
        "    unreadable (truncated at 7): it breaks off",
        "",
        "truncated; return 0.250 (rubric default)",
        '  argument_f1: 0.250   {"why": "half"}',
    ]


def test_a_dialogue_shows_what_the_user_said_next() -> None:
    steps = (Step(action="Done.", content="Done.", observation="\nUser: And leeks.\n"), Step(action="Done."))
    assert "And leeks." in episode_as_text(Episode(env_id="e", task_id="t", seed=0, steps=steps))


def test_an_unknown_return_is_called_unknown() -> None:
    text = episode_as_text(Episode(env_id="e", task_id="t", seed=0, rewards={"judge": Score()}))
    assert "return unknown" in text
    assert "judge: unknown" in text


def test_long_texts_are_cut_and_say_how_long_they_were() -> None:
    text = task_as_text(task(CallsGoal(turns=((),)), messages=(Message(role="user", content="é" * 1_000),)))
    assert "é" * 400 + "... (1000 characters)" in text
    assert "é" * 401 not in text


@pytest.mark.parametrize("id", ["apibank/L1-v0", "apibank/L2-v0", "apibank/L3-v0"])
def test_starter_tasks_and_their_episodes_can_be_read(id: str) -> None:
    env: Any = gym.make(id, data="starter").unwrapped
    for index in range(0, 500, 25):
        env.reset(seed=0, options={"task": index})
        assert env.task.messages[-1].content[:300] in task_as_text(env.task)
        *_, info = env.step(env.oracle_action())
        assert "terminated; return 1.000" in episode_as_text(info["episode"])

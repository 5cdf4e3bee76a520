"""A row of a training batch: one episode as the tokens that a model read and wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from callgym.dialects import Dialect, get_dialect
from callgym.dialects.chat_template import ChatTemplate, ends_call
from callgym.envs.base import ToolEnv
from callgym.episode import Episode
from callgym.rollouts.stage import Act, EnvView, Failure, Turn
from callgym.trainers.action_writer import Written
from callgym.trainers.conversation import ChatRenderer, Conversation, TextRenderer, make_renderer

__all__ = ["Renderers", "TrainingRow"]


class Renderers:
    """How conversations are written, and what the model's tokens say, by the episode's dialect."""

    def __init__(self, tokenizer: Any, template: ChatTemplate) -> None:
        self.tokenizer = tokenizer
        self._template = template
        self._made: dict[Dialect, TextRenderer | ChatRenderer] = {}

    def of(self, dialect: Dialect) -> TextRenderer | ChatRenderer:
        """The renderer for a dialect, which differs from task to task in some environments."""
        found = self._made.get(dialect)
        if found is None:
            made = make_renderer(self.tokenizer, dialect, template=self._template)
            found = self._made[dialect] = made
        return found

    def text(self, written: Written, env: ToolEnv | EnvView) -> str:
        """An action's text: without the token that ended it, unless that is a part of calls."""
        dialect = self._written_in(env.dialect)
        left_out = written.ended is not None and not ends_call(self.tokenizer, dialect, written.ended)
        ids = written.ids[:-1] if left_out else written.ids
        text: str = self.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def _written_in(self, dialect: Dialect) -> Dialect:
        """The dialect that the model writes, where the environment reads any."""
        found = self._template.detection.dialect
        return get_dialect(found) if found and dialect.name == "auto" else dialect


@dataclass
class TrainingRow:
    """One episode, from its prompt's reference to its record."""

    key: int
    """Its place in the batch."""
    id: str
    """The registered id."""
    task_id: str
    """The task."""
    conversation: Conversation = field(default_factory=lambda: Conversation([]))
    """The tokens; no prompt before the episode has begun."""
    outcome: Episode | Failure | None = None
    """The record, or why there is none; None while it is played."""
    cut: bool = False
    """Whether the last action was cut off by its writer's limit."""
    _env: ToolEnv | EnvView | None = None
    _messages: list[dict[str, Any]] = field(default_factory=list)
    _tools: list[dict[str, Any]] = field(default_factory=list)
    _ended: int | None = None

    def begin(self, turn: Turn, renderers: Renderers) -> None:
        """Take the first observation; of an episode that begins again nothing is kept."""
        assert turn.env is not None
        self._env, self.cut = turn.env, False
        self._messages, self._tools = list(turn.messages), list(turn.tools or ())
        renderer = renderers.of(turn.env.dialect)
        self.conversation = Conversation(renderer.prompt(turn.observation, self._messages, self._tools))

    def act(self, written: Written, renderers: Renderers) -> Act:
        """Append what the model wrote, and say it to the environment."""
        assert self._env is not None
        opened = renderers.of(self._env.dialect).opened(self.conversation.ids)
        self.conversation.add_action(written.ids, written.logprobs)
        self._ended, self.cut = written.ended, written.cut
        return Act(self.key, opened + renderers.text(written, self._env), written.cut)

    def go_on(self, turn: Turn, renderers: Renderers, fits: Callable[[Conversation, int], bool]) -> bool:
        """Append what came back; nothing where it does not fit any more, which is False."""
        assert self._env is not None
        renderer = renderers.of(self._env.dialect)
        new = list(turn.messages)
        following = renderer.following(turn.observation, self._messages, new, self._tools, self._ended)
        if not fits(self.conversation, len(following)):
            return False
        self.conversation.add_observation(following)
        self._messages += renderer.settled(new)
        if turn.tools is not None:
            self._tools = list(turn.tools)
        return True

    def finish(self, outcome: Episode | Failure, filler: int) -> None:
        """Take the record; what broke, or has no token of the model's, is left out of the loss.

        Args:
            outcome: The record, or why there is none.
            filler: The token that stands where a row would have none, which trainers cannot take.
        """
        self.outcome = outcome
        conversation = self.conversation
        if not conversation.prompt_ids:
            conversation.prompt_ids = [filler]
        if not conversation.completion_ids:
            conversation.add_observation([filler])
        if isinstance(outcome, Failure):
            conversation.leave_out()

    def logprobs(self) -> list[float | None]:
        """As long as the completion, where other rows of the batch have log-probabilities."""
        known = self.conversation.logprobs
        return known + [0.0] * (len(self.conversation.completion_ids) - len(known))

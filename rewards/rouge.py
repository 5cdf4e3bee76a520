"""ROUGE-L: how much of a reference text a reply says, as API-Bank scores its replies.

    >>> round(rouge_l("The alarm is set. Sleep well.", "Your alarm is set."), 4)
    0.6

The number is the F of the Python package ``rouge`` 1.0.1, metric "rouge-l", to the last bit. It is not
the ROUGE-L of other packages: sentences end at every full stop, a word counts once however often it
is said, and case and punctuation count. Its time grows with the reply alone where the reference is
short, so a reply may be as long as a policy cares to write.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from callgym.episode import Episode, Score
from callgym.errors import DataError
from callgym.goal import TextGoal
from callgym.task import Task

__all__ = ["common_words", "f_of", "official_rouge_l", "reply_rouge", "rouge_l"]

NOT_ASKED = Score(applies=False, explanation={"reason": "the task asks for no text"})


def reply_rouge(task: Task, episode: Episode) -> Score:
    """``rouge_l`` of the final answer against the goal's reference text; None where that cannot be scored.

    An episode that was truncated has no final answer.
    """
    goal = task.goal_of(TextGoal)
    if goal is None:
        return NOT_ASKED
    reference = _without_blanks(goal.reference)
    if not reference:
        return Score(value=None, explanation={"reason": "the reference text has no words"})
    # The package adds 1e-8 to a denominator, which keeps an equal text from scoring 1.
    common, asked, said = common_words(reference, _without_blanks(episode.final_answer))
    explanation: dict[str, JsonValue] = {"common": common, "reference_words": asked, "reply_words": said}
    return Score(value=round(f_of(common, asked, said), 6), explanation=explanation)


def _without_blanks(text: str) -> str:
    """The text without blank pieces between its full stops, which the package takes for a word."""
    return ".".join(piece for piece in text.split(".") if piece.strip())


def official_rouge_l(reference: str, reply: str, level: int) -> float | None:
    """What API-Bank's evaluator gives one reply, from 0 to 1; None where the reference cannot be scored.

    Levels 1 and 2 round to four places; level 3 does not, and takes "User:" and "AI:" out of the reply
    first. A reply without a word gets 0. (Officially an empty reply gets 0, and one of nothing but full
    stops ends the run.)

    Args:
        reference: The recorded reply.
        reply: The policy's.
        level: API-Bank's level, 1, 2 or 3.
    """
    if not _sentences(reference):
        return None
    if level == 3:
        return rouge_l(reference, reply.replace("User:", "").replace("AI:", "").strip())
    return round(rouge_l(reference, reply), 4)


def rouge_l(reference: str, reply: str) -> float:
    """The F of package ``rouge`` 1.0.1 for one pair of texts; 0 for a reply of nothing but full stops.

    Raises:
        DataError: The reference is empty, or nothing but full stops.
    """
    return f_of(*common_words(reference, reply))


def f_of(common: int, reference_words: int, reply_words: int) -> float:
    """The package's F from the numbers of different words: in common, in the reference, in the reply."""
    if not reply_words:
        return 0.0
    recall, precision = common / reference_words, common / reply_words
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def common_words(reference: str, reply: str) -> tuple[int, int, int]:
    """Numbers of different words: in the longest common subsequences, in the reference, in the reply.

    Raises:
        DataError: The reference is empty, or nothing but full stops.
    """
    wanted, said = _sentences(reference), _sentences(reply)
    if not wanted:
        raise DataError(f"a reference text must hold more than full stops, not {reference[:80]!r}")
    reference_words = {word for sentence in wanted for word in sentence}
    reply_words = {word for sentence in said for word in sentence}
    # A word that is not in the reference changes no cell of a table: the way back passes over it.
    # What is left of two sentences is often the same, and the same adds nothing.
    telling = dict.fromkeys(tuple(word for word in sentence if word in reference_words) for sentence in said)
    common: set[str] = set()
    for sentence in dict.fromkeys(wanted):
        missing = set(sentence) - common
        for words in telling:
            if not missing:
                break
            if not missing.isdisjoint(words):
                found = _common_words(sentence, words)
                common |= found
                missing -= found
    return len(common), len(reference_words), len(reply_words)


def _sentences(text: str) -> list[tuple[str, ...]]:
    """The words of each piece between full stops; a blank piece is one empty word, an empty one is none."""
    return [tuple(piece.split()) or ("",) for piece in text.split(".") if piece]


def _common_words(reference: Sequence[str], reply: Sequence[str]) -> set[str]:
    """The words of the longest common subsequence that the package rebuilds, of several as long ones.

    The table of lengths is kept as one integer a column (Hyyrö 2004, "Bit-parallel LCS-length
    computation revisited"): the lengths in the column after j words of the reply rise from row i to
    i + 1 where bit i of ``columns[j]`` is 0.
    """
    places: dict[str, int] = {}
    for row, word in enumerate(reference):
        places[word] = places.get(word, 0) | 1 << row
    reply = [word for word in reply if word in places]
    everywhere = (1 << len(reference)) - 1
    column = everywhere
    columns = [column]
    for word in reply:
        hits = column & places[word]
        column = ((column + hits) | (column - hits)) & everywhere
        columns.append(column)
    found: set[str] = set()
    i, j = len(reference), len(reply)
    length = i - column.bit_count()
    while length:
        if reference[i - 1] == reply[j - 1]:
            found.add(reference[i - 1])
            i, j, length = i - 1, j - 1, length - 1
        elif length > i - (columns[j - 1] & ((1 << i) - 1)).bit_count():
            i -= 1
        else:
            j -= 1
    return found

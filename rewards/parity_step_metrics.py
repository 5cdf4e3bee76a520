"""The parity suite of the step metrics: official verdicts of alpha-UMi, the ``rouge`` package and Seal-Tools.

    callgym parity step-metrics FOLDER

The fixtures (JSON Lines, gzipped or not) are described beside them; each row was made by running the official
code. Where that stopped, the row holds the error, and ours must be the same.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from callgym.errors import DataError
from callgym.parity import Case
from callgym.rewards import alpha_umi, seal_tools
from callgym.rewards.rouge import rouge_l

__all__ = ["cases"]

_GIVEN = ("case", "format", "source_index", "mutation", "tools", "reference", "prediction")

Compared = tuple[Any, Any]
"""(What the official code said, what ours says)."""


def cases(folder: Path) -> Iterator[Case]:
    """Every case of the fixture files that the folder holds.

    Args:
        folder: The fixtures (``alpha_umi_pairs.jsonl.gz``, ``rouge_l_pairs.jsonl``, ...).

    Raises:
        DataError: There are no fixtures, or a row is damaged.
    """
    compare: dict[str, Callable[[dict[str, Any]], Compared]] = {
        "alpha_umi_pairs": _alpha_umi_pair,
        "alpha_umi_aggregates": _alpha_umi_corpus,
        "rouge_l_pairs": _rouge_l,
        "seal_tools_pairs": _seal_tools_pair,
        "seal_tools_aggregates": _seal_tools_corpus,
    }
    present = [path for name in compare for path in _files(folder, name)]
    if not present:
        raise DataError(f"{folder} holds none of {', '.join(f'{name}.jsonl' for name in compare)}, nor one as .gz")
    for path in present:
        name = path.name.partition(".")[0]
        for number, line in enumerate(_lines(path), 1):
            try:
                row = json.loads(line)
                yield Case(f"{name}.jsonl", row["case"], *compare[name](row))
            except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
                raise DataError(f"{path}, row {number}: not a fixture ({type(error).__name__}: {error})") from error


def _files(folder: Path, name: str) -> list[Path]:
    """The file, plain or else gzipped."""
    return [path for end in ("jsonl", "jsonl.gz") if (path := folder / f"{name}.{end}").is_file()][:1]


def _lines(path: Path) -> list[str]:
    """The lines of a text file that may be gzipped.

    Raises:
        DataError: It is damaged.
    """
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    except (EOFError, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}); was it cut short? Fetch it again.") from error
    return [line for line in text.split("\n") if line.strip()]


def _alpha_umi_pair(row: dict[str, Any]) -> Compared:
    score = alpha_umi.score_step(row["reference"], row["prediction"], row["tools"], row["format"])
    official = {key: value for key, value in row.items() if key not in _GIVEN}
    found: dict[str, Any] = {"parsed_ref": _parsed(score.reference)}
    if score.parse_error is not None:
        return official, found | {"exception_pred": _class_of(score.parse_error)}
    return official, found | {
        "parsed_pred": _parsed(score.prediction),
        "plan_match": score.plan_match,
        "hallucination": score.hallucination,
        "action_em": score.action_match,
        "arg_f1": score.argument_f1,
        "arg_bucket": score.bucket,
        "rouge_l": score.rouge_l if score.rouge_error is None else f"EXCEPTION:{_class_of(score.rouge_error)}",
    }


def _parsed(step: alpha_umi.StepText) -> list[str | None]:
    return [step.plan, step.action, step.arguments, step.answer]


def _class_of(error: str) -> str:
    return error.partition(":")[0]


def _alpha_umi_corpus(row: dict[str, Any]) -> Compared:
    pairs = row["pairs"]
    score = alpha_umi.corpus_score(
        alpha_umi.score_step(pair["reference"], pair["prediction"], pair["tools"], row["format"]) for pair in pairs
    )
    return row["official"], score.official() or {"exception": score.official_error}


def _rouge_l(row: dict[str, Any]) -> Compared:
    reference, reply = row["reference"], row["hypothesis"]
    empty = not (reference.strip(".") and reply.strip("."))
    return row["rouge_l_f"], "EXCEPTION:ValueError" if empty else rouge_l(reference, reply)


def _seal_tools_pair(row: dict[str, Any]) -> Compared:
    parsed = seal_tools.parse_calls(row["output"])
    score = seal_tools.corpus_score([seal_tools.official_counts(row["gold"], parsed)])
    return [row["parsed"], row["official"]], [-1 if parsed is None else parsed, score.official()]


def _seal_tools_corpus(row: dict[str, Any]) -> Compared:
    items = row["items"]
    score = seal_tools.corpus_score(
        seal_tools.official_counts(item["gold"], seal_tools.parse_calls(item["output"])) for item in items
    )
    return row["official"], score.official()

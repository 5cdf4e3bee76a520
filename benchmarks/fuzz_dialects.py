"""Coverage-guided fuzzing of every dialect's parser (atheris, libFuzzer): ``python benchmarks/fuzz_dialects.py``.

Each dialect runs in a process of its own, from the texts of its conformance table and a dictionary of its marks.
After every execution: no exception; every position lies in the text; what was read goes through JSON and back. After
one in eight: what was read without a fault and can be written is read the same again. The table says executions, edges
covered, memory at a tenth of the run and at its end, and the slowest input. ``--runs`` is what each dialect gets::

    pip install 'callgym[fuzz]'
    python benchmarks/fuzz_dialects.py --runs 500000 --dialect hermes --dialect glm
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_SOME = 8
TABLES = Path(__file__).resolve().parent.parent / "tests" / "conformance"
MARKS = (
    "<think>",
    "</think>",
    '{"name": "f", "arguments": {"a": 1}}',
    '\\"',
    "\\u0041",
    "NaN",
    "1e999",
    "```json",
    "null",
)


def main() -> None:
    """Fuzz and print the table; exit status 1 where a run ended badly."""
    arguments = _arguments()
    if arguments.child:
        _fuzz(arguments.child, arguments.runs, arguments.seed, Path(arguments.folder))
        return
    from callgym.dialects import DIALECTS

    total, bad = 0, 0
    heads = ("runs", "edges", "MB at 10 %", "at end", "slowest ms")
    print(f"{'dialect':<16}{''.join(f'{head:>11}' for head in heads)}  its characters, and its beginning")
    for name in arguments.dialect or DIALECTS:
        with tempfile.TemporaryDirectory() as folder:
            row = _run(name, arguments.runs, arguments.seed, Path(folder))
        total += row.get("runs", 0)
        bad += row["status"] != 0
        print(_line(name, row), flush=True)
        if row["status"]:
            print(row["output"], flush=True)
    print(f"{total:,} executions, {bad} runs ended badly")
    sys.exit(1 if bad else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20_000, help="executions a dialect")
    parser.add_argument("--dialect", action="append", help="only this one; may be given again")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(name: str, runs: int, seed: int, folder: Path) -> dict[str, Any]:
    """Fuzz one dialect in a process of its own."""
    corpus = folder / "corpus"
    corpus.mkdir()
    _write_corpus(name, corpus)
    (folder / "dictionary").write_text(_dictionary(name), encoding="utf-8")
    command = [
        sys.executable,
        __file__,
        "--child",
        name,
        "--runs",
        str(runs),
        "--folder",
        str(folder),
        "--seed",
        str(seed),
    ]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder, check=False)
    stats = folder / "stats.json"
    row: dict[str, Any] = json.loads(stats.read_text()) if stats.exists() else {}
    edges = re.findall(r"\bcov: (\d+)", done.stderr)
    crashes = [path.read_bytes()[:300] for path in folder.glob("crash-*")] + [p.name for p in folder.glob("timeout-*")]
    output = f"{done.stdout[-1500:]}\n{done.stderr[-3000:]}\n{crashes}"
    return {**row, "edges": int(edges[-1]) if edges else 0, "status": done.returncode, "output": output}


def _line(name: str, row: dict[str, Any]) -> str:
    slowest = row.get("slowest", {"ms": 0.0, "length": 0, "beginning": ""})
    memory = f"{row.get('early_mb', 0):>11.0f}{row.get('late_mb', 0):>11.0f}"
    counts = f"{row.get('runs', 0):>11,}{row['edges']:>11}{memory}{slowest['ms']:>11.2f}"
    return f"{name:<16}{counts}  {slowest['length']:>5} {slowest['beginning'][:60]!r}"


def _write_corpus(name: str, corpus: Path) -> None:
    table = TABLES / f"{name}.jsonl"
    if not table.exists():
        return
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines()):
        text = json.loads(line)["text"]
        if isinstance(text, str) and len(text) <= 2_000:
            (corpus / str(number)).write_bytes(text.encode("utf-8", "surrogatepass"))


def _dictionary(name: str) -> str:
    from callgym.dialects import DIALECTS

    dialect = DIALECTS[name]
    marks = dict.fromkeys((*dialect.signs, *dialect.control, *MARKS))
    return "".join([f'"{_escaped(mark)}"\n' for mark in marks])


def _escaped(mark: str) -> str:
    return "".join([f"\\x{byte:02x}" for byte in mark.encode()])


def _fuzz(name: str, runs: int, seed: int, folder: Path) -> None:
    import atheris  # type: ignore[import-not-found, unused-ignore]

    with atheris.instrument_imports(include=["callgym.dialects"]):
        from callgym.dialects import get_dialect
    target = _Target(get_dialect(name), runs, folder / "stats.json")
    options = [f"-runs={runs}", f"-dict={folder / 'dictionary'}", "-max_len=4096", "-timeout=5", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, f"-seed={seed}", str(folder / "corpus")], target)
    atheris.Fuzz()


class _Target:
    """One execution, and what is noted of all of them."""

    def __init__(self, dialect: Any, runs: int, stats: Path) -> None:
        self._dialect = dialect
        self._runs = runs
        self._stats = stats
        self._count = 0
        self._early = 0.0
        self._slowest: tuple[float, str] = (0.0, "")

    def __call__(self, data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape" if data[:1] == b"\xff" else "replace")
        start = time.perf_counter()
        parsed = self._dialect.parse(text)
        seconds = time.perf_counter() - start
        if seconds > self._slowest[0]:
            self._slowest = (seconds, text)
        check(self._dialect, text, parsed, again=self._count % _SOME == 0)
        self._count += 1
        if self._count == max(1, self._runs // 10):
            self._early = _resident_mb()
        if self._count % 1_000 == 0 or self._count >= self._runs:
            self._note()

    def _note(self) -> None:
        seconds, text = self._slowest
        slowest = {"ms": seconds * 1e3, "length": len(text), "beginning": text[:200]}
        row = {"runs": self._count, "early_mb": self._early, "late_mb": _resident_mb(), "slowest": slowest}
        self._stats.write_text(json.dumps(row))


def check(dialect: Any, text: str, parsed: Any, *, again: bool = True) -> None:
    """What holds of every text that was read.

    Args:
        dialect: What read it.
        text: The text.
        parsed: What was read.
        again: Whether to write what was read and to read it again, which costs more than all the rest.

    Raises:
        AssertionError: It does not hold.
    """
    for error in parsed.errors:
        assert 0 <= error.position <= len(text), (error, len(text))
        assert error.message
    for call in parsed.calls:
        assert call.name
        assert json.loads(json.dumps(call.arguments, allow_nan=False)) == call.arguments
        call.to_json()
    if again and parsed.calls and not parsed.errors and all(map(dialect.can_write, parsed.calls)):
        second = dialect.parse(dialect.render_action(parsed.calls))
        assert [c.to_json() for c in second.calls] == [c.to_json() for c in parsed.calls] or not dialect.typed, (
            second,
            parsed,
        )


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()

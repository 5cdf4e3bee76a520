"""Every snippet of README, guides, data cards and documentation is executed, or stands in a table that says why not.

Python runs as it is written, each snippet as a program of its own in an empty folder. Lines of shell run one after the
other in a folder of the file's own; the tables below say what stands in for MODEL, FOLDER and the like, which commands
are made shorter, and which are only checked. No line is passed over in silence: one that fits no table fails.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from callgym.cli import main
from callgym.dialects import DIALECTS

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "tool_backends" / "README.md",
    ROOT / "rollouts" / "README.md",
    ROOT / "callgym" / "dialects" / "README.md",
    *sorted((ROOT / "envs").glob("*/README.md")),
)

# What stands in for what.

CONTINUED = {"README.md": "a tour: each snippet goes on with the variables of those before it"}
"""Files whose Python snippets are one program."""
MODEL_WORDS = r"(?<=--model )(MODEL_OR_FOLDER|MODEL|FOLDER)\b|(?<=hf:)(MODEL|FOLDER)\b"
"""A model of a few thousand parameters, made on the spot."""
SERVER_WORDS = r"(?<=openai:)MODEL@http://localhost:8000/v1"
"""A server on this machine that says "Done." to everything."""
WORKERS = r"(?<=--workers )\d+"
"""Two: Ray waits a minute for processors that a small machine has not."""
OFFICIAL = {"apibank": "api_bank", "bfcl": "bfcl", "when2call": "when2call"}
"""Benchmark to its folder among the official files, for ``--from FOLDER``; they are fetched for ``--data official``."""
PARITY = {"apibank": "api_bank_parity", "bfcl": "bfcl_parity", "when2call": "when2call_parity"}
"""Suite to the folder of its recorded cases."""
SHORTER = {
    "eval": "--episodes 4",
    "near-misses": "--count 6",
    "decisions": "--count 8",
    "export-verl": "--count 4",
    "train": "--steps 1 --batch 4 --group 2 --micro-batch 4 --max-new-tokens 4 --split test",
}
"""Options that are added to a command: the last one given counts."""
INPUT = {"play": "/quit\n", "mcp": ""}
"""What is typed into commands that read from a person or a client."""
BEFORE = {
    "rollouts/README.md": "callgym serve-env apibank/L1-v0 --data starter",
    "docs/rollouts.md": "",
}
"""Commands that a file's text names outside its snippets, and that its snippets need."""
SLOW = {
    "callgym train ": "trains, with torch",
    "--workers ": "starts Ray",
}
"""Parts of lines that run in ``make slow``."""
CHECKED = {
    r"--vllm-mode ": "vLLM needs a GPU; the options are parsed",
    r"--report-to wandb": "sends to a service; the options are parsed",
    r"^callgym parity \w+ FOLDER": "minutes of cases, which tests/test_*parity*.py play; the options are parsed",
    r"^callgym score bfcl .*official": "needs official BFCL episodes, as in tests/test_bfcl_scores.py; parsed",
    r"^(python3 -m venv|\.venv/bin/|\. \.venv/bin/activate|git )": "sets a machine up",
    r"^(pre-commit |torchrun |\w+=\S+ torchrun )": "sets a machine up",
}
"""Lines that are not run, and why; the program's name, options, extras and files are checked."""
NEED_OFFICIAL = re.compile(r"--data official|--from FOLDER|--data (DATA|FOLDER)")
"""Lines that are only parsed where the official files are not here."""

# Reading.

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_LANGUAGES = {"python", "sh", "json", "yaml", "toml", "text", "bibtex"}


def blocks(path: Path, language: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    found = [(kind, re.sub(rf"^{indent}", "", code, flags=re.MULTILINE)) for indent, kind, code in _BLOCK.findall(text)]
    return [code for kind, code in found if kind == language]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def programs(path: Path) -> list[str]:
    code = blocks(path, "python")
    return ["\n".join(code)] if name_of(path) in CONTINUED else code


def shell_lines(path: Path) -> list[str]:
    """Whole lines, without what a comment says."""
    joined = [re.sub(r" *\\\n\s*", " ", code) for code in blocks(path, "sh")]
    return [re.sub(r"\s+#\s.*$", "", line) for code in joined for line in code.splitlines() if line.strip()]


def is_slow(line: str) -> bool:
    return any(part in line for part in SLOW)


def reason_not_to_run(line: str) -> str | None:
    return next((reason for pattern, reason in CHECKED.items() if re.search(pattern, line)), None)


# Python.

PROGRAMS = [pytest.param(code, id=f"{name_of(path)}-{n}") for path in FILES for n, code in enumerate(programs(path))]
_VALUE = re.compile(r"print\(.*\)  # (.+)$", re.MULTILINE)
_LITERAL = re.compile(r"-?\d|['\"\[{(]|True\b|False\b|None\b")


def printed_values(code: str) -> list[str]:
    """What comments say is printed, as patterns: a value, in which three dots stand for anything, or one word."""
    said = [text.strip() for text in _VALUE.findall(code)]
    values = [
        text if _LITERAL.match(text) else text.rstrip(":;,") for text in said if _LITERAL.match(text) or " " not in text
    ]
    return [".*".join(map(re.escape, value.split("..."))) for value in values]


@pytest.mark.parametrize("code", PROGRAMS)
def test_a_snippet_runs(code: str, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for pattern in printed_values(code):
        assert re.search(pattern, done.stdout), f"{pattern} is not in {done.stdout}"


# Shell.


@dataclass
class Desk:
    """A folder in which the lines of one file run, and what stands in for what they name."""

    folder: Path
    model: Callable[[], Path]
    server: str
    official: Path | None
    said: str = ""
    """What the last line printed."""
    url: str = ""
    """Where the last server listens."""
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    """Files that stand in for those of the reader."""
    fetched: bool = False
    told: Counter[str] = field(default_factory=Counter)
    """How many lines were run or checked, and how."""

    def run(self, line: str) -> None:
        self.prepare(line)
        if (reason := reason_not_to_run(line)) is not None or (self.official is None and NEED_OFFICIAL.search(line)):
            check_line(line)
            self.told[reason or "the official files are not here"] += 1
            return
        word = line.split()[0]
        if line.startswith(("callgym serve", "callgym serve-env")):
            self.serve(line)
        elif "|" in line or word == "curl":
            self.through_shell(line)
        elif word == "callgym":
            self.command(line)
        else:
            check_line(line)
            self.told[f"{word}: checked"] += 1
            return
        self.told["run"] += 1

    def prepare(self, line: str) -> None:
        """Files that a line reads and no line before it wrote."""
        for word in MADE.keys() & set(shlex.split(line)):
            path = self.folder / word
            if f"--out {word}" in line:
                if word in self.made:  # the line's own file is a new one
                    path.unlink()
                    self.made.remove(word)
            elif not path.exists():
                MADE[word](path)
                self.made.add(word)
        if "official" in line and self.official is not None and not self.fetched:
            self.fetched = True
            invoke(["fetch", "apibank", "--from", str(self.official / OFFICIAL["apibank"])])

    def stand_ins(self, line: str) -> str:
        line = re.sub(SERVER_WORDS, f"tiny@{self.server}", line)
        line = re.sub(WORKERS, "2", line)
        if re.search(MODEL_WORDS, line):
            line = re.sub(MODEL_WORDS, str(self.model()), line)
        if self.official is not None and (fetched := re.search(r"fetch (\w+) --from FOLDER", line)) is not None:
            line = line.replace("FOLDER", str(self.official / OFFICIAL[fetched[1]]))
        return line

    def command(self, line: str) -> None:
        words = shlex.split(self.stand_ins(line))[1:]
        done = invoke([*words, *shlex.split(SHORTER.get(words[0], ""))], INPUT.get(words[0]))
        assert done.exit_code == 0, f"{line}: exit status {done.exit_code}\n{done.output}\n{done.exception!r}"
        self.said = done.stdout

    def through_shell(self, line: str) -> None:
        line = re.sub(r"(http://)?(localhost|127\.0\.0\.1):8000", self.url, self.stand_ins(line))
        if shlex.split(line)[0] == "curl" and shutil.which("curl") is None:
            pytest.skip("curl is not installed")
        if re.search(r"\b(SESSION|ID)\b", line):
            line = re.sub(r"\b(SESSION|ID)\b", session_of(self.said), line)
        line = re.sub(r"^curl ", "curl --fail ", line)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
        if '"session"' in done.stdout:
            self.said = done.stdout

    def serve(self, line: str) -> None:
        """Start a server at a free port; it runs until the file's last line."""
        command = [str(Path(sys.executable).parent / "callgym"), *shlex.split(line)[1:], "--port", "0", "--json"]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.running.append(process)
        assert process.stdout is not None
        self.url = json.loads(process.stdout.readline())["url"]

    def close(self) -> None:
        for process in self.running:
            process.terminate()
            process.communicate(timeout=20)


def session_of(answer: str) -> str:
    """The session that a server's answer names, at whatever depth."""
    found = re.search(r'"session": ?"([^"]+)"', answer)
    assert found is not None, f"no session in {answer}"
    return found[1]


def invoke(words: list[str], typed: str | None = None) -> Any:
    return CliRunner().invoke(main, words, input=typed)


def check_line(line: str) -> None:
    """That what a line names exists: a command with its options, a target, a script, extras."""
    words = [word for word in shlex.split(line) if not re.fullmatch(r"[A-Z_]+=\S*", word)]
    program, rest = words[0].removeprefix(".venv/bin/"), words[1:]
    if program == "callgym":
        check_command(rest)
    elif program == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert {word for word in rest if "=" not in word} <= set(targets), line
    elif program in ("pip", "pip3"):
        check_extras(line)
    elif program in ("python", "python3") and rest[0] != "-m":
        check_script(rest)
    else:
        assert program in ("git", "pre-commit", "torchrun", "python3", "python", "."), f"{line}: nothing checks it"


def check_command(words: list[str]) -> None:
    """The command reads its options; paths are not looked at, since they are the reader's own."""
    group: click.Command = main
    while isinstance(group, click.Group) and words and not words[0].startswith("-"):
        found = group.get_command(click.Context(group), words[0])  # imports only this one's module
        assert found is not None, f"there is no command {words[0]!r}"
        group, words = found, words[1:]
    known = {option for parameter in group.params for option in (*parameter.opts, *parameter.secondary_opts)}
    named = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert named <= known | {"-h", "--help"}, f"{group.name} has no {sorted(named - known)}"


def check_extras(line: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"(?:callgym|\.)\[([\w,]+)\]", line):
        assert set(extras.split(",")) <= set(project["optional-dependencies"]), line


def check_script(words: list[str]) -> None:
    text = (ROOT / words[0]).read_text(encoding="utf-8")
    for word in words[1:]:
        if re.match(r"--[a-z]", word) and word != "--help":
            name = word.partition("=")[0][2:]
            assert f"--{name}" in text or f"{name.replace('-', '_')}:" in text, f"{words[0]} has no {word}"


def _made_episodes(path: Path) -> None:
    options = ["--policy", "oracle", "--data", "starter", "--episodes", "6", "--out", str(path)]
    assert invoke(["eval", "apibank/L1-v0", *options]).exit_code == 0


def _made_run(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in ("episodes_before.jsonl", "episodes_after.jsonl"):
        _made_episodes(folder / name)


def _made_records(path: Path) -> None:
    from callgym import ToolCall
    from callgym.envs.base import make_tool_env
    from callgym.tool_backends import PythonBackend
    from callgym.tool_backends.recording import recorded

    task = make_tool_env("apibank/L1-v0", data="starter").tasks[0]
    session = recorded(PythonBackend({"Add": lambda world, a: a}), str(path)).open(task, seed=0)
    session.call(ToolCall(name="Add", arguments={"a": 1}))
    session.close()


MADE: dict[str, Callable[[Path], Any]] = {
    "action.txt": lambda path: path.write_text('[TOOL_CALLS]f[ARGS]{"a": 1}', encoding="utf-8"),
    "calls.sqlite": _made_records,
    **dict.fromkeys(("episodes.jsonl", "before.jsonl", "after.jsonl"), _made_episodes),
    "runs/demo": _made_run,
}
"""Files that lines read, and what makes them."""


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    folder = tmp_path_factory.mktemp("model")

    def model() -> Path:
        if not any(folder.iterdir()):
            pytest.importorskip("transformers")
            from callgym.trainers.tiny import TinyPolicyConfig, build_tiny_policy
            from callgym.trainers.warmup import oracle_texts

            texts = oracle_texts("apibank/L1-v0", limit=20, data="starter", split="test")
            made = build_tiny_policy(
                texts, TinyPolicyConfig(vocabulary=400, hidden=16, layers=1, heads=2, context=8192)
            )
            for part in made:
                part.save_pretrained(folder)
        return folder

    return model


@pytest.fixture(scope="session")
def chat_server() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Done."}}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def desk(
    tmp_path: Path,
    tiny_model: Callable[[], Path],
    chat_server: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Desk]:
    try:
        official: Path | None = request.getfixturevalue("official_data")
    except pytest.skip.Exception:
        official = None
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Desk(folder, tiny_model, chat_server, official)
    yield made
    made.close()


def _files_with(slow: bool) -> list[Any]:
    return [
        pytest.param(path, id=name_of(path))
        for path in FILES
        if any(is_slow(line) == slow for line in shell_lines(path))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", _files_with(slow=False))
def test_the_commands_of_a_file_run(path: Path, desk: Desk) -> None:
    lines = [line for line in shell_lines(path) if not is_slow(line)]
    if BEFORE.get(name_of(path)):
        desk.serve(BEFORE[name_of(path)])
    for line in lines:
        desk.run(line)
    print(f"{name_of(path)}: {dict(desk.told)}")
    assert sum(desk.told.values()) == len(lines)


@pytest.mark.slow
@pytest.mark.parametrize("path", _files_with(slow=True))
def test_the_slow_commands_of_a_file_run(path: Path, desk: Desk) -> None:
    lines = [line for line in shell_lines(path) if is_slow(line)]
    for line in lines:
        desk.run(line)
    assert sum(desk.told.values()) == len(lines)


def test_a_slow_command_has_its_options() -> None:
    for path in FILES:
        for line in filter(is_slow, shell_lines(path)):
            check_line(line)


# The rest.


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_block_is_of_a_kind_that_is_tested(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    fences = re.findall(r"^ *```", text, re.MULTILINE)
    found = [kind for _, kind, _ in _BLOCK.findall(text)]
    assert len(fences) == 2 * len(found)
    assert set(found) <= _LANGUAGES
    for code in blocks(path, "json"):
        json.loads(code)
    for code in blocks(path, "toml"):
        tomllib.loads(code)
    yaml = pytest.importorskip("yaml")
    for code in blocks(path, "yaml"):
        yaml.safe_load(code)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_command_that_the_text_names_exists(path: Path) -> None:
    text = re.sub(_BLOCK, "", path.read_text(encoding="utf-8"))
    inline = re.findall(r"`(callgym [^`]+|python [\w/]+\.py[^`]*|pip install [^`]+|make [a-z]+[^`]*)`", text)
    indented = re.findall(r"^    (callgym [^#\n]*)", text, re.MULTILINE)
    for line in (*inline, *indented):
        line = " ".join(line.split())
        if re.match(r"callgym ([a-z-]+ )*[a-z-]+( \||$)|callgym \.\.\.", line) and "|" in line:
            continue  # `callgym records list | show` names several at once
        check_line(re.sub(r"\.\.\.|\[|\](?!')", " ", line) if "pip" not in line else line)


def test_the_guide_of_the_dialects_names_each() -> None:
    guide = (ROOT / "callgym" / "dialects" / "README.md").read_text(encoding="utf-8")
    assert [name for name in DIALECTS if f"`{name}`" not in guide and f'"{name}"' not in guide] == []

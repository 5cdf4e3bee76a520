"""The official BFCL package in this process, to be measured beside ours.

It is installed without its dependencies into an environment of its own, with nothing but what its checkers import;
that environment's packages come last on ``sys.path``, so that all else is the same for both. In place of the table
of models, which would import every provider's client, stands one in which every model writes names as they are.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import sysconfig
import types
import venv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

__all__ = ["PACKAGE", "Reference", "load_reference"]

PACKAGE = "bfcl-eval==2026.3.23"
NEEDED = (
    "tree_sitter==0.21.3",
    "tree-sitter-java==0.21.0",
    "tree-sitter-javascript==0.21.4",
    "mpmath==1.3.0",
    "tenacity>=8.5",
    "filelock",
)
"""What the decoders, the checkers and the executable classes import."""
# Releases matter, and both sides are to run on the same ones, whatever this environment has.
_FIRST = ("tree_sitter", "tree_sitter_java", "tree_sitter_javascript")
_MODEL = "model"


def load_reference(folder: Path) -> Reference:
    """The official package, installed in ``folder`` if it is not there yet."""
    packages = _packages(folder)
    wanted = {_name(line) for line in (PACKAGE, *NEEDED)}
    if not wanted <= {_name(found.metadata["Name"]) for found in distributions(path=[str(packages)])}:
        print(f"installing {PACKAGE} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", PACKAGE, *NEEDED], check=True)
    # The package makes folders for its results where this points.
    os.environ["BFCL_PROJECT_ROOT"] = str(folder / "project")
    sys.path.insert(0, str(packages))
    for name in _FIRST:
        importlib.import_module(name)
    sys.path.remove(str(packages))
    sys.path.append(str(packages))
    models: Any = types.ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = defaultdict(lambda: types.SimpleNamespace(underscore_to_dot=False))
    sys.modules[models.__name__] = models
    return Reference()


def _packages(folder: Path) -> Path:
    scheme = "nt" if os.name == "nt" else "posix_prefix"
    return Path(sysconfig.get_path("purelib", scheme, {"base": str(folder), "platbase": str(folder)}))


def _name(requirement: str) -> str:
    return requirement.partition("=")[0].rstrip("<>~").lower().replace("_", "-")


class Reference:
    """What the official evaluation of one entry calls, its own decoding included."""

    def __init__(self) -> None:
        checkers = "bfcl_eval.eval_checker"
        handler = importlib.import_module("bfcl_eval.model_handler.utils")
        utils = importlib.import_module("bfcl_eval.utils")
        enums = importlib.import_module("bfcl_eval.constants.enums")
        self._decode = handler.default_decode_ast_prompting
        self._decode_execute = handler.default_decode_execute_prompting
        self._is_format = utils.is_function_calling_format_output
        self._is_empty = utils.is_empty_output
        self._check = importlib.import_module(f"{checkers}.ast_eval.ast_checker").ast_checker
        self._turns = importlib.import_module(f"{checkers}.multi_turn_eval.multi_turn_utils")
        self._check_turns = importlib.import_module(f"{checkers}.multi_turn_eval.multi_turn_checker").multi_turn_checker
        self._languages = {name: getattr(enums.Language, name.upper()) for name in ("python", "java", "javascript")}
        self._formats = {name: getattr(enums.ReturnFormat, name.upper()) for name in ("python", "java", "javascript")}

    def judge(self, text: str, category: str, language: str, functions: Sequence[Mapping[str, Any]], gold: Any) -> bool:
        """Decode a text and check it; what raises is not valid."""
        try:
            decoded = self._decode(text, self._formats[language], False)
        except Exception:
            return category.endswith("irrelevance")
        if category.endswith("relevance"):
            return bool(self._is_empty(decoded)) == category.endswith("irrelevance")
        if not self._is_format(decoded):
            return False
        try:
            return bool(self._check(functions, decoded, gold, self._languages[language], category, _MODEL)["valid"])
        except Exception:
            return False

    def judge_turns(self, entry: Mapping[str, Any], gold: Any, turns: Any) -> bool:
        """Run and check decoded calls."""
        category = entry["id"].rsplit("_", 1)[0]
        return len(turns) == len(gold) and bool(self._check_turns(turns, gold, entry, category, _MODEL)["valid"])

    def judge_outputs(self, entry: Mapping[str, Any], gold: Any, outputs: Any) -> bool:
        """Decode, run and check replies."""
        if type(outputs) is not list or len(outputs) != len(gold):
            return False
        return self.judge_turns(
            entry, gold, [[calls for reply in turn if (calls := self._calls(reply))] for turn in outputs]
        )

    def _calls(self, reply: Any) -> list[str]:
        try:
            calls: list[str] = self._decode_execute(reply, False)
        except Exception:
            return []
        return [] if self._turns.is_empty_execute_response(calls) else calls

    def open(self, entry: Mapping[str, Any]) -> None:
        """Make and load the instances of an entry."""
        long_context = "long_context" in entry["id"]
        self._turns.execute_multi_turn_func_call(
            [], entry["initial_config"], entry["involved_classes"], _MODEL, entry["id"], long_context
        )

    def forget(self) -> None:
        """Drop all instances: the package keeps them as long as the process lives."""
        names = vars(self._turns)
        for name in [name for name in names if name.endswith("_instance")]:
            del names[name]

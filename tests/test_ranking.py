"""Tool search: words and meaning, the official tool found, and queries of any kind answered."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from callgym import ConfigurationError
from callgym.envs.apibank.simulator.search_engine import best_documents, keyword_tokens
from callgym.errors import MissingPackageError
from callgym.tool_backends import ranking
from callgym.tool_backends.ranking import Index, LexicalRanker, MiniLmRanker, best_matches, get_ranker

TOOLS = (
    "add alarmLets an alarm ring at a moment of your choice.",
    "query stockTells what a share, known by its stock code, had as its price on some date.",
    "delete alarmTakes an alarm away again, by the time at which it rings.",
    "GetTodayTells the current date.",
)


@pytest.fixture(scope="module")
def minilm() -> MiniLmRanker:
    try:
        return MiniLmRanker()
    except MissingPackageError as error:
        pytest.skip(str(error))


def rows_of(folder: Path, *path: str) -> Any:
    file = folder.joinpath(*path)
    if not file.is_file():
        pytest.skip(f"{file} is not here")
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if file.suffix == ".jsonl" else json.loads(text)


def found(index: Index, row: dict[str, Any], names: Sequence[str]) -> tuple[str | None, str]:
    """The tool found and the official one."""
    best = best_matches(index.scores(row["query_embedded"]), 1)
    official = row["official_names"]
    return names[best[0]] if best else None, official if isinstance(official, str) else official[-1]


class FirstWord:
    """A ranker of the user's own."""

    name = "first word"

    def index(self, texts: Sequence[str]) -> FirstWordIndex:
        return FirstWordIndex([text.split()[0] for text in texts])


class FirstWordIndex:
    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def scores(self, query: str) -> NDArray[np.float64]:
        return np.array([float(word == query) for word in self.words])


# Which ranker.


def test_rankers_are_found_by_name_and_pass_as_they_are() -> None:
    own = FirstWord()
    assert get_ranker("bm25").name == "bm25"
    assert get_ranker("bm25") == LexicalRanker()
    assert get_ranker(own) is own
    assert get_ranker("auto").name in {"bm25", "minilm"}


@pytest.mark.parametrize("spec", ["", "bm26", "no/such/folder", 5, None])
def test_an_unknown_ranker_is_named_with_the_known_ones(spec: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"no ranker .*bm25, minilm, auto"):
        get_ranker(spec)


def test_a_folder_without_a_model_is_named(tmp_path: Path, minilm: MiniLmRanker) -> None:
    with pytest.raises(ConfigurationError, match=r"must hold model\.onnx"):
        get_ranker(tmp_path)
    with pytest.raises(ConfigurationError, match=r"must hold model\.onnx"):
        get_ranker(str(tmp_path))


def test_a_folder_with_a_broken_model_is_named(tmp_path: Path, minilm: MiniLmRanker) -> None:
    (tmp_path / "model.onnx").write_text("no model")
    (tmp_path / "vocab.txt").write_text("[PAD]\n")
    with pytest.raises(ConfigurationError, match=r"model\.onnx cannot be loaded"):
        get_ranker(tmp_path).index(TOOLS)


def test_without_the_extra_auto_compares_words_and_minilm_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "find_spec", lambda module: None)
    assert get_ranker("auto").name == "bm25"
    with pytest.raises(MissingPackageError, match=r"onnxruntime is not installed.*callgym\[search\]"):
        get_ranker("minilm")


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, callgym, callgym.tool_backends.ranking as ranking; ranking.get_ranker('auto');"
        "print({'onnxruntime', 'tokenizers', 'torch'} & set(sys.modules))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"


# Best matches.


def test_best_matches_are_above_nought_best_first_and_the_earlier_of_equals_first() -> None:
    scores = np.array([0.0, 2.0, 3.0, 2.0, -1.0, 3.0])
    assert best_matches(scores, 3) == [2, 5, 1]
    assert best_matches(scores, 9) == [2, 5, 1, 3]
    assert best_matches(scores, 0) == best_matches(np.zeros(4), 2) == best_matches(np.zeros(0), 2) == []


# Words.


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("stock prices", [1]),
        ("QueryStock", [1]),
        ("query_stock", [1]),
        ("today", [3]),
        ("dates", [3, 1]),
        ("remove the alarms", [2, 0]),
        ("weather", []),
        ("", []),
        ("?!", []),
    ],
)
def test_words_find_tools(query: str, expected: list[int]) -> None:
    assert best_matches(LexicalRanker().index(TOOLS).scores(query), 4)[: len(expected) or 4] == expected


@pytest.mark.parametrize(
    "texts", [["alarm"], ["alarm", "stock"], ["alarm"] * 5, ["alarm"] * 4 + ["stock"], ["the alarm", "the"]]
)
def test_a_match_scores_above_nought_however_common_its_word_is(texts: list[str]) -> None:
    """Okapi's own weights are 0 or below for a word of half of the texts."""
    for query in ("alarm", "the", "stock"):
        scores = LexicalRanker().index(texts).scores(query)
        assert [score > 0 for score in scores] == [query in text for text in texts]


def test_equal_texts_score_the_same() -> None:
    scores = LexicalRanker().index([TOOLS[0], TOOLS[1], TOOLS[0]]).scores("set an alarm")
    assert scores[0] == scores[2]
    assert best_matches(scores, 1) == [0]


def test_a_word_asked_twice_counts_once() -> None:
    index = LexicalRanker().index(TOOLS)
    np.testing.assert_array_equal(index.scores("alarm alarms Alarm"), index.scores("alarm"))


@pytest.mark.parametrize("texts", [[], [""], ["", "..."]])
def test_texts_without_words_are_never_found(texts: list[str]) -> None:
    scores = LexicalRanker().index(texts).scores("alarm")
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, np.zeros(len(texts)))


@given(st.text(st.characters(), max_size=60))
@example("\ud800 alarm")
@example("İſK alarm")
def test_any_query_is_answered_with_finite_scores(query: str) -> None:
    scores = LexicalRanker().index(TOOLS).scores(query)
    assert scores.shape == (len(TOOLS),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()


@pytest.mark.parametrize("piece", ["alarm ", "a", "A", "aB", "s", "1 ", "_", "ing"])
def test_a_query_of_a_megabyte_is_read_from_its_beginning(piece: str) -> None:
    scores = LexicalRanker().index(TOOLS).scores("stock " + piece * (1_000_000 // len(piece)))
    assert scores[1] > 0


def test_an_index_is_made_once_for_equal_texts() -> None:
    assert LexicalRanker().index(TOOLS) is LexicalRanker().index(list(TOOLS))
    assert LexicalRanker().index(TOOLS) is not LexicalRanker().index(TOOLS[:2])


def test_a_ranker_survives_being_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(LexicalRanker())) == LexicalRanker()


def test_words_find_most_of_the_tools_that_are_found_officially(official_data: Path) -> None:
    documents = rows_of(official_data, "api_bank_parity", "tool_docs.json")
    rows = rows_of(official_data, "api_bank_parity", "toolsearch.jsonl")
    hits = 0
    for row in rows:
        texts = {name: text for name, text in documents[row["tools"]]["search_text"].items() if name != "ToolSearcher"}
        own, official = found(LexicalRanker().index(list(texts.values())), row, list(texts))
        hits += own == official
    assert hits / len(rows) > 0.7


# Meaning.


def test_meaning_finds_tools_that_share_no_word(minilm: MiniLmRanker) -> None:
    assert best_matches(minilm.index(TOOLS).scores("wake me up at six"), 1)[0] in {0, 2}
    assert best_matches(minilm.index(TOOLS).scores("what does the share cost"), 1) == [1]


def test_official_tools_and_cosines_agree(official_data: Path, minilm: MiniLmRanker) -> None:
    documents = rows_of(official_data, "api_bank_parity", "tool_docs.json")
    for row in rows_of(official_data, "api_bank_parity", "toolsearch.jsonl"):
        texts = {name: text for name, text in documents[row["tools"]]["search_text"].items() if name != "ToolSearcher"}
        index = minilm.index(list(texts.values()))
        own, official = found(index, row, list(texts))
        assert own == official, row["case"]
        scores = dict(zip(texts, index.scores(row["query_embedded"]), strict=True))
        assert scores[official] == max(scores.values())
        for name, cosine in row["top5_cosine"]:
            assert scores[name] == pytest.approx(cosine, abs=1e-4), row["case"]


@pytest.mark.parametrize("query", ["", "\ud800", "alarm " * 50_000, "a" * 1_000_000, "日本 \0 \u200b"])
def test_any_query_has_a_meaning(minilm: MiniLmRanker, query: str) -> None:
    scores = minilm.index(TOOLS).scores(query)
    assert scores.shape == (len(TOOLS),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


def test_many_texts_have_the_vectors_that_each_has_alone(minilm: MiniLmRanker) -> None:
    texts = [f"{text} number {number}" for number in range(40) for text in TOOLS]
    scores = minilm.index(texts).scores("alarm")
    for position in (0, 77, 159):
        assert minilm.index([texts[position]]).scores("alarm")[0] == pytest.approx(scores[position], abs=1e-5)
    assert minilm.index([]).scores("alarm").shape == (0,)


def test_a_folder_of_ones_own_gives_the_same_with_either_tokenizer_file(tmp_path: Path, minilm: MiniLmRanker) -> None:
    model, tokenizer = ranking._packaged_files()
    expected = minilm.index(TOOLS).scores("stock price")
    for name in ("tokenizer.json", "vocab.txt"):
        folder = tmp_path / name.split(".")[0]
        folder.mkdir()
        (folder / "model.onnx").symlink_to(model)
        (folder / name).symlink_to(tokenizer.with_name(name))
        own = get_ranker(str(folder))
        assert own.name == folder.name
        np.testing.assert_allclose(own.index(TOOLS).scores("stock price"), expected, atol=1e-6)


# API-Bank's SearchEngine.


@pytest.fixture
def documents(apibank_data: Path) -> dict[str, Any]:
    table: dict[str, Any] = rows_of(apibank_data, "init_database", "SearchEngine.json")
    return table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ai-assisted jobs, and health.", ["ai-assisted", "jobs", ",", "and", "health", "."]),
        ("what's it? (5g)", ["what", "'s", "it", "?", "(", "5g", ")"]),
        ("cannot don't they'll dogs' o'brien", ["can", "not", "do", "n't", "they", "'ll", "dogs", "'", "o'brien"]),
        ("'quoted' \"words\"", ["'", "quoted", "'", "``", "words", "''"]),
        ("3,36 at 10:30: $5", ["3,36", "at", "10:30", ":", "$", "5"]),
        ("to be ... or--not", ["to", "be", "...", "or", "--", "not"]),
        ("one end. another etc", ["one", "end", ".", "another", "etc"]),
        ("dr. who in the u.s. today", ["dr.", "who", "in", "the", "u.s.", "today"]),
        ("  ", []),
    ],
)
def test_keywords_are_cut_as_nltk_cuts_them(text: str, expected: list[str]) -> None:
    assert keyword_tokens(text) == expected


@pytest.mark.parametrize("piece", ["a ", "',", ",,", "'", "(.", ". ", ".)", "can'", "x", "cannot", "5. ", "\ud800"])
def test_keywords_of_full_length_are_cut(piece: str) -> None:
    assert keyword_tokens((piece * 200_000)[:200_000])


def test_official_documents_are_found(documents: dict[str, Any], official_data: Path) -> None:
    checked = 0
    for row in rows_of(official_data, "api_bank_parity", "calls.jsonl"):
        result = row["official_result"]
        if row["gold_api"] == "SearchEngine" and isinstance(result, dict) and result["api_name"] == "SearchEngine":
            assert best_documents(documents, result["input"]["keyword"]) == result["output"], row["case"]
            checked += 1
    for row in rows_of(official_data, "api_bank_parity", "rules.jsonl"):
        if row["api_name"] == "SearchEngine":
            assert best_documents(documents, row["args"]["keyword"]) == row["result"]["output"], row["case"]
            checked += 1
    assert checked
    for keyword, expected in documents["sample_queries"].items():
        assert best_documents(documents, keyword) == expected


def test_of_equal_documents_the_earlier_is_shown_first() -> None:
    database = {"raw_documents": [{"n": n} for n in range(40)], "tokenized_documents": [["a", "b"]] * 39 + [["c"]]}
    assert best_documents(database, "nothing of these") == [{"n": 0}, {"n": 1}]
    assert best_documents(database, "C") == [{"n": 39}, {"n": 0}]

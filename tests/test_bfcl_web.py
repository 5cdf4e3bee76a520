"""BFCL's web tools over an index, the questions, and the strict and official rules for answers."""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym.call import ToolCall
from callgym.envs.bfcl.files import BfclFiles
from callgym.envs.bfcl.official.agentic import answer_verdict, result_verdict, states_answer
from callgym.envs.bfcl.official.strict_answer import answer_fields, strict_answer
from callgym.envs.bfcl.simulators.base import Refusal
from callgym.envs.bfcl.web import starter
from callgym.envs.bfcl.web.corpus import CORPORA, corpus, corpus_index
from callgym.envs.bfcl.web.index import SearchIndex, build_index, documents_index, open_index
from callgym.envs.bfcl.web.provider import Hit, Page
from callgym.envs.bfcl.web.tasks import load_web
from callgym.envs.bfcl.web.tools import NO_INDEX, WebBackend, WebTools
from callgym.errors import ConfigurationError, DataError
from callgym.schema import ToolSchema
from callgym.task import Task

DOCUMENTS = [
    {
        "url": "https://a.example/otter",
        "title": "Otter",
        "text": "The otter lives in rivers. It eats fish & crabs.\nIt swims.",
    },
    {"url": "https://a.example/heron", "title": "Heron", "text": "Herons stand in rivers. A heron eats fish, too."},
    {"url": "https://a.example/cafe", "title": "Café", "text": "A café sells coffee."},
]


@pytest.fixture(params=["memory", "file"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> SearchIndex:
    if request.param == "memory":
        return documents_index(DOCUMENTS)
    assert build_index(iter(DOCUMENTS), tmp_path / "index.db") == len(DOCUMENTS)
    return open_index(tmp_path / "index.db")


# The index.


@pytest.mark.parametrize(
    ("keywords", "titles"),
    [
        ("otter", ["Otter"]),
        ("HERONS", ["Heron"]),
        ("cafe", ["Café"]),
        ("the river", ["Otter", "Heron"]),
        ("the", ["Otter"]),
        ("zebra", []),
        ("", []),
        ("?!", []),
        ("\ud800", []),
        ('otter" OR "heron', ["Otter", "Heron"]),
        ("NOT otter", ["Otter"]),
        ("title:otter*", ["Otter"]),
        ("otter NEAR(heron, 2) {title text}: ^x", ["Otter", "Heron"]),
        ("'; DROP TABLE pages; --", []),
    ],
)
def test_search_finds_words_and_nothing_else_in_a_query_means_anything(
    index: SearchIndex, keywords: str, titles: list[str]
) -> None:
    assert sorted(hit.title for hit in index.search(keywords)) == sorted(titles)
    assert len(index) == len(DOCUMENTS)


def test_of_equal_documents_the_earlier_comes_first() -> None:
    same = [{"url": f"https://a.example/{n}", "title": "Twin", "text": "alike"} for n in range(20)]
    hits = documents_index(same).search("twin")
    assert [hit.url for hit in hits] == [document["url"] for document in same]


def test_an_index_goes_through_pickling_threads_and_forks(index: SearchIndex) -> None:
    expected = [hit.url for hit in index.search("fish")]
    copied: SearchIndex = pickle.loads(pickle.dumps(index))
    found: list[list[str]] = [[hit.url for hit in copied.search("fish")]]

    def search() -> None:
        found.extend([hit.url for hit in index.search("fish")] for _ in range(20))

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
    with context.Pool(2) as pool:
        found += [[hit.url for hit in hits] for hits in pool.map(index.search, ["fish"] * 8)]
    assert all(urls == expected for urls in found)
    assert [hit.url for hit in index.search("fish")] == expected


def test_an_index_file_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    build_index(DOCUMENTS, path)
    before = path.read_bytes()
    index = open_index(path)
    index.search("fish")
    with index._opened() as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM pages")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["index.db"]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([{"url": "https://a.example", "title": "A"}], "document 1 must be"),
        ([{"url": "https://a.example", "title": "A", "text": 3}], "document 1 must be"),
        (["text"], "document 1 must be"),
        ([{"url": "ftp://a.example", "title": "A", "text": ""}], "document 1: a url begins"),
        ([*DOCUMENTS, DOCUMENTS[0]], "document 4"),
    ],
)
def test_bad_documents_are_named_and_leave_no_file(tmp_path: Path, documents: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        build_index(documents, tmp_path / "index.db")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="build_index"):
        open_index(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("no database" * 100)
    with pytest.raises(DataError, match="is no index"):
        open_index(tmp_path / "text.db")
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE words (a)")
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match="is no index"):
        open_index(tmp_path / "other.db")


# The tools.


def test_results_have_the_official_shapes() -> None:
    tools = WebTools(documents_index(DOCUMENTS))
    results = tools.call("search_engine_query", {"keywords": "fish", "max_results": 1})
    assert [sorted(result) for result in results] == [["body", "href", "title"]]
    bare = WebTools(documents_index(DOCUMENTS), show_snippet=False).call("search_engine_query", {"keywords": "fish"})
    assert [sorted(result) for result in bare] == [["href", "title"]] * 2
    assert tools.call("search_engine_query", {"keywords": "zebra"}) == {
        "error": "Failed to retrieve the search results from server. Please try again later."
    }
    assert tools.call("search_engine_query", {"keywords": "fish", "max_results": 0}) == []
    with pytest.raises(Refusal, match="slice indices"):
        tools.call("search_engine_query", {"keywords": "fish", "max_results": "3"})


def test_a_page_comes_in_three_modes() -> None:
    tools = WebTools(documents_index(DOCUMENTS))
    url = "https://a.example/otter"
    raw = tools.call("fetch_url_content", {"url": url})["content"]
    assert "<title>Otter</title>" in raw
    assert "fish &amp; crabs" in raw
    markdown = tools.call("fetch_url_content", {"url": f"{url}#food", "mode": "markdown"})["content"]
    assert markdown == "# Otter\n\nThe otter lives in rivers. It eats fish & crabs.\n\nIt swims.\n\n"
    plain = tools.call("fetch_url_content", {"url": url, "mode": "truncate"})["content"]
    assert plain == "Otter\nThe otter lives in rivers. It eats fish & crabs.\nIt swims."


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"url": "https://a.example/x"}, "404 Client Error: Not Found for url: https://a.example/x"),
        ({"url": "https://a.example/otter", "mode": "pdf"}, "Unsupported mode: pdf"),
        ({"url": "https://a.example/\ud800"}, "404 Client Error"),
    ],
)
def test_what_cannot_be_fetched_is_an_error(arguments: dict[str, Any], error: str) -> None:
    result = WebTools(documents_index(DOCUMENTS)).call("fetch_url_content", arguments)
    assert result["error"].startswith(f"An error occurred while fetching {arguments['url']}: {error}")


def test_a_url_of_another_kind_raises_officially() -> None:
    session = WebBackend(documents_index(DOCUMENTS)).open(starter.starter_web(True)[0], seed=0)
    result = session.call(ToolCall(name="fetch_url_content", arguments={"url": "file:///etc/passwd"}))
    assert (result.error, result.message) == ("tool_error", "Invalid URL: file:///etc/passwd")


def test_without_an_index_the_tools_say_how_to_give_one() -> None:
    tools = WebTools(None)
    assert tools.call("search_engine_query", {"keywords": "fish"}) == {"error": NO_INDEX}
    assert tools.call("fetch_url_content", {"url": "https://a.example"}) == {"error": NO_INDEX}


class _Live:
    """A provider that fails now and then, and knows HTML only."""

    def search(self, keywords: str, region: str) -> Sequence[Hit]:
        if keywords == "fail":
            raise OSError("no network")
        return [Hit("T" * 999, "https://b.example", "B" * 9999)] * 200

    def fetch(self, url: str) -> Page:
        page = "<html><head><title>T</title><style>p {}</style></head><p>One &amp; two<script>x()</script><p>three"
        return Page(url, "T", "", page if "short" in url else "<p>long</p>" * 99_999)


def test_a_provider_of_ones_own_is_asked_and_its_results_are_limited() -> None:
    tools = WebTools(_Live())
    assert tools.call("search_engine_query", {"keywords": "fail"}) == {"error": "no network"}
    assert len(json.dumps(tools.call("search_engine_query", {"keywords": "x", "max_results": 1000}))) < 60_000
    assert len(tools.call("fetch_url_content", {"url": "https://b.example/long"})["content"]) < 31_000
    short = {"url": "https://b.example/short", "mode": "truncate"}
    assert tools.call("fetch_url_content", short)["content"] == "T\nOne & two\nthree"


_ANYTHING = st.one_of(st.text(max_size=60), st.integers(), st.none(), st.lists(st.text(max_size=3), max_size=2))


@given(st.sampled_from(["search_engine_query", "fetch_url_content"]), st.data())
def test_nothing_that_is_called_raises_anything_but_refusal(tool: str, data: st.DataObject) -> None:
    names = st.sampled_from(["keywords", "max_results", "region", "url", "mode"])
    arguments = data.draw(st.dictionaries(names, _ANYTHING, max_size=4))
    with contextlib.suppress(Refusal):
        json.dumps(WebTools(corpus_index("test")).call(tool, arguments))


def test_huge_queries_are_answered() -> None:
    tools = WebTools(corpus_index("test"))
    words = " ".join(f"river{n} town founded {n}" for n in range(60_000))
    for keywords in (words, '"' * 1_000_000, "(" * 1_000_000, "a" * 1_000_000):
        found = tools.call("search_engine_query", {"keywords": keywords})
        assert isinstance(found, list) == (keywords == words)
        assert "error" in tools.call("fetch_url_content", {"url": f"https://{keywords}"})


# Starter and official questions.


@pytest.mark.parametrize("snippets", [True, False])
@pytest.mark.parametrize("split", CORPORA)
def test_the_gold_calls_of_every_starter_question_lead_to_its_answer(snippets: bool, split: str) -> None:
    tasks = starter.starter_web(snippets, split)
    assert len(tasks) >= 40
    assert {task.meta["hops"] for task in tasks} == {2, 3, 4}
    assert len({task.messages[1].content for task in tasks}) == len(tasks)
    schemas = {tool.name: ToolSchema(tool) for tool in tasks[0].tools}
    for task in tasks:
        starter.verify(task)
        calls: Any = task.meta["gold_calls"]
        assert len(calls) == 2 * int(str(task.meta["hops"]))
        assert all(schemas[call["name"]].check(call["arguments"]) is None for call in calls)
        assert not states_answer(task.messages[1].content or "", list(task.meta["gold"]))  # type: ignore[arg-type]
    assert Task.from_json(tasks[0].to_json()) == tasks[0]


def test_starter_tasks_bring_their_own_index_and_show_snippets_as_they_should() -> None:
    for snippets in (True, False):
        task = starter.starter_web(snippets)[0]
        session = WebBackend().open(task, seed=0)
        content: Any = session.call(ToolCall(name="search_engine_query", arguments={"keywords": "town"})).content
        assert all(("body" in hit) == snippets for hit in content)
        assert session.state() == {}


def test_the_worlds_are_large_and_their_own() -> None:
    worlds = [corpus(name) for name in CORPORA]
    for world in worlds:
        assert len(world.documents) >= 150
        assert len({document["url"] for document in world.documents}) == len(world.documents)
    assert len(worlds[0].entities.keys() & worlds[1].entities.keys()) < 20
    with pytest.raises(ConfigurationError, match="train, test"):
        corpus("validation")


def fingerprint() -> str:
    texts = [json.dumps(corpus(split).documents) for split in CORPORA]
    for split, snippets in product(CORPORA, (True, False)):
        texts += [task.to_json() for task in starter.starter_web(snippets, split)]
    searched = (task.messages[1].content or "" for task in starter.starter_web(True))
    texts += [str(corpus_index("test").search(question)) for question in searched]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def test_worlds_and_questions_are_the_same_in_every_process() -> None:
    program = "from test_bfcl_web import fingerprint; print(fingerprint())"
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(Path(__file__).parent)}
    other = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == fingerprint()


def test_official_questions_load(official_data: Path) -> None:
    files = BfclFiles(official_data / "bfcl")
    for snippets, category in ((True, "web_search_base"), (False, "web_search_no_snippet")):
        tasks = load_web(files, snippets)
        assert len(tasks) == 100
        assert tasks[3].id == f"{category}_3"
        assert tasks[3].meta["show_snippet"] is snippets
        assert sorted({int(str(task.meta["hops"])) for task in tasks}) == [2, 3, 4]
        assert [tool.name for tool in tasks[0].tools] == list(WebTools(None).tools)


def test_a_damaged_answer_file_is_named(official_data: Path, tmp_path: Path) -> None:
    for name in (
        "BFCL_v4_web_search.json",
        "possible_answer/BFCL_v4_web_search.json",
        "multi_turn_func_doc/web_search.json",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((official_data / "bfcl" / name).read_text(encoding="utf-8"), encoding="utf-8")
    answers = tmp_path / "possible_answer" / "BFCL_v4_web_search.json"
    lines = answers.read_text(encoding="utf-8").splitlines()
    answers.write_text("\n".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(DataError, match="BFCL_v4_web_search"):
        load_web(BfclFiles(tmp_path), True)
    answers.write_text("\n".join([lines[1], lines[0], *lines[2:]]), encoding="utf-8")
    with pytest.raises(DataError, match="row 1"):
        load_web(BfclFiles(tmp_path), True)


# Answers: the official rule.


@pytest.mark.parametrize(
    ("steps", "accepted", "valid", "error"),
    [
        (["It is Oslo."], ["Oslo"], True, None),
        (["It is oslo, or Rome, or Bern."], ["Bern"], True, None),
        (["f(a=1)", "Oslo"], ["Oslo"], True, None),
        (["Oslo", "f(a=1)"], ["Oslo"], True, None),
        (["Oslo", "Anything else?"], ["Oslo"], False, "agentic:answer_not_found"),
        (["f(a='Oslo')"], ["Oslo"], False, "agentic:no_last_message"),
        ([""], ["Oslo"], False, "agentic:no_last_message"),
        ([], ["Oslo"], False, "agentic:no_last_message"),
        (["Oslos"], ["Oslo"], False, "agentic:answer_not_found"),
        (["1.5"], ["15"], True, None),
        (["twenty-two"], ["twenty two"], False, "agentic:answer_not_found"),
        (["$5"], ["$5"], False, "agentic:answer_not_found"),
        ([["Oslo", "Rome"]], ["Rome"], False, "agentic:answer_not_found"),
        (["7"], [7], False, "EXCEPTION:TypeError"),
    ],
)
def test_official_verdicts(steps: list[Any], accepted: list[Any], valid: bool, error: str | None) -> None:
    assert answer_verdict(steps, accepted) == (valid, error)
    assert result_verdict([steps], accepted) == (valid, error)


@pytest.mark.parametrize("result", ["Oslo", [["Oslo"], ["Oslo"]], [], None, {"a": 1}, (["Oslo"],)])
def test_a_result_of_another_shape_is_an_inference_error(result: Any) -> None:
    assert result_verdict(result, ["Oslo"]) == (False, "agentic:inference_error")


# Answers: the strict rule.


@pytest.mark.parametrize(
    ("text", "accepted", "score"),
    [
        # Right.
        ("Oslo", ["Oslo"], 1),
        ("OSLO!", ["oslo"], 1),
        ("**Oslo**", ["Oslo"], 1),
        ("The answer is Oslo.", ["Oslo"], 1),
        ("{'answer': 'Oslo', 'context': 'It says: Rome, Bern or Oslo'}", ["Oslo"], 1),
        ('```json\n{"answer": "Oslo", "context": "x"}\n```', ["Oslo"], 1),
        ("I looked it up. {'answer': 'Sean O'Brien', 'context': 'x'}", ["Sean O'Brien"], 1),
        ("{answer: Oslo, context: x}", ["Oslo"], 1),
        ("{“answer”: “Oslo”}", ["Oslo"], 1),
        ("{'answer': 7, 'context': 'x'}", ["7", "seven"], 1),
        ("{'answer': '7 years'}", ["7", "seven"], 1),
        ("{'answer': '7 (seven)'}", ["7", "seven"], 1),
        ("{'answer': '1,250'}", ["1250"], 1),
        ("{'answer': '7.0'}", [7], 1),
        ("{'answer': '3 May, 1871'}", ["3 May 1871"], 1),
        ("{'answer': '1871/05/03'}", ["1871-05-03"], 1),
        ("{'answer': 'salt and pepper'}", ["salt and pepper"], 1),
        ("{'answer': 'salt and pepper'}", ["salt", "pepper"], 1),
        ("{'answer': 'No'}", ["no"], 1),
        # Partly.
        ("{'answer': 'grilled trout'}", ["trout"], 1 / 2),
        ("{'answer': 'trout grilled over charcoal'}", ["trout"], 1 / 4),
        ("{'answer': 'yes no'}", ["no"], 1 / 2),
        # Wrong.
        ("", ["Oslo"], 0),
        ("{'answer': ''}", ["Oslo"], 0),
        ("I do not know", ["Oslo"], 0),
        ("Rome", ["Oslo"], 0),
        ("Oslos", ["Oslo"], 0),
        ("not Oslo", ["Oslo"], 0),
        ("It isn't Oslo", ["Oslo"], 0),
        ("maybe Oslo", ["Oslo"], 0),
        ("Oslo or Rome", ["Oslo"], 0),
        ("Oslo and Rome", ["Oslo"], 0),
        ("Oslo, Rome", ["Oslo"], 0),
        ("Oslo/Rome", ["Oslo"], 0),
        ("Oslo\nRome", ["Oslo"], 0),
        ("- Oslo\n- Rome", ["Oslo"], 0),
        ("Oslo. Rome.", ["Oslo"], 0),
        ("Oslo (Rome)", ["Oslo"], 0),
        ("Rome Bern Oslo Paris Kyiv", ["Oslo"], 0),
        ("6 7 8", ["7"], 0),
        ("six seven", ["seven"], 0),
        ("1.5", ["15"], 0),
        ("1-8", ["18"], 0),
        ("-7", ["7"], 0),
        ("{'answer': 'Oslo'} {'answer': 'Rome'}", ["Oslo"], 0),
        ("{'answer': ['Oslo', 'Rome']}", ["Oslo"], 0),
        ("Oslo", [""], 0),
    ],
)
def test_strict_answers(text: str, accepted: list[Any], score: float) -> None:
    found, explanation = strict_answer(text, accepted)
    assert found == pytest.approx(score)
    assert bool(explanation["reason"]) == (score < 1)


_CITIES = [f"{a}{b}" for a in ("Bel", "Dor", "Kar", "Lim", "Nav") for b in ("ana", "ost", "uk", "ine")]


@pytest.mark.parametrize("joint", [" ", ", ", " or ", " and ", "\n", "; ", " / ", "/", " - ", ". ", "\n- ", " | "])
@pytest.mark.parametrize("count", [2, 3, 4, 20])
def test_listing_candidates_pays_no_more_than_guessing(joint: str, count: int) -> None:
    listed = joint.join(_CITIES[:count])
    for text in (listed, f"{{'answer': '{listed}', 'context': 'all of them'}}"):
        assert sum(strict_answer(text, [city])[0] for city in _CITIES) <= 1
        if joint != "/":  # while officially each of them passes
            assert states_answer(text, [_CITIES[0]])


def test_copying_questions_memories_or_all_golds_pays_nothing(official_data: Path) -> None:
    folder = official_data / "bfcl"
    golds: list[list[str]] = []
    questions: list[str] = []
    for name in ("memory", "web_search"):
        with (folder / f"possible_answer/BFCL_v4_{name}.json").open(encoding="utf-8") as file:
            golds += [json.loads(line)["ground_truth"] for line in file]
        with (folder / f"BFCL_v4_{name}.json").open(encoding="utf-8") as file:
            questions += [json.loads(line)["question"][0][0]["content"] for line in file]
    everything = [answer for gold in golds for answer in gold]
    copies = [", ".join(everything), " ".join(everything), "\n".join(everything)]
    for gold, question in zip(golds, questions, strict=True):
        assert strict_answer(question, gold)[0] == 0
        for answer in gold:
            assert strict_answer(answer, gold)[0] == 1
            assert strict_answer(json.dumps({"answer": answer, "context": "found"}), gold)[0] == 1
        for text in copies:
            assert strict_answer(text, gold)[0] == 0
    for task in starter.starter_web(True):
        assert strict_answer(corpus("test").documents[0]["text"], list(task.meta["gold"]))[0] == 0  # type: ignore[arg-type]


@given(st.text(max_size=200), st.lists(st.one_of(st.text(max_size=12), st.integers()), max_size=3))
def test_strict_answers_never_raise(text: str, accepted: list[Any]) -> None:
    for form in (text, f"{{'answer': '{text}'", f'{{"answer": {text}, "context": "x"}}'):
        score, explanation = strict_answer(form, accepted)
        assert 0 <= score <= 1
        json.dumps(explanation)
        answer_verdict([form], [str(answer) for answer in accepted])


@pytest.mark.parametrize(
    "text",
    [
        "{'answer': '" * 80_000,
        "{'answer': '" * 2_700,
        "{answer:,a:" * 2_900,
        "{'answer':" + " " * 30_000,
        "'" * 32_000,
        "a " * 16_000,
        "{'answer': '" + "', x" * 7_000,
        "[" * 20_000,
        "9**9**9",
        "\n" * 1_000_000,
    ],
)
def test_hostile_answers_earn_nothing(text: str) -> None:
    assert strict_answer(text, ["b", "question"])[0] == 0
    assert not states_answer(text, ["b", "question"])


def test_fields_are_found_whatever_the_quotes() -> None:
    assert answer_fields("{'answer': 'It's here', 'context': 'no'}") == ["It's here"]
    assert answer_fields('{"answer": "a \\"b\\" c"}') == ['a "b" c']
    assert answer_fields("{ Answer : x }") == ["x"]
    assert answer_fields("{'context': 'c', 'answer': 'last'}") == ["last"]
    assert answer_fields("the answer: x") == []
    assert answer_fields("{'answer': 'cut off") == ["cut off"]

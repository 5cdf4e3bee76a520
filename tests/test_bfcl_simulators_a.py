"""BFCL's executable classes, first half: files, maths, messages, tweets and tickets, each alone on its own state."""

from __future__ import annotations

import ast
import copy
import json
import random
from collections.abc import Callable
from decimal import Context
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgym.envs.bfcl.files import CLASS_FILES, BfclFiles
from callgym.envs.bfcl.simulators.base import Refusal, Simulator, Tables, result_text, tools_of
from callgym.envs.bfcl.simulators.file_system import GorillaFileSystem
from callgym.envs.bfcl.simulators.logarithm import logarithm
from callgym.envs.bfcl.simulators.math_api import MathAPI
from callgym.envs.bfcl.simulators.message_api import MessageAPI
from callgym.envs.bfcl.simulators.ticket_api import TicketAPI
from callgym.envs.bfcl.simulators.twitter_api import TwitterAPI

CLASSES: dict[str, type[Simulator]] = {
    "GorillaFileSystem": GorillaFileSystem,
    "MathAPI": MathAPI,
    "MessageAPI": MessageAPI,
    "TwitterAPI": TwitterAPI,
    "TicketAPI": TicketAPI,
}
SEED = 7
TABLES = Tables(
    constants={
        "default_state": {
            "MessageAPI": {
                "generated_ids": [],
                "user_count": 2,
                "user_map": {"Ann": "USR001", "Ben": "USR002"},
                "inbox": [{"USR002": "Lunch?"}],
                "message_count": 1,
                "current_user": None,
            },
            "TwitterAPI": {
                "username": "ann",
                "password": "secret",
                "authenticated": False,
                "tweets": {},
                "comments": {},
                "retweets": {},
                "following_list": ["ben"],
                "tweet_counter": 0,
            },
            "TicketAPI": {"ticket_queue": [], "ticket_counter": 1, "current_user": None},
        },
        "message_default_seed": SEED,
        "math_si_to_meters": {"km": 1000, "m": 1, "cm": 0.01},
        "math_imperial_factors": {
            "cm_to_in": 0.393701,
            "celsius_to_fahrenheit": 1.8,
            "fahrenheit_to_celsius": 5 / 9,
        },
    },
    long_context={
        "FILES_TAIL_USED": ["log.txt"],
        "FILE_CONTENT_EXTENSION": " And so on.",
        "POPULATE_FILE_EXTENSION": ["1.jpg", "2.jpg"],
    },
)


def file(content: str = "") -> dict[str, Any]:
    return {"type": "file", "content": content}


def directory(**contents: Any) -> dict[str, Any]:
    return {"type": "directory", "contents": contents}


TREE = {
    "root": {
        "home": directory(
            docs=directory(old=directory()),
            notes=file("pear\napple\nfig"),
            plan=file("pear\nplum"),
            empty=directory(),
            **{".hidden": file("x y")},
        )
    }
}


def tools(simulator: type[Simulator]) -> dict[str, Callable[..., Any]]:
    return tools_of(cast("Any", simulator))  # to mypy a class that is typed as one has no hash


def answer(simulator: Simulator, call: str) -> str:
    """What the official harness would write for a call text."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    positional = [ast.literal_eval(argument) for argument in node.args]
    named = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in node.keywords}
    try:
        return result_text(tools(type(simulator))[node.func.id](simulator, *positional, **named))
    except Refusal as refusal:
        return f"Error during execution: {refusal}"


def last_answer(simulator: Simulator, calls: str) -> str:
    """The answer to the last of several calls, which `; ` separates."""
    return [answer(simulator, call) for call in calls.split("; ")][-1]


def opened(name: str, config: dict[str, Any] | None = None, long_context: bool = False) -> Simulator:
    return CLASSES[name](config or {}, TABLES, long_context)


# The official documents.


def test_tools_are_the_documented_ones(official_data: Path) -> None:
    files = BfclFiles(official_data / "bfcl")
    for name, simulator in CLASSES.items():
        documents = {document["name"]: document["parameters"] for document in files.class_functions(name)}
        assert set(tools(simulator)) == set(documents)
        assert name in CLASS_FILES
        for tool, parameters in documents.items():
            annotations = {key for key in tools(simulator)[tool].__annotations__ if key != "return"}
            assert annotations == set(parameters["properties"]), tool


# Files.

FILE_SYSTEM = [
    ("pwd()", '{"current_working_directory": "/home"}'),
    ("cd('docs'); cd('old'); pwd()", '{"current_working_directory": "/home/docs/old"}'),
    ("ls()", '{"current_directory_content": ["docs", "notes", "plan", "empty"]}'),
    ("ls(a=True)", '{"current_directory_content": ["docs", "notes", "plan", "empty", ".hidden"]}'),
    ("cd(folder='docs/')", '{"current_working_directory": "docs"}'),
    ("cd('docs'); cd('..')", "{}"),
    ("cd('docs'); cd('/')", '{"current_working_directory": "home"}'),
    ("cd('.')", '{"current_working_directory": "home"}'),
    ("cd('..')", '{"error": "Current directory is already the root. Cannot go back."}'),
    ("cd('notes')", '{"error": "cd: \'notes\': No such file or directory"}'),
    (
        "cd('docs/old')",
        '{"error": "cd: docs/old: Unsupported path. Only one folder level at a time is supported."}',
    ),
    ("mkdir('new')", "None"),
    ("mkdir('new'); mkdir('new')", '{"error": "mkdir: cannot create directory \'new\': File exists"}'),
    ("mkdir('a/b')", '{"error": "mkdir: cannot create directory \'a/b\': Invalid character"}'),
    ("touch('new'); cat('new')", '{"file_content": ""}'),
    ("touch('notes')", '{"error": "touch: cannot touch \'notes\': File exists"}'),
    ("touch('a|b')", '{"error": "touch: cannot touch \'a|b\': Invalid character"}'),
    ("echo('hello')", '{"terminal_output": "hello"}'),
    ("echo('hello', '')", '{"terminal_output": "hello"}'),
    ("echo('hello', 'notes'); cat('notes')", '{"file_content": "hello"}'),
    ("echo('hello', 'nowhere')", '{"error": "echo: cannot write to \'nowhere\': No such file"}'),
    ("echo('hello', '*')", '{"error": "echo: cannot write to \'*\': Invalid character"}'),
    ("echo('hello', 'docs')", "Error during execution: 'Directory' object has no attribute '_write'"),
    ("cat('notes')", '{"file_content": "pear\\napple\\nfig"}'),
    ("cat('docs')", '{"error": "cat: \'docs\': Is a directory"}'),
    ("cat('nowhere')", '{"error": "cat: \'nowhere\': No such file or directory"}'),
    ("cat('a?')", '{"error": "cat: \'a?\': Invalid character"}'),
    ("find()", '{"matches": ["./docs", "./docs/old", "./notes", "./plan", "./empty", "./.hidden"]}'),
    ("find('/', 'o')", '{"matches": ["/docs", "/docs/old", "/notes"]}'),
    ("find('docs/old/')", '{"matches": []}'),
    ("find('/docs')", '{"matches": ["/docs/old"]}'),
    ("find('nowhere')", '{"error": "find: \'nowhere\': No such file or directory"}'),
    ("wc('notes')", '{"count": 3, "type": "lines"}'),
    ("wc('.hidden', 'w')", '{"count": 2, "type": "words"}'),
    ("wc('notes', mode='c')", '{"count": 14, "type": "characters"}'),
    ("wc('notes', 'x')", '{"error": "wc: invalid mode \'x\'"}'),
    ("wc('docs')", '{"error": "wc: docs: No such file or directory"}'),
    ("sort('notes')", '{"sorted_content": "apple\\nfig\\npear"}'),
    ("sort('docs')", '{"error": "sort: docs: No such file or directory"}'),
    ("grep('notes', 'p')", '{"matching_lines": ["pear", "apple"]}'),
    ("grep('nowhere', 'p')", '{"error": "grep: nowhere: No such file or directory"}'),
    ("tail('notes', 2)", '{"last_lines": "apple\\nfig"}'),
    ("tail('notes', 0)", '{"last_lines": "pear\\napple\\nfig"}'),
    ("tail('notes', -1)", '{"last_lines": "apple\\nfig"}'),
    ("tail('docs')", '{"error": "tail: docs: No such file or directory"}'),
    ("diff('notes', 'plan')", '{"diff_lines": "- apple\\n+ plum"}'),
    ("diff('notes', 'docs')", '{"error": "diff: notes or docs: No such file or directory"}'),
    ("du()", '{"disk_usage": "26 bytes"}'),
    ("echo('é', 'notes'); du(human_readable=True)", '{"disk_usage": "14.00 B"}'),
    ("echo('" + "x" * 3000 + "', 'notes'); du(True)", '{"disk_usage": "2.94 KB"}'),
    ("mv('notes', 'docs')", "{\"result\": \"'notes' moved to 'docs/notes'\"}"),
    ("mv('notes', 'list')", "{\"result\": \"'notes' moved to 'list'\"}"),
    ("mv('notes', 'plan')", "{\"error\": \"mv: cannot move 'notes' to 'plan': Not a directory\"}"),
    ("mv('nowhere', 'docs')", '{"error": "mv: cannot move \'nowhere\': No such file or directory"}'),
    (
        "mv('notes', 'docs/old')",
        '{"error": "mv: path not allowed in destination. Provide only a file or directory name."}',
    ),
    (
        "mv('notes', 'docs'); touch('notes'); mv('notes', 'docs')",
        "{\"error\": \"mv: cannot move 'notes' to 'docs/notes': File exists\"}",
    ),
    ("cp('notes', 'docs')", "{\"result\": \"'notes' copied to 'docs/notes'\"}"),
    ("cp('notes', 'list')", "{\"result\": \"'notes' copied to 'list'\"}"),
    ("cp('notes', 'plan')", "{\"error\": \"cp: cannot copy 'notes' to 'plan': Not a directory\"}"),
    ("cp('nowhere', 'docs')", '{"error": "cp: cannot copy \'nowhere\': No such file or directory"}'),
    (
        "cp('notes', 'a/b')",
        '{"error": "cp: path not allowed in destination. Provide only a file or directory name."}',
    ),
    (
        "cp('notes', 'docs'); cp('notes', 'docs')",
        "Error during execution: File 'notes' already exists in directory 'docs'.",
    ),
    (
        "cp('empty', 'docs'); cp('empty', 'docs')",
        "Error during execution: Directory 'empty' already exists in directory 'docs'.",
    ),
    ("rm('docs'); ls()", '{"current_directory_content": ["notes", "plan", "empty"]}'),
    ("rm('nowhere')", '{"error": "rm: cannot remove \'nowhere\': No such file or directory"}'),
    ("rmdir('empty')", '{"result": "\'empty\' removed"}'),
    ("rmdir('docs')", '{"error": "rmdir: cannot remove \'docs\': Directory not empty"}'),
    ("rmdir('notes')", '{"error": "rmdir: cannot remove \'notes\': Not a directory"}'),
    ("rmdir('nowhere')", '{"error": "rmdir: cannot remove \'nowhere\': No such file or directory"}'),
    # A moved directory's children still have the old one for a parent, a copied one's the original.
    ("mv('docs', 'papers'); cd('papers'); cd('old'); cd('..'); pwd()", '{"current_working_directory": "/home/docs"}'),
    ("cp('docs', 'papers'); cd('papers'); cd('old'); pwd()", '{"current_working_directory": "/home/docs/old"}'),
    # A copied directory shares what lies in it; a file that is copied by itself is a new one.
    (
        "mv('notes', 'docs'); cp('docs', 'copy'); cd('docs'); echo('new', 'notes'); cd('..'); cd('copy'); cat('notes')",
        '{"file_content": "new"}',
    ),
    ("cp('notes', 'list'); echo('new', 'notes'); cat('list')", '{"file_content": "pear\\napple\\nfig"}'),
    # "." is the directory itself once a file has that name.
    ("cat('.')", '{"error": "cat: \'.\': No such file or directory"}'),
    ("touch('.'); cat('.')", '{"error": "cat: \'.\': Is a directory"}'),
    ("touch('.'); rmdir('.')", '{"error": "rmdir: cannot remove \'.\': Directory not empty"}'),
    # What is no text is turned down in Python's words.
    ("cd(None)", "Error during execution: 'NoneType' object has no attribute 'rstrip'"),
    ("find(path=None)", "Error during execution: 'NoneType' object has no attribute 'rstrip'"),
    ("mkdir(5)", "Error during execution: argument of type 'int' is not iterable"),
    ("mkdir(['a'])", "Error during execution: unhashable type: 'list'"),
    ("echo(5, 'notes'); wc('notes')", "Error during execution: 'int' object has no attribute 'splitlines'"),
    ("tail('notes', '2')", "Error during execution: '>' not supported between instances of 'str' and 'int'"),
]


@pytest.mark.parametrize(("calls", "expected"), FILE_SYSTEM)
def test_file_system(calls: str, expected: str) -> None:
    assert last_answer(opened("GorillaFileSystem", TREE), calls) == expected


def test_without_a_scenario_there_is_an_empty_root() -> None:
    files = opened("GorillaFileSystem")
    assert answer(files, "pwd()") == '{"current_working_directory": "//"}'
    assert files.public_state() == {"root": {"type": "directory", "name": "/", "contents": {}}, "long_context": False}


def test_trees_are_compared_by_names_and_contents_alone() -> None:
    one, other = opened("GorillaFileSystem", TREE), opened("GorillaFileSystem", TREE)
    last_answer(one, "mkdir('x'); touch('y'); mv('docs', 'x'); cd('x')")
    last_answer(other, "touch('y'); mkdir('x'); cd('x'); mkdir('docs'); cd('docs'); mkdir('old'); cd('/'); rm('docs')")
    assert one.public_state() == other.public_state()
    answer(one, "mkdir('z')")
    assert one.public_state() != other.public_state()


def test_long_context_pads_files_and_fills_innermost_directories() -> None:
    config = {"root": {"home": directory(inner=directory(notes=file("x")), **{"log.txt": file("y")})}}
    files = opened("GorillaFileSystem", config, long_context=True)
    assert last_answer(files, "cat('log.txt')") == '{"file_content": "y"}'
    assert answer(files, "ls()") == '{"current_directory_content": ["inner", "log.txt"]}'
    assert last_answer(files, "cd('inner'); cat('notes')") == '{"file_content": "x And so on."}'
    assert answer(files, "ls()") == '{"current_directory_content": ["notes", "1.jpg", "2.jpg"]}'


@pytest.mark.parametrize("calls", ["mkdir('a'); cp('a', 'a')", "touch('.'); mv('.', 'a')"])
def test_a_tree_without_end_is_another_than_any_with_one(calls: str) -> None:
    files, plain = opened("GorillaFileSystem"), opened("GorillaFileSystem")
    last_answer(files, calls)
    assert answer(files, "find()").startswith("Error during execution: The directory holds too much")
    assert answer(files, "du()").startswith("Error during execution: The directory holds too much")
    assert files.public_state() != plain.public_state()
    assert json.dumps(files.public_state())
    twin = copy.deepcopy(files)
    assert twin.public_state() == files.public_state()
    assert answer(twin, "cd('a')") == '{"current_working_directory": "a"}'


def test_a_copy_of_the_file_system_shares_inside_what_the_original_shares() -> None:
    files = opened("GorillaFileSystem", TREE)
    last_answer(files, "mv('notes', 'docs'); cp('docs', 'papers'); cd('papers')")
    twin = copy.deepcopy(files)
    answer(twin, "echo('new', 'notes')")
    assert answer(twin, "pwd()") == '{"current_working_directory": "/home/papers"}'
    assert last_answer(twin, "cd('..'); cd('docs'); cat('notes')") == '{"file_content": "new"}'
    assert answer(files, "cat('notes')") == '{"file_content": "pear\\napple\\nfig"}'


# Maths.

MATHS = [
    ("add(a=1, b=2.5)", '{"result": 3.5}'),
    ("add('a', 'b')", '{"result": "ab"}'),
    ("add(1, 'b')", '{"error": "Both inputs must be numbers"}'),
    ("subtract(a=1, b=2)", '{"result": -1}'),
    ("subtract('a', 'b')", '{"error": "Both inputs must be numbers"}'),
    ("multiply(a=3, b=0.1)", '{"result": 0.30000000000000004}'),
    ("multiply('a', 3)", '{"error": "Both inputs must be numbers"}'),
    ("divide(a=1, b=4)", '{"result": 0.25}'),
    ("divide(a=1, b=0)", '{"error": "Cannot divide by zero"}'),
    ("divide('a', 2)", '{"error": "Both inputs must be numbers"}'),
    ("power(2, 10)", '{"result": 1024}'),
    ("power(2, -1)", '{"result": 0.5}'),
    ("power(-8, 0.5)", "{'result': (1.7319121124709868e-16+2.8284271247461903j)}"),
    ("power(0, -1)", "Error during execution: 0.0 cannot be raised to a negative power"),
    ("power(10, 1000000.0)", "Error during execution: (34, 'Numerical result out of range')"),
    (
        "power(10, 1000000)",
        "Error during execution: Exceeds the limit (4300 digits) for integer string conversion; "
        "use sys.set_int_max_str_digits() to increase the limit",
    ),
    ("power('a', 2)", '{"error": "Both inputs must be numbers"}'),
    ("percentage(part=1, whole=8)", '{"result": 12.5}'),
    ("percentage(part=1, whole=0)", '{"error": "Whole value cannot be zero"}'),
    ("percentage('a', 2)", '{"error": "Both inputs must be numbers"}'),
    ("absolute_value(-4)", '{"result": 4}'),
    ("absolute_value('a')", '{"error": "Input must be a number"}'),
    ("round_number(2.5)", '{"result": 2.0}'),
    ("round_number(1234, -2)", '{"result": 1200}'),
    ("round_number(1234, -1000000000)", '{"result": 0}'),
    ("round_number(3.14159, decimal_places=2)", '{"result": 3.14}'),
    ("round_number('a')", '{"error": "First input must be a number, second input must be an integer"}'),
    ("square_root(2, 5)", "{'result': Decimal('1.4142')}"),
    ("square_root(100, 1)", "{'result': Decimal('1E+1')}"),
    ("square_root(0, 12345)", "{'result': Decimal('0')}"),
    ("square_root(-1, 5)", '{"error": "Cannot calculate square root of a negative number"}'),
    ("square_root(2, 0)", "Error during execution: valid range for prec is [1, MAX_PREC]"),
    (
        "square_root('a', 5)",
        '{"error": "Input must be a number or computation resulted in an invalid operation"}',
    ),
    ("logarithm(8, 2, 5)", "{'result': mpf('3.0')}"),
    ("logarithm(100, 7, 10)", "{'result': mpf('2.366589324898')}"),
    ("logarithm(0, 2, 5)", "{'result': mpf('-inf')}"),
    ("logarithm(2, 1, 5)", '{"error": ""}'),
    ("logarithm(-1, 10, 3)", "{'result': mpc(real='0.0', imag='1.36426')}"),
    ("logarithm(None, 2, 5)", '{"error": "cannot create mpf from None"}'),
    ("logarithm(2, 2, 'x')", '{"error": "invalid literal for int() with base 10: \'x\'"}'),
    ("si_unit_conversion(value=2, unit_in='km', unit_out='m')", '{"result": 2000.0}'),
    ("si_unit_conversion(2, 'km', 'x')", "{\"error\": \"Conversion from 'km' to 'x' is not supported\"}"),
    ("si_unit_conversion('2', 'km', 'm')", '{"error": "Value must be a number"}'),
    ("imperial_si_conversion(value=10, unit_in='cm', unit_out='in')", '{"result": 3.9370100000000003}'),
    ("imperial_si_conversion(100, 'celsius', 'fahrenheit')", '{"result": 212.0}'),
    ("imperial_si_conversion(212, 'fahrenheit', 'celsius')", '{"result": 100.0}'),
    ("imperial_si_conversion(3, 'x', 'x')", '{"result": 3}'),
    ("imperial_si_conversion(3, 'in', 'x')", "{\"error\": \"Conversion from 'in' to 'x' is not supported\"}"),
    ("imperial_si_conversion('3', 'in', 'cm')", '{"error": "Value must be a number"}'),
    ("mean(numbers=[1, 2, 4])", '{"result": 2.3333333333333335}'),
    ("mean([])", '{"error": "Cannot calculate mean of an empty list"}'),
    ("mean(['a'])", '{"error": "All elements in the list must be numbers"}'),
    ("standard_deviation([1, 3])", '{"result": 1.0}'),
    ("standard_deviation([])", '{"error": "Cannot calculate standard deviation of an empty list"}'),
    ("standard_deviation(['a'])", '{"error": "All elements in the list must be numbers"}'),
    ("min_value([2, 1])", '{"result": 1}'),
    ("min_value([])", '{"error": "Cannot find minimum of an empty list"}'),
    ("min_value([1, 'a'])", '{"error": "All elements in the list must be numbers"}'),
    ("max_value([2, 1])", '{"result": 2}'),
    ("max_value([])", '{"error": "Cannot find maximum of an empty list"}'),
    ("max_value([1, 'a'])", '{"error": "All elements in the list must be numbers"}'),
    ("sum_values([1, 2.5])", '{"result": 3.5}'),
    ("sum_values([])", '{"error": "Cannot calculate sum of an empty list"}'),
    ("sum_values(['a'])", '{"error": "All elements in the list must be numbers"}'),
    # As Python 3.11 adds: later versions mend the rounding.
    ("sum_values([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])", '{"result": 0.9999999999999999}'),
]


@pytest.mark.parametrize(("call", "expected"), MATHS)
def test_maths(call: str, expected: str) -> None:
    maths = opened("MathAPI")
    assert answer(maths, call) == expected
    assert maths.public_state() == {}


numbers = st.one_of(
    st.floats(),
    st.integers(-1000, 1000),
    st.integers(-(10**60), 10**60),
    st.sampled_from((0, 1, 2, 10, 0.5, 0.25 + 2**-54, 1 + 2**-52, 1 - 2**-53, "2.5", "1/3", "inf", "x", None)),
)


@given(numbers, numbers, st.one_of(st.integers(-3, 60), st.sampled_from((15, 100, 700))))
@settings(max_examples=600)
def test_logarithms_print_as_mpmath_prints_them(value: Any, base: Any, precision: int) -> None:
    mpmath = pytest.importorskip("mpmath", "1.3.0")
    mpmath.mp.dps = precision
    try:
        expected = repr(mpmath.log(value) / mpmath.log(base))
    except Exception as error:
        expected = f"{type(error).__name__}: {error}"
    finally:
        mpmath.mp.dps = 15
    try:
        found = repr(logarithm(value, base, precision))
    except (ArithmeticError, TypeError, ValueError) as error:
        found = f"{type(error).__name__}: {error}"
    assert found == expected


@given(st.one_of(st.floats(0, allow_infinity=False), st.integers(0, 10**50)), st.integers(1_001, 1_300))
@settings(max_examples=40)
def test_long_square_roots_are_the_decimal_modules(number: float, precision: int) -> None:
    expected = Context(prec=precision, Emin=-999_999, Emax=999_999).sqrt(Context(prec=2_000).create_decimal(number))
    assert repr(MathAPI({}, TABLES).square_root(number, precision)["result"]) == repr(expected)


# Messages.

SENT = random.Random(SEED).randint(10000, 99999)
MESSAGES = [
    ("list_users()", '{"user_list": ["Ann", "Ben"]}'),
    ("get_user_id('Ben')", '{"user_id": "USR002"}'),
    ("get_user_id('Cy')", '{"error": "User \'Cy\' not found in the workspace."}'),
    ("message_login('USR001')", '{"login_status": true, "message": "User \'USR001\' logged in successfully."}'),
    ("message_login('Ann')", '{"login_status": false, "message": "User ID \'Ann\' not found."}'),
    ("message_get_login_status()", '{"login_status": false}'),
    ("message_login('USR001'); message_get_login_status()", '{"login_status": true}'),
    (
        "message_login('USR001'); send_message(receiver_id='USR002', message='Yes')",
        f'{{"sent_status": true, "message_id": {{"new_id": {SENT}}}, '
        '"message": "Message sent to \'USR002\' successfully."}',
    ),
    ("message_login('USR001'); send_message('USR009', 'Yes')", '{"error": "Receiver ID \'USR009\' not found."}'),
    (
        "message_login('USR001'); delete_message('USR002')",
        '{"deleted_status": true, "receiver_id": "USR002", '
        '"message": "Receiver USR002\'s latest message deleted successfully."}',
    ),
    ("message_login('USR001'); delete_message('USR001')", '{"error": "Receiver ID USR001 not found."}'),
    ("message_login('USR001'); view_messages_sent()", '{"messages": {"USR002": ["Lunch?"]}}'),
    (
        "message_login('USR001'); search_messages('LUNCH')",
        '{"results": [{"receiver_id": "USR002", "message": "Lunch?"}]}',
    ),
    ("message_login('USR001'); get_message_stats()", '{"stats": {"received_count": 1, "total_contacts": 1}}'),
    (
        "add_contact('Cy')",
        '{"added_status": true, "user_id": "USR003", "message": "Contact \'Cy\' added successfully."}',
    ),
    ("add_contact('Ben')", '{"error": "User name \'Ben\' already exists."}'),
    *(
        (call, '{"error": "No user is currently logged in."}')
        for call in (
            "send_message('USR002', 'x')",
            "delete_message('USR002')",
            "view_messages_sent()",
            "search_messages('x')",
            "get_message_stats()",
        )
    ),
]


@pytest.mark.parametrize(("calls", "expected"), MESSAGES)
def test_messages(calls: str, expected: str) -> None:
    assert last_answer(opened("MessageAPI"), calls) == expected


def test_an_id_that_is_taken_counts_though_nobody_gets_it() -> None:
    messages = opened("MessageAPI", {"user_count": 1})
    assert answer(messages, "add_contact('Cy')") == '{"error": "User ID \'USR002\' already exists."}'
    assert messages.public_state()["user_count"] == 2


def test_message_ids_follow_from_the_scenarios_seed_and_none_comes_twice() -> None:
    messages = opened("MessageAPI", {"random_seed": 3, "current_user": "USR001"})
    for _ in range(50):
        answer(messages, "send_message('USR002', 'x')")
    source, expected = random.Random(3), set[int]()
    while len(expected) < 50:
        expected.add(source.randint(10000, 99999))
    assert messages.public_state()["generated_ids"] == sorted(expected)


def test_of_equal_messages_the_first_is_deleted() -> None:
    inbox = [{"USR001": "a"}, {"USR002": "x"}, {"USR001": "a"}]
    messages = opened("MessageAPI", {"current_user": "USR001", "inbox": inbox})
    answer(messages, "delete_message('USR001')")
    assert messages.public_state()["inbox"] == [{"USR002": "x"}, {"USR001": "a"}]


def test_a_scenarios_message_that_is_no_text_cannot_be_searched() -> None:
    messages = opened("MessageAPI", {"current_user": "USR001", "inbox": [{"USR002": ["a", "b"]}]})
    assert answer(messages, "search_messages('a')") == "Error during execution: 'list' object has no attribute 'lower'"
    assert answer(messages, "view_messages_sent()") == '{"messages": {"USR002": [["a", "b"]]}}'


# Tweets.

LOG_IN = "authenticate_twitter('ann', 'secret'); "
TWEETS = [
    ("authenticate_twitter('ann', 'secret')", '{"authentication_status": true}'),
    ("authenticate_twitter('ann', 'x')", '{"authentication_status": false}'),
    (LOG_IN + "authenticate_twitter('ben', 'x'); posting_get_login_status()", '{"login_status": true}'),
    ("posting_get_login_status()", '{"login_status": false}'),
    (
        LOG_IN + "post_tweet('Hi', tags=['#a'], mentions=['@b'])",
        '{"id": 0, "username": "ann", "content": "Hi", "tags": ["#a"], "mentions": ["@b"]}',
    ),
    (LOG_IN + "post_tweet('Hi')", '{"id": 0, "username": "ann", "content": "Hi", "tags": [], "mentions": []}'),
    (
        LOG_IN + "post_tweet('Hi', tags=None)",
        '{"id": 0, "username": "ann", "content": "Hi", "tags": null, "mentions": []}',
    ),
    (LOG_IN + "post_tweet('Hi'); retweet(0)", '{"retweet_status": "Successfully retweeted"}'),
    (LOG_IN + "post_tweet('Hi'); retweet(0); retweet(0)", '{"retweet_status": "Already retweeted"}'),
    (LOG_IN + "retweet(3)", '{"error": "Tweet with ID 3 not found."}'),
    (LOG_IN + "post_tweet('Hi'); comment(0, 'Ho')", '{"comment_status": "Comment added successfully"}'),
    (LOG_IN + "comment(3, 'Ho')", '{"error": "Tweet with ID 3 not found."}'),
    (
        LOG_IN + "post_tweet('Hi'); comment(0, 'Ho'); get_tweet_comments(0)",
        "[{'username': 'ann', 'content': 'Ho'}]",
    ),
    (LOG_IN + "post_tweet('Hi'); get_tweet_comments(0)", "[]"),
    ("get_tweet_comments(3)", '{"error": "Tweet with ID 3 not found."}'),
    (LOG_IN + "post_tweet('Hi'); mention(0, ['@b'])", '{"mention_status": "Users mentioned successfully"}'),
    ("mention(3, ['@b'])", '{"error": "Tweet with ID 3 not found."}'),
    (LOG_IN + "follow_user('cy')", '{"follow_status": true}'),
    (LOG_IN + "follow_user('ben')", '{"follow_status": false}'),
    (LOG_IN + "unfollow_user('ben'); list_all_following()", '{"following_list": []}'),
    (LOG_IN + "unfollow_user('cy')", '{"unfollow_status": false}'),
    ("get_tweet(3)", '{"error": "Tweet with ID 3 not found."}'),
    (
        LOG_IN + "post_tweet('Hi', mentions=['@b']); mention(0, ['@c']); get_tweet(0)",
        '{"id": 0, "username": "ann", "content": "Hi", "tags": [], "mentions": ["@b", "@c"]}',
    ),
    (
        LOG_IN + "post_tweet('Hi'); get_user_tweets('ann')",
        "[{'id': 0, 'username': 'ann', 'content': 'Hi', 'tags': [], 'mentions': []}]",
    ),
    (LOG_IN + "post_tweet('Hi'); get_user_tweets('ben')", "[]"),
    (
        LOG_IN + "post_tweet('Hi', ['#Fun']); search_tweets('#FUN')",
        "[{'id': 0, 'username': 'ann', 'content': 'Hi', 'tags': ['#Fun'], 'mentions': []}]",
    ),
    (LOG_IN + "post_tweet('Hi', ['#Fun']); search_tweets('fun')", "[]"),
    (
        LOG_IN + "post_tweet('Hi'); retweet(0); get_user_stats('ann')",
        '{"tweet_count": 1, "following_count": 1, "retweet_count": 1}',
    ),
    ("get_user_stats('ben')", '{"tweet_count": 0, "following_count": 0, "retweet_count": 0}'),
    *(
        (call, f'{{"error": "User not authenticated. Please authenticate before {doing}."}}')
        for call, doing in (
            ("post_tweet('Hi')", "posting"),
            ("retweet(0)", "retweeting"),
            ("comment(0, 'Ho')", "commenting"),
            ("follow_user('cy')", "following"),
            ("unfollow_user('ben')", "unfollowing"),
            ("list_all_following()", "listing following"),
        )
    ),
]


@pytest.mark.parametrize(("calls", "expected"), TWEETS)
def test_tweets(calls: str, expected: str) -> None:
    assert last_answer(opened("TwitterAPI"), calls) == expected


def test_a_scenarios_tweets_have_numbers_for_keys_and_its_comments_do_not() -> None:
    tweet = {"id": 4, "username": "cy", "content": "Hi", "tags": [], "mentions": []}
    config = {"tweets": {"4": tweet}, "comments": {"4": [{"username": "cy", "content": "Ho"}]}, "authenticated": True}
    tweets = opened("TwitterAPI", config)
    assert answer(tweets, "get_tweet(4)") == json.dumps(tweet)
    assert answer(tweets, "get_tweet_comments(4)") == "[]"
    answer(tweets, "comment(4, 'Ha')")
    assert set(tweets.public_state()["comments"]) == {"4", 4}


def test_tweets_without_mentions_share_them_within_an_instance_only() -> None:
    one, other = (opened("TwitterAPI", {"authenticated": True}) for _ in range(2))
    last_answer(one, "post_tweet('a'); post_tweet('b', mentions=['@x']); mention(0, ['@y'])")
    assert json.loads(answer(one, "post_tweet('c')"))["mentions"] == ["@y"]
    assert json.loads(answer(one, "post_tweet('d', mentions=[])"))["mentions"] == []
    assert json.loads(answer(other, "post_tweet('c')"))["mentions"] == []


# Tickets.

TICKET = {
    "id": 7,
    "title": "Lamp",
    "description": "It flickers",
    "status": "Open",
    "priority": 2,
    "created_by": "ann",
}
TICKETS = [
    ("get_ticket(7)", json.dumps(TICKET)),
    ("get_ticket(8)", '{"error": "Ticket with ID 8 not found."}'),
    ("create_ticket('Door')", '{"error": "User not authenticated. Please log in to create a ticket."}'),
    (
        "ticket_login('ben', 'x'); create_ticket(title='Door')",
        '{"id": 8, "title": "Door", "description": "", "status": "Open", "priority": 1, "created_by": "ben"}',
    ),
    (
        "ticket_login('ben', 'x'); create_ticket('Door', priority=6)",
        '{"error": "Invalid priority. Priority must be between 1 and 5."}',
    ),
    (
        "ticket_login('ben', 'x'); create_ticket('Door', priority='high')",
        "Error during execution: '<' not supported between instances of 'str' and 'int'",
    ),
    ("close_ticket(7)", '{"status": "Ticket 7 has been closed successfully."}'),
    ("close_ticket(7); close_ticket(7)", '{"error": "Ticket with ID 7 is already closed."}'),
    ("close_ticket(8)", '{"error": "Ticket with ID 8 not found."}'),
    ("resolve_ticket(7, 'New bulb')", '{"status": "Ticket 7 has been resolved successfully."}'),
    ("resolve_ticket(7, 'a'); resolve_ticket(7, 'b')", '{"error": "Ticket with ID 7 is already resolved."}'),
    (
        "resolve_ticket(7, 'New bulb'); get_ticket(7)",
        json.dumps({**TICKET, "status": "Resolved", "resolution": "New bulb"}),
    ),
    ("resolve_ticket(8, 'a')", '{"error": "Ticket with ID 8 not found."}'),
    ("edit_ticket(7, {'priority': 5})", '{"status": "Ticket 7 has been updated successfully."}'),
    ("edit_ticket(7, {'priority': 5, 'title': None}); get_ticket(7)", json.dumps({**TICKET, "priority": 5})),
    (
        "edit_ticket(7, {'owner': 'x', 'colour': 'y', 'title': 'z'})",
        '{"error": "Invalid fields for update: colour, owner"}',
    ),
    ("edit_ticket(8, {})", '{"error": "Ticket with ID 8 not found."}'),
    ("edit_ticket(7, 'x')", "Error during execution: 'str' object has no attribute 'keys'"),
    ("ticket_login('ben', '')", '{"success": false}'),
    ("ticket_login('ben', 'x'); ticket_get_login_status()", '{"login_status": true}'),
    ("ticket_get_login_status()", '{"login_status": false}'),
    ("logout()", '{"success": false}'),
    ("ticket_login('ben', 'x'); logout()", '{"success": true}'),
    ("get_user_tickets()", "[{'error': 'User not authenticated. Please log in to view tickets.'}]"),
    ("ticket_login('ann', 'x'); get_user_tickets()", str([TICKET])),
    ("ticket_login('ann', 'x'); get_user_tickets('OPEN')", str([TICKET])),
    ("ticket_login('ann', 'x'); get_user_tickets(status='closed')", "[]"),
    ("ticket_login('ben', 'x'); get_user_tickets()", "[]"),
    (
        "edit_ticket(7, {'status': 3}); ticket_login('ann', 'x'); get_user_tickets('open')",
        "Error during execution: 'int' object has no attribute 'lower'",
    ),
]


@pytest.mark.parametrize(("calls", "expected"), TICKETS)
def test_tickets(calls: str, expected: str) -> None:
    assert last_answer(opened("TicketAPI", {"ticket_queue": [TICKET], "ticket_counter": 8}), calls) == expected


def test_a_scenarios_ticket_without_an_id_is_complained_of() -> None:
    tickets = opened("TicketAPI", {"ticket_queue": [{"title": "Lamp"}], "current_user": "ann"})
    assert answer(tickets, "get_ticket(1)") == "Error during execution: 'id'"
    assert answer(tickets, "get_user_tickets()") == "Error during execution: 'created_by'"


# What all have in common.

STATES: dict[str, list[dict[str, Any]]] = {
    "GorillaFileSystem": [TREE, {}],
    "MathAPI": [{}],
    "MessageAPI": [
        {"current_user": "USR001"},
        {"current_user": "USR001", "inbox": [{"USR002": ["x"]}, {"USR001": {}}]},
        {"current_user": "USR001", "inbox": [{}], "generated_ids": [1]},
    ],
    "TwitterAPI": [{"authenticated": True}, {"authenticated": True, "tweets": {"1": {"id": 1}}}],
    "TicketAPI": [{"ticket_queue": [TICKET], "current_user": "ann"}, {"ticket_queue": [{}], "current_user": "ann"}],
}
NAMES = st.sampled_from(("a", "b", "docs", "notes", ".", "..", "/", "a/b", "", "USR002", "Ann", "km", "l", "open"))
TEXTS = st.one_of(NAMES, st.text(max_size=8), st.sampled_from(("x" * 200_000, "\ud800", "a\n" * 1000)))
INTEGERS = st.one_of(st.integers(-3, 12), st.integers(), st.sampled_from((10**400, -(10**400), 10**4000)))
FLOATS = st.one_of(st.floats(), INTEGERS)
BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "str": TEXTS,
    "str | None": st.none() | TEXTS,
    "int": INTEGERS,
    "float": FLOATS,
    "bool": st.booleans(),
    "list[str]": st.lists(TEXTS, max_size=3),
    "list[float]": st.lists(FLOATS, max_size=4),
    "dict[str, str | int | None]": st.dictionaries(
        st.sampled_from(("title", "status", "priority", "colour")), st.none() | INTEGERS | TEXTS, max_size=3
    ),
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=3,
)


def calls_of(simulator: type[Simulator], typed: bool) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    def call_of(name: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
        hints = {key: hint for key, hint in tools(simulator)[name].__annotations__.items() if key != "return"}
        values = {key: BY_TYPE[hint] if typed else ANYTHING for key, hint in hints.items()}
        return st.tuples(st.just(name), st.fixed_dictionaries(values))

    return st.sampled_from(sorted(tools(simulator))).flatmap(call_of)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("typed", [True, False])
def test_whatever_is_called_there_is_an_answer_or_a_refusal(name: str, typed: bool) -> None:
    @given(st.sampled_from(STATES[name]), st.lists(calls_of(CLASSES[name], typed), max_size=12), st.booleans())
    @settings(max_examples=30)
    def check(config: dict[str, Any], calls: list[tuple[str, dict[str, Any]]], long_context: bool) -> None:
        before = copy.deepcopy(config)
        simulator, again = (opened(name, config, long_context) for _ in range(2))
        for tool, arguments in calls:
            found = []
            for instance in (simulator, again):
                try:
                    value = tools(CLASSES[name])[tool](instance, **copy.deepcopy(arguments))
                    found.append(result_text(value))
                except Refusal as refusal:
                    found.append(str(refusal))
            assert found[0] == found[1]
            again = copy.deepcopy(again)
        assert set(simulator.public_state()) == set(CLASSES[name].compared)
        assert repr(simulator.public_state()) == repr(again.public_state())
        assert config == before

    check()


@pytest.mark.parametrize("name", CLASSES)
def test_instances_and_copies_share_nothing(name: str) -> None:
    calls = {
        "GorillaFileSystem": "touch('new'); echo('x', 'notes'); rm('plan')",
        "MathAPI": "add(1, 2)",
        "MessageAPI": "add_contact('Cy'); send_message('USR002', 'x'); delete_message('USR002')",
        "TwitterAPI": "post_tweet('x'); mention(0, ['@b']); follow_user('cy'); retweet(0); comment(0, 'y')",
        "TicketAPI": "edit_ticket(7, {'title': 'x'}); create_ticket('y'); logout()",
    }[name]
    config = STATES[name][0]
    before = copy.deepcopy((config, TABLES.constants))
    one, other = opened(name, config), opened(name, config)
    snapshot = copy.deepcopy(one)
    untouched = copy.deepcopy(other.public_state())
    last_answer(one, calls)
    assert other.public_state() == snapshot.public_state() == untouched
    assert (config, TABLES.constants) == before
    last_answer(snapshot, calls)
    assert snapshot.public_state() == one.public_state()
    if name != "MathAPI":
        assert one.public_state() != untouched


def refused(simulator: Simulator, tool: str, *arguments: Any) -> bool:
    try:
        tools(type(simulator))[tool](simulator, *arguments)
    except Refusal:
        return True
    return False


@pytest.mark.parametrize(
    ("name", "tool", "arguments"),
    [
        ("MathAPI", "power", (9, 9**9)),
        ("MathAPI", "power", (10**4000, 10**4000)),
        ("MathAPI", "multiply", (10**4299, 10**4299)),
        ("MathAPI", "square_root", (2, 10**9)),
        ("MathAPI", "logarithm", (2, 3, 10**9)),
        ("MathAPI", "logarithm", ("9" * 1_000_000, 3, 10)),
        ("GorillaFileSystem", "mkdir", ("x" * 1_000_000,)),
        ("GorillaFileSystem", "echo", ("x" * 1_000_000, "notes")),
        ("GorillaFileSystem", "find", ("./" * 500_000,)),
        ("MessageAPI", "send_message", ("USR002", "x" * 1_000_000)),
        ("TwitterAPI", "post_tweet", ("x" * 1_000_000,)),
        ("TicketAPI", "create_ticket", ("x" * 1_000_000,)),
        ("TicketAPI", "edit_ticket", (7, {str(number): 1 for number in range(100_000)})),
    ],
)
def test_what_would_take_long_or_much_is_refused(name: str, tool: str, arguments: tuple[Any, ...]) -> None:
    simulator = opened(name, STATES[name][0])
    assert refused(simulator, tool, *arguments)


def test_a_file_system_does_not_grow_without_limit() -> None:
    files = opened("GorillaFileSystem", {})
    answer(files, "mkdir('a')")
    for number in range(1_000):  # each time all paths below double in number
        if refused(files, "cp", "a", f"b{number}") or refused(files, "mv", f"b{number}", "a"):
            break
    assert number < 999
    assert refused(files, "find")
    assert refused(files, "du")
    assert len(json.dumps(files.public_state())) < 1_000_000


def test_directories_do_not_go_deeper_without_limit() -> None:
    files = opened("GorillaFileSystem", {})
    levels = 0
    while not refused(files, "mkdir", "x" * 4_000):
        answer(files, f"cd('{'x' * 4_000}')")
        levels += 1
    assert levels == 100
    answer(files, "cd('/')")
    assert refused(files, "find")
    assert json.dumps(copy.deepcopy(files).public_state()) == json.dumps(files.public_state())


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "most"),
    [
        ("MessageAPI", "send_message", ("USR002", "x"), 10_000),
        ("TwitterAPI", "post_tweet", ("x" * 99_000,), 10),
        ("TicketAPI", "create_ticket", ("x",), 10_000),
        ("GorillaFileSystem", "echo", ("x" * 99_000, "notes"), 10),
    ],
)
def test_an_instance_is_full_some_day(name: str, tool: str, arguments: tuple[Any, ...], most: int) -> None:
    simulator = opened(name, STATES[name][0])
    for _ in range(most):
        assert not refused(simulator, tool, *arguments)
    assert refused(simulator, tool, *arguments)


def test_mentions_that_many_tweets_share_count_as_often_as_they_are_seen() -> None:
    tweets = opened("TwitterAPI", {"authenticated": True})
    for number in range(2_000):
        if refused(tweets, "post_tweet", "x") or refused(tweets, "mention", number, ["@" + "a" * 900]):
            break
    assert len(answer(tweets, "search_tweets('')")) < 2_000_000

"""OpenAPI documents as tools: names, places, schemas, references, keys; what cannot be a tool is said."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgym import Task, ToolCall
from callgym.errors import CallGymError, ConfigurationError, DataError, MissingPackageError
from callgym.random_values import random_arguments
from callgym.schema import ToolSchema
from callgym.tool_backends.http import Endpoint, OpenApi, RestBackend, read_openapi
from callgym.tool_backends.http.keys import KeyRing
from callgym.tool_backends.http.message import Request
from callgym.tool_backends.http.route import Route

PETS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "https://{region}.pets.example/v1/", "variables": {"region": {"default": "eu"}}}],
    "security": [{"header_key": []}],
    "paths": {
        "/pets/{pet-id}": {
            "parameters": [{"$ref": "#/components/parameters/PetId"}, {"name": "lang", "in": "query", "schema": {}}],
            "get": {
                "operationId": "get-pet",
                "summary": "One pet",
                "description": "By its id.",
                "security": [],
                "parameters": [
                    {"name": "lang", "in": "query", "description": "Language", "schema": {"type": "string"}},
                    {"name": "fields", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                    {"name": "ids", "in": "query", "explode": False, "schema": {"type": "array", "items": {}}},
                    {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
                    {"name": "where", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                    {"name": "sid", "in": "cookie", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"content": {"application/json": {"schema": {
                    "$ref": "#/components/schemas/Pet"}}}}},
            },
            "put": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": {
                    "$ref": "#/components/schemas/Pet"}}}},
            },
            "post": {
                "operationId": "upload",
                "requestBody": {"required": True, "content": {"multipart/form-data": {}}},
            },
        },
        "/pets": {
            "get": {"operationId": "get pet", "security": [{"oauth": []}, {}]},
            "post": {
                "operationId": "2nd",
                "security": [{"bearer": []}],
                "requestBody": {"$ref": "#/components/requestBodies/Tree"},
            },
            "patch": {
                "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {
                    "type": "object", "properties": {"name": {"type": "string"}}}}}},
            },
            "delete": {
                "security": [{"query_key": [], "header_key": []}],
                "requestBody": {"content": {"application/vnd.pets+json": {"schema": {
                    "type": "array", "items": {"type": "integer"}}}}, "description": "Which"},
            },
        },
    },
    "components": {
        "parameters": {"PetId": {"name": "pet-id", "in": "path", "required": True, "schema": {"type": "integer"}}},
        "requestBodies": {"Tree": {"required": True, "content": {"application/json": {"schema": {
            "$ref": "#/components/schemas/Tree"}}}}},
        "securitySchemes": {
            "header_key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "query_key": {"type": "apiKey", "in": "query", "name": "key"},
            "bearer": {"type": "http", "scheme": "Bearer"},
            "oauth": {"type": "oauth2", "flows": {}},
        },
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["id", "name", "secret"],
                "properties": {
                    "id": {"type": "integer", "readOnly": True},
                    "name": {"type": "string", "nullable": True, "example": "Rex", "xml": {"name": "n"}},
                    "secret": {"type": "string", "writeOnly": True},
                    "weight": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
                    "kind": {"$ref": "#/components/schemas/Kind"},
                    "pet-id": {"type": "string"},
                    "lang": {"type": "string"},
                },
            },
            "Kind": {"type": "string", "enum": ["dog", "cat"], "nullable": True},
            "Tree": {"type": "object", "required": ["value"], "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}},
        },
    },
}  # fmt: skip
KEYS = {"header_key": "K1", "query_key": "K2", "bearer": "K3"}
TASK = Task.from_dict(
    {
        "id": "t",
        "family": "mine",
        "split": "test",
        "messages": [{"role": "user", "content": "hello"}],
        "goal": {"kind": "calls", "turns": [[]]},
    }
)


def pets(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(PETS), **changes}


def by_name(read: OpenApi) -> dict[str, Endpoint]:
    return {endpoint.tool.name: endpoint for endpoint in read.endpoints}


@pytest.fixture(scope="module")
def read() -> OpenApi:
    return read_openapi(PETS, keys=KEYS)


def request_of(endpoint: Endpoint, arguments: dict[str, Any]) -> Request:
    ring = KeyRing({"K1": "one", "K2": "two", "K3": "three"})
    request = Route(endpoint).request(arguments, ring, 10_000)
    assert isinstance(request, Request), request
    return request


def test_names_are_valid_and_unique(read: OpenApi) -> None:
    assert list(by_name(read)) == ["get_pet", "put_pets_pet_id", "get_pet_2", "op_2nd", "patch_pets", "delete_pets"]
    assert dict(read.skipped) == {"POST /pets/{pet-id}": "its body is multipart/form-data"}


def test_parameters_become_arguments(read: OpenApi) -> None:
    endpoint = by_name(read)["get_pet"]
    assert endpoint.tool.description == "One pet\nBy its id."
    assert endpoint.tool.parameters == {
        "type": "object",
        "properties": {
            "pet_id": {"type": "integer"},
            "lang": {"type": "string", "description": "Language"},
            "fields": {"type": "array", "items": {"type": "string"}},
            "ids": {"type": "array", "items": {}},
            "filter": {"type": "object"},
            "where": {"type": "object"},
            "X_Trace": {"type": "string"},
            "sid": {"type": "string"},
        },
        "additionalProperties": False,
        "required": ["pet_id"],
    }
    arguments = {"pet_id": 7, "fields": ["a", "b"], "ids": [1, 2], "filter": {"k": "v"}, "where": {"x": 1},
                 "X_Trace": "t", "sid": "s"}  # fmt: skip
    request = request_of(endpoint, arguments)
    assert (request.origin.scheme, request.origin.host, request.origin.port) == (b"https", b"eu.pets.example", 443)
    assert request.target == b"/v1/pets/7?fields=a&fields=b&ids=1%2C2&filter%5Bk%5D=v&where=%7B%22x%22%3A%201%7D"
    headers = dict(request.headers)
    assert (headers[b"X-Trace"], headers[b"Cookie"], b"X-Key" in headers) == (b"t", b"sid=s", False)


def test_the_answers_schema_is_kept(read: OpenApi) -> None:
    returns = by_name(read)["get_pet"].tool.returns
    assert returns is not None
    assert set(returns["properties"]) == {"id", "name", "weight", "kind", "pet-id", "lang"}  # type: ignore[arg-type]
    assert returns["required"] == ["id", "name"]
    assert by_name(read)["op_2nd"].tool.returns is None


def test_the_properties_of_a_body_become_arguments(read: OpenApi) -> None:
    endpoint = by_name(read)["put_pets_pet_id"]
    assert endpoint.tool.properties == {
        "pet_id": {"type": "integer"},
        "lang": {},
        "name": {"type": ["string", "null"], "examples": ["Rex"]},
        "secret": {"type": "string"},
        "weight": {"type": "number", "exclusiveMinimum": 0},
        "kind": {"type": ["string", "null"], "enum": ["dog", "cat", None]},
        "pet_id_body": {"type": "string"},
        "lang_body": {"type": "string"},
    }
    assert endpoint.tool.required == ("pet_id", "name", "secret")
    request = request_of(endpoint, {"pet_id": 7, "name": "Rex", "secret": "s", "pet_id_body": "x", "lang": "en"})
    assert request.target == b"/v1/pets/7?lang=en"
    assert json.loads(request.body) == {"name": "Rex", "secret": "s", "pet-id": "x"}
    assert dict(request.headers)[b"X-Key"] == b"one"


def test_what_refers_to_itself_stays_a_definition(read: OpenApi) -> None:
    endpoint = by_name(read)["op_2nd"]
    assert endpoint.tool.properties["children"] == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    schema = ToolSchema(endpoint.tool)
    assert schema.check({"value": 1, "children": [{"value": 2, "children": []}]}) is None
    assert schema.check({"value": 1, "children": [{"value": 2, "children": [{}]}]}) is not None
    assert dict(request_of(endpoint, {"value": 1}).headers)[b"Authorization"] == b"Bearer three"


def test_other_bodies(read: OpenApi) -> None:
    form = request_of(by_name(read)["patch_pets"], {"name": "a b"})
    assert form.body == b"name=a+b"
    whole = by_name(read)["delete_pets"]
    assert whole.tool.properties == {"body": {"type": "array", "items": {"type": "integer"}, "description": "Which"}}
    request = request_of(whole, {"body": [1, 2]})
    assert (request.body, request.target) == (b"[1, 2]", b"/v1/pets?key=two")
    assert request_of(whole, {}).body == b""


def test_operations_without_a_key_are_left_out() -> None:
    read = read_openapi(PETS)
    assert list(by_name(read)) == ["get_pet", "get_pet_2"]
    assert "'bearer'" in read.skipped["POST /pets"]
    with pytest.raises(ConfigurationError, match="none_such"):
        read_openapi(PETS, keys={"none_such": "K"})
    named = read_openapi(PETS, keys={"oauth": "K4"})
    (key,) = by_name(named)["get_pet_2"].keys
    assert (key.env, key.scheme) == ("K4", "bearer")


def test_operations_can_be_chosen() -> None:
    for wanted in (["get_pet"], ["get-pet"], ["GET /pets/{pet-id}"]):
        assert list(by_name(read_openapi(PETS, operations=wanted))) == ["get_pet"]
    assert list(by_name(read_openapi(PETS, operations=["get_pet_2"]))) == ["get_pet_2"]
    with pytest.raises(ConfigurationError, match="nothing"):
        read_openapi(PETS, operations=["nothing"])
    with pytest.raises(ConfigurationError, match="list of names"):
        read_openapi(PETS, operations="get_pet")


def test_servers() -> None:
    def url(**changes: Any) -> str:
        return read_openapi(pets(**changes), operations=["get_pet"]).endpoints[0].url

    assert url() == "https://eu.pets.example/v1/pets/{pet-id}"
    assert url(servers=[{"url": "http://a"}, {"url": "http://b"}]) == "http://a/pets/{pet-id}"
    nowhere: list[list[dict[str, str]]] = [[], [{"url": "/v1"}], [{}]]
    for servers in nowhere:
        with pytest.raises(ConfigurationError, match="base_url"):
            url(servers=servers)
    read = read_openapi(pets(servers=[]), operations=["get_pet"], base_url="http://c/d/")
    assert read.endpoints[0].url == "http://c/d/pets/{pet-id}"
    document = pets()
    document["paths"]["/pets/{pet-id}"]["get"]["servers"] = [{"url": "https://other.example"}]
    assert read_openapi(document, operations=["get_pet"]).endpoints[0].url.startswith("https://other.example/pets")


def test_documents_are_dicts_texts_and_files(tmp_path: Path, read: OpenApi) -> None:
    text = json.dumps(PETS)
    file = tmp_path / "pets.json"
    file.write_text(text, encoding="utf-8")
    for source in (text, "\n " + text, file, str(file)):
        assert read_openapi(source, keys=KEYS) == read
    yaml = pytest.importorskip("yaml")
    written = yaml.safe_dump(PETS, sort_keys=False)
    (tmp_path / "pets.yaml").write_text(written, encoding="utf-8")
    for source in (written, tmp_path / "pets.yaml"):
        assert read_openapi(source, keys=KEYS) == read


def test_yaml_without_pyyaml_is_told(monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(MissingPackageError, match="PyYAML"):
        read_openapi("openapi: 3.0.0\npaths: {}\n")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
WRONG_DOCUMENTS: list[tuple[Any, str]] = [
    ({}, "no OpenAPI 3 document"),
    ({"swagger": "2.0"}, "no OpenAPI 3 document"),
    ({"openapi": "2.0"}, "openapi: 2.0"),
    ({"openapi": "3.0.0"}, "no operation"),
    ({"openapi": "3.0.0", "paths": {"/a": {"get": 3}, "b": {"get": {}}, "/c": 3}}, "no operation"),
    ("{", "neither JSON nor YAML"),
    ("[" * 400 + "\n", "neither JSON nor YAML"),
    ("{" + '"a":{' * 300 + '"b":1' + "}" * 301, "goes round"),
    ("- a\n- b\n", "no OpenAPI 3 document"),
    ("a: [\n", "neither JSON nor YAML"),
    ("a: !!python/object/apply:os.getcwd []\n", "neither JSON nor YAML"),
    ("&a\na: *a\n", "goes round"),
    ("/nowhere/pets.json", "cannot be read"),
    (Path("/nowhere"), "cannot be read"),
    ("\x00", "cannot be read"),
]


@pytest.mark.parametrize(("document", "words"), WRONG_DOCUMENTS)
def test_wrong_documents_are_told(document: Any, words: str) -> None:
    with pytest.raises(DataError, match=words) as raised:
        read_openapi(document, base_url="http://host")
    assert len(str(raised.value)) < 600


def test_documents_that_swell_are_left(monkeypatch: Any) -> None:
    monkeypatch.setattr("callgym.tool_backends.http.openapi_document._MAX_VALUES", 10_000)
    with pytest.raises(DataError, match="too large"):
        read_openapi(BOMB)


def one_operation(schema: Any = None, version: str = "3.1.0", **operation: Any) -> dict[str, Any]:
    if schema is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    fine = {"operationId": "fine"}
    return {
        "openapi": version,
        "servers": [{"url": "http://host"}],
        "paths": {"/x": {"post": {"operationId": "tried", **operation}}, "/fine": {"get": fine}},
        "components": {"schemas": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A"}, "n": {"type": "null"}}},
            "Loop": {"$ref": "#/components/schemas/Loop"},
            "S": {"type": "string"},
            "O": {"type": "object", "properties": {"s": {"$ref": "#/components/schemas/S"}}, "required": ["s"]},
        }},
    }  # fmt: skip


SKIPPED: list[tuple[dict[str, Any], str]] = [
    ({"schema": {"$ref": "http://evil.example/schema.json"}}, "none is fetched"),
    ({"schema": {"$ref": "other.yaml#/A"}}, "none is fetched"),
    ({"schema": {"$ref": "file:///etc/passwd"}}, "none is fetched"),
    ({"schema": {"$ref": "#/components/schemas/None"}}, "leads nowhere"),
    ({"schema": {"$dynamicRef": "#x"}}, "dynamic references"),
    ({"schema": [1]}, "no object"),
    ({"schema": {"type": "nonsense"}}, "not a JSON Schema"),
    ({"schema": {"type": "object", "properties": {"a": {"pattern": "("}}}}, "not a JSON Schema"),
    ({"parameters": [{"name": "a", "in": "nowhere"}]}, "nowhere"),
    ({"parameters": [{"in": "query"}]}, "no name"),
    ({"parameters": [{"name": "a", "in": "query", "style": "odd"}]}, "odd"),
    ({"parameters": [{"name": "a", "in": "path", "style": "matrix"}]}, "matrix"),
    ({"parameters": [{"name": "a", "in": "path"}]}, "placeholders"),
    ({"parameters": [{"name": "a", "in": "query", "content": {"text/csv": {}}}]}, "text/csv"),
    ({"requestBody": {"content": {}}}, "of no type"),
    ({"requestBody": {"required": True, "content": {"application/octet-stream": {}}}}, "octet-stream"),
    ({"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {"type": "string"}}}}}, "no object"),
    ({"security": [{"other": []}]}, "needs a key"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "words"), SKIPPED)
def test_what_cannot_be_a_tool_is_said(parts: dict[str, Any], words: str) -> None:
    read = read_openapi(one_operation(**parts))
    assert [endpoint.tool.name for endpoint in read.endpoints] == ["fine"]
    assert words in read.skipped["POST /x"]


REF = "#/components/schemas/"
WRITTEN: list[tuple[str, Any, dict[str, Any]]] = [
    ("3.1.0", {"$ref": REF + "O"}, {"s": {"type": "string"}}),
    ("3.1.0", {"allOf": [{"$ref": REF + "O"}, {"type": "object", "properties": {"t": {}}}]},
     {"s": {"type": "string"}, "t": {}}),
    ("3.1.0", {"allOf": [{"$ref": REF + "O"}, {"type": "object", "properties": {"s": {}}}]},
     {"body": {"allOf": [{"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]},
                         {"type": "object", "properties": {"s": {}}}]}}),
    ("3.1.0", {"type": "object", "properties": {"a": {"$ref": REF + "S", "description": "it"}}},
     {"a": {"type": "string", "description": "it"}}),
    ("3.1.0", {"type": "object", "properties": {"a": {"$ref": REF + "S", "maxLength": 3}}},
     {"a": {"allOf": [{"type": "string"}], "maxLength": 3}}),
    ("3.0.0", {"type": "object", "properties": {"a": {"$ref": REF + "S", "maxLength": 3, "description": "it"}}},
     {"a": {"type": "string", "description": "it"}}),
    ("3.0.0", {"type": "object", "properties": {"a": {"allOf": [{"$ref": REF + "S"}], "nullable": True}}},
     {"a": {"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]}}),
    ("3.1.0", {"type": "object", "properties": {"$ref": {"type": "string"}, "example": {"const": {"$ref": "x"}}}},
     {"ref": {"type": "string"}, "example": {"const": {"$ref": "x"}}}),
    ("3.1.0", {"type": "object", "properties": {"a": True, "b": False}}, {"a": {}}),
    ("3.1.0", {"type": "object", "properties": {"a": {}}, "minProperties": 1},
     {"body": {"type": "object", "properties": {"a": {}}, "minProperties": 1}}),
    ("3.1.0", {"type": "object", "additionalProperties": {"type": "string"}},
     {"body": {"type": "object", "additionalProperties": {"type": "string"}}}),
    ("3.1.0", {"oneOf": [{"$ref": REF + "S"}, {"type": "null"}]},
     {"body": {"oneOf": [{"type": "string"}, {"type": "null"}]}}),
    ("3.1.0", {"type": "object", "properties": {"first name": {}, "first-name": {}, "1st": {}, "": {}}},
     {"first_name": {}, "first_name_body": {}, "_1st": {}, "value": {}}),
    ("3.1.0", {"$schema": "x", "$id": "http://evil.example/", "type": "string", "x-more": 1, "title": "T"},
     {"body": {"type": "string", "title": "T"}}),
    ("3.1.0", {"type": "object", "properties": {"x": {"$ref": REF + "S"}, "loop": {"$ref": REF + "Loop"}}},
     {"x": {"type": "string"}, "loop": {"$ref": "#/$defs/Loop"}}),
]  # fmt: skip


@pytest.mark.parametrize(("version", "schema", "properties"), WRITTEN)
def test_schemas_are_written_as_json_schema(version: str, schema: Any, properties: dict[str, Any]) -> None:
    read = read_openapi(one_operation(schema, version))
    if any("Loop" in str(part) for part in properties.values()):  # a reference to itself says nothing, and is refused
        assert "POST /x" in read.skipped or by_name(read)["tried"].tool.properties == properties
        return
    assert by_name(read)["tried"].tool.properties == properties


def test_cycles_through_several_schemas() -> None:
    tool = by_name(read_openapi(one_operation({"$ref": REF + "A"})))["tried"].tool
    assert tool.properties == {"b": {"$ref": "#/$defs/B"}}
    assert set(tool.parameters["$defs"]) == {"A", "B"}  # type: ignore[arg-type]
    assert ToolSchema(tool).check({"b": {"a": {"b": {"n": None}}}}) is None
    assert ToolSchema(tool).check({"b": {"a": {"b": {"n": 1}}}}) is not None


def test_schemas_that_would_grow_are_kept_as_definitions() -> None:
    document = one_operation({"$ref": REF + "L0"})
    layers = {
        f"L{level}": {
            "type": "object",
            "properties": {side: {"$ref": f"{REF}L{level + 1}"} for side in ("left", "right", "middle")},
        }
        for level in range(20)
    }
    document["components"]["schemas"] = {**layers, "L20": {"type": "string"}}
    tool = by_name(read_openapi(document))["tried"].tool
    assert len(json.dumps(tool.parameters)) < 10_000
    assert len(tool.parameters["$defs"]) == 21  # type: ignore[arg-type]
    assert set(tool.properties) == {"left", "right", "middle"}


def test_the_backend_of_a_document() -> None:
    backend = RestBackend.from_openapi(PETS, operations=["get_pet"], base_url="http://127.0.0.1:9")
    assert [tool.name for tool in backend.tools] == ["get_pet"]
    assert backend.open(TASK, 0).call(ToolCall(name="get_pet", arguments={"pet_id": ".."})).error == "invalid_arguments"


def test_random_arguments_can_be_sent(read: OpenApi) -> None:
    rng = random.Random(0)
    for endpoint in read.endpoints:
        for _ in range(20):
            arguments = random_arguments(endpoint.tool.parameters, rng)
            if ToolSchema(endpoint.tool).check(arguments) is None:
                request_of(endpoint, arguments)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3)
    | st.sampled_from(["object", "string", "#/components/schemas/A", "x"]),
    lambda part: st.lists(part, max_size=2)
    | st.dictionaries(
        st.sampled_from(["type", "properties", "$ref", "items", "allOf", "required", "enum", "name", "in", "schema",
                         "content", "application/json", "nullable", "minimum", "exclusiveMinimum", "example"]),
        part,
        max_size=3,
    ),
    max_leaves=8,
)  # fmt: skip


@given(
    st.sampled_from(["parameters", "requestBody", "security", "responses", "servers", "summary", "operationId"]), ANY
)
def test_whatever_stands_in_a_document_is_read_or_told(part: str, value: Any) -> None:
    for version in ("3.0.0", "3.1.0"):
        try:
            read = read_openapi(one_operation(version=version, **{part: value}), base_url="http://host")
        except CallGymError:
            continue
        assert "fine" in by_name(read)


@given(ANY)
def test_whatever_a_schema_says_is_read_or_told(schema: Any) -> None:
    for version in ("3.0.0", "3.1.0"):
        read = read_openapi(one_operation(schema if schema is not None else {}, version))
        assert "POST /x" in read.skipped or "tried" in by_name(read)

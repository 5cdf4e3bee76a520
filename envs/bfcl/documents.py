"""BFCL's documents of functions as a prompt shows them: as JSON, as XML, as Python's docstrings.

Source: ``bfcl-eval`` 2026.3.23; the texts are equal to the byte. What it adds to the documents for inference alone,
a hint at the language, and for Java and JavaScript that values are texts, is added here, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal

from callgym.envs.bfcl.categories import Language

__all__ = ["DocumentFormat", "documents_for_inference", "write_documents"]

DocumentFormat = Literal["python", "xml", "json"]

_HINTS: dict[Language, str] = {"python": "Python 3", "java": "Java 8 SDK", "javascript": "JavaScript"}
_NAMES: dict[Language, str] = {"java": "Java", "javascript": "JavaScript"}
_LISTS: dict[Language, tuple[str, ...]] = {"java": ("ArrayList", "Array"), "javascript": ("array",)}
_PYTHON_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}
_MARGIN = " " * 8


def documents_for_inference(functions: Sequence[Mapping[str, Any]], language: Language) -> list[dict[str, Any]]:
    """The documents as a model is shown them; the given ones stay as they are.

    Args:
        functions: Official documents, ``{"name", "description", "parameters": {"properties", ...}}``.
        language: What the functions are written in. For Java and JavaScript every parameter becomes a text, and its
            description says of which type and, for lists (JavaScript: dicts, too), of what.

    Raises:
        KeyError: A document lacks what the official inference needs.
    """
    shown = [dict(function) for function in functions]
    for function in shown:
        function["description"] += f" Note that the provided function is in {_HINTS[language]} syntax."
        if language != "python":
            function["parameters"] = deepcopy(function["parameters"])
            for entry in function["parameters"]["properties"].values():
                _declare_text(entry, language)
    return shown


def _declare_text(entry: dict[str, Any], language: Language) -> None:
    """Declare a parameter a text of the language's source."""
    declared = entry["type"]
    of_type = f"is {_NAMES[language]} {declared} type parameter"
    if declared == "any":
        of_type = f"parameter can be of any type of {_NAMES[language]} object"
    entry["description"] += f" This {of_type} in string representation."
    if declared in _LISTS[language]:
        element = entry.pop("items")["type"]
        entry["description"] += f" The list elements are of type {element}; they are not in string representation."
    if language == "javascript" and declared == "dict" and "properties" in entry:
        fields = json.dumps(entry.pop("properties"))
        entry["description"] += (
            f" The dictionary entries have the following schema; they are not in string representation. {fields}"
        )
    entry["type"] = "string"


def write_documents(functions: Sequence[Mapping[str, Any]], doc_fmt: str) -> str:
    """The documents as text.

    Raises:
        KeyError: There is no such format, or a document lacks its name or parameters.
    """
    return {"json": _as_json, "xml": _as_xml, "python": _as_python}[doc_fmt](functions)


def _as_json(functions: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(functions, indent=4)


# XML. Nothing is escaped, and no attribute has a comma.


def _as_xml(functions: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(["".join(_xml_function(function)) for function in functions])


def _xml_function(function: Mapping[str, Any]) -> Iterator[str]:
    yield f'<function name="{function["name"]}">\n  <desc>{function.get("description", "")}</desc>\n  <params>\n'
    yield from _xml_parameters(function["parameters"], 4)
    yield "  </params>\n</function>\n"


def _xml_parameters(schema: Mapping[str, Any], indent: int) -> Iterator[str]:
    """The parameters of a function, or the entries of a dict, each set in; all are required where none is listed."""
    margin = " " * indent
    required = schema.get("required")
    for name, entry in schema.get("properties", {}).items():
        is_required = "true" if required is None or name in required else "false"
        attributes = f'name="{name}" type="{_xml_type(entry)}" required="{is_required}"'
        if "default" in entry:
            attributes += f' default="{entry["default"]!r}"'
        yield f"{margin}<param {attributes.replace(',', '')}>\n{margin}  <desc>{_described(entry)}</desc>\n"
        if "properties" in entry:
            yield f"{margin}  <params>\n"
            yield from _xml_parameters(entry, indent + 4)
            yield f"{margin}  </params>\n"
        yield f"{margin}</param>\n"


def _xml_type(entry: Mapping[str, Any]) -> str:
    declared = entry.get("type", "string")
    if "type" in entry.get("items", {}):
        return f"{declared}[{entry['items']['type']}]"
    if "additionalProperties" in entry:
        return f"{declared}[{entry['additionalProperties'].get('type', 'string')}]"
    return str(declared)


def _described(entry: Mapping[str, Any]) -> str:
    listed = f" Enum values: {entry['enum']}." if "enum" in entry else ""
    return f"{entry.get('description', '')}{listed}"


# Python.


def _as_python(functions: Sequence[Mapping[str, Any]]) -> str:
    return "\n\n".join([part for function in functions for part in ("".join(_python_function(function)), "\n")])


def _python_function(function: Mapping[str, Any]) -> Iterator[str]:
    yield f'# Function: {function["name"]}\n    """\n    {function.get("description", "")}\n\n'
    properties = function.get("parameters", {}).get("properties", {})
    if properties:
        yield "    Args:\n"
        yield from _python_parameters(properties, _MARGIN)
    yield '    """\n'


def _python_parameters(properties: Mapping[str, Any], margin: str) -> Iterator[str]:
    for name, entry in properties.items():
        default = f", default={entry['default']!r}" if "default" in entry else ""
        yield f"{margin}{name} ({_python_type(entry)}{default}): {_described(entry)}\n"
        yield from _python_parameters(entry.get("properties", {}), margin + " " * 4)


def _python_type(entry: Mapping[str, Any]) -> str:
    declared = str(entry.get("type", "string"))
    if declared in ("array", "list", "tuple") and "items" in entry:
        return f"list[{_python_type(entry['items'])}]"
    if declared in ("object", "dict"):
        inner = entry.get("additionalProperties")
        return "dict" if inner is None else f"dict[str, {_python_type(inner)}]"
    return _PYTHON_TYPES.get(declared, declared)

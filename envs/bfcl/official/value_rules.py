"""Which values BFCL's checker takes for one argument: its type, then the value itself, quirks included.

Everything that does not depend on the model's value is worked out once, in ``ArgumentRule``. Source: ``bfcl-eval``
2026.3.23, its checker of syntax trees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callgym.envs.bfcl.official.code_values import convert_java, convert_javascript
from callgym.envs.bfcl.official.standardise import standardise

__all__ = ["TYPES", "ArgumentRule", "Fault", "passes_at_once"]

TYPES: dict[str, dict[str, type]] = {
    "python": {
        "string": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
        "any": str,
    },
    "java": {
        "byte": int,
        "short": int,
        "integer": int,
        "float": float,
        "double": float,
        "long": int,
        "boolean": bool,
        "char": str,
        "Array": list,
        "ArrayList": list,
        "Set": set,
        "HashMap": dict,
        "Hashtable": dict,
        "Queue": list,
        "Stack": list,
        "String": str,
        "any": str,
    },
    "javascript": {
        "String": str,
        "integer": int,
        "float": float,
        "Bigint": int,
        "Boolean": bool,
        "dict": dict,
        "array": list,
        "any": str,
    },
}
"""Language to its declared types, and the Python type in which a value of each is expected."""
_WITH_ITEMS = {
    "python": ("array", "tuple"),
    "java": ("Array", "ArrayList"),
    "javascript": ("array",),
}

# Types of which a value that equals an accepted one as it stands passes, whatever the finer rules.
_AT_ONCE = {
    language: {name: kind for name, kind in types.items() if kind in (str, int, float, bool)}
    for language, types in TYPES.items()
}


# Of these a list that equals an accepted one as it stands passes, too.
_LISTS = frozenset((list, str))


class Fault(NamedTuple):
    """What is wrong with a call."""

    error_type: str
    """The official error type."""
    template: str
    """A sentence with a place for each of the values; it is made only where somebody reads it."""
    values: tuple[Any, ...] = ()


class ArgumentRule:
    """One argument of a gold call: what is declared, and which values are accepted."""

    def __init__(self, name: str, document: Mapping[str, Any], allowed: Sequence[Any], language: str) -> None:
        """Read the rule.

        Args:
            name: The argument.
            document: What the function's document says of it, ``{"type", "items", ...}``.
            allowed: The gold's accepted values; "" among them: it may be left out.
            language: A key of ``TYPES``.

        Raises:
            KeyError: The declared type is missing or unknown.
        """
        self.name = name
        self.allowed = allowed
        self.language = language
        self.declared = document["type"]
        self.expected = TYPES[language][self.declared]
        self.inner_declared: str | None = None
        self.inner: type | None = None
        self._unknown_inner: str | None = None
        if self.declared in _WITH_ITEMS[language]:
            # Officially looked up after the value was seen to be a text, where it has to be one.
            try:
                self.inner_declared = document["items"]["type"]
                self.inner = TYPES[language][self.inner_declared]
            except KeyError as error:
                self._unknown_inner = str(error)
        self.possible = _first_type(allowed)
        self.is_variable = self.possible is not None and self.possible is not self.expected
        """The gold's values are of another type than the declared one: names of variables, as a rule."""
        # Worked out when they are first needed.
        self._element_types: list[frozenset[Any] | None] | None = None
        self._texts: frozenset[str] | None = None
        self._lists: list[list[Any]] | None = None

    def fault(self, value: Any) -> Fault | None:
        """What is wrong with a value, None if nothing is.

        Raises:
            Exception: The official code raises, too, and with the same class of exception.
        """
        if self.language != "python":
            if type(value) is not str:
                short = "java" if self.language == "java" else "js"
                return Fault(f"type_error:{short}", "argument {} must be a text, found {}", (self.name, value))
            if self._unknown_inner is not None:
                raise KeyError(self._unknown_inner)
            value = _converted(value, self.language, self.declared, self.inner_declared)
        elif self._unknown_inner is not None:
            raise KeyError(self._unknown_inner)
        elif type(value) is int and self.declared == "float":
            value = float(value)
        if self.declared == "tuple" and type(value) is tuple:
            value = list(value)
        is_variable = self.is_variable
        kind = type(value)
        if kind is self.expected:
            if self.inner is not None and not self._elements_fit(value):
                # As officially: the elements are blamed only where the gold has lists, too.
                level = "nested" if kind is self.possible else "simple"
                return Fault(
                    f"type_error:{level}", "elements of argument {} are of another type: {}", (self.name, value)
                )
        elif self.possible is not None and kind is self.possible:
            is_variable = True
        else:
            return Fault("type_error:simple", "argument {} is declared {}, found {}", (self.name, self.declared, value))
        return self._value_fault(value, is_variable)

    def _elements_fit(self, value: Any) -> bool:
        if self._element_types is None:
            self._element_types = _element_types(self.allowed, self.inner)
        return any(types is None or types.issuperset(map(type, value)) for types in self._element_types)

    def _value_fault(self, value: Any, is_variable: bool) -> Fault | None:
        if not is_variable:
            if self.expected is str:
                if self._texts is None:
                    self._texts = frozenset([standardise(item) for item in self.allowed if type(item) is str])
                return None if standardise(value) in self._texts else self._wrong("string", value)
            if self.expected is dict:
                return self._dictionary_fault(value, self.allowed)
            if self.expected is list:
                if self.inner is dict:
                    return self._dictionaries_fault(value)
                if self._lists is None:
                    if value in self.allowed and _LISTS.issuperset(map(type, self.allowed)):
                        return None
                    self._lists = _lists(self.allowed)
                accepted = [_standardised(item) for item in value] in self._lists
                return None if accepted else self._wrong("list/tuple", value)
        return None if value in self.allowed else self._wrong("others", value)

    def _wrong(self, kind: str, value: Any) -> Fault:
        return Fault(f"value_error:{kind}", "argument {} is {}, accepted are {}", (self.name, value, self.allowed))

    def _dictionary_fault(self, value: Any, candidates: Sequence[Any]) -> Fault | None:
        fault: Fault | None = Fault(
            "dict_checker:unclear", "argument {} has no dictionary to compare with {}", (self.name, value)
        )
        for candidate in candidates:
            if candidate == "":
                continue
            fault = _member_fault(value, candidate)
            if fault is None:
                return None
        return fault

    def _dictionaries_fault(self, value: list[Any]) -> Fault | None:
        fault: Fault | None = Fault(
            "list_dict_checker:unclear", "argument {} has no list to compare with {}", (self.name, value)
        )
        for candidate in self.allowed:
            if len(value) != len(candidate):
                template = "argument {} has another number of dictionaries: {}"
                fault = Fault("value_error:list_dict_count", template, (self.name, value))
                continue
            fault = None
            for place, item in enumerate(value):
                fault = self._dictionary_fault(item, [candidate[place]])
                if fault is not None:
                    break
            if fault is None:
                return None
        return fault


def passes_at_once(value: Any, document: Mapping[str, Any], allowed: Any, language: str) -> bool:
    """Whether a value passes without a closer look, as most do; False says nothing.

    Raises:
        Exception: The official code raises, too, and with the same class of exception.
    """
    declared = document["type"]
    kind = _AT_ONCE[language].get(declared)
    if language != "python":
        if kind is None or type(value) is not str:
            return False
        value = _converted(value, language, declared)
    return type(value) is kind and type(allowed) is list and value in allowed


def _converted(text: str, language: str, declared: str, inner: str | None = None) -> Any:
    return (convert_java if language == "java" else convert_javascript)(text, declared, inner)


def _member_fault(value: Any, accepted: Any) -> Fault | None:
    """What is wrong with a dictionary, compared with one of ``{key: [accepted values]}``."""
    fault: Fault | None = None
    for key, item in value.items():
        if key not in accepted:
            fault = Fault("value_error:dict_key", "key {} is not expected", (key,))
            break
        choices = accepted[key]
        # Index by index as officially: one gold has a text here, whose characters are then the values.
        if _standardised(item) not in [_standardised(choices[place]) for place in range(len(choices))]:
            fault = Fault("value_error:dict_value", "key {} is {}, accepted are {}", (key, item, choices))
            break
    for key, choices in accepted.items():
        if key not in value and "" not in choices:
            return Fault("value_error:dict_key", "key {} is missing", (key,))
    return fault


def _element_types(allowed: Sequence[Any], inner: type | None) -> list[frozenset[Any] | None]:
    """For each accepted value the types that elements may have; None: any, as it is no list itself."""
    return [frozenset((inner, _first_type(item))) if type(item) is list else None for item in allowed]


def _lists(allowed: Sequence[Any]) -> list[list[Any]]:
    """The accepted lists as they are compared; a text counts as the list of its characters, "" as the empty list."""
    return [[_standardised(item[place]) for place in range(len(item))] for item in allowed]


def _standardised(value: Any) -> Any:
    return standardise(value) if type(value) is str else value


def _first_type(allowed: Sequence[Any]) -> type | None:
    """The type of the first value that is not ""; None if there is none."""
    for item in allowed:
        if item != "":
            return type(item)
    return None

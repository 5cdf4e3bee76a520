"""Dialects: how a policy writes calls, and how it is shown the conversation."""

from __future__ import annotations

from functools import lru_cache

from callgym.dialects.alpha_umi import AlphaUmiDialect
from callgym.dialects.anthropic_xml import AnthropicXmlDialect
from callgym.dialects.apibank import ApiBankDialect, ApiBankShortDialect
from callgym.dialects.auto import AutoDialect
from callgym.dialects.base import Dialect, ParsedAction
from callgym.dialects.deepseek import DeepSeekDialect
from callgym.dialects.detect import Detection, detect_dialect
from callgym.dialects.functionary import FunctionaryDialect
from callgym.dialects.glm import GlmDialect
from callgym.dialects.harmony import HarmonyDialect
from callgym.dialects.hermes import HermesDialect
from callgym.dialects.kimi import KimiDialect
from callgym.dialects.llama3 import Llama3Dialect
from callgym.dialects.mistral import MistralDialect
from callgym.dialects.openai import OpenAIDialect
from callgym.dialects.python_calls import PythonDialect
from callgym.dialects.qwen3_coder import Qwen3CoderDialect
from callgym.dialects.react import ReactDialect
from callgym.dialects.repair import RepairingDialect
from callgym.dialects.toolace import ToolAceDialect
from callgym.dialects.xlam import XlamDialect
from callgym.errors import ConfigurationError

__all__ = ["DIALECTS", "Detection", "Dialect", "ParsedAction", "detect_dialect", "get_dialect"]

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        AlphaUmiDialect(),
        AnthropicXmlDialect(),
        ApiBankDialect(),
        ApiBankShortDialect(),
        AutoDialect(),
        DeepSeekDialect(),
        FunctionaryDialect(),
        GlmDialect(),
        HarmonyDialect(),
        HermesDialect(),
        KimiDialect(),
        Llama3Dialect(),
        MistralDialect(),
        OpenAIDialect(),
        PythonDialect(),
        Qwen3CoderDialect(),
        ReactDialect(),
        ToolAceDialect(),
        XlamDialect(),
    )
}
"""Name to dialect; they hold no state."""


def get_dialect(dialect: str | Dialect) -> Dialect:
    """The dialect of a name, or of a name with options, ``"harmony:commentary"``; a Dialect is returned as it is.

    Raises:
        ConfigurationError: There is no such dialect or option.
    """
    if isinstance(dialect, Dialect):
        return dialect
    if not isinstance(dialect, str) or dialect.partition(":")[0] not in DIALECTS:
        raise ConfigurationError(f"no dialect {dialect!r}; there are: {', '.join(DIALECTS)}")
    return _with_options(dialect)


@lru_cache(maxsize=256)
def _with_options(spec: str) -> Dialect:
    # Remembered: environments tell dialects apart by identity.
    name, _, options = spec.partition(":")
    found = DIALECTS[name]
    for option in filter(None, options.split(",")):
        found = RepairingDialect(found) if option == "repair" else found.with_option(option)
    return found

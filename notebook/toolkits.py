"""Toolkits: sets of tools whose arguments are texts, offered under a prefix and read back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import InvalidMemoryRequest, MemoryRefusal

_PREFIX = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]{0,40})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDefinition:
    """A tool as it is offered to a model of any provider.

    Attributes:
        name: Its name, with the prefix.
        description: What it does, for the model.
        parameters: JSON schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: dict[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """An argument of a tool, always a text.

    Attributes:
        description: What it is, for the model.
        default: What leaving it out means, where the tool makes it optional.
    """

    description: str
    default: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A tool of a kit.

    Attributes:
        description: For the model; `{write_memory}` and the like stand for names with the prefix.
        required: Arguments it needs.
        optional: Arguments it takes beside them.
    """

    description: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def takes(self) -> str:
        """Its arguments, as the model is told of them."""
        if not self.required:
            return "no arguments"
        optional = f", and if needed {_listed(self.optional)}" if self.optional else ""
        return f"{_listed(self.required)}{optional}, each a text, and nothing else"


@dataclass(frozen=True, kw_only=True, slots=True)
class Toolkit:
    """The tools of one kind of memory.

    Attributes:
        tools: By name, without a prefix.
        parameters: By name, for all tools.
    """

    tools: Mapping[str, Tool]
    parameters: Mapping[str, Parameter]

    def definitions(self, prefix: str) -> tuple[ToolDefinition, ...]:
        """Return the tools as they are offered; raise `InvalidMemoryRequest` as the prefix does."""
        check_tool_prefix(prefix)
        return tuple(
            ToolDefinition(
                name=tool_name(name, prefix),
                description=self.named(tool.description, prefix),
                parameters=self._schema(tool),
            )
            for name, tool in self.tools.items()
        )

    def named(self, text: str, prefix: str) -> str:
        """Return `text` with tools' names in braces, `{read_memory}`, as the model knows them."""
        for tool in self.tools:
            text = text.replace(f"{{{tool}}}", tool_name(tool, prefix))
        return text

    def parse(
        self, name: str, arguments: Mapping[str, object] | str, prefix: str
    ) -> tuple[str, dict[str, str]]:
        """Return the tool that was called, without the prefix, and the supplied arguments.

        Args:
            name: The tool's name as the model gave it.
            arguments: The arguments, or their JSON text. `null` is the same as leaving one out.
            prefix: The prefix the tools were offered with.

        Raises:
            MemoryRefusal: `unknown_tool`, or `invalid_arguments`.
        """
        tool = self._called(name, prefix)
        return tool, _supplied(_decoded(arguments), name, self.tools[tool])

    def _called(self, name: str, prefix: str) -> str:
        for tool in self.tools:
            if name == tool_name(tool, prefix):
                return tool
        names = ", ".join(tool_name(tool, prefix) for tool in self.tools)
        raise MemoryRefusal("unknown_tool", f"There is no such memory tool. Use one of: {names}.")

    def _schema(self, tool: Tool) -> dict[str, object]:
        properties: dict[str, object] = {}
        for name in (*tool.required, *tool.optional):
            parameter = self.parameters[name]
            schema = {"type": "string", "description": parameter.description}
            if name in tool.optional and parameter.default is not None:
                schema["description"] += f" {parameter.default} when left out."
                schema["default"] = parameter.default
            properties[name] = schema
        return {
            "type": "object",
            "properties": properties,
            "required": list(tool.required),
            "additionalProperties": False,
        }


def check_tool_prefix(prefix: str) -> str:
    """Return `prefix` if tool names may start with it.

    It is empty, or a letter and at most 40 letters, digits, `_` and `-`.

    Raises:
        InvalidMemoryRequest: It may not.
    """
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise InvalidMemoryRequest(
            "a tool prefix is empty, or a letter and at most 40 letters, digits, '_' and '-'"
        )
    return prefix


def tool_name(tool: str, prefix: str = "") -> str:
    """Return the name under which a tool is offered: `prefix_tool`, or `tool` without a prefix."""
    return f"{prefix}_{tool}" if prefix else tool


def _decoded(arguments: Mapping[str, object] | str) -> Mapping[str, object]:
    decoded: object = arguments
    if isinstance(arguments, str):
        try:
            decoded = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            decoded = None
    if not isinstance(decoded, Mapping):
        raise MemoryRefusal("invalid_arguments", "The arguments must be one JSON object.")
    return decoded


def _supplied(decoded: Mapping[str, object], name: str, tool: Tool) -> dict[str, str]:
    """Return the supplied arguments, if they are what the tool takes."""
    known = (*tool.required, *tool.optional)
    supplied = {key: value for key, value in decoded.items() if value is not None}
    fits = all(key in known and isinstance(value, str) for key, value in supplied.items())
    if not fits or any(key not in supplied for key in tool.required):
        raise MemoryRefusal("invalid_arguments", f"`{name}` takes {tool.takes}.")
    return {key: str(value) for key, value in supplied.items()}


def _listed(fields: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in fields)

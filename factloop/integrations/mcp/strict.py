"""Tools that refuse what they do not know, and say what is wrong with an argument in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True)


class StrictTool(Tool):
    """A tool whose schema, and whose every call, allows the arguments that it has and no others.

    The SDK would drop an argument that it does not know: the answer then is to another question than was asked.
    """

    @classmethod
    def of(cls, tool: Callable[..., Any]) -> Self:
        """A tool of the function's name, docstring and parameters, which changes nothing."""
        made = cls.from_function(tool, annotations=_READS)
        made.parameters["additionalProperties"] = False
        return made  # type: ignore[return-value]  # the SDK's annotation says Tool, and it returns its `cls`

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Raises ToolError for an argument that there is not, and for a wrong value, which it does not repeat."""
        known = self.parameters["properties"]
        if unknown := [name for name in arguments if name not in known]:
            raise ToolError(f"{self.name}: there is no argument {unknown[0]!r}; known are {', '.join(known)}")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{self.name}: {_wrong(error.__cause__)}") from error
            raise


def _wrong(error: ValidationError) -> str:
    """The error that lies deepest: of several shapes that would do, it is of the one that was meant."""
    wrong = max(error.errors(include_url=False), key=lambda one: len(one["loc"]))
    place = ".".join(str(part) for part in wrong["loc"] if isinstance(part, int) or _is_field(part))
    return f"{place}: {wrong['msg']}"


def _is_field(part: str) -> bool:
    """Whether it names a field, rather than one of several shapes."""
    return part.isidentifier() and part.islower()

"""Tests one part of the setup. Failures become findings with advice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from factloop.core.errors import FactloopError, ModelOutputError, ToolError, ToolTimeout
from factloop.doctor.records import ControlsFound, ModelFound, Part, PartFound
from factloop.tools.calls.blame import is_out_of_reach

UNEXPECTED = "This error is unexpected. Please report it as a bug in factloop."


@dataclass(frozen=True)
class WorkingPart:
    """The result of a test that raised no error."""

    how: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    model: ModelFound | None = None
    controls: ControlsFound | None = None
    problem: str = ""
    """What is wrong even though no error was raised."""
    advice: str = ""


@dataclass(frozen=True)
class Look:
    """A part to test. `ask` raises an error if the part does not work."""

    part: Part
    name: str
    ask: Callable[[], Awaitable[WorkingPart]]

    async def taken(self, within_s: float) -> PartFound:
        try:
            async with asyncio.timeout(within_s) as scope:
                seen = await self.ask()
        except FactloopError as error:
            return self._failed(error)
        except Exception as error:  # noqa: BLE001 - servers and packages may raise anything, and other findings must survive
            if scope.expired():
                return self._failed(ToolTimeout(tool=self.name, timeout_s=within_s))
            return self._surprised(error)
        return PartFound(part=self.part, name=self.name, state="fails" if seen.problem else "works", **vars(seen))

    def _surprised(self, error: Exception) -> PartFound:
        """Reports only the type of the error, because its message may contain a key."""
        problem = f"the test raised {type(error).__name__}"
        return PartFound(part=self.part, name=self.name, state="fails", problem=problem, advice=UNEXPECTED)

    def _failed(self, error: FactloopError) -> PartFound:
        cause = error.__cause__ if isinstance(error.__cause__, ToolError) else error
        return PartFound(
            part=self.part, name=self.name, state="fails", problem=" ".join(str(cause).split()), advice=advice_on(cause)
        )


def in_thread(look: Callable[[], WorkingPart]) -> Callable[[], Awaitable[WorkingPart]]:
    return lambda: asyncio.to_thread(look)


def advice_on(error: BaseException) -> str:
    """Advice on a failure, or "" if the error message already contains advice."""
    if isinstance(error, ToolTimeout):
        return "Find out why the server is slow, or set a longer --timeout."
    if isinstance(error, ModelOutputError):
        return "Use another model, or a chat template with which the server can enforce a schema (see docs/models.md)."
    if not isinstance(error, ToolError):
        return ""
    if error.status in (401, 403):
        return "Set a key that the server accepts."
    if error.status == 404:
        return "Correct the name or the address."
    if error.wants_pause:
        return "The rate limit or quota is exhausted. Wait, or raise the limits of your account."
    if is_out_of_reach(error):
        return "Start the server, correct its address, or check the network."
    return "Check the server's log."

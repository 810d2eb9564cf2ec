"""Limits of one check or correction, beside those that all of a process share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from factloop.core.errors import ConfigError
from factloop.core.records import refuse_unknown
from factloop.setup.marks import PER_CHECK, SameAs, in_group
from factloop.setup.settings import CheckSettings, describe
from factloop.tools.calls.budget import Allowance


class Limits(BaseModel):
    """Limits, each None for no limit. What a limit leaves unscored is in the report: `timeout` or `budget`.

    Raises ConfigError for a value that cannot be a limit; as part of a request, pydantic's ValidationError.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    deadline_s: Annotated[float | None, SameAs(CheckSettings, "deadline_s")] = None
    """Seconds from its start after which a check, or a whole correction, ends: no call is begun after it, and calls
    under way are given up."""
    max_calls: Annotated[int | None, SameAs(CheckSettings, "max_calls_per_check")] = None
    """Model calls, failed ones included."""
    budget_usd: Annotated[float | None, SameAs(CheckSettings, "budget_usd_per_check")] = None

    def __new__(cls, *_: Any, **values: Any) -> Self:
        """Refuses a program's own wrong values. Pydantic, reading a request, makes one without any and fills it."""
        if values:
            try:
                cls.__pydantic_validator__.validate_python(values)
            except ValidationError as error:
                raise ConfigError(f"limits: {describe(error, cls.model_fields)}") from error
        return super().__new__(cls)

    @model_validator(mode="before")
    @classmethod
    def _names_known_fields(cls, data: Any) -> Any:
        refuse_unknown(cls, data)
        return data

    @classmethod
    def per_check(cls, settings: CheckSettings) -> Self:
        """The limits that the settings give to each check."""
        names = in_group(CheckSettings, PER_CHECK)
        return cls(**{name.removesuffix("_per_check"): getattr(settings, name) for name in names})

    @classmethod
    def of_lone_check(cls, settings: CheckSettings) -> Limits:
        """The most that a check may take which is a run of its own: also what the settings give a whole run."""
        return cls.per_check(settings).within(cls(max_calls=settings.max_calls, budget_usd=settings.budget_usd))

    def within(self, others: Limits | None) -> Limits:
        """The tighter limit of both, one by one."""
        if others is None:
            return self
        return Limits(
            deadline_s=_tighter(self.deadline_s, others.deadline_s),
            max_calls=_tighter(self.max_calls, others.max_calls),
            budget_usd=_tighter(self.budget_usd, others.budget_usd),
        )

    def cut_to(self, most: Limits) -> tuple[str, ...]:
        """What is said of each limit that is above the one that holds."""
        pairs = ((name, asked, getattr(most, name)) for name, asked in self if asked is not None)
        return tuple(
            f"{name}: {_figure(asked)} was asked for, but {_figure(holds)} is the limit here"
            for name, asked, holds in pairs
            if holds is not None and asked > holds
        )

    def allowance(self, *, begun_at: float, of: str = "this check") -> Allowance:
        """These limits, for work begun at a time of `time.monotonic()`; `of` names that work in messages."""
        return Allowance(
            deadline_s=self.deadline_s, begun_at=begun_at, max_calls=self.max_calls, max_usd=self.budget_usd, of=of
        )


def _figure(limit: float) -> str:
    """All digits of a limit: 1,000,001 calls are more than a million, which six digits do not tell."""
    return str(limit).removesuffix(".0")


def _tighter(*limits: Any) -> Any:
    given: Iterable[Any] = [limit for limit in limits if limit is not None]
    return min(given, default=None)

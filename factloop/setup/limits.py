"""The limits of a single check or correction. They apply in addition to those of the whole process."""

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
    """Limits for one check. None means no limit.

    Claims that are not judged because of a limit are unscored (`timeout` or `budget`). An invalid limit raises
    ConfigError, or pydantic's ValidationError if it is part of a request.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    deadline_s: Annotated[float | None, SameAs(CheckSettings, "deadline_s")] = None
    """Seconds after which a check, or an entire correction, ends. Calls in progress are then cancelled."""
    max_calls: Annotated[int | None, SameAs(CheckSettings, "max_calls_per_check")] = None
    """Includes failed calls."""
    budget_usd: Annotated[float | None, SameAs(CheckSettings, "budget_usd_per_check")] = None

    def __new__(cls, *_: Any, **values: Any) -> Self:
        """Raises ConfigError for invalid values. Pydantic passes no values here when it reads a request."""
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
        """The limits that the settings put on each check."""
        names = in_group(CheckSettings, PER_CHECK)
        return cls(**{name.removesuffix("_per_check"): getattr(settings, name) for name in names})

    @classmethod
    def of_lone_check(cls, settings: CheckSettings) -> Limits:
        """The limits of a check that is also a whole run. The limits for runs apply to it too."""
        return cls.per_check(settings).within(cls(max_calls=settings.max_calls, budget_usd=settings.budget_usd))

    def within(self, others: Limits | None) -> Limits:
        """Returns the stricter of the two limits of each kind."""
        if others is None:
            return self
        return Limits(
            deadline_s=_tighter(self.deadline_s, others.deadline_s),
            max_calls=_tighter(self.max_calls, others.max_calls),
            budget_usd=_tighter(self.budget_usd, others.budget_usd),
        )

    def cut_to(self, most: Limits) -> tuple[str, ...]:
        """A message for each limit that exceeds the maximum in `most`."""
        pairs = ((name, asked, getattr(most, name)) for name, asked in self if asked is not None)
        return tuple(
            f"{name} = {_figure(asked)} exceeds the limit of {_figure(holds)}"
            for name, asked, holds in pairs
            if holds is not None and asked > holds
        )

    def allowance(self, *, begun_at: float, of: str = "this check") -> Allowance:
        """`begun_at` is a `time.monotonic()` value, and `of` is what messages call the limited work."""
        return Allowance(
            deadline_s=self.deadline_s, begun_at=begun_at, max_calls=self.max_calls, max_usd=self.budget_usd, of=of
        )


def _figure(limit: float) -> str:
    """Shows all digits, because six digits would make 1,000,001 look like a million."""
    return str(limit).removesuffix(".0")


def _tighter(*limits: Any) -> Any:
    given: Iterable[Any] = [limit for limit in limits if limit is not None]
    return min(given, default=None)

"""Defines the records of `factloop doctor`."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator

from factloop.core.records import Count, Record, Usage, whole
from factloop.tools.models.wire import Mode

Part = Literal[
    "model", "subject_model", "judge_model", "search", "documents", "corpus", "knowledge_base", "local_model",
    "prompts", "cascade", "cache", "database", "controls",
]  # fmt: skip
State = Literal["works", "fails", "not_configured"]


class ModelFound(Record):
    """The kinds of requests that a model's server accepts."""

    with_tools: Mode | None
    """The mode for requests that offer a search; None if there were no such requests."""
    alone: Mode
    """The mode for all other requests with a schema."""
    unavailable: tuple[Mode, ...]
    """Modes that the server rejects, or accepts but ignores."""
    log_probabilities: bool
    """Whether the server returned log-probabilities, without which verdicts have no score."""
    context_tokens: Count | None
    """Maximum number of tokens in a prompt and its reply, if the server reports it."""
    knows_price: bool
    """Whether the model's price is known, which a budget in dollars requires."""


Grade = Literal["good", "usable_with_care", "not_usable"]
"""The grade of a judge on sentences known to be true or false."""


class ControlsFound(Record):
    """The performance of the judge on sentences known to be true or false."""

    grade: Grade
    """`good` if at most one in six of each kind is wrong; `usable_with_care` if at most one in three is; otherwise
    `not_usable`."""
    n_true: Count
    n_true_supported: Count
    """Number of true sentences with all claims judged supported."""
    n_false: Count
    n_false_refused: Count
    """Number of false sentences with a claim judged not supported or irrelevant."""
    n_unscored: Count
    """Number of sentences without a claim, or with a claim that has no verdict. Such sentences count as neither
    supported nor rejected."""


class PartFound(Record):
    """A part that is configured, or that could be."""

    part: Part
    name: str
    """Its name or URL, without credentials; empty if it is not configured."""
    state: State
    how: tuple[str, ...] = ()
    """How it works, in short phrases."""
    limits: tuple[str, ...] = ()
    problem: str = ""
    """What is wrong; empty unless the part fails."""
    advice: str = ""
    """What to do; empty if there is nothing to do, or if the problem already says it."""
    model: ModelFound | None = None
    controls: ControlsFound | None = None

    @field_validator("how", "limits")
    @classmethod
    def _hold_whole_characters(cls, said: tuple[str, ...]) -> tuple[str, ...]:
        """Replaces lone surrogates in quotes from servers. The base record only does so in top-level texts."""
        return tuple(map(whole, said))


class ExtraFound(Record):
    """An extra of the distribution."""

    extra: str
    installed: bool
    install: str
    """The command that installs it."""


class Diagnosis(Record):
    """The report of `factloop doctor`."""

    schema_version: Literal["1.2"] = "1.2"
    factloop_version: str
    python_version: str
    works: bool
    """Whether everything that is configured works."""
    parts: tuple[PartFound, ...]
    extras: tuple[ExtraFound, ...]
    usage: Usage
    """The cost of the requests."""

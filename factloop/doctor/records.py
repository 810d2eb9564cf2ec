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
    """The mode for requests that offer the model a search, or None if searches were not offered."""
    alone: Mode
    """The mode for all other requests with a schema."""
    unavailable: tuple[Mode, ...]
    """Modes that the server rejects or ignores."""
    log_probabilities: bool
    """Whether the server returns log-probabilities, which are needed for scores."""
    context_tokens: Count | None
    """Maximum number of tokens in a prompt and its reply, if the server reports it."""
    knows_price: bool
    """Whether the model's price is known. If it is not, no budget can be set in dollars."""


Grade = Literal["good", "usable_with_care", "not_usable"]
"""A judge's grade on sentences that are known to be true or false."""


class ControlsFound(Record):
    """A judge's results on sentences that are known to be true or false."""

    grade: Grade
    """`good` if the judge is wrong about at most one in six of the true and one in six of the false sentences,
    `usable_with_care` if it is wrong about at most one in three of each, and otherwise `not_usable`."""
    n_true: Count
    n_true_supported: Count
    """Number of true sentences whose claims were all judged supported."""
    n_false: Count
    n_false_refused: Count
    """Number of false sentences with at least one claim that was judged not supported or irrelevant."""
    n_unscored: Count
    """Number of sentences without claims, or with an unscored claim."""


class PartFound(Record):
    """The result for one part of the setup, which need not be configured."""

    part: Part
    name: str
    """Name or URL of the part, without credentials. Empty if the part is not configured."""
    state: State
    how: tuple[str, ...] = ()
    """How the part works, in short phrases."""
    limits: tuple[str, ...] = ()
    problem: str = ""
    """What is wrong. Empty unless the part fails."""
    advice: str = ""
    """What to do. Empty if there is nothing to do, or if `problem` already says what to do."""
    model: ModelFound | None = None
    controls: ControlsFound | None = None

    @field_validator("how", "limits")
    @classmethod
    def _hold_whole_characters(cls, said: tuple[str, ...]) -> tuple[str, ...]:
        """Replaces lone surrogates in text from servers. The base class does not look inside tuples."""
        return tuple(map(whole, said))


class ExtraFound(Record):
    """An extra of the factloop package."""

    extra: str
    installed: bool
    install: str
    """The command that installs the extra."""


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

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from factloop.core.records import Count, Record, Usage, whole
from factloop.tools.models.wire import Mode

Part = Literal[
    "model", "subject_model", "judge_model", "search", "documents", "corpus", "knowledge_base", "local_model",
    "prompts", "cascade", "cache", "database", "controls",
]  # fmt: skip
State = Literal["works", "fails", "not_configured"]
Whole = Annotated[str, BeforeValidator(whole)]  # `Record` does not look for lone surrogates inside tuples


class ModelFound(Record):
    with_tools: Mode | None
    """The mode for requests that offer the model a search, or None if searches were not offered."""
    alone: Mode
    """The mode for other requests with a schema."""
    unavailable: tuple[Mode, ...]
    """Modes that the server rejects or ignores."""
    log_probabilities: bool
    """Whether the server returns log-probabilities, which scores require."""
    context_tokens: Count | None
    """Maximum number of tokens in a prompt and its reply, if the server reports it."""
    knows_price: bool
    """Whether the model's price is known. A budget in dollars requires a known price."""


Grade = Literal["good", "usable_with_care", "not_usable"]


class ControlsFound(Record):
    """A judge's results on sentences that are known to be true or false."""

    grade: Grade
    """`good` if the judge is wrong about at most one in six true sentences and one in six false ones,
    `usable_with_care` if about at most one in three of each, and otherwise `not_usable`."""
    n_true: Count
    n_true_supported: Count
    """True sentences whose claims were all judged supported."""
    n_false: Count
    n_false_refused: Count
    """False sentences with at least one claim that was judged not supported or irrelevant."""
    n_unscored: Count
    """Sentences that were neither supported nor rejected, because a claim is unscored or missing."""
    wrongly_supported: tuple[str, ...]
    """The false sentences that the judge called supported."""
    wrongly_refused: tuple[str, ...]
    """The true sentences with a claim that the judge called not supported or irrelevant."""


class PartFound(Record):
    """The finding on one part, whether or not it is configured."""

    part: Part
    name: str
    """Name or URL without credentials. Empty if the part is not configured."""
    state: State
    how: tuple[Whole, ...] = ()
    """How the part works, in short phrases."""
    limits: tuple[Whole, ...] = ()
    problem: str = ""
    """Empty unless the part fails."""
    advice: str = ""
    """Empty if there is nothing to do, or if `problem` already says what to do."""
    model: ModelFound | None = None
    controls: ControlsFound | None = None


class ExtraFound(Record):
    extra: str
    installed: bool
    install: str


class Diagnosis(Record):
    schema_version: Literal["1.3"] = "1.3"
    factloop_version: str
    python_version: str
    works: bool
    """Whether everything that is configured works."""
    parts: tuple[PartFound, ...]
    extras: tuple[ExtraFound, ...]
    usage: Usage

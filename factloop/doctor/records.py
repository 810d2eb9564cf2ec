"""Records of `factloop doctor`."""

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
    """How a model's server takes questions."""

    with_tools: Mode | None
    """The mode of questions in which it may choose a search; None where it was asked none."""
    alone: Mode
    """The mode of all other questions with a schema."""
    unavailable: tuple[Mode, ...]
    """Modes that it refuses, or takes and does not heed."""
    log_probabilities: bool
    """Whether it gave them: without them verdicts have no score."""
    context_tokens: Count | None
    """Tokens of a prompt with its reply, where the server says so."""
    knows_price: bool
    """Whether what it costs is known, so that a budget in dollars can be kept."""


Grade = Literal["good", "usable_with_care", "not_usable"]
"""Of a judge by the sentences whose truth is known."""


class ControlsFound(Record):
    """How the judge did on sentences whose truth is known."""

    grade: Grade
    """`good`: of each kind at most one in six is not right; `usable_with_care`: one in three; else `not_usable`."""
    n_true: Count
    n_true_supported: Count
    """Of the true ones, those of which all claims were called supported."""
    n_false: Count
    n_false_refused: Count
    """Of the false ones, those of which a claim was called not supported, or irrelevant."""
    n_unscored: Count
    """Sentences without a claim, or with one that has no verdict; they count as neither supported nor refused."""


class PartFound(Record):
    """One thing that is configured, or could be."""

    part: Part
    name: str
    """Its name or address, without credentials; empty where nothing is configured."""
    state: State
    how: tuple[str, ...] = ()
    """How it works, a few words each."""
    limits: tuple[str, ...] = ()
    problem: str = ""
    """What is wrong; empty unless it fails."""
    advice: str = ""
    """What to do; empty where nothing is to be done, or the problem says it."""
    model: ModelFound | None = None
    controls: ControlsFound | None = None

    @field_validator("how", "limits")
    @classmethod
    def _hold_whole_characters(cls, said: tuple[str, ...]) -> tuple[str, ...]:
        """Servers are quoted here; the base of records sees to single texts alone."""
        return tuple(map(whole, said))


class ExtraFound(Record):
    """An extra of the distribution."""

    extra: str
    installed: bool
    install: str
    """The command that adds it."""


class Diagnosis(Record):
    """The answer of `factloop doctor`."""

    schema_version: Literal["1.2"] = "1.2"
    factloop_version: str
    python_version: str
    works: bool
    """Whether everything that is configured works."""
    parts: tuple[PartFound, ...]
    extras: tuple[ExtraFound, ...]
    usage: Usage
    """What the questions cost."""

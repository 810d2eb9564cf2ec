from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from factloop.setup.marks import DISTRACTORS, MODEL, SEARCH, Mark
from factloop.setup.settings import BaseUrl, EmbeddingSettings, Names, Temperature

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

SPOTLIGHT_URL = "https://api.dbpedia-spotlight.org/en/annotate"
SPARQL_URL = "https://dbpedia.org/sparql"

UpToHundred = Annotated[int, Field(ge=1, le=100)]


@dataclass(frozen=True)
class SubjectModel:
    """The model behind one of several systems."""

    model: str | BaseChatModel
    base_url: str | None = None
    """The URL of the model's server. The default is the URL in the settings."""


class TrustSettings(EmbeddingSettings):
    """The settings of a TrustScore. They have the same names as the command-line flags."""

    subject_model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Model whose beliefs are tested (TrustBC). If not set, TrustBC is omitted."""
    judge_model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Chat model that judges the passages (TrustFC). Default: --nli, or the bundled baseline."""
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """URL of an OpenAI-compatible server.

    It is used for both models."""
    judge_base_url: BaseUrl | None = None
    """URL of the judge model's server, if it differs from base_url."""
    nli: Annotated[str | None, Mark(MODEL, "PATH")] = None
    """NLI cross-encoder that judges the passages.

    A path, or the name of a downloaded model. Needs the `semantic` extra."""
    corpus: Annotated[Names, Mark(SEARCH, "PATH", path=True)] = ()
    """Documents to check against for TrustFC (psgs_w100.tsv is also accepted). If not set, TrustFC is omitted."""
    fail_if_unreadable: Annotated[bool, Mark(SEARCH)] = False
    """Fail if a file in a folder cannot be read. By default, such files are skipped and listed."""
    passages: UpToHundred = 10
    """Number of passages to retrieve for each answer.

    See the paper's appendix A.5.2."""
    max_checks: Annotated[UpToHundred, Mark(DISTRACTORS)] = 10
    """Number of multiple-choice questions for each answer.

    See the paper's appendix A.5.4."""
    window: UpToHundred = 1
    """Number of questions to ask concurrently. It does not affect the results.

    1 asks in the paper's order; `max_checks` is fastest."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.0
    """Sampling temperature of both models.

    The default, 0, is the paper's; None uses the server's default."""
    logprobs: bool = True
    """Record the probabilities of the option letters when the subject model's server returns them."""
    samples: Annotated[int, Field(ge=0, le=100)] = 0
    """For a long answer, the number of other answers to sample from the subject model at temperature 1. The judge for
    passages also compares each claim with these samples."""
    target_order: Literal["asked", "paper"] = "asked"
    """Which words to replace first: those that the question asks for (asked), or those only in the response (paper)."""
    distractors: Annotated[Literal["sources", "model"], Mark(DISTRACTORS)] = "sources"
    """Take distractors from name tables and rules (sources), or ask the judge model first (model).

    `model` makes one call per answer and needs `judge_model`.
    """
    kb: Annotated[Names, Mark(DISTRACTORS, "FILE", path=True)] = ()
    """Table of typed entities created by factloop research kb build."""
    dbpedia: Annotated[bool, Mark(DISTRACTORS)] = False
    """Look up entities of the same type in DBpedia. This sends the response to DBpedia."""
    spotlight_url: BaseUrl = SPOTLIGHT_URL
    """URL of DBpedia Spotlight."""
    sparql_url: BaseUrl = SPARQL_URL
    """URL of DBpedia's SPARQL endpoint."""
    seed: Annotated[int, Mark(DISTRACTORS)] = 0
    """Random seed.

    It applies to distractors, the order of options and retry jitter."""

    @property
    def wanted_distractors(self) -> int:
        return 3 * self.max_checks


SERVED = ("subject_model", "judge_model", "nli", "corpus")
"""TrustScore settings that the service accepts in addition to those for checks."""

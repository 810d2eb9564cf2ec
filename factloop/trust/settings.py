"""Settings of one TrustScore run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
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
    """The address of its server, if it is not that of the settings."""


class TrustSettings(EmbeddingSettings):
    """Settings of a TrustScore. Names are those of the command line's flags."""

    subject_model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Model whose belief is tested (TrustBC). Without it TrustBC is left out."""
    judge_model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Chat model that judges the passages (TrustFC). Default: --nli, or the packaged baseline."""
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of an OpenAI-compatible server.

    For both models."""
    judge_base_url: BaseUrl | None = None
    """Address of the judge model's server, if it has a different one."""
    nli: Annotated[str | None, Mark(MODEL, "PATH")] = None
    """NLI cross-encoder that judges the passages.

    A path, or the name of a model already downloaded; needs the extra `semantic`."""
    corpus: Annotated[Names, Mark(SEARCH, "PATH", path=True)] = ()
    """Documents for TrustFC, including psgs_w100.tsv. Without them TrustFC is left out."""
    fail_if_unreadable: Annotated[bool, Mark(SEARCH)] = False
    """Fail if a file in a folder cannot be read. By default such files are skipped and listed."""
    passages: UpToHundred = 10
    """Passages to retrieve for one answer.

    Paper, appendix A.5.2."""
    max_checks: Annotated[UpToHundred, Mark(DISTRACTORS)] = 10
    """Multiple-choice questions for one answer.

    Paper, appendix A.5.4."""
    window: UpToHundred = 1
    """Questions to ask at the same time. Results do not depend on it.

    1 is the paper's order, `max_checks` the fastest."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.0
    """Sampling temperature of both models.

    0 as in the paper; None leaves it to the server."""
    logprobs: bool = True
    """Record the probabilities of the letters when the subject model's server returns them."""
    target_order: Literal["asked", "paper"] = "asked"
    """Words to replace first: those that the question asks for (asked), or those found only in the response (paper)."""
    distractors: Annotated[Literal["sources", "model"], Mark(DISTRACTORS)] = "sources"
    """Take distractors from name tables and rules (sources), or ask the judge model for some first (model).

    One call per answer; needs `judge_model`."""
    kb: Annotated[Names, Mark(DISTRACTORS, "FILE", path=True)] = ()
    """Table of typed entities from factloop research kb build."""
    dbpedia: Annotated[bool, Mark(DISTRACTORS)] = False
    """Ask DBpedia for entities of the same type. This sends the response to DBpedia."""
    spotlight_url: BaseUrl = SPOTLIGHT_URL
    """Address of DBpedia Spotlight."""
    sparql_url: BaseUrl = SPARQL_URL
    """Address of DBpedia's SPARQL endpoint."""
    vectors: Path | None = None
    """Word vectors in word2vec format, to find neighbours in embedding space."""
    seed: Annotated[int, Mark(DISTRACTORS)] = 0
    """Seed for everything random.

    Distractors, the order of options, the jitter of retries."""

    @property
    def wanted_distractors(self) -> int:
        """The number of distractors to make: three new ones for each check."""
        return 3 * self.max_checks


SERVED = ("subject_model", "judge_model", "nli", "corpus")
"""Settings of scores that a server takes beside those of checks: the models, and what is searched."""

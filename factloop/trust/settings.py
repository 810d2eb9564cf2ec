"""Settings of one TrustScore run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from factloop.setup.marks import DISTRACTORS, MODEL, SEARCH, Mark
from factloop.setup.settings import BaseUrl, Names, RunSettings, Temperature

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


class TrustSettings(RunSettings):
    """Settings of a TrustScore. Names are those of the command line's flags."""

    subject_model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Model whose belief is probed (TrustBC, left out without it)."""
    judge_model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Model that judges passages (TrustFC); else --nli, or rules."""
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of an OpenAI-compatible server.

    For both models."""
    judge_base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of the judge's server, if it is not the subject's."""
    nli: Annotated[str | None, Mark(MODEL, "PATH")] = None
    """NLI cross-encoder that judges passages.

    A path, or the name of a model already downloaded; needs the extra `semantic`."""
    corpus: Annotated[Names, Mark(SEARCH, "PATH", path=True)] = ()
    """Documents for TrustFC (left out without them), psgs_w100.tsv among others."""
    strict_docs: Annotated[bool, Mark(SEARCH)] = False
    """A file of a folder that cannot be read is an error, instead of being left out and named."""
    passages: Annotated[UpToHundred, Mark(SEARCH)] = 10
    """Passages for one answer.

    Paper, appendix A.5.2."""
    max_checks: Annotated[UpToHundred, Mark(DISTRACTORS)] = 10
    """Questions for one answer.

    Paper, appendix A.5.4."""
    window: Annotated[UpToHundred, Mark(DISTRACTORS)] = 1
    """Questions asked at a time; no result depends on it.

    1 is the paper's order, `max_checks` the fastest."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.0
    """Temperature of both models.

    0 as in the paper; None leaves it to the server."""
    logprobs: Annotated[bool, Mark(MODEL)] = True
    """Record the letters' probabilities, where the subject's server gives them."""
    target_order: Annotated[Literal["asked", "paper"], Mark(DISTRACTORS)] = "asked"
    """Replace first what the question asks for, or in the paper's order: words only in the response."""
    distractors: Annotated[Literal["sources", "model"], Mark(DISTRACTORS)] = "sources"
    """Let the judge model propose distractors of the same type, too, before the other sources (model).

    One call an answer; needs `judge_model`."""
    kb: Annotated[Names, Mark(DISTRACTORS, "FILE", path=True)] = ()
    """Table of typed entities made by factloop kb build."""
    dbpedia: Annotated[bool, Mark(DISTRACTORS)] = False
    """Ask DBpedia for entities of the same type; it is sent the response."""
    spotlight_url: Annotated[BaseUrl, Mark(DISTRACTORS, "URL")] = SPOTLIGHT_URL
    """Address of DBpedia Spotlight."""
    sparql_url: Annotated[BaseUrl, Mark(DISTRACTORS, "URL")] = SPARQL_URL
    """Address of DBpedia's SPARQL endpoint."""
    vectors: Annotated[Path | None, Mark(DISTRACTORS, "FILE")] = None
    """Word vectors in word2vec's format, for neighbours in embedding space."""
    seed: Annotated[int, Mark(DISTRACTORS)] = 0
    """Seed of everything drawn at random.

    Distractors, the order of options, the jitter of retries."""

    @property
    def wanted_distractors(self) -> int:
        """The number of distractors to make: three new ones for each check."""
        return 3 * self.max_checks


SERVED = ("subject_model", "judge_model", "judge_base_url", "nli", "corpus")
"""Settings of scores that a server takes beside those of checks: the models, and what is searched."""

"""Settings of one TrustScore run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from factloop.setup.settings import BaseUrl, Names, RunSettings

SPOTLIGHT_URL = "https://api.dbpedia-spotlight.org/en/annotate"
SPARQL_URL = "https://dbpedia.org/sparql"


class TrustSettings(RunSettings):
    """What shapes a TrustScore. Names are those of the command line's flags."""

    subject_model: str | None = None
    """`provider:name` of the model whose belief is probed; None leaves TrustBC out."""
    judge_model: str | None = None
    """`provider:name` of the model that judges passages; None for `nli` or the offline rater."""
    base_url: BaseUrl | None = None
    """Of any OpenAI-compatible server, for both models."""
    judge_base_url: BaseUrl | None = None
    """For the judge, where it is not the subject's."""
    nli: str | None = None
    """NLI cross-encoder (path, or name of a model already downloaded) that judges passages; extra `semantic`."""
    corpus: Names = ()
    """Files, folders or globs that TrustFC searches, psgs_w100.tsv among them; none leaves TrustFC out."""
    passages: Annotated[int, Field(ge=1, le=100)] = 10
    """Found for one answer (paper, appendix A.5.2)."""
    max_checks: Annotated[int, Field(ge=1, le=100)] = 10
    """Questions for one answer (paper, appendix A.5.4)."""
    window: Annotated[int, Field(ge=1, le=100)] = 1
    """Questions asked at a time: 1 is the paper's order, `max_checks` the fastest. The result does not depend on it."""
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = 0.0
    """Of both models, as in the paper; None leaves it to the server."""
    logprobs: bool = True
    """Ask the subject's server for the probabilities of the letters, where it gives them."""
    kb: Names = ()
    """Tables of typed entities that `factloop kb build` made."""
    dbpedia: bool = False
    """Ask DBpedia's public servers for entities of the same type. They are sent the response."""
    spotlight_url: BaseUrl = SPOTLIGHT_URL
    sparql_url: BaseUrl = SPARQL_URL
    vectors: Path | None = None
    """Word vectors in word2vec's format, for neighbours in embedding space."""
    seed: int = 0
    """Of everything drawn at random: distractors, the order of options, the jitter of retries."""

    @property
    def read(self) -> tuple[str, ...]:
        """Files and folders that a run reads: no output may overwrite them."""
        return (*self.corpus, *self.kb, *(() if self.vectors is None else (str(self.vectors),)))

    @property
    def wanted_distractors(self) -> int:
        """Three new ones for each check."""
        return 3 * self.max_checks

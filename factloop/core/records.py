"""The records that cross every boundary: frozen, validated, written to JSON with a `schema_version`.

Two rules hold here. A failure is never a verdict: a `Judgement` is either a verdict or unscored with a reason. No claim
is ever dropped: a report's counts add up to the number of its claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from factloop.core.reasons import UnscoredReason as UnscoredReason  # a record's field: found where records are

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]
NonNegative = Annotated[float, Field(ge=0.0)]

_SURROGATE = re.compile("[\ud800-\udfff]")


class Record(BaseModel):
    """Base of all records: immutable, and unknown fields are refused."""

    # Built when first used: an import of all records took a third of a second, and a process uses few of them.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _holds_whole_characters(cls, fields: Any) -> Any:
        """Half a character (a lone surrogate: a site cut an emoji in two) becomes U+FFFD, as no file can hold it."""
        if not isinstance(fields, dict):
            return fields
        for value in fields.values():  # nearly always there is nothing to mend, and nothing to copy
            if isinstance(value, str) and not value.isascii():
                return {name: whole(text) if isinstance(text, str) else text for name, text in fields.items()}
        return fields


def whole(text: str) -> str:
    """The text with each half of a character replaced."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


_LONGEST_NAME = 100
"""Characters of a name that are compared with others."""


def refuse_unknown(model: type[BaseModel], data: object) -> None:
    """Raises pydantic's ValidationError for the first field of `data` that `model` does not have."""
    strange = [name for name in data if name not in model.model_fields] if isinstance(data, Mapping) else []
    if not strange:
        return
    near = get_close_matches(str(strange[0])[:_LONGEST_NAME], model.model_fields, n=1)
    words = {"is_it": "".join(f"did you mean {name!r}? " for name in near), "known": ", ".join(model.model_fields)}
    wrong = PydanticCustomError("extra_forbidden", "there is no such field; {is_it}known are {known}", words)
    raise ValidationError.from_exception_data(model.__name__, [{"type": wrong, "loc": (strange[0],), "input": None}])


Plan = Literal["safe", "paper", "fused", "grounded"]
"""A way through SAFE's loop."""
JuryRule = Literal["majority", "unanimous", "first_sure"]

Repeats = Literal["each", "once"]
"""How claims that repeat another of their response count: each like any other, or only the first."""


class Verdict(StrEnum):
    """The verdict of the evidence on a claim. `not_supported` covers both contradicted and nothing found."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not_supported"
    IRRELEVANT = "irrelevant"


class NoClaim(StrEnum):
    """Why a sentence of a response has no claim."""

    ABSTENTION = "abstention"
    """It says that the sources, or the writer, have no answer."""
    HEADING = "heading"
    """A heading, or the head of a table."""
    QUESTION = "question"
    REMARK = "remark"
    """A greeting, an offer, an announcement: talk between writer and reader."""
    NO_STATEMENT = "no_statement"
    """It was read, and is surely an opinion or talk: no word of it names a person, a figure or a matter."""
    NO_CLAIM = "no_claim"
    """It was read, and no claim was found in it, although it may state something: advice, a row, a fragment, code."""
    CODE = "code"
    """Code that was not read: the offline engine reads none. Scripts, styles and mere tags of HTML are never read."""
    NOT_READ = "not_read"
    """Left out of the split that was given."""


class SourceDocument(Record):
    """The document that a passage is from, as it was given with the response, or found by a retriever."""

    index: Count | None = None
    """Its place among the documents given, from 0; None where it was found."""
    id: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    """Its metadata as JSON values, such as `page` and `chunk_id`, without values of more than 1,000 characters."""


class Evidence(Record):
    """One passage found for one query."""

    id: str
    source: str
    """URL, or the path of a document."""
    title: str = ""
    section: str | None = None
    """The headings of the source that the passage begins under, outermost first; None where they are not known."""
    passage: str
    query: str
    rank: Annotated[int, Field(ge=1)]
    """Place among the results of its query, from 1."""
    published: str | None = None
    """Date of the source, as the search gave it."""
    retrieved_at: datetime
    document: SourceDocument | None = None
    """Its document, where that was given with the response or comes from a retriever."""


class Vote(Record):
    """What one model of a jury said of a claim: a verdict, or why it has none."""

    judged_by: str
    verdict: Verdict | None = None
    contradicted: bool | None = None
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    score: Share | None = None


class Judgement(Record):
    """Either a verdict with its grounds, or `verdict: null` with an `unscored_reason`; never both, never neither."""

    verdict: Verdict | None = None
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    cited: tuple[str, ...] = ()
    """Ids of the evidence that the verdict rests on."""
    contradicted: bool | None = None
    """For `not_supported` only: True if evidence spoke against the claim, False if none was found."""
    score: Share | None = None
    """Degree of support in [0, 1], where the judge gives one.

    Of a chat model: the probability of "supported" among the verdicts, where its server gives log-probabilities. It is
    of the reply that gave the verdict, and not calibrated.
    """
    judged_by: str = ""
    """The model, encoder or rule set that judged."""
    wrong: str = ""
    """For a contradicted claim: the words of it that the evidence has otherwise, where the judge says so."""
    instead: str = ""
    """What the evidence has in the place of `wrong`, word for word, where the judge says so."""
    quote: str = ""
    """The sentence that decides, word for word as the first of `cited` has it, where the judge names one."""
    votes: tuple[Vote, ...] = ()
    """Of a jury: what each model said, in the order of the settings; the judgement is what its rule makes of them."""
    stage: Literal["cheap", "model"] | None = None
    """The stage of a cascade that gave the verdict; None without a cascade, and for an unscored claim."""

    @model_validator(mode="after")
    def _is_verdict_or_unscored(self) -> Self:
        if (self.verdict is None) == (self.unscored_reason is None):
            raise ValueError("a judgement has either a verdict or an unscored_reason")
        if (self.contradicted is not None) != (self.verdict is Verdict.NOT_SUPPORTED):
            raise ValueError("contradicted is given exactly when the verdict is not_supported")
        return self


class Claim(Record):
    """One atomic fact of the response, from the sentence it stands in to the judgement on it."""

    id: str
    sentence: str
    span: tuple[Count, Count]
    """Start and end of the sentence in the response, in characters: `response[start:end] == sentence`.

    Where facts were given for a sentence that the response does not hold, both are the end of the one before it.
    """
    text: str
    """The atomic fact as split from the sentence."""
    self_contained: str
    """The same fact with pronouns and short names replaced, so that it can be judged alone."""
    relevant: bool | None = None
    """Whether it has to do with the question; None if unknown. An irrelevant claim may still be judged."""
    duplicate_of: str | None = None
    """Id of the earlier claim that says the same; its judgement stands for both."""
    queries: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """What the judge found still missing, one entry for each round of queries after the first, where it said so."""
    evidence: tuple[Evidence, ...] = ()
    judgement: Judgement
    borne_out_by: tuple[Count, ...] = ()
    """Of a supported claim: the places of the documents given that hold a passage on which the verdict rests, or that
    were found to bear it out in a look of their own (`judge_citations`)."""
    look_failed: bool = False
    """Whether there was to be such a look, and it gave no verdict."""

    @model_validator(mode="after")
    def _cites_its_own_evidence(self) -> Self:
        strangers = set(self.judgement.cited) - {item.id for item in self.evidence}
        if strangers:
            raise ValueError(f"the judgement cites unknown evidence: {sorted(strangers)}")
        if self.span[0] > self.span[1]:
            raise ValueError("a span starts before it ends")
        return self


class Abstention(Record):
    """Whether the sources really have no answer, where a sentence says that something cannot be told."""

    is_right: bool | None = None
    """True if the sources have no answer either, False if they have one, None if this was not judged."""
    missing: str = ""
    """The question that the sentence leaves unanswered."""
    why: str = ""
    """The answer in the sources; if `is_right` is None, the reason why there is no judgement."""
    evidence: tuple[Evidence, ...] = ()
    """The passages that have the answer."""


class Sentence(Record):
    """One sentence, heading, row or piece of code of the response: its claims, or why it has none."""

    span: tuple[Count, Count]
    """Start and end in the response, in characters; empty for one that was given, and that the response lacks."""
    claims: tuple[str, ...] = ()
    """Their ids."""
    no_claim: NoClaim | None = None
    is_whole: bool = False
    """Whether it is its own only claim because the model's facts left out or added a figure, a name, a denial or a
    hedge, even when asked again."""
    abstention: Abstention | None = None
    """For `no_claim: abstention`, where a model checks: whether it is right."""

    @model_validator(mode="after")
    def _has_claims_or_a_reason(self) -> Self:
        if bool(self.claims) == (self.no_claim is not None):
            raise ValueError("a sentence has either claims or a reason why it has none")
        return self


class SharedError(Record):
    """One error that several claims repeat, such as a wrong name: they fail for the same words."""

    words: str
    """Words of the first of the claims."""
    claims: Annotated[tuple[str, ...], Field(min_length=2)]
    """Their ids, in the order of the response."""


class GivenFacts(Record):
    """A sentence of a response with its atomic facts, split by the caller and judged as they are."""

    sentence: str
    facts: tuple[str, ...]


class StageUsage(Record):
    """The cost of one stage of the loop."""

    calls: Count = 0
    """Requests answered and paid for, in all attempts at this run."""
    failed_calls: Count = 0
    """Requests that came back as an error or not at all; each was retried or ended in an unscored claim.

    One that was sent and given up (at a time-out or a deadline, or as the check was stopped) may be paid for all the
    same: tokens and cost count the most that it can have taken.
    """
    cache_hits: Count = 0
    """Answers taken from the cache or shared with an identical concurrent request; they cost nothing."""
    prompt_tokens: Count = 0
    cached_tokens: Count = 0
    """Of the prompt tokens those that the server read from its cache, which cost less."""
    completion_tokens: Count = 0
    approximate_tokens: bool = False
    """True where the server reported no usage for some call: its tokens were estimated or, as it was given up, counted
    at most."""
    searches: Count = 0
    """Queries that were answered and are paid for; one whose answer could not be used is a failed call as well."""
    cost_usd: NonNegative | None = None
    """None where the price of the model is unknown."""
    wall_s: NonNegative = 0.0
    """Seconds spent waiting for answers, summed over calls: concurrent calls add up to more than elapsed time."""

    @property
    def asked_a_model(self) -> bool:
        """Whether a model was asked that may have to be paid for, be it for an answer or for a call given up."""
        return bool(self.calls or self.prompt_tokens)


class Usage(StageUsage):
    """The cost of a whole run: the sums over its stages. `wall_s` here is elapsed time."""

    stages: Mapping[str, StageUsage] = Field(default_factory=dict)


class Counts(Record):
    """The number of claims by verdict. Duplicates are counted under the verdict of the claim they repeat, or apart."""

    supported: Count = 0
    not_supported: Count = 0
    irrelevant: Count = 0
    unscored: Count = 0
    repeated: Count = 0
    """Claims that repeat another of the response, where repeats count once: under no verdict, and in no figure."""

    @classmethod
    def sum_of(cls, counts: Iterable[Counts]) -> Counts:
        """The counts of several responses together."""
        found = list(counts)
        return cls(**{name: sum(getattr(one, name) for one in found) for name in cls.model_fields})

    @property
    def scored(self) -> int:
        """Claims that enter precision: supported and not supported."""
        return self.supported + self.not_supported

    @property
    def total(self) -> int:
        """All claims, repeated ones too."""
        return self.supported + self.not_supported + self.irrelevant + self.unscored + self.repeated


class AtK(Record):
    """Recall and F1 at one K, the number of supported facts wished for."""

    k: Annotated[int, Field(ge=1)]
    recall: Share
    f1: Share
    n_scored: Count
    n_unscored: Count


class CascadeFingerprint(Record):
    """The cheap verifier of a cascade, and between which scores it leaves a claim to the model."""

    verifier: str
    identity: str
    """SHA-256 of all that shapes its scores."""
    upper: Share | None
    """A claim with at least this score is supported; with None the verifier supports no claim."""
    lower: Share | None
    """A claim with at most this score is not supported; with None the verifier rejects no claim."""


class Fingerprint(Record):
    """Everything that made the run what it is: equal fingerprints and equal caches give equal reports."""

    factloop_version: str
    engine: Literal["model", "offline"]
    model: str | None = None
    base_url: str | None = None
    sampling: Mapping[str, Any] = Field(default_factory=dict)
    plan: Plan
    max_searches: Annotated[int, Field(ge=1)]
    results_per_search: Annotated[int, Field(ge=1)]
    passage_characters: Annotated[int, Field(ge=1)] = 6_000
    search_tools: tuple[str, ...] = ()
    """Identity of each tool: for documents a hash of their contents."""
    embeddings: str | None = None
    spacy_model: str | None = None
    tool_calling: bool = True
    """Whether searches were offered to the model as tools, where it has tool calling."""
    logprobs: bool = False
    """Whether the model's server was asked for the log-probabilities of verdicts, from which their scores are."""
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """Prompt name to the SHA-256 of its file."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    """Version of each library that shapes the result."""
    seed: int | None = None
    repeats: Repeats = "each"
    """How claims that repeat another count."""
    cascade: CascadeFingerprint | None = None
    verifier: CascadeFingerprint | None = None
    """What judges without a chat model (`--judge`), and its thresholds; None for the offline engine's own."""
    settings: Mapping[str, Any] = Field(default_factory=dict)
    """Each other setting that shapes verdicts and is not at its default, by name."""

    @model_validator(mode="before")
    @classmethod
    def _reads_older(cls, fields: Any) -> Any:
        """Until version 1.5 of reports it was said of the plan `paper` whether it was as published: `safe` is now."""
        is_older = isinstance(fields, dict) and "as_published" in fields
        return {name: one for name, one in fields.items() if name != "as_published"} if is_older else fields

    @property
    def configuration(self) -> dict[str, Any]:
        """All that attempts at one run must share, by name. Versions and the seed may change: paid answers stay.

        A setting at its default is left out like one that did not exist yet, so that earlier runs can be resumed.
        """
        kept = self.model_dump(mode="json", exclude={"versions", "factloop_version", "seed", "settings"})
        return {**kept, **self.settings}

    @property
    def judge(self) -> str:
        """The judge and the plan, in words. The offline engine is called what it is: a baseline."""
        engine = "the offline engine (a baseline)" if self.engine == "offline" else self.model or "a model"
        if self.verifier is not None:
            engine = self.verifier.verifier
        if self.jurors:
            rule = self.settings.get("jury_rule", "majority").replace("_", " ")
            engine = f"a jury of {', '.join(self.jurors)} ({rule})"
        first = "" if self.cascade is None else f", after {self.cascade.verifier} for clear claims"
        return f"{engine}, {self.plan} plan{first}"

    @property
    def evaluator(self) -> str:
        """The judge as the input of an audit names it: `openai:gpt-4o-mini (fused)`, `offline engine (paper)`."""
        own = "offline engine" if self.verifier is None else self.verifier.verifier
        return f"{' + '.join(self.jurors) or self.model or own} ({self.plan})"

    @property
    def jurors(self) -> tuple[str, ...]:
        """The models of a jury, the first of which reads the answer; empty where one judge judges alone."""
        others = self.settings.get("jury", ())
        return (self.model or "", *others) if others else ()


class CascadeSavings(Record):
    """The savings of a cascade on the model and its searches. Repeated claims count once."""

    n_supported: Count
    """Settled by the cheap verifier."""
    n_not_supported: Count
    n_sent_on: Count
    """Looked at, and left to the model."""
    n_failed: Count = 0
    """First looks that failed; their claims went to the model."""
    max_error: Share | None = None
    """The error that the thresholds were tuned to: of the claims settled on either side, at most this share wrong."""
    confidence: Share | None = None
    calls_taken: Count = 0
    """Model calls that the claims sent on took once they were found, answers from the cache included."""
    searches_taken: Count = 0
    """Searches of these claims, beyond the first look."""
    calls_avoided: NonNegative | None = None
    """Estimated: claims settled times the calls that a claim sent on took. None where none was sent on."""
    searches_avoided: NonNegative | None = None

    @property
    def n_settled(self) -> int:
        return self.n_supported + self.n_not_supported

    @property
    def n_looked_at(self) -> int:
        return self.n_settled + self.n_sent_on


class Citation(Record):
    """A document that a sentence cites, by `[1]`, its number among those given, or by its id."""

    span: tuple[Count, Count]
    """Start and end of the number or id in the response, in characters."""
    sentence: Count
    """Place of the citing sentence in `sentences`."""
    document: Count | None
    """Place of the document among those given, from 0; None where there is none of this number."""
    bears_out: bool | None
    """Whether it bears out a claim of the sentence; None where claims are unscored and it bears out no other."""


class CitationFigures(Record):
    """Whether documents bear out the sentences that cite them.

    After citation recall and precision of Gao et al. (2023, ALCE, section 3.3), with these departures. Claims are
    judged rather than sentences, and by the evidence on which their own verdicts rest rather than by a look at each
    cited document: one that bears out a claim as well as the one that the judge names counts as not bearing it out, so
    that both figures are lower bounds, unless `judge_citations` asks for that look. And a citation is precise if it
    bears out any claim, whether or not the sentence needs it.
    """

    recall: Share | None = None
    """Share of the sentences with claims each of which a document that the sentence cites bears out; None where
    nothing is cited, or no sentence is scored."""
    n_sentences: Count = 0
    """The sentences that are scored. The others, as a claim of theirs is unscored, are in `n_unscored`."""
    n_unscored: Count = 0
    precision: Share | None = None
    """Share of the citations that bear out a claim; None where none is judged."""
    n_citations: Count = 0
    """The citations that are judged."""

    @classmethod
    def sum_of(cls, each: Iterable[CitationFigures]) -> CitationFigures | None:
        """The figures of several responses that cite something, as of one; None where none does."""
        found = [one for one in each if one.recall is not None or one.precision is not None]
        n, n_cited = sum(one.n_sentences for one in found), sum(one.n_citations for one in found)
        if not found:
            return None
        precise = sum(round((one.precision or 0.0) * one.n_citations) for one in found)
        return CitationFigures(
            recall=sum(round((one.recall or 0.0) * one.n_sentences) for one in found) / n if n else None,
            n_sentences=n,
            n_unscored=sum(one.n_unscored for one in found),
            precision=precise / n_cited if n_cited else None,
            n_citations=n_cited,
        )


class Citations(CitationFigures):
    """The documents given with a response: which its verdicts rest on, and which it cites for what they bear out."""

    n_documents: Count
    used: tuple[Count, ...]
    """Places of the documents that bear out any claim, from 0."""
    cited: tuple[Citation, ...] = ()


class FactualityReport(Record):
    """The result of one SAFE run over one response."""

    schema_version: Literal["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"] = "1.6"
    """Reports of version 1.0 have no sentences and no shared errors; 1.2 tells repeats, settings and quotes, 1.4
    which sentences are judged whole, which say that there is no answer, and on which claims the sources disagree, 1.5
    the documents of evidence, and citations, 1.6 the plan `safe`."""
    prompt: str | None = None
    response: str
    claims: tuple[Claim, ...]
    sentences: tuple[Sentence, ...] = ()
    """All that was to be read, in the order of the response; with `spans`, these alone."""
    counts: Counts
    precision: Share | None
    """supported / (supported + not_supported); None where nothing was scored."""
    shared_errors: tuple[SharedError, ...] = ()
    precision_by_error: Share | None = None
    """Precision with each shared error counted once, however many claims repeat it; None where nothing was scored."""
    at_k: tuple[AtK, ...]
    usage: Usage
    fingerprint: Fingerprint
    cascade: CascadeSavings | None = None
    """None without a cascade."""
    citations: Citations | None = None
    """None where no documents were given with the response."""
    created_at: datetime
    warnings: tuple[str, ...] = ()

    @property
    def abstentions(self) -> tuple[Sentence, ...]:
        """The sentences that say that something cannot be told."""
        return tuple(sentence for sentence in self.sentences if sentence.no_claim is NoClaim.ABSTENTION)

    @property
    def claim_free(self) -> tuple[Sentence, ...]:
        """The sentences without a claim, each with its reason."""
        return tuple(sentence for sentence in self.sentences if sentence.no_claim is not None)

    def text_of(self, sentence: Sentence) -> str:
        """The text of a sentence, as the response has it."""
        return self.response[slice(*sentence.span)]

    @model_validator(mode="after")
    def _no_claim_is_lost(self) -> Self:
        if self.counts.total != len(self.claims):
            raise ValueError(f"{self.counts.total} claims counted, {len(self.claims)} given")
        listed = [name for sentence in self.sentences for name in sentence.claims]
        if self.sentences and sorted(listed) != sorted(claim.id for claim in self.claims):
            raise ValueError("the sentences do not list the claims of the report, each once")
        return self

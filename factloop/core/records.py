"""The records that make up a report: immutable, validated, and written to JSON with a `schema_version`.

The records follow two rules. A failure is never a verdict: a `Judgement` has either a verdict or the reason why it is
unscored. No claim is ever dropped: the counts in a report add up to the number of its claims.
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

from factloop.core.reasons import UnscoredReason as UnscoredReason  # a field of a record, so exported with the records

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]

_SURROGATE = re.compile("[\ud800-\udfff]")


class Record(BaseModel):
    """Base class of all records. Records are immutable and reject unknown fields."""

    # Built on first use, since building all records took a third of a second, and a process uses only a few of them.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _holds_whole_characters(cls, fields: Any) -> Any:
        """Replaces lone surrogates (such as half an emoji) with U+FFFD, because these cannot be saved."""
        if not isinstance(fields, dict):
            return fields
        for value in fields.values():  # usually nothing needs replacing, so nothing is copied
            if isinstance(value, str) and not value.isascii():
                return {name: whole(text) if isinstance(text, str) else text for name, text in fields.items()}
        return fields


def whole(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


_LONGEST_NAME = 100  # maximum number of characters of a name to compare with known names


def refuse_unknown(model: type[BaseModel], data: object) -> None:
    """Raises pydantic's ValidationError for the first field in `data` that is not in `model`."""
    strange = [name for name in data if name not in model.model_fields] if isinstance(data, Mapping) else []
    if not strange:
        return
    near = get_close_matches(str(strange[0])[:_LONGEST_NAME], model.model_fields, n=1)
    words = {"is_it": "".join(f"did you mean {name!r}? " for name in near), "known": ", ".join(model.model_fields)}
    wrong = PydanticCustomError("extra_forbidden", "there is no such field; {is_it}known fields are {known}", words)
    raise ValidationError.from_exception_data(model.__name__, [{"type": wrong, "loc": (strange[0],), "input": None}])


Plan = Literal["safe", "paper", "fused", "grounded"]
"""How SAFE's loop is executed."""
JuryRule = Literal["majority", "unanimous", "first_sure"]

Repeats = Literal["each", "once", "core"]
"""Which claims of a response to count: all of them (`each`), the first of several that say the same thing (`once`), or
a largest set in which no claim entails another (`core`)."""


class Verdict(StrEnum):
    """The verdict on a claim. `not_supported` covers contradicted claims as well as claims without evidence."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not_supported"
    IRRELEVANT = "irrelevant"


class NoClaim(StrEnum):
    """Why a sentence in a response has no claims."""

    ABSTENTION = "abstention"
    """The sentence says that the sources or the writer have no answer."""
    HEADING = "heading"
    """A heading or a table header."""
    QUESTION = "question"
    REMARK = "remark"
    """The writer addresses the reader: a greeting, an offer or an announcement."""
    NO_STATEMENT = "no_statement"
    """The sentence was read and is certainly an opinion or small talk: it mentions no person, number or subject."""
    NO_CLAIM = "no_claim"
    """No claim was found, although the sentence may state something: advice, a table row, a fragment or code."""
    CODE = "code"
    """Code that was not read. The offline engine reads no code; HTML scripts, styles and bare tags are never read."""
    NOT_READ = "not_read"
    """The facts supplied by the caller do not cover this sentence."""


class SourceDocument(Record):
    """The document that a passage comes from. It was supplied with the response or found by a retriever."""

    index: Count | None = None
    """Index in the supplied documents, starting at 0. None if a retriever found the document."""
    id: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    """Metadata as JSON values, such as `page` and `chunk_id`; values over 1,000 characters are omitted."""


class Evidence(Record):
    """A passage found by a query."""

    id: str
    source: str
    """URL or document path."""
    title: str = ""
    section: str | None = None
    """The headings above the start of the passage, outermost first. None if unknown."""
    passage: str
    query: str
    rank: Annotated[int, Field(ge=1)]
    """Rank among the results of the query, starting at 1."""
    published: str | None = None
    """Publication date of the source, as returned by the search."""
    retrieved_at: datetime
    document: SourceDocument | None = None
    """The document that contains the passage, if it was supplied with the response or found by a retriever."""
    pages: tuple[tuple[Count, Count], ...] = ()
    """The offset in `passage` where each page starts, and the page number, if the passage spans several PDF pages."""


def over_pages(first: str, last: str) -> str:
    """Returns the source of a passage that runs from source `first` to source `last`, such as `a.pdf#page=1-2`."""
    file, page, begins = first.partition("#page=")
    begins, ends = begins.partition("-")[0], last.partition("#page=")[2].rpartition("-")[2]
    return f"{file}{page}{begins}-{ends}" if page and ends not in ("", begins) else first


class Vote(Record):
    """One jury model's vote on a claim: a verdict, or why there is none."""

    judged_by: str
    verdict: Verdict | None = None
    contradicted: bool | None = None
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    score: Share | None = None


class Judgement(Record):
    """Either a verdict with the grounds for it, or `verdict: null` with an `unscored_reason`."""

    verdict: Verdict | None = None
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    cited: tuple[str, ...] = ()
    """Ids of the evidence on which the verdict is based."""
    contradicted: bool | None = None
    """Only for `not_supported`: True if the evidence contradicts the claim, False if no evidence was found."""
    score: Share | None = None
    """Degree of support in [0, 1], if the judge provides a score.

    For a chat model, the score is the probability of "supported" among the verdicts. It is calculated from the
    log-probabilities of the reply, if the server returns them, and is not calibrated.
    """
    judged_by: str = ""
    """The model, encoder or rule set that made the judgement."""
    wrong: str = ""
    """The words in the claim that the evidence contradicts, if the judge quotes them."""
    instead: str = ""
    """What the evidence says instead of `wrong`, verbatim, if the judge quotes it."""
    quote: str = ""
    """The decisive sentence, verbatim from the first passage in `cited`, if the judge quotes one."""
    votes: tuple[Vote, ...] = ()
    """The jury models' votes, in the same order as `jurors`. The jury's rule turns the votes into this judgement."""
    stage: Literal["cheap", "model"] | None = None
    """The stage of a cascade that reached the verdict. None for unscored claims or if there is no cascade."""

    @model_validator(mode="after")
    def _is_verdict_or_unscored(self) -> Self:
        if (self.verdict is None) == (self.unscored_reason is None):
            raise ValueError("a judgement must have either a `verdict` or an `unscored_reason`")
        if (self.contradicted is not None) != (self.verdict is Verdict.NOT_SUPPORTED):
            raise ValueError("`contradicted` must be set if and only if the verdict is `not_supported`")
        return self


class LeftOut(Record):
    """Why a claim is outside the core, and so does not count towards any figure."""

    why: Literal["follows", "combines", "trivial"]
    """The claim follows from a claim in the core, combines several such claims, or is true of almost anything."""
    claims: tuple[str, ...] = ()
    """Ids of the core claims that this claim follows from or combines."""


class Claim(Record):
    """One atomic fact in the response, with its sentence, its evidence and its judgement."""

    id: str
    sentence: str
    span: tuple[Count, Count]
    """Start and end of the sentence in the response, in characters: `response[start:end] == sentence`.

    If the sentence was supplied by the caller and is not in the response, both are the end of the previous sentence.
    """
    text: str
    """The atomic fact, as it was extracted from the sentence."""
    self_contained: str
    """The same fact with pronouns and short names replaced, so that it can be judged on its own."""
    relevant: bool | None = None
    """Whether the claim is relevant to the question. None if unknown. An irrelevant claim may still be judged."""
    duplicate_of: str | None = None
    """Id of an earlier claim that says the same thing. Its judgement applies to both claims."""
    left_out: LeftOut | None = None
    """Why the claim is outside the core. None if it is in the core, or if no core was selected (`repeats`)."""
    queries: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """What the judge still needed to know before each round of queries, starting with the second round."""
    evidence: tuple[Evidence, ...] = ()
    judgement: Judgement
    borne_out_by: tuple[Count, ...] = ()
    """Indexes of the supplied documents that support the claim. Empty unless the verdict is `supported`."""

    @model_validator(mode="after")
    def _cites_its_own_evidence(self) -> Self:
        strangers = set(self.judgement.cited) - {item.id for item in self.evidence}
        if strangers:
            raise ValueError(f"the judgement cites unknown evidence: {sorted(strangers)}")
        if self.span[0] > self.span[1]:
            raise ValueError("a span must not end before it starts")
        return self


class Abstention(Record):
    """The judgement on a sentence that says there is no answer."""

    is_right: bool | None = None
    """True if the sources contain no answer either, False if they contain one, None if there is no verdict."""
    missing: str = ""
    """The question that the sentence leaves unanswered."""
    why: str = ""
    """The answer in the sources or, if `is_right` is None, why there is no judgement."""
    evidence: tuple[Evidence, ...] = ()
    """The passages that contain the answer."""


class Sentence(Record):
    """A sentence, heading, row or piece of code in the response, with its claims or why it has none."""

    span: tuple[Count, Count]
    """Start and end in the response, in characters. Empty for a supplied sentence that is not in the response."""
    claims: tuple[str, ...] = ()
    """Ids of the claims in the sentence."""
    no_claim: NoClaim | None = None
    is_whole: bool = False
    """Whether the whole sentence is treated as one claim. This happens if the facts that the model extracts omit or add
    a figure, name, negation or hedge even after a retry."""
    abstention: Abstention | None = None
    """Whether the abstention is right, if `no_claim` is `abstention` and a model checks the response."""

    @model_validator(mode="after")
    def _has_claims_or_a_reason(self) -> Self:
        if bool(self.claims) == (self.no_claim is not None):
            raise ValueError("a sentence must have either `claims` or a reason for having none (`no_claim`), not both")
        return self


class GivenFacts(Record):
    """A sentence in a response, with the atomic facts that the caller extracted from it. They are used unchanged."""

    sentence: str
    facts: tuple[str, ...]


class StageUsage(Record):
    """The cost of one stage of the loop."""

    calls: Count = 0
    """Requests that were answered and paid for, across all attempts at this run."""
    failed_calls: Count = 0
    """Requests that returned an error or nothing. Each was retried or led to an unscored claim.

    A request that was abandoned after it was sent (because of a timeout, a deadline or a stopped check) may still be
    charged, so tokens and cost include the maximum that the request could have used.
    """
    cache_hits: Count = 0
    """Answers taken from the cache or shared with an identical concurrent request. These answers cost nothing."""
    prompt_tokens: Count = 0
    cached_tokens: Count = 0
    """The prompt tokens that the server read from its cache. These tokens cost less."""
    completion_tokens: Count = 0
    approximate_tokens: bool = False
    """True if the server did not report the usage of every call. Tokens are then estimated or, for an abandoned call,
    counted at their maximum."""
    searches: Count = 0
    """Queries that were answered and paid for. An answer that could not be used also counts as a failed call."""
    cost_usd: NonNegative | None = None
    """None if the price of the model is unknown."""
    wall_s: NonNegative = 0.0
    """Seconds spent waiting for answers, summed over all calls. Can exceed elapsed time if calls are concurrent."""

    @property
    def asked_a_model(self) -> bool:
        """Whether any model calls may be charged, including abandoned calls."""
        return bool(self.calls or self.prompt_tokens)


class Usage(StageUsage):
    """The cost of a whole run, summed over its stages. Here, `wall_s` is elapsed time."""

    stages: Mapping[str, StageUsage] = Field(default_factory=dict)


class Counts(Record):
    """Number of claims by verdict. Duplicates are counted under the original claim's verdict or as `repeated`."""

    supported: Count = 0
    not_supported: Count = 0
    irrelevant: Count = 0
    unscored: Count = 0
    repeated: Count = 0
    """Claims that repeat another claim (if repeats count once) or are outside the response's core. These claims are
    excluded from the other counts and from all figures."""

    @classmethod
    def sum_of(cls, counts: Iterable[Counts]) -> Counts:
        """The combined counts of several responses."""
        found = list(counts)
        return cls(**{name: sum(getattr(one, name) for one in found) for name in cls.model_fields})

    @property
    def scored(self) -> int:
        """`supported` plus `not_supported`: the number of claims on which precision is based."""
        return self.supported + self.not_supported

    @property
    def total(self) -> int:
        """Total number of claims, including repeated claims."""
        return self.supported + self.not_supported + self.irrelevant + self.unscored + self.repeated


class AtK(Record):
    """Recall and F1 for one K, the number of supported facts that is wanted."""

    k: Annotated[int, Field(ge=1)]
    recall: Share
    f1: Share
    n_scored: Count
    n_unscored: Count


class EveryClaim(Record):
    """A response's scores if every claim is counted, as in SAFE."""

    counts: Counts
    precision: Share | None
    at_k: tuple[AtK, ...]


class CascadeFingerprint(Record):
    """A cascade's cheap verifier and its thresholds. Claims that score between the thresholds are left to the model."""

    verifier: str
    identity: str
    """SHA-256 hash of everything that affects the verifier's scores."""
    upper: Share | None
    """Claims with at least this score are supported. If None, the verifier accepts no claims."""
    lower: Share | None
    """Claims with at most this score are not supported. If None, the verifier rejects no claims."""


_NOT_SHARED = {"versions", "factloop_version", "seed", "settings", "snapshots", "prompt_lines"}


class Fingerprint(Record):
    """Everything that determines a run's result. Runs with the same fingerprint and cache give the same report."""

    factloop_version: str
    engine: Literal["model", "offline"]
    model: str | None = None
    base_url: str | None = None
    snapshots: tuple[str, ...] = ()
    """Names of the models that answered, as reported by the servers. Empty if no model was called."""
    sampling: Mapping[str, Any] = Field(default_factory=dict)
    plan: Plan
    max_searches: Annotated[int, Field(ge=1)]
    results_per_search: Annotated[int, Field(ge=1)]
    passage_characters: Annotated[int, Field(ge=1)] = 6_000
    search_tools: tuple[str, ...] = ()
    """The identity of each tool. For documents, this is a hash of their contents."""
    embeddings: str | None = None
    spacy_model: str | None = None
    tool_calling: bool = True
    """Whether searches were offered to the model as tools, if it supports tool calling."""
    logprobs: bool = False
    """Whether the server was asked for log-probabilities, from which the scores of verdicts are calculated."""
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """Maps prompt names to the SHA-256 hashes of their files."""
    prompt_lines: Mapping[str, str] = Field(default_factory=dict)
    """Maps prompt names to the first line of each prompt, shortened if it is long."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    """Version of each library that affects the result."""
    seed: int | None = None
    repeats: Repeats = "each"
    """How repeated claims are counted."""
    cascade: CascadeFingerprint | None = None
    verifier: CascadeFingerprint | None = None
    """The judge used instead of a chat model (`--judge`), with its thresholds. None if a chat model or the bundled
    baseline was used."""
    settings: Mapping[str, Any] = Field(default_factory=dict)
    """All other settings that affect verdicts and do not have their default values, by name."""

    @property
    def configuration(self) -> dict[str, Any]:
        """The values that must be the same in all attempts at a run, by name. Versions and the seed may change, since
        answers that are already paid for are kept.

        Settings with default values are omitted, so that you can resume a run that started before a setting existed.
        """
        kept = self.model_dump(mode="json", exclude=_NOT_SHARED)
        return {**kept, **self.settings}

    @property
    def judge(self) -> str:
        """A description of the judge and plan. For the offline engine, only the `paper` plan is named."""
        plan = "" if self.engine == "offline" and self.plan != "paper" else f", {self.plan} plan"
        first = "" if self.cascade is None else f", after {self.cascade.verifier} for clear claims"
        return f"{self.judge_alone}{plan}{first}"

    @property
    def judge_alone(self) -> str:
        """A description of the judge, without the plan. The offline engine is described as a baseline."""
        if self.jurors:
            rule = self.settings.get("jury_rule", "majority").replace("_", " ")
            return f"a jury of {', '.join(self.jurors)} ({rule})"
        if self.verifier is not None:
            return self.verifier.verifier
        return "the offline engine (a baseline)" if self.engine == "offline" else self.model or "a model"

    @property
    def evaluator(self) -> str:
        """The judge's name in an audit, such as `openai:gpt-4o-mini (fused)` or `offline engine (paper)`."""
        own = "offline engine" if self.verifier is None else self.verifier.verifier
        return f"{' + '.join(self.jurors) or self.model or own} ({self.plan})"

    @property
    def jurors(self) -> tuple[str, ...]:
        """A jury's models, starting with the model that reads the answer. Empty for a single judge."""
        others = self.settings.get("jury", ())
        return (self.model or "", *others) if others else ()


class CascadeSavings(Record):
    """The model calls and searches that a cascade saved. Repeated claims are counted once."""

    n_supported: Count
    """Claims that the cheap verifier accepted."""
    n_not_supported: Count
    n_sent_on: Count
    """Claims that the verifier examined and left to the model."""
    n_failed: Count = 0
    """Claims that were left to the model because the verifier failed."""
    max_error: Share | None = None
    """The thresholds were chosen so that, at either threshold, at most this fraction of settled claims is wrong."""
    confidence: Share | None = None
    calls_taken: Count = 0
    """Model calls made to judge the claims that were left to the model, including answers from the cache."""
    searches_taken: Count = 0
    """Searches for these claims after the verifier examined them."""
    calls_avoided: NonNegative | None = None
    """Estimated as the mean number of calls per claim left to the model, times the number of settled claims. None if no
    claims were left to the model."""
    searches_avoided: NonNegative | None = None

    @property
    def n_settled(self) -> int:
        return self.n_supported + self.n_not_supported

    @property
    def n_looked_at(self) -> int:
        return self.n_settled + self.n_sent_on


class Citation(Record):
    """A reference in a sentence to a supplied document, either by number (`[1]`) or by id."""

    span: tuple[Count, Count]
    """Start and end of the number or id in the response, in characters."""
    sentence: Count
    """Index of the citing sentence in `sentences`."""
    document: Count | None
    """Index in the supplied documents, starting at 0. None if no document has this number."""
    bears_out: bool | None
    """Whether the document supports a claim in the sentence. None if it does not, but a claim is unscored."""


class CitationFigures(Record):
    """Whether documents support the sentences that cite them.

    These figures follow the citation recall and precision of Gao et al. (2023, ALCE, section 3.3), with two
    differences. First, factloop judges claims instead of sentences, and does not judge each cited document separately.
    If several cited documents support a claim equally well, only the document that the judge cites counts, so both
    figures are lower bounds. Second, a citation that supports any claim is precise, whether or not it is needed.
    """

    recall: Share | None = None
    """Fraction of sentences in which every claim is supported by a document that the sentence cites. Sentences without
    claims are left out. None if nothing is cited or no sentence is scored."""
    n_sentences: Count = 0
    """Number of scored sentences. Sentences with an unscored claim are counted in `n_unscored`."""
    n_unscored: Count = 0
    precision: Share | None = None
    """Fraction of citations that support a claim. None if no citations are judged."""
    n_citations: Count = 0
    """Number of judged citations."""

    @classmethod
    def sum_of(cls, each: Iterable[CitationFigures]) -> CitationFigures | None:
        """The combined figures of all responses that cite something, or None if no response does."""
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
    """Which of the supplied documents support the claims in a response, and which ones the response cites."""

    n_documents: Count
    used: tuple[Count, ...]
    """Indexes of the documents that support a claim, starting at 0."""
    cited: tuple[Citation, ...] = ()


class FactualityReport(Record):
    """The result of checking one response with SAFE."""

    schema_version: Literal["1.0", "1.1", "1.2"] = "1.2"
    prompt: str | None = None
    response: str
    eligibility: Judgement | None = None
    """Whether the response does what its prompt asks for (`supported` if it does). None if there is no verdict."""
    claims: tuple[Claim, ...]
    sentences: tuple[Sentence, ...] = ()
    """All sentences in order of appearance, or only the sentences requested with `spans`."""
    counts: Counts
    precision: Share | None
    """supported / (supported + not_supported), or None if no claims were scored."""
    at_k: tuple[AtK, ...]
    every_claim: EveryClaim | None = None
    """The same figures, if every claim counted. None unless the figures above are limited to the core."""
    usage: Usage
    fingerprint: Fingerprint
    cascade: CascadeSavings | None = None
    """None if no cascade was used."""
    citations: Citations | None = None
    """None if no documents were supplied with the response."""
    mode: Literal["faithfulness", "factuality"] | None = None
    """`faithfulness` if only the supplied documents were searched, otherwise `factuality`. None if there were none."""
    created_at: datetime
    warnings: tuple[str, ...] = ()

    @property
    def abstentions(self) -> tuple[Sentence, ...]:
        """The sentences that say there is no answer."""
        return tuple(sentence for sentence in self.sentences if sentence.no_claim is NoClaim.ABSTENTION)

    @property
    def claim_free(self) -> tuple[Sentence, ...]:
        """The sentences without claims, each with the reason."""
        return tuple(sentence for sentence in self.sentences if sentence.no_claim is not None)

    def text_of(self, sentence: Sentence) -> str:
        """The text of a sentence, as it appears in the response."""
        return self.response[slice(*sentence.span)]

    @model_validator(mode="after")
    def _no_claim_is_lost(self) -> Self:
        if self.counts.total != len(self.claims):
            raise ValueError(f"the counts must add up to the {len(self.claims)} claims, not to {self.counts.total}")
        listed = [name for sentence in self.sentences for name in sentence.claims]
        if self.sentences and sorted(listed) != sorted(claim.id for claim in self.claims):
            raise ValueError("the sentences must list each claim of the report exactly once")
        return self

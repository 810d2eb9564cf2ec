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
    """Base class for all records, which are immutable and reject unknown fields."""

    # Built on first use, since building all records took a third of a second, and a process uses only a few of them.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _holds_whole_characters(cls, fields: Any) -> Any:
        """Replaces lone surrogates (such as half an emoji), which UTF-8 cannot encode."""
        if not isinstance(fields, dict):
            return fields
        for value in fields.values():  # usually nothing needs replacing, so nothing is copied
            if isinstance(value, str) and not value.isascii():
                return {name: whole(text) if isinstance(text, str) else text for name, text in fields.items()}
        return fields


def whole(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


_LONGEST_NAME = 100  # maximum number of characters of a name to compare with known names


def refuse_unknown(model: type[BaseModel], data: object) -> None:
    """Raises pydantic's ValidationError for the first field in `data` that is not in `model`."""
    names = data if isinstance(data, Mapping) else ()
    strange = next((name for name in names if name not in model.model_fields), None)
    if strange is None:
        return
    near = get_close_matches(str(strange)[:_LONGEST_NAME], model.model_fields, n=1)
    words = {"is_it": "".join(f"did you mean {name!r}? " for name in near), "known": ", ".join(model.model_fields)}
    wrong = PydanticCustomError("extra_forbidden", "there is no such field; {is_it}known fields are {known}", words)
    raise ValidationError.from_exception_data(model.__name__, [{"type": wrong, "loc": (strange,), "input": None}])


Plan = Literal["safe", "paper", "fused", "grounded"]
JuryRule = Literal["majority", "unanimous", "first_sure"]

Repeats = Literal["each", "once", "core"]
"""Which claims count: all (`each`), only the first of several that say the same thing (`once`), or a largest set in
which no claim entails another (`core`)."""


class Verdict(StrEnum):
    """`not_supported` covers contradicted claims as well as claims without evidence."""

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
    """Code that was not read. The offline engine reads no code, and HTML scripts, styles and bare tags are never read.
    """
    NOT_READ = "not_read"
    """The facts supplied by the caller do not cover this sentence."""


class SourceDocument(Record):
    """The document that a passage comes from, either supplied with the response or found by a retriever."""

    index: Count | None = None
    """Index in the supplied documents, starting at 0. None if a retriever found the document."""
    id: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    """JSON values such as `page` and `chunk_id`. Values over 1,000 characters are omitted."""


class Evidence(Record):
    """A passage found by a query."""

    id: str
    source: str
    """URL or file path."""
    title: str = ""
    section: str | None = None
    """The headings above the start of the passage, outermost first. None if unknown."""
    passage: str
    query: str
    rank: Annotated[int, Field(ge=1)]
    """Rank among the results of the query, starting at 1."""
    published: str | None = None
    """Publication date, as reported by the search."""
    retrieved_at: datetime
    document: SourceDocument | None = None
    """Set if the document was supplied with the response or found by a retriever."""
    pages: tuple[tuple[Count, Count], ...] = ()
    """If the passage spans several PDF pages, where each page starts in `passage`, and its page number."""


def over_pages(first: str, last: str) -> str:
    """The source of a passage that spans two pages, such as `a.pdf#page=1-2`."""
    file, page, begins = first.partition("#page=")
    begins, ends = begins.partition("-")[0], last.partition("#page=")[2].rpartition("-")[2]
    return f"{file}{page}{begins}-{ends}" if page and ends not in ("", begins) else first


class Vote(Record):
    """One jury model's vote: a verdict, or the reason why there is none."""

    judged_by: str
    verdict: Verdict | None = None
    contradicted: bool | None = None
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    score: Share | None = None


class Judgement(Record):
    """Either a verdict and the reasons for it, or `verdict: null` with an `unscored_reason`."""

    verdict: Verdict | None = None
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    cited: tuple[str, ...] = ()
    """Ids of the evidence that the verdict is based on."""
    contradicted: bool | None = None
    """Set only for `not_supported`: True if the evidence contradicts the claim, False if there is no evidence."""
    score: Share | None = None
    """Degree of support in [0, 1], if the judge provides a score.

    For a chat model, this is the probability of "supported" relative to the other verdicts. It comes from the
    log-probabilities of the reply, if the server returns them, and is not calibrated.
    """
    judged_by: str = ""
    """The model, encoder or rule set."""
    wrong: str = ""
    """The words of the claim that the evidence contradicts, if the judge quotes them."""
    instead: str = ""
    """What the evidence says instead of `wrong`, quoted verbatim, if the judge quotes it."""
    quote: str = ""
    """The decisive sentence, verbatim from the first passage in `cited`, if the judge quotes one."""
    votes: tuple[Vote, ...] = ()
    """In the order of `jurors`. The jury's rule turns these votes into the judgement."""
    stage: Literal["cheap", "model"] | None = None
    """The stage of the cascade that reached the verdict. None for unscored claims or without a cascade."""

    @model_validator(mode="after")
    def _is_verdict_or_unscored(self) -> Self:
        if (self.verdict is None) == (self.unscored_reason is None):
            raise ValueError("a judgement must have either a `verdict` or an `unscored_reason`")
        if (self.contradicted is not None) != (self.verdict is Verdict.NOT_SUPPORTED):
            raise ValueError("`contradicted` must be set if and only if the verdict is `not_supported`")
        return self


class LeftOut(Record):
    """Why a claim is outside the core. Such claims do not count toward any figure."""

    why: Literal["follows", "combines", "trivial"]
    """The claim follows from a claim in the core, combines several such claims, or is true of almost anything."""
    claims: tuple[str, ...] = ()
    """The core claims that this claim follows from or combines."""


class Claim(Record):
    """An atomic fact in the response, with its evidence and judgement."""

    id: str
    sentence: str
    span: tuple[Count, Count]
    """Start and end of the sentence in the response, in characters: `response[start:end] == sentence`.

    If the sentence was supplied by the caller and is not in the response, both are the end of the previous sentence.
    """
    text: str
    """The fact as extracted from the sentence."""
    self_contained: str
    """The fact with pronouns and short names resolved, so that it can be judged on its own."""
    relevant: bool | None = None
    """Whether the claim is relevant to the question, if known. Irrelevant claims may still be judged."""
    duplicate_of: str | None = None
    """Id of an earlier claim that says the same thing. This claim has the same judgement."""
    left_out: LeftOut | None = None
    """Why the claim is not in the core of the response (`repeats`). None if it is, or if no core was selected."""
    queries: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """What the judge still needed to know before each round of queries after the first."""
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
    """Whether a sentence is right in saying that there is no answer."""

    is_right: bool | None = None
    """True if the sources have no answer either, False if they have one, None if there is no verdict."""
    missing: str = ""
    why: str = ""
    """The answer in the sources, or why there is no judgement if `is_right` is None."""
    evidence: tuple[Evidence, ...] = ()


class Sentence(Record):
    """A sentence, heading, row or piece of code in the response, with its claims or the reason why it has none."""

    span: tuple[Count, Count]
    """Character offsets in the response. Empty for a supplied sentence that is not in the response."""
    claims: tuple[str, ...] = ()
    """Ids of its claims."""
    no_claim: NoClaim | None = None
    is_whole: bool = False
    """Whether the sentence itself is used as its only claim, because the facts extracted by the model omit or add a
    figure, name, negation or hedge even after a retry."""
    abstention: Abstention | None = None
    """Set if `no_claim` is `abstention` and a model checks the response."""

    @model_validator(mode="after")
    def _has_claims_or_a_reason(self) -> Self:
        if bool(self.claims) == (self.no_claim is not None):
            raise ValueError("a sentence must have either `claims` or a reason for having none (`no_claim`), not both")
        return self


class GivenFacts(Record):
    """A sentence with the atomic facts that the caller extracted from it. The facts are used unchanged."""

    sentence: str
    facts: tuple[str, ...]


class StageUsage(Record):
    calls: Count = 0
    """Requests that were answered and paid for, across all attempts at this run."""
    failed_calls: Count = 0
    """Requests that returned an error or nothing, and so were retried or led to an unscored claim.

    A request that was sent and then abandoned (because of a timeout, a deadline or a stopped check) may still be
    charged. Tokens and cost therefore include the most that it could have used.
    """
    cache_hits: Count = 0
    """Answers from the cache or an identical concurrent request. These cost nothing."""
    prompt_tokens: Count = 0
    cached_tokens: Count = 0
    """The prompt tokens that the server read from its own cache, at a lower price."""
    completion_tokens: Count = 0
    approximate_tokens: bool = False
    """True if the server did not report the usage of every call. The missing numbers are estimates or, for abandoned
    calls, maximums."""
    searches: Count = 0
    """Queries that were answered and paid for. An answer that could not be used also counts as a failed call."""
    cost_usd: NonNegative | None = None
    """None if the price of the model is unknown."""
    wall_s: NonNegative = 0.0
    """Seconds spent waiting, summed over all calls. Concurrent calls can make this exceed the elapsed time."""

    @property
    def asked_a_model(self) -> bool:
        """Whether any model calls may be charged, including abandoned ones."""
        return bool(self.calls or self.prompt_tokens)


class Usage(StageUsage):
    """The usage of a whole run. Its `wall_s` is the elapsed time."""

    stages: Mapping[str, StageUsage] = Field(default_factory=dict)


class Counts(Record):
    """The number of claims by verdict. A duplicate counts under the original's verdict or as `repeated`."""

    supported: Count = 0
    not_supported: Count = 0
    irrelevant: Count = 0
    unscored: Count = 0
    repeated: Count = 0
    """Claims that repeat another claim (if repeats count once) or are outside the core. They are excluded from the
    other counts and from all figures."""

    @classmethod
    def sum_of(cls, counts: Iterable[Counts]) -> Counts:
        found = list(counts)
        return cls(**{name: sum(getattr(one, name) for one in found) for name in cls.model_fields})

    @property
    def scored(self) -> int:
        """The number of claims on which precision is based."""
        return self.supported + self.not_supported

    @property
    def total(self) -> int:
        return self.supported + self.not_supported + self.irrelevant + self.unscored + self.repeated


class AtK(Record):
    k: Annotated[int, Field(ge=1)]
    recall: Share
    f1: Share
    n_scored: Count
    n_unscored: Count


class EveryClaim(Record):
    """A response's scores with every claim counted, as in SAFE."""

    counts: Counts
    precision: Share | None
    at_k: tuple[AtK, ...]


class CascadeFingerprint(Record):
    """A cascade's cheap verifier and its thresholds. Claims that score between the thresholds go to the model."""

    verifier: str
    identity: str
    """SHA-256 hash of everything that affects the verifier's scores."""
    upper: Share | None
    """Claims with at least this score are supported. If None, the verifier supports no claims."""
    lower: Share | None
    """Claims with at most this score are not supported. If None, the verifier rejects no claims."""


_NOT_SHARED = {"versions", "factloop_version", "seed", "settings", "snapshots", "prompt_lines"}


class Fingerprint(Record):
    """Everything that determines a run's result. The same fingerprint and cache give the same report."""

    factloop_version: str
    engine: Literal["model", "offline"]
    model: str | None = None
    base_url: str | None = None
    snapshots: tuple[str, ...] = ()
    """The models that answered, as named by the servers. Empty if no model was called."""
    sampling: Mapping[str, Any] = Field(default_factory=dict)
    plan: Plan
    max_searches: Annotated[int, Field(ge=1)]
    results_per_search: Annotated[int, Field(ge=1)]
    passage_characters: Annotated[int, Field(ge=1)] = 6_000
    search_tools: tuple[str, ...] = ()
    """Identifies each tool. For documents, this is a hash of their contents."""
    embeddings: str | None = None
    spacy_model: str | None = None
    tool_calling: bool = True
    """Whether searches were offered to the model as tools, if it supports tool calling."""
    logprobs: bool = False
    """Whether log-probabilities were requested. Verdict scores are calculated from them."""
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """SHA-256 hashes of the prompt files, by name."""
    prompt_lines: Mapping[str, str] = Field(default_factory=dict)
    """The first line of each prompt by name, shortened if it is long."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    """Versions of the libraries that affect the result."""
    seed: int | None = None
    repeats: Repeats = "each"
    cascade: CascadeFingerprint | None = None
    verifier: CascadeFingerprint | None = None
    """The judge used instead of a chat model (`--judge`). None for a chat model or the bundled baseline."""
    settings: Mapping[str, Any] = Field(default_factory=dict)
    """All other settings that affect verdicts and differ from their defaults, by name."""

    @property
    def configuration(self) -> dict[str, Any]:
        """What a resumed run must not change. Leaves out versions, the seed and settings at their defaults."""
        kept = self.model_dump(mode="json", exclude=_NOT_SHARED)
        return {**kept, **self.settings}

    @property
    def judge(self) -> str:
        """Describes the judge and the plan. For the offline engine, only the `paper` plan is named."""
        plan = "" if self.engine == "offline" and self.plan != "paper" else f", {self.plan} plan"
        first = "" if self.cascade is None else f", after {self.cascade.verifier} for clear claims"
        return f"{self.judge_alone}{plan}{first}"

    @property
    def judge_alone(self) -> str:
        if self.jurors:
            rule = self.settings.get("jury_rule", "majority").replace("_", " ")
            return f"a jury of {', '.join(self.jurors)} ({rule})"
        if self.verifier is not None:
            return self.verifier.verifier
        return "the offline engine (a baseline)" if self.engine == "offline" else self.model or "a model"

    @property
    def evaluator(self) -> str:
        """The judge's name in an audit, such as `openai:gpt-4o-mini (fused)` or `offline engine`."""
        own = "offline engine" if self.verifier is None else self.verifier.verifier
        plan = "" if self.engine == "offline" and self.plan != "paper" else f" ({self.plan})"
        return f"{' + '.join(self.jurors) or self.model or own}{plan}"

    @property
    def jurors(self) -> tuple[str, ...]:
        """The jury's models, starting with the one that reads the answer. Empty for a single judge."""
        others = self.settings.get("jury", ())
        return (self.model or "", *others) if others else ()


class CascadeSavings(Record):
    """The model calls and searches saved by a cascade. Repeated claims count once."""

    n_supported: Count
    n_not_supported: Count
    n_sent_on: Count
    """Claims that the verifier examined but could not settle."""
    n_failed: Count = 0
    """Claims left to the model because the verifier failed."""
    max_error: Share | None = None
    """The maximum error rate among settled claims that each threshold was tuned for."""
    confidence: Share | None = None
    calls_taken: Count = 0
    """Model calls for the claims left to the model, including answers from the cache."""
    searches_taken: Count = 0
    """Searches for the claims left to the model, made after the verifier examined these claims."""
    calls_avoided: NonNegative | None = None
    """An estimate: the number of settled claims times the mean number of calls per claim left to the model. None if no
    claims were left to the model."""
    searches_avoided: NonNegative | None = None

    @property
    def n_settled(self) -> int:
        return self.n_supported + self.n_not_supported

    @property
    def n_looked_at(self) -> int:
        return self.n_settled + self.n_sent_on


class Citation(Record):
    """A reference to a supplied document, by number (`[1]`) or by id."""

    span: tuple[Count, Count]
    """Character offsets of the number or id in the response."""
    sentence: Count
    """Index in `sentences` of the citing sentence."""
    document: Count | None
    """Index in the supplied documents, starting at 0. None if there is no such document."""
    bears_out: bool | None
    """Whether the document supports a claim in the sentence. None if the answer depends on an unscored claim, or if the
    sentence has no claims."""


class CitationFigures(Record):
    """Whether documents support the sentences that cite them.

    Citation recall and precision as in Gao et al. (2023, ALCE, section 3.3), with two departures. factloop judges
    claims rather than sentences, and does not judge each cited document separately. If several of them support a claim
    equally well, only the one that the judge cites counts, so both figures are lower bounds. And a citation that
    supports any claim is precise, even if it is not needed.
    """

    recall: Share | None = None
    """The proportion of sentences whose claims are all supported by documents that the sentence cites. Sentences
    without claims are left out. None if nothing is cited or no sentence is scored."""
    n_sentences: Count = 0
    """The number of scored sentences. Sentences whose result depends on an unscored claim are in `n_unscored`."""
    n_unscored: Count = 0
    precision: Share | None = None
    """The proportion of judged citations that support a claim. None if no citations are judged."""
    n_citations: Count = 0

    @classmethod
    def sum_of(cls, each: Iterable[CitationFigures]) -> CitationFigures | None:
        """Returns None if no response cites anything."""
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
    """Which supplied documents support the claims, and which ones the response cites."""

    n_documents: Count
    used: tuple[Count, ...]
    """Indexes, starting at 0, of the documents that support a claim."""
    cited: tuple[Citation, ...] = ()


class FactualityReport(Record):
    """The result of checking one response with SAFE."""

    schema_version: Literal["1.0", "1.1", "1.2"] = "1.2"
    prompt: str | None = None
    response: str
    eligibility: Judgement | None = None
    """Whether the response does what its prompt asks for. None if no judge was asked."""
    claims: tuple[Claim, ...]
    sentences: tuple[Sentence, ...] = ()
    """In order of appearance. Contains only the requested sentences if `spans` was set."""
    counts: Counts
    precision: Share | None
    """supported / (supported + not_supported), or None if no claims were scored."""
    at_k: tuple[AtK, ...]
    every_claim: EveryClaim | None = None
    """The figures with every claim counted. None unless the figures above are limited to the core."""
    usage: Usage
    fingerprint: Fingerprint
    cascade: CascadeSavings | None = None
    citations: Citations | None = None
    mode: Literal["faithfulness", "factuality"] | None = None
    """`faithfulness` if only the supplied documents were searched, otherwise `factuality`. None without documents."""
    created_at: datetime
    warnings: tuple[str, ...] = ()

    @property
    def abstentions(self) -> tuple[Sentence, ...]:
        return tuple(sentence for sentence in self.sentences if sentence.no_claim is NoClaim.ABSTENTION)

    @property
    def claim_free(self) -> tuple[Sentence, ...]:
        return tuple(sentence for sentence in self.sentences if sentence.no_claim is not None)

    def text_of(self, sentence: Sentence) -> str:
        return self.response[slice(*sentence.span)]

    @model_validator(mode="after")
    def _no_claim_is_lost(self) -> Self:
        if self.counts.total != len(self.claims):
            raise ValueError(f"the counts must add up to the {len(self.claims)} claims, not to {self.counts.total}")
        listed = [name for sentence in self.sentences for name in sentence.claims]
        if self.sentences and sorted(listed) != sorted(claim.id for claim in self.claims):
            raise ValueError("the sentences must list each claim of the report exactly once")
        return self

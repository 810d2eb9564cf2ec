"""A report with every verdict, a duplicate and every unscored reason: what a check of a short biography may yield."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from factloop.core.records import (
    AtK,
    Claim,
    Counts,
    Evidence,
    FactualityReport,
    Fingerprint,
    Judgement,
    StageUsage,
    UnscoredReason,
    Usage,
    Verdict,
)
from factloop.reports.status import tally_reasons

PROMPT = "Who was Ada Lovelace, and why is she remembered?"
WHEN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)

RESPONSE = """# Ada Lovelace

Ada Lovelace was born in London on 10 December 1815, the only legitimate child of the poet Lord Byron. \
Her mother, Anne Isabella Milbanke, had her taught mathematics from an early age. \
She met Charles Babbage in 1833, when she was seventeen.

**What she is known for**

- In 1843 she translated Luigi Menabrea's article on the Analytical Engine and added notes far longer than the article.
- Note G sets out, step by step, how the engine could compute Bernoulli numbers.
- The Analytical Engine was completed in 1845 and ran her program.

London is the capital of the United Kingdom. She kept a parrot that she had named after Babbage. \
She died of cancer in 1852, aged 36, and was buried beside her father. \
A programming language of 1980 bears her name. Ada Lovelace was Byron's daughter.

She also owned a share in a canal company, wrote a lost treatise on poison, was a member of three clubs, \
rode to hounds, played at Newmarket, disliked one of them, \
quoted Goethe in German and left a private diary.
"""


@dataclass(frozen=True)
class Source:
    url: str
    title: str
    passage: str
    published: str | None = None


BIOGRAPHY = Source(
    "https://encyclopaedia.example.org/ada-lovelace",
    "Lovelace, Ada: a short biography",
    "Augusta Ada Byron came into the world in London on 10 December 1815. She was the one child that Lord Byron had in "
    "wedlock. She died on 27 November 1852 at thirty-six and lies next to him in the church at Hucknall.",
    "2021-03-08",
)
NOTES = Source(
    "https://computing-history.example.org/notes-on-the-engine?page=2",
    "What the translator added",
    "The seven notes, A to G, run to about three times the length of the article they follow. The last of them lays "
    "out a table of operations by which the engine would find the numbers of Bernoulli.",
)
ENGINE = Source(
    "sources/analytical-engine.md",
    "The engine that was never built",
    "Babbage went on drawing until his death in 1871. Only a trial piece of the mill was ever put together: the "
    "Analytical Engine itself was not built in his lifetime.",
    "12 May 2019",
)
LETTERS = Source(
    "https://letters.example.org/1833/june",
    "Letters of the summer of 1833",
    "On 5 June 1833 Miss Byron, then seventeen, was taken to a party at which she met Mr Babbage.",
    "1833-06-21",
)
LANGUAGE = Source(
    "https://computing-history.example.org/languages/ada",
    "Ada, the language",
    "The manual of the language was approved on 10 December 1980; it is called Ada after the Countess of Lovelace.",
)


class _Builder:
    """Collects claims sentence by sentence, numbering them and finding each sentence's span in the response."""

    def __init__(self, response: str = RESPONSE) -> None:
        self.response = response
        self.claims: list[Claim] = []

    def add(
        self,
        sentence: str,
        text: str,
        self_contained: str,
        judgement: Judgement,
        *sources: Source,
        cite: int = 0,
        queries: tuple[str, ...] = (),
        missing: tuple[str, ...] = (),
        duplicate_of: str | None = None,
    ) -> None:
        number = len(self.claims) + 1
        start = self.response.index(sentence)
        evidence = tuple(
            Evidence(
                id=f"c{number}e{rank}",
                source=source.url,
                title=source.title,
                passage=source.passage,
                query=queries[-1],
                rank=rank,
                published=source.published,
                retrieved_at=WHEN,
            )
            for rank, source in enumerate(sources, 1)
        )
        cited = tuple(item.id for item in evidence[:cite])
        self.claims.append(
            Claim(
                id=f"c{number}",
                sentence=sentence,
                span=(start, start + len(sentence)),
                text=text,
                self_contained=self_contained,
                relevant=judgement.verdict is not Verdict.IRRELEVANT,
                duplicate_of=duplicate_of,
                queries=queries,
                missing=missing,
                evidence=evidence,
                judgement=judgement.model_copy(update={"cited": cited}),
            )
        )


def _supported(rationale: str, score: float | None = None) -> Judgement:
    return Judgement(verdict=Verdict.SUPPORTED, rationale=rationale, score=score, judged_by="openai:gpt-4o-mini")


def _not_supported(rationale: str, *, contradicted: bool) -> Judgement:
    return Judgement(
        verdict=Verdict.NOT_SUPPORTED,
        rationale=rationale,
        contradicted=contradicted,
        judged_by="openai:gpt-4o-mini",
    )


REASONS = tuple(reason for reason in UnscoredReason if reason is not UnscoredReason.TOO_FEW_DISTRACTORS)
"""All that a check gives; the other belongs to TrustScore."""


def _unscored(reason: UnscoredReason) -> Judgement:
    return Judgement(unscored_reason=reason, judged_by="openai:gpt-4o-mini")


def sample_claims(reasons: Collection[UnscoredReason] = REASONS) -> tuple[Claim, ...]:
    """Thirteen claims with a verdict, then one for each unscored reason asked for."""
    build = _Builder()
    born = "Ada Lovelace was born in London on 10 December 1815, the only legitimate child of the poet Lord Byron."
    build.add(
        born,
        "She was born in London.",
        "Ada Lovelace was born in London.",
        _supported("The biography names London as the place of her birth.", 0.97),
        BIOGRAPHY,
        cite=1,
        queries=("Ada Lovelace place of birth",),
    )
    build.add(
        born,
        "She was born on 10 December 1815.",
        "Ada Lovelace was born on 10 December 1815.",
        _supported("The same date is given."),
        BIOGRAPHY,
        cite=1,
        queries=("Ada Lovelace date of birth",),
    )
    build.add(
        born,
        "She was the only legitimate child of Lord Byron.",
        "Ada Lovelace was the only legitimate child of Lord Byron.",
        _supported("The biography calls her the one child that Byron had in wedlock."),
        BIOGRAPHY,
        LETTERS,
        cite=1,
        queries=("Lord Byron legitimate children",),
    )
    taught = "Her mother, Anne Isabella Milbanke, had her taught mathematics from an early age."
    build.add(
        taught,
        "Her mother had her taught mathematics from an early age.",
        "Anne Isabella Milbanke had Ada Lovelace taught mathematics from an early age.",
        _not_supported("The passages speak of her family, and none of her lessons.", contradicted=False),
        BIOGRAPHY,
        queries=("Ada Lovelace childhood mathematics tutors", "Anne Isabella Milbanke daughter's education"),
        missing=("who taught her, and from what age",),
    )
    build.add(
        "She met Charles Babbage in 1833, when she was seventeen.",
        "She met Charles Babbage in 1833.",
        "Ada Lovelace met Charles Babbage in 1833.",
        _supported("A letter dates the meeting to 5 June 1833.", 0.94),
        LETTERS,
        BIOGRAPHY,
        cite=1,
        queries=("Ada Lovelace first meeting with Charles Babbage",),
    )
    translated = (
        "In 1843 she translated Luigi Menabrea's article on the Analytical Engine and added notes far longer than "
        "the article."
    )
    build.add(
        translated,
        "She added notes far longer than the article.",
        "Ada Lovelace's notes are far longer than the article by Luigi Menabrea that she translated.",
        _supported("About three times the length of the article."),
        NOTES,
        cite=1,
        queries=("Menabrea article translation notes length",),
    )
    build.add(
        "Note G sets out, step by step, how the engine could compute Bernoulli numbers.",
        "Note G sets out how the engine could compute Bernoulli numbers.",
        "Ada Lovelace's Note G sets out how the Analytical Engine could compute Bernoulli numbers.",
        _supported("The last note holds the table of operations."),
        NOTES,
        ENGINE,
        cite=1,
        queries=("Note G Bernoulli numbers Analytical Engine",),
    )
    built = "The Analytical Engine was completed in 1845 and ran her program."
    build.add(
        built,
        "The Analytical Engine was completed in 1845.",
        "The Analytical Engine was completed in 1845.",
        _not_supported(
            "The engine was not built in Babbage's lifetime, and he died in 1871; so it was not complete in 1845.",
            contradicted=True,
        ),
        ENGINE,
        NOTES,
        cite=1,
        queries=("Analytical Engine completion date", "was the Analytical Engine ever built"),
        missing=("whether any engine was finished at all",),
    )
    build.add(
        "London is the capital of the United Kingdom.",
        "London is the capital of the United Kingdom.",
        "London is the capital of the United Kingdom.",
        Judgement(
            verdict=Verdict.IRRELEVANT, rationale="It is not about Ada Lovelace.", judged_by="openai:gpt-4o-mini"
        ),
    )
    build.add(
        "She kept a parrot that she had named after Babbage.",
        "She kept a parrot named after Babbage.",
        "Ada Lovelace kept a parrot named after Charles Babbage.",
        _not_supported("No passage mentions a parrot.", contradicted=False),
        LETTERS,
        BIOGRAPHY,
        queries=("Ada Lovelace parrot",),
    )
    build.add(
        "She died of cancer in 1852, aged 36, and was buried beside her father.",
        "She was buried beside her father.",
        "Ada Lovelace was buried beside her father, Lord Byron.",
        _supported("She lies next to him in the church at Hucknall."),
        BIOGRAPHY,
        cite=1,
        queries=("Ada Lovelace burial place",),
    )
    build.add(
        "A programming language of 1980 bears her name.",
        "A programming language of 1980 bears her name.",
        "A programming language of 1980 is named after Ada Lovelace.",
        _supported("The language Ada was approved in 1980 and is named after her.", 0.91),
        LANGUAGE,
        cite=1,
        queries=("programming language named after Ada Lovelace 1980",),
    )
    build.add(
        "Ada Lovelace was Byron's daughter.",
        "She was Byron's daughter.",
        "Ada Lovelace was the only legitimate child of Lord Byron.",
        _supported("The biography calls her the one child that Byron had in wedlock."),
        duplicate_of="c3",
    )
    last = RESPONSE[RESPONSE.index("She also owned") :].rstrip()
    for reason in REASONS:
        if reason in reasons:
            fact = _UNSCORED_FACTS[reason]
            build.add(last, f"She {fact}.", f"Ada Lovelace {fact}.", _unscored(reason), queries=(f"Lovelace {fact}",))
    return tuple(build.claims)


_UNSCORED_FACTS = {
    UnscoredReason.PARSE_FAILURE: "owned a share in a canal company",
    UnscoredReason.TOOL_FAILURE: "was a member of three clubs",
    UnscoredReason.REFUSAL: "wrote a lost treatise on poison",
    UnscoredReason.BUDGET: "rode to hounds",
    UnscoredReason.TIMEOUT: "played at Newmarket",
    UnscoredReason.AMBIGUOUS: "disliked one of them",
    UnscoredReason.OTHER_LANGUAGE: "quoted Goethe in German",
    UnscoredReason.NO_SOURCE: "left a private diary",
}


def count_claims(claims: Collection[Claim]) -> Counts:
    verdicts = [claim.judgement.verdict for claim in claims]
    return Counts(
        supported=verdicts.count(Verdict.SUPPORTED),
        not_supported=verdicts.count(Verdict.NOT_SUPPORTED),
        irrelevant=verdicts.count(Verdict.IRRELEVANT),
        unscored=tally_reasons(claims).total(),
    )


def make_report(response: str, claims: tuple[Claim, ...], *, prompt: str | None = PROMPT) -> FactualityReport:
    """A report on these claims, its figures computed from them for K of 8 and 64."""
    counts = count_claims(claims)
    precision = counts.supported / counts.scored if counts.scored else None
    at_k = []
    for k in (8, 64):
        recall = min(1.0, counts.supported / k)
        f1 = 2 * precision * recall / (precision + recall) if precision else 0.0
        at_k.append(AtK(k=k, recall=recall, f1=f1, n_scored=counts.scored, n_unscored=counts.unscored))
    return FactualityReport(
        prompt=prompt,
        response=response,
        claims=claims,
        counts=counts,
        precision=precision,
        at_k=tuple(at_k),
        usage=Usage(
            calls=31,
            failed_calls=2,
            cache_hits=4,
            prompt_tokens=13_482,
            completion_tokens=1_706,
            approximate_tokens=True,
            searches=17,
            cost_usd=0.00305,
            wall_s=4.82,
            stages={
                "sentence_facts": StageUsage(
                    calls=12, cache_hits=1, prompt_tokens=6_120, completion_tokens=820, cost_usd=0.00141, wall_s=9.4
                ),
                "assess": StageUsage(
                    calls=19,
                    failed_calls=2,
                    cache_hits=3,
                    prompt_tokens=7_362,
                    completion_tokens=886,
                    approximate_tokens=True,
                    cost_usd=0.00164,
                    wall_s=16.1,
                ),
                "search": StageUsage(searches=17, wall_s=2.1),
            },
        ),
        fingerprint=Fingerprint(
            factloop_version="0.1.0",
            engine="model",
            model="openai:gpt-4o-mini",
            base_url="https://models.example.org/v1",
            sampling={"temperature": 0.0, "max_tokens": 512},
            plan="fused",
            max_searches=5,
            results_per_search=3,
            search_tools=("serper", "documents"),
            prompts={"sentence_facts": "a3f1" * 16, "assess": "09bd" * 16},
            versions={"langgraph": "1.2.22", "langchain-core": "1.7.2", "tantivy": "0.27.0"},
            seed=7,
        ),
        created_at=WHEN,
        warnings=("2 calls failed and were retried.",),
    )


def sample_report(reasons: Collection[UnscoredReason] = REASONS) -> FactualityReport:
    """The biography checked. `reasons` are the unscored reasons that occur in it."""
    return make_report(RESPONSE, sample_claims(reasons))


MARKED_UP = """## Plans

| Plan | Price |
|------|------:|
| Team | 19 € |

Run `larder start`, which listens on **port 8080**. See [the terms](https://example.org/terms).

```toml
port = 8080
```
"""


def markdown_report() -> FactualityReport:
    """A response with a heading, a table, a link and code; the first claim fails for named words, the other holds."""
    build = _Builder(MARKED_UP)
    judged = _not_supported("The price is another.", contradicted=True).model_copy(
        update={"wrong": "19 €", "instead": "29 €", "quote": "The team plan costs 29 €."}
    )
    plans = Source("https://example.org/plans", "Plans", "There are two plans. The team plan costs 29 €.")
    build.add("Team | 19 €", "Team costs 19 €.", "Team costs 19 €.", judged, plans, cite=1, queries=("team price",))
    started = "Run `larder start`, which listens on **port 8080**."
    port = "larder start listens on port 8080."
    ports = Source("notes/ports.md", "", "It listens on port 8080.")
    build.add(started, port, port, _supported("It says so."), ports, cite=1, queries=("larder port",))
    return make_report(MARKED_UP, tuple(build.claims))


HOSTILE = (
    "{{ 6*7 }} {% if x %} [red]alert[/red] [/] </response> <script>alert(1)</script> </script> </style> "
    "<img src=x onerror=alert(1)> \x1b[31mred\x1b[0m \x00 NUL \x07 bell \r back \x9b2J \u202egnitool\u2066 &amp; 'q' \""
)

"""Stands in every free text of the hostile report."""

HOSTILE_ADDRESS = "https://example.org/?a=1&lt;=2&b={{7*7}}"
"""A true web address, and so a link, with a hostile title."""


def hostile_report() -> FactualityReport:
    """A report each of whose free texts attacks the page or the terminal that shows it."""
    evidence = tuple(
        Evidence(
            id=f"e{rank}",
            source=source,
            title=f"title {HOSTILE}",
            passage=f"passage {HOSTILE}",
            query=f"query {HOSTILE}",
            rank=rank,
            published=f"date {HOSTILE}",
            retrieved_at=WHEN,
        )
        for rank, source in enumerate(
            (
                "javascript:alert(1)",
                "data:text/html,<script>alert(1)</script>",
                "https://example.org/\u202egpj.exe",
                'https://example.org/"onmouseover="alert(1)',
                "http://[broken",
                HOSTILE,
                HOSTILE_ADDRESS,
            ),
            1,
        )
    )
    claim = Claim(
        id=f"id {HOSTILE}",
        sentence=HOSTILE,
        span=(0, len(HOSTILE)),
        text=f"text {HOSTILE}",
        self_contained=f"claim {HOSTILE}",
        relevant=True,
        duplicate_of=f"other {HOSTILE}",
        queries=(f"query {HOSTILE}",),
        missing=(f"missing {HOSTILE}",),
        evidence=evidence,
        judgement=Judgement(
            verdict=Verdict.SUPPORTED, rationale=HOSTILE, cited=("e1", "e3", "e6"), judged_by=f"judge {HOSTILE}"
        ),
    )
    report = make_report(HOSTILE, (claim,), prompt=HOSTILE)
    fingerprint = report.fingerprint.model_copy(
        update={"model": HOSTILE, "base_url": HOSTILE, "prompts": {HOSTILE: HOSTILE}, "search_tools": (HOSTILE,)}
    )
    usage = report.usage.model_copy(update={"stages": {HOSTILE: StageUsage()}})
    return report.model_copy(update={"fingerprint": fingerprint, "usage": usage, "warnings": (HOSTILE,)})


def large_report(n_claims: int) -> FactualityReport:
    """One sentence and one claim with two passages each, `n_claims` times."""
    born, met = sample_claims()[0], sample_claims()[7]
    sentences = [f"Sentence number {number} says that she was born in London." for number in range(n_claims)]
    claims, start = [], 0
    for number, sentence in enumerate(sentences):
        model = met if number % 5 == 0 else born
        fields = {"id": f"c{number}", "sentence": sentence, "span": (start, start + len(sentence))}
        claims.append(model.model_copy(update=fields))
        start += len(sentence) + 1
    return make_report(" ".join(sentences), tuple(claims))

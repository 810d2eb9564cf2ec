from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from factloop.core.factuality import at_each_k, count_verdicts, precision
from factloop.core.records import Claim, FactualityReport, Fingerprint, StageUsage, UnscoredReason, Usage

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

REASONS = tuple(
    reason
    for reason in UnscoredReason
    if reason not in {UnscoredReason.TOO_FEW_DISTRACTORS, UnscoredReason.NEEDS_READING, UnscoredReason.SPLIT_JURY}
)
"""All that a check with one model gives: the others belong to TrustScore, to judges without a model, and to juries."""

_CLAIMS = [
    Claim.model_validate_json(line)
    for line in Path(__file__).with_name("sample_claims.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Thirteen claims of the biography with a verdict, one for each unscored reason, and the two of the answer on plans."""


def sample_claims(reasons: Collection[UnscoredReason] = REASONS) -> tuple[Claim, ...]:
    """Thirteen claims with a verdict, then one for each of these unscored reasons, in order."""
    kept = (one for one in _CLAIMS[:-2] if one.judgement.unscored_reason in (None, *reasons))
    return tuple(one.model_copy(update={"id": f"c{number}"}) for number, one in enumerate(kept, 1))


_REPORT = json.loads(Path(__file__).with_name("sample_report.json").read_text(encoding="utf-8"))


def make_report(response: str, claims: tuple[Claim, ...], *, prompt: str | None = PROMPT) -> FactualityReport:
    counts = count_verdicts(claims)
    return FactualityReport(
        prompt=prompt,
        response=response,
        claims=claims,
        counts=counts,
        precision=precision(counts),
        at_k=at_each_k(counts, (8, 64)),
        usage=Usage.model_validate_json(json.dumps(_REPORT["usage"])),
        fingerprint=Fingerprint.model_validate_json(json.dumps(_REPORT["fingerprint"])),
        created_at=WHEN,
        warnings=("2 calls failed and were retried.",),
    )


def sample_report(reasons: Collection[UnscoredReason] = REASONS) -> FactualityReport:
    """The biography, checked. `reasons` are the unscored reasons that occur in it."""
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
    return make_report(MARKED_UP, tuple(_CLAIMS[-2:]))


HOSTILE = (
    "{{ 6*7 }} {% if x %} [red]alert[/red] [/] </response> <script>alert(1)</script> </script> </style> "
    "<img src=x onerror=alert(1)> \x1b[31mred\x1b[0m \x00 NUL \x07 bell \r back \x9b2J \u202egnitool\u2066 &amp; 'q' \""
)

"""Stands in every free text of the hostile report."""


def hostile_report() -> FactualityReport:
    """Every free text attacks the page or the terminal that shows it."""
    claim = Claim.model_validate_json(json.dumps(_REPORT["hostile_claim"]))
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

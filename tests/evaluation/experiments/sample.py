"""Made-up experiment results with chosen error rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from factloop.core.records import Counts, Evidence, Fingerprint, Judgement, StageUsage, UnscoredReason, Usage, Verdict
from factloop.evaluation.experiments.records import JudgedClaim, JudgedText, Results, Variant

WHEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
PROMPT = "Is the claim supported by the passages?\nAnswer with one word.\n"
STRICT = "Is the claim supported by the passages?\nAll of it must be stated.\nAnswer with one word.\n"


@dataclass(frozen=True)
class Judge:
    tpr: float = 0.9
    tnr: float = 0.7
    unscored: float = 0.0
    irrelevant: float = 0.0
    tokens: int = 400
    cost_usd: float | None = 0.001
    noise: float = 0.05
    """Chance that a repeat turns the claim's verdict round."""


JUDGES: Mapping[str, Judge] = {
    "packaged": Judge(0.92, 0.6, unscored=0.02),
    "strict": Judge(0.9, 0.95, unscored=0.02, tokens=430),
    "short": Judge(0.9, 0.62, tokens=250, cost_usd=0.0006),
}


def usage(tokens: int = 400, cost_usd: float | None = 0.001, wall_s: float = 1.0) -> Usage:
    stage = StageUsage(
        calls=2, prompt_tokens=tokens - 50, completion_tokens=50, searches=1, cost_usd=cost_usd, wall_s=wall_s
    )
    return Usage(**stage.model_dump(), stages={"assess": stage})


def fingerprint(name: str, prompts: Mapping[str, str] | None = None) -> Fingerprint:
    digest = {"safe/assessment": f"{sum(name.encode()):064x}"}
    return Fingerprint(
        factloop_version="1",
        engine="model",
        model="openai:sim",
        plan="fused",
        max_searches=5,
        results_per_search=3,
        prompts=prompts or digest,
        sampling={"temperature": 0},
    )


def variant(name: str, *, shares_evidence: bool = True, texts: Mapping[str, str] | None = None) -> Variant:
    changes = {} if name == "packaged" else {"prompts": f"variants/{name}"}
    return Variant(
        name=name,
        changes=changes,
        fingerprint=fingerprint(name),
        shares_evidence=shares_evidence,
        prompt_texts=texts or {},
    )


def judgement(verdict: Verdict | None, *, rationale: str = "", cited: Sequence[str] = ()) -> Judgement:
    if verdict is None:
        return Judgement(unscored_reason=UnscoredReason.PARSE_FAILURE, judged_by="sim")
    return Judgement(
        verdict=verdict,
        contradicted=True if verdict is Verdict.NOT_SUPPORTED else None,
        rationale=rationale,
        cited=tuple(cited),
        judged_by="sim",
    )


def evidence(text: str, *, source: str = "sources/facts.txt") -> Evidence:
    return Evidence(id="e1", source=source, title="Facts", passage=text, query="facts", rank=1, retrieved_at=WHEN)


def claim(
    variant: str, name: str, verdict: Verdict | None, *, gold: bool | None = True, repeat: int = 1, group: str = ""
) -> JudgedClaim:
    return JudgedClaim(
        variant=variant,
        repeat=repeat,
        claim_id=name,
        group=group or name,
        claim=f"Claim {name} holds.",
        gold=gold,
        judgement=judgement(verdict, rationale=f"{variant} thinks so.", cited=("e1",) if verdict else ()),
        evidence=(evidence(f"What is known of {name}."),),
        queries=(f"is {name} so",),
        usage=usage(),
    )


def results_of(
    claims: Sequence[JudgedClaim], *, names: Sequence[str] = ("packaged", "strict"), repeats: int = 1
) -> Results:
    return Results(
        name="sample",
        kind="claims",
        data="claims.jsonl",
        n_items=len({(one.group, one.claim_id) for one in claims}),
        repeats=repeats,
        baseline=names[0],
        variants=tuple(variant(name) for name in names),
        k=(),
        claims=tuple(claims),
        paid=usage(50, 0.0),
    )


def make_results(
    n_claims: int = 60, *, judges: Mapping[str, Judge] = JUDGES, repeats: int = 3, seed: int = 0
) -> Results:
    """An experiment on labelled claims; all judges find the same claims hard. The first variant is the baseline."""
    rng = np.random.default_rng(seed)
    gold = rng.random(n_claims) < 0.6
    difficulty = rng.random(n_claims)
    claims = []
    for name, judge in judges.items():
        for repeat in range(1, repeats + 1):
            turned, lost, apart = rng.random((3, n_claims))
            for number in range(n_claims):
                rate = judge.tpr if gold[number] else judge.tnr
                is_right = bool(difficulty[number] < rate) != bool(turned[number] < judge.noise)
                verdict: Verdict | None = Verdict.SUPPORTED if is_right == gold[number] else Verdict.NOT_SUPPORTED
                if apart[number] < judge.irrelevant:
                    verdict = Verdict.IRRELEVANT
                if lost[number] < judge.unscored:
                    verdict = None
                one = claim(
                    name, f"c{number:04}", verdict, gold=bool(gold[number]), repeat=repeat,
                    group=f"g{number // 3:03}",
                )  # fmt: skip
                wall_s = round(0.5 + 2 * float(turned[number]), 3)
                claims.append(one.model_copy(update={"usage": usage(judge.tokens, judge.cost_usd, wall_s)}))
    found = results_of(claims, names=tuple(judges), repeats=repeats)
    texts = {name: {"safe/assessment": STRICT if name == "strict" else PROMPT} for name in judges}
    variants = tuple(variant(name, texts=texts[name]) for name in judges)
    return found.model_copy(update={"name": "strict-assessment", "variants": variants})


def text_result(
    variant: str, name: str, counts: tuple[int, int, int, int], *, repeat: int = 1, prompt: str = ""
) -> JudgedText:
    supported, not_supported, irrelevant, unscored = counts
    return JudgedText(
        variant=variant,
        repeat=repeat,
        response_id=name,
        system="one",
        prompt_id=prompt or name,
        counts=Counts(supported=supported, not_supported=not_supported, irrelevant=irrelevant, unscored=unscored),
        usage=usage(),
    )


def make_response_results(n_responses: int = 40, *, ks: Sequence[int] = (4, 8)) -> Results:
    """An experiment on unlabelled responses, two systems to a prompt; `strict` supports fewer claims."""
    rng = np.random.default_rng(0)
    texts, claims = [], []
    for name, rate in (("packaged", 0.8), ("strict", 0.65)):
        for repeat in (1, 2):
            for number in range(n_responses):
                found = rng.random(8) < rate
                n = int(found.sum())
                texts.append(
                    text_result(name, f"r{number:03}", (n, 8 - n, 0, 0), repeat=repeat, prompt=f"p{number // 2:03}")
                )
                for place, is_found in enumerate(found.tolist()):
                    verdict = Verdict.SUPPORTED if is_found else Verdict.NOT_SUPPORTED
                    claims.append(claim(name, f"c{place}", verdict, gold=None, repeat=repeat, group=f"r{number:03}"))
    results = results_of(claims, repeats=2)
    update = {"kind": "responses", "n_items": n_responses, "k": tuple(ks), "responses": tuple(texts)}
    return results.model_copy(update=update)

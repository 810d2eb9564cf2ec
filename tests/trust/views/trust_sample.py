"""TrustScores of every kind, made by small builders: what a run over short answers and a biography may yield."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from factloop.agents.trustscore.records import (
    ClaimStanding,
    ClaimTrust,
    ConsistencyCheck,
    Distractor,
    DistractorSet,
    LongFormTrustReport,
    MeanScore,
    Option,
    OptionKind,
    Relation,
    Source,
    SubstitutionLevel,
    TrustBC,
    TrustFC,
    TrustFingerprint,
    TrustOV,
    TrustReport,
    TrustRun,
    TrustSummary,
)
from factloop.core.records import Claim, Evidence, StageUsage, UnscoredReason, Usage, Verdict
from tests.reports.sample import HOSTILE, HOSTILE_ADDRESS, WHEN, make_report, sample_report

Letter = Literal["A", "B", "C", "D", "E"]
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D", "E")

QUESTION = "Who built the first temple in Jerusalem?"
RESPONSE = "King Solomon built the first temple in Jerusalem."
_NAMES = """
David Herod Saul Hezekiah Josiah Rehoboam Ahab Jeroboam Omri Zedekiah
Cyrus Darius Xerxes Nebuchadnezzar Ramesses Sargon Hiram Ashurbanipal Croesus Alexander
Ptolemy Antiochus Augustus Tiberius Hadrian Trajan Nero Vespasian Titus Constantine
"""
RULERS = _NAMES.split()


def swap(response: str, old: str, new: str, source: Source, *, detail: str = "") -> Distractor:
    start = response.index(old)
    end = start + len(old)
    text = response[:start] + new + response[end:]
    return Distractor(
        text=text, replaced=old, span=(start, end), by=new, level=SubstitutionLevel.ENTITY, source=source, detail=detail
    )


def rulers(response: str = RESPONSE) -> tuple[Distractor, ...]:
    """Thirty distractors, ten from each of three sources."""
    sources = (Source.DBPEDIA, Source.KNOWLEDGE_BASE, Source.EMBEDDING)
    details = ("shares Person, Royalty, Monarch", "shares Person", "cosine 0.62")
    return tuple(
        swap(response, "Solomon", ruler, sources[place // 10], detail=details[place // 10])
        for place, ruler in enumerate(RULERS)
    )


def options(response: str, distractors: Sequence[Distractor], shown: Sequence[int], at: int) -> tuple[Option, ...]:
    """Three distractors in order, the response at place `at` of the first four, and none of the above."""
    texts = [(distractors[place].text, OptionKind.DISTRACTOR, place) for place in shown]
    ordered: list[tuple[str, OptionKind, int | None]] = [*texts]
    ordered.insert(at, (response, OptionKind.RESPONSE, None))
    ordered.append(("None of the above", OptionKind.NONE_OF_THE_ABOVE, None))
    return tuple(
        Option(letter=letter, text=text, kind=kind, distractor=place)
        for letter, (text, kind, place) in zip(LETTERS, ordered, strict=True)
    )


def make_check(response: str, distractors: Sequence[Distractor], number: int, **fields: Any) -> ConsistencyCheck:
    """Check `number` shows the distractors 3(n-1) to 3n-1, the response at place n modulo 4."""
    shown = [place % len(distractors) for place in range(3 * (number - 1), 3 * number)]
    return ConsistencyCheck(number=number, options=options(response, distractors, shown, number % 4), **fields)


def own(number: int) -> Letter:
    return LETTERS[number % 4]


def consistent_bc(response: str = RESPONSE, distractors: tuple[Distractor, ...] = rulers(), n: int = 10) -> TrustBC:
    checks = tuple(make_check(response, distractors, number, chosen=own(number)) for number in range(1, n + 1))
    return TrustBC(
        value=1, max_checks=10, n_planned=n, n_asked=n, n_consistent=n, checks=checks, distractors=distractors
    )


def broken_bc() -> TrustBC:
    """Consistent twice, then A is chosen instead of its own D. A fourth check was asked beside the third."""
    probable: dict[Letter, float] = {"A": 0.55, "B": 0.05, "C": 0.1, "D": 0.25}
    checks = (
        make_check(RESPONSE, rulers(), 1, chosen="B", letter_probabilities={"A": 0.04, "B": 0.93}),
        make_check(RESPONSE, rulers(), 2, chosen="C", letter_probabilities={"C": 0.62, "E": 0.2}),
        make_check(RESPONSE, rulers(), 3, chosen="A", letter_probabilities=probable),
        make_check(RESPONSE, rulers(), 4, chosen="A", counted=False),
    )
    return TrustBC(
        value=0,
        graded=0.6,  # (0.93 + 0.62 + 0.25) / 3
        letters_mass=0.9133,  # (0.97 + 0.82 + 0.95) / 3
        max_checks=10,
        n_planned=10,
        n_asked=4,
        n_consistent=2,
        n_inconsistent=1,
        checks=checks,
        distractors=rulers(),
        notes=("DBpedia Spotlight answered with an HTML page; the next source was used.",),
    )


def unscored_bc(reason: UnscoredReason, **fields: Any) -> TrustBC:
    return TrustBC(unscored_reason=reason, max_checks=10, **{"n_planned": 0, **fields})


def passages(n: int = 3) -> tuple[Evidence, ...]:
    texts = (
        ("Solomon's Temple", "The first temple in Jerusalem was raised in the reign of Solomon, son of David."),
        ("Temple Mount", "Two temples stood here; the second was enlarged by Herod."),
        ("Hiram of Tyre", "Hiram sent cedar and craftsmen for the temple that Solomon was building."),
    )
    return tuple(
        Evidence(
            id=f"p{rank}",
            source=f"psgs_w100.tsv#{rank}",
            title=texts[(rank - 1) % 3][0],
            passage=texts[(rank - 1) % 3][1],
            query=f"{QUESTION} {RESPONSE}",
            rank=rank,
            retrieved_at=WHEN,
        )
        for rank in range(1, n + 1)
    )


def judged_fc(relation: Relation = Relation.SUPPORT, cited: tuple[str, ...] = ("p1", "p3")) -> TrustFC:
    return TrustFC(
        relation=relation,
        value={Relation.SUPPORT: 1.0, Relation.NEUTRAL: 0.5, Relation.CONTRADICT: 0.0}[relation],
        rationale="Two passages name Solomon as the builder." if cited else "The passages name no builder.",
        query=f"{QUESTION} {RESPONSE}",
        passages=passages(),
        cited=cited,
        judged_by="openai:gpt-4o",
    )


def unscored_fc(reason: UnscoredReason = UnscoredReason.NO_SOURCE, **fields: Any) -> TrustFC:
    return TrustFC(unscored_reason=reason, **fields)


FINGERPRINT = TrustFingerprint(
    factloop_version="0.1.0",
    subject_model="openai:gpt-4o-mini",
    subject_base_url="https://models.example.org/v1",
    subject_sampling={"temperature": 0.0},
    judge="openai:gpt-4o",
    corpus="psgs_w100.tsv sha256:5f0c",
    max_checks=10,
    passages=10,
    substitutes=("dbpedia", "knowledge_base", "embeddings all-MiniLM-L6-v2"),
    prompts={"behaviour_consistency": "a3f1" * 16},
    versions={"langgraph": "1.2.22"},
    seed=7,
)

USAGE = Usage(
    calls=11,
    cache_hits=1,
    prompt_tokens=2_140,
    completion_tokens=96,
    searches=1,
    cost_usd=0.00042,
    wall_s=3.4,
    stages={"ask": StageUsage(calls=10, prompt_tokens=1_900, wall_s=3.1), "entail": StageUsage(calls=1, wall_s=0.6)},
)


def trust_report(bc: TrustBC, fc: TrustFC, ov: float | str, **fields: Any) -> TrustReport:
    """A report whose TrustOV is a value, or says what is missing."""
    trust_ov = TrustOV(missing=ov) if isinstance(ov, str) else TrustOV(value=ov)
    given = {"id": "a1", "question": QUESTION, "response": RESPONSE, "usage": USAGE, "fingerprint": FINGERPRINT}
    return TrustReport.model_validate(
        {**given, "trust_bc": bc, "trust_fc": fc, "trust_ov": trust_ov, "created_at": WHEN, **fields}
    )


def firm() -> TrustReport:
    return trust_report(consistent_bc(), judged_fc(), 1.0)


def wavering() -> TrustReport:
    return trust_report(
        broken_bc(),
        judged_fc(Relation.NEUTRAL, ()),
        0.4,
        id="a2",
        answered_by="openai:gpt-4o-mini",
        warnings=("1 call failed and was retried.",),
    )


def unscored_reports() -> tuple[TrustReport, ...]:
    """Nothing has a value, for each reason that there is; too few distractors first."""
    reasons = sorted(UnscoredReason, key=lambda reason: reason is not UnscoredReason.TOO_FEW_DISTRACTORS)
    return tuple(
        trust_report(
            unscored_bc(reason, distractors=rulers()[:2]), unscored_fc(reason), "TrustBC and TrustFC have no value"
        )
        for reason in reasons
    )


def half_asked() -> TrustReport:
    """No choice could be read in the second check, the budget ended before the third, and there is no corpus."""
    checks = (
        make_check(RESPONSE, rulers(), 1, chosen="B"),
        make_check(
            RESPONSE, rulers(), 2, unscored_reason=UnscoredReason.PARSE_FAILURE, reply="It might be B or else C."
        ),
        make_check(RESPONSE, rulers(), 3, unscored_reason=UnscoredReason.BUDGET),
    )
    bc = unscored_bc(
        UnscoredReason.BUDGET,
        n_planned=4,
        n_asked=3,
        n_consistent=1,
        n_unscored=2,
        checks=checks,
        distractors=rulers()[:12],
    )
    return trust_report(bc, unscored_fc(), "TrustBC was stopped by the budget, and no corpus was given", id="a3")


def mean(values: Iterable[float | None]) -> MeanScore:
    listed = list(values)
    scored = [value for value in listed if value is not None]
    average = sum(scored) / len(scored) if scored else None
    return MeanScore(mean=average, n_scored=len(scored), n_unscored=len(listed) - len(scored))


def trust_run(reports: Sequence[TrustReport]) -> TrustRun:
    return TrustRun(
        reports=tuple(reports),
        summary=TrustSummary(
            trust_bc=mean(report.trust_bc.value for report in reports),
            trust_bc_graded=mean(report.trust_bc.graded for report in reports),
            trust_fc=mean(report.trust_fc.value for report in reports),
            trust_ov=mean(report.trust_ov.value for report in reports),
        ),
        usage=USAGE,
        created_at=WHEN,
        warnings=("DBpedia could not be reached.",),
    )


def mixed_run() -> TrustRun:
    """Five answers: firm and supported, wavering and neutral, half asked, contradicted, and nothing scored."""
    denied = trust_report(
        consistent_bc(),
        judged_fc(Relation.CONTRADICT, ("p2",)),
        0.2,
        question="Which state was returned to Spain after the war of 1783?",
    )
    return trust_run((firm(), wavering(), half_asked(), denied, unscored_reports()[0]))


def large_run(n: int) -> TrustRun:
    kinds = (firm(), wavering(), half_asked())
    return trust_run([kinds[i % 3].model_copy(update={"question": f"Question number {i}?"}) for i in range(n)])


def distractor_set(n: int = 30, **fields: Any) -> DistractorSet:
    given = {"question": QUESTION, "response": RESPONSE, "wanted": 30, "distractors": rulers()[:n], "seed": 7}
    return DistractorSet.model_validate({**given, **fields})


STANDINGS: tuple[ClaimStanding, ...] = tuple(ClaimStanding)[:4]


def _claim_trust(claim: Claim, insisted: bool) -> ClaimTrust:
    verdict = claim.judgement.verdict
    if verdict not in (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED) or claim.duplicate_of is not None:
        why = "it repeats an earlier claim" if claim.duplicate_of else "SAFE gives no verdict on it"
        return ClaimTrust(claim=claim, trust_bc=None, standing=ClaimStanding.UNPLACED, why_unplaced=why)
    statement = claim.self_contained
    word = statement.split()[0]
    made = tuple(
        swap(statement, word, other, Source.BUILT_IN, detail="a first name") for other in ["Mary", "Jane", "Caroline"]
    )
    chosen = own(1) if insisted else "E"
    check = make_check(statement, made, 1, chosen=chosen)
    bc = TrustBC(
        value=1 if insisted else 0,
        max_checks=10,
        n_planned=1,
        n_asked=1,
        n_consistent=int(insisted),
        n_inconsistent=int(not insisted),
        checks=(check,),
        distractors=made,
    )
    place = (0 if verdict is Verdict.SUPPORTED else 2) + (not insisted)
    return ClaimTrust(claim=claim, trust_bc=bc, standing=STANDINGS[place])


def long_form(
    reasons: Sequence[UnscoredReason] = (UnscoredReason.BUDGET, UnscoredReason.TIMEOUT),
) -> LongFormTrustReport:
    """The biography checked; the subject wavers on the second claim of each three."""
    factuality = sample_report(reasons)
    claims = [_claim_trust(claim, place % 3 != 1) for place, claim in enumerate(factuality.claims)]
    return long_form_of(claims, factuality.response)


def long_form_of(claims: Sequence[ClaimTrust], response: str) -> LongFormTrustReport:
    return LongFormTrustReport(
        factuality=make_report(response, tuple(one.claim for one in claims)),
        claims=tuple(claims),
        counts=Counter(one.standing for one in claims),
        usage=USAGE,
        fingerprint=FINGERPRINT,
        created_at=WHEN,
        warnings=("1 call failed and was retried.",),
    )


def hostile_trust() -> TrustReport:
    """A report each of whose free texts attacks the page or the terminal that shows it."""
    response = f"Solomon {HOSTILE}\n\n\u202ebuilt it"
    made = tuple(
        Distractor(
            text=f"{name} {HOSTILE}\n\n\u202ebuilt it",
            replaced=f"Solomon {HOSTILE}",
            span=(0, len(f"Solomon {HOSTILE}")),
            by=f"{name} {HOSTILE}",
            level=SubstitutionLevel.ANY_WORD,
            source=Source.VOCABULARY,
            detail=f"detail {HOSTILE}",
        )
        for name in ("David", "Herod", "Saul")
    )
    reply = make_check(response, made, 1, unscored_reason=UnscoredReason.AMBIGUOUS, reply=f"reply {HOSTILE}")
    bc = unscored_bc(
        UnscoredReason.AMBIGUOUS,
        checks=(reply,),
        distractors=made,
        rationale=f"rationale {HOSTILE}",
        notes=(f"note {HOSTILE}",),
    )
    sources = ("javascript:alert(1)", 'https://example.org/"onmouseover="alert(1)', HOSTILE, HOSTILE_ADDRESS)
    found = tuple(
        Evidence(
            id=f"e{rank}",
            source=source,
            title=f"title {HOSTILE}",
            passage=f"passage {HOSTILE}",
            query=HOSTILE,
            rank=rank,
            retrieved_at=WHEN,
        )
        for rank, source in enumerate(sources, 1)
    )
    fc = TrustFC(
        relation=Relation.NEUTRAL,
        value=0.5,
        rationale=f"grounds {HOSTILE}",
        query=f"query {HOSTILE}",
        passages=found,
        cited=("e1", "e4"),
        judged_by=f"judge {HOSTILE}",
    )
    fingerprint = FINGERPRINT.model_copy(
        update={"subject_model": HOSTILE, "corpus": HOSTILE, "substitutes": (HOSTILE,), "prompts": {HOSTILE: HOSTILE}}
    )
    return trust_report(
        bc,
        fc,
        f"missing {HOSTILE}",
        id=HOSTILE,
        question=HOSTILE,
        response=response,
        answered_by=f"subject {HOSTILE}",
        fingerprint=fingerprint,
        usage=Usage(stages={HOSTILE: StageUsage()}),
        warnings=(f"warning {HOSTILE}",),
    )


def hostile_long_form() -> LongFormTrustReport:
    hostile = hostile_trust()
    claim = (
        sample_report(())
        .claims[0]
        .model_copy(
            update={
                "sentence": HOSTILE,
                "span": (0, len(HOSTILE)),
                "self_contained": f"claim {HOSTILE}",
                "text": HOSTILE,
            }
        )
    )
    trust = ClaimTrust(
        claim=claim, trust_bc=hostile.trust_bc, standing=ClaimStanding.UNPLACED, why_unplaced=f"why {HOSTILE}"
    )
    report = long_form_of((trust,), HOSTILE)
    return report.model_copy(update={"fingerprint": hostile.fingerprint, "warnings": hostile.warnings})

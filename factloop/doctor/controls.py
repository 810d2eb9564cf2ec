"""Tests the judge on sentences that the supplied documents are known to support or contradict.

The place and the people are invented, so that no model can know them. A dozen sentences show only whether the judge
reads the documents. To measure its error rates, use `factloop research audit`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.documents import Document

from factloop.checking.check import Checking, open_checking
from factloop.checking.checker import FactChecker
from factloop.checking.preparing import prepare
from factloop.core.records import Claim, FactualityReport, Verdict
from factloop.doctor.looking import WorkingPart
from factloop.doctor.records import ControlsFound, Grade
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together
from factloop.tools.judges.pairs import rate
from factloop.tools.search.given import GivenDocuments

QUESTION = "What is known about Harrow Mill?"
MILL = """Harrow Mill stands on the river Tolle at Brackwick. It was built in 1784 for the weaver Agnes Dorling, who ran
it until she died in 1811. Her nephew Peter Voss inherited it, and put an iron wheel in the place of the wooden one in
1823. In 1846 a fire destroyed the top floor; no one was hurt. Weaving ended there in 1931."""
VISITS = """Harrow Mill has been a museum since 1968. Entry costs 6 euros; for children under 12 it is free. The museum
is open from April to October, and closed on Mondays."""
SENTENCES: tuple[tuple[str, bool], ...] = (
    ("Harrow Mill was built for the weaver Agnes Dorling in 1784.", True),
    ("Agnes Dorling ran it until her death in 1821.", False),
    ("Her nephew Peter Voss gave the mill an iron wheel in 1823.", True),
    ("Agnes Dorling inherited the mill from Peter Voss.", False),
    ("A fire destroyed its top floor in 1846.", True),
    ("Two workers were hurt in that fire.", False),
    ("Today Harrow Mill is a museum.", True),
    ("Entry to the museum costs 9 euros.", False),
    ("A child of ten pays nothing to get in.", True),
    ("The museum is open on Mondays, too.", False),
    ("No visitor gets in during January.", True),
    ("The Eiffel Tower was finished in 1889.", False),
)
"""Whether each sentence is supported. The last one is true but not in the documents, so it counts as false."""
PAIRS: tuple[tuple[str, str, bool], ...] = (
    ("Harrow Mill was built for the weaver Agnes Dorling in 1784.", MILL, True),
    ("Agnes Dorling's nephew Peter Voss gave Harrow Mill an iron wheel in 1823.", MILL, True),
    ("A fire destroyed the top floor of Harrow Mill in 1846.", MILL, True),
    ("Nobody was hurt in the fire of 1846 at Harrow Mill.", MILL, True),
    ("Weaving at Harrow Mill came to an end in 1931.", MILL, True),
    ("Harrow Mill lies at Brackwick, on the river Tolle.", MILL, True),
    ("Today Harrow Mill is a museum.", VISITS, True),
    ("A child of ten pays nothing to enter the museum of Harrow Mill.", VISITS, True),
    ("The museum of Harrow Mill is closed on Mondays.", VISITS, True),
    ("Visitors cannot see the museum of Harrow Mill in January.", VISITS, True),
    ("Agnes Dorling ran Harrow Mill until her death in 1821.", MILL, False),
    ("Agnes Dorling inherited Harrow Mill from Peter Voss.", MILL, False),
    ("Two workers were hurt in the fire of 1846 at Harrow Mill.", MILL, False),
    ("Peter Voss put a wooden wheel in the place of the iron one at Harrow Mill.", MILL, False),
    ("Harrow Mill was built for the weaver Peter Voss.", MILL, False),
    ("Weaving at Harrow Mill began in 1931.", MILL, False),
    ("Entry to the museum of Harrow Mill costs 9 euros.", VISITS, False),
    ("The museum of Harrow Mill is open on Mondays.", VISITS, False),
    ("Children of 14 enter the museum of Harrow Mill for free.", VISITS, False),
    ("The Eiffel Tower was finished in 1889.", VISITS, False),
)
"""Claims, texts, and whether the text supports the claim. The last claim is true but not in its text."""
GOOD, ENOUGH = 5 / 6, 2 / 3
"""To be graded `good` or `usable_with_care`, a judge must get this proportion of both kinds of sentences right."""
REFUSED = {Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT}
ADVICE = "The verdicts are not reliable. Use {better}, or measure errors on labelled claims (factloop research audit)."


async def ask_controls(settings: CheckSettings, meter: UsageMeter) -> WorkingPart:
    """Checks the sentences against the documents with the plan in the settings. Raises FactloopError."""
    asked = settings.model_copy(update={"recording": None, "cache": False, "search": (), "docs": (), "cascade": None})
    documents = [
        Document(text, metadata={"title": title, "source": f"factloop doctor, {title}"})
        for title, text in (("Harrow Mill", MILL), ("A visit to Harrow Mill", VISITS))
    ]
    answer = " ".join(sentence for sentence, _ in SENTENCES)
    async with FactChecker(settings=asked) as checker:
        report = await checker.acheck(answer, question=QUESTION, sources=Sources((GivenDocuments(documents),)))
    meter.add(report.usage)
    return _graded(count(report), "a chat model (--model)" if settings.model is None else "a larger model")


async def ask_judge(settings: CheckSettings, meter: UsageMeter) -> WorkingPart:
    """Asks the judge set with `--judge` whether each text supports its claim. Raises FactloopError."""
    checking = await asyncio.to_thread(open_checking_of, settings)
    named = checking.setup.judge
    assert named is not None  # because a judge is set instead of a model
    try:
        rater = named.opened(checking.session, logprobs=settings.logprobs)
        read = await together(
            rate(rater.verifier, claim, [text], meter=meter, upper=rater.upper, read=rater.reads)
            for claim, text, _ in PAIRS
        )
    finally:
        await checking.aclose()
    told = [(one.label == "supported", is_true) for one, (_, _, is_true) in zip(read, PAIRS, strict=True)]
    n_true = sum(is_true for _, is_true in told)
    n_supported = sum(supported and is_true for supported, is_true in told)
    n_refused = sum(not supported and not is_true for supported, is_true in told)
    n_false = len(told) - n_true
    found = ControlsFound(
        grade=grade_of(n_supported, n_true, n_refused, n_false),
        n_true=n_true, n_true_supported=n_supported, n_false=n_false, n_false_refused=n_refused, n_unscored=0,
    )  # fmt: skip
    return _graded(found, "another judge (docs/judges.md)")


def open_checking_of(settings: CheckSettings) -> Checking:
    """Opens a check that saves nothing. Raises ConfigError."""
    return open_checking(prepare(settings.model_copy(update={"recording": None, "cache": False}), ()))


def _graded(found: ControlsFound, better: str) -> WorkingPart:
    said = tuple(_said(found))
    if found.grade != "not_usable":
        return WorkingPart(how=(*said, _meaning(found)), controls=found)
    return WorkingPart(how=said, controls=found, problem="; ".join(said), advice=ADVICE.format(better=better))


def grade_of(n_true_supported: int, n_true: int, n_false_refused: int, n_false: int) -> Grade:
    """Returns the lower of two grades: one for true sentences and one for false sentences."""
    if n_true_supported >= GOOD * n_true and n_false_refused >= GOOD * n_false:
        return "good"
    is_enough = n_true_supported >= ENOUGH * n_true and n_false_refused >= ENOUGH * n_false
    return "usable_with_care" if is_enough else "not_usable"


def count(report: FactualityReport) -> ControlsFound:
    """A sentence is supported if all of its claims are supported, and rejected if any of them is rejected."""
    verdicts = [{claim.judgement.verdict for claim in _claims_of(report, number)} for number in range(len(SENTENCES))]
    true = [found for found, (_, is_true) in zip(verdicts, SENTENCES, strict=True) if is_true]
    false = [found for found, (_, is_true) in zip(verdicts, SENTENCES, strict=True) if not is_true]
    n_supported = sum(found == {Verdict.SUPPORTED} for found in true)
    n_refused = sum(bool(found & REFUSED) for found in false)
    return ControlsFound(
        grade=grade_of(n_supported, len(true), n_refused, len(false)),
        n_true=len(true),
        n_true_supported=n_supported,
        n_false=len(false),
        n_false_refused=n_refused,
        n_unscored=sum(not found or None in found for found in verdicts),
    )


def _claims_of(report: FactualityReport, number: int) -> Sequence[Claim]:
    start = sum(len(sentence) + 1 for sentence, _ in SENTENCES[:number])
    return [claim for claim in report.claims if start <= claim.span[0] < start + len(SENTENCES[number][0])]


def _said(found: ControlsFound) -> list[str]:
    said = [
        f"{found.n_true_supported} of {found.n_true} true sentences supported",
        f"{found.n_false_refused} of {found.n_false} false sentences not supported",
    ]
    return said + ([f"{found.n_unscored} unscored"] if found.n_unscored else [])


def _meaning(found: ControlsFound) -> str:
    n_all = found.n_true + found.n_false
    n_wrong = n_all - found.n_true_supported - found.n_false_refused
    wrong = f"{n_wrong} of {n_all} verdicts wrong or missing" if n_wrong else f"all {n_all} verdicts right"
    if found.grade == "good":
        return f"{wrong}: the judge reads the sources; to measure errors on your texts, use factloop research audit"
    return f"{wrong}: read the evidence before you rely on a verdict"

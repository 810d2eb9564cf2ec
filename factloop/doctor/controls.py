"""Tests the judge on sentences that the supplied documents are known to support or contradict.

The place and the people are invented, so that no model can know them. A dozen sentences show only whether the judge
reads the documents. To measure its error rates, use `factloop research audit`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from langchain_core.documents import Document

from factloop.checking.check import Checking, open_checking
from factloop.checking.checker import FactChecker
from factloop.checking.preparing import prepare
from factloop.core.records import FactualityReport, Verdict
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
WRONG = "The verdicts are not reliable. Use {better}, or measure errors on labelled claims (factloop research audit)."
OPEN = "The judge leaves too much undecided. Use {better}, or read the evidence for unscored claims yourself."
GOOD_WORDS = "the judge reads the sources; to measure errors on your texts, use factloop research audit"
CARE_WORDS = "read the evidence before you rely on a verdict"
Told = tuple[str, bool, bool | None]
"""A sentence, whether it is true, and whether the judge called it supported (None if it did not decide)."""


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
    return _graded([*_told(report)], "a chat model (--model)" if settings.model is None else "a larger model")


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
    told = [(claim, is_true, one.label == "supported") for one, (claim, _, is_true) in zip(read, PAIRS, strict=True)]
    return _graded(told, "another judge (docs/judges.md)")


def open_checking_of(settings: CheckSettings) -> Checking:
    """Opens a check that saves nothing. Raises ConfigError."""
    return open_checking(prepare(settings.model_copy(update={"recording": None, "cache": False}), ()))


def _graded(told: Sequence[Told], better: str) -> WorkingPart:
    found = count(told)
    said = tuple(_said(found))
    if found.grade != "not_usable":
        return WorkingPart(how=(*said, GOOD_WORDS if found.grade == "good" else CARE_WORDS), controls=found)
    n_wrong = len(found.wrongly_supported + found.wrongly_refused)
    advice = (WRONG if n_wrong >= found.n_unscored else OPEN).format(better=better)
    return WorkingPart(how=said, controls=found, problem="; ".join(said), advice=advice)


def grade_of(n_true_supported: int, n_true: int, n_false_refused: int, n_false: int) -> Grade:
    """Returns the lower of two grades: one for true sentences and one for false sentences."""
    if n_true_supported >= GOOD * n_true and n_false_refused >= GOOD * n_false:
        return "good"
    is_enough = n_true_supported >= ENOUGH * n_true and n_false_refused >= ENOUGH * n_false
    return "usable_with_care" if is_enough else "not_usable"


def count(told: Sequence[Told]) -> ControlsFound:
    true, false = ([one for one in told if one[1] is is_true] for is_true in (True, False))
    n_supported, n_refused = (sum(said is is_true for _, is_true, said in part) for part in (true, false))
    return ControlsFound(
        grade=grade_of(n_supported, len(true), n_refused, len(false)),
        n_true=len(true), n_true_supported=n_supported, n_false=len(false), n_false_refused=n_refused,
        n_unscored=sum(said is None for _, _, said in told),
        wrongly_supported=tuple(text for text, _, said in false if said),
        wrongly_refused=tuple(text for text, _, said in true if said is False),
    )  # fmt: skip


def _told(report: FactualityReport) -> Iterator[Told]:
    """A sentence is supported if all of its claims are supported, and rejected if any of them is rejected."""
    start = 0
    for text, is_true in SENTENCES:
        found = {claim.judgement.verdict for claim in report.claims if start <= claim.span[0] < start + len(text)}
        start += len(text) + 1
        yield text, is_true, False if found & REFUSED else True if found == {Verdict.SUPPORTED} else None


def _said(found: ControlsFound) -> Iterator[str]:
    yield f"{found.n_true_supported} of {found.n_true} true sentences supported"
    yield f"{found.n_false_refused} of {found.n_false} false sentences not supported"
    wrong = {"supported, but false": found.wrongly_supported, "not supported, but true": found.wrongly_refused}
    yield from (f"judged {how}: {' '.join(f'“{text}”' for text in texts)}" for how, texts in wrong.items() if texts)
    if found.n_unscored:
        yield f"{found.n_unscored} left unscored"

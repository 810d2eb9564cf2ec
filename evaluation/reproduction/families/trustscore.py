"""The seven tables of TrustScore (Zheng et al. 2024, arXiv 2402.12545)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial

from factloop.agents.trustscore.judges import ENTAILMENT
from factloop.agents.trustscore.overall import OVERALL
from factloop.agents.trustscore.questions import LETTERS
from factloop.agents.trustscore.records import Relation
from factloop.agents.trustscore.subject import CLOSED_BOOK, MULTIPLE_CHOICE
from factloop.evaluation.datasets.mixedqa import MixedQaItem
from factloop.evaluation.datasets.mixedqa_published import load_any_mixedqa
from factloop.evaluation.mixedqa.annotators import AnnotatorAgreement
from factloop.evaluation.mixedqa.published import PUBLISHED, SYSTEMS
from factloop.evaluation.mixedqa.reference.build import build_metrics
from factloop.evaluation.mixedqa.scores import MixedQaResult
from factloop.evaluation.reproduction.comparing import OurFigure, compared
from factloop.evaluation.reproduction.inputs import Inputs, read_result
from factloop.evaluation.reproduction.records import UNDEFINED, ComparedFigure, Entry, Origin, Reproduction, Status
from factloop.evaluation.statistics.correlation import pearson
from factloop.prompts.registry import PromptRegistry
from factloop.trust.distractor_sources import make_distractors
from factloop.trust.settings import TrustSettings

MIXEDQA = "mixedqa:answers"
KAPPA = {"FLAN-T5": "0.88", "LLaMA": "0.82", "GPT": "0.92", "Overall": "0.89"}
SCORES = {
    ("Consistent", "Support"): "1.0",
    ("Inconsistent", "Support"): "0.8",
    ("Consistent", "Neutral"): "0.6",
    ("Inconsistent", "Neutral"): "0.4",
    ("Consistent", "Contradict"): "0.2",
    ("Inconsistent", "Contradict"): "0.0",
}
"""Table 3."""
QUESTIONS = (
    ("When did all night long come out lionel richie?", "All night long came out in 1983.", "1983"),
    (
        "Who built the first temple for god in jerusalem?",
        "King Solomon built the first temple for god in jerusalem.",
        "King Solomon",
    ),
    (
        "which state was returned to spain after the revolutionary war?",
        "Florida was returned to spain after the revolutionary war.",
        "Florida",
    ),
)
"""Table 7: question, response, and the words that the paper's distractors replace."""


def reproduce_correlations(title: str, inputs: Inputs) -> Reproduction:
    """Table 1: Pearson's correlation of each metric with people's labels, for each system."""
    ours: dict[tuple[str, str], OurFigure] = {}
    if MIXEDQA in inputs.places:
        ours |= dict(_lexical(list(load_any_mixedqa(inputs.places[MIXEDQA]))))
    notes = [*inputs.missing((MIXEDQA,))]
    if inputs.results is not None:
        result = read_result(inputs.results, MixedQaResult)
        ours |= _of_result(result)
        notes += [_subject(result), *_other_systems(result)]
    else:
        notes.append("Nothing was asked of a model: give what factloop eval mixedqa --json wrote with --results.")
    notes.append("METEOR of gpt-3.5-turbo is printed as .106; ours, by nltk, is .39 with WordNet and without it.")
    notes.append(f"What the paper prints as NAN, and what is {UNDEFINED} here, is a metric with one value throughout.")
    figures = [
        compared((row.metric,), system, _printed_or_undefined(row.correlations[system]), ours.get((row.metric, system)))
        for row in PUBLISHED
        for system in SYSTEMS
    ]
    figures += _own({((metric,), system): found for (metric, system), found in ours.items()}, figures)
    return Reproduction(
        entry="trustscore:table-1", title=title, unit="Pearson's r", figures=tuple(figures), notes=tuple(notes)
    )


def _printed(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(f"{value:.3f}")


def _printed_or_undefined(value: float | None) -> Decimal | str:
    printed = _printed(value)
    return UNDEFINED if printed is None else printed


def _lexical(items: Sequence[MixedQaItem]) -> Iterator[tuple[tuple[str, str], OurFigure]]:
    for metric in build_metrics(("lexical",)):
        for system in SYSTEMS:
            answers = [(item, one) for item in items for one in item.responses if one.system == system]
            scores = metric.score([one.text for _, one in answers], [item.reference_answers for item, _ in answers])
            found = pearson(scores, [one.human_correct for _, one in answers])
            yield (metric.name.partition(" (")[0], system), OurFigure(_defined(found.value), Origin.LABELS, found.n)


def _defined(value: float | None) -> float | str:
    return UNDEFINED if value is None else value


def _of_result(result: MixedQaResult) -> dict[tuple[str, str], OurFigure]:
    published = {row.metric for row in PUBLISHED}
    found = {}
    named = [(one.name, one.system, one.correlation) for one in result.correlations]
    named += [(one.name, one.system, one.correlation) for one in result.reference]
    for name, system, one in named:
        metric = next((theirs for theirs in published if name == theirs or name.startswith(f"{theirs} ")), name)
        if system is not None and one.n:
            found[metric, system] = OurFigure(_defined(one.value), Origin.RESULTS, one.n)
    return found


def _other_systems(result: MixedQaResult) -> Iterator[str]:
    """A sentence where the results have systems that the paper has not."""
    others = [one.system for one in result.systems if one.system not in SYSTEMS]
    if others:
        yield (
            f"The paper has no figures of {', '.join(others)}, which stand by themselves: what is compared are systems "
            f"named {', '.join(SYSTEMS)} in the data."
        )


def _own(
    ours: Mapping[tuple[tuple[str, ...], str], OurFigure], figures: Sequence[ComparedFigure]
) -> list[ComparedFigure]:
    """Our figures of which the paper has none, with three decimals as it prints the others."""
    known = {(one.names, one.column) for one in figures}
    alone = [compared(*place, None, found) for place, found in ours.items() if place not in known]
    return [one.model_copy(update={"decimals": 3}) for one in alone]


def _subject(result: MixedQaResult) -> str:
    if result.subjects:
        asked = ", ".join(f"{one.model} for {one.system}" for one in result.subjects)
        return f"Each system was asked about its own responses, as in the paper: {asked}."
    subject = result.fingerprint.subject_model
    if subject is None:
        return "The results have no subject model: no TrustBC and no TrustOV."
    return f"{subject} was asked about the responses of every system; in the paper each is asked about its own."


def reproduce_gains(title: str, inputs: Inputs) -> Reproduction:
    """Section 4: TrustOV less each of its halves, whose rows stand in Table 1; ours from one run."""
    ours: dict[tuple[str, str], OurFigure] = {}
    notes = ["The paper has no table of an ablation: theirs are differences between rows of its Table 1."]
    if inputs.results is None:
        notes.append("Nothing was asked of a model: give what factloop eval mixedqa --json wrote with --results.")
    else:
        result = read_result(inputs.results, MixedQaResult)
        notes += [_subject(result), *_other_systems(result)]
        for one in result.gains:
            if one.system is not None and one.gain.value is not None:
                ours[one.over, one.system] = OurFigure(one.gain.value, Origin.RESULTS, one.gain.n)
    rows = {row.metric: row for row in PUBLISHED}
    figures = []
    for half, over in (("TrustBC", "trust_bc"), ("TrustFC", "trust_fc")):
        for system in SYSTEMS:
            whole, part = (_printed(rows[metric].correlations[system]) for metric in ("TrustOV", half))
            printed = None if whole is None or part is None else whole - part
            figures.append(compared((f"TrustOV less {half}",), system, printed, ours.get((over, system))))
    halves = {"trust_bc": "TrustBC", "trust_fc": "TrustFC"}
    figures += _own(
        {((f"TrustOV less {halves[over]}",), system): found for (over, system), found in ours.items()}, figures
    )
    return Reproduction(
        entry="trustscore:section-4", title=title, unit="Pearson's r", figures=tuple(figures), notes=tuple(notes)
    )


def score_criterion(title: str, inputs: Inputs) -> Reproduction:
    """Table 3: TrustOV for each pair of consistency and relation."""
    del inputs
    figures = [
        compared(
            names,
            "TrustOV",
            Decimal(printed),
            OurFigure(OVERALL[1 if names[0] == "Consistent" else 0, Relation(names[1].casefold())], Origin.RULE),
        )
        for names, printed in SCORES.items()
    ]
    return Reproduction(entry="trustscore:table-3", title=title, unit="score", figures=tuple(figures))


def compare_prompts(number: int, title: str, inputs: Inputs) -> Reproduction:
    """Tables 4 to 6: what a prompt shows and asks for. Its words are factloop's own."""
    del inputs
    name, theirs = _PROMPTS[number]
    text = PromptRegistry.load()[name].system
    figures = [
        compared((name,), what, printed, OurFigure(_SEEN[what](text), Origin.RULE)) for what, printed in theirs.items()
    ]
    note = "The paper's words are not shipped. A folder with them, named by --prompts, is used in their place."
    return Reproduction(entry=f"trustscore:table-{number}", title=title, unit="", figures=tuple(figures), notes=(note,))


def _n_examples(text: str) -> str:
    """Replies that the prompt shows: JSON of an answer, or a letter."""
    return str(sum(line.startswith(('{"answer"', "Answer: ")) for line in text.splitlines()))


def _right_letters(text: str) -> str:
    return "".join(sorted(line.removeprefix("Answer: ") for line in text.splitlines() if line.startswith("Answer: ")))


_SEEN: Mapping[str, Callable[[str], str]] = {
    "examples": _n_examples,
    "letters of the right answers": _right_letters,
    "options": lambda _: str(len(LETTERS)),
    "relations": lambda text: ", ".join(one.value for one in Relation if f"{one.value}:" in text),
}
_PROMPTS: Mapping[int, tuple[str, Mapping[str, str]]] = {
    4: (CLOSED_BOOK, {"examples": "5"}),
    5: (MULTIPLE_CHOICE, {"examples": "5", "options": "5", "letters of the right answers": "ABCDE"}),
    6: (ENTAILMENT, {"relations": "support, neutral, contradict"}),
}


def make_questions(title: str, inputs: Inputs) -> Reproduction:
    """Table 7: what is replaced in three responses, and by what, with the built-in sources alone."""
    del inputs
    figures: list[ComparedFigure] = []
    settings = TrustSettings()
    for question, response, replaced in QUESTIONS:
        made = asyncio.run(make_distractors(settings, question, response, n=3))
        words = ", ".join(dict.fromkeys(one.replaced for one in made.distractors))
        figures.append(compared((question,), "replaced", replaced, OurFigure(words, Origin.RULE, 3)))
        by = ", ".join(one.by for one in made.distractors)
        figures.append(compared((question,), "by", None, OurFigure(by, Origin.RULE, 3)))
    note = "Substitutes come from the built-in names and rules, theirs from DBpedia: see --dbpedia and --kb."
    return Reproduction(entry="trustscore:table-7", title=title, unit="", figures=tuple(figures), notes=(note,))


def state_kappa(title: str, inputs: Inputs) -> Reproduction:
    """Table 2: what the paper prints, beside the agreement of two annotators of one's own."""
    ours: dict[str, OurFigure] = {}
    notes = [_KAPPA]
    if inputs.results is not None:
        agreement = read_result(inputs.results, AnnotatorAgreement)
        notes.append(f"Ours is that of two annotators of {agreement.data}, which is another data set than the paper's.")
        for one in agreement.systems:
            name = "Overall" if one.system is None else _PAPERS_NAMES.get(one.system, one.system)
            if one.kappa.value is not None:
                ours[name] = OurFigure(one.kappa.value, Origin.RESULTS, one.kappa.n)
    figures = [compared((system,), "kappa", Decimal(printed), ours.get(system)) for system, printed in KAPPA.items()]
    figures += [compared((name,), "kappa", None, found) for name, found in ours.items() if name not in KAPPA]
    return Reproduction(
        entry="trustscore:table-2", title=title, unit="Cohen's kappa", figures=tuple(figures), notes=tuple(notes)
    )


_PAPERS_NAMES = dict(zip(SYSTEMS, ("FLAN-T5", "LLaMA", "GPT"), strict=True))
_KAPPA = (
    "MixedQA was published with one label a response: the second annotator's are needed for an agreement. "
    "`factloop generate mixedqa` builds such a data set, `factloop labels answers` and `labels agree` have it judged."
)
_TITLES = {
    1: "Correlation of metrics with human judgements on MixedQA",
    2: "Agreement of the two annotators",
    3: "TrustOV for each consistency and relation",
    4: "Prompt for closed-book answers",
    5: "Prompt of the behaviour consistency evaluator",
    6: "Prompt for fact-checking",
    7: "Multiple-choice questions for three responses",
}
_GAINS = "What each half of TrustOV adds to its correlation with people"
_OWN_WORDS = "The prompt shows and asks for the same, in factloop's own words."


def _prompt_entry(number: int) -> Entry:
    return Entry(
        id=f"trustscore:table-{number}",
        title=_TITLES[number],
        status=Status.IN_PART,
        why=_OWN_WORDS,
        run=partial(compare_prompts, number, _TITLES[number]),
    )


_EVALUATE = "factloop eval mixedqa --subject SYSTEM=MODEL ... --judge-model NAME --corpus PATH --json FILE"
_MODELS = "FLAN-T5-XXL, LLaMA-7B and GPT-3.5-Turbo as subjects, GPT-3.5-Turbo as judge"
_CALLS = "up to 10 calls a response of its subject, one of the judge"
ENTRIES = (
    Entry(
        id="trustscore:table-1",
        title=_TITLES[1],
        status=Status.IN_PART,
        why=(
            "Four lexical metrics come out within .001, METEOR of two systems within .005 and not of gpt-3.5-turbo "
            "(.39, printed as .106); the rest needs models."
        ),
        data=(MIXEDQA,),
        model=f"{_MODELS}; weights of BERT and BART",
        key="one for GPT-3.5-Turbo; a corpus of Wikipedia passages",
        command=_EVALUATE,
        calls=_CALLS,
        calls_per_claim=11.0,
        run=partial(reproduce_correlations, _TITLES[1]),
    ),
    Entry(
        id="trustscore:table-2",
        title=_TITLES[2],
        status=Status.CANNOT,
        why=_KAPPA,
        run=partial(state_kappa, _TITLES[2]),
        reads_other_results=True,
    ),
    Entry(
        id="trustscore:table-3",
        title=_TITLES[3],
        status=Status.REPRODUCED,
        why="All six scores.",
        run=partial(score_criterion, _TITLES[3]),
    ),
    *map(_prompt_entry, _PROMPTS),
    Entry(
        id="trustscore:table-7",
        title=_TITLES[7],
        status=Status.IN_PART,
        why="The same words are replaced; other substitutes stand in their place, as chance and DBpedia chose theirs.",
        run=partial(make_questions, _TITLES[7]),
    ),
    Entry(
        id="trustscore:section-4",
        title=_GAINS,
        status=Status.NEEDS_MODEL,
        why="From the run of Table 1, whose rows TrustBC, TrustFC and TrustOV are the paper's only ablation.",
        data=(MIXEDQA,),
        model=_MODELS,
        key="one for GPT-3.5-Turbo; a corpus of Wikipedia passages",
        command=_EVALUATE,
        calls=_CALLS,
        calls_per_claim=11.0,
        run=partial(reproduce_gains, _GAINS),
    ),
)

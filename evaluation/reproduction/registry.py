"""What can be reproduced: each table of figures of the papers, with its data and the function it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.benchmark import NAMES
from factloop.evaluation.reproduction import safe, trustscore
from factloop.evaluation.reproduction import verify_with_caution as vwc
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.records import ListedEntry, Reproduction, Status
from factloop.evaluation.reproduction.trustscore import MIXEDQA
from factloop.evaluation.reproduction.verify_with_caution import Findings


class Entry(ListedEntry):
    """A table of a paper, and how it is reproduced."""

    data: tuple[str, ...] = ()
    model: str = ""
    key: str = ""
    command: str = ""
    calls: str = ""
    run: Callable[[Inputs], Findings]
    unit: str = ""
    against: Literal["paper", "check values"] = "paper"

    @property
    def reads_results(self) -> bool:
        """Whether it takes the output of another command."""
        return bool(self.command)

    @property
    def paper(self) -> str:
        return self.id.partition(":")[0]

    def listed(self) -> ListedEntry:
        """The entry as the list has it."""
        return ListedEntry(**{name: getattr(self, name) for name in ListedEntry.model_fields})

    def reproduce(self, inputs: Inputs) -> Reproduction:
        """Their figures beside ours. Raises DataError and ConfigError for inputs that cannot be used."""
        figures, notes = self.run(inputs)
        return Reproduction(
            entry=self.id,
            title=self.title,
            unit=self.unit,
            against=self.against,
            figures=tuple(figures),
            notes=tuple(notes),
        )


@dataclass(frozen=True)
class Paper:
    """One of the papers."""

    key: str
    """What the ids of its entries begin with."""
    title: str
    citation: str


PAPERS = (
    Paper(
        "safe",
        "Long-form factuality in large language models",
        "Wei et al. 2024, arXiv 2403.18802: SAFE, LongFact and F1@K",
    ),
    Paper(
        "trustscore",
        "TrustScore: Reference-Free Evaluation of LLM Response Trustworthiness",
        "Zheng et al. 2024, arXiv 2402.12545",
    ),
    Paper(
        "vwc", "Verify with Caution: The Pitfalls of Relying on Imperfect Factuality Metrics", "Godbole and Jia 2025"
    ),
)

_MODEL_AND_SERPER = "one for the model, and one for Serper"
_SAFE = (
    Entry(
        id="safe:agreement",
        title="Agreement of SAFE's verdicts with people's labels on FActScore's biographies",
        status=Status.IN_PART,
        why="The 16,011 facts of 496 responses come out of the labels; the 72.0 % needs SAFE's verdicts.",
        data=(safe.FACTS,),
        model="gpt-3.5-turbo as judge",
        key=_MODEL_AND_SERPER,
        command="factloop eval factscore --plan paper --model NAME --search serper --json FILE",
        calls="8 calls and 5 searches a relevant fact, 2 calls an irrelevant one",
        run=safe.agreement_with_people,
    ),
    Entry(
        id="safe:labels",
        title="Facts by label and F1@K of FActScore's systems, by people's labels",
        status=Status.CHECKED,
        why="All counts and means of the labels agree with values that another program counted; the paper has none.",
        data=(safe.FACTS,),
        against="check values",
        run=safe.scores_by_labels,
    ),
    Entry(
        id="safe:longfact",
        title="LongFact: topics and prompts",
        status=Status.REPRODUCED,
        why="38 topics, 1,140 prompts on objects and 1,140 on concepts.",
        data=safe.LONGFACT,
        run=safe.prompts_of_longfact,
    ),
    Entry(
        id="safe:disagreements",
        title="Who is right where SAFE and people differ, and at what cost",
        status=Status.CANNOT,
        why=safe.PEOPLE,
        run=safe.disagreements_with_people,
    ),
)

_SUBJECTS = "FLAN-T5-XXL, LLaMA-7B and GPT-3.5-Turbo as subjects, GPT-3.5-Turbo as judge"
_GPT_AND_CORPUS = "one for GPT-3.5-Turbo; a corpus of Wikipedia passages"
_EVAL_MIXEDQA = "factloop eval mixedqa --subject SYSTEM=MODEL ... --judge-model NAME --corpus PATH --json FILE"
_ASKED = "up to 10 calls a response of its subject, one of the judge"
_TRUSTSCORE = (
    Entry(
        id="trustscore:table-1",
        title="Correlation of metrics with human judgements on MixedQA",
        status=Status.IN_PART,
        why=(
            "Four lexical metrics come out within .001, METEOR of two systems within .005 and not of gpt-3.5-turbo "
            "(.39, printed as .106); the rest needs models."
        ),
        data=(MIXEDQA,),
        model=f"{_SUBJECTS}; weights of BERT and BART",
        key=_GPT_AND_CORPUS,
        command=_EVAL_MIXEDQA,
        calls=_ASKED,
        unit="Pearson's r",
        run=trustscore.correlations,
    ),
    Entry(
        id="trustscore:table-2",
        title="Agreement of the two annotators",
        status=Status.CANNOT,
        why=trustscore.NO_SECOND_LABEL,
        unit="Cohen's kappa",
        run=trustscore.kappa,
    ),
    Entry(
        id="trustscore:table-3",
        title="TrustOV for each consistency and relation",
        status=Status.REPRODUCED,
        why="All six scores.",
        unit="score",
        run=trustscore.overall_scores,
    ),
    Entry(
        id="trustscore:table-7",
        title="Multiple-choice questions for three responses",
        status=Status.IN_PART,
        why="The same words are replaced, but for a title that stays (King Solomon); other substitutes stand in their "
        "place, as chance and DBpedia chose theirs.",
        run=trustscore.distractors,
    ),
    Entry(
        id="trustscore:section-4",
        title="What each half of TrustOV adds to its correlation with people",
        status=Status.NEEDS_MODEL,
        why="From the run of Table 1, whose rows TrustBC, TrustFC and TrustOV are the paper's only ablation.",
        data=(MIXEDQA,),
        model=_SUBJECTS,
        key=_GPT_AND_CORPUS,
        command=_EVAL_MIXEDQA,
        calls=_ASKED,
        unit="Pearson's r",
        run=trustscore.gains,
    ),
)

JOIN = "factloop research data join CLAIMS --source KIND=PATH --out JOINED"
"""Of LLM-AggreFact: it names neither system nor response, and has the four data sets of RAGTruth as one."""
VERIFY_JOINED = f"{JOIN} && factloop research verify JOINED --verifier NAME --out FILE"
_VERIFIERS = "the evaluator of each column: gpt-4-turbo and gpt-3.5-turbo (a key), or open weights"
_AGGREFACT = ("llm-aggrefact:dev",)


def _verify_command(datasets: Sequence[str]) -> str:
    """The command that gives predictions with systems for these data sets of the paper."""
    parts = vwc.labelled_parts(datasets)
    if len(parts) < len(datasets):
        return VERIFY_JOINED
    part = parts[0] if len(parts) == 1 else "NAME:PART"
    documents = " --documents DOCUMENTS" if any(one.startswith("tofueval:") for one in parts) else ""
    return f"factloop research verify --dataset {part}{documents} --verifier NAME --out FILE"


def _predicted(
    place: str,
    title: str,
    why: str,
    run: Callable[[Inputs], Findings],
    *,
    unit: str = "%",
    status: Status = Status.NEEDS_MODEL,
    data: tuple[str, ...] = _AGGREFACT,
    command: str = VERIFY_JOINED,
    model: str = _VERIFIERS,
    calls: str = "a call a claim and model",
) -> Entry:
    """An entry of "Verify with Caution" whose columns are predictions."""
    return Entry(
        id=f"vwc:{place}",
        title=title,
        status=status,
        why=why,
        data=data,
        model=model,
        command=command,
        calls=calls,
        unit=unit,
        run=run,
    )


_LABELS_EQUAL = "All labels come out as printed; the evaluators' columns need models."
_OTHER_SAMPLE = (
    "Labels of five systems agree with the paper's, of another sample, within two standard errors by responses as "
    "clusters; of gpt4 the pages are gone."
)
_ERRORS_OF_LABELS = {
    8: "WiCE's labels give 67.0 as printed; Factcheck-GPT's stances are of another unit than the benchmark's pairs.",
    11: _LABELS_EQUAL,
    13: _LABELS_EQUAL,
    21: _OTHER_SAMPLE,
    23: _OTHER_SAMPLE,
}
_ORDERS_OF_LABELS = {
    12: "By the labels no pair of systems differs, as printed; the evaluators' columns need models.",
    22: "By the labels of another sample fewer pairs differ; the evaluators' columns need models.",
}


def _errors(number: int) -> Entry:
    datasets, level = vwc.ERRORS[number]
    alone = "Biases and headroom follow from the printed rates; the rates need predictions with systems."
    return _predicted(
        f"table-{number}",
        f"Error rates and bias by system: {', '.join(datasets)} ({level.value} level)",
        _ERRORS_OF_LABELS.get(number, alone),
        vwc.error_rates(number),
        unit="% of claims or responses, bias in points",
        status=Status.IN_PART if number in _ERRORS_OF_LABELS else Status.NEEDS_MODEL,
        data=vwc.labelled_parts(datasets),
        command=_verify_command(datasets),
    )


def _orders(number: int) -> Entry:
    datasets = vwc.ORDERS[number]
    return _predicted(
        f"table-{number}",
        f"Pairs of systems by label and by prediction: {', '.join(datasets)}",
        _ORDERS_OF_LABELS.get(
            number, "The shares of errors follow from its counts; these need predictions with systems."
        ),
        vwc.order_pairs(number),
        unit="pairs; % of pairs",
        status=Status.IN_PART if number in _ORDERS_OF_LABELS else Status.NEEDS_MODEL,
        data=vwc.labelled_parts(datasets),
        command=_verify_command(datasets),
    )


def _correlated(number: int, n_tied: int) -> Entry:
    return _predicted(
        f"table-{number}",
        f"Correlation of labelled with predicted error rates over systems ({vwc.CORRELATIONS[number][1].value} level)",
        "Its coefficients follow from the rates of other tables, but for AlignScore's, whose rates are not "
        f"printed, and {n_tied} of Kendall's, where two systems have one printed rate.",
        vwc.correlate_rates(number),
        unit="coefficient",
        status=Status.PRINTED,
        data=(),
    )


def _adjusted(number: int, title: str, why: str) -> Entry:
    return _predicted(
        f"table-{number}",
        title,
        why,
        vwc.adjustments(number),
        unit="points",
        status=Status.PRINTED,
        data=(),
        model="Bespoke-7B (open weights), its scores on RAGTruth with systems",
        calls="a call a claim",
    )


_VWC = (
    Entry(
        id="vwc:table-2",
        title="The fourteen data sets: task groups, sources of claims, long responses",
        status=Status.REPRODUCED,
        why="Named in the registry of the benchmark; held against labels where they are found.",
        data=vwc.labelled_parts(NAMES),
        run=vwc.describe_datasets,
    ),
    _adjusted(
        1,
        "Bias after adjustment, over calibration systems",
        "It follows from Table 31; the adjustments themselves need Bespoke-7B's scores.",
    ),
    _adjusted(
        31,
        "Bias after adjustment by each calibration system",
        "Labels and biases without adjustment follow from Table 27; the methods need Bespoke-7B's scores.",
    ),
    _predicted(
        "table-3",
        "Balanced accuracy by data set",
        "It follows from Tables 4 and 5, but for what the notes name.",
        vwc.accuracies(3, "balanced_accuracy"),
    ),
    _predicted(
        "table-4",
        "False positive rate by data set",
        "Its averages follow from its rows.",
        vwc.accuracies(4, "fpr"),
    ),
    _predicted(
        "table-5",
        "False negative rate by data set",
        "Its averages follow from its rows.",
        vwc.accuracies(5, "fnr"),
    ),
    _correlated(6, n_tied=14),
    _correlated(7, n_tied=1),
    *map(_orders, vwc.ORDERS),
    *map(_errors, vwc.ERRORS),
    _predicted(
        "table-30",
        "Rates of Bespoke-7B with and without chunks on long documents",
        "Its balanced accuracies follow from its TPR and TNR.",
        vwc.chunked_rates,
        command=f"{JOIN} && factloop research verify JOINED --verifier bespoke:NAME --chunk-words 500 --out FILE",
        model="Bespoke-7B (open weights), whole documents and chunks of 500 words",
        calls="a call a claim, and one a chunk",
    ),
)
_KINDS = ("table", "section")
_PLACE = re.compile(r"(?P<kind>[a-z]+)-(?P<number>[\d.]+)")


def _order(entry: Entry) -> tuple[int, int, tuple[int, ...]]:
    """Entries that are not named by a number stand as they are written above."""
    paper = [one.key for one in PAPERS].index(entry.paper)
    found = _PLACE.fullmatch(entry.id.partition(":")[2])
    if found is None or found["kind"] not in _KINDS:
        return paper, 0, ()
    return paper, _KINDS.index(found["kind"]), tuple(int(part) for part in found["number"].split("."))


ENTRIES: tuple[Entry, ...] = tuple(sorted((*_SAFE, *_TRUSTSCORE, *_VWC), key=_order))
"""By paper, its tables by number, then its sections."""


def find_entry(name: str) -> Entry:
    """The entry of this id. Raises ConfigError, with those of its paper."""
    known = {entry.id: entry for entry in ENTRIES}
    if name not in known:
        paper = name.partition(":")[0]
        near = [one for one in known if one.startswith(f"{paper}:")] or [f"{one.key}:..." for one in PAPERS]
        raise ConfigError(f"there is nothing named {name!r} to reproduce; there are {', '.join(near)}")
    return known[name]

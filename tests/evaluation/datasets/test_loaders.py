from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import DataError
from factloop.core.files.tables import TableItem
from factloop.core.records import Counts
from factloop.evaluation.datasets.expertqa import load_expertqa, passage_of
from factloop.evaluation.datasets.factscore import FactScoreResponse, count_facts, load_factscore
from factloop.evaluation.datasets.labelled_claims import labelled_claims, load_documents
from factloop.evaluation.datasets.labelled_pairs import load_llm_aggrefact
from factloop.evaluation.datasets.longfact import AnyPrompt, load_prompts, sample_prompts
from factloop.evaluation.datasets.mapping import LabelledClaim
from factloop.evaluation.datasets.mixedqa import load_mixedqa, load_published_mixedqa
from factloop.evaluation.datasets.refchecker import load_refchecker
from factloop.evaluation.datasets.registry import load_part
from factloop.evaluation.datasets.tofueval import load_tofueval
from tests.evaluation.datasets.dataset_files import array, jsonl, published

Loader = Callable[[str | Path], Iterator[TableItem]]

WICE: dict[str, Any] = {
    "id": "w1",
    "claim": "It is old.",
    "label": "partially_supported",
    "evidence": ["Old.", "", "It was."],
}
TOFU: dict[str, Any] = {
    "id": "t1",
    "doc_id": "d",
    "topic": "cost",
    "system": "s",
    "sent_idx": 1,
    "sentence": "It costs.",
    "label": 1,
}
STANCE: dict[str, Any] = {"id": "s1", "claim": "It is.", "evidence": "Is it?", "label": "irrelevant"}
EXPERT: dict[str, Any] = {
    "id": "e1",
    "answer_id": "a1",
    "system": "gpt4",
    "question": "Why?",
    "claim": "So.",
    "evidence": [{"passage": None, "url": "https://a.test"}],
    "support": "Complete",
}
MIXED: dict[str, Any] = {
    "id": "q1",
    "question": "Which planet is nearest the sun?",
    "reference_answers": ["Mercury"],
    "source": "Quiz",
    "responses": [{"system": "a", "text": "Mercury", "human_correct": 1}],
}
NEXT = "Which is next?"
AGGREFACT: dict[str, Any] = {"dataset": "Wice", "doc": "D", "claim": "C", "label": 1, "contamination_identifier": "x"}


@pytest.mark.parametrize(
    ("load", "row", "changes", "field"),
    [
        (partial(load_part, "wice", "dev"), WICE, {"label": "unsupported"}, "label"),
        (partial(load_part, "wice", "dev"), WICE, {"evidence": [1]}, "evidence"),
        (load_tofueval, TOFU, {"label": 2}, "label"),
        (load_tofueval, TOFU, {"label": True}, "label"),
        (load_tofueval, TOFU, {"sent_idx": 0}, "sent_idx"),
        (load_tofueval, TOFU, {"sent_label": "maybe"}, "sent_label"),
        (load_tofueval, TOFU, {"sent_label": ["yes"]}, "sent_label"),
        (load_tofueval, TOFU, {"sent_label": "no", "summ_sent": " ", "sentence": " "}, "summ_sent"),
        (partial(load_part, "factcheckgpt", "stance"), STANCE, {"label": "support"}, "label"),
        (load_expertqa, EXPERT, {"support": "Full"}, "support"),
        (load_expertqa, EXPERT, {"evidence": [1]}, "evidence[0]"),
        (load_expertqa, EXPERT, {"answers": [1]}, "answers"),
        (load_expertqa, EXPERT, {"answers": {"gpt4": {"claims": 1}}}, "answers.gpt4.claims"),
        (load_expertqa, EXPERT, {"answers": {"gpt4": {"claims": [1]}}}, "answers.gpt4.claims[0]"),
        (load_mixedqa, MIXED, {"question": "  "}, "question"),
        (load_mixedqa, MIXED, {"question": NEXT, "reference_answers": []}, "reference_answers"),
        (load_mixedqa, MIXED, {"question": NEXT, "reference_answers": ["x", 4]}, "reference_answers[1]"),
        (load_mixedqa, MIXED, {"question": NEXT, "responses": []}, "responses"),
        (load_mixedqa, MIXED, {"question": NEXT, "responses": 2 * MIXED["responses"]}, "responses[1].system"),
        (load_llm_aggrefact, AGGREFACT, {"label": 0.5}, "label"),
        (load_llm_aggrefact, AGGREFACT, {"doc": None}, "doc"),
        (load_llm_aggrefact, AGGREFACT, {"dataset": ""}, "dataset"),
    ],
)
def test_a_malformed_row_names_file_line_and_field(
    tmp_path: Path, load: Loader, row: dict[str, Any], changes: dict[str, Any], field: str
) -> None:
    path = jsonl(tmp_path / "rows.jsonl", {**row, "id": "first"}, {**row, "id": "second", **changes})
    items = load(path)
    assert next(items).id == "first"
    with pytest.raises(DataError) as caught:
        next(items)
    assert (caught.value.path, caught.value.line, caught.value.field) == (str(path), 2, field)


def test_a_document_may_be_empty(tmp_path: Path) -> None:
    (found,) = load_llm_aggrefact(jsonl(tmp_path / "rows.jsonl", {**AGGREFACT, "doc": ""}))
    assert found.document == ""


@pytest.mark.parametrize(("load", "row"), [(load_tofueval, TOFU), (load_expertqa, EXPERT)])
def test_no_id_comes_twice_and_no_field_is_missing(tmp_path: Path, load: Loader, row: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r":2: field 'id': .*1 has the same id"):
        list(load(jsonl(tmp_path / "rows.jsonl", row, row)))
    for name in ("claim", "sentence"):
        if name in row:
            with pytest.raises(DataError, match=rf":1: field '(summ_sent\|)?{name}': (must be set|there is no)"):
                list(load(jsonl(tmp_path / "rows.jsonl", {key: row[key] for key in row if key != name})))


@pytest.mark.parametrize(
    ("support", "expected"),
    [("Complete", 1), ("Partial", 0), ("Incomplete", 0), ("Missing", None), ("N/A", None), (None, None)],
)
def test_what_was_not_judged_is_no_label(tmp_path: Path, support: str | None, expected: int | None) -> None:
    (claim,) = load_expertqa(jsonl(tmp_path / "rows.jsonl", {**EXPERT, "support": support}))
    assert claim.attributable == expected


def refchecker_file(folder: Path, *items: dict[str, Any]) -> Path:
    return array(folder / "zero_context" / "nq_davinci001_answers.json", *items)


def test_refchecker_as_published(tmp_path: Path) -> None:
    triplet = {"triplet": ["Ada", "wrote", "it"], "human_label": "Entailment"}
    refchecker_file(tmp_path, {"id": "-7", "response": "Ada.", "claude2_response_kg": [triplet]})
    other = tmp_path / "noisy_context" / "msmarco_alpaca_7B_answers.json"
    array(other, {"id": "-7", "response": "?", "claude2_response_kg": []})
    noisy, zero = load_refchecker(tmp_path)
    assert (zero.id, zero.setting, zero.system) == ("zero_context/davinci001/-7", "zero_context", "davinci001")
    assert (zero.prompt_id, zero.triplets[0].claim, zero.triplets[0].attributable) == ("-7", "Ada wrote it", 1)
    assert (noisy.system, noisy.triplets) == ("alpaca_7B", ())


def published_mixedqa(**changes: Any) -> dict[str, Any]:
    right, wrong = {"pred": "Ada", "human_eval": "1"}, {"pred": "", "human_eval": "0"}
    question = {"question": "Who?", "answers": ["Ada"], "source": "PopQA", "s_pop": 1}
    return {**question, "flan": right, "llama": wrong, "gpt": right, **changes}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"id": "d1", "document": "Text."}, "Text."),
        ({"doc_id": "d1", "text": "Text."}, "Text."),
        ({"id": "d1", "context": ["One.", "Two."]}, "One.\nTwo."),
        ({"id": "d1", "utt": ["Hello.", "Yes."], "speaker": ["A", "B"]}, "A: Hello.\nB: Yes."),
    ],
)
def test_layouts(tmp_path: Path, row: dict[str, Any], text: str) -> None:
    assert load_documents(jsonl(tmp_path / "d.jsonl", row)) == {"d1": text}
    assert load_documents(array(tmp_path / "d.json", row)) == {"d1": text}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"document": "Text."}], "'id': must be set"),
        ([{"id": "d1"}], "'document': must be set"),
        ([{"id": "d1", "text": "a"}, {"id": "d1", "text": "b"}], "another row has the same id, 'd1'"),
        ([{"id": "d1", "utt": ["a"], "speaker": []}], "lists of the same length"),
    ],
)
def test_what_fits_no_layout_is_refused(tmp_path: Path, rows: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(DataError, match=said):
        load_documents(jsonl(tmp_path / "d.jsonl", *rows))


def test_wice_in_both_layouts(tmp_path: Path) -> None:
    (ours,) = load_part("wice", "dev", jsonl(tmp_path / "ours.jsonl", WICE))
    upstream = {name: value for name, value in WICE.items() if name != "id"}
    meta = {"id": "w1", "claim_title": "T"}
    (theirs,) = load_part("wice", "dev", jsonl(tmp_path / "dev.jsonl", {**upstream, "meta": meta}))
    assert isinstance(ours, LabelledClaim)
    assert (ours.id, ours.document) == ("w1", "Old.\n\nIt was.")
    assert ours == theirs


def test_ragtruth_as_published(tmp_path: Path) -> None:
    """A sentence holds if it contains no marked span. Other splits and spoilt responses are left out."""
    given = {"source_id": "7", "model": "gpt-4-0613", "split": "test", "quality": "good", "labels": []}
    span = {"start": 13, "end": 19, "text": "London", "label_type": "Evident Conflict", "implicit_true": False}
    text = "She was from London. She wrote. In 1843."
    jsonl(
        tmp_path / "response.jsonl",
        {"id": "1", **given, "response": text, "labels": [span]},
        {"id": "2", **given, "response": text, "split": "train"},
        {"id": "3", **given, "response": text, "quality": "truncated"},
    )
    source = {"question": "Who was she?", "passages": "passage 1:Ada wrote in 1843."}
    rows = ({"source_id": "7", "task_type": "QA", "source_info": source},)
    jsonl(tmp_path / "source_info.jsonl", *rows)
    found = list(labelled_claims("ragtruth", "test", tmp_path))
    assert [(one.claim, one.label, one.marked) for one in found] == [
        ("She was from London.", 0, ((13, 19),)),
        ("She wrote.", 1, ()),
        ("In 1843.", 1, ()),
    ]
    first = found[0]
    assert (first.dataset, first.system, first.document) == ("RAGTruth QA", "gpt-4-0613", source["passages"])
    assert [one.response_id for one in labelled_claims("ragtruth", "train", tmp_path)] == ["2"] * 3
    jsonl(tmp_path / "source_info.jsonl", {**rows[0], "source_info": {"name": "Subway", "hours": {}}})
    assert next(labelled_claims("ragtruth", "test", tmp_path)).document == '{"name": "Subway", "hours": {}}'
    jsonl(tmp_path / "source_info.jsonl", {**rows[0], "source_id": "8"})
    with pytest.raises(DataError, match=r"jsonl:1: field 'source_id': source_info\.jsonl does not contain this source"):
        list(labelled_claims("ragtruth", "test", tmp_path))


def test_tofueval_in_both_layouts(tmp_path: Path) -> None:
    table = tmp_path / "mediasum.csv"
    table.write_text(
        "doc_id,annotation_id,topic,model_name,sent_idx,summ_sent,sent_label,exp,type\n"
        "d,1,cost,s,1,It costs.,yes,,\n"
        'd,1,cost,s,2,"It costs, a lot.",no,"Not ""a lot"".","Mis-Referencing, Reasoning Error"\n'
    )
    first, second = load_tofueval(table)
    assert [first] == list(load_tofueval(jsonl(tmp_path / "ours.jsonl", {**TOFU, "id": "2"})))
    assert (second.label, second.response) == (0, ("d", "cost", "s"))


def test_expertqa_in_both_layouts(tmp_path: Path) -> None:
    (ours,) = load_expertqa(jsonl(tmp_path / "ours.jsonl", EXPERT))
    claim = {"claim_string": "So.", "evidence": ["[1] https://a.test"], "support": "Complete", "correctness": None}
    question = {"question": "Why?", "metadata": {"field": "Law"}, "answers": {"gpt4": {"claims": [claim]}}}
    (theirs,) = load_expertqa(jsonl(tmp_path / "r2.jsonl", question))
    assert (theirs.id, theirs.answer_id) == ("expertqa-0000-gpt4-c00", "expertqa-0000-gpt4")
    assert theirs == ours.model_copy(update={"id": theirs.id, "answer_id": theirs.answer_id})
    passages = {
        "[4] https://a.test/b\n\nIt is\n so. ": "It is\n so.",
        "http://a.test": None,
        "A book, page 3": "A book, page 3",
        " ": None,
    }
    assert {text: passage_of(text) for text in passages} == passages


def test_mixedqa_in_both_layouts(tmp_path: Path) -> None:
    (theirs,) = load_published_mixedqa(array(tmp_path / "qa_human_check.json", published_mixedqa()))
    (ours,) = load_mixedqa(jsonl(tmp_path / "own" / "mixedqa.jsonl", theirs.model_dump()))
    assert theirs == ours
    named = [(one.system, one.human_correct) for one in ours.responses]
    assert named == [("flan-t5-xxl", 1), ("llama-7b", 0), ("gpt-3.5-turbo", 1)]
    assert list(load_part("mixedqa", "answers", tmp_path)) == [theirs]
    assert list(load_part("mixedqa", "answers", tmp_path / "own")) == [theirs]


def test_no_question_counts_twice(tmp_path: Path) -> None:
    for other, field in (({"question": NEXT}, "id"), ({"id": "q2"}, "question")):
        with pytest.raises(DataError, match=rf":2: field '{field}': line 1 has the same {field}$"):
            list(load_mixedqa(jsonl(tmp_path / "mixedqa.jsonl", MIXED, {**MIXED, **other})))
    another = {**MIXED, "id": "q2", "source": "Another quiz"}
    assert len(list(load_mixedqa(jsonl(tmp_path / "mixedqa.jsonl", MIXED, another)))) == 2


def test_the_published_answers_are_read_whole() -> None:
    items = list(load_mixedqa(published("mixedqa.jsonl")))
    assert set(Counter(item.source for item in items).values()) == {200}
    assert {tuple(a.system for a in item.responses) for item in items} == {("flan-t5-xxl", "llama-7b", "gpt-3.5-turbo")}


def test_labels_are_mapped_to_attributable_or_not(tmp_path: Path) -> None:
    def labels(name: str, part: str, path: Path) -> list[int]:
        return [one.label for one in labelled_claims(name, part, path)]

    wice = [{**WICE, "id": label, "label": label} for label in ("supported", "partially_supported", "not_supported")]
    assert labels("wice", "dev", jsonl(tmp_path / "w.jsonl", *wice)) == [1, 0, 0]
    stances = ("completely-support", "partially-support", "refute", "irrelevant")
    given = ({"claim": "C", "evidence": "e", "stance": stance} for stance in stances)
    assert labels("factcheckgpt", "stance", jsonl(tmp_path / "s.jsonl", *given)) == [1, 0, 0, 0]
    triplets = [
        {"triplet": ["Ada", "wrote", "it"], "human_label": label}
        for label in ("Entailment", "Neutral", "Contradiction")
    ]
    place = refchecker_file(tmp_path, {"id": "7", "response": "Ada.", "claude2_response_kg": triplets})
    assert labels("refchecker", "annotations", place) == [1, 0, 0]
    facts = [{"text": text, "label": label} for text, label in [("A.", "S"), ("B.", "IR"), ("C.", "NS"), ("A.", "NS")]]
    row = {"id": "r", "system": "s", "topic": "t", "prompt": "p", "response": "A. B. C."}
    bio = jsonl(tmp_path / "bio.jsonl", {**row, "sentences": [{"text": "A. B. C.", "atomic_facts": facts}]})
    first, second = labelled_claims("factscore", "bio", bio)
    assert (first.id, first.system, first.response_id, first.prompt_id, first.label) == ("r/0", "s", "r", "t", 1)
    assert (first.dataset, first.task) == ("factscore", "LLM response verification")
    assert (second.id, second.claim, second.label) == ("r/2", "C.", 0)


@pytest.mark.parametrize(
    ("name", "part", "file", "labels"),
    [
        ("wice", "dev", "wice_dev.jsonl", {1: 115, 0: 234}),
        ("tofueval", "mediasum-dev", "tofueval_mediasum_dev.jsonl", {1: 1459, 0: 354}),
        ("factcheckgpt", "stance", "factcheckgpt_dev_stance.jsonl", {1: 341, 0: 1484}),
        ("expertqa", "claims", "expertqa_dev_claims.jsonl", {1: 782, 0: 293}),
        ("factscore", "bio", "factscore_bio.jsonl", {1: 10_088, 0: 4_415}),
    ],
)
def test_labels_of_the_labelled_data(name: str, part: str, file: str, labels: dict[int, int]) -> None:
    claims = list(labelled_claims(name, part, published(file)))
    assert Counter(claim.label for claim in claims) == labels
    assert len({claim.id for claim in claims}) == len(claims)


CANARY = "not for training"


def prompts(n: int) -> list[AnyPrompt]:
    return [AnyPrompt(id=f"p/{place:03}", topic="t", prompt=f"What is {place}?") for place in range(n)]


def test_both_layouts_say_the_same(tmp_path: Path) -> None:
    upstream = tmp_path / "longfact-objects_gpt4"
    for topic in ("world-religions", "accounting"):
        rows = [{"prompt": f"What of {topic} {place}?", "canary": CANARY} for place in range(2)]
        jsonl(upstream / f"longfact-objects_{topic}.jsonl", *rows)
    theirs = list(load_prompts(upstream))
    assert [prompt.id for prompt in theirs] == [
        "longfact-objects/accounting/000",
        "longfact-objects/accounting/001",
        "longfact-objects/world-religions/000",
        "longfact-objects/world-religions/001",
    ]
    assert theirs[3].topic == "world-religions"
    one_file = jsonl(tmp_path / "longfact_objects.jsonl", *(prompt.model_dump() for prompt in theirs))
    assert list(load_prompts(one_file)) == theirs
    assert list(load_prompts(upstream / "longfact-objects_accounting.jsonl")) == theirs[:2]


def test_any_file_of_prompts_is_read(tmp_path: Path) -> None:
    own = jsonl(tmp_path / "my_prompts.jsonl", {"prompt": "Why?"}, {"id": 7, "prompt": "Who?", "topic": "t"})
    assert [(one.id, one.topic, one.prompt) for one in load_prompts(own)] == [("1", None, "Why?"), ("7", "t", "Who?")]
    table = tmp_path / "prompts.csv"
    table.write_text("prompt,sent,documents\nWhy?,2024-01-05,none\n", encoding="utf-8")
    assert [(one.prompt, one.sent, one.documents) for one in load_prompts(table)] == [("Why?", None, None)]
    published = jsonl(tmp_path / "longfact-objects_world-religions.jsonl", {"prompt": "What?", "canary": CANARY})
    (one,) = load_prompts(published)
    assert (one.id, one.topic) == ("longfact-objects/world-religions/000", "world-religions")
    with pytest.raises(DataError, match=r"lost\.jsonl:1: field 'prompt': must be set"):
        list(load_prompts(jsonl(tmp_path / "lost.jsonl", {"question": "Why?"})))
    with pytest.raises(DataError, match=r"qa\.jsonl:1: field 'answer': must be set"):
        list(load_part("simpleqa-verified", "eval", jsonl(tmp_path / "qa.jsonl", {"problem": "Why?", "answer": " "})))


@given(st.integers(0, 40), st.integers(0, 60), st.integers(0, 60), st.randoms(use_true_random=False))
def test_a_sample_is_the_same_for_any_order(size: int, n: int, more: int, rng: random.Random) -> None:
    everything = prompts(size)
    shuffled = list(everything)
    rng.shuffle(shuffled)
    sample = sample_prompts(everything, n, seed=3)
    assert sample == sample_prompts(shuffled, n, seed=3)
    assert sample == sample_prompts(everything, n + more, seed=3)[:n]
    assert len({prompt.id for prompt in sample}) == min(n, size)


@pytest.mark.parametrize(("name", "distinct"), [("longfact_objects", 1131), ("longfact_concepts", 1140)])
def test_the_published_prompts_are_read_whole(name: str, distinct: int) -> None:
    everything = list(load_prompts(published(f"{name}.jsonl")))
    assert len(everything) == 1140
    assert len({prompt.topic for prompt in everything}) == 38
    assert len(sample_prompts(everything, 2000)) == distinct
    assert len(sample_prompts(everything)) == 250


FACTS = [
    {"text": "Ada lived.", "label": "S"},
    {"text": "Ada sang.", "label": "NS"},
    {"text": "Ada lived.", "label": "IR"},
]
UPSTREAM = {"input": "Who?", "output": "Ada lived."}
BAD = {"text": "Ada lived.", "human-atomic-facts": [{"text": "Ada lived.", "label": "s"}]}


def sentence(**changes: Any) -> dict[str, Any]:
    return {"text": "Ada lived and sang.", "atomic_facts": FACTS, "is_relevant": True, **changes}


def row(**changes: Any) -> dict[str, Any]:
    sentences = [sentence(), sentence(text="Hello.", atomic_facts=None)]
    named = {
        "id": "r1",
        "system": "ChatGPT",
        "topic": "Ada",
        "prompt": "Who?",
        "response": "Ada lived and sang. Hello.",
    }
    return {**named, "sentences": sentences, **changes}


def load(folder: Path, *rows: dict[str, Any]) -> list[FactScoreResponse]:
    return list(load_factscore(jsonl(folder / "bio.jsonl", *rows)))


def test_a_row_is_a_response_with_its_facts(tmp_path: Path) -> None:
    (response,) = load(tmp_path, row())
    assert [fact.label for fact in response.facts] == ["S", "NS", "IR"]
    assert [(fact.text, fact.label) for fact in response.distinct_facts] == [("Ada lived.", "S"), ("Ada sang.", "NS")]
    assert count_facts(response.facts) == Counts(supported=1, not_supported=1, irrelevant=1)
    assert not response.abstained


def test_the_published_layout_says_the_same(tmp_path: Path) -> None:
    annotations = [
        {"text": "Ada lived and sang.", "is-relevant": True, "model-atomic-facts": [], "human-atomic-facts": FACTS},
        {"text": "Hello.", "is-relevant": False, "human-atomic-facts": None},
    ]
    answer = {"input": "Who?", "output": row()["response"], "topic": "Ada", "cat": ["rare", "Europe"]}
    jsonl(tmp_path / "labels" / "ChatGPT.jsonl", {**answer, "annotations": annotations})
    jsonl(tmp_path / "labels" / "InstructGPT.jsonl", {**answer, "annotations": None})
    first, second = load_factscore(tmp_path / "labels")
    (ours,) = load(tmp_path, row(id="factscore-ChatGPT-000"))
    assert first == ours
    assert (second.id, second.system, second.abstained) == ("factscore-InstructGPT-000", "InstructGPT", True)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"sentences": [sentence(atomic_facts=[{"text": "x", "label": "U"}])]}, "sentences[0].atomic_facts[0].label"),
        ({"sentences": [sentence(atomic_facts=[{"text": "", "label": "S"}])]}, "sentences[0].atomic_facts[0].text"),
        ({"sentences": "x"}, "sentences"),
        ({**UPSTREAM, "annotations": "x"}, "annotations"),
        ({**UPSTREAM, "annotations": ["x"]}, "annotations[0]"),
        ({**UPSTREAM, "annotations": [BAD]}, "annotations[0].human-atomic-facts[0].label"),
        ({"annotations": []}, "input"),
        ({"system": ""}, "system"),
    ],
)
def test_a_malformed_response_is_named(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, row(), row(id="r2", **changes))
    assert (caught.value.line, caught.value.field) == (2, field)

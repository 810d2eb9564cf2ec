"""Each loader on small files in its published layout and in ours; then on the labelled data, where they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.core.files.tables import TableItem
from factloop.evaluation.datasets import factcheckgpt
from factloop.evaluation.datasets.expertqa import Support, load_expertqa, parse_evidence
from factloop.evaluation.datasets.llm_aggrefact import load_llm_aggrefact
from factloop.evaluation.datasets.mixedqa import load_mixedqa
from factloop.evaluation.datasets.mixedqa_published import load_published_mixedqa
from factloop.evaluation.datasets.refchecker import TripletLabel, load_refchecker
from factloop.evaluation.datasets.tofueval import TofuEvalSentence, load_tofueval
from factloop.evaluation.datasets.wice import WiceLabel, load_wice
from tests.evaluation.datasets.dataset_files import array, jsonl, published

Loader = Callable[[str | Path], Iterator[TableItem]]

WICE: dict[str, Any] = {
    "id": "w1",
    "claim": "It is old.",
    "label": "partially_supported",
    "supporting_sentences": [[0, 2], [1]],
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
TOFU_HEADER = "doc_id,annotation_id,topic,model_name,sent_idx,summ_sent,sent_label,exp,type\n"
STANCE: dict[str, Any] = {"id": "s1", "claim": "It is.", "evidence": "Is it?", "label": "irrelevant"}
WORTH: dict[str, Any] = {"id": "c1", "claim": "It is.", "label": "factual"}
SENTENCE: dict[str, Any] = {"id": "c1", "sentence": "It is.", "label": "not_a_claim"}
DECOMPOSED: dict[str, Any] = {
    "id": "f1",
    "prompt": "Who?",
    "sentence": "She is.",
    "decontextualised": "Ada is.",
    "checkworthiness": "yes",
    "claims": ["Ada is."],
}
EXPERT: dict[str, Any] = {
    "id": "e1",
    "answer_id": "a1",
    "system": "gpt4",
    "question": "Why?",
    "field": "Law",
    "claim": "So.",
    "evidence": [{"url": "https://a.test", "passage": None, "raw": "[1] https://a.test"}],
    "support": "Complete",
    "correctness": None,
}
AGGREFACT: dict[str, Any] = {"dataset": "Wice", "doc": "D", "claim": "C", "label": 1, "contamination_identifier": "x"}


@pytest.mark.parametrize(
    ("load", "row", "changes", "field"),
    [
        (load_wice, WICE, {"label": "unsupported"}, "label"),
        (load_wice, WICE, {"claim": ""}, "claim"),
        (load_wice, WICE, {"evidence": "Old."}, "evidence"),
        (load_wice, WICE, {"supporting_sentences": [[0], ["1"]]}, "supporting_sentences[1][0]"),
        (load_wice, WICE, {"supporting_sentences": [[-1]]}, "supporting_sentences[0][0]"),
        (load_tofueval, TOFU, {"label": 2}, "label"),
        (load_tofueval, TOFU, {"label": True}, "label"),
        (load_tofueval, TOFU, {"sent_idx": 0}, "sent_idx"),
        (load_tofueval, TOFU, {"sent_label": "maybe"}, "sent_label"),
        (load_tofueval, TOFU, {"sent_label": ["yes"]}, "sent_label"),
        (load_tofueval, TOFU, {"sent_label": "no", "summ_sent": " ", "sentence": " "}, "summ_sent"),
        (factcheckgpt.load_stance, STANCE, {"label": "support"}, "label"),
        (factcheckgpt.load_stance, STANCE, {"evidence": None}, "evidence"),
        (factcheckgpt.load_claim_checkworthiness, WORTH, {"label": "yes"}, "label"),
        (factcheckgpt.load_claim_checkworthiness, WORTH, {"checkworthy": "yes"}, "checkworthy"),
        (factcheckgpt.load_sentence_checkworthiness, SENTENCE, {"label": "factual"}, "label"),
        (factcheckgpt.load_decomposition, DECOMPOSED, {"checkworthiness": "factual"}, "checkworthiness"),
        (factcheckgpt.load_decomposition, DECOMPOSED, {"claims": ["Ada is.", " "]}, "claims[1]"),
        (factcheckgpt.load_decomposition, DECOMPOSED, {"sentences": [1]}, "sentences"),
        (factcheckgpt.load_decomposition, DECOMPOSED, {"sentences": {"sentence1": 1}}, "sentences.sentence1"),
        (load_expertqa, EXPERT, {"support": "Full"}, "support"),
        (load_expertqa, EXPERT, {"correctness": ""}, "correctness"),
        (load_expertqa, EXPERT, {"evidence": [1]}, "evidence[0]"),
        (load_expertqa, EXPERT, {"answers": [1]}, "answers"),
        (load_expertqa, EXPERT, {"answers": {"gpt4": {"claims": 1}}}, "answers.gpt4.claims"),
        (load_expertqa, EXPERT, {"answers": {"gpt4": {"claims": [1]}}}, "answers.gpt4.claims[0]"),
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


@pytest.mark.parametrize(
    ("load", "row"),
    [
        (load_wice, WICE),
        (load_tofueval, TOFU),
        (factcheckgpt.load_stance, STANCE),
        (factcheckgpt.load_decomposition, DECOMPOSED),
        (load_expertqa, EXPERT),
    ],
)
def test_no_id_comes_twice_and_no_field_is_missing(tmp_path: Path, load: Loader, row: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r":2: field 'id': .*:1 has the same id"):
        list(load(jsonl(tmp_path / "rows.jsonl", row, row)))
    for name in ("claim", "sentence"):
        if name in row:
            with pytest.raises(DataError, match=rf":1: field '{name}': it is missing"):
                list(load(jsonl(tmp_path / "rows.jsonl", {key: row[key] for key in row if key != name})))


def test_wice_in_both_layouts(tmp_path: Path) -> None:
    (ours,) = load_wice(jsonl(tmp_path / "ours.jsonl", WICE))
    upstream = {name: value for name, value in WICE.items() if name != "id"}
    (theirs,) = load_wice(jsonl(tmp_path / "dev.jsonl", {**upstream, "meta": {"id": "w1", "claim_title": "T"}}))
    assert ours == theirs
    assert (ours.label, ours.attributable, ours.supporting_sentences) == ("partially_supported", 0, ((0, 2), (1,)))


def test_wice_points_into_its_evidence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r":1: supporting_sentences names sentence 3 of 3$"):
        list(load_wice(jsonl(tmp_path / "rows.jsonl", {**WICE, "supporting_sentences": [[3]]})))


def test_tofueval_in_both_layouts(tmp_path: Path) -> None:
    table = tmp_path / "mediasum.csv"
    table.write_text(
        TOFU_HEADER
        + "d,1,cost,s,1,It costs.,yes,,\n"
        + 'd,1,cost,s,2,"It costs, a lot.",no,"Not ""a lot"".","Mis-Referencing, Reasoning Error"\n'
    )
    first, second = load_tofueval(table)
    ours = {**TOFU, "id": "2"}
    assert [first] == list(load_tofueval(jsonl(tmp_path / "ours.jsonl", ours)))
    assert (second.label, second.error_types) == (0, ("Mis-Referencing", "Reasoning Error"))
    assert (second.explanation, second.response) == ('Not "a lot".', ("d", "cost", "s"))


def test_factcheckgpt_in_the_published_layouts(tmp_path: Path) -> None:
    stance = {"claim": "It is.", "evidence": "Is it?", "stance": "irrelevant"}
    (judged,) = factcheckgpt.load_stance(jsonl(tmp_path / "stance.jsonl", stance))
    assert judged.label is factcheckgpt.Stance.IRRELEVANT
    worth = {"claim": "It is.", "checkworthy": "opinion"}
    (claim,) = factcheckgpt.load_claim_checkworthiness(jsonl(tmp_path / "worth.jsonl", worth))
    assert (claim.id, claim.label) == ("1", "opinion")
    one = {"text": "She is.", "decontext": "Ada is.", "sentence_checkworthiness": "yes", "claims": ["Ada is."]}
    two = {"text": "More?", "decontext": "", "sentence_checkworthiness": "other", "claims": []}
    answer = {"prompt": "Who?", "response": "She is. More?", "sentences": {"sentence1": one, "sentence2": two}}
    first, second = factcheckgpt.load_decomposition(jsonl(tmp_path / "benchmark.jsonl", answer))
    assert first == factcheckgpt.DecomposedSentence.model_validate({**DECOMPOSED, "id": "factcheckgpt-000-s0"})
    assert (second.id, second.claims, second.decontextualised) == ("factcheckgpt-000-s1", (), "")


def test_expertqa_in_both_layouts(tmp_path: Path) -> None:
    (ours,) = load_expertqa(jsonl(tmp_path / "ours.jsonl", EXPERT))
    claim = {"claim_string": "So.", "evidence": ["[1] https://a.test"], "support": "Complete", "correctness": None}
    question = {"question": "Why?", "metadata": {"field": "Law"}, "answers": {"gpt4": {"claims": [claim]}}}
    (theirs,) = load_expertqa(jsonl(tmp_path / "r2.jsonl", question))
    assert (theirs.id, theirs.answer_id) == ("expertqa-0000-gpt4-c00", "expertqa-0000-gpt4")
    assert theirs == ours.model_copy(update={"id": theirs.id, "answer_id": theirs.answer_id})
    assert ours.attributable == 1


@pytest.mark.parametrize(
    ("support", "expected"),
    [("Complete", 1), ("Partial", 0), ("Incomplete", 0), ("Missing", None), ("N/A", None), (None, None)],
)
def test_what_was_not_judged_is_no_label(tmp_path: Path, support: str | None, expected: int | None) -> None:
    (claim,) = load_expertqa(jsonl(tmp_path / "rows.jsonl", {**EXPERT, "support": support}))
    assert claim.attributable == expected


@pytest.mark.parametrize(
    ("text", "url", "passage"),
    [
        ("[4] https://a.test/b\n\nIt is\n so. ", "https://a.test/b", "It is\n so."),
        ("http://a.test", "http://a.test", None),
        ("A book, page 3", None, "A book, page 3"),
        (" ", None, None),
    ],
)
def test_evidence_is_an_address_and_a_passage(text: str, url: str | None, passage: str | None) -> None:
    parsed = parse_evidence(text)
    assert (parsed.url, parsed.passage) == (url, passage)


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
    assert TripletLabel("Neutral") is TripletLabel.NEUTRAL


@pytest.mark.parametrize(
    ("triplets", "field"),
    [
        ([{"triplet": ["Ada", "wrote"], "human_label": "Neutral"}], "claude2_response_kg[0].triplet"),
        ([{"triplet": ["Ada", "wrote", "it"], "human_label": "neutral"}], "claude2_response_kg[0].human_label"),
        (None, "claude2_response_kg"),
    ],
)
def test_a_malformed_triplet_is_named(tmp_path: Path, triplets: object, field: str) -> None:
    path = refchecker_file(tmp_path, {"id": "1", "response": "Ada.", "claude2_response_kg": triplets})
    with pytest.raises(DataError) as caught:
        list(load_refchecker(path))
    assert (caught.value.line, caught.value.field) == (2, field)


def test_llm_aggrefact_in_every_format(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # type: ignore[import-untyped]  # it ships no types

    lines = list(load_llm_aggrefact(jsonl(tmp_path / "dev.jsonl", AGGREFACT, {**AGGREFACT, "label": 0})))
    columnar = tmp_path / "dev-00000-of-00001.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([AGGREFACT, {**AGGREFACT, "label": 0}]), columnar)
    table = tmp_path / "dev.csv"
    table.write_text("dataset,doc,claim,label,contamination_identifier\nWice,D,C,1,x\nWice,D,C,0,x\n")
    assert lines == list(load_llm_aggrefact(columnar))
    content = [item.model_dump(exclude={"id"}) for item in lines]
    assert [item.model_dump(exclude={"id"}) for item in load_llm_aggrefact(table)] == content
    assert [item["label"] for item in content] == [1, 0]


def test_a_parquet_file_names_its_bad_row(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "dev.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([AGGREFACT, {**AGGREFACT, "label": 2}]), path)
    with pytest.raises(DataError, match=r"dev\.parquet:2: field 'label': a label is 0 or 1, not 2$"):
        list(load_llm_aggrefact(path))


def published_mixedqa(**changes: Any) -> dict[str, Any]:
    right, wrong = {"pred": "Ada", "human_eval": "1"}, {"pred": "", "human_eval": "0"}
    question = {"question": "Who?", "answers": ["Ada"], "source": "PopQA", "s_pop": 1}
    return {**question, "flan": right, "llama": wrong, "gpt": right, **changes}


def test_mixedqa_as_published_is_what_our_file_says(tmp_path: Path) -> None:
    (theirs,) = load_published_mixedqa(array(tmp_path / "qa_human_check.json", published_mixedqa()))
    (ours,) = load_mixedqa(jsonl(tmp_path / "mixedqa.jsonl", theirs.model_dump()))
    assert theirs == ours
    assert [(a.system, a.human_correct) for a in ours.responses] == [
        ("flan-t5-xxl", 1),
        ("llama-7b", 0),
        ("gpt-3.5-turbo", 1),
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"llama": {"pred": "x", "human_eval": 1}}, "llama.human_eval"),
        ({"llama": {"pred": "x", "human_eval": ["1"]}}, "llama.human_eval"),
        ({"llama": "x"}, "llama"),
        ({"answers": []}, "answers"),
    ],
)
def test_malformed_published_mixedqa_is_named(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    path = array(tmp_path / "qa_human_check.json", published_mixedqa(**changes))
    with pytest.raises(DataError) as caught:
        list(load_published_mixedqa(path))
    assert (caught.value.line, caught.value.field) == (2, field)


def error_rates(sentences: list[TofuEvalSentence]) -> tuple[float, float]:
    """Per cent, of sentences and of summaries with any error."""
    summaries = defaultdict(list)
    for sentence in sentences:
        summaries[sentence.response].append(sentence.label)
    wrong = [min(labels) == 0 for labels in summaries.values()]
    return 100 * sum(s.label == 0 for s in sentences) / len(sentences), 100 * sum(wrong) / len(wrong)


def test_tofueval_error_rates_are_the_published_ones() -> None:
    by_system = defaultdict(list)
    for sentence in load_tofueval(published("tofueval_mediasum_dev.jsonl")):
        by_system[sentence.system].append(sentence)
    expected = {
        "Model-Extra": (19.2, 49.0),
        "model_A": (19.7, 38.1),
        "model_B": (20.4, 41.9),
        "model_C": (20.0, 39.4),
        "model_D": (18.6, 37.5),
        "model_E": (19.3, 38.5),
    }
    assert {system: pytest.approx(rates, abs=0.05) for system, rates in expected.items()} == {
        system: error_rates(sentences) for system, sentences in by_system.items()
    }


@pytest.mark.parametrize(
    ("name", "load", "rows"),
    [
        ("wice_dev", load_wice, 349),
        ("tofueval_mediasum_dev", load_tofueval, 1813),
        ("factcheckgpt_dev_decomposition", factcheckgpt.load_decomposition, 182),
        ("factcheckgpt_dev_sentence_checkworthiness", factcheckgpt.load_sentence_checkworthiness, 182),
        ("factcheckgpt_dev_claim_checkworthiness", factcheckgpt.load_claim_checkworthiness, 375),
        ("factcheckgpt_dev_stance", factcheckgpt.load_stance, 1825),
        ("expertqa_dev_claims", load_expertqa, 1356),
    ],
)
def test_the_labelled_data_are_read_whole(name: str, load: Loader, rows: int) -> None:
    assert sum(1 for _ in load(published(f"{name}.jsonl"))) == rows


def test_labels_of_the_labelled_data() -> None:
    wice = list(load_wice(published("wice_dev.jsonl")))
    assert Counter(claim.label for claim in wice) == {
        WiceLabel.SUPPORTED: 115,
        WiceLabel.PARTIALLY_SUPPORTED: 191,
        WiceLabel.NOT_SUPPORTED: 43,
    }
    expert = list(load_expertqa(published("expertqa_dev_claims.jsonl")))
    assert Counter(claim.support for claim in expert) == {
        Support.COMPLETE: 782,
        Support.PARTIAL: 52,
        Support.INCOMPLETE: 241,
        Support.MISSING: 218,
        Support.NOT_APPLICABLE: 60,
        None: 3,
    }

"""A named pipeline that parses replaces the rules that split; how well such a pipeline splits is not measured here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from factloop import FactChecker
from factloop.tools.linguistics.claims import RULES, Rules, split_claims
from factloop.tools.linguistics.families import Rule
from factloop.tools.linguistics.pipeline import load_pipeline
from tests.tools.linguistics.parses import save_pipeline

if TYPE_CHECKING:
    from spacy.language import Language

SPLIT = {
    "Mira Halden studied in Arden and founded the Merrow Institute.": [
        "Mira Halden studied in Arden.",
        "Mira Halden founded the Merrow Institute.",
    ],
    "Otto Berg, who led the mill and wrote books, was once elected and knighted.": [
        "Otto Berg was once elected.",
        "Otto Berg led the mill.",
        "Otto Berg wrote books.",
        "Otto Berg was knighted.",
    ],
    "Ann Lee, a judge, was a poet, painter and editor.": [
        "Ann Lee was a poet.",
        "Ann Lee was a painter.",
        "Ann Lee was an editor.",
        "Ann Lee was a judge.",
    ],
    "Halden Works is a firm that makes lamps.": ["Halden Works is a firm.", "Halden Works makes lamps."],
}
WHOLE = [
    "If it rains, the river rises and floods Arden.",
    "Seneca said the king fled and wept.",
    "He lives between Arden and Lindel.",
]


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory) -> Language:
    return load_pipeline(str(save_pipeline(tmp_path_factory.mktemp("parses") / "pipeline")))


@pytest.mark.parametrize(("sentence", "claims"), SPLIT.items())
def test_split_by_the_parse(sentence: str, claims: list[str], nlp: Language) -> None:
    assert split_claims(sentence, nlp) == claims


@pytest.mark.parametrize("sentence", WHOLE)
def test_left_whole_where_a_split_would_change_what_is_claimed(sentence: str, nlp: Language) -> None:
    assert split_claims(sentence, nlp) == [sentence]


def refuse(text: str) -> list[str]:
    raise AssertionError(f"a rule was asked to split {text!r}")


ONLY_A_PARSE = Rules(
    openings=RULES.openings,
    silences=RULES.silences,
    labels=RULES.labels,
    guards=(),
    steps=(Rule("no rule", refuse),),
)


def test_no_rule_splits_beside_a_parser(nlp: Language) -> None:
    sentence = "Mira Halden studied in Arden and founded the Merrow Institute."
    assert split_claims(sentence, nlp, rules=ONLY_A_PARSE) == SPLIT[sentence]
    with pytest.raises(AssertionError, match="a rule was asked"):
        split_claims(sentence, rules=ONLY_A_PARSE)


def test_a_pipeline_that_does_not_parse_leaves_the_rules_to_split() -> None:
    import spacy  # see parses.py

    sentence = "Mira Halden studied in Arden and founded the Merrow Institute."
    assert split_claims(sentence, spacy.blank("en")) == split_claims(sentence)


def test_a_confused_parse_loses_nothing(nlp: Language) -> None:
    """The pipeline knows nothing of this sentence, and calls each of its words a root."""
    assert split_claims("The mill was sold in 1901.", nlp) == ["The mill was sold in 1901."]


@pytest.mark.parametrize("sentence", ["", "Who was she?", "Let me know if you have questions."])
def test_what_states_nothing_has_no_claim_with_a_parser_either(sentence: str, nlp: Language) -> None:
    assert split_claims(sentence, nlp) == []


def test_a_check_with_a_named_pipeline_splits_by_its_parse(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "pipeline")
    report = FactChecker(spacy_model=str(tmp_path / "pipeline"), cache=False).check(
        "Ann Lee, a judge, was a poet, painter and editor."
    )
    assert [claim.text for claim in report.claims] == SPLIT["Ann Lee, a judge, was a poet, painter and editor."]
    assert report.fingerprint.spacy_model == str(tmp_path / "pipeline")

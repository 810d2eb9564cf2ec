"""Two annotators: kappa against scikit-learn and statsmodels, and labels put together by rule."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]  # no types
from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped]  # no types

from factloop.core.errors import DataError
from factloop.core.figure import Undefined
from factloop.evaluation.datasets.mixedqa import Label
from factloop.evaluation.mixedqa.annotators import (
    Labelled,
    UnlabelledQuestion,
    UnlabelledResponse,
    divide,
    load_unlabelled,
    put_together,
    response_id,
    sheet_rows,
)
from tests.evaluation.datasets.dataset_files import jsonl

SYSTEMS = ("a", "b", "c")


def questions(n: int, systems: tuple[str, ...] = SYSTEMS) -> list[UnlabelledQuestion]:
    return [
        UnlabelledQuestion(
            id=f"s/{place:03}",
            question=f"Question {place}?",
            reference_answers=("x", "y"),
            source="s",
            responses=tuple(UnlabelledResponse(system=name, text=f"Answer of {place}.") for name in systems),
        )
        for place in range(n)
    ]


def labels_of(given: list[UnlabelledQuestion], share: float, seed: int) -> tuple[dict[str, Label], dict[str, Label]]:
    """Labels of two, the second's other than the first's in a share of responses."""
    rng = random.Random(seed)
    first: dict[str, Label] = {}
    second: dict[str, Label] = {}
    for one in given:
        for response in one.responses:
            key = response_id(one.id, response.system)
            first[key] = 1 if rng.random() < 0.6 else 0
            second[key] = first[key] if rng.random() >= share else (0 if first[key] else 1)
    return first, second


def together(given: list[UnlabelledQuestion], first: dict[str, Label], second: dict[str, Label]) -> Labelled:
    return put_together(given, first, second, {}, data="d")


def test_kappa_is_that_of_scikit_learn_by_system_and_over_all() -> None:
    given = questions(80)
    first, second = labels_of(given, 0.1, 1)
    found = together(given, first, second).agreement
    assert [one.system for one in found.systems] == ["a", "b", "c", None]
    for one in found.systems:
        keys = [response_id(q.id, name) for q in given for name in SYSTEMS if one.system in (name, None)]
        pairs = [first[key] for key in keys], [second[key] for key in keys]
        assert one.kappa.value == pytest.approx(cohen_kappa_score(*pairs))
        assert (one.kappa.n, one.n_questions) == (len(keys), 80)
        table = one.table
        cells = (table.both_correct, table.only_first, table.only_second, table.both_wrong)
        assert cells == tuple(sum(pair == wanted for pair in zip(*pairs, strict=True)) for wanted in _CELLS)


_CELLS = ((1, 1), (1, 0), (0, 1), (0, 0))


def test_the_interval_of_one_system_is_about_that_of_statsmodels() -> None:
    """One response a question: the asymptotic interval, which takes responses as independent, holds as well."""
    given = questions(600, ("a",))
    first, second = labels_of(given, 0.08, 2)
    (one, _) = together(given, first, second).agreement.systems
    table = one.table
    theirs = cohens_kappa(np.array([[table.both_correct, table.only_first], [table.only_second, table.both_wrong]]))
    assert one.kappa.value == pytest.approx(theirs.kappa)
    assert one.kappa.low == pytest.approx(theirs.kappa_low, abs=0.01)
    assert one.kappa.high == pytest.approx(theirs.kappa_upp, abs=0.01)


def test_no_spread_gives_no_kappa_and_no_interval() -> None:
    given = questions(4, ("a",))
    keys = [response_id(one.id, "a") for one in given]
    alike = dict.fromkeys(keys, 1)
    found = together(given, dict(alike), dict(alike)).agreement.systems[0].kappa  # type: ignore[arg-type]  # 1 is a label
    assert (found.value, found.undefined) == (None, Undefined.ONE_CLASS)
    apart = together(given, {keys[0]: 1}, {keys[1]: 1}).agreement.systems[0].kappa
    assert (apart.undefined, apart.n) == (Undefined.NOT_BOTH_SCORED, 0)


def test_labels_are_put_together_by_rule() -> None:
    """Alike, by one alone, differing, differing and decided, by neither: the last and the third have no label.

    The third decides nothing on which the two do not differ; a question is kept with all its labels or not at all.
    """
    given = questions(5, ("a",))
    keys = [response_id(one.id, "a") for one in given]
    first: dict[str, Label] = {keys[0]: 1, keys[1]: 0, keys[2]: 1, keys[3]: 1}
    second: dict[str, Label] = {keys[0]: 1, keys[2]: 0, keys[3]: 0}
    found = put_together(given, first, second, {keys[0]: 0, keys[1]: 1, keys[3]: 0}, data="d")
    assert [(item.id, item.responses[0].human_correct) for item in found.items] == [
        ("s/000", 1), ("s/001", 0), ("s/003", 0),
    ]  # fmt: skip
    assert found.undecided == (keys[2],)
    agreement = found.agreement
    assert (agreement.n_first, agreement.n_second, agreement.n_differing, agreement.n_unlabelled) == (4, 3, 1, 1)
    assert agreement.n_questions == 3
    three = questions(1)
    of_two = {response_id("s/000", name): 1 for name in SYSTEMS[:2]}
    assert together(three, of_two, {}).items == ()  # type: ignore[arg-type]  # 1 is a label


@pytest.mark.parametrize(("shared", "sizes"), [(None, (9, 9)), (0, (5, 4)), (3, (6, 6)), (20, (9, 9))])
def test_questions_are_divided(shared: int | None, sizes: tuple[int, int]) -> None:
    one, other = divide(questions(9), shared, 0)
    assert (len(one), len(other)) == sizes
    assert len(set(one) | set(other)) == 9
    assert len(set(one) & set(other)) == (9 if shared is None else min(shared, 9))
    assert divide(questions(9), shared, 0) == (one, other)


def test_a_sheet_does_not_say_whose_response_is_whose() -> None:
    given = questions(40)
    rows = list(sheet_rows(given, [one.id for one in given], 0))
    assert not any(f" {name} " in f" {cell} " for row in rows for cell in row[:1] for name in SYSTEMS)
    firsts = {
        next(name for name in SYSTEMS if response_id(one.id, name) == rows[3 * place][0])
        for place, one in enumerate(given)
    }
    assert firsts == set(SYSTEMS)  # no system always comes first


def row_of(**fields: Any) -> dict[str, Any]:
    response = {"system": "one", "text": "1759", **fields.pop("label", {})}
    return {"question": "When?", "reference_answers": ["1759"], "source": "NQ", "responses": [response], **fields}


def test_responses_with_labels_are_refused_in_plain_words(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "labelled.jsonl", row_of(label={"human_correct": 1}))
    with pytest.raises(DataError, match=r"responses\[0\].human_correct.*labelled this response already"):
        load_unlabelled(place)
    without_ids = jsonl(tmp_path / "built.jsonl", row_of(id="a"), row_of(question="Who?"))
    assert [one.id for one in load_unlabelled(without_ids)] == ["a", "2"]

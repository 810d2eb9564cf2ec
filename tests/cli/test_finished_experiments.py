from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from factloop.core.errors import ConfigError
from factloop.core.records import Verdict
from factloop.evaluation.comparing.records import Outcome, Quantity
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.finished import side_by_side, to_label
from factloop.evaluation.experiments.records import ExperimentReport, Results
from factloop.evaluation.experiments.views.sheets import variants
from factloop.evaluation.labels.sheets import draw_claims
from tests.cli.command import Command
from tests.evaluation.experiments.sample import claim, make_results, results_of

TRUE, FALSE = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED


def unlabelled(n_flips: int = 12, n: int = 100) -> Results:
    verdicts = {"packaged": [TRUE] * n, "strict": [FALSE] * n_flips + [TRUE] * (n - n_flips)}
    return results_of(
        [
            claim(name, f"c{place:03}", verdict, gold=None)
            for name, of_name in verdicts.items()
            for place, verdict in enumerate(of_name)
        ]
    )


def written(folder: Path, results: Results) -> Path:
    folder.mkdir()
    (folder / "results.json").write_text(results.model_dump_json(), encoding="utf-8")
    return folder


def test_flips_are_drawn_first_and_every_claim_has_a_known_chance() -> None:
    found = draw_claims(to_label(unlabelled()), 20, data="claims.jsonl", seed=0)
    chances = {one.to_label.claim_id: one.to_label.probability for one in found.drawn}
    assert {f"c{place:03}" for place in range(12)} <= chances.keys()
    assert [chances[f"c{place:03}"] for place in range(12)] == [1.0] * 12
    assert {chances[one] for one in chances if one >= "c012"} == {round(8 / 88, 12)}


def test_a_verdict_to_label_has_the_judge_that_gave_it() -> None:
    results = results_of([claim("packaged", "c0", None, gold=None), claim("strict", "c0", FALSE, gold=None)])
    first, last = results.variants
    other = last.model_copy(update={"fingerprint": last.fingerprint.model_copy(update={"model": "openai:other"})})
    (found,) = to_label(results.model_copy(update={"variants": (first, other)}))
    assert found.judge == "openai:other (fused)"


def test_labels_of_flips_decide_an_experiment(factloop: Command, home: Path) -> None:
    """Labels favor one side on 11 of 12 flips and both sides agree with people elsewhere: (11 - 1) / 100."""
    written(home / "run", unlabelled())
    drawn = factloop("research", "labels", "next", "run", "--n", "20", "--out", "next.csv")
    assert drawn.code == 0
    with (home / "next.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = "0" if "c000" < row["claim_id"] < "c012" else "1"
    with (home / "next.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert factloop("research", "labels", "export", "next.csv", "--out", "labels.jsonl").code == 0
    done = factloop("research", "compare", "run", "--labels", "labels.jsonl", "--json", "report.json")
    assert (done.code, done.err) == (0, "")
    report = ExperimentReport.model_validate_json((home / "report.json").read_text(encoding="utf-8"))
    (apart,) = [one for one in report.differences if one.is_headline]
    assert (apart.quantity, apart.outcome, apart.n) == (Quantity.ACCURACY, Outcome.BETTER, 100)
    assert apart.value == pytest.approx(0.1)
    assert apart.p == pytest.approx(2 * (1 + 12) / 2**12)
    assert any("12 of 12 flips" in one for one in report.warnings)
    (cell,) = [one for one in variants(report).lines[1].cells if one.basis.startswith("n = 100 claims, 20 labelled")]
    assert cell.interval is not None
    assert 0 <= cell.interval[0] < cell.interval[1] <= 1
    figures = {one.variant.name: one.find(Quantity.ACCURACY) for one in report.variants}
    assert figures["strict"] is not None
    assert figures["strict"].value == pytest.approx((11 + 88) / 100), "8 of 88, each for 11"
    assert "12 of 12 that flipped" in drawn.out
    more = factloop("research", "labels", "next", "run", "--labels", "labels.jsonl", "--out", "more.csv")
    assert "80 of 80 claims" in more.out
    (home / "other.jsonl").write_text('{"label": 1, "verdict": 1, "claim": "Another."}', encoding="utf-8")
    assert "no row matches" in factloop("research", "compare", "run", "--labels", "other.jsonl").complaint


def test_a_labelled_experiment_has_nothing_to_label(factloop: Command, home: Path) -> None:
    written(home / "run", make_results(60, repeats=1))
    refused = factloop("research", "labels", "next", "run", "--out", "next.csv")
    assert (refused.code, "all claims in this experiment are already labelled" in refused.complaint) == (2, True)


@pytest.mark.parametrize(("n", "has_sides"), [(4, False), (6, False), (40, True)])
def test_accuracies_by_drawn_labels_are_possible_or_not_given(n: int, has_sides: bool) -> None:
    """Every label favors `strict`: without a bound its accuracy would exceed 1."""
    bare = unlabelled()
    for seed in range(20):
        drawn = {one.to_label.claim_id: one for one in draw_claims(to_label(bare), n, data="d", seed=seed).drawn}
        wanted = {one.claim_id: one.judgement.verdict for one in bare.claims if one.variant == "strict"}
        some = tuple(
            one.model_copy(
                update={
                    "gold": wanted[one.claim_id] is Verdict.SUPPORTED,
                    "probability": drawn[one.claim_id].to_label.probability,
                }
            )
            if one.claim_id in drawn
            else one
            for one in bare.claims
        )
        report = assess(bare.model_copy(update={"claims": some}), resamples=0)
        (apart,) = [one for one in report.differences if one.is_headline]
        figures = [one.find(Quantity.ACCURACY) for one in report.variants]
        values = [None if one is None else one.value for one in figures]
        assert values == [apart.first_value, apart.second_value]
        assert any("Only the difference is estimated" in one for one in report.warnings) != has_sides
        assert values == ([pytest.approx(1.0 - (apart.value or 0.0)), pytest.approx(1.0)] if has_sides else [None] * 2)


def test_differences_by_drawn_labels_are_those_of_all_labels_on_average() -> None:
    """Over 400 draws of labels, the mean estimate equals the difference by all labels."""
    whole = make_results(60, repeats=1)
    gold = {one.claim_id: one.gold for one in whole.claims}

    def accuracy(results: Results) -> float:
        found = assess(results, resamples=0)
        apart = next(one for one in found.differences if one.quantity is Quantity.ACCURACY)
        return apart.value or 0.0

    bare = [one.model_copy(update={"gold": None}) for one in whole.claims]
    results = whole.model_copy(update={"claims": tuple(bare)})
    candidates, estimates = list(to_label(results)), []
    for seed in range(400):
        drawn = draw_claims(candidates, 8, data="d", seed=seed).drawn
        chance = {one.to_label.claim_id: one.to_label.probability for one in drawn}
        some = [
            one.model_copy(update={"gold": gold[one.claim_id], "probability": chance[one.claim_id]})
            if one.claim_id in chance
            else one
            for one in bare
        ]
        estimates.append(accuracy(whole.model_copy(update={"claims": tuple(some)})))
    error = float(np.std(estimates)) / 20
    assert abs(np.mean(estimates) - accuracy(whole)) < 3 * error


def test_two_experiments_on_the_same_data_are_put_side_by_side(factloop: Command, home: Path) -> None:
    one, other = unlabelled(), unlabelled(3)
    written(home / "one", one)
    written(home / "other", other)
    found = side_by_side(["one", "other"], ["strict", "strict"])
    assert (found.baseline, [v.name for v in found.variants]) == ("A.strict", ["A.strict", "B.strict"])
    assert side_by_side(["one", "other"], ["strict"]) == found
    assert (found.paid.calls, found.paid.prompt_tokens) == (2 * one.paid.calls, 2 * one.paid.prompt_tokens)
    done = factloop("research", "compare", "one", "other", "--json", "-")
    counts = json.loads(done.out)["flip_counts"]
    assert [(each["second"], each["n_neutral"]) for each in counts] == [
        ("A.strict", 12), ("B.packaged", 0), ("B.strict", 3),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=r"unknown variant 'A\.lax'; choose from A\.packaged"):
        side_by_side(["one", "other"], ["lax"])
    for option in (("--k", "3"), ("--abstention", "zero")):
        assert "set them in the experiment's plan" in factloop("research", "compare", "one", *option).complaint
    moved = tuple(one.model_copy(update={"evidence": ()}) for one in other.claims)
    for change, said in (
        ({"claims": moved}, "B.packaged judged different evidence than A.packaged in 100 of 100 results"),
        ({"data": "else.jsonl"}, "use the same data"),
        ({"repeats": 2}, "one has 1 repeat, but other has 2"),
        ({"n_items": 50}, "one has 100 claims, but other has 50"),
    ):
        (home / "other" / "results.json").write_text(
            other.model_copy(update=change).model_dump_json(), encoding="utf-8"
        )
        done = factloop("research", "compare", "one", "other", "--json", "-")
        assert said in done.err + done.out
    (home / "other" / "results.json").write_text("{}", encoding="utf-8")
    damaged = factloop("research", "compare", "one", "other").complaint
    assert "other/results.json: field 'name': Field required; run the experiment again" in damaged

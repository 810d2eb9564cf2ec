"""Which claims to label next: probabilities by hand, a draw that keeps to them, and narrow intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.chosen_labels import WORLDS, compare, needed_for
from benchmarks.few_labels import WORLDS as FEW_LABELS_WORLDS
from benchmarks.judge_worlds import JudgeWorld
from factloop.core.records import Counts, Verdict
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims
from factloop.evaluation.labels.sampling import (
    FEWEST_BESIDE_SCORES,
    FEWEST_LABELS,
    Floats,
    Pilot,
    probabilities,
    spreads,
    systematic_draw,
)
from factloop.evaluation.labels.sheets import KnownLabels, draw_next
from factloop.evaluation.labels.widths import WidthByLabels
from factloop.evaluation.runs.records import JudgedResponse
from tests.evaluation.labels.labelled_runs import of_run
from tests.evaluation.runs.finished_runs import judged

NAN = float("nan")


def test_probabilities_by_hand() -> None:
    """Spreads 1, 1, 2 of four claims' worth; two draws: 0.9 * s / 4 + 0.1 / 3, twice: 0.517, 0.517, 0.967."""
    found = probabilities(np.array([1.0, 1.0, 2.0]), 2)
    assert found == pytest.approx([2 * (0.225 + 1 / 30), 2 * (0.225 + 1 / 30), 2 * (0.45 + 1 / 30)])
    assert found.sum() == pytest.approx(2)


def test_a_claim_that_would_pass_1_is_certain() -> None:
    found = probabilities(np.array([1.0, 1.0, 1.0, 100.0]), 2)
    assert found == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])
    assert probabilities(np.ones(3), 5).tolist() == [1.0, 1.0, 1.0]


def test_spreads_by_hand() -> None:
    """Of 16 labels with the verdict 1 fifteen are supported, of four with 0 one is; no scores.

    Rates (15 + 1) / 18 = 8/9 and (1 + 1) / 6 = 1/3, half way to one half 25/36 and 5/12; a stratum is then (15 + 2 *
    25/36) / 18 = 295/324 and (1 + 2 * 5/12) / 6 = 11/36, and the mean of r (1 - r) over its beta distribution is 18/19
    and 6/7 of that.
    """
    pilot = Pilot(np.array([1] * 15 + [0, 1, 0, 0, 0]), np.array([1] * 16 + [0] * 4), np.full(20, NAN))
    found = spreads(np.array([1, 0]), np.array([NAN, NAN]), pilot)
    one, other = 295 / 324, 11 / 36
    expected = [
        one * (1 - one) * 18 / 19 + (one - 8 / 9) ** 2,
        other * (1 - other) * 6 / 7 + (other - 1 / 3) ** 2,
    ]
    assert found**2 == pytest.approx(expected)
    without = spreads(np.array([1, 1, 0]), np.array([0.5, NAN, 0.9]), None)
    assert without == pytest.approx([0.5, (0.5 + 0.3) / 2, 0.3])


def test_nothing_is_learnt_from_few_labels() -> None:
    """Without scores from nine, with scores from 49: they are the better guide until then."""
    verdicts, scores = np.array([1, 1, 0, 0]), np.array([0.99, 0.6, 0.4, 0.01])

    def learnt(n: int, scores: Floats) -> bool:
        pilot = Pilot(np.arange(n) % 2, np.ones(n, np.int64), np.full(n, scores[0]))
        return not np.array_equal(spreads(verdicts, scores, pilot), spreads(verdicts, scores, None))

    nothing = np.full(4, NAN)
    assert [learnt(n, nothing) for n in (1, FEWEST_LABELS - 1, FEWEST_LABELS)] == [False, False, True]
    assert [learnt(n, scores) for n in (1, FEWEST_BESIDE_SCORES - 1, FEWEST_BESIDE_SCORES)] == [False, False, True]


def test_the_fewest_labels_steer_about_as_well_as_scores_or_better_than_nothing() -> None:
    """The variance that a draw of 200 leaves, over 40 pilots: a judge unsure of 15 % of claims, and one without scores.

    Of the first it is that by scores alone times 1.02, within a tenth; of the second less than without labels.
    """
    with_scores, without = FEW_LABELS_WORLDS[0], FEW_LABELS_WORLDS[2]
    assert variance(with_scores, FEWEST_BESIDE_SCORES) < 1.1 * variance(with_scores, 0)
    assert variance(without, FEWEST_LABELS) < 0.9 * variance(without, 0)


def variance(world: JudgeWorld, n_pilot: int) -> float:
    """Mean over pilots of the sum of r (1 - r) / p over the claims of a run."""
    found = []
    for rng in np.random.default_rng(0).spawn(40):
        labels, verdicts, scores, _ = world.run(rng)
        rates = scores if world.has_scores else np.where(verdicts == 1, *world.rates)
        pilot = rng.permutation(len(labels))[:n_pilot]
        spread = spreads(verdicts, scores, Pilot(labels[pilot], verdicts[pilot], scores[pilot]))
        found.append((rates * (1.0 - rates) / probabilities(spread, 200)).sum())
    return float(np.mean(found))


def test_every_claim_is_drawn_as_often_as_its_probability_says() -> None:
    """4,000 draws of 3 of 6: the share of each claim lies within four standard errors, at most 0.032."""
    chance = np.array([0.9, 0.1, 0.5, 0.5, 0.3, 0.7])
    rng = np.random.default_rng(0)
    drawn = [systematic_draw(chance, rng) for _ in range(4000)]
    assert {len(one) for one in drawn} == {3}
    assert all(len({*one.tolist()}) == 3 for one in drawn)
    shares = np.bincount(np.concatenate(drawn), minlength=6) / 4000
    assert shares == pytest.approx(chance, abs=0.032)


def test_labels_count_for_the_inverse_of_their_probability_by_hand() -> None:
    """A claim drawn with 1/4 stands for four, one with 1 for itself: labels 1 and 0 are a share of 4/5.

    With verdicts that are always 1 the run adds nothing. TPR of the same by hand: 4 of 4, FPR 1 of 1.
    """
    labelled = LabelledClaims([1, 0, 1, 0], [1, 1, 1, 1], ["a", "b", "c", "d"], [0.25, 1.0, 0.25, 1.0])
    run = JudgedResponses([Counts(supported=3), Counts(supported=2)], ["p", "q"])
    found = debiased_precision(labelled, run)
    assert found.prediction_powered.value == pytest.approx(4 / 5)
    mixed = LabelledClaims([1, 1, 0], [1, 0, 0], ["a", "b", "c"], [0.25, 1.0, 0.5])
    assert debiased_precision(mixed, run).evaluator.tpr == pytest.approx(4 / 5)
    with pytest.raises(ValueError, match="a probability is above 0"):
        LabelledClaims([1], [1], None, [0.0])


def test_even_probabilities_change_nothing() -> None:
    given = ([1, 0, 1, 1] * 10, [1, 0, 0, 1] * 10, [str(n // 4) for n in range(40)])
    run = JudgedResponses([Counts(supported=3, not_supported=1)] * 9, [f"r{n}" for n in range(9)])
    assert debiased_precision(LabelledClaims(*given, [0.2] * 40), run) == debiased_precision(
        LabelledClaims(*given), run
    )


@pytest.mark.statistical
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_chosen_labels_hold_the_truth_in_an_interval_at_most_07_times_as_wide(world: JudgeWorld) -> None:
    """Of 100 with a chance of 0.95 each: fewer than 89 come once in 100. Beside as many labels at random.

    A judge with scores tells the claims that it is sure of; by verdicts alone a draw gains less.
    """
    found = compare(world, 100)
    assert found["chosen"].held >= 89
    assert found["chosen"].width <= 0.7 * found["alone"].width
    assert found["chosen"].width <= (0.7 if world.has_scores else 1.0) * found["verdicts"].width
    assert found["chosen"].width < found["scores"].width


@pytest.mark.statistical
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_pilot_that_counts_as_a_first_draw_holds_the_truth_too(world: JudgeWorld) -> None:
    """100 at random and 200 chosen of the rest, beside 300 at random; of 100 with a chance of 0.95 each, as above.

    At most 0.7 times as wide holds beside labels alone, and not beside those with verdicts or scores.
    """
    found = compare(world, 100, counts_pilot=True)
    assert found["chosen"].held >= 89
    assert found["chosen"].width <= 0.72 * found["alone"].width
    assert found["chosen"].width < found["scores"].width


def test_the_labels_needed_give_the_width_asked_for() -> None:
    for world in WORLDS:
        n, half = needed_for(world, 0.03)
        assert n is not None
        assert half == pytest.approx(0.03, rel=0.2)


def test_labels_do_not_narrow_an_interval_below_that_of_the_run_by_hand() -> None:
    """100 claims of two prompts, s = 1/2 for all, so p = 1/100: a = 0.25 * 100 * 100 / 100^2, c = 0.5 * 100^2 / 100^2.

    Prompts with 30 and 20 of 50 called supported: shares 0.1 and -0.1 from 1/2 move the rate by 0.05 each, and V = 2 *
    2 * 0.05^2 = 0.01, so that the raw interval is 1.96 * 0.1. With all labelled it is 1.96 sqrt(0.0025 + 0.00005 +
    0.01) = 0.2196. For 0.25 there remain 0.016269 - 0.01 of the variance, and a / n + c / n^2 is as much by 41.8.
    """
    verdicts = np.array([1] * 30 + [0] * 20 + [1] * 20 + [0] * 30)
    found = WidthByLabels.of(np.full(100, 0.5), verdicts, ["a"] * 50 + ["b"] * 50)
    assert (found.a, found.c, found.run_variance) == pytest.approx((0.25, 0.5, 0.01))
    assert found.raw == pytest.approx(0.196, abs=0.0001)
    assert found.half_width(100) == pytest.approx(0.2196, abs=0.0001)
    assert [found.needed(half) for half in (0.25, 0.21, 0.19)] == [42, None, None]


def test_each_system_needs_its_own_labels() -> None:
    """Two systems alike and as long: each needs the labels that it would need alone, and a draw twice as many.

    Together they were said to need about as many as one.
    """
    run = [judged(f"p{n}", "ssns" * 10, system=system) for n in range(20) for system in ("a", "b")]
    both = draw_next(run, 10, data="d", seed=0, half_width=0.1)
    alone = draw_next([one for one in run if one.system == "a"], 10, data="d", seed=0, half_width=0.1)
    (one,) = alone.needed
    assert one.n is not None
    assert [(of.system, of.n) for of in both.needed] == [("a", one.n), ("b", one.n)]
    assert (alone.n_to_draw, both.n_to_draw) == (one.n, 2 * one.n)


@pytest.mark.statistical
def test_the_labels_needed_by_each_system_give_the_width_asked_for() -> None:
    """Of two systems, one right on 95 % of its claims and one on 60 %, in 40 draws: ±0.05 within a fifth of the wider.

    Claims of other prompts are the pilot. The number for both as one run, 146 claims in place of 371, gave ±0.076.
    """
    rng = np.random.default_rng(0)
    run, truth = two_systems(rng, 150)
    others, labels = two_systems(rng, 25)
    seen = [(judged, claim) for judged in others for claim in judged.report.claims]
    pilot = Pilot(
        np.array([labels[judged.id, claim.id] for judged, claim in seen]),
        np.array([int(claim.judgement.verdict is Verdict.SUPPORTED) for _, claim in seen]),
        np.full(len(seen), NAN),
    )
    known = KnownLabels(pilot)
    first = draw_next(run, 10, data="d", seed=0, known=known, half_width=0.05)
    assert first.n_to_draw is not None
    halves: dict[str, list[float]] = {"a": [], "b": []}
    for seed in range(40):
        drawn = [one.to_label for one in draw_next(run, first.n_to_draw, data="d", seed=seed, known=known).drawn]
        for system, found in halves.items():
            own = [one for one in drawn if one.system == system]
            labelled = LabelledClaims(
                [truth[one.key] for one in own],
                [int(one.verdict is Verdict.SUPPORTED) for one in own],
                [one.group for one in own],
                [one.probability or 1.0 for one in own],
                [True] * len(own),
            )
            of_system = of_run([one for one in run if one.system == system])
            interval = debiased_precision(labelled, of_system).prediction_powered.interval
            assert interval is not None
            found.append((interval[1] - interval[0]) / 2.0)
    assert max(float(np.mean(found)) for found in halves.values()) == pytest.approx(0.05, rel=0.2)


def two_systems(rng: np.random.Generator, n_prompts: int) -> tuple[list[JudgedResponse], dict[tuple[str, str], int]]:
    """Responses of two systems, and the labels of their claims by response and claim."""
    run: list[JudgedResponse] = []
    truth: dict[tuple[str, str], int] = {}
    for system, rate in (("a", 0.95), ("b", 0.6)):
        for place in range(n_prompts):
            labels = rng.random(8) < rate
            verdicts = rng.random(8) < np.where(labels, 0.92, 0.15)
            run.append(judged(f"p{place}", "".join("s" if one else "n" for one in verdicts), system=system))
            truth |= {(run[-1].id, f"c{number}"): int(label) for number, label in enumerate(labels)}
    return run, truth

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.core.records import Verdict
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.items import Data
from factloop.evaluation.experiments.looks import Look, looks_at, schedule, spent
from factloop.evaluation.experiments.plan import Until
from factloop.evaluation.experiments.records import LookReport
from tests.evaluation.experiments.sample import claim, results_of
from tests.evaluation.experiments.small_plans import make_plan

RIGHT, WRONG = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED


def test_the_spending_function_is_the_published_one() -> None:
    """Reboussin et al. 2000, bounds of O'Brien and Fleming's kind: five looks, two sides of 0.025 each."""
    found = [2 * spent(share, 0.025) for share in (0.2, 0.4, 0.6, 0.8, 1.0)]
    assert found == pytest.approx([0.0, 0.00079, 0.00762, 0.02442, 0.05], abs=1e-5)


@pytest.mark.parametrize(("n_groups", "looks"), [(100, 4), (7, 4), (2, 5), (1000, 20), (1, 2)])
def test_the_errors_of_all_looks_add_up_to_the_stated_one(n_groups: int, looks: int) -> None:
    ends, errors = zip(*schedule(n_groups, Until(difference=0.1, looks=looks), 0.05), strict=True)
    assert sum(errors) == pytest.approx(0.05)
    assert ends == tuple(sorted({*ends}))
    assert ends[-1] == n_groups


def rows(home: Path, n: int = 40) -> None:
    lines = [f'{{"id": "c{one}", "claim": "C{one}.", "document": "D{one}.", "label": {one % 2}}}' for one in range(n)]
    (home / "claims.jsonl").write_text("\n".join(lines), encoding="utf-8")


def test_each_look_has_more_groups_and_what_is_held_out_is_in_none(home: Path) -> None:
    rows(home)
    plan = make_plan(home, {"a": {}}, held_out=0.25, until={"difference": 0.1})
    looks = list(looks_at(plan.load(), plan.until, 0.95))
    seen = [{item.run.id for item in look.data.items} for look in looks]
    assert [len(one) for one in seen] == [8, 15, 23, 30]
    assert all(before < after for before, after in itertools.pairwise(seen))
    held = plan.load(held_out=True)
    assert not seen[-1] & {item.run.id for item in held.items}
    assert (len(held.items), held.name.endswith(", held-out part")) == (10, True)
    labels = [item.gold[0] for item in looks[0].data.items]
    assert len({*labels}) == 2, "in the order of the file the first have both labels; in the drawn one, too"
    (home / "claims.jsonl").write_text(
        "\n".join(reversed((home / "claims.jsonl").read_text(encoding="utf-8").splitlines())), encoding="utf-8"
    )
    again = {item.run.id for item in plan.load(held_out=True).items}
    assert again == {item.run.id for item in held.items}
    with pytest.raises(ConfigError, match="nothing is held out"):
        make_plan(home, {"a": {}}).load(held_out=True)


def look_at(strict: list[Verdict], *, difference: float, alpha: float = 0.05) -> LookReport:
    claims = [claim("packaged", f"c{n}", RIGHT, gold=True) for n in range(60)]
    claims += [claim("strict", f"c{n}", verdict, gold=True) for n, verdict in enumerate(strict)]
    claims += [claim(name, f"d{n}", WRONG, gold=False) for name in ("packaged", "strict") for n in range(60)]
    results = results_of(claims)
    found = assess(results, look=Look(Data("claims.jsonl", "claims", ()), alpha, 2, 4, 240, difference), resamples=10)
    assert found.look is not None
    assert found.level == 1 - alpha
    return found.look


def test_a_difference_is_shown_ruled_out_or_neither() -> None:
    """Of 60 and 60 claims. Ten lost: p = 2 / 1024. None lost: 0.1 in either direction is ruled out, 0.01 is not."""
    lost = [WRONG] * 10 + [RIGHT] * 50
    assert look_at(lost, difference=0.5).still_open == ()
    assert look_at(lost, difference=0.01).still_open == ()
    assert look_at(lost, difference=0.05, alpha=0.001).still_open == ("strict",)
    assert look_at([RIGHT] * 60, difference=0.1).still_open == ()
    assert look_at([RIGHT] * 60, difference=0.01).still_open == ("strict",)


def test_a_claim_that_must_pass_is_never_held_out_and_fails_if_it_was_not_judged(home: Path) -> None:
    rows(home)
    wanted = {item.run.id for item in make_plan(home, {"a": {}}, held_out=0.25).load(held_out=True).items}
    first, *others = sorted(wanted)
    plan = make_plan(home, {"a": {}}, held_out=0.25, must_pass=[first])
    held = {item.run.id for item in plan.load(held_out=True).items}
    assert first in {item.run.id for item in plan.load().items}
    assert held <= {*others}, "nothing that was in development is held out instead"
    results = results_of([claim(name, "c1", RIGHT) for name in ("packaged", "strict")])
    (found,) = assess(results, resamples=0, must_pass=["c1", "c2"]).demands
    assert (found.is_met, found.words) == (False, "strict: 1 of 2 must-pass claims is not right; not judged: c2")

"""Improves a prompt: a model proposes changes based on mistakes, and an experiment decides which to keep.

Proposals are tried on the development part of the data, and may overfit it. The final prompt is therefore compared once
with the first prompt on the held-out part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from factloop.agents.safe.schemas import REPLIES
from factloop.core.errors import BudgetExceeded, ConfigError, ModelOutputError, ToolError
from factloop.core.records import Count, NonNegative, Record, Usage
from factloop.evaluation.comparing.demands import Demand
from factloop.evaluation.comparing.records import Outcome, Quantity, QuantityFigure
from factloop.evaluation.comparing.table import CODES, MISSING, UNSCORED, majority
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.estimate import ExperimentEstimate, estimate_experiment
from factloop.evaluation.experiments.history import with_history
from factloop.evaluation.experiments.items import Data
from factloop.evaluation.experiments.panel import panel_of
from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.evaluation.experiments.records import ExperimentReport, JudgedClaim, Results
from factloop.evaluation.experiments.run import arun_experiment, proposal_store
from factloop.evaluation.experiments.variants import all_settings, whole_settings
from factloop.prompts.lint import lint_paths
from factloop.prompts.registry import Prompt, PromptRegistry
from factloop.prompts.variant import variant_text
from factloop.reports.figures import plural
from factloop.setup.chat_model import build_model, price_of
from factloop.setup.session import open_session
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.schema import StructuredOutput
from factloop.tools.models.tokens import CHARACTERS_PER_TOKEN, count_tokens

REVISION = "experiments/revision"
MOST_MISTAKES = 8
LONGEST_SHOWN = 2_000
"""Maximum number of characters quoted from the passages of a mistake."""
START, KEPT = "start", "kept"
"""Names of the prompt that proposals are compared with: `start`, then `kept` once a proposal was kept."""


class PromptRevision(StructuredOutput):
    """New instructions, and a description of the change."""

    change: str
    system: str


class Proposal(Record):
    name: str
    folder: str = ""
    change: str = ""
    refused: str = ""
    """Why the proposal was not tried: the linter's first finding, or the model's error."""
    figures: tuple[QuantityFigure, ...] = ()
    """The headline, TPR and TNR on the development part. Empty if the proposal was not tried."""
    against: tuple[QuantityFigure, ...] = ()
    """The same figures for the prompt that the proposal was compared with."""
    is_kept: bool = False
    words: str = ""


class OptimiseReport(Record):
    name: str
    prompt: str
    rounds: tuple[tuple[Proposal, ...], ...]
    kept: str | None
    """The folder of the kept prompt. None if no prompt was better."""
    held_out: ExperimentReport | None
    """The comparison of the kept prompt with the first one on the held-out part. None if no prompt was kept."""
    paid: Usage


async def optimise(
    plan: ExperimentPlan,
    run_dir: Path,
    *,
    defaults: CheckSettings | None = None,
    limits: Mapping[str, Any] | None = None,
    level: float = 0.95,
    demands: Sequence[Demand] = (),
    note: Callable[[str], object] = lambda _: None,
) -> OptimiseReport:
    """Searches for a prompt that is better than the plan's baseline, as `plan.optimise` specifies. Costs money.

    A change is kept if the headline is shown to improve (at a joint level for all rounds), all demands are met, and the
    linter finds nothing new. Answers are stored in `run_dir`, so the same command resumes the search. The limits apply
    to the search as a whole. `note` is called with a description of each step. Raises ConfigError or DataError.
    """
    wanted, (development, held_out) = plan.optimise, _parts(plan)
    first: Mapping[str, Any] = plan.variants[plan.baseline_name]
    kept, rounds, tried = first, list[tuple[Proposal, ...]](), list[str]()
    if unused := [name for name in plan.variants if name != plan.baseline_name]:
        note(f"the search starts from {plan.baseline_name} and does not use {', '.join(unused)}")

    async def run(data: Data, **variants: Mapping[str, Any]) -> Results:
        return await arun_experiment(
            _with(plan, variants), data=data, run_dir=run_dir, defaults=defaults, limits=limits
        )

    def report_of(results: Results, data: Data, level: float) -> ExperimentReport:
        return assess(
            results,
            level=level,
            questions=plan.questions,
            demands=demands,
            must_pass=() if data is held_out else plan.must_pass,
            created_at=datetime.now(UTC),
        )

    for number in range(1, wanted.rounds + 1):
        now = {START if kept is first else KEPT: kept}
        mistakes = list(mistakes_of(await run(development, **now)))
        note(f"round {number} of {wanted.rounds}: {plural(len(mistakes), 'mistake')}")
        settings = _with(plan, {KEPT: kept}).settings_of(KEPT, defaults, **(limits or {}))
        proposals = await _proposals(settings, plan, run_dir, mistakes, number, tried)
        usable = {one.name: {**kept, "prompts": one.folder} for one in proposals if not one.refused}
        if usable:
            results = await run(development, **now, **usable)
            report = report_of(results, development, 1.0 - (1.0 - level) / wanted.rounds)
            better = {one.second: one.value or 0.0 for one in report.differences if one.is_headline}
            proposals = [one if one.refused else _judged(one, report) for one in proposals]
            best = max((one.name for one in proposals if one.is_kept), key=better.__getitem__, default=None)
            proposals = [_chosen(one, best) for one in proposals]
            kept = kept if best is None else usable[best]
        rounds.append(tuple(proposals))
        for one in proposals:
            note(f"{one.name}: {one.change} {'Refused: ' + one.refused if one.refused else one.words}")
        tried += [one.change for one in proposals if not one.is_kept and one.change]
    results = await (
        run(development, **{START: first}) if kept is first else run(held_out, **{START: first, KEPT: kept})
    )
    found = None if kept is first else with_history(report_of(results, held_out, level), run_dir)
    return OptimiseReport(
        name=plan.name,
        prompt=wanted.prompt,
        rounds=tuple(rounds),
        kept=None if kept is first else str(kept["prompts"]),
        held_out=found,
        paid=results.paid,
    )


def _parts(plan: ExperimentPlan) -> tuple[Data, Data]:
    """Returns the development and held-out parts. Raises ConfigError for responses, and anything that `plan.load`
    raises."""
    development = plan.load()
    if development.kind != "claims":
        raise ConfigError(
            f"improving a prompt requires labelled claims, but {plan.data} contains responses; change `data`"
        )
    return development, plan.load(held_out=True)


def _with(plan: ExperimentPlan, variants: Mapping[str, Mapping[str, Any]]) -> ExperimentPlan:
    return plan.model_copy(update={"variants": variants, "baseline": None})


def _judged(one: Proposal, report: ExperimentReport) -> Proposal:
    (conclusion,) = (each for each in report.conclusions if each.second == one.name)
    missed = [each for each in report.demands if each.second == one.name and not each.is_met]
    figures = {of.variant.name: of.figures for of in report.variants}
    shown = (report.headline, Quantity.TPR, Quantity.TNR)
    before, after = (tuple(of for of in figures[name] if of.quantity in shown) for name in (report.baseline, one.name))
    is_kept = conclusion.outcome is Outcome.BETTER and not missed
    words = " ".join([conclusion.words, *(each.words for each in missed)])
    return one.model_copy(update={"words": words, "is_kept": is_kept, "figures": after, "against": before})


def _chosen(one: Proposal, best: str | None) -> Proposal:
    beaten = f" {best} is better still." if one.is_kept and one.name != best else ""
    return one.model_copy(update={"is_kept": one.name == best, "words": one.words + beaten})


def mistakes_of(results: Results) -> Iterator[str]:
    """Yields the claims that the only variant's majority verdict gets wrong, alternating between the two labels."""
    panel = panel_of(results)
    most, gold = majority(panel.claims.verdicts[0]), panel.claims.gold
    wrong = [place for place in np.flatnonzero(gold != MISSING).tolist() if most[place] not in (gold[place], MISSING)]
    by_label = [[place for place in wrong if gold[place] == label] for label in sorted({*gold[wrong].tolist()})]
    turns = sorted((turn, label, place) for label, of in enumerate(by_label) for turn, place in enumerate(of))
    for _, _, place in turns:
        found = panel.results_of(0, place)
        yield _mistake(next(one for one in found if CODES[one.judgement.verdict] not in (gold[place], UNSCORED)))


def _mistake(one: JudgedClaim) -> str:
    shown = "\n".join(f"[{number}] {item.passage}" for number, item in enumerate(one.evidence, 1))[:LONGEST_SHOWN]
    return (
        f"claim: {one.claim}\nshown:\n{shown}\njudged: {one.judgement.verdict}, as {one.judgement.rationale}\n"
        f"people: {'supported' if one.gold else 'not supported'}"
    )


async def _proposals(
    settings: CheckSettings,
    plan: ExperimentPlan,
    run_dir: Path,
    mistakes: Sequence[str],
    number: int,
    tried: Sequence[str],
) -> list[Proposal]:
    wanted, registry = plan.optimise, PromptRegistry.load(settings.prompts)
    if settings.model is None:
        raise ConfigError("cannot improve a prompt without a model; set `model` in the plan's settings")
    source, found = registry[wanted.prompt], list[Proposal]()
    chat = build_model(settings, wanted.model or settings.model, base_url=settings.base_url, temperature=1.0)
    async with AsyncExitStack() as stack:
        store = stack.enter_context(proposal_store(run_dir, whole_settings({KEPT: settings}), plan.repeats))
        session = open_session(settings, registry, [chat], keeps=False, store=store)
        stack.push_async_callback(session.aclose)
        before = {source.system}
        for turn in range(min(wanted.proposals, len(mistakes))):
            shown = mistakes[turn :: wanted.proposals][:MOST_MISTAKES]
            asked = registry[REVISION].render(instructions=source.system, mistake=shown, tried=tried)
            folder = run_dir / "proposals" / f"round-{number}-{turn + 1}"
            try:
                new = await session.model(chat).ask_for(asked, PromptRevision, stage="propose", meter=UsageMeter())
            except BudgetExceeded as error:
                raise ConfigError(f"{run_dir}: {error}; raise the limit") from error
            except (ModelOutputError, ToolError) as error:
                found.append(Proposal(name=folder.name, refused=str(error)))
                continue
            system = new.system.strip()
            path = _write(folder, registry, replace(source, system=system))
            refused = "identical to another prompt" if system in before else _fault(path, source)
            before.add(system)
            change = new.change.strip()
            found.append(Proposal(name=folder.name, folder=str(folder), change=change, refused=refused))
    return found


def _write(folder: Path, registry: PromptRegistry, changed: Prompt) -> Path:
    texts = {name: registry[name].path.read_text(encoding="utf-8-sig") for name in registry.own}
    texts[changed.name] = variant_text(folder.name, changed)
    for name, text in texts.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / f"{changed.name}.md"


def _fault(path: Path, source: Prompt) -> str:
    """Returns the linter's first finding that does not apply to the source prompt, or an empty string."""
    had = {(one.rule, one.message) for one in lint_paths([source.path], REPLIES).findings}
    new = (one for one in lint_paths([path], REPLIES).findings if (one.rule, one.message) not in had)
    return next((f"line {one.line}: {one.message}" for one in new), "")


class OptimiseEstimate(Record):
    n_proposals: Count
    proposals_usd: NonNegative | None
    """None if a price is unknown. The total is then None too."""
    development: ExperimentEstimate
    """The cost of all proposals and of the first prompt, as if they shared no answers."""
    held_out: ExperimentEstimate
    cost_usd: NonNegative | None


def estimate_optimise(
    plan: ExperimentPlan, defaults: CheckSettings | None, limits: Mapping[str, Any]
) -> OptimiseEstimate:
    """Estimates the cost of a search, assuming that each proposal costs as much as the baseline. Needs no key."""
    n, first = plan.optimise.rounds * plan.optimise.proposals, plan.variants[plan.baseline_name]

    def estimated(number: int, data: Data) -> ExperimentEstimate:
        many = _with(plan, {f"v{place}": first for place in range(number)})
        return estimate_experiment(many, data, all_settings(many, defaults, limits))

    development, held_out = _parts(plan)
    tried, asked = estimated(1 + n, development), estimated(2, held_out)
    each = _price_of_proposal(plan, plan.settings_of(plan.baseline_name, defaults, **limits))
    proposals_usd = None if each is None else n * each
    costs = (proposals_usd, tried.cost_usd, asked.cost_usd)
    known = [cost for cost in costs if cost is not None]
    cost_usd = sum(known) if len(known) == len(costs) else None
    return OptimiseEstimate(
        n_proposals=n, proposals_usd=proposals_usd, development=tried, held_out=asked, cost_usd=cost_usd
    )


def _price_of_proposal(plan: ExperimentPlan, settings: CheckSettings) -> float | None:
    """Estimates the price of a proposal from the longest possible request. Returns None if the price is unknown."""
    model, registry = plan.optimise.model or settings.model, PromptRegistry.load(settings.prompts)
    price = None if model is None else price_of(settings, model, settings.base_url)
    source = registry[plan.optimise.prompt].system
    asked = registry[REVISION].render(instructions=source, mistake=("m",), tried=())
    shown = (
        count_tokens(asked.system) + count_tokens(asked.user) + MOST_MISTAKES * LONGEST_SHOWN // CHARACTERS_PER_TOKEN
    )
    return None if price is None else price.cost_usd(shown, count_tokens(source))

"""`factloop research optimise` lets a model propose changes to a prompt and keeps the changes that improve it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from factloop.cli.console import DONE, note, run_until_stopped
from factloop.cli.demands import demands_exit_code
from factloop.cli.inputs import refuse_missing_data
from factloop.cli.options import ARGUMENT, Estimated, Flags, Report, Resumable, command, taking
from factloop.cli.outputs import deliver, price, show_lines, try_outputs
from factloop.cli.research.compare import FailIfWorse
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.entrance.settings_sources import load_settings
from factloop.prompts.registry import PromptRegistry
from factloop.reports.figures import cost, plural
from factloop.setup.marks import LIMITS, Mark
from factloop.setup.settings import CheckSettings

if TYPE_CHECKING:
    from factloop.evaluation.experiments.optimise import OptimiseEstimate, OptimiseReport


class OptimisePlan(Report, Resumable, Estimated, FailIfWorse):
    plan: Annotated[str, Mark(ARGUMENT, "PLAN")]
    """Plan of an experiment that holds out claims (held_out). Proposals start from the plan's baseline prompt."""


@command(taking(CheckSettings, LIMITS))
def optimise(given: OptimisePlan, limits: Flags) -> int:
    require("evaluation", "factloop research optimise")
    refuse_missing_data(given.plan)
    from factloop.evaluation.comparing.demands import read_demand, refuse_demands
    from factloop.evaluation.experiments.optimise import estimate_optimise
    from factloop.evaluation.experiments.optimise import optimise as search
    from factloop.evaluation.experiments.plan import load_plan
    from factloop.evaluation.experiments.views.shown import render_optimise_html

    load_settings(CheckSettings, limits)  # so that errors mention the flag
    defaults = load_settings(CheckSettings, {})
    plan = load_plan(given.plan)
    demands = [read_demand(one) for one in dict.fromkeys((*plan.demands, *given.fail_if_worse))]
    refuse_demands(demands)
    most = estimate_optimise(plan, defaults, limits)
    if given.dry_run:
        deliver(given, most, show_lines(_most_words(most)))
        return DONE
    if given.run_dir is None:
        raise ConfigError("set --run-dir to the folder in which to save proposals and answers")
    settings = plan.settings_of(plan.baseline_name, defaults, **limits)
    try_outputs(given.written, (given.plan, str(plan.data_path)), settings=settings, run_dir=given.run_dir)
    say = (lambda _: None) if given.quiet else note
    work = search(plan, given.run_dir.resolve(), defaults=defaults, limits=limits, demands=demands, note=say)
    report = run_until_stopped(work, run_dir=given.run_dir, kept=False)
    start = PromptRegistry.load(settings.prompts)[report.prompt].path
    deliver(given, report, partial(_print, report, start), page=partial(render_optimise_html, report))
    return DONE if report.held_out is None else demands_exit_code(report.held_out.demands)


def _most_words(most: OptimiseEstimate) -> Iterator[str]:
    yield "Nothing was spent. Upper bound, assuming that proposals are as long as the prompt and share no requests:"
    yield f"  {plural(most.n_proposals, 'proposal')}, one model call each, {price(most.proposals_usd)}"
    for name, part in (("trying all proposals", most.development), ("final test on held-out data", most.held_out)):
        items = plural(part.n_items, part.kind.removesuffix("s"))
        yield f"  {name}: about {part.calls:,} model calls on {items}, {price(part.cost_usd)}"
    yield f"  in total: {price(most.cost_usd)}"


def _print(report: OptimiseReport, start: Path, console: Console) -> None:
    from factloop.evaluation.experiments.views.sheets import proposals
    from factloop.evaluation.experiments.views.shown import print_experiment
    from factloop.reports.sheet.terminal import print_sheet

    print_sheet(console, proposals(report))
    if report.held_out is not None:
        print_experiment(report.held_out, console)
    show_lines(_words(report, start))(console)


def _words(report: OptimiseReport, start: Path) -> Iterator[str]:
    tried = [one for of_round in report.rounds for one in of_round]
    in_rounds = f"{plural(len(tried), 'proposal')} in {plural(len(report.rounds), 'round')}"
    yield f"{report.prompt}: {in_rounds}, {sum(bool(one.refused) for one in tried):,} refused; {cost(report.paid)}"
    if report.kept is None:
        yield "No proposal improved the prompt, so the prompt is unchanged and the held-out data were not used."
    else:
        yield f"The best prompt is in {report.kept}. Its result on the held-out data is above."
        yield f"To see the changes, run: diff -u {start} {Path(report.kept) / report.prompt}.md"

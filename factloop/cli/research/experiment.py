"""`factloop research experiment` compares the variants in a plan, and `optimise` lets a model improve a prompt."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from factloop.cli.console import DONE, UNSCORED, left_unscored, note, run_until_stopped, watched
from factloop.cli.demands import BREAKDOWNS, NO_CLAIM, demands_exit_code
from factloop.cli.inputs import refuse_missing_data, refuse_self_support
from factloop.cli.options import (
    ARGUMENT,
    OUTPUT,
    Estimated,
    FailIfUnscored,
    Flags,
    Intervals,
    Report,
    Resumable,
    Tabled,
    Texts,
    command,
    taking,
)
from factloop.cli.outputs import STANDARD_OUTPUT, deliver, price, show_lines, try_outputs
from factloop.cli.research.compare import FailIfWorse
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.extras import require
from factloop.core.files.json import to_json, write_atomically
from factloop.core.reasons import UnscoredReason
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import cost, plural
from factloop.setup.marks import BATCH, CACHE, LIMITS, Mark
from factloop.setup.settings import CheckSettings

if TYPE_CHECKING:
    from factloop.evaluation.experiments.estimate import ExperimentEstimate
    from factloop.evaluation.experiments.looks import Look
    from factloop.evaluation.experiments.optimise import OptimiseEstimate, OptimiseReport
    from factloop.evaluation.experiments.records import ExperimentReport, Results


class Experiment(Tabled, Intervals, Resumable, Estimated, FailIfUnscored, FailIfWorse):
    plan: Annotated[str, Mark(ARGUMENT, "PLAN")]
    """YAML file that lists the data and the variants."""
    run_dir: Annotated[Path | None, Mark(OUTPUT, "FOLDER")] = None
    """Save answers in this folder. If you reuse the folder and the model URL, you pay only for what has changed."""
    out: Annotated[Texts, Mark(OUTPUT, "FILE")] = ()
    """Write the requirements, and the claims that fail them, to this file as JUnit (.xml) or Markdown (.md)."""
    held_out: bool = False
    """Use the data that the plan holds out (held_out). Do this only once, after you have chosen a prompt."""


@command(taking(CheckSettings, LIMITS, BATCH, CACHE, "repeats"))
def experiment(given: Experiment, limits: Flags) -> int:
    require("evaluation", "factloop research experiment")
    refuse_missing_data(given.plan)
    from factloop.evaluation.comparing.demands import read_demand, refuse_demands
    from factloop.evaluation.experiments.assess import assess
    from factloop.evaluation.experiments.estimate import estimate_experiment
    from factloop.evaluation.experiments.finished import with_exchanges
    from factloop.evaluation.experiments.history import with_history
    from factloop.evaluation.experiments.looks import looks_at
    from factloop.evaluation.experiments.plan import load_plan
    from factloop.evaluation.experiments.run import REPORT, astream_experiment, judged_before, n_judged_in
    from factloop.evaluation.experiments.variants import all_settings, prompt_warnings, refuse_unready
    from factloop.evaluation.experiments.views.shown import demands_view, print_experiment, render_experiment_html

    views = {name: demands_view(name) for name in given.out}
    if given.dry_run and (given.out or given.html is not None):
        raise ConfigError("--dry-run writes no files: omit --out and --html, or omit --dry-run")
    load_settings(CheckSettings, limits)  # so that errors mention the flag
    defaults = load_settings(CheckSettings, {})
    plan = load_plan(given.plan)
    demands = [read_demand(one) for one in dict.fromkeys((*plan.demands, *given.fail_if_worse))]
    refuse_demands(demands)
    settings = all_settings(plan, defaults, limits)
    for of_variant in settings.values():
        read = (given.plan, str(plan.data_path))
        try_outputs((*given.written, *given.out), read, settings=of_variant, run_dir=given.run_dir)
        refuse_self_support(read[1], of_variant.docs, "docs")
    data = plan.load(held_out=given.held_out)
    warnings = (*prompt_warnings(settings, data.kind),)
    for warning in () if given.quiet else warnings:
        note(warning)
    looks = list(looks_at(data, None if given.held_out else plan.until, given.level))
    if given.dry_run:
        run_until_stopped(refuse_unready(plan, settings, data), run_dir=None, kept=False)
        try:
            cells = run_until_stopped(judged_before(plan, data, settings, given.run_dir), run_dir=None, kept=False)
        except (FactloopError, OSError) as error:  # no key, or the experiment is running
            note(f"cannot count the answers in {given.run_dir}: {error}")
            cells = []
        found = estimate_experiment(plan, data, settings, demands, 1.0 - given.level, cells=cells)
        return _print_estimate(given, found, looks)
    if len(looks) > 1 and given.run_dir is None:
        raise ConfigError("a plan with `until` needs a folder for answers: set --run-dir")
    n_seen = n_judged_in(given.run_dir, data) if given.held_out else 0
    for look in looks:
        events = astream_experiment(plan, data=look.data, run_dir=given.run_dir, defaults=defaults, limits=limits)
        results = run_until_stopped(watched(events, "cell", quiet=given.quiet), run_dir=given.run_dir, kept=False)
        report = assess(
            results,
            look=look,
            resamples=given.resamples,
            pairs=plan.pairs,
            questions=plan.questions,
            demands=demands,
            must_pass=() if given.held_out else plan.must_pass,
            created_at=datetime.now(UTC),
        )
        if report.look is None or not report.look.still_open:
            break
    report = report.model_copy(update={"warnings": (*warnings, *report.warnings)})
    if given.run_dir is not None:
        report = with_exchanges(with_history(report, given.run_dir, n_seen), given.run_dir)
        write_atomically(given.run_dir / REPORT, to_json(report), private=True)
    files: dict[str | None, Callable[[], str]] = {
        name: partial(view, report, _link(given.html, name)) for name, view in views.items()
    }
    page = partial(render_experiment_html, report)
    deliver(given, report, partial(print_experiment, report), page=page, files=files)
    return _exit_code(given, results, report)


def _link(page: str | None, out: str) -> str | None:
    return None if page in (None, STANDARD_OUTPUT) else Path(os.path.relpath(page, Path(out).parent)).as_posix()


def _exit_code(given: Experiment, results: Results, report: ExperimentReport) -> int:
    unscored = sum(one.judgement.verdict is None for one in results.claims)
    if n_cut := sum(one.judgement.unscored_reason is UnscoredReason.BUDGET for one in results.claims):
        begin = f"{n_cut:,} of {plural(len(results.claims), 'judgement')} have no verdict because the limit was reached"
        note(f"{begin}; set a higher limit and repeat the command")
    failed = {one.variant.name for one in report.variants if one.why_unscored is not None}
    n_of = Counter(one.variant for one in results.claims)
    causes = Counter(
        (one.variant, " ".join(one.judgement.rationale.split()))
        for one in results.claims
        if one.judgement.unscored_reason in BREAKDOWNS or (one.variant in failed and one.judgement.unscored_reason)
    )
    for (name, why), n in causes.most_common(10):
        if name in failed or not given.quiet:
            said = NO_CLAIM if name in failed else "some claims have no verdict"
            note(f"{name}: {said} ({n:,} of {n_of[name]:,}): {why}")
    if failed:
        return UNSCORED
    if given.fail_if_unscored and unscored:
        return left_unscored(f"{plural(unscored, 'judgement')} unscored (--fail-if-unscored)")
    return demands_exit_code(report.demands)


def _print_estimate(given: Experiment, found: ExperimentEstimate, looks: Sequence[Look]) -> int:
    noun, calls = found.kind.removesuffix("s"), plural(found.calls, "call")
    answered = f"  {found.answered_calls:,} of these {calls} have already been answered; the remaining calls take"
    shown = ", ".join(f"{f'{least:.2f}' if least else 'none'} in {name}" for name, least in found.can_show.items())
    power = f"  differences that would be detected 4 times out of 5: about {shown}; "
    power += f"detecting 0.1 in balanced_accuracy takes about {found.n_for_tenth:,} independent claims"
    lines = (
        f"Nothing was spent. Estimate for {plural(found.n_cells, 'cell')}: {plural(found.n_items, noun)}, "
        f"{plural(len(found.variants), 'variant')}, {plural(found.repeats, 'repeat')}.",
        f"  data: {found.data}",
        *(
            line
            for one in found.variants
            for line in (
                f"  {one.variant}: about {plural(one.calls, 'model call')} per repeat, {price(one.cost_usd)}",
                *(f"    prompt {file.words}" for file in one.prompt_files),
            )
        ),
        f"  in total, at most about {plural(found.calls, 'model call')}, {plural(found.searches, 'search')},",
        *([f"  of which at most about {found.splitting_calls:,} judge the splits,"] if found.splitting_calls else []),
        *([answered] if found.answered_calls else []),
        f"  {found.prompt_tokens:,} prompt and {found.completion_tokens:,} completion tokens,",
        f"  {price(found.cost_usd)}; identical requests are paid for once, and searching documents is free",
        *(f"  {one.words}, at {one.level:.2%}" for one in looks if len(looks) > 1),
        *([power] if shown else []),
        *(f"  {one.words}" for one in found.needed),
    )
    deliver(given, found, show_lines(lines))
    return DONE


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
    from factloop.prompts.registry import PromptRegistry

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

"""`factloop labels`: `next`, `export`, `disagree`, `adjudicate`, `answers` and `agree`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from factloop.cli import flags
from factloop.core.extras import require


def next_(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run directory of factloop eval.")],
    out: Annotated[str | None, typer.Option(metavar="FILE", help="The sheet to fill in, as CSV.")] = None,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="The claims as a page to label on.")] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Labels to learn from (10 or more, 50 where the run has scores): label, verdict and perhaps score. "
            "Claims of this run that labels export wrote are left out of the draw.",
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Claims to draw.")] = 100,
    half_width: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Say how many labels give each system's precision an interval of X to either side."
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Draw of this system's claims alone, and say what it alone needs."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    quiet: flags.Quiet = False,
) -> None:
    """Draw the claims of a run whose labels narrow its corrected precision most, with known probabilities."""
    require("evaluation", "factloop labels next")
    from factloop.cli.labels import NextAsk, run_next

    raise typer.Exit(run_next(NextAsk(run, out, html, labels, n, half_width, system, seed, quiet=quiet)))


def export(
    sheets: Annotated[
        list[str],
        typer.Argument(
            metavar="SHEET...", help="Sheets of labels next, filled in, and files that pages saved (.json)."
        ),
    ],
    out: Annotated[str, typer.Option(metavar="FILE", help="The labels, as JSON Lines.")],
    report: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="The report (check --json) of a page: adds the passages of its claims."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[FILE=]NAME",
            help="The system that wrote answers whose page does not know it, of all files or one (default unnamed).",
        ),
    ] = None,
    differing: Annotated[
        Literal["left-out", "majority"] | None,
        typer.Option(help="Each file is another person's, and may label the same claims: the rule where two differ."),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="How far people agree, as JSON; '-' for standard output.")
    ] = None,
    quiet: flags.Quiet = False,
) -> None:
    """Turn sheets and pages of labels into the file that --calibration, audit and cascade tune read."""
    require("evaluation", "factloop labels export")
    from factloop.cli.labels import ExportAsk, run_export
    from factloop.evaluation.labels.people import DisagreementPolicy

    rule = None if differing is None else DisagreementPolicy(differing)
    raise typer.Exit(
        run_export(ExportAsk((*sheets,), out, (*(report or ()),), (*(system or ()),), rule, json, quiet=quiet))
    )


def disagree(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Run directory of factloop eval factscore.")],
    key: Annotated[str, typer.Option(metavar="FILE", help="Which side is which, as JSON: not for the adjudicator.")],
    out: Annotated[str | None, typer.Option(metavar="FILE", help="The sheet to fill in, as CSV.")] = None,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="The claims as a page to answer on.")] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Claims to draw.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    quiet: flags.Quiet = False,
) -> None:
    """Draw verdicts that differ from people's labels, for an adjudicator who cannot tell the sides apart."""
    require("evaluation", "factloop labels disagree")
    from factloop.cli.labels import DisagreeAsk, run_disagree

    raise typer.Exit(run_disagree(DisagreeAsk(run, out, html, key, n, seed, quiet=quiet)))


def adjudicate(
    answers: Annotated[
        str,
        typer.Argument(metavar="SHEET", help="The sheet with its answers (first, second, neither), or a page's file."),
    ],
    key: Annotated[str, typer.Option(metavar="FILE", help="The key that was written with the sheet or page.")],
    people_usd: Annotated[
        float, typer.Option(metavar="USD", min=0.0, help="Cost of people's labels of one response, an assumption.")
    ] = 4.0,
    level: Annotated[float, typer.Option(help="Level of the intervals, between 0 and 1.")] = 0.95,
    json: flags.Json = None,
    quiet: flags.Quiet = False,
) -> None:
    """Say how often the judge was right where it differed from people, beside the paper's 76 %."""
    require("evaluation", "factloop labels adjudicate")
    from factloop.cli.labels import AdjudicateAsk, run_adjudicate

    raise typer.Exit(run_adjudicate(AdjudicateAsk(answers, key, people_usd, level, json, quiet=quiet)))


def answers(
    data: Annotated[str, typer.Argument(metavar="FILE", help="What factloop generate mixedqa wrote.")],
    out: Annotated[str, typer.Option(metavar="FILE", help="The sheet of the first annotator, as CSV.")],
    second: Annotated[str, typer.Option(metavar="FILE", help="The sheet of the second.")],
    shared: Annotated[
        int | None,
        typer.Option(min=0, help="Questions on both sheets, the others by turns on either (default: all on both)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw, and of the order of responses.")] = 0,
    quiet: flags.Quiet = False,
) -> None:
    """Write sheets of a built data set for two annotators, who do not see whose response is whose."""
    require("evaluation", "factloop labels answers")
    from factloop.cli.label_answers import AnswersAsk, run_answers

    raise typer.Exit(run_answers(AnswersAsk(data, out, second, shared, seed, quiet=quiet)))


def agree(
    first: Annotated[str, typer.Argument(metavar="FIRST", help="The sheet of the first annotator, filled in.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="The sheet of the second.")],
    data: Annotated[str, typer.Option(metavar="FILE", help="The data set that the sheets are of.")],
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="The labelled data set, for factloop eval mixedqa.")
    ] = None,
    decided: Annotated[
        str | None, typer.Option(metavar="FILE", help="A sheet on which a third decided where the two differ.")
    ] = None,
    undecided: Annotated[
        str | None, typer.Option(metavar="FILE", help="A sheet of the responses on which they differ, for a third.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals, and of the order of responses.")] = 0,
    json: flags.Json = None,
    quiet: flags.Quiet = False,
) -> None:
    """Say how far two annotators agree (Cohen's kappa), and put their labels together."""
    require("evaluation", "factloop labels agree")
    from factloop.cli.label_answers import AgreeAsk, run_agree

    raise typer.Exit(run_agree(AgreeAsk(first, second, data, out, decided, undecided, seed, json, quiet=quiet)))

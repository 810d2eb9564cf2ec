"""The commands, put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import factloop
from factloop.cli.commands import (
    audit,
    cache,
    cascade,
    check,
    compare,
    correct,
    data,
    distractors,
    experiment,
    factscore,
    generate,
    kb,
    mcp,
    mixedqa,
    prompts,
    responses,
    serve,
    trust,
    verify,
)


class ResponsesByDefault(TyperGroup):
    """`eval FILE` is `eval responses FILE`, unless the first word names another command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, "--help"}:
            args = ["responses", *args]
        return super().parse_args(ctx, args)


_EVAL = "Score a data set, and compare with its labels where it has some. eval FILE is short for eval responses FILE."

app = typer.Typer(
    name="factloop",
    help="Which claims of a long answer hold, on what evidence, and how far to trust the number.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"factloop {factloop.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def _group(name: str, about: str, kind: type[TyperGroup] = TyperGroup) -> typer.Typer:
    group = typer.Typer(cls=kind, help=about, no_args_is_help=True)
    app.add_typer(group, name=name)
    return group


app.command()(check.check)
app.command()(correct.correct)
app.command()(trust.trust)
app.command()(distractors.distractors)
app.command()(audit.audit)
app.command()(compare.compare)
app.command()(verify.verify)
app.command()(experiment.experiment)
app.command()(serve.serve)
app.command()(mcp.mcp)
eval_group = _group("eval", _EVAL, ResponsesByDefault)
eval_group.command()(responses.responses)
eval_group.command()(factscore.factscore)
eval_group.command()(mixedqa.mixedqa)
data_group = _group("data", "Data sets: what there is, and how to get it.")
data_group.command("list")(data.list_)
data_group.command()(data.get)
generate_group = _group("generate", "Let a model write: answers to LongFact's prompts, or prompts like those.")
generate_group.command()(generate.longfact)
generate_group.command()(generate.prompts)
cascade_group = _group("cascade", "A cheap verifier for the clear claims, the model for the rest.")
cascade_group.command()(cascade.tune)
kb_group = _group("kb", "Local tables of typed entities, for distractors.")
kb_group.command()(kb.build)
cache_group = _group("cache", "Answers and indexes that runs share: what there is, and removing it.")
cache_group.command()(cache.show)
cache_group.command()(cache.clear)
prompts_group = _group("prompts", "What models are told: look at prompts, start variants, compare and lint them.")
prompts_group.command("list")(prompts.list_)
prompts_group.command()(prompts.show)
prompts_group.command()(prompts.new)
prompts_group.command()(prompts.diff)
prompts_group.command()(prompts.lint)

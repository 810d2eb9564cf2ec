"""All commands, with their modules and help texts. Each command's module defines its flags."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import factloop
from factloop.cli.help import PlainGroup


class ResponsesByDefault(PlainGroup):
    """Treats `eval FILE` as `eval responses FILE`, unless FILE is the name of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, "--help", "-h"}:
            args = ["responses", *args]
        return super().parse_args(ctx, args)


COMMANDS = {
    "check": ("check:check", "Check which claims in a text are supported, and by what evidence."),
    "correct": (
        "correct:correct",
        "Correct claims that the sources contradict, mark unsupported claims, and check the changes. "
        "Limits for one check apply to the whole correction.",
    ),
    "trust": (
        "trust:trust",
        "Score whether a model stands by its own answers and whether documents support them (TrustScore).",
    ),
    "serve": ("serve:serve", "Serve checks over HTTP and on a web page. Limits on calls and cost apply to each job."),
    "backup": ("serve:backup", "Back up the jobs of a service to a file, even while the service is running."),
    "restore": ("serve:restore", "Restore the jobs in a backup to a database that has no jobs yet."),
    "mcp": (
        "mcp:mcp",
        "Serve checks to agents over the Model Context Protocol. Limits on calls and cost apply to the whole run.",
    ),
    "doctor": ("doctor:doctor", "Test every configured model, search and document source. Exits with 2 if any fails."),
    "eval responses": ("eval:responses", "Check the long responses in a data set, and score each system by F1@K."),
    "eval factscore": ("eval:factscore", "Judge FActScore's facts, and compare the verdicts with its human labels."),
    "eval mixedqa": (
        "trust:mixedqa",
        "Correlate TrustScore and other metrics with MixedQA's human labels, as in Table 1 of the paper.",
    ),
    "cache show": ("cache:show", "Show the contents, location and limits of the cache."),
    "cache clear": ("cache:clear", "Empty the cache, except for files that another process is using."),
    "prompts list": ("prompts:list_", "List the prompts with their versions, variables, reply schemas and hashes."),
    "prompts show": ("prompts:show", "Show the text of a prompt."),
    "prompts new": ("prompts:new", "Copy a prompt to a new variant with its own version. Never overwrites a file."),
    "prompts lint": ("prompts:lint", "Find errors and likely mistakes in prompts. Exits with 1 if it finds any."),
    "research audit": (
        "research.audit:audit",
        "Audit evaluators on human-labelled claims: their accuracy, their bias, and what their scores can prove.",
    ),
    "research compare": (
        "research.compare:compare",
        "Compare two systems on the same prompts, or two evaluators on the same responses.",
    ),
    "research experiment": (
        "research.experiment:experiment",
        "Compare prompts, models and settings on the same labelled claims or responses.",
    ),
    "research optimise": (
        "research.experiment:optimise",
        "Let a model propose changes to a prompt, and keep the changes that do better in an experiment.",
    ),
    "research verify": (
        "research.verify:verify",
        "Score claims against their documents with several verifiers, and save the scores for an audit.",
    ),
    "research reproduce": (
        "research.reproduce:reproduce",
        "Reproduce a table from the papers, and show it next to the published numbers.",
    ),
    "research distractors": ("research.distractors:distractors", "Generate the distractors for a response."),
    "research cascade tune": ("research.cascade:tune", "Tune the thresholds of a cascade on labelled claims."),
    "research labels next": (
        "research.labels:next_",
        "Choose claims for people to label, and write them to a sheet or a page without verdicts.",
    ),
    "research labels export": (
        "research.labels:export",
        "Combine completed label sheets and pages in one file for --calibration, audit or cascade tune.",
    ),
    "research labels disagree": (
        "research.labels:disagree",
        "Draw claims whose verdicts differ from human labels, for blind adjudication.",
    ),
    "research labels adjudicate": (
        "research.labels:adjudicate",
        "Report how often the judge is right when it disagrees with human labels (76% of the time in the paper).",
    ),
    "research data list": (
        "research.data:list_",
        "List the data sets with their parts and licences, and show which parts have been downloaded.",
    ),
    "research data get": ("research.data:get", "Download data sets from their publishers, and verify their checksums."),
    "research data join": ("research.data:join", "Find the responses that LLM-AggreFact's claims come from."),
    "research generate longfact": (
        "research.generate:longfact",
        "Have a model answer LongFact's prompts, and save the responses for factloop eval.",
    ),
    "research generate prompts": (
        "research.generate:prompts",
        "Have a model write prompts like LongFact's on the topics you choose.",
    ),
    "research kb build": ("research.distractors:build", "Build a local table of typed entities from DBpedia dumps."),
}
"""Maps the full name of each command to its function and help text."""

GROUPS = {
    "eval": "Check and score a data set, and compare with its labels. eval FILE is short for eval responses FILE.",
    "cache": "Show or empty the cache of replies and indexes.",
    "prompts": "List, show, copy and lint prompts.",
    "research": "Audit, compare and calibrate evaluators; collect labels and data; reproduce the papers' tables.",
    "research cascade": "Tune a cascade, in which a cheap verifier judges clear claims and the model judges the rest.",
    "research labels": "Plan, collect, combine and adjudicate human labels.",
    "research data": "List and download data sets.",
    "research generate": "Generate answers to LongFact's prompts, or generate new prompts.",
    "research kb": "Build local tables of typed entities for distractors.",
}

app = typer.Typer(
    name="factloop",
    help="Check what a language model wrote against your documents or the web, claim by claim.",
    cls=PlainGroup,
    context_settings={"help_option_names": ["--help", "-h"]},
    rich_markup_mode=None,
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


class LateCommand(TyperCommand):
    """Stands in for a command in its group's help, so that the command's module is imported only when needed."""

    path: str

    def make_context(self, *args: Any, **extra: Any) -> Any:
        return load_command(self.path).make_context(*args, **extra)


def load_command(path: str) -> Any:
    """Imports a command listed in `COMMANDS` and builds its flags."""
    home, about = COMMANDS[path]
    module, _, function = home.partition(":")
    return getattr(import_module(f"factloop.cli.{module}"), function).build(about)


def _put_together() -> None:
    groups = {"": app}
    for path, about in GROUPS.items():
        kind = ResponsesByDefault if path == "eval" else PlainGroup
        parent, _, name = path.rpartition(" ")
        groups[path] = typer.Typer(cls=kind, help=about, rich_markup_mode=None)
        groups[parent].add_typer(groups[path], name=name)
    for path, (_, about) in COMMANDS.items():
        parent, _, name = path.rpartition(" ")
        groups[parent].command(name, help=about, cls=type("LateCommand", (LateCommand,), {"path": path}))(_stand_in)


def _stand_in() -> None:
    raise AssertionError("the command itself runs")


_put_together()

"""The table of commands: each with its home and its line of help; its flags stand with it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import factloop
from factloop.cli.help import PlainGroup
from factloop.cli.late import add_command


class ResponsesByDefault(PlainGroup):
    """`eval FILE` is `eval responses FILE`, unless the first word names another command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, "--help"}:
            args = ["responses", *args]
        return super().parse_args(ctx, args)


COMMANDS = {
    "check": ("commands.check:check", "Check which claims of a text hold, and on what evidence."),
    "correct": (
        "commands.correct:correct",
        "Mend what the sources contradict, mark what they do not say, and check the changes again.",
    ),
    "trust": (
        "commands.trust:trust",
        "Score whether a model stands by its own answers, and whether documents agree (TrustScore).",
    ),
    "distractors": (
        "commands.distractors:distractors",
        "Show the distractors that a response would be put among. Needs no model, unless one is to propose some.",
    ),
    "audit": (
        "commands.audit:audit",
        "Say how far evaluators can be trusted, from claims that they scored and people labelled.",
    ),
    "compare": (
        "commands.compare:compare",
        "Compare two systems on shared prompts, or two evaluators on the same responses, by paired differences.",
    ),
    "verify": (
        "commands.verify:verify",
        "Score claims by their documents with several verifiers: what an audit of them reads.",
    ),
    "experiment": (
        "commands.experiment:experiment",
        "Compare prompts, models and settings over the same labelled claims or responses.",
    ),
    "reproduce": (
        "commands.reproduce:reproduce",
        "Reproduce a table or figure of the papers: theirs beside ours, or list what there is.",
    ),
    "serve": (
        "commands.serve:serve",
        "Serve checks over HTTP, with a page to look at them. Limits on calls and cost are those of one job.",
    ),
    "mcp": (
        "commands.mcp:mcp",
        "Serve checks to agents over the Model Context Protocol. Limits on calls and cost are those of the whole run.",
    ),
    "doctor": (
        "commands.doctor:doctor",
        "Ask all that is configured one harmless question each, and say what works. Exits with 2 if anything does not.",
    ),
    "eval responses": (
        "commands.responses:responses",
        "Check the long responses of a data set, and score their systems by F1@K.",
    ),
    "eval factscore": (
        "commands.factscore:factscore",
        "Judge FActScore's facts one by one, and say how far the verdicts agree with people's labels.",
    ),
    "eval mixedqa": (
        "commands.mixedqa:mixedqa",
        "Correlate TrustScore and other metrics with MixedQA's human labels, beside the paper's Table 1.",
    ),
    "data list": ("commands.data:list_", "Show the data sets: their parts and licences, and which are there."),
    "data get": ("commands.data:get", "Download data sets from where they are published, and compare checksums."),
    "data join": (
        "commands.data:join",
        "Find the responses that LLM-AggreFact's claims are from, by text, and say how many were found.",
    ),
    "generate longfact": ("commands.generate:longfact", "Ask a model LongFact's prompts, for factloop eval."),
    "generate prompts": (
        "commands.generate:prompts",
        "Let a model write prompts like LongFact's on a topic, all different.",
    ),
    "generate mixedqa": (
        "commands.generate:mixedqa",
        "Build a data set like MixedQA: open-ended questions that every system answers.",
    ),
    "labels next": (
        "commands.labels:next_",
        "Draw the claims of a run whose labels narrow its corrected precision most, with known probabilities.",
    ),
    "labels export": (
        "commands.labels:export",
        "Turn sheets and pages of labels into the file that --calibration, audit and cascade tune read.",
    ),
    "labels disagree": (
        "commands.labels:disagree",
        "Draw verdicts that differ from people's labels, for an adjudicator who cannot tell the sides apart.",
    ),
    "labels adjudicate": (
        "commands.labels:adjudicate",
        "Say how often the judge was right where it differed from people, beside the paper's 76 %.",
    ),
    "labels answers": (
        "commands.labels:answers",
        "Write sheets of a built data set for two annotators, who do not see whose response is whose.",
    ),
    "labels agree": (
        "commands.labels:agree",
        "Say how far two annotators agree (Cohen's kappa), and put their labels together.",
    ),
    "cascade tune": ("commands.cascade:tune", "Tune the thresholds of a cascade on labelled claims."),
    "kb build": ("commands.kb:build", "Make a local table of typed entities from DBpedia's dumps."),
    "cache show": ("commands.cache:show", "Show what is kept, where, and within which bounds."),
    "cache clear": ("commands.cache:clear", "Remove what is kept, but for what another process uses."),
    "prompts list": (
        "commands.prompts:list_",
        "Show the prompts: versions, variables, schemas of the replies, hashes, and which a folder replaces.",
    ),
    "prompts show": ("commands.prompts:show", "Show the text of a prompt."),
    "prompts new": (
        "commands.prompts:new",
        "Start a variant of a prompt: a copy to edit, with a version of its own. Overwrites nothing.",
    ),
    "prompts diff": (
        "commands.prompts:diff",
        "Show how prompts differ: text, front matter, and whether a run takes them for one.",
    ),
    "prompts lint": (
        "commands.prompts:lint",
        "Find what would stop a run that uses these prompts, or quietly hurt it. Exits with 1 if there is any.",
    ),
}
"""Name, home and line of help of each: the first line of its function's docstring. A group's name stands before."""

GROUPS = {
    "eval": "Score a data set, and compare with its labels where it has some. "
    "eval FILE is short for eval responses FILE.",
    "data": "Data sets: what there is, and how to get it.",
    "generate": "Let models write: answers to LongFact's prompts, prompts like those, or a data set like MixedQA.",
    "labels": "People's labels: which to ask for, how two annotators agree, and who is right where a judge differs.",
    "cascade": "A cheap verifier for the clear claims, the model for the rest.",
    "kb": "Local tables of typed entities, for distractors.",
    "cache": "Answers and indexes that runs share: what there is, and removing it.",
    "prompts": "What models are told: look at prompts, start variants, compare and lint them.",
}

app = typer.Typer(
    name="factloop",
    help="Which claims of a long answer hold, on what evidence, and how far to trust the number.",
    cls=PlainGroup,
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


def _put_together() -> None:
    groups = {"": app}
    for name, about in GROUPS.items():
        kind = ResponsesByDefault if name == "eval" else PlainGroup
        groups[name] = typer.Typer(cls=kind, help=about, rich_markup_mode=None)
        app.add_typer(groups[name], name=name)
    for path, (home, about) in COMMANDS.items():
        group, _, name = path.rpartition(" ")
        add_command(groups[group], name, f"factloop.cli.{home}", about)


_put_together()

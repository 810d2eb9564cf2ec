"""`python -m benchmarks.readings`: how a model reads the prompts, on labelled claims and sentences.

    python -m benchmarks.readings ask stance-pairs --to questions.jsonl     # rendered prompts, without labels
    python -m benchmarks.readings score stance-pairs replies.jsonl          # {"id": 1, "reply": {...}} in each line
    python -m benchmarks.readings model openai:gpt-4o-mini                  # asks it all, and scores

Data are read from the folder in FACTLOOP_DATA (by default ../shared/data). A model's readings are kept, with `--keep`,
as ids and verdicts, without a word of the data: `benchmarks/readings/*.json` are those that docs/accuracy.md quotes.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.readings.asking import CONDITIONS, Question, ask, meanings_of, says_yes
from factloop.core.errors import FactloopError
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.session import open_session
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)

Condition = Annotated[str, typer.Argument(help=", ".join(CONDITIONS))]
Prompts = Annotated[Path | None, typer.Option(help="Folder of prompts in place of the packaged ones.")]
Seed = Annotated[int, typer.Option(help="Of the sample.")]
Keep = Annotated[Path | None, typer.Option(help="File for ids and verdicts.")]


@app.command("ask")
def ask_for(condition: Condition, to: Annotated[Path, typer.Option()], prompts: Prompts = None, seed: Seed = 0) -> None:
    """Write the rendered prompts of one condition, for the readers who are to answer them."""
    questions, _ = _questions(condition, prompts, seed)
    rows = (one.as_row(number) for number, one in enumerate(questions, 1))
    to.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    typer.echo(f"{len(questions)} questions in {to}")


@app.command()
def score(
    condition: Condition, replies: Path, prompts: Prompts = None, seed: Seed = 0, reader: str = "", keep: Keep = None
) -> None:
    """Score replies, one JSON object a line: `{"id": 1, "reply": {...}}`, by the numbers that `ask` wrote."""
    rows = [json.loads(line) for line in replies.read_text(encoding="utf-8").splitlines() if line.strip()]
    _report(condition, {row["id"]: row["reply"] for row in rows}, prompts, seed, reader, keep)


@app.command()
def model(
    name: str,
    base_url: str | None = None,
    only: Annotated[list[str] | None, typer.Option(help="Conditions; all by default.")] = None,
    prompts: Prompts = None,
    seed: Seed = 0,
    keep: Annotated[Path | None, typer.Option(help="Folder for ids and verdicts.")] = None,
) -> None:
    """Put all questions to a model, and score what it says. Costs money: some 370 calls."""
    for condition in only or CONDITIONS:
        questions, _ = _questions(condition, prompts, seed)
        replies = asyncio.run(_replies(questions, name, base_url, prompts))
        _report(condition, replies, prompts, seed, name, keep / f"{condition}-{seed}.json" if keep else None)


async def _replies(
    questions: list[Question], name: str, base_url: str | None, prompts: Path | None
) -> dict[int, Mapping[str, Any]]:
    """The replies by the number of the question."""
    settings = CheckSettings.of(cache=False)
    chat = build_model(settings, name, base_url=base_url, temperature=settings.temperature)
    session = open_session(settings, PromptRegistry.load(prompts), [chat], keeps=False)
    gateway = session.model(chat)

    async def reply(question: Question) -> Mapping[str, Any]:
        try:
            answer = await gateway.ask_for(question.prompt, question.output, stage="reading", meter=UsageMeter())
        except FactloopError as error:
            return {"error": str(error)}
        return answer.model_dump()

    try:
        answers = await together(reply(question) for question in questions)
    finally:
        await session.aclose()
    return dict(enumerate(answers, 1))


def _questions(condition: str, prompts: Path | None, seed: int) -> tuple[list[Question], dict[str, bool]]:
    if condition not in CONDITIONS:
        raise typer.BadParameter(f"one of {', '.join(CONDITIONS)}")
    folder = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))
    try:
        return ask(condition, folder, prompts, seed)
    except FileNotFoundError as error:
        typer.echo(f"skipped: {error.filename} is not there (FACTLOOP_DATA names the folder)", err=True)
        raise typer.Exit(0) from error


def _report(
    condition: str, replies: Mapping[int, Any], prompts: Path | None, seed: int, reader: str, keep: Path | None
) -> None:
    questions, gold = _questions(condition, prompts, seed)
    verdicts: dict[str, str | None] = {}
    for number, question in enumerate(questions, 1):
        verdicts |= meanings_of(replies.get(number, {}), question)
    yes = [says_yes(verdicts[name]) for name in gold if gold[name]]
    no = [not says_yes(verdicts[name]) for name in gold if not gold[name]]
    table = Table("condition", "n", "TPR", "TNR", "balanced", "unreadable")
    unreadable = sum(verdict is None for verdict in verdicts.values())
    balanced = f"{(sum(yes) / len(yes) + sum(no) / len(no)) / 2:.3f}" if yes and no else "-"
    table.add_row(condition, str(len(gold)), _share(yes), _share(no), balanced, str(unreadable))
    Console().print(table)
    if keep is not None:
        used = PromptRegistry.load(prompts).hashes({one.prompt.name for one in questions})
        kept = {"condition": condition, "reader": reader, "seed": seed, "prompts": used, "verdicts": verdicts}
        keep.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _share(right: list[bool]) -> str:
    """A share with its counts; splits have no item that is to be refused."""
    return f"{sum(right) / len(right):.3f} ({sum(right)}/{len(right)})" if right else "-"


if __name__ == "__main__":
    app()

"""`python -m benchmarks.peers`: the same answers through factloop and other checkers, with the same model behind them.

Each checker gets an environment of its own, made on the first run. The replies of a capable chat model, which saw the
requests alone, are kept in `replies`; with `--upstream URL` a model is asked for those that are missing. The
answers, with errors that were planted and labelled first, are in `benchmarks/texts/unseen`.

A labelled fact goes to the claim that has most of its words, and is lost if none has half of them. If a checker
marks only what does not hold, each mark goes to the fact that has most of its words, and the other facts pass.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.peers.checkers import CHECKERS, Stated, Task
from benchmarks.peers.server import Desk, serving
from benchmarks.splitting.matching import content_words
from benchmarks.without_model import Fact, LabelledText, read_texts

TEXTS = ("dam", "film", "kite")
FOLDER = Path(__file__).parent
OUTCOMES = {True: "passed", False: "flagged", None: "unscored"}
MARKING = {"lettucedetect"}
FATES = ("flagged", "passed", "lost", "unscored")


def python_of(requirement: str, environments: Path) -> str:
    """The interpreter of an environment that has the checker. Raises CalledProcessError where none can be made."""
    if not requirement:
        return sys.executable
    folder = environments / requirement.partition("==")[0]
    if not (folder / ".installed").exists():
        subprocess.run([".ci/install", str(folder), *requirement.split()], check=True, stdout=sys.stderr)
        (folder / ".installed").touch()
    return str(folder / "bin" / "python")


def checked(name: str, python: str, text: LabelledText, base_url: str) -> tuple[list[Stated], float]:
    """What the checker says of an answer, and the seconds that it took."""
    documents = [path.read_text(encoding="utf-8") for path in sorted(text.sources.iterdir())]
    task = Task(text.question, text.answer, documents, base_url)
    command = [python, "-W", "ignore", str(FOLDER / "checkers.py"), name]
    done = subprocess.run(command, input=json.dumps(asdict(task)), stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return [Stated(**one) for one in found["stated"]], found["seconds"]


def claim_of(fact: Fact, stated: list[Stated]) -> Stated | None:
    """The claim with most of the fact's words, the shorter of equals; None where no claim has half of them."""
    words = Counter(content_words(fact.text))

    def closeness(claim: Stated) -> tuple[float, int]:
        return (Counter(content_words(claim.text)) & words).total() / words.total(), -len(claim.text)

    best = max(stated, key=closeness, default=None)
    return best if best is not None and closeness(best)[0] >= 0.5 else None


def flagged_facts(facts: Sequence[Fact], marks: Sequence[Stated]) -> set[str]:
    """For each mark, the fact with most of its words, and then with most words of its sentence."""

    def closeness(fact: Fact, mark: Stated) -> tuple[int, int]:
        words, of_mark, around = (Counter(content_words(text)) for text in (fact.text, mark.text, mark.within))
        return (of_mark & words).total(), (around & words).total()

    return {max(facts, key=lambda fact: closeness(fact, mark)).text for mark in marks}


def tried(name: str, texts: Sequence[LabelledText], desk: Desk, environments: Path, show: Console | None) -> list[str]:
    """The row of a checker. Raises CalledProcessError where it cannot be installed, or fails."""
    python = python_of(CHECKERS[name][0], environments)
    found, n_claims, seconds = Counter[tuple[bool, str]](), 0, 0.0
    for text in texts:
        with serving(desk) as base_url:
            stated, took = checked(name, python, text, base_url)
        n_claims, seconds = n_claims + len(stated), seconds + took
        flagged = flagged_facts(text.facts, stated) if name in MARKING else set()
        for fact in text.facts:
            claim = claim_of(fact, stated)
            if name in MARKING:
                outcome = "flagged" if fact.text in flagged else "passed"
            else:
                outcome = "lost" if claim is None else OUTCOMES[claim.holds]
            found[fact.label == "supported", outcome] += 1
            if show:
                show.print(f"{name}: {fact.label}, {outcome}: {fact.text} <- {claim}", markup=False)
    fates = [found[label, fate] for label in (False, True) for fate in FATES]
    figures = [*fates, n_claims, desk.use.calls, desk.use.prompt_tokens, desk.use.reply_tokens]
    return [name, *map(str, figures), f"{seconds / len(texts):.1f}"]


def main(
    upstream: str | None = None,
    only: Annotated[list[str] | None, typer.Option(help="A checker.")] = None,
    environments: Path = Path(".venv-peers"),
    show: Annotated[bool, typer.Option(help="Print what each fact went to.")] = False,
) -> None:
    """Print, for each checker, what it found and what it cost."""
    texts = [text for text in read_texts("unseen") if text.name in TEXTS]
    labels = Counter(fact.label == "supported" for text in texts for fact in text.facts)
    console = Console(width=160)
    told = [f"{labels[False]} errors: flagged", *FATES[1:], f"{labels[True]} true: flagged", *FATES[1:]]
    table = Table("", *told, "claims", "calls", "tokens in", "out", "seconds an answer")
    for name in only or CHECKERS:
        desk = Desk(FOLDER / "replies" / f"{name}.json", upstream)
        try:
            table.add_row(*tried(name, texts, desk, environments, console if show else None))
        except subprocess.CalledProcessError as error:
            console.print(f"{name} could not run: {error}", markup=False)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)

"""Prints how many claims a second the offline engine judges: `python -m benchmarks.offline_speed`.

The rater alone reads invented documents of 50 sentences of 15 to 25 words: each for the first time, or for twenty
claims one after the other, as in a run over one response; this is what the target is for. The whole engine goes from
the texts of the simulated world's 20 responses to their reports, with the passages that settle them as documents: up to
five searches a claim, and the graph's own steps. Seconds are processor time of this process, so that others on the
machine disturb little. Ends with 1 where the target is missed.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.rows import Row, compared, table
from factloop import FactChecker
from factloop.tools.verifiers.lexical import LexicalVerifier
from tests.simulator.building import build_world
from tests.simulator.client import WORLD_SEED
from tests.simulator.world import Response

N_SENTENCES = 50
N_DOCUMENTS = 100
CLAIMS_A_DOCUMENT = 20
LEAST_CLAIMS_PER_S = 200.0
FORM = "{:,.0f} claims/s"


def vocabulary(rng: random.Random, n_words: int = 4_000) -> list[str]:
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    words = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(n_words)]
    return [word.capitalize() if rng.random() < 0.1 else word for word in words]


def sentence(rng: random.Random, words: Sequence[str]) -> str:
    chosen = [*rng.choices(words, k=rng.randint(15, 24)), str(rng.randint(1900, 2020))]
    rng.shuffle(chosen)
    return " ".join(chosen).capitalize() + "."


def documents(rng: random.Random, n_documents: int) -> list[list[str]]:
    """Documents, each a list of its sentences."""
    words = vocabulary(rng)
    return [[sentence(rng, words) for _ in range(N_SENTENCES)] for _ in range(n_documents)]


def claims_per_second(verifier: LexicalVerifier, work: Sequence[tuple[str, str]]) -> float:
    start = time.process_time()
    for claim, passage in work:
        verifier.verify(claim, [passage])
    return len(work) / (time.process_time() - start)


def rater_rows() -> list[Row]:
    rng = random.Random(0)
    verifier = LexicalVerifier()
    verifier.verify("The dictionary is loaded", ["by the first claim."])
    cold = [(rng.choice(document), " ".join(document)) for document in documents(rng, N_DOCUMENTS)]
    warm = [
        (" ".join(rng.sample(rng.choice(document).split(), 10)), " ".join(document))
        for document in documents(rng, N_DOCUMENTS)
        for _ in range(CLAIMS_A_DOCUMENT)
    ]
    return [
        _against_target("one claim a document", claims_per_second(verifier, cold)),
        _against_target(f"{CLAIMS_A_DOCUMENT} claims a document", claims_per_second(verifier, warm)),
    ]


def engine_rows() -> list[Row]:
    """The whole engine in both plans, after one response that loads and indexes what is loaded once."""
    responses = build_world(WORLD_SEED).responses
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        docs = folder / "docs"
        docs.mkdir()
        _write_articles(responses, docs)
        checkers = {
            "fused": FactChecker(docs=docs, cache_dir=folder, plan="fused"),
            "paper": FactChecker(docs=docs, cache_dir=folder, plan="paper"),
        }
        measured = {plan: _checked_per_s(checker, responses) for plan, checker in checkers.items()}
    return [Row("whole engine", f"plan {plan}", "", FORM.format(per_s), None) for plan, per_s in measured.items()]


def _write_articles(responses: Sequence[Response], folder: Path) -> None:
    articles: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for response in responses:
        for fact in response.facts:
            articles[fact.gold.title][fact.gold.text] = None
    for number, texts in enumerate(articles.values()):
        (folder / f"{number}.txt").write_text("\n\n".join(texts), encoding="utf-8")


def _checked_per_s(checker: FactChecker, responses: Sequence[Response]) -> float:
    checker.check(responses[0].text, responses[0].prompt)
    start = time.process_time()
    n_claims = sum(len(checker.check(response.text, response.prompt).claims) for response in responses)
    return n_claims / (time.process_time() - start)


def _against_target(name: str, per_s: float) -> Row:
    return compared("rater alone", name, per_s, "at least", LEAST_CLAIMS_PER_S, FORM)


def main() -> int:
    rows = [*rater_rows(), *engine_rows()]
    Console().print(table("the offline engine", rows))
    return 1 if any(row.is_met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

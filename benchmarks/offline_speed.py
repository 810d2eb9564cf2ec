"""Prints how many claims a second the lexical verifier judges: `python -m benchmarks.offline_speed`.

Documents are invented: 50 sentences of 15 to 25 words. "Cold" meets every document for the first time, "warm" judges
twenty claims a document, as a run over one response does, all its evidence the same passages.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence

from factloop.tools.verifiers.lexical import LexicalVerifier

N_SENTENCES = 50
N_DOCUMENTS = 100
CLAIMS_A_DOCUMENT = 20


def vocabulary(rng: random.Random, n_words: int = 4_000) -> list[str]:
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    words = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(n_words)]
    return [word.capitalize() if rng.random() < 0.1 else word for word in words]


def sentence(rng: random.Random, words: Sequence[str]) -> str:
    chosen = [*rng.choices(words, k=rng.randint(15, 24)), str(rng.randint(1900, 2020))]
    rng.shuffle(chosen)
    return " ".join(chosen).capitalize() + "."


def documents(rng: random.Random, n_documents: int) -> list[list[str]]:
    """Each a list of its sentences."""
    words = vocabulary(rng)
    return [[sentence(rng, words) for _ in range(N_SENTENCES)] for _ in range(n_documents)]


def claims_per_second(verifier: LexicalVerifier, work: Sequence[tuple[str, str]]) -> float:
    start = time.perf_counter()
    for claim, passage in work:
        verifier.verify(claim, [passage])
    return len(work) / (time.perf_counter() - start)


def main() -> int:
    rng = random.Random(0)
    verifier = LexicalVerifier()
    verifier.verify("The dictionary is loaded", ["by the first claim."])
    cold = [(rng.choice(document), " ".join(document)) for document in documents(rng, N_DOCUMENTS)]
    warm = [
        (" ".join(rng.sample(rng.choice(document).split(), 10)), " ".join(document))
        for document in documents(rng, N_DOCUMENTS)
        for _ in range(CLAIMS_A_DOCUMENT)
    ]
    sys.stdout.write(f"one claim a document: {claims_per_second(verifier, cold):8,.0f} claims/s\n")
    sys.stdout.write(f"{CLAIMS_A_DOCUMENT} claims a document: {claims_per_second(verifier, warm):8,.0f} claims/s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

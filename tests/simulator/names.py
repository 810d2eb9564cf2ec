"""Invented names: pronounceable, unique, and never a problem for a sentence splitter."""

# ruff: noqa: SIM905 - word lists of one word a line would bury the code

from __future__ import annotations

import random
from collections.abc import Callable

from tests.simulator.relations import Kind

_ONSETS = "b br c cr d dr f g gr h j k l m n p pr qu r s st t th tr v w z".split()
_VOWELS = "a e i o u ae ei ia".split()
_CODAS = "l m n r s th x nd rk sk lt".split()
_WORK_NOUNS = "Lantern Orchard Meridian Almanac Harbour Mirror Staircase Compass Winter Ledger".split()
_INSTITUTE_NOUNS = "College Academy House Society".split()
_SHIP_NOUNS = "Star Heron Venture Fortune".split()
_AWARD_NOUNS = "Medal Prize Ribbon Laurel".split()


class Names:
    """Draws names from a seeded generator; each made-up word occurs in only one name."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()
        self._shapes: dict[Kind, Callable[[], str]] = {
            "person": lambda: f"{self._word()} {self._word()}",
            "institute": lambda: f"{self._word()} {rng.choice(_INSTITUTE_NOUNS)}",
            "town": self._word,
            "river": lambda: f"River {self._word()}",
            "ship": lambda: f"{self._word()} {rng.choice(_SHIP_NOUNS)}",
            "work": lambda: f"The {self._word()} {rng.choice(_WORK_NOUNS)}",
        }

    def of(self, kind: Kind) -> str:
        return self._shapes[kind]()

    def award(self) -> str:
        return f"{self._word()} {self._rng.choice(_AWARD_NOUNS)}"

    def _word(self) -> str:
        while True:
            syllables = (self._rng.choice(_ONSETS) + self._rng.choice(_VOWELS) for _ in range(2))
            word = ("".join(syllables) + self._rng.choice(_CODAS)).capitalize()
            if word not in self._taken:
                self._taken.add(word)
                return word

"""The probability of each letter, from the log-probabilities of a reply's tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from factloop.agents.trustscore.questions import LETTERS
from factloop.tools.models.wire import Token
from factloop.trust_records import Letter

_DRESS = re.compile(r"[\W_]+")


def letter_probabilities(tokens: Sequence[Token], chosen: Letter) -> Mapping[Letter, float] | None:
    """How probable each letter was where the chosen one was written; None where no token is that letter alone.

    The same letter in several forms ("C", " C") adds up. A reply that opens with its letter is read there, any other
    where it names the letter last.
    """
    places = [place for place, token in enumerate(tokens) if _bare(token.text) == chosen]
    if not places:
        return None
    opens = all(not _bare(token.text) for token in tokens[: places[0]])
    alternatives = tokens[places[0] if opens else places[-1]].alternatives
    found: dict[Letter, float] = {}
    for letter in LETTERS:
        forms = [math.exp(min(logprob, 0.0)) for text, logprob in alternatives.items() if _bare(text) == letter]
        if forms:
            found[letter] = min(sum(forms), 1.0)
    return found


def _bare(text: str) -> str:
    return _DRESS.sub("", text).upper() if len(text) < 8 else text

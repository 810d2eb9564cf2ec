"""The probability of each letter, from the log-probabilities of a reply's tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from factloop.agents.trustscore.questions import LETTERS
from factloop.agents.trustscore.records import Letter
from factloop.agents.trustscore.undressing import THINKING_ENDS
from factloop.tools.models.logprobs import probabilities
from factloop.tools.models.wire import ReplyToken

_DRESS = re.compile(r"[\W_]+")
_NAMES = re.compile(r"(?:answer|choice|option)\W*(?:is\W*)?\Z", re.IGNORECASE)
"""The end of words after which a letter is the choice."""
LONGEST_NAMING = 40
"""Characters before a letter that are looked at for such words."""


def letter_probabilities(tokens: Sequence[ReplyToken], chosen: Letter) -> Mapping[Letter, float] | None:
    """How probable each letter was where the chosen one was written; None where no token is that letter alone.

    The same letter in several forms ("C", " C") adds up. A reply that opens with its letter is read there, any other
    where it names the letter as its answer, or else last.
    """
    place = _place(tokens, chosen)
    if place is None:
        return None
    shares = probabilities(tokens[place])
    found: dict[Letter, float] = {}
    for letter in LETTERS:
        forms = [share for text, share in shares.items() if _bare(text).upper() == letter]
        if forms:
            found[letter] = min(sum(forms), 1.0)
    return found if chosen in found else None


def _place(tokens: Sequence[ReplyToken], chosen: Letter) -> int | None:
    """The place where the reply, after any thinking, writes the letter that it chooses."""
    ends = list(accumulate(len(token.text) for token in tokens))
    text = "".join(token.text for token in tokens)
    thought = text.rfind(THINKING_ENDS) + len(THINKING_ENDS) if THINKING_ENDS in text else 0
    said = [place for place, end in enumerate(ends) if end > thought]
    # A small letter counts only where there is no capital: "a" is an article more often than a choice.
    places = [place for place in said if _bare(tokens[place].text) == chosen] or [
        place for place in said if _bare(tokens[place].text).upper() == chosen
    ]
    if not places:
        return None
    if not any(_bare(tokens[place].text) for place in said if place < places[0]):
        return places[0]
    starts = {place: ends[place] - len(tokens[place].text) for place in places}
    named = [at for at, start in starts.items() if _NAMES.search(text[max(start - LONGEST_NAMING, thought) : start])]
    return (named or places)[-1]


def _bare(text: str) -> str:
    return _DRESS.sub("", text) if len(text) < 8 else text

"""Drops prompts that ask the same thing as an earlier prompt, and counts the dropped prompts by reason.

Wei et al. 2024 drop only identical prompts. We also drop a prompt if its content words and those of an earlier prompt
have a Jaccard similarity of at least 2/3. Function words, question phrases ("what", "tell me about") and the topic's
own words do not count. In scripts without spaces between words, only identical prompts are dropped.

On LongFact-Objects, the rule matches 6 of 16,530 pairs of prompts on the same topic. Three of the six do ask the same
thing, such as LIGO and "Advanced LIGO".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

ALIKE_FROM = 2 / 3
SHORTEST, LONGEST = 4, 1_000
"""Minimum and maximum length of a prompt in characters. LongFact's longest prompt has 672."""
_WORD = re.compile(r"\w+")
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Matches line breaks, control characters and characters that change the direction of text."""
_ASKING = frozenset(
    _WORD.findall(
        """
        a about also an and any are as at be been by can could describe detail detailed details did discuss do does
        elaborate event events explain explained for from give had happened has have how i in information insight
        insights into is it its know known me occurred of on or our outline overview please provide s share some
        summarise summarize tell that the their them there these they this those through to took place us was we
        were what when where which who whose why will with would you your
        """
    )
)


@dataclass(frozen=True)
class PromptSelection:
    """The prompts kept so far, and the number of prompts dropped for each reason."""

    prompts: tuple[str, ...] = ()
    n_repeated: int = 0
    n_alike: int = 0
    n_unusable: int = 0


def keep_distinct(kept: PromptSelection, proposed: Iterable[str], topic: str, *, wanted: int) -> PromptSelection:
    """Adds prompts from `proposed` until there are `wanted` prompts. The rest are ignored and not counted."""
    named = _words(topic)
    known = [content_words(prompt, named) for prompt in kept.prompts]
    spelled = {spelling(prompt) for prompt in kept.prompts}
    for text in proposed:
        if len(kept.prompts) >= wanted:
            break
        prompt = text.strip()
        words = content_words(prompt, named)
        if not is_usable(prompt):
            kept = replace(kept, n_unusable=kept.n_unusable + 1)
        elif spelling(prompt) in spelled:
            kept = replace(kept, n_repeated=kept.n_repeated + 1)
        elif any(are_alike(words, other) for other in known):
            kept = replace(kept, n_alike=kept.n_alike + 1)
        else:
            known.append(words)
            spelled.add(spelling(prompt))
            kept = replace(kept, prompts=(*kept.prompts, prompt))
    return kept


def is_usable(prompt: str) -> bool:
    """Whether the prompt is a single line of suitable length with at least one word."""
    return SHORTEST <= len(prompt) <= LONGEST and bool(_WORD.search(prompt)) and not _ODD.search(prompt)


def content_words(prompt: str, topic: frozenset[str] = frozenset()) -> frozenset[str]:
    """Returns the words that show what a prompt asks about, or all of its words if there are none."""
    words = _words(prompt)
    return words - _ASKING - topic or words


def are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE_FROM * len(one | other)


def spelling(prompt: str) -> str:
    """Returns the prompt in lowercase without punctuation. Prompts with the same spelling count as repeated."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", prompt).casefold()))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))

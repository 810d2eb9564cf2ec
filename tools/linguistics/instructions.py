"""Tells instructions, which say what is done and rest on facts, from requests that are about the answer."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.words import Word, WordClass, content_words

ABOUT_THE_ANSWER = word_set(
    """
    be compare consider describe discuss enjoy explain explore find imagine know learn let list look make name note
    provide remember see suppose tell think try
    """
)
"""Verbs of requests to a writer or a reader, such as *List three towns*: they rest on no fact."""
_DEEDS = word_set(
    """
    add adjust apply attach avoid bake choose click close configure confirm connect copy delete disable disconnect
    download drag eat enable ensure enter follow get give go ignore include insert install keep launch move navigate
    obtain pour read refresh remove rename replace reset restart rinse scroll select send simmer stir submit swipe take
    toggle unplug uninstall unscrew update upload verify write
    """
)
"""Verbs by which instructions say what is done; hardly a noun among them."""
_MAYBE_DEEDS = word_set(
    """
    ask boil call change check clean consult contact cook cover cut drain fill heat hold log mix open paste pay place
    plug press print pull push put return run save set sign slide start stop store tap test tighten turn type use visit
    wash watch wipe
    """
)
"""Such verbs that are nouns or adjectives, too: *Open source*."""
DEEDS = _DEEDS | _MAYBE_DEEDS
_OF_OBJECTS: frozenset[WordClass] = frozenset({"determiner", "possessive", "preposition"})


def is_instruction(plain: Sequence[Word], *, is_sentence: bool) -> bool:
    """Whether words without marks tell to do something with what they name: *Click Delete*, but not *Bake it*.

    *Open source* does as a sentence only, *Open the app* without a full stop, too.
    """
    if len(plain) < 2 or not content_words(" ".join(word.text for word in plain[1:])):
        return False
    first = plain[0].lower
    return first in _DEEDS or (first in _MAYBE_DEEDS and (is_sentence or plain[1].word_class in _OF_OBJECTS))

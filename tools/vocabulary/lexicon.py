"""English words by part of speech, the ordinary ones first: the lists of TextBlob, sifted."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from factloop.tools.linguistics.lexicon import FUNCTION_WORDS, NAME_STOP, NATIONALITIES, NUMBER_WORDS, word_set
from factloop.tools.vocabulary.data import packaged_lines, packaged_tags

MIN_COUNT = 3
"""Occurrences, in the million words that were counted, below which a word is too rare to be used."""

_CLOSED = frozenset({"CC", "DT", "EX", "IN", "MD", "PDT", "PRP", "PRP$", "RP", "TO", "WDT", "WP", "WP$", "WRB"})
_MIN_COUNT_CLOSED = 50
"""Dialect and misspellings of function words (*thet*, *oughta*) are rarer."""
_SAME_FORM = {"VB": ("VB", "VBP"), "VBP": ("VB", "VBP")}
_NO_WORDS = frozenset({"CD", "FW", "LS", "SYM", "UH", "POS"})
"""Numbers are made, not drawn; the other classes hold scraps."""

_UNFIT = word_set(
    """
    ass bastard bastards bitch breast breasts cock cripple crippled damn damned damning dick fuck fucked fucking genital
    gypsy heathen hell hooker idiot idiotic jew lunatic lunatics lynch naked negro negroes nigger orgies orgy rape raped
    retard retarded retarding savage savages semen sex sexual sexually shit slave slaves squaw suicide vagina vaginal
    whore
    """
)
"""Vulgar, or hurtful where chance puts them."""
_OUT_OF_PLACE = word_set(
    """
    anybody anyone anything everybody everyone everything nobody none nothing somebody someone something somewhat
    somewhere thee thine thou thy aught naught nought aint didst dost doth hast hath shalt thyself wherefore whither
    hither thither yonder etc viz ibid mrs messrs gutenberg copyright esq penn tenn mass calif conn wis minn
    org ascii dred not never don isn didn doesn wasn th ll ve
    """
)
"""Pronouns that are tagged as nouns, old forms, abbreviations, denials."""
_NO_NAMES = word_set(
    """
    abbe almighty auntie baron caesars candlestick caprice chevalier christmas citadel commodore confederate constable
    contra coronation cossack dowager duchess duchy elector emigrant encyclopaedia excellency extensor fireside gazette
    gospels grande gulch herr holiness huntsman jesus kaiser lackey lascar madame mademoiselle majesties mamma marquis
    masonic mercantile monogram monsieur organisation orient papa parrot protectorate quartermaster ravine reasoner
    redoute republicanism sabbath shilling soiree sphinx synod thermo tribune tsar tsarevich tunica
    anglican anglo arab catholic catholics christianity christians hebrew jesuit jews klan klux latin mormon ottoman
    presbyterians protestant protestants roman saxon sioux tory turk yankee sundays thursdays
    angeles barre britannica buren clair coeur fain grande hague ing los mal notre ord orleans pere porto rhode rico
    salle san sans santa santo saxe tut ville york zealand
    """
)
"""Titles, peoples and creeds that are tagged as names, and what is only one part of a name (lower case)."""
_OF_A_PEOPLE = ("ian", "ean", "ese", "ish", "ist", "frenchwoman", "frenchman", "englishman", "irishman")

_NEVER_DRAWN = _UNFIT | _OUT_OF_PLACE | FUNCTION_WORDS | NUMBER_WORDS | NAME_STOP | NATIONALITIES
_NEVER_DRAWN_NAMES = _NEVER_DRAWN | _NO_NAMES


@lru_cache(maxsize=64)
def words_of(tag: str) -> tuple[str, ...]:
    """Ordinary words of a Penn tag, the commonest first; empty for numbers and for tags that hold no words.

    Proper nouns have their capital and are neither months nor nationalities; other words are in lower case.
    """
    if tag in _NO_WORDS:
        return ()
    fit = _is_fit_name if tag.startswith("NNP") else _is_fit_closed if tag in _CLOSED else _is_fit
    tags = _SAME_FORM.get(tag, (tag,))
    return _commonest_first(word for word, own in _tag_of_word().items() if own in tags and fit(word))


@lru_cache(maxsize=1)
def nationality_adjectives() -> tuple[str, ...]:
    """Spanish, Danish and so on, the commonest first."""
    return _commonest_first(word.capitalize() for word in NATIONALITIES)


def _commonest_first(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(words, key=lambda word: (-count_of(word), word)))


def tag_of(word: str) -> str | None:
    """The usual tag of a word as it is written, or else in lower case; None for a word that is not in the lexicon."""
    tags = _tag_of_word()
    return tags.get(word) or tags.get(word.lower())


def is_ordinary(word: str) -> bool:
    """Whether the word, in lower case, is a word of the language and no name."""
    tag = _tag_of_word().get(word.lower())
    return tag is not None and not tag.startswith("NNP")


def count_of(word: str) -> int:
    """How often a word, in any case, stands in a million words of books; 0 for one that does not."""
    return _counts().get(word.lower(), 0)


def _is_fit(word: str) -> bool:
    return (
        word.islower()
        and word.isascii()
        and word.isalpha()
        and len(word) >= 3
        and count_of(word) >= MIN_COUNT
        and word not in _UNFIT
        and word not in _NEVER_DRAWN
    )


def _is_fit_name(word: str) -> bool:
    """A name that is no ordinary word at the head of a sentence (*Landscape*)."""
    lower = word.lower()
    return (
        word.istitle()
        and word.isascii()
        and word.isalpha()
        and len(word) >= 3
        and count_of(word) >= MIN_COUNT
        and lower not in _tag_of_word()
        and lower not in _NEVER_DRAWN_NAMES
        and not lower.endswith(_OF_A_PEOPLE)
    )


def _is_fit_closed(word: str) -> bool:
    return (
        word.islower()
        and word.isalpha()
        and len(word) >= 2
        and count_of(word) >= _MIN_COUNT_CLOSED
        and word not in _OUT_OF_PLACE
    )


@lru_cache(maxsize=1)
def _tag_of_word() -> dict[str, str]:
    return {word: tags.partition("|")[0] for word, tags in packaged_tags().items()}


@lru_cache(maxsize=1)
def _counts() -> dict[str, int]:
    pairs = (line.rsplit(" ", 1) for line in packaged_lines("en-spelling.txt"))
    return {word: int(count) for word, count in pairs}

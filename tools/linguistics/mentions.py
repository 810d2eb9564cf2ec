"""Named entities in running text, by capital letters and a few nouns, or by a spaCy pipeline where one is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.words import NOMINAL, Word, capitalised, tag_words

if TYPE_CHECKING:
    from spacy.language import Language

Kind = Literal["person", "maybe_person", "thing", "unknown"]
"""`maybe_person` is a name of two to four words that nothing marks as a thing."""

_LINKS = frozenset({"of", "de", "von", "van", "der", "del", "da", "la", "le", "al", "bin", "the", "for", "&"})
TITLES = word_set(
    """
    mr mrs ms miss dr sir lady lord king queen prince princess president justice judge professor prof captain
    general emperor empress pope saint senator
    """
)
GENERIC_NOUNS = word_set(
    """
    university institute college school academy company corporation bank city town river lake mount mountain prize
    award war battle museum church cathedral court party union kingdom republic empire street bridge act society
    agency department theater theatre festival league cup games island islands sea ocean park county province
    district region foundation council committee ministry commission association laboratory observatory library
    hospital treaty company group band team club station tower castle palace temple states office service press
    house senate parliament lighthouse
    """
)
"""Last words of the names of things; *the Institute* refers to a name that ends so."""

_PLACE_PREPOSITIONS = frozenset({"in", "at", "to", "near", "through", "across"})
_STREETS = word_set("alley avenue boulevard crescent highway motorway road roads roundabout square")
_STREETS_OR_SURNAMES = word_set("close drive field gate green hill lane quay row terrace way")
"""Streets, too, where a number or a word of place stands before them."""
_ALONG = frozenset({"on", "along", "down", "up", "off", "into", "outside", "opposite"})
_OPEN_PLACES = word_set("cape fort new north northern south southern east eastern west western port san santa upper")
"""First words of the names of places."""
_PLACES = word_set(
    """
    area borough canton capital city colony continent country county district hamlet harbour harbor island
    municipality nation neighbourhood neighborhood parish place port province region resort seaport settlement state
    street suburb territory town township valley village
    """
)
_BIDDING = word_set(
    """
    add buy configure connect contact create delete disable download enable install invite learn manage remove reset
    select send sync uninstall update upgrade upload use verify visit
    """
)
"""Words that open a heading or a sentence and are no part of the name after them: *Contact Support*."""
_DEFINED_WITHIN = 5
"""Words after a name that may say of what kind it is: *is a small port*."""
_FEWEST_OF_KIND = 3
_NOT_NAMES = (
    lexicon.NAME_STOP
    | lexicon.NUMBER_WORDS
    | word_set(
        """
    question answer tell who what when where why how give write list describe explain name please provide born
    died first early later life career both many some several most according during after before despite aside apart
    overall
    """
    )
)


@dataclass(frozen=True)
class Mention:
    """`text[start:end]` of the string it was found in names an entity; a leading *the* is part of it."""

    text: str
    start: int
    end: int
    kind: Kind

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its words in lower case without the article."""
        return tuple(name for name in self.text.lower().split() if name != "the")

    @property
    def may_be_person(self) -> bool:
        """Whether its form is that of a person's full name."""
        return self.kind in {"person", "maybe_person"}


@lru_cache(maxsize=4096)
def find_mentions(text: str, nlp: Language | None = None) -> tuple[Mention, ...]:
    """The mentions of one sentence in order. Entities of `nlp` are added, and its types win, where it finds any."""
    words = tag_words(text)
    found: list[Mention] = []
    index = 0
    while index < len(words):
        end = _run_end(words, index)
        if end > index:
            start = index - 1 if index and words[index - 1].lower == "the" else index
            mention = _mention(text, words, start, index, end)
            if mention is not None:
                found.append(mention)
        index = max(end, index + 1)
    return tuple(_with_entities(text, found, nlp))


def _is_name(word: Word) -> bool:
    if word.start == 0 and word.lower in lexicon.OPENING_ADVERBS:
        return False
    return capitalised(word.text) and word.lower not in lexicon.FUNCTION_WORDS and word.word_class != "mark"


def _run_end(words: Sequence[Word], start: int) -> int:
    """End of the run of capitalised words from `start`, links such as *of* and full stops of initials included."""
    end = start
    while end < len(words):
        if _is_name(words[end]) or (end > start and capitalised(words[end].text) and len(words[end].text) == 1):
            end += 1
            if is_genitive(words[end - 1]) and not _names_a_thing(words, end):
                break
            continue
        if end == start:
            break
        follows_initial = words[end].text == "." and len(words[end - 1].text) <= 2
        ahead = end + 1
        if words[end].lower in _LINKS:
            ahead = end + 2 if ahead < len(words) and words[ahead].lower == "the" else ahead
        elif not follows_initial:
            break
        if ahead >= len(words) or not _is_name(words[ahead]):
            break
        end = ahead
    return end


def is_genitive(word: Word) -> bool:
    return word.text.endswith(("'s", "’s"))


def _names_a_thing(words: Sequence[Word], index: int) -> bool:
    """Whether the word makes a longer name of the genitive before it: *Smeaton's Tower*, *St John's College*."""
    return index < len(words) and capitalised(words[index].text) and words[index].lower in GENERIC_NOUNS


def _mention(text: str, words: Sequence[Word], start: int, first: int, end: int) -> Mention | None:
    run = words[first:end]
    is_opening = first == 0 or words[first - 1].text in {".", ":", '"', "“"}
    while run and run[0].lower in _NOT_NAMES and (is_opening or len(run) == 1):
        run, start = run[1:], start + 1
        first = start
    if not run:
        return None
    if is_opening and len(run) > 2 and run[1].lower == "the" and run[0].lower in lexicon.VERBS | _BIDDING:
        run, start = run[2:], first + 1  # *Call the API* bids, and names the API
    elif first == 0 and len(run) > 1 and run[0].lower in _BIDDING:
        run, start = run[1:], first + 1
    start = min(start, end - 1)
    finish = run[-1].end - 2 if is_genitive(run[-1]) else run[-1].end
    kind = _kind(words, start, run, words[end : end + _DEFINED_WITHIN])
    return Mention(text[words[start].start : finish], words[start].start, finish, kind)


def _kind(words: Sequence[Word], start: int, run: Sequence[Word], following: Sequence[Word]) -> Kind:
    names = [word.lower for word in run]
    before = words[start - 1].lower if start else ""
    if before.rstrip(".") in TITLES or names[0] in TITLES:
        return "person"
    if words[start].lower == "the" or any(name in GENERIC_NOUNS or name in {"of", "for", "&"} for name in names):
        return "thing"
    if before in _PLACE_PREPOSITIONS or _is_modifier(run, following) or _is_place(words, start, names, following):
        return "thing"
    if any(word.lower in {"born", "died"} for word in following[:3]):
        return "person"
    return "maybe_person" if 2 <= sum(len(name) > 1 for name in names) <= 4 else "unknown"


def _is_modifier(run: Sequence[Word], following: Sequence[Word]) -> bool:
    """Whether the name only tells of which thing is spoken: *the third Eddystone tower*."""
    return bool(following) and following[0].lower in GENERIC_NOUNS and not is_genitive(run[-1])


def _is_place(words: Sequence[Word], start: int, names: Sequence[str], following: Sequence[Word]) -> bool:
    """Whether a name is that of a street or a place: by its words, those before it, or what it is said to be."""
    before = words[start - 1] if start else None
    has_number = before is not None and before.text[0].isdigit()
    is_along = before is not None and before.lower in _ALONG
    if len(names) > 1 and (names[-1] in _STREETS or names[0] in _OPEN_PLACES):
        return True
    if len(names) > 1 and names[-1] in _STREETS_OR_SURNAMES and (has_number or is_along):
        return True
    is_of_place = start > 1 and words[start - 1].lower == "of" and words[start - 2].lower in _PLACES
    return is_of_place or _is_said_to_be_place(following)


def _is_said_to_be_place(following: Sequence[Word]) -> bool:
    """*Varde is a small port*, *Varde, a port*."""
    if len(following) < _FEWEST_OF_KIND or following[0].lower not in {*lexicon.BE, ","}:
        return False
    noun_phrase: list[str] = []
    for word in following[2:]:
        if word.word_class not in NOMINAL:
            break
        noun_phrase.append(word.lower)
    return following[1].lower in {"a", "an", "the"} and bool(noun_phrase) and noun_phrase[-1] in _PLACES


def _with_entities(text: str, found: list[Mention], nlp: Language | None) -> list[Mention]:
    if nlp is None or not (nlp.has_pipe("ner") or nlp.has_pipe("entity_ruler")):
        return found
    entities = [
        Mention(entity.text, entity.start_char, entity.end_char, "person" if entity.label_ == "PERSON" else "thing")
        for entity in nlp(text).ents
        if entity.label_ not in {"DATE", "TIME", "CARDINAL", "ORDINAL", "QUANTITY", "PERCENT", "MONEY"}
    ]
    kept = [m for m in found if not any(e.start < m.end and m.start < e.end for e in entities)]
    return sorted([*entities, *kept], key=lambda mention: mention.start)

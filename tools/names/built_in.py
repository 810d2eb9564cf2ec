"""A knowledge base of the packaged names. Finds names in a parsed text and lists other names of the same kind."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.metadata import version
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from factloop.tools.names.asked import PERSON, PLACE, asked_for
from factloop.tools.names.base import LinkedEntity, Sibling
from factloop.tools.names.inflection import fitted, fold, lemmas_of
from factloop.tools.names.made_up import GENDERS, gender_of
from factloop.tools.names.packaged import (
    NOUN,
    is_word,
    listed_types,
    packaged_names,
    region_like,
    region_of,
    same_country,
    us_states,
    words_of_types,
)
from factloop.tools.names.table import (
    EntityRow,
    LabelMatch,
    NameTable,
    NewEntity,
    best_matches,
    known_spans,
    write_table,
)
from factloop.tools.text.pipeline import load_pipeline, parse, version_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

RULES = 9
"""Increase this number whenever a change makes the same libraries yield different names."""
_GENERAL_OF_LABEL: Mapping[str, str] = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "group", "WORK_OF_ART": "work",
    "NORP": "nationality", "LANGUAGE": "language", "EVENT": "act", "PRODUCT": "artifact",
}  # fmt: skip
_SURE_LABELS = frozenset({"PERSON", "GPE"})
"""In a sentence, these spaCy labels take precedence over the type that the question asks for."""
_TOO_GENERAL = frozenset({"person", "place", NOUN + "person", *GENDERS})
OCCUPATION = (NOUN + "person", "person", "worker", "occupation")
"""The types of a noun such as *dentist* if the question asks for an occupation, as in the list of occupations."""
CONCRETE = frozenset({"animal", "artifact", "body", "food", "object", "person", "plant", "substance"})
"""Supersenses whose nouns have siblings even if the question does not ask for a type."""
_ENOUGH_OF_A_KIND = 10
"""If the most specific type has at least this many nouns, no broader type is used."""
QUOTED = re.compile(r"(?<!\w)[\"“‘'](?=[^\W_a-z])([^\"“”‘’\n]{2,80}?)[.,!?]?[\"”’'](?!\w)")
_QUANTITIES = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})
_LOADING = Lock()


@cache
def _loaded() -> NameTable:
    names = packaged_names()
    counts = Counter(kind for one in names for kind in one.types)
    types = sorted(counts, key=lambda kind: (-counts[kind], kind))
    ids = {kind: number for number, kind in enumerate(types, start=1)}
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    rows = (
        NewEntity(one.key, one.names[0], one.fame, tuple(ids[kind] for kind in one.types), tuple(map(fold, one.names)))
        for one in names
    )
    write_table(connection, types, rows)
    connection.execute("CREATE INDEX name_by_entity ON name (entity)")
    return NameTable(connection)


def built_in_names() -> NameTable:
    with _LOADING:
        return _loaded()


class BuiltInKnowledgeBase:
    """Links names that are in the table, and other names if spaCy or the question indicates their type.

    Siblings share the type that the question asks for. If it asks for none, siblings of a place share its second most
    general type, siblings of a person are people, and others share one of the two most specific types.
    """

    @cached_property
    def identity(self) -> str:
        return f"built-in {RULES}: Faker-{version('Faker')} {version_of(load_pipeline())}"

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        return _linked(text, question)

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        return tuple(islice(_siblings(entity), max(limit, 0)))


@lru_cache(maxsize=512)
def _linked(text: str, question: str) -> tuple[LinkedEntity, ...]:
    doc, asked = parse(text, load_pipeline()), asked_for(question)
    said = frozenset(form for token in parse(question, load_pipeline()) for form in _forms(token))
    matches = best_matches(one for span in _candidates(doc) if (one := _match(span, asked, said)) is not None)
    names = [one for one in matches if not one.types[0].startswith(NOUN)]
    taken = {token.i for match in matches for token in match.span}
    unknown = [span for span in names_in(doc) if taken.isdisjoint(range(span.start, span.end))]
    spans = (*unknown, *(one.span for one in names))
    open_names = [span for span in spans if any(said.isdisjoint(_forms(token)) for token in span if not token.is_stop)]
    still_asked = frozenset() if any(one.asked for one in names) else asked
    entities = (_unknown(span, still_asked, is_answer=open_names == [span]) for span in unknown)
    wanted = {token.i for match in matches if match.asked for token in match.span}
    found = [*(_known(match, asked, wanted) for match in matches), *(one for one in entities if one is not None)]
    # *Chicago, Illinois* contains *Illinois*.
    kept = (
        one
        for one in found
        if not any(other is not one and other.start <= one.start and one.end <= other.end for other in found)
    )
    return tuple(sorted(kept, key=lambda one: one.start))


def _forms(token: Token) -> tuple[str, str]:
    return token.lower_.strip("."), token.lemma_.lower()


def _candidates(doc: Doc) -> Iterator[Span]:
    table = built_in_names()
    yield from known_spans(doc, table)
    for token in doc:
        if token.tag_ == "NNS":
            for first in range(max(0, token.i - 2), token.i + 1):
                span = doc[first : token.i + 1]
                if table.known([_singular(span)]):
                    yield span


def _singular(span: Span) -> str:
    before = span.text[: len(span.text) - len(span[-1].text)]
    return fold(before + next(lemmas_of(span[-1].lower_, "noun"), span[-1].lower_))


def _match(span: Span, asked: frozenset[str], said: Collection[str]) -> LabelMatch | None:
    """Returns the entity that a span most likely means, judging by the type asked for, spaCy's label and then fame."""
    rows = [row for row in built_in_names().named(span.text) if row.label[-1] == "." or span.text[-1] != "."]
    if span[-1].tag_ == "NNS":
        rows += built_in_names().named(_singular(span))
    label = _GENERAL_OF_LABEL.get(span.root.ent_type_)
    scored = []
    for row in rows:
        types = built_in_names().types_of(row)
        kind = _asked_type(types, asked)
        if kind is None and _is_of_another_kind(span, types, asked):
            continue
        if _is_meant(span, types, said, asked=kind is not None):
            n_asked = (kind is not None) + (kind is not None and not asked.isdisjoint(kind.split()))
            scored.append((n_asked, types[0] == label, row.label == span.text, -row.id, row))
    if not scored:
        return None
    n_asked, *_, row = max(scored)
    return LabelMatch(span, row, built_in_names().types_of(row), n_asked > 0)


def _is_meant(span: Span, types: Sequence[str], said: Collection[str], *, asked: bool) -> bool:
    content = [token for token in span if not token.is_stop and not token.is_punct]
    if not content or any(token.ent_type_ in _QUANTITIES for token in span):
        return False
    alone = _is_alone(span)
    if types[0].startswith(NOUN):
        is_noun = span[-1].pos_ == "NOUN" and span.root.dep_ != "compound"
        fits = span[0].is_sent_start or span.text.islower()
        is_asked = asked and span[-1].pos_ in {"NOUN", "ADJ", "PROPN"}
        return alone or (((fits and is_noun) or is_asked) and not _is_within(span))
    if types[0] == "person" and span.start and span.doc[span.start - 1].lower_ in {"the", "a", "an"}:
        return False
    if alone or _title_around(span) == (span.start_char, span.end_char):
        return True
    if _is_within(span, frozenset().union(*map(_words, types)), said):
        return False
    if types[0] in {"nationality", "language"}:
        return all(token.text[:1].isupper() for token in content)
    capitals = all(token.text[:1].isupper() or not token.is_alpha for token in content)
    named = any(token.pos_ == "PROPN" or token.ent_type_ for token in content)
    ordinary = all(is_word(token.lower_) for token in content)
    return (capitals and named and not (ordinary and span[0].is_sent_start and len(span) == 1)) or (
        not ordinary and (asked or named)
    )


def _is_of_another_kind(span: Span, types: Sequence[str], asked: frozenset[str]) -> bool:
    general, *_ = _by_question(asked, None, is_land=False) or ("",)
    if types[0].startswith(NOUN):
        return general == "person" and span.text[:1].isupper() and span[0].dep_ != "compound"
    is_band = general == "person" and types[0] == "group"
    return bool(general) and general != types[0] and not is_band and _is_alone(span)


def _is_alone(span: Span) -> bool:
    return not any(token.is_alpha and token.pos_ != "DET" and token not in span for token in span.doc)


def _title_around(span: Span) -> tuple[int, int] | None:
    places = _quoted(span.doc.text)
    return next((one for one in places if one[0] <= span.start_char and span.end_char <= one[1]), None)


@lru_cache(maxsize=512)
def _quoted(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span(1) for match in QUOTED.finditer(text))


def _is_within(span: Span, titles: Collection[str] = (), said: Collection[str] = ()) -> bool:
    """Whether the span is only part of a longer name. Titles such as *King* in *King Solomon* do not belong to the
    name, and neither do words after the span that the question contains.
    """
    first, after = span.start, span.end
    while first > 0 and _goes_on(span.doc[first - 1], span.doc[first]):
        first -= 1
    while after < len(span.doc) and _goes_on(span.doc[after - 1], span.doc[after]):
        after += 1
    before = any(token.lower_ not in titles for token in span.doc[first : span.start])
    behind = any(token.lower_ not in said for token in span.doc[span.end : after])
    return before or behind or _title_around(span) not in {None, (span.start_char, span.end_char)}


def _goes_on(token: Token, following: Token) -> bool:
    is_title = token.is_title and not token.is_stop and not token.is_sent_start  # *Saharan Africa*
    if following.pos_ == "PROPN" and (token.pos_ == "PROPN" or is_title):
        return True
    is_content = token.is_alpha and following.is_alpha and token.pos_ != "DET"
    return following.ent_iob_ == "I" and following.ent_type_ not in _QUANTITIES and is_content


@cache
def _words(kind: str) -> frozenset[str]:
    implied = {PLACE, PERSON} & {kind} or {kind.removeprefix(NOUN)}
    return words_of_types().get(kind, frozenset({kind})) | implied


def _asked_type(types: Sequence[str], asked: frozenset[str]) -> str | None:
    """Returns the most specific type asked for. *Bird* also asks for *bird of prey*."""
    heads = {kind: kind.partition(" of ")[0].rpartition(" ")[2].lower() for kind in types}
    fitting = [kind for kind in types if _words(kind) & asked or heads[kind] in asked]
    return next((kind for kind in reversed(fitting) if kind not in _TOO_GENERAL), None)


def is_asked_for(types: Sequence[str], asked: frozenset[str]) -> bool:
    """Whether the question asks for one of these types, such as *person* or *DBpedia:Person*."""
    plain = (re.split(r"[:/#]", kind)[-1].lower() for kind in types)
    return any(_words(kind) & asked for kind in (*types, *plain))


def _known(match: LabelMatch, asked: frozenset[str], wanted: Collection[int]) -> LinkedEntity:
    types = match.types
    if types[0] == OCCUPATION[0] and _words(OCCUPATION[-1]) & asked:
        types = OCCUPATION
    kind = _asked_type(types, asked)
    wished = _by_question(asked, "person", is_land=False) if types[0] == "person" and kind is None else None
    if wished is not None and len(wished) > 1:  # if a minister is asked for, a writer is replaced by other ministers
        kind, types = wished[-1], ("person", *(one for one in types if one in GENDERS), wished[-1])
    kinds = (kind,) if kind is not None else _own_kinds(types)
    doc, start, end = match.span.doc, match.span.start, match.span.end
    if region_of(match.row.uri) is not None:
        end += _n_tokens_of_region(match.span, match.row.uri)
    if types[0].startswith(NOUN):
        while start > 0 and start - 1 not in wanted and _belongs_to_noun(doc[start - 1]):
            start -= 1
    name = doc[start:end]
    return LinkedEntity(name.text, name.start_char, name.end_char, "\t".join((match.row.uri, *kinds)), types)


def _belongs_to_noun(token: Token) -> bool:
    is_compound = token.dep_ == "compound" and token.pos_ == "NOUN"
    return is_compound or "-" in {token.text, token.doc[token.i + 1].text}


def _own_kinds(types: Sequence[str]) -> Sequence[str]:
    if types[0] in {"place", "person"}:
        return types[1:2] if types[0] == "place" else types[:1]
    if types[0].startswith(NOUN) and types[0].removeprefix(NOUN) not in CONCRETE:
        return ()
    special = [kind for kind in types[1:] if kind not in {"person", "organism"}] or [types[0]]
    return special[-1 if _count(special[-1]) >= _ENOUGH_OF_A_KIND else -2 :]


def _n_tokens_of_region(city: Span, uri: str = "") -> int:
    behind = city.doc[city.end : city.end + 6]
    if len(behind) < 2 or behind[0].text != ",":
        return 0
    names = {fold(name) for name in region_of(uri) or () if name}
    fitting = [n for n in range(2, len(behind) + 1) if fold(behind[1:n].text) in names]
    land = next((one for one in city.doc.ents if one.start == city.end + 1 and one.label_ == "GPE"), None)
    return min(fitting, default=len(land) + 1 if land is not None else 0)


def names_in(doc: Doc) -> Iterator[Span]:
    """Yields quoted titles, spaCy's entities with any proper nouns after them, and other runs of proper nouns."""
    taken: set[int] = set()
    for span in _spans_of_names(doc):
        kept = [token.i for token in span if token.pos_ not in {"PART", "PUNCT"} and token.lower_ not in {"a", "an"}]
        is_title = len(span) == 1 and span.end < len(doc) and doc[span.end].ent_type_ == "PERSON"
        if kept and not is_title and taken.isdisjoint(range(span.start, span.end)):
            taken.update(range(span.start, span.end))
            yield doc[kept[0] : kept[-1] + 1]


def _spans_of_names(doc: Doc) -> Iterator[Span]:
    quoted = (doc.char_span(*place) for place in _quoted(doc.text))
    yield from (span for span in quoted if span is not None)
    for start, end in [(one.start, one.end) for one in doc.ents if one.label_ not in _QUANTITIES] + [
        (token.i, token.i + 1) for token in doc if token.pos_ == "PROPN" and not token.ent_type_
    ]:
        while end < len(doc) and doc[end - 1].pos_ == doc[end].pos_ == "PROPN":
            end += 1
        yield doc[start:end]


def _unknown(span: Span, asked: frozenset[str], *, is_answer: bool) -> LinkedEntity | None:
    """The question decides the type if no other name can be its answer. Otherwise, a reliable spaCy label does."""
    label = _GENERAL_OF_LABEL.get(span.root.ent_type_, "")
    is_sure = span.root.ent_type_ in _SURE_LABELS and not is_answer
    if label == "person" and len(span) > 1 and PLACE not in asked:
        is_sure = True
    has_the = "the" in {span[0].lower_, span.doc[span.start - 1].lower_ if span.start else ""}
    fixed = label if is_sure else "group" if (has_the or label == "group") and PERSON in asked else None
    types = _by_head(span) or _by_question(asked, fixed, is_land=span.root.ent_type_ in {"LOC", "FAC"})
    if types is None and (is_sure or (label and not asked and span.root.ent_type_ in _SURE_LABELS)):
        types = ("person",) if label == "person" else ("place", "city")
    if types is None or not span.text[:1].isalnum():
        return None
    gender = gender_of(span.text) if types[0] == "person" else None
    kind, known = types[-1], (types[0], gender, *types[1:]) if gender else types
    if types == ("place", "city"):
        n_tokens = _n_tokens_of_region(span)
        region = span.doc[span.end + 1 : span.end + n_tokens].text
        known = (*types, "city in US") if region in {*us_states(), *us_states().values()} else types
        span = span.doc[span.start : span.end + n_tokens]
    return LinkedEntity(span.text, span.start_char, span.end_char, f"\t{kind}", known)


def _by_head(span: Span) -> tuple[str, ...] | None:
    first, last = span[0].lower_, span[-1].lower_
    heads = [first] if len(span) > 2 and span[1].lower_ == "of" else [last, first]
    kinds = (_kind_called(head) if head == heads[0] else head for head in heads if len(span) > 1)
    return next(((_general_of_type()[kind], kind) for kind in kinds if kind and kind in _general_of_type()), None)


@cache
def _kind_called(noun: str) -> str | None:
    if noun in _general_of_type():
        return noun
    called = [kind for kind, general in _general_of_type().items() if general != "person" and kind in listed_types()]
    return max((kind for kind in called if noun in _words(kind)), key=_count, default=None)


@lru_cache(maxsize=4096)
def _by_question(asked: frozenset[str], label: str | None, *, is_land: bool) -> tuple[str, ...] | None:
    fitting = [
        (len(_asking_for(kind) & asked), kind in listed_types(), _count(kind), kind)
        for kind, general in _general_of_type().items()
        if label in {None, general} and _asking_for(kind) & asked - {PERSON, PLACE}
        if PERSON not in asked or general in {"person", "group"}
    ]
    if fitting:
        kind = max(fitting)[-1]
        return _general_of_type()[kind], kind
    if PERSON in asked and label in {None, "person"}:
        return ("person",)
    return ("place", "city") if PLACE in asked and label in {None, "place"} and not is_land else None


@cache
def _asking_for(kind: str) -> frozenset[str]:
    own = frozenset(kind.split())
    return own | _words(kind) if kind in listed_types() or _general_of_type()[kind] == "person" else own


@cache
def _general_of_type() -> Mapping[str, str]:
    """Maps each type with at least a dozen names to the most general type of these names."""
    general: dict[str, str] = {}
    n_names: Counter[str] = Counter()
    for types, n in built_in_names().sizes():
        if not types[0].startswith(NOUN):
            n_names.update(dict.fromkeys(types, n))
            general.update((kind, types[0]) for kind in types if kind not in general)
    return {kind: general[kind] for kind, n in n_names.items() if n >= 12 and kind not in {*GENDERS, general[kind]}}


def _count(kind: str) -> int:
    return built_in_names().count_of(kind)


def _siblings(entity: LinkedEntity) -> Iterator[Sibling]:
    table, (uri, *kinds) = built_in_names(), entity.key.split("\t")
    if not uri and kinds == ["person"]:
        return  # the occupation is unknown, and people with any other occupation would reveal the answer
    row = table.row_of(uri) if uri else None
    own = row.label if row is not None else entity.name
    barred = _barred(entity, row)
    for shared, sets in _levels(entity.types, tuple(kinds)):
        for other in table.best_known(sets):
            label = _as_named(other, entity, own)
            if label is not None and fold(label) not in barred and _is_another(other, entity, own):
                barred.add(fold(label))
                yield Sibling(label, shared)


def namesakes(name: str) -> frozenset[str]:
    """Returns the folded names of everything that `name` may refer to. For *football*, these include *soccer*."""
    table = built_in_names()
    return frozenset({fold(name), *(other for row in table.named(name) for other in table.names_of(row.id))})


def general_types(name: str) -> list[str]:
    """Returns the most general type, such as *place*, of each thing that may be called `name`, best known first."""
    rows = built_in_names().named(name) or built_in_names().named(next(lemmas_of(name.lower(), "noun"), ""))
    return [built_in_names().types_of(row)[0] for row in rows]


def _barred(entity: LinkedEntity, row: EntityRow | None) -> set[str]:
    own = built_in_names().names_of(row.id) if row is not None else []
    parts = (part.strip() for part in entity.name.split(","))
    same = {entity.name, *parts, *same_country(entity.name)}
    return {*own, *(folded for name in same for folded in namesakes(name))}


def _is_another(other: EntityRow, entity: LinkedEntity, own: str) -> bool:
    if other.label.isupper() != own.isupper():
        return False
    is_general = other.label in entity.types or entity.name in built_in_names().types_of(other)
    return not is_general and (not entity.types[0].startswith(NOUN) or other.label.islower() == own.islower())


@lru_cache(maxsize=512)
def _levels(types: tuple[str, ...], kinds: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], tuple[int, ...]], ...]:
    levels: dict[tuple[str, ...], list[int]] = {}
    for shared, number in built_in_names().sets_sharing(types):
        if built_in_names().sets[number][0] == types[0] and not set(kinds).isdisjoint(shared):
            levels.setdefault(shared, []).append(number)
    weights = {kind: math.log(100_000 / _count(kind)) for kind in types if _count(kind)}
    ordered = sorted(levels, key=lambda shared: (-sum(weights[kind] for kind in shared), shared))
    return tuple((shared, tuple(levels[shared])) for shared in ordered)


def _as_named(other: EntityRow, entity: LinkedEntity, own: str) -> str | None:
    name, comma, region = entity.name.partition(", ")
    if comma:
        place = region_of(other.uri)
        behind = region_like(region, place) if place is not None else None
        return f"{other.label}, {behind}" if behind else None
    if entity.types[0] == "person":
        return fitted(other.label, name, own if own != name else name, is_person=True)
    begins_alike = (other.label[:4].lower() == "the ") == (name[:4].lower() == "the ")
    return other.label if begins_alike or entity.types[0] not in {"group", "work"} else None

"""Writes long responses about an entity and others connected to it, with errors, digressions and repetitions.

Connections to the question are stated once, early or late. Pronouns and short names refer back over paragraphs; some
sections are lists or tables, and some dates come from the previous sentence. Every draft is read back and redrawn if
its whole text leaves anything open.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tests.simulator.discourse import HONORIFICS, KIND_NOUNS, NUMBERS, Reader, asked_about, read_response, tied_to
from tests.simulator.grammar import read_claim
from tests.simulator.relations import RELATIONS, Kind, Pool
from tests.simulator.world import Entity, GoldFact, Label, Passage, Response, Topic, other_value

_WRONG, _IRRELEVANT, _DUPLICATE = 0.25, 0.10, 0.04
_OF_COMPANIONS = 0.35  # share of the facts that are about others whom the response ties to its subject
_TWO_COMPANIONS_FROM = 30
_MOST_OF_ONE = 9
_LATE_TIE, _LIST, _TABLE, _REMARK, _LATER = 0.5, 0.3, 0.35, 0.3, 0.5
_LONGEST_LATER = len(NUMBERS)
_NEAR_MISS = 0.4  # share of the wrong years that are only a few years off
_OPENERS = ("", "", "", "", "Later, ", "In those years, ", "By most accounts, ")
_PRONOUNS = {"She", "He", "It"}
_TITLES = {pronoun: title for title, pronoun in HONORIFICS.items()}

Style = Literal["prose", "list"]


def prompt_about(entity: Entity, calling: str | None = None) -> str:
    named = f"{entity.name}, the {calling}" if calling else entity.name
    return f"Who was {named}?" if entity.kind == "person" else f"What is known about {named}?"


@dataclass(frozen=True)
class Misleading:
    """A wrong statement where a search may find it: in a namesake's article or an older register."""

    callings: Mapping[str, str] = field(default_factory=dict)
    """Of those who have a namesake."""
    values: Mapping[Topic, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _DraftFact:
    """A fact without a sentence yet."""

    topic: Topic
    value: str
    label: Label
    is_duplicate: bool = False

    @property
    def clause(self) -> str:
        return f"{self.topic.said} {self.value}"

    @property
    def names(self) -> frozenset[str]:
        read = read_claim(self.topic.claim(self.value))
        assert read is not None
        return frozenset((read[0], *read[1].names))

    @property
    def year(self) -> int | None:
        return int(self.value) if self.topic.pool == "year" else None


@dataclass(frozen=True)
class _Section:
    """Statements on one entity in one place."""

    entity: Entity
    said: Sequence[_DraftFact]
    style: Style = "prose"


class _Unclear(Exception):
    """The draft is ambiguous even with its whole text."""


class Writer:
    """Writes responses with the given proportions of errors, digressions and repetitions."""

    def __init__(
        self,
        rng: random.Random,
        entities: Mapping[str, Entity],
        topics: Mapping[str, Sequence[Topic]],
        pools: Mapping[Pool, Sequence[str]],
        gold: Mapping[Topic, Passage],
        misleading: Misleading,
    ) -> None:
        self._rng, self._entities, self._topics = rng, entities, topics
        self._pools, self._gold, self._misleading = pools, gold, misleading
        self._written: set[str] = set()

    def response(self, entity: Entity, n_facts: int) -> Response:
        while True:
            try:
                response = self._draft(entity, n_facts)
            except _Unclear:
                continue
            sentences = set(response.sentences)
            if len(sentences) == len(response.sentences) and not sentences & self._written:
                self._written |= sentences
                return response

    def _draft(self, entity: Entity, n_facts: int) -> Response:
        content = _Content(self._rng, self._entities, self._topics, self._pools, self._misleading)
        sections, table = content.sections(entity, n_facts)
        page = _Page(self._rng, entity, self._gold)
        for section in sections:
            page.write(section)
        if table:
            page.tabulate(table)
        prompt = prompt_about(entity, self._misleading.callings.get(entity.name))
        response = page.response(prompt)
        if len(response.facts) != n_facts or not _reads_right(response):
            raise _Unclear
        return response


@dataclass
class _Content:
    """Decides what a response says, and in which order."""

    rng: random.Random
    entities: Mapping[str, Entity]
    topics: Mapping[str, Sequence[Topic]]
    pools: Mapping[Pool, Sequence[str]]
    misleading: Misleading

    def sections(self, entity: Entity, n_facts: int) -> tuple[list[_Section], list[_DraftFact]]:
        """The sections in order, and the facts for a table at the end."""
        n_irrelevant, n_duplicates = round(_IRRELEVANT * n_facts), round(_DUPLICATE * n_facts)
        n_own = n_facts - n_irrelevant - n_duplicates
        ties = self._ties(entity, 2 if n_facts >= _TWO_COMPANIONS_FROM else 1)
        told = self._of_companions(ties, round(_OF_COMPANIONS * n_own))
        main = self._own(entity, ties, n_own - len(told))
        relevant = self._with_errors([*main, *told])
        main, told = relevant[: len(main)], relevant[len(main) :]
        early, late = self._ordered(main, ties)
        middle = len(early) // 2
        companions = [_Section(self.entities[name], of, self._style()) for name, of in _by_subject(told).items()]
        table, companions = self._table(companions)
        parts = [_Section(entity, early[:middle]), *companions[:1], _Section(entity, early[middle:]), *companions[1:]]
        parts.append(_Section(entity, late))
        parts = self._repeating([part for part in parts if part.said], entity, n_duplicates)
        return self._digressing(parts, entity, n_irrelevant, relevant), table

    def _ties(self, entity: Entity, number: int) -> dict[str, Topic]:
        """Topics that name another person, by that name."""
        candidates = list(self.topics[entity.name])
        self.rng.shuffle(candidates)
        ties: dict[str, Topic] = {}
        for topic in sorted(candidates, key=lambda one: self.rng.random() < 0.5 and not _names_person(one)):
            name = topic.key if topic.key in self.entities else topic.value if topic.value in self.entities else None
            if name is not None and name not in ties and self._may_join(name, entity) and len(ties) < number:
                ties[name] = topic
        if len(ties) < number:
            raise _Unclear
        return ties

    def _may_join(self, name: str, entity: Entity) -> bool:
        """Whether a response about `entity` may mention this one: another, with a unique name."""
        return name != entity.name and name not in self.misleading.callings

    def _of_companions(self, ties: Mapping[str, Topic], number: int) -> list[_DraftFact]:
        told: list[_DraftFact] = []
        for place, name in enumerate(ties):
            wanted = min((number - len(told)) // (len(ties) - place), _MOST_OF_ONE, len(self.topics[name]))
            told += [_true(topic) for topic in self.rng.sample(self.topics[name], wanted)]
        return told

    def _own(self, entity: Entity, ties: Mapping[str, Topic], number: int) -> list[_DraftFact]:
        others = [topic for topic in self.topics[entity.name] if topic not in ties.values()]
        chosen = [*ties.values(), *self.rng.sample(others, number - len(ties))]
        return [_true(topic) for topic in chosen]

    def _with_errors(self, said: Sequence[_DraftFact]) -> list[_DraftFact]:
        """Adds errors, but not to ties, since another value would tie another person."""
        may_err = [place for place, one in enumerate(said) if one.topic.value not in self.entities]
        wrong = set(self.rng.sample(may_err, min(len(may_err), round(_WRONG * len(said)))))
        return [self._wrong(one.topic) if place in wrong else one for place, one in enumerate(said)]

    def _wrong(self, topic: Topic) -> _DraftFact:
        """Usually the value that something misleading states, or one that is nearly right."""
        value = self.misleading.values.get(topic)
        if value is None and topic.pool == "year" and self.rng.random() < _NEAR_MISS:
            value = str(int(topic.value) + self.rng.choice((-3, -2, -1, 1, 2, 3)))
        if value is None:
            value = other_value(self.rng, self.pools[topic.pool], {topic.value, topic.subject, topic.key})
        return _DraftFact(topic, value, "not_supported")

    def _ordered(self, main: list[_DraftFact], ties: Mapping[str, Topic]) -> tuple[list[_DraftFact], list[_DraftFact]]:
        """The facts before and after the last companion; each tie comes at the very beginning or end."""
        of_ties = [one for one in main if one.topic in ties.values()]
        others = [one for one in main if one.topic not in ties.values()]
        self.rng.shuffle(others)
        late_ties = [one for one in of_ties if self.rng.random() < _LATE_TIE]
        early_ties = [one for one in of_ties if one not in late_ties]
        cut = 2 * len(others) // 3
        return [*others[:1], *early_ties, *others[1:cut]], [*others[cut:], *late_ties]

    def _style(self) -> Style:
        return "list" if self.rng.random() < _LIST else "prose"

    def _table(self, companions: list[_Section]) -> tuple[list[_DraftFact], list[_Section]]:
        """The statements on one companion that fit in columns, and the companions without any."""
        for number, section in enumerate(companions):
            plain = [one for one in section.said if not one.topic.key]
            if len(plain) >= 2 and self.rng.random() < _TABLE:
                rest = replace(section, said=[one for one in section.said if one not in plain])
                return plain, [*companions[:number], rest, *companions[number + 1 :]]
        return [], companions

    def _repeating(self, parts: list[_Section], entity: Entity, number: int) -> list[_Section]:
        """Repeats, in the subject's last section, what earlier ones said."""
        *before, last = parts
        earlier = [one for part in before if part.entity == entity for one in part.said]
        repeated = [replace(one, is_duplicate=True) for one in self.rng.sample(earlier, number)]
        return [*before, replace(last, said=[*last.said, *repeated])]

    def _digressing(
        self, parts: list[_Section], entity: Entity, number: int, relevant: Sequence[_DraftFact]
    ) -> list[_Section]:
        """Facts about strangers without a connection to the subject."""
        taken = set().union(*(one.names for one in relevant), {entity.name})
        strangers: list[_DraftFact] = []
        for name in self.rng.sample(list(self.topics), len(self.topics)):
            topic = self.rng.choice(self.topics[name])
            said = replace(self._wrong(topic) if self.rng.random() < _WRONG else _true(topic), label="irrelevant")
            if self._may_join(name, entity) and taken.isdisjoint(said.names) and len(strangers) < number:
                strangers.append(said)
                taken |= said.names
        prose = [place for place, part in enumerate(parts) if part.style == "prose"]
        for stranger in strangers:
            place = self.rng.choice(prose)
            among = [*parts[place].said]
            among.insert(self.rng.randint(1, len(among)), stranger)
            parts[place] = replace(parts[place], said=among)
        return parts


class _Page:
    def __init__(self, rng: random.Random, entity: Entity, gold: Mapping[Topic, Passage]) -> None:
        self._rng, self._entity, self._gold = rng, entity, gold
        self._reader = Reader()
        self._blocks: list[str] = []
        self._sentences: list[str] = []
        self._facts: list[GoldFact] = []
        self._introduced: set[str] = set()
        if rng.random() < _REMARK:
            self._add(f"Here is what is known about {entity.name}:")

    def write(self, section: _Section) -> None:
        if section.style == "list":
            self._list(section)
        else:
            self._paragraph(section)

    def tabulate(self, said: Sequence[_DraftFact]) -> None:
        """Adds one row, each column headed by what its cell states."""
        headings = [one.topic.said[:1].upper() + one.topic.said[1:] for one in said]
        subject = said[0].topic.subject
        row = " | ".join((subject, *(one.value for one in said)))
        self._add(f"| Name | {' | '.join(headings)} |\n|{' --- |' * (len(said) + 1)}\n| {row} |")
        self._state(row, subject, said)

    def response(self, prompt: str) -> Response:
        if self._rng.random() < _REMARK:
            self._add("I hope this helps!")
        text = "\n\n".join(self._blocks)
        return Response(prompt, self._entity.name, text, tuple(self._sentences), tuple(self._facts))

    def _add(self, block: str) -> None:
        self._blocks.append(block)
        self._reader.read(f"{block}\n\n")

    def _list(self, section: _Section) -> None:
        heading = f"## {section.entity.name}"
        self._introduced.add(section.entity.name)
        items = []
        for group in _groups(self._rng, section.said):
            item = _listed([one.clause for one in group])
            self._state(item, "", group)
            items.append(f"- {item}")
        self._add(f"{heading}\n\n" + "\n".join(items))

    def _paragraph(self, section: _Section) -> None:
        sentences: list[str] = []
        for number, group in enumerate(self._dated_groups(section.said)):
            sentence = self._sentence(section.entity, group, first=number == 0)
            sentences.append(sentence)
        self._blocks.append(" ".join(sentences))
        self._reader.read("\n")

    def _dated_groups(self, said: Sequence[_DraftFact]) -> Iterator[Sequence[_DraftFact]]:
        """Groups of two to four; sometimes one more alone, dated by the year that ends the previous group."""
        first, second = _years_apart(said) if self._rng.random() < _LATER else (None, None)
        rest = [one for one in said if one not in (first, second)]
        groups = list(_groups(self._rng, rest))
        if first is not None and second is not None:
            groups.append([first])
            groups.append([second])
        return iter(groups)

    def _sentence(self, entity: Entity, group: Sequence[_DraftFact], *, first: bool) -> str:
        """Clear to a reader of everything before it. Raises _Unclear."""
        ordered = sorted(group, key=lambda one: one.label == "irrelevant")
        for spoken in self._forms(entity, first=first):
            for sentence in self._wordings(spoken, ordered):
                reader = self._reader.copy()
                read = reader.read(sentence)
                claims = [one.claim for said in read for one in said.statements]
                if len(read) == 1 and claims == [one.topic.claim(one.value) for one in ordered]:
                    self._reader = reader
                    self._introduced.add(entity.name)
                    self._state(sentence, spoken, ordered)
                    return sentence
        raise _Unclear

    def _wordings(self, spoken: str, group: Sequence[_DraftFact]) -> Iterator[str]:
        year, (only, *more) = self._reader.year, group
        if not more and only.year is not None and only.topic.key and year is not None:
            after = only.year - year
            said = only.topic.said.removesuffix(" in")
            if only.topic.said.endswith(" in") and 0 <= after <= _LONGEST_LATER:
                plural = "" if after == 1 else "s"
                when = f"{NUMBERS[after - 1].capitalize()} year{plural} later" if after else "In the same year"
                yield f"{when} {_inside(spoken)} {said}."
        opener = self._rng.choice(_OPENERS) if self._sentences else ""
        yield _worded(opener, spoken, group)

    def _forms(self, entity: Entity, *, first: bool) -> Iterator[str]:
        """Ways to refer to an entity, the shortest first; the last is always clear."""
        if entity.name in self._introduced:
            if not first or self._rng.random() < 0.6:
                yield entity.pronoun
            yield _short(entity)
            yield entity.name
        elif entity.kind == "person":
            yield f"{_TITLES[entity.pronoun]} {entity.name}"
        else:
            yield entity.name

    def _state(self, sentence: str, spoken: str, group: Sequence[_DraftFact]) -> None:
        self._sentences.append(sentence.strip("| "))
        self._facts += (self._gold_fact(sentence.strip("| "), spoken, one) for one in group)

    def _gold_fact(self, sentence: str, spoken: str, one: _DraftFact) -> GoldFact:
        claim = one.topic.claim(one.value)
        own = f"{spoken} {one.clause}." if spoken else f"{one.clause[:1].upper()}{one.clause[1:]}."
        if spoken and one.clause not in sentence and one.label != "irrelevant" and " | " not in sentence:
            own = sentence  # its year is that of the sentence before, or some years later
        return GoldFact(
            sentence=sentence,
            text=claim if one.label == "irrelevant" else own,
            self_contained=claim,
            subject=one.topic.subject,
            label=one.label,
            is_true=one.value == one.topic.value,
            gold=self._gold[one.topic],
            topic=one.topic,
            is_duplicate=one.is_duplicate,
        )


def _reads_right(response: Response) -> bool:
    """Whether a reader of the whole finds every fact, its subject, and who is connected to the question."""
    found = [(said.text, one.text, one.claim) for said in read_response(response.text) for one in said.statements]
    if found != [(fact.sentence, fact.text, fact.self_contained) for fact in response.facts]:
        return False
    ties = tied_to(response.subject, response.text)
    is_asked = asked_about(response.prompt, response.text) == response.subject
    return is_asked and all((fact.subject in ties) == (fact.label != "irrelevant") for fact in response.facts)


def _true(topic: Topic) -> _DraftFact:
    return _DraftFact(topic, topic.value, "supported")


def _names_person(topic: Topic) -> bool:
    pools = {
        relation.said: (relation.value, relation.key) for relations in RELATIONS.values() for relation in relations
    }
    return any("person" in pool for said, pool in pools.items() if said.replace("{key}", topic.key) == topic.said)


def _by_subject(said: Sequence[_DraftFact]) -> dict[str, list[_DraftFact]]:
    found: dict[str, list[_DraftFact]] = {}
    for one in said:
        found.setdefault(one.topic.subject, []).append(one)
    return found


def _years_apart(said: Sequence[_DraftFact]) -> tuple[_DraftFact | None, _DraftFact | None]:
    """Two facts a few years apart, of which the second does not need its own year."""
    for first in said:
        for second in said:
            if first.year is None or second.year is None or first == second or not second.topic.key:
                continue
            dated = second.topic.said.endswith(" in") and second.label != "irrelevant" != first.label
            if dated and 0 <= second.year - first.year <= _LONGEST_LATER:
                return first, second
    return None, None


def _groups(rng: random.Random, said: Sequence[_DraftFact]) -> Iterator[Sequence[_DraftFact]]:
    """Facts of one sentence each: 2 to 4, about 3 on average, adding up exactly."""
    left = list(said)
    while len(left) > 4:
        size = min(rng.choices((2, 3, 4), (18, 50, 32))[0], len(left) - 2)
        yield left[:size]
        left = left[size:]
    if left:
        yield left


def _short(entity: Entity) -> str:
    if entity.kind == "person":
        return entity.name.split()[-1]
    last = entity.name.split()[-1]
    nouns: dict[Kind, str] = {kind: noun for noun, kind in KIND_NOUNS.items() if kind != "institute"}
    return f"The {last if entity.kind == 'institute' else nouns[entity.kind]}"


def _worded(opener: str, spoken: str, said: Sequence[_DraftFact]) -> str:
    own = [item.clause for item in said if item.label != "irrelevant"]
    others = [f"{item.topic.subject} {item.clause}" for item in said if item.label == "irrelevant"]
    if not own:
        return f"{_listed(others)}."
    main = f"{opener}{_inside(spoken) if opener else spoken} {_listed(own)}"
    return f"{main}, while {_listed(others)}." if others else f"{main}."


def _inside(spoken: str) -> str:
    return spoken[:1].lower() + spoken[1:] if spoken in _PRONOUNS or spoken.startswith("The ") else spoken


def _listed(clauses: Sequence[str]) -> str:
    *before, last = clauses
    return f"{', '.join(before)} and {last}" if before else last

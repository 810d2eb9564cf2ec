"""Reads what each sentence of a response states, about whom, and who is connected with whom.

It sees only the shown text. A pronoun whose referent is not shown gets the next person at hand, and a hidden tie to the
question is missed. So prompts that hide something fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache

from tests.simulator.grammar import NAME, Clause, names_in, read_claim, read_clauses, read_undated, relation_of_heading
from tests.simulator.relations import Kind

HONORIFICS = {"Dame": "She", "Sir": "He"}
"""Before a person's name where it is first told; they say who *she* and *he* are."""
KIND_NOUNS: dict[str, Kind] = {
    "College": "institute",
    "Academy": "institute",
    "House": "institute",
    "Society": "institute",
    "town": "town",
    "river": "river",
    "ship": "ship",
    "book": "work",
}
"""*The College* is the institute of that name spoken of last, *the ship* the last ship."""
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_OPENER = re.compile(r"(?:(?:Later|In those years|By most accounts), )?")
_LATER = re.compile(rf"(?P<number>{'|'.join(word.capitalize() for word in NUMBERS)}) years? later |In the same year ")
_SUBJECT = re.compile(
    rf"[Tt]he (?P<noun>{'|'.join(KIND_NOUNS)})\b|(?P<pronoun>[Ss]he|[Hh]e|[Ii]t)\b"
    rf"|(?:(?P<title>{'|'.join(HONORIFICS)}) )?(?P<name>{NAME.pattern})"
)
_WHILE = re.compile(r", while ")
_AND = re.compile(r",? and ")
_YEAR = re.compile(r"\b\d{4}\b")
_HEADING = re.compile(r"#+ +(?P<text>.+)|\*\*(?P<bold>[^*]+)\*\*:?")
_MARKER = re.compile(r"(?:[-*] |\d+\. )")
_SENTENCE = re.compile(r"[^.!?]+(?:[.!?](?!\s|$)[^.!?]*)*(?:[.!?]+|$)")
_TITLES = re.compile(rf"\b(?:{'|'.join(HONORIFICS)}) ")
_ASKING = re.compile(r"^\s*(?:Who|What|Which|Please|Tell)\b")
_RULE = re.compile(r"[|\s:-]+$")


@dataclass(frozen=True)
class Statement:
    subject: str | None
    """In full; None where the text leaves it open."""
    clause: Clause
    text: str
    """As the sentence has it, by itself."""

    @property
    def claim(self) -> str:
        """Self-contained, as far as possible."""
        return f"{self.subject} {self.clause.said}." if self.subject else self.text


@dataclass(frozen=True)
class StatedSentence:
    text: str
    statements: tuple[Statement, ...]


@dataclass
class Memory:
    subjects: list[tuple[Kind, str]] = field(default_factory=list)
    """In the place of a subject, or of a heading, the last one last."""
    named: list[str] = field(default_factory=list)
    genders: dict[str, str] = field(default_factory=dict)
    section: str | None = None
    year: int | None = None
    columns: list[str] = field(default_factory=list)

    def speak_of(self, kind: Kind, name: str) -> None:
        self.subjects.append((kind, name))


class Reader:
    def __init__(self) -> None:
        self._memory = Memory()

    def copy(self) -> Reader:
        """A reader that has read the same text and may continue differently."""
        other = Reader()
        other._memory = deepcopy(self._memory)
        return other

    @property
    def year(self) -> int | None:
        """The last year that a sentence named."""
        return self._memory.year

    def read(self, text: str) -> list[StatedSentence]:
        said: list[StatedSentence] = []
        for line in text.splitlines():
            body = line.strip()
            if not body:
                self._memory.columns = []
            elif (heading := _HEADING.fullmatch(body)) is not None:
                _head(heading["text"] or heading["bold"], self._memory)
            elif body.startswith("|") or " | " in body:
                said += _row(body, self._memory)
            else:
                said += _line(body, self._memory)
        return said


@lru_cache(maxsize=512)
def read_response(text: str) -> tuple[StatedSentence, ...]:
    """Takes linear time, and is cached because many prompts show the same text."""
    return tuple(Reader().read(text))


def read_sentence(shown: str, sentence: str, above: str = "") -> StatedSentence:
    """Reads a sentence in the context of the shown part of its response.

    If it occurs more than once, the first one after the last line of `above` is meant.
    """
    places = [said for said in read_response(shown) if said.text == sentence]
    if places:
        line = re.escape(above.splitlines()[-1]) if above else ""
        before = (re.search(rf"^\W*{line}\W*$", shown, re.MULTILINE) or re.search(line, shown)) if line else None
        earlier = read_response(shown[: before.end()]) if before else ()
        return places[min(sum(said.text == sentence for said in earlier), len(places) - 1)]
    last = read_response(f"{shown}\n{sentence}")[-1:]
    return last[0] if last and last[0].text == sentence else StatedSentence(sentence, ())


def tied_to(name: str, shown: str) -> frozenset[str]:
    """The names that the text's statements connect with `name`, directly or indirectly."""
    return _ties(name, read_response(shown))


@lru_cache(maxsize=512)
def _ties(name: str, said: Sequence[StatedSentence]) -> frozenset[str]:
    groups: list[set[str]] = []
    for one in said:
        for statement in one.statements:
            names = {*([statement.subject] if statement.subject else []), *statement.clause.names}
            apart = [group for group in groups if group.isdisjoint(names)]
            groups = [*apart, names.union(*(group for group in groups if not group.isdisjoint(names)))]
    return frozenset(next((group for group in groups if name in group), {name}))


def resolve_alone(fact: str, shown: str, sentence: str = "") -> str:
    """A fact with its full subject, taken from the sentence that states it.

    If several sentences state it in these words, `sentence` decides.
    """
    for said in sorted(read_response(shown), key=lambda one: one.text != sentence):
        for statement in said.statements:
            if statement.text == fact:
                return statement.claim
    if read_claim(fact) is not None:
        return fact
    alone = read_sentence(shown, fact).statements
    return alone[0].claim if alone else fact


def _head(heading: str, memory: Memory) -> None:
    named = next(names_in(heading), None) if NAME.fullmatch(heading) else None
    memory.section = named[1] if named else None
    if named:
        memory.speak_of(*named)
        memory.named.append(named[1])


def _row(body: str, memory: Memory) -> Iterator[StatedSentence]:
    if _RULE.fullmatch(body):
        return
    cells = [cell.strip() for cell in body.strip("|").split("|")]
    if not memory.columns:
        memory.columns = cells
        return
    text, subject = body.strip("| "), cells[0]
    memory.named.append(subject)
    cells_by_heading = zip(memory.columns[1:], cells[1:], strict=False)
    related = [(relation_of_heading(heading), value) for heading, value in cells_by_heading]
    clauses = [Clause(relation, "", value) for relation, value in related if relation is not None]
    yield StatedSentence(text, tuple(Statement(subject, clause, f"{subject} {clause.said}.") for clause in clauses))


def _line(body: str, memory: Memory) -> Iterator[StatedSentence]:
    marker = _MARKER.match(body)
    is_item = marker is not None
    for found in _SENTENCE.finditer(body, marker.end() if marker else 0):
        text = found[0].strip()
        if any(character.isalnum() for character in text):
            yield _sentence(text, memory, is_item=is_item)


def _sentence(text: str, memory: Memory, *, is_item: bool) -> StatedSentence:
    opener = _OPENER.match(text)
    start = opener.end() if opener else 0
    statements: list[Statement] = []
    if later := _LATER.match(text, start):
        statements = _dated(text, later, memory)
    elif (is_item or text[:1].islower()) and (clauses := read_clauses(text, start)[0]):
        statements = [Statement(memory.section, clause, f"{_capital(clause.said)}.") for clause in clauses]
    else:
        statements = list(_main(text, start, memory))
    years = _YEAR.findall(text)
    memory.year = int(years[-1]) if years else memory.year
    memory.named += [name for _, name in names_in(_TITLES.sub("", text))]
    return StatedSentence(text, tuple(statements))


def _main(text: str, start: int, memory: Memory) -> Iterator[Statement]:
    """Statements on the subject, then on others after *while*."""
    position = start
    while subject := _SUBJECT.match(text, position):
        clauses, end = read_clauses(text, subject.end() + 1)
        if not clauses:
            return
        name = _whom(subject, memory)
        yield from (Statement(name, clause, f"{_capital(subject[0])} {clause.said}.") for clause in clauses)
        joint = _WHILE.match(text, end) or _AND.match(text, end)
        if joint is None:
            return
        position = joint.end()


def _dated(text: str, later: re.Match[str], memory: Memory) -> list[Statement]:
    """*Three years later she received the Mufir Laurel.*"""
    subject = _SUBJECT.match(text, later.end())
    found = read_undated(text, subject.end() + 1) if subject else None
    if subject is None or found is None:
        return []
    relation, key, _ = found
    after = NUMBERS.index(later["number"].lower()) + 1 if later["number"] else 0
    name = _whom(subject, memory)
    if memory.year is None:
        return [Statement(None, Clause(relation, key, ""), text)]
    memory.year += after
    return [Statement(name, Clause(relation, key, str(memory.year)), text)]


def _whom(subject: re.Match[str], memory: Memory) -> str | None:
    """Who a subject refers to, given what came before."""
    if subject["pronoun"]:
        return _by_pronoun(subject["pronoun"].capitalize(), memory)
    if subject["noun"]:
        return _by_noun(subject["noun"], memory)
    kind, name = next(names_in(subject["name"]))
    if kind == "town" and (full := _by_surname(name, memory)) is not None:
        kind, name = "person", full
    if subject["title"]:
        memory.genders[name] = HONORIFICS[subject["title"]]
    memory.speak_of(kind, name)
    return name


def _by_pronoun(pronoun: str, memory: Memory) -> str | None:
    if pronoun == "It":
        return next((name for kind, name in reversed(memory.subjects) if kind != "person"), None)
    persons = [name for kind, name in memory.subjects if kind == "person"]
    sure = [name for name in persons if memory.genders.get(name) == pronoun]
    # Without a title it may be any person: a hasty reader takes the one named last.
    guessed = [name for name in persons if name not in memory.genders]
    return next(iter([*sure[-1:], *guessed[-1:]]), None)


def _by_noun(noun: str, memory: Memory) -> str | None:
    kind = KIND_NOUNS[noun]
    for of, name in reversed(memory.subjects):
        if of == kind and (kind != "institute" or name.endswith(f" {noun}")):
            memory.speak_of(kind, name)
            return name
    return None


def _by_surname(name: str, memory: Memory) -> str | None:
    return next((full for full in reversed(memory.named) if full.endswith(f" {name}") and full.count(" ") == 1), None)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def asked_about(question: str, shown: str) -> str | None:
    """The name in a question that the shown text mentions, or else the first name; None without any."""
    said = (statement for one in read_response(shown) for statement in one.statements)
    told = {name for one in said for name in (one.subject, *one.clause.names)}
    names = [name for _, name in names_in(_ASKING.sub("", question))]
    return next((name for name in names if name in told), next(iter(names), None))

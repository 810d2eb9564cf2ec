"""Generates distractors in the paper's order of targets and substitutes (section 2.1, appendix A.5.1).

There are four departures from the paper. A target is replaced in full. Targets of one level take turns, so that no
single word uses up all distractors. Dates and numbers have their own source, before the vocabulary. There are fewer
distractors if the sources run out, because a word of another kind would reveal the answer.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from factloop.agents.trustscore.distractors.base import Request, Substitute, SubstituteSource, Target
from factloop.agents.trustscore.distractors.form import Insertion, insert
from factloop.agents.trustscore.distractors.sources import KnowledgeBaseSource
from factloop.agents.trustscore.distractors.targets import TargetOrder, find_tiers
from factloop.agents.trustscore.records import Distractor, DistractorSet, Source
from factloop.core.errors import ConfigError, FactloopError, ToolError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.names.base import LinkedEntity
from factloop.tools.names.inflection import lemmas

if TYPE_CHECKING:
    from factloop.agents.trustscore.distractors.proposed import ModelProposer

_HALF = re.compile("[\ud800-\udfff]")
"""Matches lone surrogates, which some libraries cannot handle."""
_SPARE = 12


async def generate_distractors(
    question: str,
    response: str,
    *,
    wanted: int,
    sources: Sequence[SubstituteSource],
    seed: int,
    order: TargetOrder = "asked",
    proposer: ModelProposer | None = None,
    references: Sequence[str] = (),
    meter: UsageMeter | None = None,
) -> DistractorSet:
    """Generates up to `wanted` distinct distractors, best first. There are fewer if the sources run out.

    For each tier of targets, the sources are queried in order until there are enough distractors. A source that fails
    is noted and not queried again. A `proposer` is called once, before all sources, and its usage is recorded in
    `meter`. Its proposals come first and must not state any of the known right answers (`references`). Other
    substitutes are not compared with the references, so that scores without a proposer do not depend on them, as in the
    paper. The same arguments and source results give the same set. Raises ConfigError.
    """
    rng = random.Random(f"{seed}\n{question}\n{response}".encode(errors="surrogatepass"))
    work = _Work(_HALF.sub("\ufffd", question), _HALF.sub("\ufffd", response), wanted, references, rng)
    if wanted > 0:
        linked = [entity for source in sources for entity in await work.linked_by(source)]
        tiers = find_tiers(work.question, work.response, linked, order)
        steps = [(source, tier) for tier in tiers for source in sources]
        if proposer is not None:
            targets = [target for tier in tiers for target in tier]
            proposed = await work.proposed_by(proposer, targets, meter or UsageMeter())
            steps = [(source, tier) for source in proposed for tier in tiers] + steps
        for source, tier in steps:
            if len(work.found) < wanted:
                await work.use(source, tier)
    return DistractorSet(
        question=question,
        response=response,
        wanted=wanted,
        distractors=tuple(work.found),
        notes=tuple(work.notes),
        seed=seed,
    )


class _Work:
    def __init__(
        self, question: str, response: str, wanted: int, references: Sequence[str], rng: random.Random
    ) -> None:
        self.question, self.response = question, response
        self.found: list[Distractor] = []
        self.notes: list[str] = []
        self._wanted, self._references = wanted, references
        self._request = Request(response, question, wanted + _SPARE, rng)
        self._sieve = Sieve(question, response)
        self._failed: list[SubstituteSource] = []

    async def linked_by(self, source: SubstituteSource) -> Sequence[LinkedEntity]:
        if isinstance(source, KnowledgeBaseSource):
            try:
                return await source.link(self.response, self.question)
            except ToolError as error:
                self._give_up(source, error)
        return ()

    async def proposed_by(
        self, proposer: ModelProposer, targets: Sequence[Target], meter: UsageMeter
    ) -> Sequence[SubstituteSource]:
        try:
            return [await proposer.propose(self.question, self.response, targets, meter=meter)]
        except ConfigError:
            raise
        except FactloopError as error:
            self.notes.append(f"the model proposed no distractors ({error}), so the next source was used")
            return ()

    async def use(self, source: SubstituteSource, targets: Sequence[Target]) -> None:
        offers: list[list[tuple[Target, Substitute]]] = []
        for target in targets if source not in self._failed else ():
            try:
                found = await source.substitutes(target, self._request)
            except ToolError as error:
                self._give_up(source, error)
                break
            offers.append([(target, substitute) for substitute in found])
        for turn in zip_longest(*offers):
            for target, substitute in filter(None, turn):
                if len(self.found) < self._wanted:
                    self._add(target, substitute)

    def _give_up(self, source: SubstituteSource, error: ToolError) -> None:
        self._failed.append(source)
        is_dbpedia = isinstance(source, KnowledgeBaseSource) and source.source is Source.DBPEDIA
        named = "DBpedia" if is_dbpedia else source.name
        self.notes.append(f"{named} did not answer ({error}), so the next source was used")

    def _add(self, target: Target, substitute: Substitute) -> None:
        inserted = insert(self.response, target, substitute.text)
        if substitute.source is Source.MODEL and says_reference(self._references, self.response, inserted):
            return
        if self._sieve.admits(inserted):
            distractor = Distractor(
                text=inserted.text,
                replaced=self.response[inserted.start : inserted.end],
                span=(inserted.start, inserted.end),
                by=inserted.by,
                level=target.level,
                source=substitute.source,
                detail=substitute.detail,
            )
            self.found.append(distractor)


_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+|\d")
_ARTICLES = frozenset({"a", "an", "the"})
_MAX_PHRASE = 12

Words = tuple[str, ...]


def normalised(text: str) -> Words:
    """Returns the words in lowercase, without accents, punctuation and articles."""
    plain = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one)).casefold()
    return _without_articles(tuple(_WORD.findall(plain.replace("'s", "").replace("’s", ""))))


def _without_articles(words: Words) -> Words:
    return tuple(word for word in words if word not in _ARTICLES) or words


class Sieve:
    """Accepts texts that differ from the response, the question and all texts accepted before.

    Rejects a text that contains the response or is contained in it, a substitute that occurs elsewhere in the response
    or question, and any form or part of the original or of another substitute at the same position. Takes linear time
    in the number of candidates.
    """

    def __init__(self, question: str, response: str) -> None:
        self._response = response
        own, asked = normalised(response), normalised(question)
        self._own_text = _padded(own)
        self._said = _padded(_lemmas(own)), _padded(_lemmas(asked))
        self._texts: set[Words] = {own, asked}
        self._places: dict[tuple[int, int], _Place] = {}

    def admits(self, inserted: Insertion) -> bool:
        """Whether the text is a new distractor. If so, it is added to those that later texts must differ from."""
        start, end, by = inserted.start, inserted.end, normalised(inserted.by)
        if (start, end) not in self._places:
            self._places[start, end] = _Place(self._response, start, end)
        place, forms = self._places[start, end], _lemmas(by)
        text = _without_articles(place.before + by + place.after)
        padded = _padded(text)
        is_nested = padded in self._own_text or self._own_text in padded
        is_said = any(_padded(forms) in said for said in self._said)
        if not by or text in self._texts or is_nested or is_said or place.has(forms):
            return False
        self._texts.add(text)
        place.add(forms)
        return True


class _Place:
    def __init__(self, response: str, start: int, end: int) -> None:
        self.before, self.after = normalised(response[:start]), normalised(response[end:])
        self._wholes: set[Words] = set()
        self._parts: set[Words] = set()
        self.add(_lemmas(normalised(response[start:end])))

    def has(self, forms: Words) -> bool:
        return forms in self._parts or any(part in self._wholes for part in _phrases(forms))

    def add(self, forms: Words) -> None:
        self._wholes.add(forms)
        self._parts.update(_phrases(forms))


def says_reference(references: Sequence[str], response: str, inserted: Insertion) -> bool:
    """Whether a substitute states a right answer, which the model that proposes distractors may know.

    The substitute may equal an answer, contain one, be part of one, or complete one in the response.
    """
    words, whole, before = (_padded(normalised(text)) for text in (inserted.by, inserted.text, response))
    answers = (_padded(found) for answer in references if (found := normalised(answer)))
    return any(one in words or words in one or (one in whole and one not in before) for one in answers)


def _lemmas(words: Words) -> Words:
    return tuple(min(lemmas(word), key=lambda form: (len(form), form)) for word in words)


def _phrases(words: Words) -> Iterator[Words]:
    words = words[:_MAX_PHRASE]
    return (words[start:end] for start in range(len(words)) for end in range(start + 1, len(words) + 1))


def _padded(words: Words) -> str:
    return f" {' '.join(words)} "

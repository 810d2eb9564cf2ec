"""What a competent model answers to each structured question. Pure: a prompt in, fields out.

A title is added by writing a method and naming it in `_HANDLERS`. Rationales are as long as real ones, since their
tokens are paid for in time and money.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulator.blocks import Blocks
from tests.simulator.knowledge import LONGEST_CLAIM, ReadClaim, is_statement, next_query, read_claim, weigh
from tests.simulator.prompting import propose_prompts
from tests.simulator.settings import SimulatorSettings
from tests.simulator.subject import Choice, LetteredOption, Subject, read_options
from tests.simulator.world import World

Fields = Mapping[str, Any]

CHOICE = "McqAnswer"
"""The title whose answer is a letter."""
UNKNOWN = "I can only speak about the Open Almanac and those who stand in it."

_RELATIONS = {"supported": "support", "contradicted": "contradict", "insufficient": "neutral"}


@dataclass(frozen=True)
class SearchWish:
    """The model would rather call a search tool than answer."""

    query: str
    missing: str


class Brain:
    """Answers from the language it knows and the evidence it is shown; what it knows by heart is its subject's."""

    def __init__(self, world: World, subject: Subject | None = None) -> None:
        self._world = world
        self._subject = subject or Subject(world, SimulatorSettings())

    def reply(self, title: str, message: str, *, may_call_search: bool = False) -> Fields | SearchWish:
        """The fields of the schema called `title`, or the wish to search where tools are offered.

        Raises KeyError for a title that it does not know (see `TITLES`).
        """
        answer = _HANDLERS[title](self, Blocks(message))
        if may_call_search and answer.get("verdict") == "insufficient" and answer["query"]:
            return SearchWish(answer["query"], answer["missing"])
        return answer

    def chat(self, message: str) -> str:
        """The long response to a prompt of this world, for a plain chat without a schema."""
        asked = " ".join(message.split())
        known = (response.text for response in self._world.responses if response.prompt in asked)
        return next(known, UNKNOWN)

    def choice(self, message: str) -> Choice:
        """What it chooses among the options of a message."""
        return self._choice(Blocks(message))

    def choice_in_words(self, message: str) -> str:
        """The same choice as models put it that heed no format: in one of two ways, always the same for a message."""
        option = self.choice(message).option
        if zlib.crc32(message.encode("utf-8", "surrogatepass")) % 2:
            return f"Answer: {option.letter}."
        return f"{option.letter}) {option.text}"

    def _sentence_facts(self, blocks: Blocks) -> Fields:
        sentence = _one_line(blocks.one("sentence"))
        asked_about = self._named(blocks.one("question")) or self._named(blocks.one("context")[:2000])
        if "fact" in blocks:
            return {"facts": [self._given_fact(_one_line(given.text), asked_about) for given in blocks.all("fact")]}
        facts = []
        for fact in self._world.facts_of_sentence.get(sentence, ()):
            relevant = fact.subject == asked_about if asked_about else fact.label != "irrelevant"
            facts.append(self._sentence_fact(fact.self_contained, relevant=relevant))
        if not facts and is_statement(sentence):
            read = read_claim(self._world, sentence)
            relevant = read is None or asked_about in (None, read.topic.subject)
            facts = [self._sentence_fact(sentence[:LONGEST_CLAIM], relevant=relevant)]
        return {"facts": facts}

    def _given_fact(self, given: str, asked_about: str | None) -> Fields:
        """A fact that is split already: its pronoun resolved, its subject compared with what was asked about."""
        fact = _resolved(given, asked_about)
        return self._sentence_fact(fact, relevant=not asked_about or self._named(fact) in (None, asked_about))

    def _sentence_fact(self, fact: str, *, relevant: bool) -> Fields:
        query = next_query(fact, read_claim(self._world, fact), ()) if relevant else ""
        return {"fact": fact, "status": "check" if relevant else "irrelevant", "query": query}

    def _assessment(self, blocks: Blocks) -> Fields:
        claim = _one_line(blocks.one("claim"))
        read = read_claim(self._world, claim)
        finding = weigh(read, blocks.all("evidence"))
        answer = {"cited": list(finding.cited), "verdict": finding.stance, "missing": "", "query": ""}
        if read and finding.stance == "supported":
            said = f"{read.topic.subject} {read.topic.written} {finding.found}"
            return {"rationale": f"Passage {finding.cited[0]} states that {said}.", **answer}
        if read and finding.stance == "contradicted":
            said = f"the passage says that {read.topic.subject} {read.topic.written} {finding.found}"
            return {"rationale": f"Not {read.value}: {said}.", **answer}
        if "final" not in blocks:
            answer["query"] = next_query(claim, read, [block.text for block in blocks.all("asked")])
            answer["missing"] = f"{read.topic.noun} {read.topic.key}".strip() if read else "a source that speaks of it"
        return {"rationale": "None of the passages speaks of what the claim says.", **answer}

    def _atomic_facts(self, blocks: Blocks) -> Fields:
        sentence = _one_line(blocks.one("sentence"))
        facts = [fact.text for fact in self._world.facts_of_sentence.get(sentence, ())]
        return {"facts": facts or ([sentence[:LONGEST_CLAIM]] if is_statement(sentence) else [])}

    def _self_contained_fact(self, blocks: Blocks) -> Fields:
        return {"fact": _resolved(blocks.one("fact"), self._named(blocks.one("response")))}

    def _relevance(self, blocks: Blocks) -> Fields:
        asked_about = self._named(blocks.one("question")) or self._named(blocks.one("response"))
        subject = self._named(blocks.one("fact"))
        if subject and asked_about and subject != asked_about:
            return {"reason": f"{subject} is not connected to {asked_about} by the response.", "relevant": False}
        return {"reason": f"The fact speaks of {subject or 'what the question asks about'}.", "relevant": True}

    def _search_query(self, blocks: Blocks) -> Fields:
        fact = blocks.one("fact")
        asked = [block.text for block in blocks.all("asked")]
        return {"query": next_query(fact, read_claim(self._world, fact), asked)}

    def _rating(self, blocks: Blocks) -> Fields:
        fact, evidence = blocks.one("fact"), blocks.all("evidence")
        read = read_claim(self._world, fact)
        finding = weigh(read, evidence)
        rating = "not_supported" if finding.stance == "insufficient" else finding.stance
        if read is None or not finding.cited:
            reasoning = (
                f"I went through all {len(evidence)} passages that the searches brought. None of them speaks of what "
                "the fact says, neither for it nor against it, so it cannot be called supported."
            )
        else:
            agreement = "the same as" if rating == "supported" else "something else than"
            reasoning = (
                f"The fact says that {read.topic.subject} {read.topic.said} {read.value}. Passage {finding.cited[0]} "
                f"gives {finding.found} in this place, which is {agreement} what the fact says."
            )
        return {"reasoning": reasoning, "cited": list(finding.cited), "rating": rating}

    def _mcq_answer(self, blocks: Blocks) -> Fields:
        return {"answer": self._choice(blocks).option.letter}

    def _choice(self, blocks: Blocks) -> Choice:
        options = read_options(blocks.one("options")) or [LetteredOption("E", "")]
        return self._subject.choose(_one_line(blocks.one("question") or blocks.one("topic")), options)

    def _closed_book_answer(self, blocks: Blocks) -> Fields:
        question = blocks.one("question")
        return {"answer": self._subject.answer(question) or self.chat(question)}

    def _entailment(self, blocks: Blocks) -> Fields:
        read = self._read_answer(_one_line(blocks.one("question")), _one_line(blocks.one("answer")))
        passages = blocks.all("passage")
        finding = weigh(read, passages)
        answer = {"cited": list(finding.cited), "relation": _RELATIONS[finding.stance]}
        if read is None or not finding.cited:
            return {"rationale": f"None of the {len(passages)} passages gives what the question asks for.", **answer}
        said = f"[{finding.cited[0]}] states that {read.topic.subject} {read.topic.written} {finding.found}"
        end = "as the answer has it." if finding.stance == "supported" else f"where the answer has {read.value}."
        return {"rationale": f"{said}, {end}", **answer}

    def _attribution(self, blocks: Blocks) -> Fields:
        finding = weigh(read_claim(self._world, _one_line(blocks.one("claim"))), blocks.all("document"))
        return {"answer": "yes" if finding.stance == "supported" else "no"}

    def _longfact_prompts(self, blocks: Blocks) -> Fields:
        known = [block.text for block in blocks.all("known")]
        number = blocks.one("number")
        count = int(number) if number.isdecimal() else 1
        return {"prompts": propose_prompts(self._world, blocks.one("topic"), count, known)}

    def _rewritten_sentence(self, blocks: Blocks) -> Fields:
        """What is to be kept and what the evidence has otherwise, each in a sentence of its own."""
        told = [_one_line(block.text) for block in blocks.all("kept")]
        for block in blocks.all("wrong"):
            read = read_claim(self._world, _one_line(block.text))
            finding = weigh(read, blocks.all("evidence"))
            if read is not None and finding.found:
                told.append(read.topic.claim(finding.found))
        return {"sentence": " ".join(told)}

    def _read_answer(self, question: str, answer: str) -> ReadClaim | None:
        """An answer in a whole sentence, or only the value that the question asks for."""
        pair, value = self._world.pair_of(question), answer.rstrip(". ")
        if pair is not None and value in pair.values:
            return ReadClaim(pair.topic, value)
        return read_claim(self._world, answer)

    def _named(self, text: str) -> str | None:
        entity = self._world.first_entity(text)
        return entity.name if entity else None


_HANDLERS: Mapping[str, Callable[[Brain, Blocks], Fields]] = {
    "SentenceFacts": Brain._sentence_facts,
    "Assessment": Brain._assessment,
    "AtomicFacts": Brain._atomic_facts,
    "SelfContainedFact": Brain._self_contained_fact,
    "Relevance": Brain._relevance,
    "SearchQuery": Brain._search_query,
    "Rating": Brain._rating,
    CHOICE: Brain._mcq_answer,
    "Entailment": Brain._entailment,
    "Attribution": Brain._attribution,
    "ClosedBookAnswer": Brain._closed_book_answer,
    "LongFactPrompts": Brain._longfact_prompts,
    "RewrittenSentence": Brain._rewritten_sentence,
}

TITLES: Sequence[str] = tuple(_HANDLERS)


def _resolved(fact: str, subject: str | None) -> str:
    """With the subject in the place of a pronoun at the beginning."""
    first, _, rest = fact.partition(" ")
    return f"{subject} {rest}" if subject and first in {"She", "He", "It"} else fact


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""What a competent model answers to each structured question. Pure: a prompt in, fields out.

A title is added by writing a method and naming it in `_HANDLERS`. Rationales are as long as real ones, since their
tokens are paid for in time and money.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulator.blocks import Blocks
from tests.simulator.knowledge import LONGEST_CLAIM, is_statement, next_query, read_claim, weigh
from tests.simulator.world import World

Fields = Mapping[str, Any]

UNKNOWN = "I can only speak about the Open Almanac and those who stand in it."


@dataclass(frozen=True)
class SearchWish:
    """The model would rather call a search tool than answer."""

    query: str
    missing: str


class Brain:
    """Answers from the language it knows and the evidence it is shown; of the world it knows nothing by heart."""

    def __init__(self, world: World) -> None:
        self._world = world

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

    def _sentence_facts(self, blocks: Blocks) -> Fields:
        sentence = _one_line(blocks.one("sentence"))
        asked_about = self._subject(blocks.one("question")) or self._subject(blocks.one("context")[:2000])
        facts = []
        for fact in self._world.facts_of_sentence.get(sentence, ()):
            relevant = fact.subject == asked_about if asked_about else fact.label != "irrelevant"
            facts.append(self._sentence_fact(fact.self_contained, relevant=relevant))
        if not facts and is_statement(sentence):
            facts = [self._sentence_fact(sentence[:LONGEST_CLAIM], relevant=True)]
        return {"facts": facts}

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
        fact = blocks.one("fact")
        first, _, rest = fact.partition(" ")
        subject = self._subject(blocks.one("response")) if first in {"She", "He", "It"} else None
        return {"fact": f"{subject} {rest}" if subject else fact}

    def _relevance(self, blocks: Blocks) -> Fields:
        asked_about = self._subject(blocks.one("question")) or self._subject(blocks.one("response"))
        subject = self._subject(blocks.one("fact"))
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

    def _subject(self, text: str) -> str | None:
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
}

TITLES: Sequence[str] = tuple(_HANDLERS)


def _one_line(text: str) -> str:
    return " ".join(text.split())

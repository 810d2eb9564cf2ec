"""Answers structured questions as a competent model would: a pure function from prompt to fields.

It knows the language (`grammar`) but not the world, and reads everything from the prompt. Only TrustScore's subject and
the author of long answers and prompts know some of the world. To add a title, write a method and name it in
`_HANDLERS`. Rationales are as long as real ones, since their tokens cost time and money.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulator.blocks import Block, Blocks
from tests.simulator.discourse import KIND_NOUNS, Reader, asked_about, read_sentence, resolve_alone, tied_to
from tests.simulator.evidence import Finding, leanings, weigh, weigh_clause
from tests.simulator.grammar import Clause, read_claim
from tests.simulator.prompting import propose_prompts
from tests.simulator.queries import LONGEST_CLAIM, next_queries, next_query
from tests.simulator.settings import SimulatorSettings
from tests.simulator.subject import Choice, LetteredOption, Subject, read_options
from tests.simulator.world import World

Fields = Mapping[str, Any]

CHOICE = "McqAnswer"  # the title whose answer is a letter
UNKNOWN = "I can only speak about the Open Almanac and those who stand in it."
QUERIES_AT_ONCE = 2

_OF_JUDGES = ("Assessment", "Assessments", "Rating", "GroundedFacts", "GroundedClaims", "GivenClaims")
_STEERING = "note to the judge"  # what a passage or a sentence says that tells a judge what to say
_NO_WISH: Fields = {"missing": "", "queries": [], "query": ""}
_RELATIONS = {"supported": "support", "contradicted": "contradict", "disputed": "neutral", "insufficient": "neutral"}
_WORD = re.compile(r"\w+")
_PERSONAL = re.compile(r"\b(?:I|I'm|me|my|we|our|you|your|please|perhaps)\b", re.IGNORECASE)
_NAMED = re.compile(r"[A-Z\d]")
VAGUE = re.compile(rf"(?:She|He|It|The (?:{'|'.join(KIND_NOUNS)})|In the same year|\w+ years? later)\b")
"""Begins a claim whose subject the text shown leaves open."""


@dataclass(frozen=True)
class SearchWish:
    """The model calls a search tool instead of answering."""

    queries: Sequence[str]
    missing: str


def _steering(texts: Sequence[Block]) -> list[int]:
    return [number for number, block in enumerate(texts, 1) if _STEERING in block.text.lower()]


class Brain:
    def __init__(self, world: World, subject: Subject | None = None) -> None:
        self._world = world
        self._subject = subject or Subject(world, SimulatorSettings())

    def reply(self, title: str, message: str, *, may_call_search: bool = False) -> Fields | SearchWish:
        """The fields of the schema `title`, or a search call if tools are offered.

        Raises KeyError for a title that is not in `TITLES`.
        """
        blocks = Blocks(message)
        answer = _HANDLERS[title](self, blocks)
        if title in _OF_JUDGES:
            answer = {**answer, "steering": _steering(blocks.all("passage") or blocks.all("evidence"))}
        if may_call_search and answer.get("verdict") == "insufficient" and answer["queries"]:
            return SearchWish(answer["queries"], answer["missing"])
        return answer

    def chat(self, message: str) -> str:
        """The long response to a prompt of this world, without a schema."""
        asked = " ".join(message.split())
        known = (response.text for response in self._world.responses if response.prompt in asked)
        return next(known, UNKNOWN)

    def choice(self, message: str) -> Choice:
        return self._choice(Blocks(message))

    def verdicts(self, title: str, message: str) -> list[dict[str, float]]:
        """The probability of each verdict, for every verdict field in the answer `title`; empty for other answers."""
        blocks = Blocks(message)
        question = blocks.one("question")
        if title in ("Assessment", "Assessments"):
            evidence = blocks.all("evidence")
            each = [leanings(_one_line(block.text), evidence, question) for block in blocks.all("claim")]
            return [{**{verdict: 0.99 * share for verdict, share in one.items()}, "ambiguous": 0.01} for one in each]
        if title == "Rating":
            found = leanings(_one_line(blocks.one("fact")), blocks.all("evidence"), question)
            return [{"not_supported" if verdict == "insufficient" else verdict: one for verdict, one in found.items()}]
        if title in ("GroundedFacts", "GroundedClaims", "GivenClaims"):
            passages = blocks.all("passage")
            return [leanings(claim, passages, question) for _, claims in _stated(blocks) for claim in claims]
        return []

    def choice_in_words(self, message: str) -> str:
        """The same choice as a model words it that ignores formats; the same message always gets the same wording."""
        option = self.choice(message).option
        if zlib.crc32(message.encode("utf-8", "surrogatepass")) % 2:
            return f"Answer: {option.letter}."
        return f"{option.letter}) {option.text}"

    def _sentence_facts(self, blocks: Blocks) -> Fields:
        shown, question = _shown(blocks), blocks.one("question")
        ties = _ties(question, shown)
        sentence = _one_line(blocks.one("sentence"))
        facts = [resolve_alone(_one_line(given.text), shown, sentence) for given in blocks.all("fact")]
        return {"facts": [_sentence_fact(fact, question, ties) for fact in facts]}

    def _abstention(self, blocks: Blocks) -> Fields:
        """Returns the passage with most of the words in an answer to the question, if it has most of them."""
        asked = {word.lower() for word in _WORD.findall(blocks.one("question") or blocks.one("sentence"))}
        told = [asked & {word.lower() for word in _WORD.findall(block.text)} for block in blocks.all("passage")]
        best = max(range(len(told)), key=lambda place: len(told[place]), default=None)
        if best is None or 2 * len(told[best]) <= len(asked):
            return {"missing": blocks.one("question"), "passages": [], "answer": ""}
        return {"missing": blocks.one("question"), "passages": [best + 1], "answer": "The passage tells it."}

    def _window_facts(self, blocks: Blocks) -> Fields:
        facts = self._facts(blocks)
        with_fact = {fact["sentence"] for fact in facts}
        numbers = range(1, len(blocks.all("sentence")) + 1)
        return {"facts": facts, "without_fact": [number for number in numbers if number not in with_fact]}

    def _facts(self, blocks: Blocks) -> list[dict[str, Any]]:
        shown, question, above = _shown(blocks), blocks.one("question"), blocks.one("above").strip()
        ties = _ties(question, shown)
        return [
            {"sentence": number, **_sentence_fact(fact, question, ties)}
            for number, block in enumerate(blocks.all("sentence"), 1)
            for said in [read_sentence(shown, _one_line(block.text), above)]
            for fact in [statement.claim for statement in said.statements] or _whole(said.text)
        ]

    def _assessments(self, blocks: Blocks) -> Fields:
        told = ("rationale", "cited", "wrong", "verdict", "queries")
        entries = [self._assessed(_one_line(block.text), blocks) for block in blocks.all("claim")]
        return {
            "claims": [{"claim": number, **{name: one[name] for name in told}} for number, one in enumerate(entries, 1)]
        }

    def _assessment(self, blocks: Blocks) -> Fields:
        return self._assessed(_one_line(blocks.one("claim")), blocks)

    def _assessed(self, claim: str, blocks: Blocks) -> Fields:
        question = blocks.one("question")
        evidence, asked = blocks.all("evidence"), [block.text for block in blocks.all("asked")]
        finding, read = weigh(claim, evidence, question), read_claim(claim)
        answer: dict[str, Any] = {"cited": list(finding.cited), "verdict": finding.stance, **_NO_WISH}
        answer["wrong"] = read[1].value if read and finding.stance == "contradicted" else ""
        if read and finding.found:
            return {"rationale": _said_of(finding, *read), **answer}
        if blocks.one("left") != "0":
            queries = next_queries(claim, asked, QUERIES_AT_ONCE, question)
            answer |= {"queries": queries, "query": queries[0]}
            answer["missing"] = f"{read[1].relation.noun} {read[1].key}".strip() if read else "a source that tells"
        return {"rationale": "None of the passages speaks of what the claim says.", **answer}

    def _grounded_facts(self, blocks: Blocks) -> Fields:
        passages, question, stated = blocks.all("passage"), blocks.one("question"), _stated(blocks)
        facts = [
            {"sentence": number, "fact": claim, **_judged(claim, weigh(claim, passages, question))}
            for number, claims in stated
            for claim in claims
        ]
        shown = "\n".join([_shown(blocks), *(block.text for block in blocks.all("sentence"))])
        ties = _ties(question, shown)
        return {
            "facts": facts,
            "without_fact": [number for number, claims in stated if not claims],
            "off_topic": [
                number
                for number, claims in stated
                if claims and {_status(one, ties) for one in claims} == {"irrelevant"}
            ],
            "steering_sentences": _steering(blocks.all("sentence")),
        }

    def _given_claims(self, blocks: Blocks) -> Fields:
        passages, question, entries = blocks.all("passage"), blocks.one("question"), []
        for number, given in enumerate((_one_line(block.text) for block in blocks.all("claim")), 1):
            claim = resolve_alone(given, _shown(blocks))
            fact = "" if claim == given else claim
            entries.append({"claim": number, "fact": fact, **_judged(claim, weigh(claim, passages, question))})
        return {"claims": entries}

    def _grounded_claims(self, blocks: Blocks) -> Fields:
        entries = self._given_claims(blocks)["claims"]
        return {"claims": [{name: value for name, value in one.items() if name != "fact"} for one in entries]}

    def _atomic_facts(self, blocks: Blocks) -> Fields:
        """A table row has facts only if its headings are shown."""
        sentence = _one_line(blocks.one("sentence"))
        if "context" in blocks:
            verifiable = read_sentence(blocks.one("context"), sentence).statements
            return {"facts": [statement.claim for statement in verifiable]}
        said = read_sentence(blocks.one("above"), sentence)
        return {"facts": [statement.text for statement in said.statements] or _whole(sentence)}

    def _self_contained_fact(self, blocks: Blocks) -> Fields:
        fact, sentence = _one_line(blocks.one("fact")), _one_line(blocks.one("sentence"))
        return {"fact": resolve_alone(fact, _shown(blocks), sentence)}

    def _relevance(self, blocks: Blocks) -> Fields:
        ties = _ties(blocks.one("question"), _shown(blocks))
        read = read_claim(_one_line(blocks.one("fact")))
        if read and ties is not None and read[0] not in ties:
            return {"reason": f"Nothing connects {read[0]} to what the question asks about.", "relevant": False}
        return {"reason": "The fact speaks of what the question asks about.", "relevant": True}

    def _search_query(self, blocks: Blocks) -> Fields:
        """No query if the passages settle the fact."""
        fact, question, asked = blocks.one("fact"), blocks.one("question"), blocks.all("asked")
        if weigh(_one_line(fact), blocks.all("evidence"), question).stance != "insufficient":
            return {"query": ""}
        return {"query": next_query(fact, [block.text for block in asked], question)}

    def _published_rating(self, blocks: Blocks) -> Fields:
        rated = self._rating(blocks)
        is_supported = rated["rating"] == "supported"
        return {"reasoning": rated["reasoning"], "rating": "supported" if is_supported else "not_supported"}

    def _rating(self, blocks: Blocks) -> Fields:
        fact, evidence = _one_line(blocks.one("fact")), blocks.all("evidence")
        finding, read = weigh(fact, evidence, blocks.one("question")), read_claim(fact)
        rating = "not_supported" if finding.stance == "insufficient" else finding.stance
        if read is None or not finding.cited:
            reasoning = (
                f"I went through all {len(evidence)} passages that the searches brought. None of them speaks of what "
                "the fact says, neither for it nor against it, so it cannot be called supported."
            )
        else:
            agreement = "the same as" if rating == "supported" else "something else than"
            reasoning = (
                f"The fact says that {read[0]} {read[1].said}. Passage {finding.cited[0]} "
                f"gives {finding.found} in this place, which is {agreement} what the fact says."
            )
        wrong = read[1].value if read and rating == "contradicted" else ""
        return {"reasoning": reasoning, "cited": list(finding.cited), "wrong": wrong, "rating": rating}

    def _mcq_answer(self, blocks: Blocks) -> Fields:
        return {"answer": self._choice(blocks).option.letter}

    def _choice(self, blocks: Blocks) -> Choice:
        options = read_options(blocks.one("options")) or [LetteredOption("E", "")]
        return self._subject.choose(_one_line(blocks.one("question") or blocks.one("topic")), options)

    def _closed_book_answer(self, blocks: Blocks) -> Fields:
        question = blocks.one("question")
        return {"answer": self._subject.answer(question) or self.chat(question)}

    def _substitutes(self, blocks: Blocks) -> Fields:
        """Spells each word backwards, which tells these substitutes from every other source."""
        words = [_one_line(block.text) for block in blocks.all("word")]
        return {"groups": [{"word": word, "instead": [word[::-1].capitalize()]} for word in words]}

    def _entailment(self, blocks: Blocks) -> Fields:
        passages = blocks.all("passage")
        claim = self._read_answer(_one_line(blocks.one("question")), _one_line(blocks.one("answer")))
        read = read_claim(claim)
        finding = weigh(claim, passages)
        answer = {"cited": list(finding.cited), "relation": _RELATIONS[finding.stance]}
        if read is None or not finding.cited:
            return {"rationale": f"None of the {len(passages)} passages gives what the question asks for.", **answer}
        end = "as the answer has it" if finding.stance == "supported" else f"where the answer has {read[1].value}"
        return {"rationale": f"[{finding.cited[0]}] gives {finding.found}, {end}.", **answer}

    def _attribution(self, blocks: Blocks) -> Fields:
        finding = weigh(_one_line(blocks.one("claim")), blocks.all("document"))
        return {"answer": "yes" if finding.stance == "supported" else "no"}

    def _eligibility(self, blocks: Blocks) -> Fields:
        """A response must name the subject of the request."""
        asked = re.sub(r"^(Who was|What is known about) |[,?].*", "", _one_line(blocks.one("request")))
        return {"answer": "yes" if asked in blocks.one("response") else "no"}

    def _longfact_prompts(self, blocks: Blocks) -> Fields:
        known = [block.text for block in blocks.all("known")]
        number = blocks.one("number")
        count = int(number) if number.isdecimal() else 1
        return {"prompts": propose_prompts(self._world, blocks.one("topic"), count, known)}

    def _rewritten_sentence(self, blocks: Blocks) -> Fields:
        """One sentence for each statement to keep, and for each that the evidence corrects."""
        told = [_one_line(block.text) for name in ("kept", "unproven") for block in blocks.all(name)]
        for block in blocks.all("contradicted"):
            claim, *_ = block.text.splitlines()  # below it stands which words are wrong, and by which passages
            read = read_claim(claim)
            if read is None:
                continue
            subject, clause = read
            finding = weigh_clause(subject, clause, blocks.all("evidence"), blocks.one("question"))
            if finding.found:
                told.append(f"{subject} {Clause(clause.relation, clause.key, finding.found).said}.")
        return {"sentence": " ".join(told)}

    def _prompt_revision(self, blocks: Blocks) -> Fields:
        """Asks for every detail if most mistakes are claims that people call not supported; otherwise for less.

        After a change that did not help, it names a tag that does not exist.
        """
        told = [block.text.rpartition("people: ")[2] for block in blocks.all("mistake")]
        too_kind = 2 * told.count("not supported") >= len(told)
        rule = "Evidence must state every detail." if too_kind else "Other words for the same are enough."
        rule = "Read <passages> twice." if blocks.all("tried") else rule
        first, _, rest = blocks.one("instructions").partition("\n")
        return {"change": rule, "system": f"{first} {rule}\n{rest}"}

    def _read_answer(self, question: str, answer: str) -> str:
        """The answer as a whole sentence, even if it gives only the value asked for."""
        pair, value = self._world.pair_of(question), answer.rstrip(". ")
        return pair.topic.claim(value) if pair is not None and value in pair.values else answer


_HANDLERS: Mapping[str, Callable[[Brain, Blocks], Fields]] = {
    "SentenceFacts": Brain._sentence_facts,
    "WindowFacts": Brain._window_facts,
    "Assessments": Brain._assessments,
    "Assessment": Brain._assessment,
    "GroundedFacts": Brain._grounded_facts,
    "Abstention": Brain._abstention,
    "GivenClaims": Brain._given_claims,
    "GroundedClaims": Brain._grounded_claims,
    "AtomicFacts": Brain._atomic_facts,
    "SelfContainedFact": Brain._self_contained_fact,
    "Relevance": Brain._relevance,
    "SearchQuery": Brain._search_query,
    "Rating": Brain._rating,
    "PublishedRating": Brain._published_rating,
    CHOICE: Brain._mcq_answer,
    "Entailment": Brain._entailment,
    "Attribution": Brain._attribution,
    "Eligibility": Brain._eligibility,
    "ClosedBookAnswer": Brain._closed_book_answer,
    "Substitutes": Brain._substitutes,
    "LongFactPrompts": Brain._longfact_prompts,
    "RewrittenSentence": Brain._rewritten_sentence,
    "PromptRevision": Brain._prompt_revision,
}

TITLES: Sequence[str] = tuple(_HANDLERS)


def is_statement(sentence: str) -> bool:
    """Whether a sentence from outside this world states something, unlike a question or a greeting."""
    text = sentence[:LONGEST_CLAIM].strip()
    if text.endswith(("?", ":")) or text.startswith(("|", "#")) or _PERSONAL.search(text) or not _NAMED.search(text):
        return False
    return len(_WORD.findall(text)) >= 3


def _shown(blocks: Blocks) -> str:
    return "\n\n".join(block.text for name in ("answer", "context", "response") for block in blocks.all(name))


def _stated(blocks: Blocks) -> list[tuple[int, list[str]]]:
    stated = [
        (number, [resolve_alone(_one_line(block.text), _shown(blocks))])
        for number, block in enumerate(blocks.all("claim"), 1)
    ]
    reader = Reader()
    reader.read(_shown(blocks))
    for number, block in enumerate(blocks.all("sentence"), 1):
        claims = [one.claim for said in reader.read(block.text) for one in said.statements]
        stated.append((number, claims or _whole(_one_line(block.text))))
    return stated


def _whole(sentence: str) -> list[str]:
    return [sentence[:LONGEST_CLAIM]] if is_statement(sentence) else []


def _ties(question: str, shown: str) -> frozenset[str] | None:
    """The people that the shown text connects with the topic; None if that is unknown."""
    if not question:
        return None
    asked = asked_about(question, shown)
    return None if asked is None else tied_to(asked, shown)


def _sentence_fact(fact: str, question: str, ties: frozenset[str] | None) -> Fields:
    status = _status(fact, ties)
    return {"fact": fact, "status": status, "query": next_query(fact, (), question) if status == "check" else ""}


def _status(fact: str, ties: frozenset[str] | None) -> str:
    read = read_claim(fact)
    if read is None:
        return "ambiguous" if VAGUE.match(fact) else "check"
    return "check" if ties is None or read[0] in ties else "irrelevant"


def _judged(claim: str, finding: Finding) -> Fields:
    read = read_claim(claim)
    wrong = read[1].value if read and finding.stance == "contradicted" else ""
    cited = list(finding.cited)
    return {"passages": cited, "reason": _reason(finding), "verdict": finding.stance, "wrong": wrong}


def _reason(finding: Finding) -> str:
    if finding.stance == "supported":
        return ""
    return f"Passage {finding.cited[0]} gives {finding.found}." if finding.found else "No passage speaks of it."


def _said_of(finding: Finding, subject: str, clause: Clause) -> str:
    if finding.stance == "supported":
        return f"Passage {finding.cited[0]} states that {subject} {clause.said}."
    said = Clause(clause.relation, clause.key, finding.found).said
    return f"Not {clause.value}: passage {finding.cited[0]} says that {subject} {said}."


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""TrustScore's prompts answered over the wire, as clients of real providers see it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

import openai
import pytest

from factloop.agents.trustscore.schemas import ClosedBookAnswer, Entailment, McqAnswer
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from tests.simulator import CHAT, Passage, QaPair, Simulator
from tests.simulator.brain import Brain
from tests.work import lines_run

PROMPTS = PromptRegistry.load()
NONE = "None of the above."
SCHEMAS = {schema.__name__: schema for schema in (McqAnswer, Entailment, ClosedBookAnswer)}


def response_format(title: str) -> Any:
    schema = SCHEMAS[title].model_json_schema()
    return {"type": "json_schema", "json_schema": {"name": title, "strict": True, "schema": schema}}


def ask(client: openai.OpenAI, prompt: RenderedPrompt, **options: Any) -> Any:
    messages: Any = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    return client.chat.completions.create(model="sim", messages=messages, **options).choices[0]


def answer(client: openai.OpenAI, prompt: RenderedPrompt, title: str) -> Any:
    reply = ask(client, prompt, response_format=response_format(title))
    return SCHEMAS[title].model_validate_json(reply.message.content)


def first_with(sim: Simulator, knowledge: str) -> QaPair:
    subject = sim.subject
    return next(pair for pair in sim.world.questions if subject.knowledge(pair.topic) == knowledge)


def options_of(pair: QaPair, response: str, place: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    others: dict[str, None] = {}
    while len(others) < 3:
        others[pair.wrong(rng)] = None
        others.pop(response, None)
    return [*list(others)[:place], response, *list(others)[place:], NONE]


def choice(pair: QaPair, options: Sequence[str]) -> RenderedPrompt:
    return PROMPTS["trustscore/multiple_choice"].render(question=pair.question, options=lines(options))


def lines(options: Sequence[str]) -> str:
    return "\n" + "\n".join(f"{letter}) {text}" for letter, text in zip("ABCDE", options, strict=True)) + "\n"


def trust_bc(client: openai.OpenAI, pair: QaPair, response: str) -> int:
    """1 if all of ten checks, with the response's place going round, choose the response."""
    letters = [
        answer(client, choice(pair, options_of(pair, response, number % 4, number)), "McqAnswer").answer
        for number in range(10)
    ]
    return int(letters == ["ABCD"[number % 4] for number in range(10)])


class TestMcqAnswer:
    @pytest.mark.parametrize("bias", [None, "A"])
    def test_trust_bc_equals_the_knowledge(self, client: openai.OpenAI, sim: Simulator, bias: Any) -> None:
        sim.set(letter_bias=bias)
        subject, values = sim.subject, set()
        for number, pair in enumerate(sim.world.questions[:8]):
            for response in (pair.answer, pair.wrong(random.Random(number))):
                expected = subject.expected_trust_bc(pair.topic, response)
                if expected is not None:
                    values.add(expected)
                    assert trust_bc(client, pair, response) == expected
        assert values == {0, 1}
        assert sim.stats().stages["McqAnswer"].answered >= 100

    def test_bias_moves_guesses_alone(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(letter_bias="B")
        known, unknown = first_with(sim, "known"), first_with(sim, "unknown")
        for place in range(4):
            right = answer(client, choice(known, options_of(known, known.answer, place)), "McqAnswer")
            guess = answer(client, choice(unknown, options_of(unknown, unknown.answer, place)), "McqAnswer")
            assert (right.answer, guess.answer) == ("ABCD"[place], "B")

    def test_statements_are_chosen_without_a_question(self, client: openai.OpenAI, sim: Simulator) -> None:
        prompt, pair = PROMPTS["trustscore/statement_choice"], first_with(sim, "known")
        options = options_of(pair, pair.answer, 2)
        for topic in (None, f"What is known about {pair.topic.subject}?"):
            assert answer(client, prompt.render(topic=topic, options=lines(options)), "McqAnswer").answer == "C"
        others = [*options_of(pair, pair.wrong(random.Random(7)), 2)[:4], NONE]
        assert answer(client, prompt.render(topic=None, options=lines(others)), "McqAnswer").answer == "E"

    def test_the_topic_tells_which_statement_is_meant(self, client: openai.OpenAI, sim: Simulator) -> None:
        prompt, subject = PROMPTS["trustscore/statement_choice"], sim.subject
        first, second = sim.world.responses[:2]
        mine, yours = (
            next(
                fact.self_contained for fact in response.facts
                if fact.subject == response.subject and subject.expected_trust_bc(fact.topic, fact.self_contained)
            )
            for response in (first, second)
        )  # fmt: skip
        options = lines(["It rained.", mine, yours, "It snowed.", NONE])
        assert answer(client, prompt.render(topic=first.prompt, options=options), "McqAnswer").answer == "B"
        assert answer(client, prompt.render(topic=second.prompt, options=options), "McqAnswer").answer == "C"

    def test_examples_of_the_system_message_are_not_the_question(self, client: openai.OpenAI, sim: Simulator) -> None:
        pair = first_with(sim, "known")
        prompt = choice(pair, options_of(pair, pair.answer, 3))
        shown = f"<question>{pair.question}</question><options>{lines(options_of(pair, pair.answer, 0))}</options>"
        assert answer(client, RenderedPrompt("", f"{prompt.system}\n{shown}", prompt.user), "McqAnswer").answer == "D"

    def test_prompts_without_options_or_of_another_world_get_the_last_letter(
        self, client: openai.OpenAI, sim: Simulator
    ) -> None:
        assert answer(client, RenderedPrompt("", "", "no blocks at all"), "McqAnswer").answer == "E"
        prompt = PROMPTS["trustscore/multiple_choice"].render(
            question="Who built the first temple?", options=lines(["Solomon.", "David.", "Herod.", "Nero.", NONE])
        )
        assert answer(client, prompt, "McqAnswer").answer == "E"
        assert sim.stats().stages["McqAnswer"].answered == 2

    def test_plain_letters_ignore_the_format(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(plain_letters=True)
        pair, shapes = first_with(sim, "known"), set()
        for seed in range(12):
            options = options_of(pair, pair.answer, 1, seed)
            reply = ask(client, choice(pair, options), response_format=response_format("McqAnswer"))
            shapes.add(reply.message.content)
            assert reply.finish_reason == "stop"
        assert shapes == {"Answer: B.", f"B) {pair.answer}"}
        closed = answer(client, PROMPTS["trustscore/closed_book"].render(question=pair.question), "ClosedBookAnswer")
        assert closed.answer == pair.answer

    def test_the_title_is_found_in_a_schema_in_the_text(self, client: openai.OpenAI, sim: Simulator) -> None:
        pair = first_with(sim, "known")
        prompt = choice(pair, options_of(pair, pair.answer, 0))
        schema = json.dumps(McqAnswer.model_json_schema())
        reply = ask(client, RenderedPrompt("", prompt.system, f"{prompt.user}\n\nFollow this JSON Schema:\n{schema}"))
        assert json.loads(reply.message.content) == {"answer": "A"}
        assert CHAT not in sim.stats().stages

    def test_a_reply_is_little_work(self, sim: Simulator) -> None:
        """Benchmarks share two cores with the simulator: no reply reads the whole world."""
        brain, pairs = Brain(sim.world, sim.subject), sim.world.questions[:100]
        messages = [choice(pair, options_of(pair, pair.answer, 0)).user for pair in pairs]
        brain.reply("McqAnswer", messages[0])  # builds the index of questions
        assert lines_run(lambda: [brain.reply("McqAnswer", message) for message in messages]) < 1_000 * len(messages)


class TestClosedBookAnswer:
    def test_tells_what_it_knows(self, client: openai.OpenAI, sim: Simulator) -> None:
        prompt = PROMPTS["trustscore/closed_book"]
        for knowledge, is_right in (("known", True), ("unknown", False)):
            pair = first_with(sim, knowledge)
            said = answer(client, prompt.render(question=pair.question), "ClosedBookAnswer").answer
            assert (said == pair.answer) == is_right
            assert said.startswith(f"{pair.topic.subject} {pair.topic.said} ")

    def test_speaks_of_its_world_only(self, client: openai.OpenAI) -> None:
        prompt = PROMPTS["trustscore/closed_book"].render(question="Who built the first temple?")
        assert "Open Almanac" in answer(client, prompt, "ClosedBookAnswer").answer


class TestEntailment:
    def passage_of(self, sim: Simulator, pair: QaPair) -> Passage:
        return sim.world.gold[pair.topic]

    def judged(self, client: openai.OpenAI, pair: QaPair, said: str, passages: Sequence[Passage]) -> Entailment:
        shown = [f"{item.title}\n{item.text}" for item in passages]
        prompt = PROMPTS["trustscore/entailment"].render(question=pair.question, answer=said, passage=shown)
        found = answer(client, prompt, "Entailment")
        assert isinstance(found, Entailment)
        return found

    def test_judges_by_the_passages_alone(self, client: openai.OpenAI, sim: Simulator) -> None:
        for pair in sim.world.questions[:12]:
            gold = self.passage_of(sim, pair)
            strangers = [item for item in sim.world.passages if pair.topic.subject not in item.title][:3]
            shown = [*strangers, gold]
            right, false = pair.answer, pair.wrong(random.Random(3))
            assert self.judged(client, pair, right, shown).relation == "support"
            assert self.judged(client, pair, false, shown).relation == "contradict"
            assert self.judged(client, pair, right, shown).cited == [4]
            neutral = self.judged(client, pair, right, strangers)
            assert (neutral.relation, neutral.cited) == ("neutral", [])

    def test_reads_a_bare_value_by_its_question(self, client: openai.OpenAI, sim: Simulator) -> None:
        pair = sim.world.questions[0]
        gold = [self.passage_of(sim, pair)]
        assert self.judged(client, pair, pair.value, gold).relation == "support"
        assert self.judged(client, pair, "1600", gold).relation == "neutral"

    def test_explains_itself(self, client: openai.OpenAI, sim: Simulator) -> None:
        pair = sim.world.questions[0]
        found = self.judged(client, pair, pair.answer, [self.passage_of(sim, pair)])
        assert re.match(r"\[1\] gives .+, as the answer has it\.$", found.rationale)
        assert pair.value in found.rationale

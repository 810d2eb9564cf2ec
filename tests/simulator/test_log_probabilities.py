"""Log-probabilities in OpenAI's format: of any reply, and of the letter that a choice consists of."""

from __future__ import annotations

import json
import math
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.simulator import Faults, QaPair, Simulator
from tests.simulator.logprobs import token_logprobs

SHARES = {"A": 0.02, "B": 0.92, "C": 0.02, "D": 0.02, "E": 0.02}
FORMAT: Any = {
    "type": "json_schema",
    "json_schema": {"name": "McqAnswer", "schema": {"type": "object", "properties": {"answer": {"type": "string"}}}},
}


def message_of(pair: QaPair) -> str:
    """A question with the truth under B."""
    options = f"A) x\nB) {pair.answer}\nC) y\nD) z\nE) None of the above."
    return f"<question>{pair.question}</question>\n<options>\n{options}\n</options>"


def first_with(sim: Simulator, knowledge: str) -> QaPair:
    subject = sim.subject
    return next(pair for pair in sim.world.questions if subject.knowledge(pair.topic) == knowledge)


def ask(client: openai.OpenAI, message: str, **options: Any) -> Any:
    asked = {"response_format": FORMAT, "logprobs": True, "top_logprobs": 5, **options}
    return client.chat.completions.create(model="sim", messages=[{"role": "user", "content": message}], **asked)


def probabilities(tokens: Any, letter: str) -> dict[str, float]:
    """Probabilities of the alternatives to the only token that is this letter."""
    (place,) = [token for token in tokens if token.token.strip() == letter]
    return {other.token.strip(): math.exp(other.logprob) for other in place.top_logprobs}


class TestTokens:
    def test_the_letter_is_a_token_of_its_own(self) -> None:
        tokens = token_logprobs('{"answer":"B"}', SHARES, 3)
        assert [token["token"] for token in tokens] == ['{"', "answer", '":"', "B", '"}']
        # ln 0.92 = -0.083382, ln 0.02 = -3.912023
        assert [(other["token"], other["logprob"]) for other in tokens[3]["top_logprobs"]] == [
            ("B", -0.083382), ("A", -3.912023), ("C", -3.912023),
        ]  # fmt: skip
        assert [len(token["top_logprobs"]) for token in tokens] == [1, 1, 1, 3, 1]

    @pytest.mark.parametrize(
        ("content", "place", "token"),
        [("Answer: B.", 2, " B"), ("B) A ship.", 0, "B"), ("B) Answer: B", 0, "B")],
    )
    def test_it_is_the_first_that_stands_alone(self, content: str, place: int, token: str) -> None:
        tokens = token_logprobs(content, SHARES, 5)
        assert tokens[place]["token"] == token
        assert [len(item["top_logprobs"]) for item in tokens].count(5) == 1

    def test_of_equals_the_one_said_comes_first(self) -> None:
        even = dict.fromkeys("ABCDE", 0.2)
        (token,) = token_logprobs("D", even, 5)
        assert [other["token"] for other in token["top_logprobs"]] == ["D", "A", "B", "C", "E"]

    @given(st.text(max_size=80), st.integers(0, 20))
    def test_tokens_spell_the_reply(self, content: str, n_alternatives: int) -> None:
        tokens = token_logprobs(content, SHARES, n_alternatives)
        assert "".join(token["token"] for token in tokens) == content
        assert all(token["logprob"] <= 0.0 and len(token["top_logprobs"]) <= n_alternatives for token in tokens)


class TestOverTheWire:
    @pytest.mark.parametrize(
        ("knowledge", "bias", "own", "other"),
        [
            ("known", None, 0.92, 0.02),
            ("known", "A", 0.92, 0.02),
            ("half_known", None, 0.40, 0.15),
            ("unknown", None, 0.20, 0.20),
            ("unknown", "A", 0.60, 0.10),
        ],
    )
    def test_letters_have_the_probabilities_of_the_choice(
        self, client: openai.OpenAI, sim: Simulator, knowledge: str, bias: Any, own: float, other: float
    ) -> None:
        sim.set(letter_bias=bias)
        choice = ask(client, message_of(first_with(sim, knowledge))).choices[0]
        letter = json.loads(choice.message.content)["answer"]
        assert "".join(token.token for token in choice.logprobs.content) == choice.message.content
        found = probabilities(choice.logprobs.content, letter)
        assert found.pop(letter) == pytest.approx(own, abs=1e-4)
        assert list(found.values()) == pytest.approx([other] * 4, abs=1e-4)
        assert knowledge == "half_known" or letter == {"known": "B"}.get(knowledge, bias or letter)

    def test_plain_replies_have_them_too(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(plain_letters=True)
        choice = ask(client, message_of(first_with(sim, "known"))).choices[0]
        assert "{" not in choice.message.content
        assert probabilities(choice.logprobs.content, "B")["B"] == pytest.approx(0.92, abs=1e-4)

    def test_other_replies_have_tokens_without_a_choice(self, client: openai.OpenAI) -> None:
        choice = ask(client, "hello", response_format={"type": "text"}).choices[0]
        assert "".join(token.token for token in choice.logprobs.content) == choice.message.content
        assert all(len(token.top_logprobs) == 1 for token in choice.logprobs.content)

    def test_only_where_asked_for(self, client: openai.OpenAI, sim: Simulator) -> None:
        message = message_of(first_with(sim, "known"))
        assert ask(client, message, logprobs=False, top_logprobs=openai.omit).choices[0].logprobs is None
        without = ask(client, message, top_logprobs=openai.omit).choices[0].logprobs.content
        assert [token.top_logprobs for token in without] == [[]] * len(without)

    def test_streams_a_token_at_a_time(self, client: openai.OpenAI, sim: Simulator) -> None:
        choices = [chunk.choices[0] for chunk in ask(client, message_of(first_with(sim, "known")), stream=True)]
        said = [choice for choice in choices if choice.delta.content]
        assert "".join(choice.delta.content for choice in said) == '{"answer":"B"}'
        tokens = [token for choice in said for token in choice.logprobs.content]
        assert [token.token for token in tokens] == [choice.delta.content for choice in said]
        assert probabilities(tokens, "B")["B"] == pytest.approx(0.92, abs=1e-4)

    async def test_langchain_reads_them(self, sim: Simulator) -> None:
        model = ChatOpenAI(
            model="sim", base_url=sim.base_url, api_key=SecretStr("any"), max_retries=0, logprobs=True, top_logprobs=5
        )
        reply = await model.bind(response_format=FORMAT).ainvoke(message_of(first_with(sim, "known")))
        assert {"B"} <= {token["token"] for token in reply.response_metadata["logprobs"]["content"]}

    def test_a_spoiled_reply_keeps_its_tokens(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(faults=Faults(truncated=1.0))
        choice = ask(client, message_of(first_with(sim, "known"))).choices[0]
        assert (choice.message.content, choice.finish_reason) == ('{"answe', "length")
        assert "".join(token.token for token in choice.logprobs.content) == '{"answe'
        sim.set(faults=Faults(refusal=1.0))
        assert ask(client, message_of(first_with(sim, "known"))).choices[0].logprobs is None


class TestRefusals:
    def refused(self, client: openai.OpenAI, **options: Any) -> openai.BadRequestError:
        with pytest.raises(openai.BadRequestError) as caught:
            ask(client, "hello", **options)
        return caught.value

    def test_models_without_them_say_so(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(supports_logprobs=False)
        error = self.refused(client)
        assert (error.param, error.code) == ("logprobs", "unsupported_parameter")
        without = ask(client, message_of(first_with(sim, "known")), logprobs=False, top_logprobs=openai.omit)
        assert without.choices[0].message.content == '{"answer":"B"}'

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"top_logprobs": 21}, "<= 20, but got 21"),
            ({"top_logprobs": -1}, ">= 0, but got -1"),
            ({"top_logprobs": "five"}, "an integer"),
            ({"logprobs": False}, "must be set to true"),
        ],
    )
    def test_numbers_that_are_not_allowed(self, client: openai.OpenAI, options: dict[str, Any], said: str) -> None:
        error = self.refused(client, **options)
        assert error.param == "top_logprobs"
        assert said in error.message

    def test_twenty_are_allowed(self, client: openai.OpenAI, sim: Simulator) -> None:
        choice = ask(client, message_of(first_with(sim, "known")), top_logprobs=20).choices[0]
        assert len(probabilities(choice.logprobs.content, "B")) == 5

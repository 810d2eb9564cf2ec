from __future__ import annotations

import re

import pytest
from pydantic import BaseModel

from factloop.agents.longfact import writer as longfact
from factloop.agents.safe import schemas as safe
from factloop.agents.trustscore import schemas as trustscore
from factloop.correction import rewriters as correction
from factloop.evaluation.experiments import optimise as experiments
from factloop.prompts.registry import PACKAGED, PromptRegistry, read_prompt
from factloop.tools.judges import served as verifiers

# Name to version and the first 16 hex digits of the file's SHA-256. Reports are compared by these: to change a text,
# raise its version, then copy the new line from the failing test.
PINNED = {
    "correction/revision": (2, "16caedaf4b792eb6"),
    "correction/rewrite": (3, "52ee79cb72761600"),
    "gateway/json_reply": (1, "497bba9c8516b66a"),
    "gateway/repair": (1, "283cc2727b1a4cf5"),
    "experiments/revision": (1, "eb233a39f0eb47b6"),
    "longfact/concepts": (1, "93d1930e2760dc27"),
    "longfact/objects": (1, "c10dc51bf37798a6"),
    "safe/abstention": (1, "6d3aa95ea1784a35"),
    "safe/assessment": (6, "19ba95bb0fe0284f"),
    "safe/atomic_facts": (3, "3fa4ba973975fcdf"),
    "safe/given_facts": (2, "2ed107932734a008"),
    "safe/grounded_claims": (4, "af8a9a46948d3f1e"),
    "safe/grounded_facts": (4, "e39b6e3840afda90"),
    "safe/published/atomic_facts": (1, "60985a76d140891a"),
    "safe/published/rating": (1, "80283791dfd61fe7"),
    "safe/published/search_query": (1, "ae7965d8606b76a8"),
    "safe/published/self_contained_fact": (1, "6a15da4ddf631197"),
    "safe/published/verifiable_claims": (2, "2a5ac97cc46f87b9"),
    "safe/rating": (4, "a597bcb3bdede7e5"),
    "safe/relevance": (2, "8e62f987a12794c0"),
    "safe/search_query": (3, "8c6f4dda61a1e024"),
    "safe/self_contained_fact": (2, "3b5915ae56114f97"),
    "safe/sentence_facts": (5, "54b7ee4b0f873731"),
    "trustscore/closed_book": (1, "525594d3f746e1d5"),
    "trustscore/entailment": (1, "abc6b6f83329a688"),
    "trustscore/multiple_choice": (2, "618b0ccd493910d2"),
    "trustscore/statement_choice": (2, "b51f01aeed0c8596"),
    "trustscore/substitutes": (1, "387e70f99d5b99a9"),
    "verifiers/attribution": (2, "72d98015b432e0cc"),
    "verifiers/eligibility": (2, "ecd6929b31ab8c4d"),
}

PROMPTS = PromptRegistry.load()


@pytest.mark.parametrize("name", PROMPTS.names)
def test_a_changed_text_has_a_new_version(name: str) -> None:
    prompt = PROMPTS[name]
    assert (name, prompt.version, prompt.sha256[:16]) == (name, *PINNED[name])


def test_names_are_pinned() -> None:
    assert PROMPTS.names == tuple(sorted(PINNED))


def test_each_file_is_named_as_its_prompt_and_no_name_is_taken_twice() -> None:
    files = sorted(PACKAGED.rglob("*.md"))
    assert [file.relative_to(PACKAGED).with_suffix("").as_posix() for file in files] == list(PROMPTS.names)
    assert [read_prompt(file).name for file in files] == list(PROMPTS.names)


@pytest.mark.parametrize("name", [name for name in PROMPTS.names if PROMPTS[name].output is not None])
def test_each_output_is_a_schema(name: str) -> None:
    modules = {
        "correction": correction,
        "experiments": experiments,
        "longfact": longfact,
        "safe": safe,
        "trustscore": trustscore,
        "verifiers": verifiers,
    }
    schemas = modules[name.partition("/")[0]]
    assert issubclass(getattr(schemas, str(PROMPTS[name].output)), BaseModel)


def test_what_asks_for_no_structured_answer_has_no_output() -> None:
    none = ["correction/revision", "gateway/json_reply", "gateway/repair"]
    assert [name for name in PROMPTS.names if PROMPTS[name].output is None] == none


@pytest.mark.parametrize("name", [name for name in PROMPTS.names if not name.startswith("gateway/")])
def test_data_stands_in_the_user_part_and_is_said_to_be_data(name: str) -> None:
    prompt = PROMPTS[name]
    assert "{{" not in prompt.system
    assert re.search("never (an )?instruction", prompt.system)
    assert prompt.source


@pytest.mark.parametrize("name", PROMPTS.names)
def test_every_prompt_renders(name: str) -> None:
    prompt = PROMPTS[name]
    rendered = prompt.render(**{variable: f"value of {variable}" for variable in prompt.variables})
    for variable in prompt.variables:
        assert f"<{variable}>value of {variable}</{variable}>" in rendered.user
    assert not re.search(r"\{\{\w+\}\}", rendered.system + rendered.user)

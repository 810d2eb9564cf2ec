from __future__ import annotations

import re

import pytest

from factloop.prompts.registry import PACKAGED, read_prompt

RULES = {
    "supported": r'(?:^supported: |"supported" if )(.+?)(?: "contradicted" if|$)',
    "contradicted": r'(?:^contradicted: |"contradicted" if )(.+?)(?: wrong:| "insufficient" if|$)',
    "something is missing": r'(?:^insufficient: |^not_supported: |"insufficient" if )(.+?)(?: With searches| If|$)',
    "passages disagree": r'\b(If passages disagree on it, .+? counts; else "?disputed)',
}
NAMES = (
    (r"(?:every fact|all) of (?:<claim>|the claim|it)(?= \(who)", "all of the claim"),
    (r"true with (?:<claim>|<fact>|the claim|it)(?=,)", "true with the claim"),
    (r"who trusts (?:it|them|the passages)\b", "who trusts the passages"),
    (r"\bthe (?:evidence points|passages point) that way", "the passages point that way"),
    (r"\b(?:it says|they say) what", "they say what"),
    (r"\bor (?:it is|they are) about", "or they are about"),
    (r"\ba (?:fact|part) is missing", "a part is missing"),
    (r'else "', "else "),
)
"""What a prompt calls the claim, its evidence, and the verdict where it is open."""


def rule(prompt: str, name: str) -> str:
    system = read_prompt(PACKAGED / "safe" / f"{prompt}.md").system
    (said,) = re.findall(RULES[name], system, re.MULTILINE)
    for pattern, common in NAMES:
        said = re.sub(pattern, common, said)
    return str(said)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("prompt", ["assessment", "rating", "grounded_facts"])
def test_a_verdict_has_the_same_rule_in_every_prompt_that_asks_for_it(prompt: str, name: str) -> None:
    assert rule(prompt, name) == rule("grounded_claims", name)

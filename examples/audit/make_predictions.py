"""Writes predictions.jsonl: labelled claims of five made-up systems, with the scores of three evaluators.

    python make_predictions.py > predictions.jsonl

Documents, claims and labels come from the lists below and a seeded generator. Two evaluators are drawn at random with
known habits: `lenient` passes nearly everything, `harsh` stops more than it should. The third, `wording`, is a real if
naive one: the share of a claim's word pairs that its document has. `wording@30` is the same on chunks of at most 30
words, the best of them counting.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

SYSTEMS = {"alder": 0.08, "birch": 0.12, "cedar": 0.2, "elm": 0.3, "hazel": 0.45}
"""The chance that a claim of the system is wrong."""
CLAIMS_PER_PROMPT = 4
CHUNK_WORDS = 30

# fmt: off
PLACES = (
    "Aldmoor", "Ashby", "Brindle", "Corfold", "Dunmere", "Eastwick", "Farleigh", "Grantham", "Holbeck", "Inglewood",
    "Jarrow", "Kelby", "Langport", "Marden", "Norwell",
)
NAMES = ("Anna", "Boris", "Clara", "Dmitri", "Edith", "Farid", "Greta", "Hugo", "Irene", "Jonas", "Karin", "Lewis")
SURNAMES = ("Abbot", "Baker", "Carver", "Draper", "Elwood", "Fuller", "Glover", "Harper", "Iverson", "Joiner", "Keeler")
THINGS = ("bridge", "library", "harbour", "school", "market", "theatre", "station", "mill", "clinic", "tower", "canal")
FIRMS = ("Northgate", "Rowan", "Stellar", "Tamar", "Umber", "Vale", "Westlake", "Yarrow", "Zephyr", "Orchard")
# fmt: on
OPENINGS = ("", "In short: ", "As stated there: ", "The text has this to say: ", "Here is one thing more: ")
DENIED_SHARE = 0.35
"""Of the errors."""

Fact = tuple[str, str, str]
"""As the document has it, and in other words; `{}` holds what an error changes."""

MINUTES: tuple[Fact, ...] = (
    (
        "The council of PLACE agreed to repair the THING at a cost of {} thousand pounds.",
        "Mending PLACE's THING will take {} thousand from public funds",
        "number",
    ),
    (
        "The work on the THING was given to the firm of {} and should begin in May.",
        "Builders chosen for this job: {}, with a start planned before summer",
        "firm",
    ),
    (
        "Mayor {} asked the members to hold a second meeting about parking near the church.",
        "It was {} who wanted parking discussed once more",
        "person",
    ),
    (
        "A petition with {} signatures against the new bus lane was handed to the clerk.",
        "Opponents of PLACE's bus lane numbered {} on paper",
        "number",
    ),
    (
        "The sports club will receive a grant of {} hundred pounds for its youth teams.",
        "Young athletes get {} hundred in support",
        "number",
    ),
    (
        "The evening closed with a report by {} on the state of the town's trees.",
        "News about local trees came from {}",
        "person",
    ),
)
MUSEUM: tuple[Fact, ...] = (
    (
        "The THING of PLACE was designed by the architect {} and built of local stone.",
        "Plans for PLACE's THING were drawn up by {}",
        "person",
    ),
    (
        "It was opened to the public in the year 18{} after long delays and a fire.",
        "People could first go inside during 18{}",
        "number",
    ),
    (
        "The company {} paid for the roof when the first one leaked.",
        "Money for a watertight roof was put up by {}",
        "firm",
    ),
    (
        "During the great flood {} families found shelter on its upper floor.",
        "Upstairs, {} households stayed dry while PLACE was under water",
        "number",
    ),
    (
        "The collection of old maps was a gift of {} and fills three rooms.",
        "Three rooms hold cartography donated by {}",
        "person",
    ),
    (
        "Every year about {} hundred visitors climb the stairs to see the clock.",
        "Its clock draws some {} hundred guests annually",
        "number",
    ),
)
DENIED = "the THING of PLACE will be sold to a hotel next year"
"""Each document denies it in these very words, so that a false claim can be copied whole."""
DATASETS = {"council minutes": ("summarisation", MINUTES), "museum questions": ("question answering", MUSEUM)}


def rows(random_: random.Random) -> Iterator[dict[str, Any]]:
    for dataset, (task, facts) in DATASETS.items():
        for number, place in enumerate(PLACES, 1):
            truth = [_value(kind, random_) for _, _, kind in facts]
            thing = random_.choice(THINGS)
            said = [_about(fact[0].format(value), place, thing) for fact, value in zip(facts, truth, strict=True)]
            said.append(_about(f"Nobody believes that {DENIED}.", place, thing))
            for system, error_rate in SYSTEMS.items():
                chosen = random_.sample(range(len(facts)), CLAIMS_PER_PROMPT)
                for place_in_response, one in enumerate(chosen, 1):
                    claim, is_true = _claim(one, facts, truth, place, thing, error_rate, random_)
                    yield {
                        "dataset": dataset,
                        "task": task,
                        "prompt_id": f"{number}",
                        "system": system,
                        "response_id": f"{system}-{number}",
                        "claim_id": f"{place_in_response}",
                        "claim": claim,
                        "document": " ".join(said),
                        "label": int(is_true),
                        "evaluators": _scores(claim, said, is_true, random_),
                    }


def _about(text: str, place: str, thing: str) -> str:
    return text.replace("PLACE", place).replace("THING", thing)


def _value(kind: str, random_: random.Random) -> str:
    if kind == "number":
        return str(random_.randrange(21, 99))
    return random_.choice(FIRMS) if kind == "firm" else f"{random_.choice(NAMES)} {random_.choice(SURNAMES)}"


def _claim(
    one: int,
    facts: tuple[Fact, ...],
    truth: list[str],
    place: str,
    thing: str,
    error_rate: float,
    random_: random.Random,
) -> tuple[str, bool]:
    """A fact copied, in other words, or joined to a distant one. An error changes a value, or says what is denied."""
    style = random_.choices(("copied", "reworded", "joined"), (5, 3, 2))[0]
    is_true = random_.random() >= error_rate
    chosen = [one, (one + 3) % len(facts)] if style == "joined" else [one]
    values = {number: truth[number] for number in chosen}
    while not is_true and values[one] == truth[one]:
        values[one] = _value(facts[one][2], random_)
    wording = 1 if style == "reworded" else 0
    parts = [_about(facts[number][wording].format(values[number]), place, thing).rstrip(".") for number in chosen]
    joined = parts[0] if len(parts) == 1 else f"{parts[0]}, and {parts[1][0].lower()}{parts[1][1:]}"
    opening = random_.choice(OPENINGS)
    if not is_true and random_.random() < DENIED_SHARE:
        opening, joined = "", _about(DENIED, place, thing)
    return f"{opening}{joined}." if opening else f"{joined[0].upper()}{joined[1:]}.", is_true


def _scores(claim: str, sentences: list[str], is_true: bool, random_: random.Random) -> dict[str, float]:
    lenient = random_.betavariate(8, 2) if is_true else random_.betavariate(5, 4)
    harsh = random_.betavariate(5, 4) if is_true else random_.betavariate(2, 6)
    return {
        "lenient": round(lenient, 3),
        "harsh": round(harsh, 3),
        "wording": _overlap(claim, " ".join(sentences)),
        f"wording@{CHUNK_WORDS}": max(_overlap(claim, chunk) for chunk in _chunks(sentences)),
    }


def _overlap(claim: str, text: str) -> float:
    """Share of the claim's word pairs that the text has."""
    pairs, found = _pairs(claim), set(_pairs(text))
    return round(sum(pair in found for pair in pairs) / len(pairs), 3)


def _pairs(text: str) -> list[tuple[str, str]]:
    words = re.findall(r"\w+", text.lower())
    return list(pairwise(words))


def _chunks(sentences: list[str]) -> Iterator[str]:
    chunk: list[str] = []
    for sentence in sentences:
        if chunk and len(" ".join([*chunk, sentence]).split()) > CHUNK_WORDS:
            yield " ".join(chunk)
            chunk = []
        chunk.append(sentence)
    yield " ".join(chunk)


if __name__ == "__main__":
    for row in rows(random.Random(8)):
        sys.stdout.write(json.dumps(row) + "\n")

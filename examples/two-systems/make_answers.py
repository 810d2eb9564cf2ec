"""Writes the source, the answers and the labels of this example into the current folder.

    python make_answers.py

The bridges are invented and an error is a value drawn at random, so every label is known. `brief` states few facts and
seldom errs; `thorough` states more and errs more often. Both word some facts as the source does, and others in their
own way.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

N_LABELLED = 40
"""Bridges on which every claim is labelled."""
SYSTEMS = {"brief": (4, 0.1), "thorough": (7, 0.3)}
"""Facts in an answer, and the chance that a fact is wrong."""

# fmt: off
NAMES = (
    "Aldbeck", "Ashmere", "Brackwell", "Brindle", "Calder", "Carnow", "Dellin", "Dunmere", "Eastry", "Elmsworth",
    "Fallow", "Farrow", "Garrick", "Glanmor", "Hallin", "Harrow", "Hexby", "Holbrook", "Ingle", "Jarvis", "Kelder",
    "Kirkby", "Lanning", "Larkhill", "Marden", "Milner", "Narrow", "Norwell", "Oakley", "Orrin", "Padley", "Penhale",
    "Quarry", "Ravens", "Redmire", "Rowan", "Salter", "Selby", "Tarrant", "Thornby", "Ulwell", "Upton", "Vardon",
    "Wading", "Welland", "Wexcombe", "Yarrow", "Yelland", "Abbey", "Barley", "Corran", "Dorwin", "Enders", "Forley",
    "Gorse", "Hadden", "Ilmer", "Kessing", "Lodden", "Merrow",
)
PEOPLE = (
    "Anna Abbot", "Boris Carver", "Clara Draper", "Edith Elwood", "Greta Fuller", "Hugo Glover", "Irene Harper",
    "Jonas Keeler",
)
RIVERS = ("Aller", "Brede", "Cole", "Dane", "Erme", "Foss", "Gwash", "Hodder")
STONES = ("granite", "limestone", "sandstone", "brick", "slate", "basalt")
# fmt: on
FACTS = (
    ("crosses the river {}", "spans the river {}", RIVERS),
    ("was designed by {}", "is the work of the engineer {}", PEOPLE),
    ("was opened in {}", "has carried traffic since {}", range(1790, 1930)),
    ("is {} metres long", "measures {} metres from bank to bank", range(40, 400)),
    ("has {} arches", "rests on {} arches", range(3, 20)),
    ("was built of {}", "is made of {}", STONES),
    ("cost {} thousand pounds", "came to {} thousand pounds in the end", range(12, 95)),
    ("was closed for repairs in {}", "could not be used in {}", range(1935, 2020)),
)
"""In the words of the source, in other words, and the possible values."""


def main() -> None:
    random_ = random.Random(32)
    sources: list[str] = []
    answers: list[dict[str, Any]] = []
    labelled: list[dict[str, Any]] = []
    n_right: Counter[str] = Counter()
    for number, name in enumerate(NAMES):
        bridge, truth = f"The {name} Bridge", [random_.choice(values) for _, _, values in FACTS]
        said = [f"{bridge} {fact[0].format(value)}." for fact, value in zip(FACTS, truth, strict=True)]
        sources.append(f"## {name} Bridge\n\n{' '.join(said)}\n")
        for system, (n_facts, error_rate) in SYSTEMS.items():
            chosen = sorted(random_.sample(range(len(FACTS)), n_facts))
            facts = [_stated(bridge, FACTS[one], truth[one], error_rate, random_) for one in chosen]
            row: dict[str, Any] = {"id": f"{system}-{number}", "system": system, "topic": f"{name} Bridge"}
            row["prompt"] = f"Could you give a detailed account of the {name} Bridge?"
            row["response"] = " ".join(fact["text"] for fact in facts)
            answers.append(row)
            n_right[system] += sum(fact["label"] == "S" for fact in facts)
            if number < N_LABELLED:
                sentences = [{"text": fact["text"], "atomic_facts": [fact]} for fact in facts]
                labelled.append({**row, "sentences": sentences})
    Path("sources").mkdir(exist_ok=True)
    Path("sources/bridges.md").write_text("# Bridges\n\n" + "\n".join(sources), encoding="utf-8")
    for file, rows in {"responses.jsonl": answers, "labelled.jsonl": labelled}.items():
        Path(file).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for system, (n_facts, _) in SYSTEMS.items():
        print(f"{system}: {n_right[system] / n_facts / len(NAMES):.0%} right")  # noqa: T201 - the truth of the example


def _stated(bridge: str, fact: Any, value: object, error_rate: float, random_: random.Random) -> dict[str, str]:
    """A fact in the source's words or in others, with another value if it is wrong."""
    near, reworded, values = fact
    is_wrong = random_.random() < error_rate
    if is_wrong:
        value = random_.choice([other for other in values if other != value])
    return {"text": f"{bridge} {random_.choice((near, reworded)).format(value)}.", "label": "NS" if is_wrong else "S"}


if __name__ == "__main__":
    main()

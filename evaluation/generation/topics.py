"""Topics for new prompts: LongFact's 38, or a file with one a line."""

from __future__ import annotations

from pathlib import Path

from factloop.core.errors import DataError
from factloop.core.files.lines import place_name, read_lines

LONGFACT = "longfact"
LONGFACT_TOPICS = (
    "20th century events", "US foreign policy", "accounting", "architecture", "astronomy", "biology",
    "business ethics", "celebrities", "chemistry", "clinical knowledge", "computer science", "computer security",
    "economics", "electrical engineering", "gaming", "geography", "global facts", "history", "immigration law",
    "international law", "jurisprudence", "machine learning", "management", "marketing", "mathematics", "medicine",
    "moral disputes", "movies", "music", "philosophy", "physics", "prehistory", "psychology", "public relations",
    "sociology", "sports", "virology", "world religions",
)  # fmt: skip
"""The 38 topics of LongFact (Wei et al. 2024, section 2), as its files are named: `longfact-objects_TOPIC.jsonl` in
google-deepmind/long-form-factuality."""


def load_topics(place: str | Path) -> tuple[str, ...]:
    """LongFact's topics for `longfact`, else those of a file, one a line; empty lines are passed over.

    Raises DataError for a file that cannot be read, and for one without a topic.
    """
    if str(place) == LONGFACT:
        return LONGFACT_TOPICS
    topics = tuple(line.strip() for _, line in read_lines(place) if line.strip())
    if not topics:
        raise DataError("there is no topic in it: one a line", path=place_name(place))
    return topics

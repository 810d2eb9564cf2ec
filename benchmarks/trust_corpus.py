"""Indexes a million passages and asks them what TrustFC would ask: `python -m benchmarks.trust_corpus`.

The passages are invented, in the format of wiki-dpr's `psgs_w100.tsv`: 100 words each, as frequent as words are in
English, with common English words at the head of the list; ten passages of an article share its title and its topic.
Each measurement runs in a process of its own, so that its peak of resident memory is its own; the peak includes the
pages of the index that the system keeps in memory for the process and would give back. Ends with 1 where a target is
missed.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from benchmarks.rows import Row, compared, table
from factloop.tools.search.documents.search import DocumentSearch

if TYPE_CHECKING:
    import numpy as np

LEAST_PASSAGES_PER_S = 30_000.0
LONGEST_MEDIAN_MS = 20.0
MOST_MB = 1_000.0
N_QUERIES, N_AT_ONCE, LIMIT = 200, 32, 10
N_WORDS, N_TOPIC_WORDS, N_TYPES = 100, 12, 400_000
PASSAGES_AN_ARTICLE, WORDS_A_SENTENCE, PLACES_OF_TOPIC = 10, 20, 15
BEND, STEEPER_BY = 8_000, 0.9
"""Frequency falls with the rank, and from here on with a power of 1.9 of it, about as it does in English (Ferrer i
Cancho and Solé 2001). So "the" makes 5 % of the words, the 10,000 most frequent ones together 91 %."""
LEAST_TOPIC_RANK = 300
FREQUENT = """
    the of and in to a was is for as on with by that he at from his it an were are which this be or has had first its
    their who one new also not but have two they her she after been other when year there during into all school time
""".split()  # noqa: SIM905 - a list of literals would take fifty lines
QUESTION_WORDS = {"question": 400, "answers": 5_000, "correctly": 9_000}
"""Ranks of these words in English, roughly."""


def vocabulary(rng: random.Random) -> list[str]:
    """Words by falling frequency; longer ones are rarer, and one in 250 has an accent."""
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
    found = dict.fromkeys(FREQUENT)
    while len(found) < N_TYPES:
        found["".join(rng.choices(syllables, k=2 + (len(found) > 1_000) + (len(found) > 50_000)))] = None
    words = list(found)
    for rank in range(1_000, len(words), 250):
        words[rank] = words[rank].replace("a", "á").replace("e", "é")
    for word, rank in QUESTION_WORDS.items():
        words[rank] = word
    return words


class Corpus:
    """The passages, article by article: whatever their number, the first ones are the same."""

    def __init__(self, seed: int) -> None:
        import numpy

        self._seed = seed
        self.words = vocabulary(random.Random(seed))
        places = numpy.arange(len(self.words)) + 2.0
        weights = numpy.minimum(1.0, BEND / places) ** STEEPER_BY / places
        self._cumulative = numpy.cumsum(weights / weights.sum())
        ended, capital = [f"{word}." for word in self.words], [word.capitalize() for word in self.words]
        self._forms = [*self.words, *ended, *capital]

    def topic(self, article: int) -> list[str]:
        """Words that the passages of an article share, of all ranks but the first; the first two are its title."""
        rng = random.Random(f"{self._seed} {article}")
        ranks = (LEAST_TOPIC_RANK * (N_TYPES / LEAST_TOPIC_RANK) ** rng.random() for _ in range(N_TOPIC_WORDS))
        return [self.words[int(rank)] for rank in ranks]

    def rows(self, n_passages: int) -> Iterator[str]:
        """Lines of the table below its header, each with its end."""
        for article in range(-(-n_passages // PASSAGES_AN_ARTICLE)):
            topic = self.topic(article)
            title = f"{topic[0]} {topic[1]}".title()
            first = article * PASSAGES_AN_ARTICLE
            texts = self._texts(article, topic)
            for number, text in enumerate(texts[: n_passages - first], first + 1):
                yield f'{number}\t"{text}"\t{title}\n'

    def _texts(self, article: int, topic: Sequence[str]) -> list[str]:
        import numpy

        rng = numpy.random.default_rng([self._seed, article])
        drawn = numpy.searchsorted(self._cumulative, rng.random((PASSAGES_AN_ARTICLE, N_WORDS)))
        ranks: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = numpy.minimum(drawn, N_TYPES - 1)
        ranks[:, WORDS_A_SENTENCE - 1 :: WORDS_A_SENTENCE] += N_TYPES
        ranks[:, ::WORDS_A_SENTENCE] += 2 * N_TYPES
        places = rng.integers(1, N_WORDS - 1, (PASSAGES_AN_ARTICLE, PLACES_OF_TOPIC)).tolist()
        chosen = rng.integers(0, N_TOPIC_WORDS, (PASSAGES_AN_ARTICLE, PLACES_OF_TOPIC)).tolist()
        texts = []
        for row, row_places, row_topic in zip(ranks.tolist(), places, chosen, strict=True):
            passage = [self._forms[rank] for rank in row]
            for place, which in zip(row_places, row_topic, strict=True):
                passage[place] = topic[which]
            passage[row_places[0]] = f'""{passage[row_places[0]]}""'
            texts.append(" ".join(passage))
        return texts

    def queries(self, n_passages: int) -> list[str]:
        """Queries as TrustFC makes them of answers and questions about some of the articles."""
        rng = random.Random(self._seed)
        return [self._query(self.topic(rng.randrange(n_passages // PASSAGES_AN_ARTICLE))) for _ in range(N_QUERIES)]

    def _query(self, topic: Sequence[str]) -> str:
        subject, other, role, place, thing = topic[0], topic[1], topic[2], topic[3], topic[4]
        answer = f"{subject.capitalize()} {other.capitalize()} was the first {role} of the {place}."
        return f'"{answer}" correctly answers the question of "who was the first {role} of the {place} in the {thing}"'


def write_corpus(path: Path, corpus: Corpus, n_passages: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write("id\ttext\ttitle\n")
        file.writelines(corpus.rows(n_passages))


def measure(path: Path, cache: Path, queries: Sequence[str]) -> dict[str, float]:
    """Run in a fresh process: opens the corpus, for the first time or again, and asks the queries."""
    start, start_cpu = time.perf_counter(), time.process_time()
    search = DocumentSearch([path], cache_dir=cache)
    figures = {"open_s": time.perf_counter() - start, "open_cpu_s": time.process_time() - start_cpu}
    if queries:
        search.search(queries[0], LIMIT)
        seconds = sorted(_seconds(search, query) for query in queries)
        figures |= {"median_s": statistics.median(seconds), "p95_s": seconds[int(0.95 * len(seconds))]}
        figures["at_once_s"] = _seconds_at_once(search, queries)
    return figures | {"peak_mb": _peak_mb()}


def _peak_mb() -> float:
    """Peak memory, from /proc where there is one: `ru_maxrss` starts with the peak of the process that started this."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _seconds(search: DocumentSearch, query: str) -> float:
    start = time.perf_counter()
    search.search(query, LIMIT)
    return time.perf_counter() - start


def _seconds_at_once(search: DocumentSearch, queries: Sequence[str]) -> float:
    """Seconds for queries from as many threads. Raises AssertionError where an answer differs from that asked alone."""
    asked = queries[:N_AT_ONCE]
    alone = [search.search(query, LIMIT) for query in asked]
    with ThreadPoolExecutor(N_AT_ONCE) as pool:
        start = time.perf_counter()
        together = list(pool.map(lambda query: search.search(query, LIMIT), asked))
        seconds = time.perf_counter() - start
    assert together == alone
    return seconds


def _measured(path: Path, cache: Path, queries: Sequence[str] = ()) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.trust_corpus", "--measure", str(path), str(cache)]
    done = subprocess.run(command, input=json.dumps(queries), check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def corpus_rows(path: Path, cache: Path, n_passages: int, queries: Sequence[str]) -> Iterator[Row]:
    index = _measured(path, cache)
    n_bytes = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
    per_s = n_passages / index["open_s"]
    yield compared("index", "passages/s", per_s, "at least", LEAST_PASSAGES_PER_S, "{:,.0f}")
    cpu_us = index["open_cpu_s"] / n_passages * 1e6
    yield Row("index", "processor time of all threads", "", f"{cpu_us:.0f} µs a passage", None)
    yield compared("index", "peak of memory", index["peak_mb"], "at most", MOST_MB, "{:,.0f} MB")
    yield Row("index", "on disk", "", f"{n_bytes / 1e6:,.0f} MB for {path.stat().st_size / 1e6:,.0f} MB", None)
    query = _measured(path, cache, queries)
    yield compared("query", "median", query["median_s"] * 1e3, "at most", LONGEST_MEDIAN_MS, "{:.1f} ms")
    yield Row("query", "95th percentile", "", f"{query['p95_s'] * 1e3:.1f} ms", None)
    yield Row("query", f"{N_AT_ONCE} at once", "", f"{query['at_once_s'] * 1e3:.0f} ms", None)
    yield compared("query", "peak of memory", query["peak_mb"], "at most", MOST_MB, "{:,.0f} MB")
    opened = _measured(path, cache)
    yield Row("open again", "time", "", f"{opened['open_s'] * 1e3:,.0f} ms", None)
    yield Row("open again", "peak of memory", "", f"{opened['peak_mb']:,.0f} MB", None)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="keeps the passages here, and takes those that lie there already")
    parser.add_argument("--measure", type=Path, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        path, cache = given.measure
        sys.stdout.write(json.dumps(measure(path, cache, json.load(sys.stdin))))
        return 0
    corpus = Corpus(given.seed)
    with tempfile.TemporaryDirectory() as name:
        path = (given.folder or Path(name)) / f"passages-{given.passages}-{given.seed}.tsv"
        if not path.exists():
            write_corpus(path.with_suffix(".new"), corpus, given.passages)
            path.with_suffix(".new").replace(path)
        queries = corpus.queries(given.passages)
        rows = list(corpus_rows(path, Path(name, "cache"), given.passages, queries))
    Console().print(table(f"BM25 over {given.passages:,} passages", rows))
    return 1 if any(row.is_met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

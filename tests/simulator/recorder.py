from __future__ import annotations

import hashlib
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

LONGEST_LOG = 5000
KEPT_BODIES = 10_000


@dataclass
class StageStatistics:
    """Requests of one stage by outcome. `requests` is the sum of the other request counts."""

    requests: int = 0
    answered: int = 0
    """Ended with a 200, whatever was in it; these are paid for."""
    limited: int = 0
    """Refused with 429."""
    failed: int = 0
    """Ended with any other error."""
    abandoned: int = 0
    """The client hung up before the answer."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """Of answered requests."""


@dataclass(frozen=True)
class LogEntry:
    number: int
    stage: str
    status: int
    """0 where the client hung up."""
    fault: str
    started_s: float
    """Seconds since the last reset."""
    took_s: float


@dataclass
class Statistics:
    """Counts since the start or the last reset. `asdict` gives JSON."""

    stages: dict[str, StageStatistics] = field(default_factory=dict)
    in_flight: int = 0
    max_in_flight: int = 0
    live: int = 0
    """Requests to the model that were not lines of batches."""
    repeated: int = 0
    """Paid requests whose body was the same, to the byte, as that of an earlier paid one of their stage."""
    cpu_s: float = 0.0
    """CPU time of the simulator's thread."""
    elapsed_s: float = 0.0
    log: list[LogEntry] = field(default_factory=list)
    """The last requests, oldest first."""

    @property
    def model(self) -> StageStatistics:
        """The sums over the model's stages."""
        return self._sum([stage for name, stage in self.stages.items() if name != "search"])

    @property
    def search(self) -> StageStatistics:
        return self.stages.get("search", StageStatistics())

    @staticmethod
    def _sum(stages: list[StageStatistics]) -> StageStatistics:
        total: Counter[str] = Counter()
        for stage in stages:
            total.update(asdict(stage))
        return StageStatistics(**total)


@dataclass
class Outcome:
    """How a request ended; its handler fills it in."""

    status: int = 0
    fault: str = "none"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    paid_body: bytes | None = None
    """The body, once the request is certain to be paid for: repeats are counted by it."""


class Recorder:
    """Counts requests. Belongs to the thread of its event loop."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._stages: dict[str, StageStatistics] = {}
        self._in_flight = self._max_in_flight = self.live = 0
        self._paid: Counter[bytes] = Counter()
        self._log: deque[LogEntry] = deque(maxlen=LONGEST_LOG)
        self._bodies: deque[tuple[str, str]] = deque(maxlen=KEPT_BODIES)
        self._started, self._cpu = time.perf_counter(), time.thread_time()

    @contextmanager
    def request(self, number: int, stage: str, body: bytes) -> Iterator[Outcome]:
        self._bodies.append((stage, body.decode("utf-8", "replace")))
        counts = self._stages.setdefault(stage, StageStatistics())
        counts.requests += 1
        self._in_flight += 1
        self._max_in_flight = max(self._max_in_flight, self._in_flight)
        outcome, arrived = Outcome(), time.perf_counter()
        try:
            yield outcome
        finally:
            self._in_flight = max(0, self._in_flight - 1)
            _count(counts, outcome)
            if outcome.paid_body is not None:
                self._paid[hashlib.blake2b(stage.encode() + b" " + outcome.paid_body, digest_size=16).digest()] += 1
            started_s, took_s = arrived - self._started, time.perf_counter() - arrived
            entry = LogEntry(number, stage, outcome.status, outcome.fault, round(started_s, 4), round(took_s, 4))
            self._log.append(entry)

    def bodies(self, stage: str | None) -> list[str]:
        return [body for of, body in self._bodies if stage in (None, of)]

    def snapshot(self, *, with_log: bool = False) -> dict[str, Any]:
        """`Statistics` as JSON; the log is long, so it is included only on request."""
        repeated = sum(times - 1 for times in self._paid.values())
        elapsed_s, cpu_s = time.perf_counter() - self._started, time.thread_time() - self._cpu
        log = list(self._log) if with_log else []
        return asdict(
            Statistics(self._stages, self._in_flight, self._max_in_flight, self.live, repeated, cpu_s, elapsed_s, log)
        )


def _count(counts: StageStatistics, outcome: Outcome) -> None:
    if outcome.status == 200:
        counts.answered += 1
        counts.prompt_tokens += outcome.prompt_tokens
        counts.completion_tokens += outcome.completion_tokens
    elif outcome.status == 429:
        counts.limited += 1
    elif outcome.status == 0:
        counts.abandoned += 1
    else:
        counts.failed += 1

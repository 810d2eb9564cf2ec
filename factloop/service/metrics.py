"""Prometheus metrics for requests, jobs, claims and costs since startup."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport
from factloop.core.records import FactualityReport, Record, Usage
from factloop.service.shapes import Job

LAG_EVERY_S = 0.5
LAGS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)


class Metrics:
    def __init__(self, names: Mapping[str, str]) -> None:
        """`names` maps owners to their names in the metrics."""
        self._names = names
        self._registry = own = CollectorRegistry()
        self._requests = Counter(
            "factloop_requests", "Requests answered, by route and status.", ["route", "status"], registry=own
        )
        self._jobs = Counter("factloop_jobs", "Jobs that ended.", ["kind", "status", "key"], registry=own)
        self.working = Gauge("factloop_jobs_in_flight", "Jobs that are running.", ["kind"], registry=own)
        self.seconds = Histogram(
            "factloop_job_seconds", "Running time of a job in seconds.", ["kind"], buckets=SECONDS, registry=own
        )
        self._claims = Counter("factloop_claims", "Claims judged, by verdict.", ["verdict"], registry=own)
        calls, cost = "Model calls answered and paid for, by key.", "Cost in USD of calls whose price is known, by key."
        self._calls = Counter("factloop_model_calls", calls, ["key"], registry=own)
        self._tokens = Counter("factloop_model_tokens", "Tokens used by model calls.", ["kind"], registry=own)
        self._searches = Counter("factloop_searches", "Searches.", registry=own)
        self._cost = Counter("factloop_cost_usd", cost, ["key"], registry=own)
        self.wrong_keys = Counter("factloop_wrong_keys", "Requests with a wrong key.", registry=own)
        queued = "Jobs waiting in all services that share the database."
        self._queued = Gauge("factloop_jobs_queued", queued, registry=own)
        self._waited = Gauge("factloop_oldest_wait_seconds", "Waiting time of the oldest job in seconds.", registry=own)
        self._lag = Histogram(
            "factloop_loop_lag_seconds", "Delay of a timer in the requests' event loop.", buckets=LAGS, registry=own
        )

    def queue(self, n_queued: float, oldest_s: float) -> None:
        self._queued.set(n_queued)
        self._waited.set(oldest_s)

    async def watch_loop(self) -> None:
        while True:
            begun = time.monotonic()
            await asyncio.sleep(LAG_EVERY_S)
            self._lag.observe(max(0.0, time.monotonic() - begun - LAG_EVERY_S))

    def request(self, route: str, status: int) -> None:
        self._requests.labels(route, str(status)).inc()

    def finished(self, job: Job, owner: str, report: Record | None) -> None:
        key = self._names.get(owner, "")
        self._jobs.labels(job.kind, job.status, key).inc()
        if report is None and job.progress.usage is not None:  # the job was stopped or failed, but still cost something
            self._spent(key, job.progress.usage)
        if isinstance(report, LongFormTrustReport):
            self._spent(key, report.usage)
            report = report.factuality
        if isinstance(report, FactualityReport):
            for verdict, count in report.counts.model_dump().items():
                self._claims.labels(verdict).inc(count)
        if isinstance(report, FactualityReport | TrustReport):
            self._spent(key, report.usage)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def _spent(self, key: str, usage: Usage) -> None:
        self._calls.labels(key).inc(usage.calls)
        self._tokens.labels("prompt").inc(usage.prompt_tokens)
        self._tokens.labels("completion").inc(usage.completion_tokens)
        self._searches.inc(usage.searches)
        self._cost.labels(key).inc(usage.cost_usd or 0.0)

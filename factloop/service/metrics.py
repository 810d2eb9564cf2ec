"""Metrics for Prometheus: requests, jobs, claims, and what they cost. Counted since the start."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport
from factloop.core.records import FactualityReport, Record, Usage
from factloop.service.shapes import Job

SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)


class Metrics:
    """The counts of one service, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = own = CollectorRegistry()
        self._requests = Counter(
            "factloop_requests", "Requests answered, by route and status.", ["route", "status"], registry=own
        )
        self._jobs = Counter("factloop_jobs", "Jobs that ended, by kind and status.", ["kind", "status"], registry=own)
        self.working = Gauge("factloop_jobs_in_flight", "Jobs at work.", ["kind"], registry=own)
        self.seconds = Histogram(
            "factloop_job_seconds", "Seconds that a job was at work.", ["kind"], buckets=SECONDS, registry=own
        )
        self._claims = Counter("factloop_claims", "Claims judged, by verdict.", ["verdict"], registry=own)
        self._calls = Counter("factloop_model_calls", "Model calls answered and paid for.", registry=own)
        self._tokens = Counter("factloop_model_tokens", "Tokens of model calls.", ["kind"], registry=own)
        self._searches = Counter("factloop_searches", "Searches.", registry=own)
        self._cost = Counter("factloop_cost_usd", "Cost of model calls whose price is known.", registry=own)

    def request(self, route: str, status: int) -> None:
        self._requests.labels(route, str(status)).inc()

    def finished(self, job: Job, report: Record | None) -> None:
        self._jobs.labels(job.kind, job.status).inc()
        if report is None and job.progress.usage is not None:  # it was stopped or failed, and was paid for as well
            self._spent(job.progress.usage)
        if isinstance(report, LongFormTrustReport):
            self._spent(report.usage)
            report = report.factuality
        if isinstance(report, FactualityReport):
            for verdict, count in report.counts.model_dump().items():
                self._claims.labels(verdict).inc(count)
        if isinstance(report, FactualityReport | TrustReport):
            self._spent(report.usage)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def _spent(self, usage: Usage) -> None:
        self._calls.inc(usage.calls)
        self._tokens.labels("prompt").inc(usage.prompt_tokens)
        self._tokens.labels("completion").inc(usage.completion_tokens)
        self._searches.inc(usage.searches)
        self._cost.inc(usage.cost_usd or 0.0)

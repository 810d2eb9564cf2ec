"""Traces of a command reach a collector, and LangSmith, by their own variables."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

ROOT = Path(__file__).resolve().parents[2]


class Collector(ThreadingHTTPServer):
    """Takes whatever is posted, and remembers it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.got: list[tuple[str, bytes]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.got.append((self.path, body))
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self.do_POST()

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever, daemon=True)
        thread.start()
        yield collector
        collector.shutdown()
        thread.join(10)


def run(home: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        timeout=60,
        check=False,
    )


@pytest.mark.process
def test_a_command_sends_its_spans_before_it_ends(home: Path, answer: Path, docs: Path, collector: Collector) -> None:
    done = run(
        home, "-m", "factloop", "check", answer, "--docs", docs, "--json", "-",
        FACTLOOP_TRACING="on", OTEL_EXPORTER_OTLP_ENDPOINT=collector.address,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    bodies = [body for path, body in collector.got if path == "/v1/traces"]
    sent = [span for body in bodies for span in _spans(body)]
    assert {"invoke_agent factloop.safe", "stage read", "stage assess", "retrieval documents"} <= set(sent)
    assert not any(b"Lovelace" in body for body in bodies)


def _spans(body: bytes) -> list[str]:
    request = ExportTraceServiceRequest.FromString(body)
    assert {
        attribute.value.string_value
        for resource in request.resource_spans
        for attribute in resource.resource.attributes
        if attribute.key == "service.name"
    } == {"factloop"}
    return [span.name for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


@pytest.mark.process
@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("FACTLOOP_TRACING", "loud", "environment variable FACTLOOP_TRACING: tracing = 'loud'"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "'zipkin' is not known here"),
    ],
)
def test_what_cannot_be_traced_so_is_one_line(
    home: Path, answer: Path, docs: Path, variable: str, value: str, said: str
) -> None:
    """In a process of its own, as tracing is set up once in each."""
    traced = {"FACTLOOP_TRACING": "on", variable: value}
    done = run(home, "-m", "factloop", "check", answer, "--docs", docs, **traced)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


@pytest.mark.process
def test_langsmith_gets_runs_by_its_own_variables(home: Path, docs: Path, collector: Collector) -> None:
    program = (
        "from factloop import FactChecker; from langchain_core.tracers.langchain import wait_for_all_tracers;"
        f"FactChecker(docs={str(docs)!r}, cache=False).check('Ada Lovelace was born in London.');"
        "wait_for_all_tracers()"
    )
    done = run(
        home, "-c", program,
        LANGSMITH_TRACING="true", LANGSMITH_ENDPOINT=collector.address, LANGSMITH_API_KEY="simulated",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    posted = b"".join(body for _, body in collector.got)
    assert b'"safe"' in posted
    assert b'"read"' in posted

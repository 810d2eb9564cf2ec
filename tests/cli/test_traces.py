from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes, exception_attributes, http_attributes, server_attributes

from tests.cli.processes import ROOT
from tests.simulator import MODEL, Faults, Simulator

pytestmark = pytest.mark.process
CONVENTIONS = (gen_ai_attributes, server_attributes, error_attributes, http_attributes, exception_attributes)


class Collector(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.got: list[tuple[str, bytes]] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class _Taking(BaseHTTPRequestHandler):
    def _take(self) -> None:
        assert isinstance(self.server, Collector)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        zipped = self.headers.get("Content-Encoding") == "gzip"
        self.server.got.append((self.path, gzip.decompress(body) if zipped else body))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST = do_PATCH = _take  # noqa: N815 -- names of the standard library

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
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=home, env=environment, timeout=60, check=False)


def known_names() -> set[str]:
    given_up = {gen_ai_attributes.GEN_AI_SYSTEM, gen_ai_attributes.GEN_AI_OPENAI_REQUEST_SEED}
    named = {value for module in CONVENTIONS for name, value in vars(module).items() if name.isupper()}
    return {value for value in named if isinstance(value, str)} - given_up


def attributes(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for attribute in span.attributes:
        kind = attribute.value.WhichOneof("value")
        value = getattr(attribute.value, kind)
        found[attribute.key] = [one.string_value for one in value.values] if kind == "array_value" else value
    return found


def test_spans_are_sent_by_the_names_of_the_conventions(
    home: Path, sim: Simulator, answer: Path, docs: Path, collector: Collector
) -> None:
    sim.set(faults=Faults(error_500=0.3))
    done = run(
        home, "-m", "factloop", "check", answer, "--docs", docs, "--search", "serper", "--plan", "fused",
        "--model", MODEL, "--base-url", sim.base_url, "--temperature", "0.5", "--max-tokens", "512", "--no-cache",
        FACTLOOP_TRACING="content", OTEL_EXPORTER_OTLP_ENDPOINT=collector.address,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    requests = [ExportTraceServiceRequest.FromString(body) for path, body in collector.got if path == "/v1/traces"]
    resources = [resource for request in requests for resource in request.resource_spans]
    assert {one.value.string_value for each in resources for one in each.resource.attributes} >= {"factloop"}
    spans = [span for resource in resources for scope in resource.scope_spans for span in scope.spans]
    names = {one.key for span in spans for part in (span, *span.events) for one in part.attributes}
    assert {name for name in names if not name.startswith("factloop.")} <= known_names()
    operations = {attributes(span).get("gen_ai.operation.name") for span in spans} - {None}
    assert operations == {"chat", "invoke_agent", "retrieval"}
    calls = [span for span in spans if span.name == "chat sim"]
    address = urlsplit(sim.base_url)
    asked = {
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "sim",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 512,
        "server.address": address.hostname,
        "server.port": address.port,
    }
    for span in (*calls, *(span for span in spans if span.name == "invoke_agent factloop.safe")):
        assert asked.items() <= attributes(span).items()
    assert calls
    for span in calls:
        values = attributes(span)
        assert (span.kind, values["gen_ai.usage.input_tokens"] > 0) == (Span.SPAN_KIND_CLIENT, True)
        (said,) = json.loads(values["gen_ai.output.messages"])
        assert [said["finish_reason"]] == values["gen_ai.response.finish_reasons"]
        assert said["finish_reason"] in ("stop", "tool_calls")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("FACTLOOP_TRACING", "loud", "environment variable FACTLOOP_TRACING: tracing = 'loud'"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "must be otlp, console or none, not 'zipkin'"),
    ],
)
def test_what_cannot_be_traced_so_is_one_line(
    home: Path, answer: Path, docs: Path, variable: str, value: str, said: str
) -> None:
    done = run(home, "-m", "factloop", "check", answer, "--docs", docs, **{"FACTLOOP_TRACING": "on", variable: value})
    assert (done.returncode, done.stderr.count("\n"), said in done.stderr) == (2, 1, True)

"""Traces of a command reach a collector, and LangSmith, by their own variables."""

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
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import (
    GenAiOperationNameValues,
    GenAiProviderNameValues,
)
from opentelemetry.semconv.attributes import (
    error_attributes,
    exception_attributes,
    http_attributes,
    server_attributes,
)

from tests.simulator import MODEL, Faults, Simulator

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


def known_names() -> set[str]:
    """The names of attributes that OpenTelemetry's package of semantic conventions has, without those given up."""
    given_up = {gen_ai_attributes.GEN_AI_SYSTEM, gen_ai_attributes.GEN_AI_OPENAI_REQUEST_SEED}
    modules = (gen_ai_attributes, server_attributes, error_attributes, http_attributes, exception_attributes)
    return {
        value
        for module in modules
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and value not in given_up
    }


@pytest.mark.process
def test_the_names_are_those_of_the_conventions(
    home: Path, sim: Simulator, answer: Path, docs: Path, collector: Collector
) -> None:
    """As a backend gets them: decoded by the protocol's own protobufs, names and values held against the package."""
    sim.set(faults=Faults(error_500=0.3))
    done = run(
        home, "-m", "factloop", "check", answer, "--docs", docs, "--search", "serper", "--plan", "fused",
        "--model", MODEL, "--base-url", sim.base_url, "--temperature", "0.5", "--max-tokens", "512", "--no-cache",
        FACTLOOP_TRACING="content", OTEL_EXPORTER_OTLP_ENDPOINT=collector.address,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    spans = [span for path, body in collector.got if path == "/v1/traces" for span in sent(body)]
    names = {one.key for span in spans for part in (span, *span.events) for one in part.attributes}
    assert {name for name in names if not name.startswith("factloop.")} <= known_names()
    calls = [span for span in spans if span.name == "chat sim"]
    assert calls
    address = urlsplit(sim.base_url)
    for span in (*calls, *(span for span in spans if span.name == "invoke_agent factloop.safe")):
        values = attributes(span)
        assert values[gen_ai_attributes.GEN_AI_PROVIDER_NAME] == GenAiProviderNameValues.OPENAI.value
        assert values[gen_ai_attributes.GEN_AI_REQUEST_MODEL] == "sim"
        assert values[gen_ai_attributes.GEN_AI_REQUEST_TEMPERATURE] == 0.5
        assert values[gen_ai_attributes.GEN_AI_REQUEST_MAX_TOKENS] == 512
        assert values[server_attributes.SERVER_ADDRESS] == address.hostname
        assert values[server_attributes.SERVER_PORT] == address.port
    operations = {attributes(span).get(gen_ai_attributes.GEN_AI_OPERATION_NAME) for span in spans} - {None}
    assert operations == {
        GenAiOperationNameValues.CHAT.value,
        GenAiOperationNameValues.INVOKE_AGENT.value,
        GenAiOperationNameValues.RETRIEVAL.value,
    }
    for span in calls:
        values = attributes(span)
        assert span.kind == Span.SPAN_KIND_CLIENT
        assert values[gen_ai_attributes.GEN_AI_RESPONSE_FINISH_REASONS] in (["stop"], ["tool_calls"])
        assert values[gen_ai_attributes.GEN_AI_USAGE_INPUT_TOKENS] > 0
        assert values[gen_ai_attributes.GEN_AI_USAGE_OUTPUT_TOKENS] > 0
        (said,) = json.loads(values[gen_ai_attributes.GEN_AI_OUTPUT_MESSAGES])
        assert [said["finish_reason"]] == values[gen_ai_attributes.GEN_AI_RESPONSE_FINISH_REASONS]


def attributes(span: Span) -> dict[str, Any]:
    """The attributes as Python's values."""
    found: dict[str, Any] = {}
    for attribute in span.attributes:
        kind = attribute.value.WhichOneof("value")
        value = getattr(attribute.value, kind)
        found[attribute.key] = [one.string_value for one in value.values] if kind == "array_value" else value
    return found


def sent(body: bytes) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(body)
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


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

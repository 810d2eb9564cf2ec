"""The SPARQL server Oxigraph (the wheel `oxigraph`) in place of DBpedia, over a few triples."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from factloop.doctor.examination import diagnose
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.names.dbpedia import DBpediaKnowledgeBase
from factloop.trust.settings import TrustSettings
from tests.real.servers import free_port, running
from tests.tools.names.dbpedia_servers import ONTOLOGY, PLAYER, linked, thing

_PROGRAM = shutil.which("oxigraph", path=str(Path(sys.executable).parent)) or shutil.which("oxigraph")
pytestmark = [pytest.mark.real, pytest.mark.skipif(_PROGRAM is None, reason="oxigraph is not installed")]

TRIPLES = (
    ONTOLOGY
    + "dbo:City rdfs:subClassOf dbo:Settlement .\n"
    + thing("Kobe_Bryant", "Kobe Bryant", PLAYER, 300_000)
    + thing("LeBron_James", "LeBron James", PLAYER, 400_000)
    + "<http://dbpedia.org/resource/Black_Mamba> <http://dbpedia.org/ontology/wikiPageRedirects> "
    + "<http://dbpedia.org/resource/Kobe_Bryant> .\n"
)
AT_ONCE = RetryPolicy(attempts=1, timeout_attempts=1)


@pytest.fixture(scope="module")
def sparql_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("oxigraph")
    triples = folder / "triples.ttl"
    triples.write_text(TRIPLES, encoding="utf-8")
    store = folder / "store"
    assert _PROGRAM is not None
    subprocess.run([_PROGRAM, "load", "--location", store, "--file", triples], check=True, capture_output=True)
    port = free_port()
    place = f"127.0.0.1:{port}"
    with running([_PROGRAM, "serve-read-only", "--location", store, "--bind", place], port):
        yield f"http://{place}/query"


def base(sparql_url: str) -> DBpediaKnowledgeBase:
    return DBpediaKnowledgeBase(sparql_url=sparql_url, timeout_s=10.0, retry=AT_ONCE)


@pytest.mark.parametrize("key", ["Kobe> . } DROP ALL #", 'Köln_("a\\b")', "{}|^`"])
async def test_no_name_breaks_a_query(sparql_url: str, key: str) -> None:
    """The server parses every query and would reject a name that escapes its brackets."""
    opened = base(sparql_url)
    found = await opened.siblings(linked("Kobe Bryant", key), 99)
    await opened.aclose()
    assert "LeBron James" in {sibling.label for sibling in found}


async def test_a_doctor_sees_that_it_answers(sparql_url: str) -> None:
    trust = TrustSettings(dbpedia=True, sparql_url=sparql_url, spotlight_url="http://127.0.0.1:9/annotate", cache=False)
    diagnosis = await diagnose(CheckSettings(cache=False), trust)
    spotlight, sparql = (part for part in diagnosis.parts if part.part == "knowledge_base")
    assert (spotlight.state, sparql.state) == ("fails", "works")
    assert sparql.how == ("DBpedia's ontology is loaded",)

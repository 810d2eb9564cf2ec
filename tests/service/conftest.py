from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, text

from factloop.service.app import build_app
from factloop.service.settings import ServiceSettings
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings
from tests.service import postgres
from tests.service.asking import ADDRESS, FINISHED_WITHIN_S, Service


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith(("FACTLOOP_", "OPENAI_", "SERPER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def service(home: Path) -> Service:
    """Use as `async with service(max_jobs=1) as client`."""

    @asynccontextmanager
    async def opened(
        check: CheckSettings | None = None, trust: TrustSettings | None = None, **changes: Any
    ) -> AsyncIterator[httpx.AsyncClient]:
        settings = ServiceSettings(
            **{"folder": home / "service", "rate": "10000/minute", "stop_timeout_s": 0.2, **changes}
        )
        check = check or CheckSettings(cache_dir=home / "cache")
        app = build_app(settings, check, trust or TrustSettings(cache_dir=home / "cache"))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=FINISHED_WITHIN_S) as client,
        ):
            yield client

    return opened


@pytest.fixture
def docs(home: Path) -> Path:
    folder = home / "docs"
    folder.mkdir()
    (folder / "ada.txt").write_text("Ada Lovelace was born in London on 10 December 1815.\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with postgres.running() as server:
        yield server.url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jobs.sqlite'}"
    found: str = request.getfixturevalue("postgres_url")
    engine = create_engine(found)
    with engine.begin() as connection:
        for name in ("repeats", "job_texts", "jobs", "hits", "spending", "format", "revisions"):
            connection.execute(text(f"DROP TABLE IF EXISTS factloop_{name}"))
    engine.dispose()
    return found

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.real.services import Services, services_over
from tests.service import postgres
from tests.service.postgres import PostgresServer
from tests.simulator import Simulator


@pytest.fixture(scope="module")
def installed() -> Iterator[PostgresServer]:
    with postgres.running() as server:
        yield server


@pytest.fixture
def server(installed: PostgresServer) -> PostgresServer:
    engine = create_engine(installed.url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return installed


@pytest.fixture
def services(sim: Simulator, tmp_path: Path) -> Iterator[Services]:
    with services_over(sim, tmp_path) as found:
        yield found

"""The PostgreSQL server of other tests: what goes wrong within a test fails it."""

from __future__ import annotations

import pytest

from tests.service import postgres
from tests.service.postgres import CommandFailed


@pytest.mark.postgres
def test_a_server_that_does_not_start_again_is_no_reason_to_skip() -> None:
    with postgres.running() as server:
        with pytest.raises(CommandFailed, match="pg_ctl"):
            server.start()  # it runs already
        server.stop()
        with pytest.raises(CommandFailed, match="pg_ctl"):
            server.stop()
        server.start()

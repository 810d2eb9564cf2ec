from __future__ import annotations

import pytest

from tests.tools.fake_server import no_collection_in_deep_recursion as no_collection_in_deep_recursion
from tests.tools.fake_server import server as server


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SERPER_API_KEY", "FACTLOOP_SERPER_URL", "FACTLOOP_SEARXNG_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from factloop.service.app import build_app
from factloop.service.settings import ServiceSettings
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings
from tests.service.serving import serving

EXAMPLES = settings().max_examples // 4  # of each operation; each is a request
STREAMS = "/v1/jobs/{job_id}/events"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("service")
    settings = ServiceSettings(folder=folder, port=0, rate="100000/minute", max_jobs=2, max_queued=5)
    app = build_app(settings, CheckSettings(cache_dir=folder), TrustSettings(cache_dir=folder))
    with serving(app) as found:
        yield found


@pytest.mark.statistical
@pytest.mark.hypothesis  # which the test itself does not show
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")  # the service, in its thread, draws meanwhile
def test_no_request_of_the_schema_breaks_the_service(address: str) -> None:
    import schemathesis  # here, so that what collects the tests need not import it
    from schemathesis.checks import CHECKS, load_all_checks
    from schemathesis.core.result import Ok

    load_all_checks()
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    names = ["not_a_server_error", "status_code_conformance", "content_type_conformance"]
    checks: Any = CHECKS.get_by_names(names)
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) >= 15
    for operation in operations:
        if operation.path != STREAMS:

            @given(case=operation.as_strategy())
            @settings(
                max_examples=EXAMPLES,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def holds(case: schemathesis.Case[Any]) -> None:
                answer = case.call(base_url=address)
                if answer.status_code != 503:  # too many jobs wait: said by design, with Retry-After
                    case.validate_response(answer, checks=checks)

            holds()
    assert httpx.get(f"{address}/health").status_code == 200

"""Every kind of job is stopped and deleted from its view, and asked for again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.service.conftest import Looking
from tests.browser.service.serving import Serving, simulated
from tests.simulator import Simulator

SCORED = {"dataset": "d", "system": "s", "claim_id": "1"}
ROWS = [
    {**SCORED, "response_id": str(number), "label": number % 2, "evaluators": {"right": float(number % 2)}}
    for number in range(6)
]


@pytest.fixture
def hanging(world: Simulator) -> Iterator[Simulator]:
    """The world, which answers nothing until `dies_after` is None."""
    world.set(dies_after=0, dies_by="hang")
    yield world
    world.set(dies_after=None)


def test_a_score_is_stopped_asked_again_and_deleted(looking: Looking, service: Serving, hanging: Simulator) -> None:
    pair = hanging.world.questions[0]
    page = looking.at(f"{service.url}/#/trust")
    page.get_by_role("textbox", name="Question").fill(pair.question)
    page.get_by_role("textbox", name="Answer").fill(pair.answer)
    page.get_by_role("radio", name="No documents of mine").check()
    page.get_by_role("button", name="Score", exact=True).click()
    page.get_by_role("button", name="Stop this score").click()
    expect(page.get_by_role("status").filter(has_text="Stopped. It cost")).to_be_visible()
    hanging.set(dies_after=None)
    job = page.url.rpartition("/")[2]
    page.get_by_role("button", name="Edit and score again").click()
    expect(page.get_by_role("textbox", name="Question")).to_have_value(pair.question)
    expect(page.get_by_role("radio", name="No documents of mine")).to_be_checked()
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".figures dt").nth(1)).to_have_text("TrustBC")
    page.goto(f"{service.url}/#/trust/{job}")
    expect(page.get_by_role("status").filter(has_text="Stopped.")).to_be_visible()  # the other view is gone
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it for good?").click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    assert job not in {one["id"] for one in service.get("/v1/jobs")["jobs"]}


def test_an_audit_is_stopped_and_deleted(looking: Looking, hanging: Simulator, tmp_path: Path) -> None:
    """Behind a check that does not end, it waits for its turn. One answer on its end is enough."""
    with Serving(tmp_path, simulated(hanging), max_jobs=1) as serving:
        serving.post("/v1/checks", {"response": "Granite is a rock.", "mode": "factuality"})
        job = serving.post("/v1/audits", {"rows": ROWS})["id"]
        page = looking.at(f"{serving.url}/#/audits/{job}")
        with page.expect_response("**/cancel"):
            page.get_by_role("button", name="Stop it").click()
        page.route(f"**/v1/jobs/{job}", lambda route: route.abort())
        page.route(f"**/v1/jobs/{job}", lambda route: route.continue_(), times=1)
        expect(page.get_by_role("button", name="Delete")).to_be_visible()
        page.unroute(f"**/v1/jobs/{job}")
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Delete it for good?").click()
        expect(page.get_by_role("heading", name="History")).to_be_visible()
        assert job not in {one["id"] for one in serving.get("/v1/jobs")["jobs"]}

"""Says in the OpenAPI document which requests need a key."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from factloop.service.tickets import PARAMETER

UNDER_A_KEY = "/v1/"
BY_TICKET = ("/v1/jobs/{job_id}/report.html", "/v1/results/{name}/page.html")
SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "A key that the operator of the service gave out."},
    "ticket": {
        "type": "apiKey",
        "in": "query",
        "name": PARAMETER,
        "description": "For one page, from `POST /v1/tickets`: a link carries no key.",
    },
}


def describe_keys(app: FastAPI, *, needs_key: bool) -> None:
    """Adds the ways to show a key; where the service needs none, they may be left out."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = described()
            schema["components"]["securitySchemes"] = SCHEMES
            for path, operations in schema["paths"].items():
                for operation in operations.values():
                    operation["security"] = _ways(path, needs_key=needs_key)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's documentation has it


def _ways(path: str, *, needs_key: bool) -> list[dict[str, list[str]]]:
    if not path.startswith(UNDER_A_KEY):
        return []
    open_to_all: list[dict[str, list[str]]] = [] if needs_key else [{}]
    by_ticket: list[dict[str, list[str]]] = [{"ticket": []}] if path in BY_TICKET else []
    return [*open_to_all, {"key": []}, *by_ticket]

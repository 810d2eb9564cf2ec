"""`python -m tests.simulator`: an invented provider on loopback, to try factloop against."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields
from typing import Annotated

import typer
from pydantic import ValidationError

from tests.simulator.building import build_world
from tests.simulator.client import WORLD_SEED
from tests.simulator.server import HOST, SETTINGS, serving
from tests.simulator.settings import SimulatorSettings
from tests.simulator.world import World


def main(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8099,
    seed: Annotated[int, typer.Option(help="Seed of the world.")] = WORLD_SEED,
    settings: Annotated[str, typer.Option(help="JSON of settings that differ, e.g. '{\"llm_latency_s\": 0}'.")] = "{}",
    show: Annotated[int | None, typer.Option(help="Print the response with about so many facts, and stop.")] = None,
) -> None:
    """Serve the invented world as an OpenAI-compatible model and as Serper, until interrupted. The first line on
    standard output is JSON with the addresses."""
    world = build_world(seed)
    if show is not None:
        response = world.one_response(show)
        typer.echo(f"--question {response.prompt!r}", err=True)
        typer.echo(response.text)
        return
    try:
        chosen = SETTINGS.validate_json(settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        known = ", ".join(one.name for one in fields(SimulatorSettings))
        said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}; the settings are {known}"
        raise typer.BadParameter(said, param_hint="--settings") from error
    try:
        asyncio.run(_serve(world, chosen, port))
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)


async def _serve(world: World, settings: SimulatorSettings, port: int) -> None:
    async with serving(world, settings, port) as taken:
        address = f"http://{HOST}:{taken}"
        typer.echo(json.dumps({"port": taken, "base_url": f"{address}/v1", "serper_url": address}))
        await asyncio.Event().wait()


if __name__ == "__main__":
    typer.run(main)

"""A model provider and a search engine over loopback HTTP that know one invented world.

with Simulator(faults=Faults(error_500=0.1)) as sim:          # in a thread, without delays: for tests
    checker = FactChecker(model=MODEL, base_url=sim.base_url, search="serper")
with spawn() as sim: ...                                      # its own process, with delays: for benchmarks
python -m tests.simulator --port 8099                         # for a person
"""

from tests.simulator.client import INSTANT, MODEL, RunningSimulator, Simulator, spawn
from tests.simulator.recorder import Statistics
from tests.simulator.settings import CHAT, SEARCH, Faults, SimulatorSettings
from tests.simulator.subject import Subject
from tests.simulator.world import GoldFact, Passage, QaPair, Response, Topic, World, load_world

__all__ = [
    "CHAT",
    "INSTANT",
    "MODEL",
    "SEARCH",
    "Faults",
    "GoldFact",
    "Passage",
    "QaPair",
    "Response",
    "RunningSimulator",
    "Simulator",
    "SimulatorSettings",
    "Statistics",
    "Subject",
    "Topic",
    "World",
    "load_world",
    "spawn",
]

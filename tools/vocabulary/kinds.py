"""Common nouns and names of one kind (sports, animals, planets), and the kind that a question asks for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.vocabulary.inflections import lemmas

_LISTED: Mapping[str, str] = {
    "sport": "football,baseball,basketball,cricket,tennis,golf,rugby,ice hockey,boxing,swimming,volleyball,badminton,"
    "cycling,handball,softball,lacrosse,wrestling,fencing,rowing,judo,squash,snooker,polo,table tennis,water polo,"
    "skiing,gymnastics,archery,karate,surfing",
    "instrument": "piano,guitar,violin,cello,flute,clarinet,saxophone,trumpet,trombone,harp,banjo,accordion,oboe,"
    "harmonica,mandolin,bassoon,tuba,ukulele,viola,double bass,sitar,organ,drum",
    "religion": "Christianity,Islam,Hinduism,Buddhism,Judaism,Sikhism,Jainism,Taoism,Shinto,Confucianism,"
    "Zoroastrianism,Catholicism,Protestantism,Methodism,Lutheranism,Calvinism,Anglicanism,atheism",
    "music": "rock,pop,jazz,blues,country,folk,reggae,punk,soul,funk,disco,techno,hip hop,heavy metal,gospel,ska,"
    "grunge,bluegrass,swing,salsa,opera,house,indie rock,ambient",
    "genre": "comedy,drama,thriller,horror,fantasy,romance,mystery,western,science fiction,satire,tragedy,documentary,"
    "biography,musical,adventure,action,crime,animation,melodrama,farce",
    "answer": "yes,no,sometimes,rarely,often,never,always,partly,usually,perhaps",
    "party": "Democratic,Republican,Conservative,Labour,Liberal,Socialist,Green,Communist,Whig,Federalist,Libertarian,"
    "Progressive,Independent,Populist,Reform,Christian Democratic",
    "planet": "Mercury,Venus,Earth,Mars,Jupiter,Saturn,Uranus,Neptune,Pluto",
    "element": "hydrogen,helium,lithium,carbon,nitrogen,oxygen,fluorine,neon,sodium,magnesium,aluminium,silicon,"
    "phosphorus,sulfur,chlorine,argon,potassium,calcium,iron,nickel,copper,zinc,arsenic,silver,tin,iodine,gold,"
    "mercury,platinum,uranium",
    "body part": "brain,heart,liver,lung,kidney,stomach,spleen,pancreas,bladder,skin,eye,ear,nose,tongue,throat,neck,"
    "shoulder,elbow,wrist,hand,knee,ankle,foot,hip,spine,rib,skull,mouth,intestine",
    "season": "spring,summer,autumn,winter,monsoon,dry season,rainy season,harvest season,Lent",
    "rock": "granite,basalt,limestone,marble,sandstone,shale,slate,chalk,gneiss,quartzite,obsidian,pumice,dolomite",
    "disease": "cancer,pneumonia,tuberculosis,malaria,cholera,influenza,diabetes,leukemia,measles,smallpox,typhoid,"
    "polio,epilepsy,rabies,asthma,hepatitis,anemia,arthritis,meningitis,scurvy,plague",
    "tree or flower": "oak,pine,maple,birch,elm,willow,cedar,beech,poplar,rose,lily,tulip,daisy,orchid,violet,poppy,"
    "iris,sunflower,carnation,magnolia,daffodil,lilac,lotus",
    "drink": "tea,coffee,milk,beer,wine,whisky,vodka,rum,gin,brandy,cider,champagne,sherry,lemonade,cocoa,tequila",
    "colour": "black,blue,brown,crimson,cyan,gold,gray,green,indigo,ivory,magenta,maroon,navy,orange,pink,purple,red,"
    "scarlet,silver,turquoise,violet,white,yellow,beige",
    "government": "monarchy,republic,democracy,dictatorship,theocracy,federation,oligarchy,aristocracy,empire,"
    "confederation,commonwealth,principality,autocracy,sultanate,anarchy,duchy",
    "god": "Zeus,Hera,Poseidon,Athena,Apollo,Artemis,Aphrodite,Hermes,Ares,Hades,Demeter,Dionysus,Hephaestus,Hestia,"
    "Persephone,Eros,Cronus,Rhea,Gaia,Helios,Hecate,Selene",
    "occupation": "singer,poet,novelist,journalist,politician,lawyer,physicist,painter,sculptor,composer,footballer,"
    "screenwriter,philosopher,mathematician,photographer,historian,economist,writer,author,guitarist,biologist,"
    "physician,engineer,chemist,soldier,diplomat,professor,pianist,dancer",
}
"""Members of kinds, in small letters unless they are names; at most thirty of a kind. Libraries add more."""
_ANIMALS = ((0x1F400, 0x1F43F), (0x1F980, 0x1F9AE))
_FOOD = ((0x1F32D, 0x1F32F), (0x1F345, 0x1F353), (0x1F950, 0x1F96F))
"""Ranges of Unicode's pictures, closed for new ones: their names are nouns of one kind."""
_PART_OF_NAME = re.compile(r" face$|^(?:red|green|spiral|lady|baby|tropical|guide|probing) ")
_UNFIT = word_set(
    """
    bug fish bird turkey shell chick dragon unicorn sauropod microbe cricket chopsticks copy land make sub
    gaffer dealer mudlogger
    """
)
"""Names of two meanings, of many kinds at once, or of nothing real."""
_NEEDS_ASKING = frozenset({"music", "genre", "answer", "party", "season"})
"""Kinds whose words mean something else as often: *country*, *rock*, *action*."""
_OF_MUSIC = re.compile(
    r"\b(?:bands?|songs?|albums?|singles?|music(?:al|ians?)?|singers?|rappers?|tracks?)\b", re.IGNORECASE
)

_ASKED: Mapping[str, str] = {
    "sport": "sport sports game",
    "instrument": "instrument instruments",
    "religion": "religion religions faith",
    "music": "music",
    "genre": "genre genres",
    "planet": "planet planets",
    "element": "element elements metal metals gas substance",
    "body part": "organ organs bone bones joint gland",
    "disease": "disease diseases illness cancer",
    "tree or flower": "tree trees flower flowers plant plants",
    "drink": "drink drinks beverage spirit",
    "food": "food foods fruit fruits vegetable vegetables dish",
    "animal": "animal animals creature creatures mammal bird birds insect reptile breed pet",
    "colour": "colour colours color colors",
    "government": "government",
    "party": "party parties",
    "season": "season",
    "god": "god goddess gods goddesses deity",
    "occupation": "occupation profession job career",
}
_KIND_ASKED = {word: kind for kind, words in _ASKED.items() for word in words.split()}
_ASKING = frozenset({"what", "which", "what's", "name"})
_REACH = 9
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@lru_cache(maxsize=1)
def words_by_kind() -> Mapping[str, tuple[str, ...]]:
    listed = {kind: words.split(",") for kind, words in _LISTED.items()}
    listed["occupation"] += _occupations()
    listed["animal"] = [*_pictured(_ANIMALS), "dog", "cat", "pigeon", "sparrow", "raven", "falcon", "hawk", "goose"]
    listed["food"] = list(_pictured(_FOOD))
    return {kind: tuple(dict.fromkeys(word for word in words if word not in _UNFIT)) for kind, words in listed.items()}


@lru_cache(maxsize=4096)
def kinds_of(word: str) -> tuple[str, ...]:
    """The kinds that a word or phrase belongs to in any case and number; empty for most."""
    lower = word.lower()
    known = _kinds_by_word()
    return known.get(lower) or next((known[form] for form in sorted(lemmas(lower)) if form in known), ())


@lru_cache(maxsize=2048)
def kind_asked_for(question: str) -> str | None:
    """*sport* for *what sport does he play*; None where the question asks for none of the kinds.

    The kind stands within a few words after the question word: *what is his occupation*."""
    words = [word.lower() for word in _WORD.findall(question)]
    for place, word in enumerate(words):
        if word in _ASKING:
            for after in words[place + 1 : place + _REACH]:
                if after in _KIND_ASKED:
                    return _KIND_ASKED[after]
    return None


def kind_of(word: str, question: str) -> str | None:
    """The kind of a word: that which the question asks for where it has several; None for no kind.

    Words of music and of literature mean something else as often (*country*, *rock*): they need a question for them."""
    kinds, asked = kinds_of(word), kind_asked_for(question)
    if asked == "genre" and "music" in kinds:
        asked = "music"
    if asked in kinds:
        return asked
    return next((kind for kind in kinds if kind not in _NEEDS_ASKING), None)


def kind_wanted(question: str, text: str) -> str | None:
    """The kind asked for, that another word of it may stand for one that no list has; None where the text has one."""
    asked = kind_asked_for(question)
    if asked == "genre" and _OF_MUSIC.search(f"{question} {text}"):
        asked = "music"
    listed = asked is None or any(kind_of(word, question) == asked for word in _WORD.findall(text))
    return None if listed else asked


@lru_cache(maxsize=1)
def _kinds_by_word() -> Mapping[str, tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}
    for kind, words in words_by_kind().items():
        for word in words:
            known[word.lower()] = (*known.get(word.lower(), ()), kind)
    return known


def _pictured(ranges: Iterable[tuple[int, int]]) -> Iterable[str]:
    """The names of pictures that are one noun."""
    for first, last in ranges:
        for code in range(first, last + 1):
            name = _PART_OF_NAME.sub("", unicodedata.name(chr(code), "").lower())
            if name.isalpha():
                yield name


def _occupations() -> list[str]:
    from faker.providers.job.en_US import Provider

    return [job.lower() for job in Provider.jobs if job.isalpha()]

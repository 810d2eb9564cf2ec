"""The closed lists of English that the checks of a claim rest on, all in one place.

Each holds the commonest words of its kind. A word that is missing makes a check hold back, never object.
"""

from __future__ import annotations

from collections import defaultdict


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, frozenset[str]]:
    """Each word of a pair to its partners: *one/other*, both ways."""
    found: dict[str, set[str]] = defaultdict(set)
    for pair in text.split():
        one, other = pair.split("/")
        found[one].add(other)
        found[other].add(one)
    return _frozen(found)


def _sides(text: str) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Each word of two sides to those of its own, and to those of the other: *one/two|other/another*."""
    own: dict[str, set[str]] = defaultdict(set)
    other: dict[str, set[str]] = defaultdict(set)
    for line in text.split():
        left, right = (side.split("/") for side in line.split("|"))
        for these, those in ((left, right), (right, left)):
            for word in these:
                own[word].update(these)
                other[word].update(those)
    return _frozen(own), _frozen(other)


def _frozen(found: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {word: frozenset(words) for word, words in found.items()}


def _groups(text: str) -> dict[str, frozenset[str]]:
    """Each word to its group: *one/two/three*."""
    groups = [frozenset(group.split("/")) for group in text.split()]
    return {word: group for group in groups for word in group}


NEGATORS = _words(
    """
    not fail failure refuse decline deny denial reject unable unless except few little rarely seldom barely hardly
    scarcely
    """
)
"""Lemmas that deny their clause."""
PHRASE_NEGATORS = _words("without lack absence")
"""Lemmas that deny the phrase after them alone, as *no* does after a preposition: *at no charge*."""
NO_NEGATION_BEFORE = _words(
    "only merely just simply solely more less late later few fewer early earlier until necessarily other"
)
"""After *not* or *no*, no denial: *not only a physicist* says that she was one, *no later than* is a limit."""

SHUTTING_OUT = _words("exclude exempt bar debar")
"""Lemmas that deny their clause before *from*: *excluded from returns*."""
ENDING = _words(
    "discontinue withdraw abolish scrap cancel repeal retire remove end expire cease dissolve terminate stop axe"
)
ENDING_WITH = {"switch": ("off",), "turn": ("off",), "phase": ("out",), "shut": ("down",), "close": ("down",)}
"""Verbs that say that a thing has ended, alone and with the word after them."""
AT_START = _words("start begin open commence launch")
AT_END = _words("end finish close stop expire conclude")
"""Verbs that say when something begins, and when it ends."""
FINDING = _words("find see observe notice detect report record")
"""Verbs that say how something came to be known: *the check found no crack* denies the crack and not the check."""

CLAUSE_OPENERS = _words(
    "but while whereas although though because unless if when where which who whom whose so yet nor unlike"
)

PRONOUNS = _words("he she it they his her its their this these")
"""With which a sentence goes on about what the one before it names."""

SYNONYMS = _groups(
    """
    buy/purchase/acquire get/receive/obtain keep/retain/hold/store begin/start make/manufacture/produce/build/construct
    usual/normal/typical usually/normally/typically roughly/about/approximately/around rise/increase
    fall/decrease/decline require/need run/operate die/death film/movie whole/entire refuse/decline repair/fix
    summit/top print/publish survive/outlast slow/slowly own/possess job/work part/some house/home help/assist
    show/demonstrate choose/select quick/quickly person/people/human debut/first journey/trip car/vehicle
    physician/doctor kill/murder cost/price teacher/tutor test/check length/long height/tall width/wide depth/deep
    weight/weigh/heavy speed/fast age/old close/shut
    """
)
OWN_SIDE, OTHER_SIDE = _sides(
    """
    increase/rise/grow/climb/soar/raise/expand|decrease/fall/drop/decline/shrink/plunge/plummet/lower/reduce/cut/dwindle
    allow/permit/authorise/authorize|forbid/prohibit/ban/outlaw/disallow
    introduce/establish/launch|abolish/scrap/dissolve/discontinue/repeal
    build/construct/erect|demolish/dismantle/raze
    support/back/endorse/favour|oppose/resist
    open|close/shut/block
    hire/recruit/appoint|dismiss/sack
    praise/laud/applaud|criticise/criticize/condemn
    accept/approve/adopt/ratify/grant|reject/refuse/decline/veto
    connect/attach|disconnect/detach
    install/add/insert|uninstall/remove/delete
    mandatory/compulsory/obligatory|optional/voluntary
    arrive|depart
    begin/start/commence|end/finish/stop/cease
    continue/resume|stop/cease/suspend/halt
    uphold/affirm|overturn/quash/annul
    confirm/admit|deny
    convict|acquit
    ascend/climb|descend
    encourage|discourage/deter
    activate/enable|deactivate/disable
    reveal/disclose|conceal/hide
    strengthen/fortify|weaken
    improve|worsen/deteriorate
    accelerate|slow/decelerate
    lengthen/prolong|shorten
    advance|retreat
    freeze|thaw/melt
    absorb|emit/release
    """
)
"""Words of like and of opposite sense, by the sides of one question."""
ANTONYMS = _pairs(
    """
    gain/loss win/lose include/exclude cause/prevent succeed/fail north/south northern/southern east/west
    eastern/western left/right upper/lower inside/outside above/below before/after early/late old/young old/new
    high/low tall/short long/short large/small big/small fast/slow hot/cold warm/cold near/far able/unable
    heavy/light strong/weak wide/narrow deep/shallow rich/poor thick/thin dry/wet good/bad best/worst
    maximum/minimum first/last male/female man/woman brother/sister father/mother son/daughter husband/wife
    summer/winter public/private full/empty expand/contract common/rare easy/difficult cheap/expensive input/output
    export/import remember/forget lock/unlock locked/unlocked free/charge free/pay upload/download upgrade/downgrade
    promote/demote qualify/disqualify overestimate/underestimate maximise/minimise maximize/minimize encrypt/decrypt
    appear/disappear agree/disagree approve/disapprove like/dislike obey/disobey trust/distrust possible/impossible
    visible/invisible active/inactive correct/incorrect accurate/inaccurate complete/incomplete direct/indirect
    dependent/independent formal/informal finite/infinite secure/insecure effective/ineffective
    sufficient/insufficient regular/irregular legal/illegal literate/illiterate mature/immature mortal/immortal
    polite/rude honest/dishonest similar/different identical/different online/offline indoor/outdoor
    indoors/outdoors domestic/foreign permanent/temporary ancient/modern guilty/innocent alive/dead
    natural/artificial positive/negative major/minor majority/minority senior/junior superior/inferior
    internal/external interior/exterior inner/outer top/bottom front/rear forward/backward horizontal/vertical
    include/separately clockwise/anticlockwise clockwise/counterclockwise urban/rural sunrise/sunset
    dawn/dusk buyer/seller profit/loss surplus/deficit credit/debit advantage/disadvantage winner/loser
    strength/weakness friend/enemy ally/enemy love/hate push/pull evaporate/condense heat/cool warm/cool
    inhale/exhale swell/shrink float/sink tighten/loosen tight/loose rough/smooth hard/soft sharp/blunt bright/dim
    bright/dark clean/dirty sweet/bitter sweet/sour quiet/loud quiet/noisy safe/dangerous healthy/sick happy/sad
    simple/complex simple/complicated vacant/occupy partial/complete gradual/sudden frequent/rare often/rarely
    previous/next past/future upstream/downstream upstairs/downstairs uphill/downhill upward/downward
    offshore/onshore liquid/solid acidic/alkaline organic/inorganic edible/poisonous transparent/opaque
    flexible/rigid sturdy/fragile proprietary/open manual/automatic manually/automatically analog/digital
    analogue/digital wire/wireless boy/girl king/queen prince/princess uncle/aunt nephew/niece
    grandfather/grandmother create/destroy preserve/destroy arrive/leave stay/leave remain/leave join/leave
    include/omit right/wrong present/absent double/halve
    """
)
PHASES = _words(
    """
    introduce establish launch abolish scrap dissolve discontinue repeal build construct erect demolish dismantle raze
    hire recruit appoint dismiss sack connect attach disconnect detach install add insert uninstall remove delete
    arrive depart join leave begin start commence end finish stop cease create destroy convict acquit
    """
)
"""Deeds that undo others: both may be true of one thing, though not on one date."""
REPEATED = _words(
    """
    win lose beat defeat draw play score compete qualify visit return tour host meet perform travel sail race rise fall
    grow drop increase decrease climb decline shrink flood erupt strike
    """
)
"""What may well come about in more than one year: a date of one time excludes no other."""
AGAIN = _words("again twice thrice reopen reopening anew")
"""What says that something came about more than once."""
PARTICLES = _pairs("on/off in/out up/down for/against into/out onto/off")
"""What turns a verb before it into its opposite: *switched on*, *voted against*."""
CONVERSES = _pairs(
    """
    lose/beat lose/win lose/defeat receive/send get/send receive/give get/give owe/lend borrow/lend learn/teach buy/sell
    follow/precede inherit/leave
    """
)
"""Verbs that say the same with their two sides exchanged."""
MUTUAL = _words(
    """
    marry wed divorce date meet kiss hug embrace border adjoin abut neighbour neighbor touch intersect cross overlap
    resemble equal match face fight battle wrestle duel debate play tie draw partner twin coincide collide encounter
    befriend separate differ agree disagree
    """
)
"""Verbs that are true of both sides alike: where one borders another, the other borders the one."""
MUTUAL_LINKS = _words("next near close opposite beside alongside adjacent adjoining parallel identical similar related")
"""What makes any verb before it mutual: *sat next to*."""

ATTRIBUTES = tuple(
    _groups(text)
    for text in (
        "red/scarlet/crimson blue/navy/azure green yellow orange purple/violet pink brown black white grey/gray",
        "round/circular square triangular oval/elliptical rectangular/oblong",
        "spring summer autumn winter",
        "hourly daily/nightly weekly fortnightly monthly quarterly yearly/annually",
    )
)
"""Values of which a thing has one: its colour, shape or season, how often it comes; those between slashes agree."""
CHANGING = _words(
    """
    cut raise rise lower fall drop grow increase decrease reduce extend shorten climb shrink expand change go jump
    double halve decline slash lift
    """
)
"""Verbs that change a figure: *from 19 to 16 percent*."""
PLANNING = _words("will would could may might should shall plan plans planned propose proposes proposed if be")
"""Words of a change that has not come about."""
NO_SHARE_BEFORE = _words("first second latter last other better top bottom this next third fourth northern southern")
"""Words before *half* or *quarter* that make it a part in a row: *the second half of the year*."""
EVERYONE = _words("anyone everyone anybody everybody")
PEOPLE = _groups(
    """
    employee/staff/worker/personnel/crew/colleague
    customer/client/guest/visitor/tourist/passenger/patron/shopper/buyer/traveller/traveler
    user/member/subscriber/reader/player child/kid/minor/pupil/schoolchild/student/learner adult/grown-up
    doctor/physician/surgeon/medic nurse teacher/tutor/lecturer/professor/instructor parent/guardian
    administrator/admin/manager/director/supervisor owner/proprietor/holder agent/representative/operator
    resident/inhabitant/citizen/local/villager/tenant soldier/officer curator/librarian
    """
)
"""Whom a rule is for, those who may be the same people in one group."""

QUANTIFIERS = {
    word: quantity
    for quantity, words in {
        "all": "all every each always entire whole both throughout everyone everybody everything any",
        "most": "most majority mostly usually generally largely mainly",
        "some": "some several part partly sometimes handful",
        "few": "few rarely seldom minority",
        "only": "only just alone exclusively solely sole",
    }.items()
    for word in words.split()
}
AT_ODDS = {
    "all": _words("most some few only"),
    "most": _words("few some"),
    "few": _words("all most"),
    "only": _words("all"),
}
"""A quantity of a claim, and those of which a sentence does not bear it out."""

LEVEL = _words("same equal equally identical identically alike similar similarly comparable")
"""What calls two things neither more nor less."""

YES_CELLS = _words("yes true included check checkmark tick ✓ ✔ ☑ ✅") | {"check mark", "tick mark"}
NO_CELLS = _words("no false cross x × ✗ ✘ ✕ ✖ ☒ ❌ – — -") | {"cross mark", "not included"}
"""What a cell says by itself of its column; a dash says that there is none."""
JOINING = _words(
    """
    the a an there it is are has have do does with of for in on any include includes included available offer offers
    support supports supported come comes
    """
)
"""What joins a subject to a feature of it, and says no more than that it has it."""

_DENIED = "(?:no|nobody|not|never|cannot|\\w+n['’]t) (?:\\w+ ){0,2}"
_MORE = "more|longer|later|older|higher|greater|larger|heavier"
_LESS = "less|fewer|shorter|earlier|younger|lower|smaller|lighter"
_FORBIDDEN = "(?:must|should|may|can|shall) not|cannot|not be"
DENIED_LIMITS = (
    ("at least", f"{_DENIED}(?:(?:{_LESS}) than|under|below) #"),
    ("at most", f"{_DENIED}(?:(?:{_MORE}) than|over|above|exceed\\w*) #"),
    ("at most", f"(?:above|over|exceed\\w*|{_MORE}) (?:than )?# (?:\\w+ ){{0,4}}(?:{_FORBIDDEN})"),
    ("at least", f"(?:under|below|{_LESS}) (?:than )?# (?:\\w+ ){{0,4}}(?:{_FORBIDDEN})"),
)
"""What a denial around a number, here #, makes of it: *nobody under 16* and *under 16 may not* are from 16 on."""
LIMITS = (
    (
        "at least",
        "(?:at least|more than|over|above|exceed\\w*|min(?:imum)? (?:\\w+ ){0,3}|from (?=# (?:on|up)(?:wards?)?\\b)) ?#"
        "|# (?:\\w+ ){0,2}(?:at least|or (?:more|longer|older|over|above|higher|newer|later))",
    ),
    ("at most", f"# (?:is|are|was|were) (?:{_MORE}) than"),
    ("at least", f"# (?:is|are|was|were) (?:{_LESS}) than"),
    (
        "at most",
        "(?:at most|less than|fewer than|up to|under|below|max(?:imum)? (?:\\w+ ){0,3}) ?#"
        "|# (?:\\w+ ){0,2}(?:at most|or (?:less|fewer|shorter|younger|under|below|lower|earlier))",
    ),
)
"""What words without a denial make of it: the first that is found."""
DENIED_BOUND = rf"(?:\w+ ){{0,2}}(?:(?:{_MORE}|{_LESS}) than|under|below|over|above|exceed\w*) #"
"""What after *not* or *no* makes a limit of them: *must not exceed 20 kg* denies nothing."""

MAKING_LIMITS = _words("newer older later earlier higher lower larger smaller longer shorter younger")
"""Words that make a limit of a figure, after *or*: *13 or newer*."""
BEFORE_OTHER_ONES = _words("the no any some every each this that which not than")
"""Words after which *one* is no number."""

ENDS_OF_TIME = {
    "until": "until",
    "till": "until",
    "since": "since",
    "from": "since",
    "after": "after",
    "before": "before",
}

_UNITS = {
    "length": """mm/millimetre/millimeter cm/centimetre/centimeter m/metre/meter km/kilometre/kilometer mile/mi
        foot/ft/feet inch yard""",
    "mass": "µg/mcg/microgram mg/milligram g/gram kg/kilogram/kilo tonne/ton pound/lb ounce/oz",
    "time": "millisecond/ms second/sec minute/min hour/hr day week month year decade century",
    "volume": "ml/millilitre/milliliter l/litre/liter gallon pint",
    "data": "kb/kilobyte mb/megabyte gb/gigabyte tb/terabyte",
}
UNITS = {
    spelling: (dimension, group.split("/")[0])
    for dimension, groups in _UNITS.items()
    for group in groups.split()
    for spelling in group.split("/")
}
"""Lemmas of units, each with what it measures and its short name."""
_MONEY = """
euro eur dollar usd pound gbp penny pence cent yen yuan renminbi rupee franc chf krona kronor krone kroner crown rouble
ruble peso lira zloty forint shekel rand real won dinar dirham
"""
MEASURES = frozenset(
    {*UNITS, *_MONEY.split(), "percent", "point", "degree", "volt", "watt", "kw", "mw", "gw", "hz", "times"}
)
"""Lemmas after a number that say how much, and not of what."""
_COUNTRIES = """
    afghanistan, africa, alabama, alaska, albania, algeria, america, andalusia, andorra, angola, argentina,
    armenia, asia, australia, austria, azerbaijan, bahamas, bahrain, bangladesh, barbados, bavaria, belarus,
    belgium, belize, benin, bhutan, bohemia, bolivia, bosnia, botswana, brazil, brittany, brunei, bulgaria,
    burma, burundi, california, cambodia, cameroon, canada, catalonia, chad, chile, china, colombia, colorado,
    congo, connecticut, cornwall, costa rica, croatia, cuba, cumbria, cyprus, czechia, czechoslovakia, denmark,
    devon, dominica, dorset, ecuador, egypt, el salvador, england, eritrea, essex, estonia, ethiopia, europe,
    fiji, finland, florida, france, gabon, gambia, georgia, germany, ghana, great britain, greece, grenada,
    guatemala, guinea, guyana, haiti, hawaii, honduras, hungary, iceland, illinois, india, indiana, indonesia,
    iran, iraq, ireland, israel, italy, jamaica, japan, jordan, kazakhstan, kent, kentucky, kenya, kosovo,
    kuwait, lancashire, laos, latvia, lebanon, lesotho, liberia, libya, lithuania, lombardy, louisiana,
    madagascar, malawi, malaysia, mali, malta, maryland, massachusetts, mauritania, mauritius, mexico, michigan,
    minnesota, missouri, moldova, mongolia, montenegro, moravia, morocco, mozambique, myanmar, namibia, nepal,
    netherlands, new zealand, nicaragua, niger, nigeria, norfolk, normandy, north korea, north macedonia,
    northern ireland, norway, ohio, oman, ontario, oregon, pakistan, palestine, paraguay, pennsylvania, persia,
    peru, philippines, poland, portugal, prussia, qatar, quebec, romania, russia, rwanda, saudi arabia, saxony,
    scotland, senegal, serbia, siberia, sicily, sierra leone, silesia, slovakia, slovenia, somalia, somerset,
    south africa, south korea, soviet union, spain, sri lanka, sudan, suffolk, suriname, surrey, sussex, sweden,
    switzerland, syria, taiwan, tanzania, tennessee, texas, thailand, togo, tunisia, turkey, tuscany, uganda,
    ukraine, united kingdom, united states, uruguay, uzbekistan, venezuela, vietnam, virginia, wales, wisconsin,
    yemen, yorkshire, yugoslavia, zambia, zimbabwe
"""
COUNTRIES = frozenset(" ".join(name.split()) for name in _COUNTRIES.split(","))
"""Countries, regions and continents (lower case): a town may lie in one of them, so that the two exclude nothing."""

_NAMES_OF_ONE = """
UK | U.K. | United Kingdom | Britain | Great Britain
US | U.S. | USA | U.S.A. | United States | United States of America
EU | E.U. | European Union
UN | U.N. | United Nations
UAE | United Arab Emirates
USSR | U.S.S.R. | Soviet Union
Netherlands | Holland
Czechia | Czech Republic
Myanmar | Burma
WHO | World Health Organization | World Health Organisation
"""
NAMES_OF_ONE = {
    name: names[0].lower()
    for names in ([one.strip() for one in line.split("|")] for line in _NAMES_OF_ONE.strip().splitlines())
    for name in names
}
"""Well-known names with what they are compared by, since texts spell them out or do not."""

"""Closed word classes and common verbs of English: what the rules know without a trained model.

Lists are data: a word missing here makes a rule hold back, never raise.
"""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(words.split())


DETERMINERS = word_set(
    """
    a an the this that these those some any each every no another both all many several most few such
    """
)
POSSESSIVES = frozenset(["my", "your", "his", "her", "its", "our", "their", "whose"])
SUBJECT_PRONOUNS = frozenset(["i", "you", "he", "she", "it", "we", "they"])
PRONOUNS = SUBJECT_PRONOUNS | word_set(
    """
    me him us them himself herself itself themselves one someone anyone everyone nobody nothing something who
    """
)
PREPOSITIONS = word_set(
    """
    aboard about above across after against along alongside amid among around as at before behind below beneath beside
    besides between beyond by concerning despite down during except following for from in inside into like near of
    off on onto out outside over past per regarding since through throughout to toward towards under underneath
    until unlike up upon via with within without including
    """
)
CONJUNCTIONS = frozenset({"and", "but", "or", "nor", "yet"})
SUBORDINATORS = word_set(
    """
    that because although though if unless when whenever where wherever whether how why what until so than
    """
)
RELATIVES = frozenset({"who", "which", "whom", "whose"})
BE = frozenset(["is", "are", "was", "were", "be", "been", "being"])
AUXILIARIES = frozenset(["is", "are", "was", "were", "has", "have", "had", "do", "does", "did"])
MODALS = frozenset(["can", "could", "may", "might", "must", "shall", "should", "will", "would", "cannot"])
NUMBER_WORDS = word_set(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen
    first second third fourth fifth sixth seventh eighth ninth tenth
    """
)
ADVERBS = word_set(
    """
    also later then subsequently eventually soon often usually never always still now once again already initially
    originally finally currently formerly previously ultimately not there here only just even briefly together
    thus therefore however instead afterwards thereafter first primarily mainly mostly largely widely generally
    typically successfully officially quickly
    """
)
TIME_ADVERBS = word_set("today nowadays yesterday tomorrow tonight")
OPENING_ADVERBS = (ADVERBS - {"first"}) | TIME_ADVERBS
"""What a sentence may open with before its subject, whose capital then says nothing: *Today Plymouth is a port*."""

PAST = word_set(
    """
    became began broke brought chose came did drew drove fell flew fought gave went grew had knew lay rose ran
    sang sank saw shook shone spoke stole swam took threw wore wrote withdrew underwent forgave ate drank rode
    froze overcame mistook overtook shrank strode swore tore woke was were
    """
)
"""Irregular forms that are only past tense, never participles."""

PARTICIPLES = word_set(
    """
    been begun born broken chosen done drawn driven fallen flown forgotten given gone grown known risen sung seen
    shown spoken stolen taken thrown torn worn written withdrawn undergone beaten bitten frozen hidden proven
    """
)

PAST_OR_PARTICIPLE = word_set(
    """
    bought bound bred built caught dealt dug fed fled found fought held hit hung kept laid led left lent lost made
    meant met paid put read said sat sent set shot slept sold spent split spread stood struck stuck swept swung
    taught thought told understood wept won wound cost cut sought rebuilt got beat bent burnt dreamt ground lit
    slid spun
    """
)

NOT_VERBS_IN_ED = word_set(
    """
    hundred red indeed need seed speed breed bed shed feed exceed proceed succeed bleed creed deed greed reed weed
    sacred naked wicked united aged beloved sled embed moped biped unprecedented renowned talented gifted
    so-called
    """
)

VERBS = word_set(
    """
    absorb accept accompany accuse achieve acquire act adapt add address admit adopt affect afford agree aim allow
    announce appear apply appoint appreciate argue arise arrive assign assist assume assure attack attend attract
    avoid await award base bear become begin behave belong blame border borrow break bring broadcast build buy
    calculate call carry cause celebrate change charge choose claim close collaborate collapse collect combine come
    command commission communicate compensate compete complain complete compose comprise conclude conduct confirm
    confront connect conquer consist construct consult consume contain continue contradict contribute control convert
    correspond cost cover create cross cure cut deal decide declare decrease dedicate deepen defeat defend define
    delete deliver demonstrate deny depend depict deploy derive describe deserve design destroy detect deteriorate
    determine develop diagnose die differ differentiate diminish direct disagree disappear discover discuss dissolve
    distinguish distribute disturb divide do dominate donate draw earn ease eat edit educate elect eliminate emerge
    emit emphasise emphasize employ enable encourage end enforce engage enhance enjoy ensure enter entitle erode
    escape establish evaluate evaporate evolve examine exceed exclude exhibit exist expand expect experience expire
    explain explore export express extend face fall feature feed fight fill find finish flourish flow fly focus follow
    forbid foresee forget form found fulfil fulfill function fund gain generate get give go govern graduate grow
    guarantee handle hang happen have head hear help hit hold host house identify ignore illustrate imply import
    impose improve include increase infect influence inform inherit inhibit initiate insist inspect inspire install
    integrate intend interact interfere interpret interrupt introduce invade invent invest investigate invite involve
    isolate issue join judge justify keep kill know lack land last launch lead learn leave lend lie listen live locate
    lose lower maintain make manage manufacture mark marry mean measure meet merge migrate modify motivate move name
    need negotiate note observe obtain occupy occur offer open operate oppose orbit organize originate overlook
    overtake overwhelm own paint participate pass patent pay penetrate perceive perform permit persuade pioneer place
    play possess practice practise praise predict prefer prepare prescribe present preserve preside pretend prevent
    print proceed produce prohibit prolong promote propel propose protect prove provide publish punish pursue qualify
    quit raise range reach react read realise realize rebuild receive recognize recommend record recover reduce refer
    reflect reform refuse regulate reign reject relate release relieve rely remain remember remove replace report
    represent require resemble reside resign resist resolve respond restore restrict result resume retain retire
    return reveal rise rotate rule run say score secure see seek seem sell send separate serve settle share show
    shrink sign sing sit solve span speak specialise specialize specify spend spread stand star start state stay
    stimulate stop strengthen stretch study submit succeed suffer suffice suggest supervise supply support suppress
    surpass surround survive symbolise symbolize take teach tell tend test think threaten throw tighten tolerate tour
    train transfer transform translate transmit travel treat turn undergo understand undertake unite use utilise
    utilize vary verify violate visit vote want warn weaken weigh widen win withdraw withstand work worsen write
    """
)
"""Base forms that the rules may take for a verb in the present tense."""

INTRANSITIVE = word_set(
    """
    burned burnt collapsed crashed disappeared ended erupted expired exploded failed lasted survived vanished
    called flowed lectured quarrelled sailed toured
    served studied worked lived died moved returned retired attended graduated remained appeared played performed
    competed continued emigrated participated settled joined resigned arrived collaborated contributed travelled
    traveled specialised specialized succeeded belonged consisted existed happened stayed
    """
)
"""Regular pasts that do not take over the auxiliary of a passive before them: *was elected and served*."""

PASSIVE_BY_HABIT = word_set(
    """
    raised educated buried elected appointed named awarded nominated inducted promoted baptised baptized knighted
    """
)
"""Forms that are passive after *was born*: *was born in A and educated at B*."""

REPORTING = word_set(
    """
    said says claimed claims argued argues stated states reported reports believed believes suggested suggests
    announced announces think thinks thought believe according noted notes wrote explained explains
    """
)

SINGLE_EVENTS = word_set(
    """
    assassinated baptised baptized born built buried christened completed composed constructed created designed
    developed died directed discovered established executed formed founded inaugurated incorporated invented killed
    launched opened painted premiered produced published released written
    """
)
"""What happens once to its subject: time, place and agent may each be true or wrong of the one event."""

NATIONALITIES = word_set(
    """
    afghan african albanian algerian american argentine argentinian armenian asian australian austrian azerbaijani
    bangladeshi belarusian belgian bolivian bosnian brazilian british bulgarian burmese cambodian cameroonian canadian
    chilean chinese colombian congolese croatian cuban cypriot czech danish dominican dutch ecuadorian egyptian
    english estonian ethiopian european filipino finnish french georgian german ghanaian greek guatemalan haitian
    hungarian icelandic indian indonesian iranian iraqi irish israeli italian jamaican japanese jordanian kazakh
    kenyan korean kuwaiti latvian lebanese liberian libyan lithuanian luxembourgish macedonian malaysian maltese
    mexican moldovan mongolian montenegrin moroccan namibian nepalese nigerian norwegian pakistani palestinian
    panamanian paraguayan persian peruvian polish portuguese romanian russian rwandan scottish senegalese serbian
    singaporean slovak slovenian somali spanish sudanese swedish swiss syrian taiwanese tanzanian thai tunisian
    turkish ugandan ukrainian uruguayan uzbek venezuelan vietnamese welsh yemeni yugoslav zambian zimbabwean
    """
)
"""Adjectives (lower case) that say where a person is from when they stand before a profession."""

TAUGHT_LANGUAGE = word_set(
    """
    coach critic footballer historian instructor lecturer professor scholar speaker teacher translator tutor writer
    """
)
"""Professions before which such an adjective may name what they deal with: *a French teacher*."""

EVALUATIVE = word_set(
    """
    amazing awesome awful bad beautiful best boring brilliant charming cool delicious delightful disappointing
    excellent exciting fantastic fascinating fun funny good gorgeous great greatest horrible impressive incredible
    inspiring interesting lovely magnificent marvellous memorable nice outstanding perfect pleasant remarkable
    splendid stunning superb terrible ugly unforgettable wonderful worst worth worthwhile
    """
)
"""Adjectives of taste: a sentence that says nothing else cannot be checked."""

NAME_STOP = frozenset(
    {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october"}
) | (frozenset({"november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}))
"""Capitalised words that name no entity."""

FUNCTION_WORDS = (
    DETERMINERS | POSSESSIVES | PRONOUNS | PREPOSITIONS | CONJUNCTIONS | SUBORDINATORS | RELATIVES | BE | AUXILIARIES
    | MODALS | (ADVERBS - {"first"})
    | word_set(
        """
        while whereas other own same very more well much s t re ve ll d m am
        """
    )
)  # fmt: skip
"""Words that carry no content of their own: left out of coverage, queries and comparisons. *First* is no such word."""

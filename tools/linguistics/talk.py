"""Tells talk and opinions, which state nothing, by closed lists: a word in none of them may state something.

No list has an open tail. Whatever follows *feel free to* or *here is* is talk only where every word of it is known.
"""

from __future__ import annotations

import re

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.lexicon import word_set

_LONGEST = 200
"""Characters of talk; longer texts say something besides."""

_NAME = r"(?-i:(?!\w+ing\b)[A-ZÀ-ÖØ-Þ][\w.'’-]{0,30})"
_ABOUT_THE_ANSWER = (
    r"(?:topic|subject|question|matter|issue|problem|process|product|order|request|account|life|work"
    r"|pric(?:e|ing)|service|project|trip|visit|point|step)s?"
)
_TOPIC = (
    rf"(?:(?:the |your |this |these |his |her |its |their )?{_ABOUT_THE_ANSWER}"
    rf"|(?:the )?{_NAME}(?: (?:(?:of|and|the|de|la|von|van) )?{_NAME}){{0,3}}(?: (?:life|work|career|story))?|[a-z]+)"
)
"""A name, or one noun without an article: *about the murder* would say that there was one."""
_ABOUT = rf"(?: (?:about|of|on|for|regarding|concerning) {_TOPIC})?"

_THING = (
    r"(?:plan|price|limit|feature|seat|history|origin|background|design|construction|structure|architecture|engineer"
    r"|author|artist|architect|inventor|era|period|culture|food|region|area|place|book|film|song|album|band|city|town"
    r"|bridge|tower|castle|church|museum|river|lake|island|mountain|lighthouse|university|college|school|park|palace"
    r"|temple|language|recipe|medicine|drug|vaccine|dose|product|model|device|tool|option|setting|system|method"
    r"|warrant(?:y|ie)|guarantee|deliver(?:y|ie)|shipping|batter(?:y|ie)|weight|size|cost|subscription|payment|storage"
    r"|support|security|privacy"
    r"|technique|theory|concept|idea|animal|plant|compan(?:y|ie)|citie|life|live|work|career|famil(?:y|ie))s?"
)
"""Nouns that by themselves say of nothing that it happened: *the bridge*, but not *the murder*."""
_A_THING = re.compile(_THING)
_OWNER = rf"(?:the {_THING}['’]s?|{_NAME}(?: {_NAME})?['’]s?|the|your|this|these|that|those|his|her|its|their)"
_OFFERED_TOPIC = (
    rf"(?:(?:{_OWNER} )(?:(?:other|early|later|main|full|wider|whole) )?(?:{_NAME} )?{_THING}"
    rf"|(?:the )?{_NAME}(?: (?:(?:of|the|de|la|von|van) )?{_NAME}){{0,3}})"
)
_ABOUT_SEVERAL = (
    rf"(?: (?:about|of|on|for|regarding|concerning) {_OFFERED_TOPIC}"
    rf"(?:(?:, (?:(?:and|or) )?| (?:and|or) ){_OFFERED_TOPIC}){{0,4}})"
)
_MORE_ABOUT = rf"(?:{_ABOUT_SEVERAL}|{_ABOUT})"
"""What more is offered of, where it may be several things: *about Telford or the bridge*."""

_INTERJECTION = r"(?:sure(?: thing)?|certainly|absolutely|of course|great(?: question)?|okay|ok|no problem)"
_NOUN = (
    r"(?:overview|summary|list|outline|explanation|table|comparison|breakdown|timeline|answer|information"
    r"|(?:side )?effect|point|fact|step|detail|example|option|reason|tip|feature|difference|instruction|result)s?"
)
_OF_NOUN = (
    r"(?:main|key|most|more|important|common|basic|general|brief|short|quick|simple|possible|relevant|detailed|concise"
    r"|complete|full|step-by-step|few)"
)
_ARTICLE = r"(?:an?|the|my|your|some|two|three|four|five|six|seven|eight|nine|ten)"
_ANNOUNCED = (
    rf"(?:(?:{_ARTICLE} )?(?:{_OF_NOUN} ){{0,3}}{_NOUN}{_ABOUT}"
    rf"|what (?:is known|we know|i know|i(?: have|['’]ve)? found|i could find|you need(?: to (?:know|do))?|you can do)"
    rf"{_ABOUT}"
    r"|how(?: (?:it|this|that) works(?: (?:on|for|in|with) your [a-z]+)?| to do (?:it|this|that)"
    r"| you can do (?:it|this|that))?)"
)
_OFFER_WORDS = (lexicon.FUNCTION_WORDS - {"m", "d"}) | word_set(
    """
    further additional else anything please know want need like ask asking contact reach reply tell question questions
    help assistance information info detail details clarification clarify explain explanation elaborate expand example
    examples topic topics concern concerns free hesitate feel happy glad assist follow-up answer answers request
    requests hear dive deeper
    """
)
_CLOSING_WORDS = word_set(
    "point points goes going think prefer decide choose useful helpful things plan trip visit project started let"
    " learn read explore summary overview"
)
"""Of offers and wishes at the end of an answer; a question with them may take something for granted."""
_TAIL = (
    r"(?:,? (?:(?:you|i)['’]d|don['’]t"
    rf"|{'|'.join(sorted(map(re.escape, _OFFER_WORDS | _CLOSING_WORDS), key=len, reverse=True))})\b)*"
)
_WOULD = r"(?:(?:'|’)d| would)"
_LEARN = r"(?:hear|know|learn|read|see|explore)"
_EXPLAIN = r"(?:explain|clarify|tell|share|say|expand|elaborate)"
_WISHED = (
    r"(?:(?:happy|safe) travels|stay (?:safe|well|healthy|tuned)|take care"
    r"|have an? (?:good|great|nice|lovely|wonderful|fantastic|safe|pleasant) "
    r"(?:day|evening|night|week|weekend|trip|journey|flight|stay|time|holiday|vacation|one)"
    r"|enjoy(?: (?:it|your (?:day|evening|weekend|trip|journey|flight|stay|visit|time|holiday|vacation|meal|reading)))?"
    r"|good luck(?: (?:with|on|in|for) your(?: [a-z-]+){1,2})?)"
)
_SIGNATURE = rf"(?:(?:the|your) {_NAME}(?: {_NAME}){{0,2}} team|(?:the|your) team|{_NAME}(?: {_NAME})?)"
_SIGNED = (
    r"(?:(?:(?:with )?(?:best|kind|kindest|warm|warmest) (?:regards|wishes)|regards|sincerely"
    rf"|yours (?:sincerely|truly|faithfully)|cheers)(?:,?\s+{_SIGNATURE})?[,.!]*)"
)
_GREETED = (
    rf"(?:(?:hello|hi|hey)(?: (?:there|all|everyone|again|{_NAME}(?: {_NAME})?))?"
    rf"|dear (?:sir or madam|madam or sir|sir|madam|customer|reader|user|guest|friend|team|all"
    rf"|{_NAME}(?: {_NAME}){{0,2}}))"
)
_CONTACTING = (
    r"(?:contacting|reaching out to|(?:writing|turning|talking|speaking) (?:in )?to|getting in touch with|calling"
    r"|e-?mailing|messaging|choosing|using|visiting|joining|trusting)"
)
_THANKED = (
    rf"(?:{_GREETED}[,!–—-]* )?(?:thank you|thanks)"
    rf"(?: (?:so|very) much)?(?: for (?:{_CONTACTING} (?:us|(?:the )?{_NAME}(?: {_NAME}){{0,2}})"
    r"(?: (?:support|team|customer (?:service|care))){0,2}"
    r"|reaching out|getting in touch|writing(?: in)?|calling|waiting|asking"
    r"|(?:the|your)(?: great| good| interesting)? (?:question|message|patience|interest|e-?mail|reply|feedback|order"
    r"|understanding|time|trust|kind words)))?"
)
_SORRY = (
    rf"(?:{_GREETED}[,!–—-]* )?"
    r"(?:(?:(?:i|we)(?:['’](?:m|re)| am| are) )?(?:very |so |really )?sorry|(?:(?:my|our) )?(?:sincere )?apologies)"
    r"(?: for (?:the|any|your) (?:delay|inconvenience|confusion|trouble|wait|late reply)"
    r"(?: caused| (?:this|it) (?:caused|may cause))?| to hear (?:about )?(?:that|this))"
)
_OFFERED = (
    rf"(?:if you{_WOULD}? (?:like|want|wish),? )?i (?:can|could)(?: also)? (?:draft|write|make|create|prepare"
    rf"|provide|give|share|put together)(?: you)?(?: {_ARTICLE})?(?: {_OF_NOUN}){{0,3}} {_NOUN}(?: for you)?"
)
_ASKED_OF_READER = (
    r"(?:please )?(?:(?:reply|respond|answer|write back)(?: to (?:me|us|this (?:message|e-?mail|question)))?"
    r"(?: (?:with|by giving) your(?: [a-z-]+){1,3})?"
    r"|(?:tell|send|give) (?:me|us) your(?: [a-z-]+){1,3})[.!]?"
    r"|(?:please |just )?(?:ask(?: (?:me|us|away|any ?time)){0,2}|try it(?: out)?|give it a (?:try|go))[.!]?"
    r"|(?:wait|repeat|enjoy|relax|done|finished)[.!]"
)
"""What only the writer and the reader have to do with: *Please reply with your serial number.*, *Wait.*"""
_REMARK = re.compile(
    rf"(?:{_INTERJECTION}[,.!]*"
    rf"|{_GREETED}[,.!]*"
    rf"|(?:{_INTERJECTION}[,.!–—-]* )?"
    rf"(?:here(?: is|'s|’s| are)|below (?:is|are)|the following (?:is|are)) {_ANNOUNCED}[:.!]?"
    rf"|(?:i )?hope (?:(?:this|that|it)(?: (?:answer|information|overview|summary|explanation|list))?"
    rf" (?:helps|answers|clarifies|(?:is|was) (?:helpful|useful))|you (?:find|found) (?:this|it) (?:helpful|useful))"
    rf"{_TAIL}[.!]?"
    r"|you(?:(?:'|’)re| are) (?:very |most )?welcome[.!]*|good (?:morning|afternoon|evening|day|question)[,.!]*"
    r"|i(?:(?:'|’)m| am) glad you asked[.!]*"
    rf"|{_THANKED}{_ABOUT}[.!]*|{_SORRY}[.!]*"
    rf"|{_ASKED_OF_READER}"
    r"|(?:glad|happy) to help[.!]*"
    rf"|(?:{_INTERJECTION}[,.!–—-]* )?"
    rf"(?:i|we) can (?:certainly |definitely )?help(?: you)?(?: with (?:that|this|it))?[.!]?"
    rf"|{_WISHED}[.!]*|{_SIGNED}|{_OFFERED}[.!]?)",
    re.IGNORECASE,
)
"""Greetings, wishes and announcements: talk between writer and reader."""
_OFFER = re.compile(
    r"(?:(?:please |just )?(?:let (?:me|us) know|feel free to|don(?:'|’)t hesitate to|ask(?: me)?(?= if ))"
    rf"|if you{_WOULD}? (?:have|need|like|want) (?:any|more|further|other|additional|me to|to {_LEARN})"
    rf"|would you like (?:me )?to (?:{_LEARN}|{_EXPLAIN})|i (?:can|could)(?: also)? {_EXPLAIN}(?: you)? more"
    rf"|(?:i|we)(?:(?:'|’)m| am| are|{_WOULD} be) (?:always |more than )?(?:happy|glad)"
    rf" to (?:help|assist|{_EXPLAIN})|(?:glad|happy) to {_EXPLAIN}(?: you)? more)"
    rf"{_TAIL}{_MORE_ABOUT}{_TAIL}[.!?]?",
    re.IGNORECASE,
)
"""What the writer would do or tell besides, and of what."""

_TASTE = (lexicon.EVALUATIVE - {"worth", "worthwhile", "cool"}) | word_set("must-see must-read wow")
"""Without a word of taste or feeling a sentence of function words may say anything."""
_FEELING = word_set("love loved like liked prefer enjoy enjoyed admire hope wish wonder sorry glad happy sad")
"""Counts where it is the writer's own: *I love it*, but not *She loved him*."""
_KNOWING = word_set("know sure help idea guess")
"""Counts where it is denied: *I don't know*, but not *I know that she was there*."""
_AROUND = word_set(
    """
    think believe feel felt suppose suspect doubt assume imagine find opinion
    personally honestly frankly arguably perhaps maybe probably really truly quite rather indeed simply absolutely
    pretty too ever seem seems look looks sound sounds humble view somebody else give go see been
    answer question topic subject thing things matter world life story place building sight lighthouse tower
    city town country landscape book film song music piece poem picture day time
    """
)
"""What may stand around them: what is liked, and how much."""
_TALK = (lexicon.FUNCTION_WORDS | _TASTE | _FEELING | _KNOWING | _AROUND) - {"for"}
"""*Good for you* is more than a taste."""
_ASKED_ABOUT = word_set(
    """
    thought born die died live lived work works happen happens happened mean means next use used make made learn start
    name called call come came long far old big tall heavy wide high deep difference main side effect effects option
    options way ways step steps reason cost costs pay take choose pick buy get need
    """
)
_ASKED = (_TALK | _OFFER_WORDS | _ASKED_ABOUT) - {"not"}
"""What a question may take for granted and state nothing by it."""
_CONTRACTED = re.compile(r"(?:n['’]t|['’](?:s|m|d|re|ve|ll))$")
_NEGATED = frozenset({"do", "does", "did", "is", "are", "was", "were", "would", "could", "should", "ca", "wo"})
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PUNCTUATION = re.compile(r"[\s.,;:!?…'\"“”‘’()–—☀-➿\uFE0F\U0001F300-\U0001FAFF-]*")
_OTHERS = frozenset({"he", "she", "they"})
_DENIED = re.compile(r"\b(?:not|no|cannot|\w+n['’]t)\b", re.IGNORECASE)
_EXCLAMATION = re.compile(r"what an? ", re.IGNORECASE)


def is_remark(text: str) -> bool:
    """Whether plain text is a greeting, an offer or an announcement, and nothing else: figures are never talk."""
    if len(text) > _LONGEST or any(map(str.isdigit, text)):
        return False
    return _REMARK.fullmatch(text) is not None or _OFFER.fullmatch(text) is not None


def is_opinion(text: str) -> bool:
    """Whether plain text says what a speaker likes, feels or does not know, and nothing else that could be true or
    false: every word is known to be of that kind, and none is a name, a figure or a word on the matter."""
    words = _WORD.findall(text)
    if len(text) > _LONGEST or not words or not _PUNCTUATION.fullmatch(_WORD.sub("", text)):
        return False
    if any(word[0].isupper() and _stem(word) != "I" for word in words[1:]):
        return False
    stems = [_stem(word).lower() for word in words]
    return all(stem in _TALK or stem in _NEGATED for stem in stems) and _says_what_one_feels(text, stems)


def _says_what_one_feels(text: str, stems: list[str]) -> bool:
    is_own = not _OTHERS & set(stems) and (stems[0] == "sorry" or bool({"i", "we"} & set(stems[:2])))
    is_denied = _DENIED.search(text) is not None
    return _EXCLAMATION.match(text) is not None or any(
        stem in _TASTE or (is_own and stem in _FEELING) or (is_denied and stem in _KNOWING) for stem in stems
    )


def asks_of_nothing(text: str) -> bool:
    """Whether a question holds function words and words of talk only: *What happens next?*, not *How did Ada flee?*"""
    stems = [_stem(word).lower() for word in _WORD.findall(text)]
    return all(stem in _ASKED or _A_THING.fullmatch(stem) for stem in stems)


def _stem(word: str) -> str:
    """*I* of *I'm*, *do* of *don't*."""
    return _CONTRACTED.sub("", word)

"""Abbreviations and sentence openers: the closed lists behind the sentence splitter."""

from __future__ import annotations

from factloop.tools.linguistics.lexicon import word_set

NEVER_FINAL = word_set(
    """
    adm approx art asst attn brig ca capt cf ch cmdr col cpl dept dist dr ed eds e.g eq eqs esp est fig figs fr ft
    gen gov hon i.e incl lt maj messrs mlle mme mr mrs ms mt mx nr op p para pp pres prof pvt rep rev sec secs sen
    sgt st supt tab trans v viz vol vols vs
    """
)
"""Written before a name or number, so that the full stop after them does not end a sentence (lower case, no stop)."""

BEFORE_NUMBER = word_set(
    """
    no nos jan feb mar apr jun jul aug sep sept oct nov dec art ch sec vol fig p pp c b d r
    """
)
"""The same, where a digit follows."""

MAYBE_FINAL = word_set(
    """
    a.d a.m al assn ave b.a b.c b.sc bc blvd bros co corp d.c d.phil dr.h.c e.u esq etc inc jr ltd m.a m.b.a m.d
    m.sc mass min mfg n.y op.cit p.m ph.d phd rd sq sr u.k u.n u.s u.s.a univ
    """
)
"""May stand at the end of a sentence: they end it where a word follows that opens sentences."""

OPENERS = word_set(
    """
    a after although among an and another as at because before between both but by consequently despite during
    each even every finally for from furthermore had has he her here his how however if in initially instead is it
    its later like many meanwhile moreover most my nevertheless no not nowadays of on once one only or other our
    over several she since so some such that the their then there these they this those though through throughout
    thus to today two under unlike until upon we what when where whereas which while who why with within yet you
    your people everyone everybody someone nobody nothing
    """
)
"""Closed-class words that often open a sentence (lower case)."""

ENDING_IN_MARK = frozenset({"yahoo", "jeopardy", "wham", "oklahoma", "mamma"})
"""Names written with an exclamation mark of their own."""

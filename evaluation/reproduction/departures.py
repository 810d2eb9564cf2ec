"""Where factloop does other than the papers, and how to do without it: the table of `docs/papers.md`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Departure:
    """One thing that is done otherwise."""

    paper: str
    """The key of the paper."""
    theirs: str
    ours: str
    without: str
    """How to do as the paper does; empty where that cannot be."""


STRICT = "`--plan paper --strict-paper`"
DEPARTURES = (
    Departure(
        "safe",
        "A demonstration for the split is chosen by BM25 for each sentence.",
        "Prompts have fixed examples, in factloop's own words.",
        "",
    ),
    Departure(
        "safe",
        "Every fact is judged, also one that the response repeats.",
        "Facts in the same words are judged once, and the later ones carry the verdict.",
        STRICT,
    ),
    Departure(
        "safe",
        "The whole response stands in each prompt.",
        "Of more than 7,200 characters an excerpt of about 6,000 does.",
        STRICT,
    ),
    Departure(
        "safe",
        "Always five rounds of query and search.",
        "The rounds end where all that the documents hold was found, or nothing is left to search.",
        STRICT,
    ),
    Departure(
        "safe",
        "A fact is rated supported or not supported.",
        "The rating also says whether evidence spoke against it; both kinds count as not supported.",
        "",
    ),
    Departure(
        "safe",
        "A stage that fails drops the fact, or goes on with a guess.",
        "The fact is unscored, with the reason, and counted.",
        "",
    ),
    Departure(
        "safe",
        "Replies of 512 tokens at most.",
        "1,024, as replies are JSON.",
        "`--max-tokens 512`",
    ),
    Departure(
        "trustscore",
        "Words only in the response are replaced before those that the question has, too.",
        "What the question asks for is replaced first, such as the year for *when*; shared words rank with verbs.",
        "`--target-order paper`",
    ),
    Departure(
        "trustscore",
        "Each system is asked about its own responses.",
        "With one `--subject-model`, that is asked about the responses of every system.",
        "`eval mixedqa --subject SYSTEM=MODEL`, for each system",
    ),
    Departure(
        "trustscore",
        "A reply that is no letter counts as inconsistent.",
        "It is asked for again, then unscored.",
        "",
    ),
    Departure(
        "trustscore",
        "What TrustFC is where no passage is found is not said.",
        "Neutral, 0.5, without asking a judge; without a corpus it is unscored.",
        "",
    ),
    Departure(
        "trustscore",
        "Substitutes come from DBpedia's servers, then word2vec, then its vocabulary.",
        "Built-in names and typed tables come first, then dates and numbers, then words of the same kind.",
        "`--dbpedia` and `--vectors FILE`",
    ),
    Departure(
        "vwc",
        "The bias is said to be labelled minus predicted, and is printed as predicted minus labelled.",
        "Predicted minus labelled.",
        "",
    ),
    Departure(
        "vwc",
        "No test of system pairs is named.",
        "Paired sign flips over shared prompts. Else two proportions in `reproduce`; in `audit` shares of errors over "
        "whole responses, whose claims are not independent (Donner and Donald 1988).",
        "",
    ),
    Departure(
        "vwc",
        "Similarity is the share of the claim's bigrams that the document has.",
        "ROUGE-2 precision: a bigram that the claim repeats counts no more often than the document has it.",
        "",
    ),
    Departure(
        "vwc",
        "Chunks of 500 tokens in section 2.2, of 500 words in appendix A.6.",
        "Chunks of as many words as the column's name says.",
        "",
    ),
)

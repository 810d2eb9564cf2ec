"""Flags that several commands have, each with its help and its panel."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from factloop.setup.settings import RunSettings

MODEL, SEARCH, DISTRACTORS, LIMITS, OUTPUT, SERVER = "Model", "Search", "Distractors", "Limits", "Output", "Server"

Model = Annotated[
    str | None,
    typer.Option(
        metavar="PROVIDER:NAME", help="Chat model. Without one the offline engine judges.", rich_help_panel=MODEL
    ),
]
Plan = Annotated[
    str | None,
    typer.Option(
        metavar="grounded|fused|paper",
        help="SAFE's loop in windows of sentences (default where a model judges by documents alone), in few calls "
        "(default elsewhere), or as published.",
        rich_help_panel=MODEL,
    ),
]
Temperature = Annotated[float | None, typer.Option(help="Default 0.1.", rich_help_panel=MODEL)]
ToolCalling = Annotated[
    bool | None,
    typer.Option("--tool-calling/--no-tool-calling", help="Offer the searches as tools.", rich_help_panel=MODEL),
]
VerdictLogprobs = Annotated[
    bool | None,
    typer.Option("--logprobs/--no-logprobs", help="Have scores of verdicts, where given.", rich_help_panel=MODEL),
]
SpacyModel = Annotated[str | None, typer.Option(help="spaCy pipeline for the offline engine.", rich_help_panel=MODEL)]
Cascade = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Made by factloop cascade tune: a cheap verifier settles clear claims by the documents.",
        rich_help_panel=MODEL,
    ),
]
Docs = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="File, folder or glob of documents; repeatable.", rich_help_panel=SEARCH),
]
MaxSearches = Annotated[int | None, typer.Option(help="Queries for one claim (default 5).", rich_help_panel=SEARCH)]
ResultsPerSearch = Annotated[int | None, typer.Option(help="Default 3.", rich_help_panel=SEARCH)]
BaseUrl = Annotated[str | None, typer.Option(help="Of any OpenAI-compatible server.", rich_help_panel=MODEL)]
MaxTokens = Annotated[int | None, typer.Option(help="Of one reply (default 1024).", rich_help_panel=MODEL)]
Prompts = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Prompts that replace packaged ones.", rich_help_panel=MODEL)
]
Embeddings = Annotated[
    str | None,
    typer.Option(metavar="MODEL", help="Sentence-transformers model, path or name.", rich_help_panel=MODEL),
]
SearchNames = Annotated[
    list[str] | None,
    typer.Option("--search", metavar="NAME", help="serper, wikipedia or searxng; repeatable.", rich_help_panel=SEARCH),
]
BudgetUsd = Annotated[
    float | None, typer.Option(help="Stop spending here; the rest stays unscored.", rich_help_panel=LIMITS)
]
MaxCalls = Annotated[int | None, typer.Option(help="Model calls, failed ones included.", rich_help_panel=LIMITS)]
PriceIn = Annotated[float | None, typer.Option(help="USD per million prompt tokens.", rich_help_panel=LIMITS)]
PriceOut = Annotated[float | None, typer.Option(help="USD per million completion tokens.", rich_help_panel=LIMITS)]
Concurrency = Annotated[
    int | None, typer.Option(help="Model calls in flight; 0 for no bound (default 64).", rich_help_panel=LIMITS)
]
RequestsPerSecond = Annotated[
    float | None, typer.Option(help="Otherwise learnt from the server.", rich_help_panel=LIMITS)
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", help="Seconds for one call or search (default 60).", rich_help_panel=LIMITS),
]
Patience = Annotated[
    float | None,
    typer.Option(
        "--patience",
        metavar="SECONDS",
        help="A server that accepts no request for so long is given up (default 120).",
        rich_help_panel=LIMITS,
    ),
]
Deadline = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        help="A check ends then; what is not judged is unscored.",
        rich_help_panel=LIMITS,
    ),
]
MaxCallsPerCheck = Annotated[
    int | None, typer.Option(help="Model calls of one check, beside those of all.", rich_help_panel=LIMITS)
]
BudgetUsdPerCheck = Annotated[
    float | None, typer.Option(help="Of one check, beside that of all.", rich_help_panel=LIMITS)
]
Cache = Annotated[
    bool | None,
    typer.Option("--cache/--no-cache", help="Keep answers paid for, and indexes of documents.", rich_help_panel=LIMITS),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Where (default: the user's cache folder).", rich_help_panel=LIMITS),
]
CacheMb = Annotated[
    int | None, typer.Option(help="Of all that is kept; the oldest goes (default 1024).", rich_help_panel=LIMITS)
]
CacheDays = Annotated[float | None, typer.Option(help="For which it is kept (default 30).", rich_help_panel=LIMITS)]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what it would cost; spend nothing.", rich_help_panel=LIMITS)
]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Report as JSON; - for standard output.", rich_help_panel=OUTPUT),
]
Html = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Report as one HTML page.", rich_help_panel=OUTPUT)
]
RunDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Make the run resumable: the same command goes on there.", rich_help_panel=OUTPUT
    ),
]
RecordingFile = Annotated[
    Path | None,
    typer.Option(
        "--recording",
        metavar="FILE",
        help="Take every answer from this recording: no key, no network.",
        rich_help_panel=OUTPUT,
    ),
]
Unproven = Annotated[
    str | None,
    typer.Option(
        metavar="mark|remove|keep",
        help="Claims that nothing was found on: [unverified] after them (the default), taken out, or left as they are.",
    ),
]
Unchecked = Annotated[
    str | None,
    typer.Option(
        metavar="mark|keep", help="What was not checked: [unchecked] after it (the default), or left as it is."
    ),
]
RecordingMode = Annotated[
    str | None,
    typer.Option(
        metavar="replay|record|new",
        help="Or make the recording anew, or add what it does not hold.",
        rich_help_panel=OUTPUT,
    ),
]
Host = Annotated[
    str, typer.Option(help="Address to listen at. Any but this machine's own needs a key.", rich_help_panel=SERVER)
]
Port = Annotated[int, typer.Option(help="0 takes a free one.", rich_help_panel=SERVER)]
ApiKeyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keys of callers, one in a line; or in FACTLOOP_SERVICE_KEYS, apart by commas.",
        rich_help_panel=SERVER,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress, no report on the terminal.", rich_help_panel=OUTPUT)
]

SubjectModel = Annotated[
    str | None,
    typer.Option(metavar="PROVIDER:NAME", help="Model whose belief is probed (TrustBC).", rich_help_panel=MODEL),
]
JudgeModel = Annotated[
    str | None,
    typer.Option(
        metavar="PROVIDER:NAME", help="Judges passages (TrustFC); else --nli, or rules.", rich_help_panel=MODEL
    ),
]
JudgeBaseUrl = Annotated[
    str | None, typer.Option(help="Where the judge is not on the subject's server.", rich_help_panel=MODEL)
]
Nli = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="NLI cross-encoder that judges passages.", rich_help_panel=MODEL),
]
SubjectTemperature = Annotated[
    float | None, typer.Option("--temperature", help="Of both models (default 0).", rich_help_panel=MODEL)
]
Logprobs = Annotated[
    bool | None,
    typer.Option("--logprobs/--no-logprobs", help="Record the letters' probabilities.", rich_help_panel=MODEL),
]
Corpus = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH", help="Documents for TrustFC, psgs_w100.tsv among others; repeatable.", rich_help_panel=SEARCH
    ),
]
Passages = Annotated[int | None, typer.Option(help="Found for one answer (default 10).", rich_help_panel=SEARCH)]
MaxChecks = Annotated[
    int | None, typer.Option(help="Questions for one answer (default 10).", rich_help_panel=DISTRACTORS)
]
Window = Annotated[
    int | None,
    typer.Option(help="Questions asked at a time (default 1); no result depends on it.", rich_help_panel=DISTRACTORS),
]
Kb = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Table made by factloop kb build; repeatable.", rich_help_panel=DISTRACTORS),
]
DBpedia = Annotated[
    bool | None,
    typer.Option(
        "--dbpedia/--no-dbpedia",
        help="Ask DBpedia for entities of the same type; it is sent the response (default no).",
        rich_help_panel=DISTRACTORS,
    ),
]
SpotlightUrl = Annotated[str | None, typer.Option(rich_help_panel=DISTRACTORS, help="DBpedia Spotlight.")]
SparqlUrl = Annotated[str | None, typer.Option(rich_help_panel=DISTRACTORS, help="DBpedia's SPARQL endpoint.")]
Vectors = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Word vectors in word2vec's format.", rich_help_panel=DISTRACTORS),
]
Seed = Annotated[int | None, typer.Option(help="Default 0.", rich_help_panel=DISTRACTORS)]


def settings_given(kind: type[RunSettings], given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a command's arguments that are settings, and were given."""
    return {name: given[name] for name in kind.model_fields if given.get(name) is not None}

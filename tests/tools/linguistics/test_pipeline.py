from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.tools.linguistics.discourse import context_at
from factloop.tools.linguistics.mentions import find_mentions
from factloop.tools.linguistics.pipeline import load_pipeline
from factloop.tools.linguistics.references import resolve_references


@pytest.fixture
def saved_pipeline(tmp_path: Path) -> Path:
    """A pipeline with an entity ruler that knows one person whom the rules cannot see, and one ship."""
    import spacy  # here, since it imports torch: a second for each process that collects the tests

    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(  # type: ignore[attr-defined]  # the factory returns the component untyped
        [{"label": "PERSON", "pattern": "mira of lindel"}, {"label": "PRODUCT", "pattern": "Ilse Varga"}]
    )
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def test_the_blank_pipeline_is_english() -> None:
    assert load_pipeline(None).lang == "en"


def test_a_saved_pipeline_is_loaded_by_path_and_its_entities_win(saved_pipeline: Path) -> None:
    nlp = load_pipeline(str(saved_pipeline))
    assert [(m.text, m.kind) for m in find_mentions("Later mira of lindel met Otto Berg.", nlp)] == [
        ("mira of lindel", "person"),
        ("Otto Berg", "maybe_person"),
    ]
    assert [(m.text, m.kind) for m in find_mentions("The crew met Ilse Varga.", nlp)] == [("Ilse Varga", "thing")]
    response = "In spring mira of lindel arrived. She stayed."
    start = response.index("She")
    resolved = resolve_references("She stayed.", context_at(response, start, None, nlp), nlp)
    assert resolved == "mira of lindel stayed."
    assert resolve_references("She stayed.", context_at(response, start, None)) == "She stayed."


@pytest.mark.parametrize("name", ["no_such_model_xyz", "/no/such/folder"])
def test_a_missing_model_is_a_config_error_that_says_what_to_do(name: str) -> None:
    with pytest.raises(ConfigError, match="install it") as caught:
        load_pipeline(name)
    assert name in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.process
def test_importing_the_rules_loads_neither_spacy_nor_torch() -> None:
    names = ("claims", "references", "relevance", "queries", "pipeline")
    imports = "; ".join(f"import factloop.tools.linguistics.{name}" for name in names)
    code = f"{imports}; import sys; sys.exit(bool({{'spacy', 'torch'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

from __future__ import annotations

from pathlib import Path

from factloop.entrance.documents import open_documents
from factloop.setup.settings import CheckSettings


def test_registered_documents_are_searched_as_others_are_and_hide_their_places(tmp_path: Path) -> None:
    (tmp_path / "orrin.txt").write_text("The Orrin viaduct opened in 1871.", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    found = open_documents("guides", [str(tmp_path)], CheckSettings(cache=False))
    assert [hit.source for hit in found.search("viaduct", 3)] == ["guides/orrin.txt"]
    assert [hit.source for hit in found.all_passages(1_000) or ()] == ["guides/orrin.txt"]
    assert not any(str(tmp_path) in warning for warning in found.warnings)
    assert "guides/empty.txt" in " ".join(found.warnings)
    assert found.recorded_as is None  # a recording holds no local search: it is asked anew
    assert (found.is_local, found.own_documents, found.n_files, found.n_passages) == (True, True, 1, 1)

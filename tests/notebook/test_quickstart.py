"""The notebook of the examples, executed by a real kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart.ipynb"


def outputs(folder: Path) -> list[dict[str, Any]]:
    """What every cell of code shows, in order."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(QUICKSTART, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    return [
        {kind: text for out in cell.outputs for kind, text in _shown(out).items()}
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _shown(out: Any) -> dict[str, str]:
    assert out.output_type != "error", out
    if out.output_type == "stream":
        return {out.name: out.text}
    return dict(out.data)


@pytest.mark.notebook
def test_the_notebook_runs_and_shows_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(QUICKSTART.parents[1]))
    head, assessed, anonymized, release, judged, drafted = outputs(tmp_path)
    assert "<table" in head["text/html"]
    assert "rows alone in their class" in assessed["text/html"]
    assert "class_id" in anonymized["text/plain"]
    assert "k_anonymity" in release["text/html"]
    assert ">hold<" in release["text/html"]
    assert len(release["text/plain"].splitlines()) <= 10
    assert "every check holds" in judged["text/html"]
    assert "role: quasi" in drafted["stdout"]
    # no progress is printed between the cells
    assert not any("stderr" in shown for shown in (head, assessed, anonymized))


def test_the_notebook_is_stored_without_outputs() -> None:
    text = QUICKSTART.read_text(encoding="utf-8")
    assert '"outputs": []' in text
    assert '"execution_count": null' in text

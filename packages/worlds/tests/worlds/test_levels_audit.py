"""The audit of generated questions of several levels tells each rule at each level."""

import io
from pathlib import Path

from rich.console import Console

from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.audit.audit import audit
from gnomon_analyses.audit.tables import lead, tables
from gnomon_worlds.benchmarks.worlds import worlds

LEVELS = ["as it comes", "easy", "medium", "hard"]


def test_every_level_has_its_rates_and_its_part_of_the_first_sentence(tmp_path: Path) -> None:
    select = Select.model_validate(
        {"limit": 7, "seed": 3, "difficulty": "mixed", "tasks": ["NextSpotForecasting"]}
    )
    findings = audit(worlds, data=None, select=select, media=MediaStore(tmp_path))
    ahead = {
        accuracy.cell: accuracy
        for accuracy in findings.by_level
        if (accuracy.shortcut, accuracy.view) == ("nearest camera ahead", "guarded")
    }
    assert list(ahead) == LEVELS
    assert [accuracy.n for accuracy in ahead.values()] == [2, 2, 2, 1]  # hard ones are outdoors alone
    assert ahead["easy"].value == 1.0
    sentence = lead(findings)
    assert [sentence.index(f"{level.capitalize()}: ") for level in LEVELS] == sorted(
        sentence.index(f"{level.capitalize()}: ") for level in LEVELS
    )
    console = Console(width=180, record=True, file=io.StringIO())
    for block in tables(findings):
        console.print(block)
    assert "By level, guarded prompt" in console.export_text()
    assert {row["cell"] for row in findings.document()["by_level"]} == set(LEVELS)

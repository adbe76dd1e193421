"""What the audit finds in small copies of both benchmarks."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.audit.audit import audit
from gnomon_analyses.audit.findings import Findings, ShortcutAccuracy
from tests.published_graphs import ESCHER_ROWS, KANSAI, KANTO, area, graph, place, publish_escher, publish_vir


def audited(name: str, data: Path, tmp_path: Path) -> Findings:
    return audit(BENCHMARKS.get(name), data=data, select=Select(), media=MediaStore(tmp_path / "media"))


def accuracy_of(findings: Findings, shortcut: str, view: str) -> ShortcutAccuracy:
    return next(one for one in findings.accuracies if (one.shortcut, one.view) == (shortcut, view))


def journey(number: int) -> dict[str, Any]:
    """Nine places of one city, listed in the order of their visits."""
    spots = [place("", f"Place {number} {letter}", "cafe", at) for at, letter in enumerate("abcdefghi")]
    nodes = [area("PREFECTURE", "東京都", "Tokyo"), area("CITY", "渋谷区", "Shibuya"), *spots]
    edges = [("1", "2", "INCLUSION"), *(("2", str(3 + at), "INCLUSION") for at in range(9))]
    edges += [(str(3 + at), str(4 + at), "TRANSITION") for at in range(8)]
    return graph(nodes, edges)


@pytest.fixture(scope="module")
def vir(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder = tmp_path_factory.mktemp("vir")
    rows = [{"video_id": f"v{number}", "graph": journey(number)} for number in range(12)]
    return audited("vir-bench", publish_vir(folder / "published", rows, clips=False), folder)


def test_the_released_shuffle_gives_the_order_away_and_the_guarded_list_does_not(vir: Findings) -> None:
    shortcut = "nodes joined as before the shuffle"
    official, guarded = (accuracy_of(vir, shortcut, view) for view in ("official", "guarded"))
    assert official.value == 1.0
    assert official.beats_chance
    assert not guarded.survives
    assert guarded.chance == pytest.approx(2 * (8 / 9) / 16)
    assert not vir.surviving


def test_a_gazetteer_places_cities_without_a_video(vir: Findings) -> None:
    accuracy = accuracy_of(vir, "cities placed by the gazetteer", "guarded")
    assert (accuracy.value, accuracy.kind, accuracy.n) == (1.0, "floor", 12)


def test_graphs_that_break_rules_or_geography_are_named(tmp_path: Path) -> None:
    moved, twice = deepcopy(KANTO), deepcopy(KANSAI)
    moved["nodes"]["display_name"][1] = str({"ja": "京都府", "en": "Kyoto"})
    twice["edges"]["source"].append("4")
    twice["edges"]["target"].append("5")
    twice["edges"]["type"].append("INCLUSION")
    rows = [{"video_id": "moved", "graph": moved}, {"video_id": "twice", "graph": twice}]
    findings = audited("vir-bench", publish_vir(tmp_path / "vir", rows, clips=False), tmp_path)
    told = {(fault.sample_id, fault.kind): fault.detail for fault in findings.faults}
    assert "2 cities lie in another prefecture" in told["moved.edge", "gazetteer"]
    assert "several_parents: Namba Station" in told["twice.edge", "graph"]
    assert findings.fault_counts["missing_media"] == 4


def _choice(number: int, gold: str) -> dict[str, Any]:
    listed = " ".join(f"{letter}) thing {number}{k}" for letter, k in zip("ABCD", "wxyz", strict=True))
    return {
        **ESCHER_ROWS[0],
        "index": number,
        "P": f"v{number}_1_0_5.mp4",
        "Q": f"[Single-Choice] Which {number}? [Options] {listed}",
        "A": gold,
    }


def test_a_favourite_letter_is_found_in_the_files_and_ended_by_the_guarded_order(tmp_path: Path) -> None:
    rows = [_choice(number, "B" if number % 4 else "C") for number in range(80)]
    findings = audited("escherverse", publish_escher(tmp_path / "escher", rows, clips=False), tmp_path)
    shortcut = "place most often right in other videos"
    assert accuracy_of(findings, shortcut, "official").value == 0.75
    assert not accuracy_of(findings, shortcut, "guarded").survives
    letters = {row.view: row for row in findings.letters}
    assert letters["official"].best == 0.75
    assert letters["guarded"].best < 0.5


def test_golds_that_score_too_easily_are_named(tmp_path: Path) -> None:
    rows = [
        {**ESCHER_ROWS[3], "index": 1, "A": "2"},
        {**ESCHER_ROWS[2], "index": 2, "A": "Maybe"},
        {**ESCHER_ROWS[1], "index": 3, "A": "A"},
        {**ESCHER_ROWS[0], "index": 4, "A": "A,B"},
    ]
    findings = audited("escherverse", publish_escher(tmp_path / "escher", rows, clips=False), tmp_path)
    assert findings.fault_counts["gold"] == 3
    assert findings.fault_counts["easy_gold"] == 1
    assert findings.unread == {"official": 2, "guarded": 2}

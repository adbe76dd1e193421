"""Views that overlap are asked about: answers hold for the files, and no option is right more often."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from PIL import Image

from bench.tracking_data import write_wildtrack
from bench.tracking_truth import overlap_faults
from gnomon.core.errors import DataError, SpecError
from gnomon_worlds.commands.generate import generate
from gnomon_worlds.tracking.look import look_at
from gnomon_worlds.tracking.overlapping import TASKS, build_overlaps
from gnomon_worlds.tracking.reading import Inputs, read_layout
from tests.mot_folder import write_mot


@pytest.fixture(scope="module")
def plaza(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_wildtrack(tmp_path_factory.mktemp("plaza"), people=30, frames=120)


@pytest.fixture(scope="module")
def built(plaza: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out") / "questions"
    report = build_overlaps(look_at(read_layout("wildtrack", plaza, Inputs())), out, limit=16)
    assert report["tasks"] == dict.fromkeys(TASKS, 4)
    return out


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "questions.jsonl").read_text().splitlines()]


def test_every_answer_holds_for_the_files(plaza: Path, built: Path) -> None:
    assert list(overlap_faults(plaza, built)) == [""] * 16


def test_of_questions_that_offer_the_same_each_has_another_answer(built: Path) -> None:
    rows = rows_of(built)
    assert Counter((row["task"], row["answer"]) for row in rows) == {
        (task, letter): 1 for task in TASKS for letter in "ABCD"
    }
    offered = Counter(tuple(row["options"]) for row in rows if row["task"] in ("WhichCamerasSee", "HandOver"))
    assert all(count % 4 == 0 for count in offered.values())
    assert not any("none" in row["question"] for row in rows)


def test_questions_about_several_targets_are_kin_where_their_cameras_are_the_same(built: Path) -> None:
    cameras = re.compile(r"camera (\w+) ")
    kin = {
        (frozenset(cameras.findall(row["question"])), row["cluster"][0])
        for row in rows_of(built)
        if row["task"] in ("InBothViews", "DistanceAcrossViews")
    }
    pairs, clusters = zip(*kin, strict=True)
    assert {len(pair) for pair in pairs} == {2}
    assert len(kin) == len(set(pairs)) == len(set(clusters))


def test_questions_of_one_time_are_kin_whichever_views_they_are_about(built: Path) -> None:
    moments = re.compile(r"\b(\d\d):(\d\d):(\d\d)")
    for row in rows_of(built):
        first = moments.search(row["question"])
        assert first is not None
        begin = f"{first[1]}:{first[2]}:{int(first[3]) // 10}0"
        assert row["cluster"][1] == f"10 s from {begin}.000"


def test_questions_name_files_that_are_there(built: Path) -> None:
    row = rows_of(built)[0]
    assert (built / row["scene"]).is_file()
    assert (built / row["images"][0]).is_file()


def test_views_that_are_cut_apart_cannot_be_asked_about(plaza: Path, tmp_path: Path) -> None:
    arguments = ["overlaps", str(plaza), "--from", "wildtrack", "--out", str(tmp_path / "q"), "--cut-views"]
    assert "need views that overlap" in str(CliRunner().invoke(generate, arguments).exception)


def test_views_that_hardly_overlap_are_refused_with_the_reasons(tmp_path: Path) -> None:
    look = look_at(read_layout("mot", write_mot(tmp_path / "mot", people=6), Inputs()))
    with pytest.raises(DataError, match="no two cameras see"):
        build_overlaps(look, tmp_path / "out")
    with pytest.raises(DataError, match="no two cameras see"):  # a task that is named twice is one
        build_overlaps(look, tmp_path / "out", tasks=("HandOver", "HandOver"), limit=4)
    assert not (tmp_path / "out").exists()
    with pytest.raises(SpecError, match="in fours: 16 or more"):
        build_overlaps(look, tmp_path / "out", limit=8)


def moved(folder: Path, by_px: int) -> Path:
    """Every box of the first camera farther right."""
    for path in (folder / "annotations_positions").glob("*.json"):
        people = json.loads(path.read_text())
        for person in people:
            view = person["views"][0]
            if view["xmax"] > view["xmin"]:
                view["xmin"], view["xmax"] = view["xmin"] + by_px, view["xmax"] + by_px
        path.write_text(json.dumps(people))
    return folder


def test_boxes_of_people_beyond_the_picture_are_left_out_and_counted(tmp_path: Path) -> None:
    folder = moved(write_wildtrack(tmp_path / "few", people=10, frames=60), 300)
    tracking = read_layout("wildtrack", folder, Inputs())
    assert any("have their middle outside the picture" in note for note in tracking.notes)
    assert any("no Image_subsets: pictures are taken to be 1920 × 1080" in note for note in tracking.notes)
    look_at(tracking).refuse()


def test_too_many_beyond_it_disprove_the_pictures_size(tmp_path: Path) -> None:
    folder = write_wildtrack(tmp_path / "small", people=10, frames=60)
    (folder / "Image_subsets" / "C1").mkdir(parents=True)
    Image.new("L", (640, 360)).save(folder / "Image_subsets" / "C1" / "00000000.png")
    tracking = read_layout("wildtrack", folder, Inputs())
    assert any("Image_subsets has none of CVLab2, CVLab3, " in note for note in tracking.notes)
    with pytest.raises(DataError, match="its picture is 640 × 360"):
        look_at(tracking).refuse()

"""Clips are found under the usual names of their folder, and their absence is said with a denominator."""

from pathlib import Path

import pytest

from gnomon.core.benchmark import BENCHMARKS, SampleSet
from gnomon.core.near_equal import find_near_equal
from gnomon.core.sample import LACKS_MEDIA
from gnomon.core.sample_abilities import KnowsMedia, TellsQuestions
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clip_folders import ClipFolders
from tests.published_clips import URBAN_ROWS, publish_sti, publish_urban
from tests.published_graphs import publish_escher, publish_vir

PUBLISH = {
    "urbanvideo-bench": publish_urban,
    "sti-bench": publish_sti,
    "vir-bench": publish_vir,
    "escherverse": publish_escher,
}
every = pytest.mark.parametrize("name", list(PUBLISH))


def opened(name: str, data: Path, media: MediaStore, protocol: str = "guarded") -> SampleSet:
    benchmark = BENCHMARKS.get(name)
    return benchmark.open(data=data, select=Select(), protocol=protocol, media=media)  # type: ignore[arg-type]


def unshowable(samples: SampleSet) -> int:
    assert isinstance(samples, KnowsMedia)
    return samples.unshowable


def told(samples: SampleSet) -> list[str]:
    return [fault.detail for fault in samples.faults if fault.kind == LACKS_MEDIA]


@every
@pytest.mark.parametrize("folder", ["video", "videos", "Videos", "VIDEO", "clips", "."])
def test_clips_are_found_whatever_their_folder_is_called(
    tmp_path: Path, media: MediaStore, name: str, folder: str
) -> None:
    data = PUBLISH[name](tmp_path)
    target = data / folder
    target.mkdir(exist_ok=True)
    for clip in list((data / ("video" if name == "sti-bench" else "videos")).iterdir()):
        clip.rename(target / clip.name)
    samples = opened(name, data, media)
    assert (unshowable(samples), told(samples)) == (0, [])
    assert not samples.get(samples.refs[0].sample_id).missing


@every
def test_without_any_clip_every_sample_is_counted(tmp_path: Path, media: MediaStore, name: str) -> None:
    samples = opened(name, PUBLISH[name](tmp_path, clips=False), media)
    count = len(samples.refs)
    (detail,) = told(samples)
    assert unshowable(samples) == count
    assert detail.startswith(f"{count} of {count} samples are without their video")
    assert str(tmp_path) not in detail, "the server's paths are nobody's business"


def test_the_released_script_of_sti_bench_asks_without_clips(tmp_path: Path, media: MediaStore) -> None:
    samples = opened("sti-bench", publish_sti(tmp_path, clips=False), media, "official")
    assert unshowable(samples) == 0
    assert told(samples)


@pytest.mark.parametrize(
    ("there", "asked", "found"),
    [
        (["a.MP4"], "a.mp4", "a.MP4"),
        (["A.mov"], "a.mp4", "A.mov"),
        (["a.avi", "a.mkv"], "a.mp4", "a.mkv"),
        (["a.mp4", "A.MP4"], "A.MP4", "A.MP4"),
        (["v1.2.webm"], "v1.2", "v1.2.webm"),
        (["a.txt"], "a.mp4", None),
        (["b.mp4"], "a.mp4", None),
        (["a.mp4"], "../a.mp4", None),
        (["a.mp4"], "nul\0.mp4", None),
    ],
)
def test_a_name_may_differ_in_case_and_ending(
    tmp_path: Path, there: list[str], asked: str, found: str | None
) -> None:
    (tmp_path / "videos").mkdir()
    for name in there:
        (tmp_path / "videos" / name).write_bytes(b"x")
    path = ClipFolders(root=tmp_path, beside=tmp_path).find(asked)
    assert (path.name if path else None) == found


def test_a_clip_that_comes_later_is_found(tmp_path: Path) -> None:
    folders = ClipFolders(root=tmp_path, beside=tmp_path)
    assert folders.absent(["a.mp4"]) == {"a.mp4"}
    (tmp_path / "Clips").mkdir()
    (tmp_path / "Clips" / "a.webm").write_bytes(b"x")
    assert folders.absent(["a.mp4"]) == frozenset()


def test_a_question_about_a_copy_of_its_clip_is_the_same_question(tmp_path: Path, media: MediaStore) -> None:
    again = {**URBAN_ROWS[0], "Question_id": 7, "video_id": "copy.mp4"}
    other = {**URBAN_ROWS[0], "Question_id": 8, "video_id": "fly_2.mp4"}
    data = publish_urban(tmp_path, [*URBAN_ROWS, again, other])
    (data / "videos" / "copy.mp4").write_bytes((data / "videos" / "fly_1.mp4").read_bytes())
    samples = opened("urbanvideo-bench", data, media)
    assert isinstance(samples, TellsQuestions)
    found = find_near_equal(samples.asked())
    (group,) = found.groups
    clusters = {ref.sample_id: ref.cluster for ref in samples.refs}
    assert len({clusters[name] for name in group}) == 2
    assert {ref.cluster for ref in found.joined(samples.refs) if ref.sample_id in group} == {
        min(clusters.values())
    }

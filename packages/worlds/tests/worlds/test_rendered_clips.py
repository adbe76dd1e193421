"""Pictures of what generated cameras see: boxes to a pixel, depth, degrees, equal bytes, files."""

import hashlib
import io
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gnomon.core.errors import SpecError
from gnomon.core.sample import ImageRef, Sample, VideoRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench import gtr_bench
from gnomon_service.cli.main import main
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.camera_model import Mount
from gnomon_worlds.rendering.canvas import FINER, Canvas, Lens
from gnomon_worlds.rendering.clip import TARGET, Clip, Style, clips_of
from gnomon_worlds.rendering.film import film
from gnomon_worlds.rendering.light import Conditions, sun_at
from gnomon_worlds.rendering.solid import Sheet, Solid, flat, upright
from gnomon_worlds.sample_making import Drawn, draw
from gnomon_worlds.sample_numbers import Number

OUTDOORS, INDOORS = (0, 2), (1, 3)  # numbers of samples
SMALL = (480, 270)
RED = (255, 0, 0)


@cache
def drawn(k: int) -> Drawn:
    return draw(Number(0, k))


def clips(k: int, *, has_box: bool = False, has_clock: bool = False, **degrees: float) -> tuple[Clip, ...]:
    style = Style(size_px=SMALL, conditions=Conditions.of(**degrees), has_box=has_box, has_clock=has_clock)
    return clips_of(drawn(k).question, drawn(k).world, seed=0, style=style)


def pixels(clip: Clip, frame: int) -> NDArray[np.uint8]:
    return np.asarray(next(clip.pictures([frame])))


def bounds(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1])


@pytest.mark.parametrize("k", [*OUTDOORS, *INDOORS])
def test_the_red_box_is_the_published_one_to_a_pixel(k: int) -> None:
    for clip, image in zip(clips(k, has_box=True), drawn(k).record["camera_images"], strict=True):
        for frame, box in zip(clip.box_frames, image["bboxes"], strict=True):
            x, y, width, height = (value * SMALL[0] / 1920 for value in box)
            left, top, right, bottom = bounds((pixels(clip, frame) == RED).all(axis=2))
            for found, true, limit in (
                (left, x, SMALL[0]), (top, y, SMALL[1]),
                (right, x + width, SMALL[0]), (bottom, y + height, SMALL[1]),
            ):  # fmt: skip
                assert abs(found - min(max(true, 0), limit - 1)) <= 1


def test_frames_are_numbered_as_the_published_boxes_are() -> None:
    for k in (*OUTDOORS, *INDOORS):
        for clip, image in zip(clips(k), drawn(k).record["camera_images"], strict=True):
            assert list(clip.box_frames) == image["frame_ids"]
            assert clip.times_s[0] == image["start_timestamp"]
            assert clip.times_s[-1] == pytest.approx(image["end_timestamp"], abs=1e-9)


@pytest.mark.parametrize("k", INDOORS)
def test_all_of_a_walking_target_is_within_its_box(k: int) -> None:
    for clip in clips(k):
        for frame in clip.box_frames:
            alone = clip.canvas(frame, is_target_alone=True).owner == TARGET
            left, top, right, bottom = bounds(alone)
            x, y, width, height = (FINER * value for value in clip.box(frame))
            assert left >= x - 2
            assert right <= x + width + 2
            assert top >= y - 2
            assert bottom <= y + height + 2


@pytest.mark.parametrize("k", OUTDOORS)
def test_a_vehicle_stands_on_the_lower_edge_of_its_box_and_between_its_sides(k: int) -> None:
    for clip in clips(k):
        if clip.trip.journey.body.kind != "vehicle":
            continue
        for frame in clip.box_frames[1:-1]:
            alone = clip.canvas(frame, is_target_alone=True).owner == TARGET
            if not alone.any():
                continue
            x, y, width, height = (FINER * value for value in clip.box(frame))
            left, _, right, bottom = bounds(alone)
            assert bottom <= y + height + 0.06 * height + 2
            assert left >= x - 0.2 * width
            assert right <= x + 1.2 * width
            inside = alone[max(int(y), 0) :, max(int(x), 0) : int(x + width) + 2].sum()
            assert inside / alone.sum() > 0.4


MOUNT = Mount(xy_m=(0.0, 0.0), height_m=3.0, heading_deg=0.0, fov_deg=60.0, range_m=30.0)


def plain(normals: np.ndarray, _glows: object) -> tuple[np.ndarray, tuple[float, float, float]]:
    return np.ones(len(normals)), (0.0, 0.0, 0.0)


def test_what_stands_behind_a_wall_is_not_drawn_whatever_is_drawn_first() -> None:
    wall = Solid.of([Sheet(upright((-3, 10), (3, 10), (0, 4)), (9, 9, 9))])
    behind = Solid.of([Sheet(upright((-1, 15), (1, 15), (0, 2)), (90, 90, 90))])
    before = Solid.of([Sheet(upright((-1, 8), (1, 8), (0, 2)), (90, 90, 90))])
    for order in ((wall, behind), (behind, wall)):
        canvas = Canvas(Lens(MOUNT, SMALL))
        for solid in order:
            canvas.draw(solid, plain, TARGET if solid is behind else 1)
        assert not (canvas.owner == TARGET).any()
    for order in ((wall, before), (before, wall)):
        canvas = Canvas(Lens(MOUNT, SMALL))
        for solid in order:
            canvas.draw(solid, plain, TARGET if solid is before else 1)
        assert (canvas.owner == TARGET).any()


def test_a_wall_is_seen_from_its_own_side_only() -> None:
    canvas = Canvas(Lens(MOUNT, SMALL))
    canvas.draw(Solid.of([Sheet(upright((3, 10), (-3, 10), (0, 4)), (9, 9, 9))]), plain, 1)
    assert not canvas.owner.any()


def test_depths_are_those_of_the_camera_s_own_projection() -> None:
    canvas = Canvas(Lens(MOUNT, SMALL))
    canvas.draw(
        Solid.of([Sheet(flat([(-50, -50), (50, -50), (50, 90), (-50, 90)], 0.0), (9, 9, 9))]), plain, 1
    )
    for point in ((0.0, 12.0), (2.0, 9.0), (-4.0, 20.0)):
        u, v, depth_m = MOUNT.pixel(point)
        row, column = (int(value * FINER * SMALL[0] / 1920) for value in (v, u))
        assert 1 / canvas.nearness[row, column] == pytest.approx(depth_m, rel=0.02)


def visible_share(clip: Clip, frame: int) -> float:
    """The share of the target in the picture that nothing hides."""
    visible = (clip.canvas(frame).owner == TARGET).sum()
    return float(visible / (clip.canvas(frame, is_target_alone=True).owner == TARGET).sum())


def test_some_of_a_target_is_hidden_in_some_clips_and_the_share_says_so() -> None:
    for k in (*OUTDOORS, *INDOORS):
        for clip in clips(k):
            shares = [visible_share(clip, frame) for frame in clip.box_frames[::2]]
            assert all(0 <= share <= 1 for share in shares)
            assert max(shares) > 0.5


@pytest.mark.parametrize("k", [0, 1])
def test_pictures_darken_as_the_night_falls(k: int) -> None:
    light = [pixels(clips(k, night=night)[0], 0).mean() for night in (0, 0.5, 1)]
    assert light == sorted(light, reverse=True)
    assert light[-1] < 0.6 * light[0]


def test_rain_takes_contrast_away_and_stays_outdoors() -> None:
    contrast = [pixels(clips(0, rain=rain)[0], 0).std() for rain in (0, 0.5, 1)]
    assert contrast == sorted(contrast, reverse=True)
    dry, wet = (pixels(clips(1, rain=rain)[0], 0) for rain in (0, 1))
    assert (dry == wet).all()


def test_a_low_frame_rate_holds_pictures_but_not_those_with_published_boxes() -> None:
    counts = []
    for degree in (0, 0.5, 1):
        clip = clips(1, low_frame_rate=degree)[0]
        counts.append(len({clip.shown_frame(frame) for frame in range(len(clip.times_s))}))
        assert all(clip.shown_frame(frame) == frame for frame in clip.box_frames)
    assert counts[0] > counts[1] > counts[2] - 1


@pytest.mark.parametrize("degrees", [{"night": "dark"}, {"rain": 1.5}, {"rain": float("nan")}])
def test_unknown_degrees_are_refused_by_name(degrees: dict[str, float]) -> None:
    with pytest.raises(SpecError) as refusal:
        Conditions.of(**degrees)
    assert refusal.value.field == next(iter(degrees))


def test_equal_clips_have_equal_bytes_and_decode_to_their_frames() -> None:
    clip = clips(1, has_box=True, has_clock=True)[0]
    files = [
        film(made.pictures(), made.times_s) for made in (clip, clips(1, has_box=True, has_clock=True)[0])
    ]
    assert len({hashlib.sha256(file).hexdigest() for file in files}) == 1
    with av.open(io.BytesIO(files[0]), "r") as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        frames = list(container.decode(stream))
    assert [frame.time for frame in frames] == pytest.approx(
        [time_s - clip.times_s[0] for time_s in clip.times_s], abs=1e-4
    )
    assert (frames[0].width, frames[0].height) == SMALL


def test_a_frame_does_not_depend_on_which_were_drawn_before() -> None:
    clip = clips(0)[0]
    *_, last = clip.pictures()
    assert (np.asarray(last) == pixels(clip, len(clip.times_s) - 1)).all()


def test_the_sun_is_in_the_south_at_noon_and_in_the_west_later() -> None:
    east, north, up = sun_at(50.0, 12.0)
    assert abs(east) < 1e-9
    assert north < 0 < up
    assert sun_at(50.0, 15.0)[0] < 0


def opened(folder: Path, protocol: str = "guarded", **select: object) -> Sample:
    samples = worlds.open(
        data=None,
        select=Select(limit=14, **select),
        protocol=protocol,  # type: ignore[arg-type]  # a word of the protocol's
        media=MediaStore(folder / "media"),
    )
    return samples.get("w0-00006")  # causal reordering


def blocks(sample: Sample, *, videos: bool = False) -> list[dict[str, Any]]:
    """The blocks of a prompt that shows the clips alone."""
    content: Any = sample.messages(["media"], videos=videos)[0]["content"]
    return list(content)


def test_without_frames_a_sample_is_as_it_was(tmp_path: Path) -> None:
    sample = opened(tmp_path)
    assert sample.footage is None
    assert not any(part.shown == "media" for part in sample.parts)


def test_nothing_is_drawn_before_a_prompt_shows_it(tmp_path: Path) -> None:
    sample = opened(tmp_path, frames=1)
    sample.messages(["camera_data"])
    assert not list(tmp_path.rglob("*"))
    sample.messages(["media"])
    assert len([path for path in tmp_path.rglob("*") if len(path.name) == 64]) == 3


def test_clips_alone_say_which_camera_took_them_but_not_when_where_times_are_withheld(tmp_path: Path) -> None:
    sample = opened(tmp_path, frames=1)
    texts = [str(block["text"]) for block in blocks(sample) if block["type"] == "text"]
    about = [text for text in texts if "in the red box" in text]
    assert [text.split(",")[0] for text in about] == ["Clip 1", "Clip 2", "Clip 3"]
    assert all("lasting" in text and "12:" not in text for text in about)
    assert not any(" box x=" in text for text in texts)


def test_models_that_take_videos_get_whole_clips_and_others_frames(tmp_path: Path) -> None:
    sample = opened(tmp_path, fps=1.0)
    kinds = [[block["type"] for block in blocks(sample, videos=videos)] for videos in (True, False)]
    assert kinds[0].count("video") == 3
    assert "image" not in kinds[0]
    assert "video" not in kinds[1]
    assert kinds[1].count("image") >= 6
    films = [part.content for part in sample.parts if isinstance(part.content, VideoRef)]
    data = MediaStore(tmp_path / "media").read(films[0].sha256)
    with av.open(io.BytesIO(data), "r") as container:
        assert container.streams.video[0].width == 960


def test_tools_can_look_into_all_clips_one_behind_the_other(tmp_path: Path) -> None:
    footage = opened(tmp_path, frames=2).footage
    assert footage is not None
    seconds = footage.facts().seconds
    frames = footage.frames_at([0.0, seconds / 2, seconds], max_side_px=320)
    assert [frame.picture.width for frame in frames] == [320] * 3
    assert frames[0].time_s == 0.0


def test_renamed_cameras_are_renamed_beside_their_pictures(tmp_path: Path) -> None:
    sample, media = opened(tmp_path, frames=1), MediaStore(tmp_path / "media")
    renamed = worlds.transformed(sample, "rename", seed=1, show=["media"], media=media)  # type: ignore[attr-defined]
    pictures = [
        [
            part.content.sha256
            for part in each.parts
            if isinstance(part.content, ImageRef) and part.shown == "media"
        ]
        for each in (sample, renamed)
    ]
    assert pictures[0] == pictures[1]
    about = [
        [text for part in each.parts if isinstance(text := part.content, str) and "in the red box" in text]
        for each in (sample, renamed)
    ]
    assert all(before != after for before, after in zip(*about, strict=True))


def test_a_written_folder_runs_as_gtr_bench_with_its_clips(tmp_path: Path) -> None:
    out = tmp_path / "folder"
    command = ["generate", "worlds", "--out", str(out), "--samples", "2", "--clips", "--clip-size", "640x360"]
    with pytest.raises(SystemExit, match="0"):
        main(command)
    media = MediaStore(tmp_path / "media")
    samples = gtr_bench.open(data=out, select=Select(), protocol="guarded", media=media)
    assert not samples.faults
    sample = samples.get("w0-00001")
    shown = [
        part.content for part in sample.parts if isinstance(part.content, ImageRef) and part.shown == "media"
    ]
    assert len(shown) == 6
    assert not sample.missing
    with Image.open(io.BytesIO(media.read(shown[0].sha256))) as picture:
        reddish = np.asarray(picture.convert("RGB")).astype(int)
    left, _, _, bottom = bounds((reddish[..., 0] > 200) & (reddish[..., 1] < 70) & (reddish[..., 2] < 70))
    x, y, _, height = (value / 3 for value in drawn(1).record["camera_images"][0]["bboxes"][0])
    assert abs(left - x) <= 2
    assert abs(bottom - min(y + height, 359)) <= 2

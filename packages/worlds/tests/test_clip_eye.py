"""The reference model finds targets in pictures, by their red box."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from gnomon.core.message import Message
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.solver.clips.eye import red_box, seen_clips
from gnomon_published.solver.clips.question import read_question
from gnomon_worlds.benchmarks.worlds import worlds

FILM = (
    "Clip 1, camera c16, target 1 in the red box, 12:00:10.000-12:00:16.000; pictures of 960 x 540 pixels, "
    "0.5 of the camera's 1920 x 1080; tools for clips find it at 0.0 s to 6.1 s"
)
GREY = (120, 124, 118)


def picture(box: tuple[int, int, int, int] | None) -> bytes:
    """A grey picture of 960 × 540 as JPEG, with a red box where one is given."""
    image = Image.new("RGB", (960, 540), GREY)
    if box:
        ImageDraw.Draw(image).rectangle(box, outline=(255, 0, 0), width=2)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def shown(media: MediaStore, *boxes: tuple[int, int, int, int] | None) -> list[Message]:
    """A prompt with a clip of so many pictures."""
    content: list = [{"type": "text", "text": FILM}]
    for number, box in enumerate(boxes, start=1):
        kept = media.put(picture(box))
        content.append({"type": "text", "text": f"Clip 1, picture {number} of {len(boxes)}:"})
        content.append({"type": "image", "sha256": kept.sha256, "media_type": kept.media_type})
    return [{"role": "user", "content": content}]


@given(st.integers(10, 800), st.integers(10, 400), st.integers(8, 120), st.integers(8, 100))
def test_a_box_is_found_to_two_pixels_after_jpeg(left: int, top: int, width: int, height: int) -> None:
    data = picture((left, top, left + width, top + height))
    found = red_box(Image.open(io.BytesIO(data)).convert("RGB"))
    assert found == pytest.approx((left, top, width, height), abs=2)


def test_a_picture_without_a_box_shows_none() -> None:
    assert red_box(Image.open(io.BytesIO(picture(None))).convert("RGB")) is None


def test_boxes_are_in_pixels_of_the_camera_each_in_the_middle_of_its_part(tmp_path: Path) -> None:
    messages = shown(MediaStore(tmp_path), (100, 200, 140, 300), None, (200, 200, 240, 300))
    (clip,) = seen_clips(messages, MediaStore(tmp_path))
    noon_s = 12 * 3600
    assert clip.camera == "c16"
    assert clip.times_s == pytest.approx((noon_s + 11.0, noon_s + 15.0))
    assert (clip.start_s, clip.end_s) == pytest.approx((noon_s + 11.0, noon_s + 15.0))
    assert clip.boxes[0] == pytest.approx((200, 400, 80, 200), abs=4)


def test_a_box_that_may_go_on_beyond_the_picture_counts_only_where_there_are_no_two_others(
    tmp_path: Path,
) -> None:
    media = MediaStore(tmp_path)
    inside, cut = [(100, 200, 140, 300), (200, 200, 240, 300)], (700, 300, 1100, 500)
    (three,) = seen_clips(shown(media, *inside, cut), media)
    (two,) = seen_clips(shown(media, inside[0], cut), media)
    assert len(three.boxes) == 2
    assert len(two.boxes) == 2


def test_clips_are_those_of_the_pictures_where_no_boxes_are_told(tmp_path: Path) -> None:
    select = Select.model_validate({"limit": 1, "seed": 7, "frames": 3})
    media = MediaStore(tmp_path)
    samples = worlds.open(data=None, select=select, protocol="guarded", media=media)
    sample = samples.get(samples.refs[0].sample_id)
    told = read_question(sample.messages(show=frozenset({"camera_data"})))
    pictured = sample.messages(show=frozenset({"media"}))
    seen = read_question(pictured, lambda: seen_clips(pictured, media))
    assert [clip.camera for clip in seen.clips] == [clip.camera for clip in told.clips]
    for by_eye, by_numbers in zip(seen.clips, told.clips, strict=True):
        assert 2 <= len(by_eye.boxes) <= 3
        lows = [y + height for _, y, _, height in by_numbers.boxes]
        assert all(min(lows) - 8 <= y + height <= max(lows) + 8 for _, y, _, height in by_eye.boxes)


def test_sightings_that_a_question_names_are_clips_without_boxes() -> None:
    asked = "Question: between (c16, 12:00:10.000-12:00:16.000) and (c02, 12:01:00.000-12:01:04.500)."
    clips = read_question([{"role": "user", "content": asked}]).clips
    assert [(clip.camera, clip.lasting_s, clip.boxes) for clip in clips] == [
        ("c16", pytest.approx(6.0), ()),
        ("c02", pytest.approx(4.5), ()),
    ]

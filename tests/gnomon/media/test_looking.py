"""Tools look into a clip again: the right frame, the right part, kept with all other media."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gnomon.media import MediaStore
from gnomon.media.clip_frames import ClipFootage
from gnomon.media.clips import Clips
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import TOOLS, Observation, Toolbox
from tests.numbered import number_of, write_clip


@pytest.fixture
def media(tmp_path: Path) -> MediaStore:
    return MediaStore(tmp_path / "media")


@pytest.fixture
def toolbox(tmp_path: Path, media: MediaStore) -> Toolbox:
    path = write_clip(tmp_path / "a.mp4", 40, width=320, height=192)
    return Toolbox(TOOLS, ToolContext(inputs=held(ClipFootage(clips=Clips(media), path=path))))


def look(toolbox: Toolbox, name: str, **arguments: object) -> tuple[dict[str, object], Observation]:
    seen = toolbox.call(name, json.dumps(arguments))
    return json.loads(seen.content), seen


def test_a_frame_is_the_one_on_screen(toolbox: Toolbox, media: MediaStore) -> None:
    told, seen = look(toolbox, "look_at_frame", time_s=1.75)
    assert number_of(media.read(seen.pictures[0].sha256)) == 17
    assert told == {
        "times_s": [1.7],
        "error_s": 0.05,
        "clip_seconds": 4.0,
        "clip_fps": 10.0,
        "frame_width_px": 320,
        "frame_height_px": 192,
    }


def test_a_part_is_shown_at_full_resolution(toolbox: Toolbox, media: MediaStore) -> None:
    _, seen = look(toolbox, "look_closer", time_s=0, x_px=300, y_px=100, width_px=500, height_px=40)
    (picture,) = seen.pictures
    assert (picture.width, picture.height) == (20, 40)
    red, green, _ = np.asarray(Image.open(io.BytesIO(media.read(picture.sha256))))[20, 10]
    assert red > 150 > green


def test_a_row_of_frames_is_even_in_time(toolbox: Toolbox, media: MediaStore) -> None:
    told, seen = look(toolbox, "look_between", start_s=1.0, end_s=2.0, frames=6)
    assert [number_of(media.read(picture.sha256)) for picture in seen.pictures] == [10, 12, 14, 16, 18, 20]
    assert told["times_s"] == [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]
    told, seen = look(toolbox, "look_between", start_s=3.9, end_s=100.0, frames=16)
    assert len(seen.pictures) == 1


def test_looking_twice_decodes_once(toolbox: Toolbox, media: MediaStore) -> None:
    _, one = look(toolbox, "look_at_frame", time_s=1.0)
    (media.folder.parent / "a.mp4").touch()
    _, two = look(toolbox, "look_at_frame", time_s=1.0)
    assert one.pictures == two.pictures
    assert len(list((media.folder / "clips").glob("*/*.json"))) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("look_at_frame", {"time_s": 4.5}, "the clip lasts 4.00 s"),
        ("look_closer", {"time_s": 0, "x_px": 319, "y_px": 0, "width_px": 9, "height_px": 9}, "320 x 192"),
        ("look_between", {"start_s": 2, "end_s": 1}, "must lie before"),
        ("look_between", {"start_s": 5, "end_s": 9}, "after the end"),
    ],
)
def test_looking_where_nothing_is_is_refused_in_words(
    toolbox: Toolbox, name: str, arguments: dict[str, float], words: str
) -> None:
    told, seen = look(toolbox, name, **arguments)
    assert words in str(told["error"])
    assert seen.error == "tool_error"


def test_a_broken_clip_is_told_and_no_crash(tmp_path: Path, media: MediaStore) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    footage = ClipFootage(clips=Clips(media), path=broken)
    told, seen = look(Toolbox(TOOLS, ToolContext(inputs=held(footage))), "look_at_frame", time_s=0)
    assert "broken.mp4" in str(told["error"])
    assert seen.error == "tool_error"


def test_only_tools_that_fit_a_sample_are_offered(toolbox: Toolbox) -> None:
    offered = {schema["function"]["name"] for schema in toolbox.schemas}
    assert {"look_at_frame", "measure_motion"} <= offered
    assert not offered & {"distance", "list_cameras", "camera_view"}
    bare = Toolbox(TOOLS, ToolContext())
    assert "look_at_frame" not in {schema["function"]["name"] for schema in bare.schemas}
    assert bare.call("look_at_frame", '{"time_s": 0}').error == "unknown_tool"

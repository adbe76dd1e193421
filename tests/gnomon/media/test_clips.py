"""Frames are those that the rule names, made once, and hostile files are refused."""

import io
import random
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gnomon.core.errors import DataError
from gnomon.media import MediaStore, video
from gnomon.media.clips import Clips, Frames, Look, Mark
from gnomon.media.frame_rules import AtIndices, AtTimes, FrameRule, Spread, Stride, Uniform
from gnomon.media.video import Video, probe
from tests.numbered import number_of, write_clip


@pytest.fixture
def clips(tmp_path: Path) -> Clips:
    return Clips(MediaStore(tmp_path / "media"))


def numbers(clips: Clips, frames: Frames) -> list[int]:
    return [number_of(clips.media.read(image.sha256)) for image in frames.images]


def picture(clips: Clips, frames: Frames, at: int = 0) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(clips.media.read(frames.images[at].sha256))))


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("a.mp4", "libx264"),
        ("a.avi", "mpeg4"),
        ("b.avi", "libx264"),
        ("a.webm", "libvpx-vp9"),
        ("a.ts", "libx264"),
    ],
)
def test_the_frames_sent_are_those_that_the_rule_names(
    clips: Clips, tmp_path: Path, name: str, codec: str
) -> None:
    path = write_clip(tmp_path / name, 40, codec=codec)
    for rule in (Stride(32, "up"), Spread(16), Uniform(7), AtIndices((3, 39, 40))):
        frames = clips.frames(path, rule)
        assert numbers(clips, frames) == list(frames.indices) == list(rule.pick(probe(path)))
        assert (frames.count, frames.lost) == (40, 0)


def test_a_long_clip_is_entered_at_keyframes_and_still_exact(clips: Clips, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "long.mp4", 700, fps=30, gop=30)
    frames = clips.frames(path, AtIndices((2, 250, 251, 699)))
    assert numbers(clips, frames) == [2, 250, 251, 699]


def test_time_counts_where_the_frame_rate_varies(clips: Clips, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "vfr.mp4", times_s=[0, 0.1, 0.2, 1.5, 1.6, 3.0])
    assert clips.frames(path, AtTimes((0.15, 1.49, 2.9, 99.0))).indices == (1, 2, 4, 5)
    assert clips.frames(path, Uniform(3, end_s=3.0)).indices == (2, 3, 4)  # at 0.5, 1.5 and 2.5 s


def test_a_clip_of_one_frame_shows_it_once(clips: Clips, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "one.mp4", 1)
    for rule in (Stride(32, "up"), Stride(30, "down"), Spread(16), Uniform(30), AtTimes((5.0,))):
        assert numbers(clips, clips.frames(path, rule)) == [0]


def test_odd_sizes_keep_their_size(clips: Clips, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "odd.mkv", 3, width=163, height=99, codec="ffv1")
    frames = clips.frames(path, Spread(2))
    assert [(image.width, image.height) for image in frames.images] == [(163, 99)] * 2
    assert numbers(clips, frames) == [0, 2]


def test_a_truncated_clip_shows_what_it_has_and_says_what_is_lost(clips: Clips, tmp_path: Path) -> None:
    whole = write_clip(tmp_path / "whole.avi", 40, codec="mpeg4")
    path = tmp_path / "cut.avi"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size * 3 // 4])
    frames = clips.frames(path, Spread(4))
    assert 2 < frames.count < 40
    assert frames.lost == 40 - frames.count
    assert numbers(clips, frames)[:-1] == list(frames.indices)[:-1]  # the last may be half a frame


def test_frames_are_decoded_once_whoever_asks(clips: Clips, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.mp4", 40)
    others = [Clips(clips.media) for _ in range(4)]
    found: list[Frames] = []
    threads = [
        threading.Thread(target=lambda one=one: found.append(one.frames(path, Spread(16)))) for one in others
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one.decoded for one in others) == 1
    assert all(frames == found[0] for frames in found)
    renamed = path.rename(tmp_path / "renamed.mp4")
    assert clips.frames(renamed, Spread(16)) == found[0]
    assert clips.decoded == 0


def test_frames_whose_pictures_are_gone_are_made_again(clips: Clips, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.mp4", 5)
    frames = clips.frames(path, Spread(2))
    (clips.media.folder / frames.images[0].sha256[:2] / frames.images[0].sha256).unlink()
    assert clips.frames(path, Spread(2)) == frames
    assert numbers(clips, frames) == [0, 4]


def test_pictures_look_as_told(clips: Clips, tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.mp4", 2)
    small = clips.frames(path, AtIndices((0,)), Look(max_side_px=80))
    assert (small.images[0].width, small.images[0].height) == (80, 48)
    assert (small.width, small.height) == (160, 96)
    cut = clips.frames(path, AtIndices((0,)), Look(crop=(10, 60, 30, 20)))
    assert picture(clips, cut).shape == (20, 30, 3)
    red, _, blue = picture(clips, cut)[10, 15]
    assert red > 150 > blue
    swapped = clips.frames(path, AtIndices((0,)), Look(swap_red_blue=True))
    red, _, blue = picture(clips, swapped)[80, 80]
    assert blue > 150 > red
    mark = Mark(index=1, box=(40.0, 60.0, 60.0, 30.0), label=("t",))
    marked = clips.frames(path, AtIndices((0, 1)), Look(marks=(mark,), quality=100))
    plain, drawn = picture(clips, marked, 0), picture(clips, marked, 1)
    assert drawn[75, 40:43, 0].mean() > drawn[75, 60, 0] + 20  # pure red beside the frame's own
    assert drawn[2, 5].min() > 200 > drawn[2, 150].max() + 140  # number 1: white at the left; the panel right
    assert abs(plain[75, 41].astype(int) - plain[75, 60].astype(int)).max() < 20


def test_a_playlist_is_not_followed_out_of_its_file(clips: Clips, tmp_path: Path) -> None:
    secret = write_clip(tmp_path / "secret.mp4", 3)
    playlist = tmp_path / "list.mp4"
    for text in (
        f"#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1.0,\n{secret}\n#EXT-X-ENDLIST\n",
        f"ffconcat version 1.0\nfile {secret}\n",
    ):
        playlist.write_text(text)
        with pytest.raises(DataError, match=r"list\.mp4 cannot be read as video"):
            clips.frames(playlist, Spread(2))


def test_bombs_are_refused_in_words(clips: Clips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_clip(tmp_path / "a.mp4", 40)
    for name, value, words in (
        ("MAX_PIXELS", 10_000, "160 x 96 pixels"),
        ("MAX_FRAMES", 39, "more than 39 frames"),
        ("MAX_SECONDS", 3.0, "more than 3"),
    ):
        with monkeypatch.context() as limits:
            limits.setattr(video, name, value)
            with pytest.raises(DataError, match=words):
                clips.frames(path, Spread(2))
    for absent in (tmp_path, tmp_path / "none.mp4", Path("/dev/zero")):
        with pytest.raises(DataError):
            clips.frames(absent, Spread(2))
    for data in (b"", b"text", path.read_bytes()[:200]):
        (tmp_path / "broken.mp4").write_bytes(data)
        with pytest.raises(DataError, match=r"broken\.mp4"):
            clips.frames(tmp_path / "broken.mp4", Spread(2))


@pytest.mark.parametrize("suffix", [".mp4", ".avi", ".mkv"])
def test_a_damaged_clip_shows_what_it_has_or_is_refused_in_words(
    clips: Clips, tmp_path: Path, suffix: str
) -> None:
    whole = write_clip(
        tmp_path / f"a{suffix}", 20, codec="mpeg4" if suffix == ".avi" else "libx264"
    ).read_bytes()
    draw, shown = random.Random(1), 0
    path = tmp_path / f"damaged{suffix}"
    for _ in range(60):
        data = bytearray(whole[: draw.choice([len(whole), draw.randrange(len(whole))])])
        for _ in range(draw.choice([0, 1, 10, 100]) if data else 0):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        with suppress(DataError):
            found = clips.frames(path, Spread(4))
            shown += 1
            assert 1 <= len(found.images) == len(found.indices) == len(found.times_s)
    assert 5 < shown < 60


def test_a_codec_that_nobody_knows_and_odd_tags_are_no_crash(clips: Clips, tmp_path: Path) -> None:
    whole = write_clip(tmp_path / "a.mp4", 5).read_bytes()
    (tmp_path / "b.mp4").write_bytes(whole.replace(b"avc1", b"zzzz"))
    with pytest.raises(DataError, match=r"b\.mp4 is in no codec that can be decoded"):
        clips.frames(tmp_path / "b.mp4", Spread(2))
    tag = whole.index(b"Lavf")  # the encoder's name; many a real clip has tags that are no UTF-8
    (tmp_path / "c.mp4").write_bytes(whole[:tag] + b"\xff\xfe" + whole[tag + 2 :])
    assert len(clips.frames(tmp_path / "c.mp4", Spread(2)).images) == 2


def plain(count: int, announced: int) -> Video:
    times_s = tuple(index / 10 for index in range(count))
    return Video(
        times_s=times_s,
        announced=announced,
        hidden=0,
        fps=10.0,
        seconds=count / 10,
        width=4,
        height=3,
        stamps=(),
        keyframes=(0,),
    )


@given(count=st.integers(1, 4000), wanted=st.integers(1, 64))
def test_every_rule_names_frames_that_are_there_in_order(count: int, wanted: int) -> None:
    rules: list[FrameRule] = [Stride(wanted, "up"), Stride(wanted, "down"), Spread(wanted), Uniform(wanted)]
    for rule in rules:
        picked = list(rule.pick(plain(count, count)))
        assert picked == sorted(set(picked))
        assert 0 <= picked[0] <= picked[-1] < count
        assert len(picked) <= wanted or wanted == 1
    assert len(Uniform(wanted).pick(plain(count, 0))) == min(wanted, count)


def test_the_published_strides() -> None:
    assert list(Stride(32, "up").pick(plain(33, 33))) == list(range(0, 33, 2))
    assert list(Stride(30, "down").pick(plain(59, 59))) == list(range(30))
    assert list(Stride(30, "down").pick(plain(59, 60))) == list(range(0, 59, 2))

"""Pictures that are drawn when somebody looks at them."""

import pickle
from pathlib import Path

import pytest

from gnomon.core.sample import ImageRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.drawn_later import drawn_later
from gnomon_worlds.benchmarks.worlds import worlds
from gnomon_worlds.sample_making import draw_map, world_of

PICTURE = draw_map(world_of(0, "outdoor", 0).scene)


def test_a_picture_is_drawn_at_the_first_look_and_kept_for_all(tmp_path: Path) -> None:
    media, drawn = MediaStore(tmp_path), []

    def draw() -> bytes:
        drawn.append(1)
        return PICTURE

    images = [drawn_later(media, "key", draw) for _ in range(3)]
    assert not list(tmp_path.iterdir())
    assert {image.sha256 for image in images} == {media.put(PICTURE).sha256}
    assert len(drawn) == 1
    (tmp_path / images[0].sha256[:2] / images[0].sha256).unlink()
    assert drawn_later(media, "key", draw).width == images[0].width
    assert len(drawn) == 2


def test_a_copy_is_an_ordinary_picture_and_equal(tmp_path: Path) -> None:
    media = MediaStore(tmp_path)
    image = drawn_later(media, "key", lambda: PICTURE)
    copy = pickle.loads(pickle.dumps(image))
    assert type(copy) is ImageRef
    assert copy == image == media.put(PICTURE)
    assert hash(copy) == hash(image)
    with pytest.raises(AttributeError):
        _ = image.colour  # type: ignore[attr-defined]


def test_a_prompt_without_the_map_draws_none(tmp_path: Path) -> None:
    samples = worlds.open(data=None, select=Select(limit=1), protocol="guarded", media=MediaStore(tmp_path))
    sample = samples.get(samples.refs[0].sample_id)
    sample.messages(("camera_data",))
    assert not list(tmp_path.iterdir())
    sample.messages()
    assert list(tmp_path.iterdir())

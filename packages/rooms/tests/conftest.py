"""What tests of rooms share: a folder with made-up rooms, and the scanned ones where they are at hand."""

from pathlib import Path

import pytest

from gnomon_rooms.reading import Room, find_files, read_rooms
from tests.made_up_room import BOXES, room, written


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """A folder with one file of one made-up room, and its mirror image."""
    mirrored = [{**each, "centroid": [-each["centroid"][0], *each["centroid"][1:]]} for each in BOXES]
    return written(tmp_path, room(), room("room_b", boxes=mirrored, room_size=20.25))


@pytest.fixture(scope="session")
def scanned(rooms_dir: Path) -> dict[str, Room]:
    """The scanned rooms by name."""
    return {each.id: each for each in read_rooms(find_files(rooms_dir))[0]}

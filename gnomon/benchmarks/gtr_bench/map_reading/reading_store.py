"""Reading store: readings kept on disk, so that a picture is read once for all arms, jobs and workers."""

import hashlib
import io
from collections.abc import Collection
from pathlib import Path

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from gnomon.benchmarks.gtr_bench.map_reading.reading import READER_VERSION, MapReading, read_map
from gnomon.core.ids import stable_hash
from gnomon.whole_file import write_whole


class ReadingStore:
    """A folder of readings, named by the picture's content, the ids asked for and the reader's version.

    Writing twice is harmless, and a broken file is read from the picture anew.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, picture: bytes, camera_ids: Collection[str]) -> MapReading:
        """What a PNG or JPEG says about these cameras.

        Raises:
            OSError: it is neither.
            NoRoom: the disk is full.
        """
        key = stable_hash(READER_VERSION, hashlib.sha256(picture).hexdigest(), sorted(set(camera_ids)))
        path = self.folder / f"{key}.json"
        adapter = TypeAdapter(MapReading)
        try:
            return adapter.validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            pass
        with Image.open(io.BytesIO(picture), formats=("PNG", "JPEG")) as image:
            reading = read_map(image, camera_ids)
        write_whole(path, adapter.dump_json(reading))
        return reading

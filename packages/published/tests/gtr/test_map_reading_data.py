"""Reading the published outdoor maps."""

from pathlib import Path

import pytest

from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.gtr_bench import gtr_bench
from gnomon_published.benchmarks.gtr_bench.case import Case
from gnomon_published.benchmarks.gtr_bench.layout import find_layout, read_cases
from gnomon_published.benchmarks.gtr_bench.map_reading.reading import MapReading
from gnomon_published.benchmarks.gtr_bench.map_reading.reading_store import ReadingStore
from gnomon_published.benchmarks.gtr_bench.scenes import outdoor_scene
from packages.published.tests.gtr.map_agreement import agreements, sightings

ASKED = 28  # the suite reads the maps of so many samples, which other tests look at too; the soak reads all

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module", params=[ASKED, pytest.param(None, marks=pytest.mark.soak)])
def readings(
    request: pytest.FixtureRequest, gtr_dir: Path, gtr_media: MediaStore
) -> list[tuple[Case, Path, MapReading]]:
    layout = find_layout(gtr_dir)
    store = ReadingStore(gtr_media.folder / "map-readings")
    cases = {case.case_id: case for case in read_cases(layout)[0]}
    samples = gtr_bench.open(data=gtr_dir, select=Select(), protocol="guarded", media=gtr_media)
    asked = [cases[ref.sample_id] for ref in samples.refs[: request.param]]
    maps = [(case, layout.map_of(case)) for case in asked if case.scene == "outdoor"]
    found = [
        (case, path, store.read(path.read_bytes(), outdoor_scene(case).cameras))
        for case, path in maps
        if path is not None
    ]
    if not found:
        pytest.skip("no outdoor maps in this copy of the data")
    return found


def test_every_map_has_a_scale_and_it_is_one_of_two(readings: list[tuple[Case, Path, MapReading]]) -> None:
    scales = {round(reading.scale.metres_per_pixel, 2) for _, _, reading in readings if reading.scale}
    assert all(reading.scale for _, _, reading in readings)
    assert scales <= {0.44, 0.88}


def test_nearly_every_id_is_found_outside_reordering(readings: list[tuple[Case, Path, MapReading]]) -> None:
    plain = [reading for case, _, reading in readings if case.task.short != "CR"]
    found = sum(len(reading.cameras) for reading in plain)
    assert found >= 0.98 * (found + sum(len(reading.unread) for reading in plain))


def test_a_reordering_question_names_one_camera_that_is_not_on_its_map(
    readings: list[tuple[Case, Path, MapReading]],
) -> None:
    absent = [len(reading.unread) for case, _, reading in readings if case.task.short == "CR"]
    assert sum(count == 1 for count in absent) >= 0.9 * len(absent)


def test_one_physical_camera_is_read_alike_on_every_map(
    readings: list[tuple[Case, Path, MapReading]],
) -> None:
    tied = agreements([one for case, _, reading in readings for one in sightings(case, reading)])
    if not tied:
        pytest.skip("no camera stands on two maps of this copy of the data")
    assert sum(one.residual_m <= 1.0 for one in tied) >= 0.98 * len(tied)
    assert sum(one.residual_m <= one.sighting.error_m for one in tied) >= 0.98 * len(tied)
    assert sum(abs(one.turn_deg) <= 3 for one in tied) >= 0.98 * len(tied)

"""Pipes, sockets and links where files are expected: nothing waits for them, and nothing leads out."""

import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.errors import DataError
from gnomon.media import MediaStore
from gnomon.media.clips import Clips
from gnomon_tools.core.regular_file import NotRegular, read_regular
from tests.service.play import SPEC, OpenApi

FILES = {
    "gtr-bench": ("data/outdoor/outdoor_GeoLocation_30.json",),
    "vir-bench": ("data/test-00000-of-00001.parquet",),
    "escherverse": ("Escher-Bench.json",),
    "urbanvideo-bench": ("MCQ.parquet",),
    "sti-bench": ("qa.parquet",),
    "itinerary": ("rome.osm.pbf",),
}


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    (tmp_path / "roots").mkdir()
    return tmp_path / "roots"


@pytest.fixture
def rooted(open_api: OpenApi, roots: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setenv("GNOMON_MEDIA_ROOTS", str(roots))
    return open_api(GNOMON_MEDIA_ROOTS=str(roots))


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """What the call returns or raises; a failure where it takes longer."""
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return done.result(timeout=seconds)


def pipe(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("make", [pipe, Path.mkdir], ids=["pipe", "folder"])
def test_a_scene_that_is_no_file_is_refused_at_once(rooted: TestClient, roots: Path, make: Any) -> None:
    make(roots / "odd.geojson")
    answer = within(10, lambda: rooted.post("/v1/tools/distance", json={"scene": "odd.geojson", "args": {}}))
    assert (answer.status_code, answer.json()["field"]) == (422, "scene")
    assert "regular file" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("benchmark", "file"), [(name, file) for name, files in FILES.items() for file in files]
)
def test_a_pipe_among_the_data_keeps_nobody_waiting(
    rooted: TestClient, roots: Path, benchmark: str, file: str
) -> None:
    pipe(roots / "set" / file)
    spec = {**SPEC, "benchmark": benchmark, "data": "set", "select": {}}
    answer = within(20, lambda: rooted.post("/v1/jobs", json=spec))
    assert answer.status_code == 422, answer.text
    assert str(roots) not in answer.text


@pytest.mark.parametrize("benchmark", FILES)
def test_data_that_is_a_pipe_is_refused(rooted: TestClient, roots: Path, benchmark: str) -> None:
    pipe(roots / "set")
    spec = {**SPEC, "benchmark": benchmark, "data": "set", "select": {}}
    answer = within(20, lambda: rooted.post("/v1/jobs", json=spec))
    assert answer.status_code == 422, answer.text


def test_a_link_inside_the_data_does_not_lead_out_of_the_roots(
    rooted: TestClient, roots: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.json").write_text('[{"index": 1, "secret": "of somebody else"}]')
    (roots / "set").mkdir()
    (roots / "set" / "Escher-Bench.json").symlink_to(tmp_path / "secret.json")
    spec = {**SPEC, "benchmark": "escherverse", "data": "set", "select": {}}
    answer = rooted.post("/v1/jobs", json=spec)
    assert answer.status_code == 422
    assert "leads out of the folders" in answer.json()["detail"]
    assert str(tmp_path) not in answer.text


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (pipe(tmp_path / "pipe"), tmp_path / "socket", tmp_path, Path("/dev/zero")):
            with pytest.raises(OSError, match=r"regular file|No such device|Is a directory"):
                within(5, partial(read_regular, path))
    (tmp_path / "file").write_text("words")
    assert read_regular(tmp_path / "file") == b"words"


def test_own_files_are_read_whatever_the_roots_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import gnomon_tools.scene.scene

    monkeypatch.setenv("GNOMON_MEDIA_ROOTS", str(tmp_path))
    assert read_regular(Path(gnomon_tools.scene.scene.__file__))
    with pytest.raises(NotRegular):
        read_regular(Path("/etc/hostname"))


def test_a_clip_that_becomes_a_pipe_is_no_clip(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        within(5, lambda: Clips(MediaStore(tmp_path)).video(pipe(tmp_path / "clip.mp4")))

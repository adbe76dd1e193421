"""Questions that people upload: kept by hash, told by line, asked by jobs, refused where they are bombs."""

import asyncio
import io
import json
import os
import struct
import time
import tracemalloc
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from gnomon.core.errors import DataError
from gnomon.exchange.archive import MOST_DIRECTORY
from gnomon.media import MediaStore
from gnomon.media import uploads as kept_uploads
from gnomon.media.uploads import MOST_UNPACKED, bytes_of_uploads, folder_of, keep_upload
from gnomon_service import deletion
from gnomon_service.settings import read_settings
from gnomon_workers.open_job import media_of
from gnomon_workers.store.store import Store
from tests.service.play import OpenApi, finish_all
from tests.service.test_api_jobs import refusal

OCTETS = {"Content-Type": "application/octet-stream"}
CSV = b"nr,prompt,gold,A,B\n1,Which way is the tower?,A,north,south\n2,Which way is the gate?,B,east,west\n"
MAPPED = [("columns", "id=nr"), ("columns", "question=prompt"), ("columns", "answer=gold")]
ARMS = [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["distance"]}]


def sent(api: TestClient, name: str, data: bytes, params: Any = ()) -> Any:
    return api.post(f"/v1/uploads/{name}", content=data, headers=OCTETS, params=list(params))


def zipped(files: dict[str, bytes], path: Path | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    if path is not None:
        path.write_bytes(buffer.getvalue())
    return buffer.getvalue()


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, "PNG")
    return buffer.getvalue()


def spec_of(data: str) -> dict[str, Any]:
    columns = {"id": "nr", "question": "prompt", "answer": "gold"}
    return {
        "benchmark": "questions",
        "data": data,
        "columns": columns,
        "models": [{"id": "reference"}],
        "arms": ARMS,
    }


def test_an_upload_tells_its_columns_and_questions_and_runs_as_a_job_without_media_roots(
    api: TestClient, store: Store
) -> None:
    answer = sent(api, "Exam.CSV", CSV, MAPPED)
    assert answer.status_code == 201
    told = answer.json()
    assert told["columns"] == {
        "nr": "1",
        "prompt": "Which way is the tower?",
        "gold": "A",
        "A": "north",
        "B": "south",
    }
    assert told["read_as"]["question"] == "prompt"
    assert (told["questions"], told["faults"]) == (2, [])
    assert [question["sample_id"] for question in told["preview"]] == ["1", "2"]
    assert "Which way is the tower?" in told["preview"][0]["parts"][0]["text"]
    posted = api.post("/v1/jobs", json=spec_of(told["data"]))
    assert posted.status_code == 202, posted.text
    job = store.job(posted.json()["id"])
    assert job.spec.data == told["data"]
    assert job.counts.planned == 4


def test_faults_are_told_by_line_and_what_can_be_asked_is_shown(api: TestClient) -> None:
    faulty = b"question,answer,A,B\nWhich way?,C,north,south\nHow far?,A,near,far\n,A,x,y\n"
    told = sent(api, "faulty.csv", faulty).json()
    assert told["questions"] is None
    assert told["faults"][0] == "questions.csv: 2 faults in 2 of 3 lines"
    assert told["faults"][1].startswith("line 2: answer: 'C' is not among the options")
    assert [question["sample_id"] for question in told["preview"]] == ["3"]


def test_a_zip_holds_pictures_also_below_one_folder_and_beside_what_systems_add(api: TestClient) -> None:
    lines = b'{"question": "What colour?", "answer": "red", "images": "img/a.png"}\n'
    files = {"exam/q.jsonl": lines, "exam/img/a.png": picture(), "__MACOSX/exam/._q.jsonl": b"x"}
    told = sent(api, "exam.zip", zipped(files)).json()
    assert (told["questions"], told["faults"]) == (1, [])
    shown = told["preview"][0]["parts"]
    assert api.get(f"/ui/media/{shown[0]['image']}").content == picture()


def test_another_ending_and_another_content_type_are_refused(api: TestClient) -> None:
    problem = refusal(sent(api, "exam.doc", CSV))
    assert (problem["status"], problem["field"]) == (422, "name")
    assert ".csv" in problem["detail"]
    assert api.post("/v1/uploads/exam.csv", content=CSV).status_code == 415


def test_a_zip_bomb_is_refused_as_one_and_leaves_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    media = MediaStore(tmp_path / "media")
    bomb = tmp_path / "bomb.zip"
    monkeypatch.setattr(kept_uploads, "MOST_UNPACKED", 1_000_000)
    zipped({"questions.csv": CSV, "zeros.png": bytes(2_000_000)}, bomb)
    with pytest.raises(DataError, match="a zip bomb; allowed: 1,000,000"):
        keep_upload(bomb, "zip", media)
    assert bytes_of_uploads(media) == 0
    assert not list((tmp_path / "media" / "uploads").iterdir())
    assert MOST_UNPACKED == 2_000_000_000


@pytest.mark.parametrize("name", ["../out.csv", "/etc/passwd", "a/../../out.csv", "..\\out.csv"])
def test_a_zip_that_leads_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "out.zip"
    zipped({"questions.csv": CSV, name: b"x"}, file)
    with pytest.raises(DataError, match="leads out of its folder"):
        keep_upload(file, "zip", MediaStore(tmp_path / "media"))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"questions.csv": CSV, f"{300 * 'x'}.png": b"x"}, "too long a name"),
        ({"questions.csv": CSV, f"{1_500 * 'a/'}b.png": b"x"}, "too long a name"),
        ({"questions.csv": CSV, "a/b": b"x", "a": b"x"}, "a file and a folder of one name"),
        ({"questions.csv": CSV, "a": b"x", "a/b": b"x"}, "a file and a folder of one name"),
        ({"questions.csv": CSV, "a/b": b"x", "a\\b": b"y"}, "two files of one name"),
    ],
)
def test_a_zip_whose_names_no_folder_can_hold_is_refused(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    file = tmp_path / "names.zip"
    zipped(files, file)
    with pytest.raises(DataError, match=message):
        keep_upload(file, "zip", MediaStore(tmp_path / "media"))


def test_a_zip_with_a_name_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "names.zip"
    file.write_bytes(zipped({"questions.csv": CSV, "é.png": b"x"}).replace("é".encode(), b"\xff\xfe"))
    with pytest.raises(DataError, match="no UTF-8"):
        keep_upload(file, "zip", MediaStore(tmp_path / "media"))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_file_that_unpacks_to_more_than_its_zip_says_takes_no_more_memory(
    tmp_path: Path, method: int
) -> None:
    file, size = tmp_path / "liar.zip", 50_000_000
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("questions.csv", bytes(size))
    file.write_bytes(file.read_bytes().replace(struct.pack("<I", size), struct.pack("<I", 1)))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="cannot be unpacked"):
            keep_upload(file, "zip", MediaStore(tmp_path / "media"))
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_the_same_bytes_under_another_ending_are_read_as_that_ending_says(tmp_path: Path) -> None:
    media = MediaStore(tmp_path / "media")
    for kind in ("json", "jsonl"):
        file = tmp_path / "sent"
        file.write_bytes(CSV)
        [table] = folder_of(keep_upload(file, kind, media), media).iterdir()
        assert table.name == f"questions.{kind}"


@pytest.mark.parametrize("before_end", [b"", b"PK\6\6" + bytes(72)])  # a record that no other points to
def test_a_zip_whose_list_of_files_is_too_long_is_refused_unread(tmp_path: Path, before_end: bytes) -> None:
    file = tmp_path / "long.zip"
    data = zipped({"questions.csv": CSV})
    end = data.rfind(b"PK\5\6")
    length = struct.pack("<I", MOST_DIRECTORY + 1)
    file.write_bytes(data[:end] + before_end + data[end : end + 12] + length + data[end + 16 :])
    with pytest.raises(DataError, match="list of files"):
        keep_upload(file, "zip", MediaStore(tmp_path / "media"))


@pytest.mark.parametrize("data", [b"no zip", zipped({"questions.csv": CSV})[:-30], zipped({})])
def test_a_broken_or_empty_zip_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "broken.zip"
    file.write_bytes(data)
    with pytest.raises(DataError, match="zip"):
        keep_upload(file, "zip", MediaStore(tmp_path / "media"))


def test_what_lies_unpacked_is_laid_out_anew_from_what_was_sent(tmp_path: Path) -> None:
    media, file = MediaStore(tmp_path / "media"), tmp_path / "exam.zip"
    zipped({"a/questions.csv": CSV, "a/b.png": picture()}, file)
    data = keep_upload(file, "zip", media)
    folder = folder_of(data, media)
    (folder / "questions.csv").unlink()
    (folder / "b.png").unlink()
    folder.rmdir()
    assert sorted(path.name for path in folder_of(data, media).iterdir()) == ["b.png", "questions.csv"]
    with pytest.raises(DataError, match="upload the file again"):
        folder_of(f"upload:{'0' * 64}.csv", media)


def test_uploads_beyond_the_operators_room_are_refused(open_api: OpenApi, monkeypatch: Any) -> None:
    monkeypatch.setattr("gnomon_service.uploads.GIGABYTE", 10)
    problem = refusal(sent(open_api(GNOMON_UPLOAD_GB="3"), "exam.csv", CSV))
    assert "3 GB (GNOMON_UPLOAD_GB)" in problem["detail"]


def test_an_upload_may_fill_the_operators_room(open_api: OpenApi, monkeypatch: Any) -> None:
    monkeypatch.setattr("gnomon_service.uploads.GIGABYTE", 1)
    assert sent(open_api(GNOMON_UPLOAD_GB=str(len(CSV))), "exam.csv", CSV).status_code == 201


@pytest.mark.parametrize("name", ["exam.csv", "exam.zip"])
def test_what_is_kept_may_be_sent_again_where_there_is_no_room(
    name: str, open_api: OpenApi, monkeypatch: Any
) -> None:
    monkeypatch.setattr("gnomon_service.uploads.GIGABYTE", 1)
    data = CSV if name == "exam.csv" else zipped({"questions.csv": CSV})
    api = open_api(GNOMON_UPLOAD_GB=str(len(data) + (len(CSV) if name == "exam.zip" else 0)))
    first, again = (sent(api, name, data) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["data"] == again.json()["data"]
    assert refusal(sent(api, "other.csv", CSV.replace(b"\n", b" \n")))["status"] == 503


def test_of_two_who_send_at_once_one_has_the_room(open_api: OpenApi, monkeypatch: Any) -> None:
    monkeypatch.setattr("gnomon_service.uploads.GIGABYTE", 1)
    api = open_api(GNOMON_UPLOAD_GB=str(len(CSV) + 3))
    with ThreadPoolExecutor() as people:
        answers = people.map(lambda end: sent(api, "exam.csv", CSV + end), [b"\n", b" \n"])
    assert sorted(answer.status_code for answer in answers) == [201, 503]


def test_what_a_zip_unpacks_to_counts_as_well(open_api: OpenApi, monkeypatch: Any) -> None:
    monkeypatch.setattr("gnomon_service.uploads.GIGABYTE", 1_000)
    small = zipped({"questions.csv": CSV, "zeros.bin": bytes(3_000)})
    assert len(small) < 1_000
    api = open_api(GNOMON_UPLOAD_GB="3")
    problem = refusal(sent(api, "exam.zip", small))
    assert (problem["status"], "room for" in problem["detail"]) == (503, True)
    assert sent(api, "exam.csv", CSV).status_code == 201


def test_what_is_being_sent_takes_a_place(api: TestClient) -> None:
    places = api.app.state.gnomon.places.uploads  # type: ignore[attr-defined]
    places.queue = 0

    async def refused() -> list[Any]:
        async with AsyncExitStack() as held:
            for _ in range(places.count):
                await held.enter_async_context(places.taken(asyncio.Event()))
            routes = ("/v1/uploads/exam.csv", "/ui/new/upload")
            return [api.post(route, content=CSV, headers=OCTETS) for route in routes]

    for answer in asyncio.run(refused()):
        assert (answer.status_code, "4 uploads are being worked on" in answer.text) == (429, True)


def test_a_large_upload_is_read_once_to_check_and_to_run_it(api: TestClient, monkeypatch: Any) -> None:
    monkeypatch.setattr("gnomon_service.uploads.LARGE_BYTES", 0)
    spec = spec_of(sent(api, "exam.csv", CSV, MAPPED).json()["data"])
    form, memory = {"yaml": json.dumps(spec), "token": "1"}, api.app.state.gnomon.memory  # type: ignore[attr-defined]
    assert "4 trials, at no cost" in api.post("/ui/new/check", data=form).text
    [checked] = memory.drafts.values()
    assert not memory.steps
    assert api.get("/ui/new/steps/1").text == ""
    assert api.post("/ui/jobs", data=form, follow_redirects=False).status_code == 303
    assert [draft is checked for draft in memory.drafts.values()] == [True]


def test_an_upload_that_was_sent_again_outlives_the_job_that_named_it(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    told = sent(api, "exam.csv", CSV, MAPPED).json()
    job_id = api.post("/v1/jobs", json=spec_of(told["data"])).json()["id"]
    finish_all(store, job_id)
    sent(api, "exam.csv", CSV, MAPPED)
    assert api.delete(f"/v1/jobs/{job_id}").json()["media"]["files"] == 0
    assert folder_of(told["data"], media_of(read_settings({}, data_dir=tmp_path).data_dir)).is_dir()


def test_what_an_ended_process_left_of_an_upload_is_deleted_after_a_day(store: Store, tmp_path: Path) -> None:
    settings = read_settings({}, data_dir=tmp_path)
    sending, old, unpacked = (tmp_path / "media" / "uploads" / f".part-{name}" for name in "123")
    unpacked.mkdir(parents=True)
    sending.write_bytes(CSV)
    old.write_bytes(CSV)
    two_days_ago = time.time() - 2 * deletion.DAY_S
    for part in (old, unpacked):
        os.utime(part, (two_days_ago, two_days_ago))
    deletion.delete_unnamed_media(settings, store, is_dry=True)
    assert old.exists()
    deletion.delete_unnamed_media(settings, store, is_dry=False)
    assert list(sending.parent.iterdir()) == [sending]


def test_an_upload_has_a_day_to_be_named_and_goes_with_the_last_job_that_names_it(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    told, settings = sent(api, "exam.csv", CSV, MAPPED).json(), read_settings({}, data_dir=tmp_path)
    media = media_of(settings.data_dir)
    assert deletion.delete_unnamed_media(settings, store, is_dry=False).files == 0
    job_id = api.post("/v1/jobs", json=spec_of(told["data"])).json()["id"]
    finish_all(store, job_id)
    two_days_ago = time.time() - 2 * deletion.DAY_S
    file = media.file(told["data"][7:71])
    os.utime(file, (two_days_ago, two_days_ago))
    assert deletion.delete_unnamed_media(settings, store, is_dry=False).files == 0
    assert api.delete(f"/v1/jobs/{job_id}").json()["media"] == {
        "files": 1,
        "bytes": len(CSV),
        "is_put_off": False,
    }
    assert bytes_of_uploads(media) == 0
    with pytest.raises(DataError):
        folder_of(told["data"], media)

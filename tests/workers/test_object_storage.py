"""Media in a bucket: two machines without a common disk, against rclone's S3 server."""

import io
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from PIL import Image

from gnomon.core.errors import NoRoom, NotFound, SpecError
from gnomon.media import MediaStore
from gnomon_workers import object_storage
from gnomon_workers.object_storage import Bucket, read_media_url
from gnomon_workers.open_job import media_of
from tests.workers.s3_server import KEYS, s3_server

BUCKET = "media"
URL = f"s3://{BUCKET}/lab"


def picture(colour: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(out, format="PNG")
    return out.getvalue()


@pytest.fixture
def buckets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the buckets, and the variables that lead to its server."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    for name, value in zip(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), KEYS, strict=True):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("GNOMON_MEDIA_URL", URL)
    monkeypatch.setattr(object_storage, "ATTEMPTS", 1)
    object_storage._client.cache_clear()  # it is of the last test's server
    (tmp_path / "buckets" / BUCKET).mkdir(parents=True)
    return tmp_path / "buckets"


def port_of() -> int:
    return int(os.environ["AWS_ENDPOINT_URL"].rsplit(":", 1)[1])


def test_what_one_machine_keeps_another_one_reads(buckets: Path, tmp_path: Path) -> None:
    here, there = media_of(tmp_path / "here"), media_of(tmp_path / "there")
    with s3_server(buckets, port_of()):
        kept = here.put(picture("red"))
        assert here.put(picture("red")) == kept
        assert (buckets / BUCKET / "lab" / kept.sha256[:2] / kept.sha256).read_bytes() == picture("red")
        assert there.has(kept.sha256)
        assert there.read(kept.sha256) == picture("red")
        assert not there.has("0" * 64)
        with pytest.raises(NotFound):
            there.read("0" * 64)
        assert there.has_room()
    assert there.read(kept.sha256) == picture("red")  # from its own folder: it was read before


def test_bytes_of_another_hash_are_not_media(buckets: Path, tmp_path: Path) -> None:
    with s3_server(buckets, port_of()):
        kept = media_of(tmp_path / "here").put(picture("red"))
    (buckets / BUCKET / "lab" / kept.sha256[:2] / kept.sha256).write_bytes(picture("blue"))
    with s3_server(buckets, port_of()), pytest.raises(NotFound):  # another one: it remembers files
        media_of(tmp_path / "there").read(kept.sha256)


def test_a_storage_that_is_away_is_waited_for(buckets: Path, tmp_path: Path) -> None:
    media = media_of(tmp_path / "here")
    with pytest.raises(NoRoom, match=f"object storage {URL} keeps nothing now"):
        media.put(picture("red"))
    assert not media.has_room()
    assert not list((tmp_path / "here").rglob("*"))  # what is in the folder is in the storage
    with s3_server(buckets, port_of()):
        assert media.has_room()
        assert media.read(media.put(picture("red")).sha256) == picture("red")


def test_a_bucket_that_is_not_there_is_named_before_a_job_begins(buckets: Path, tmp_path: Path) -> None:
    with s3_server(buckets, port_of()), pytest.raises(NoRoom, match="s3://another does not answer"):
        MediaStore(tmp_path, Bucket("s3://another")).check()


@pytest.mark.parametrize("url", ["media", "s3://", "https://host/media", "s3://A_b/c", "s3://media/a b"])
def test_an_address_that_is_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(SpecError, match="allowed: s3://BUCKET or s3://BUCKET/PREFIX"):
        read_media_url({"GNOMON_MEDIA_URL": url})


def test_a_job_of_forked_workers_keeps_its_pictures_in_the_bucket(buckets: Path, tmp_path: Path) -> None:
    spec = {
        "benchmark": "worlds",
        "select": {"limit": 4},
        "models": [{"id": "reference"}],
        "arms": [{"name": "raw", "agent": "direct"}],
    }
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec))
    run = [Path(sys.executable).with_name("gnomon"), "run", "spec.yaml", "--data-dir", "data"]
    refused = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert f"the object storage {URL} does not answer" in refused.stderr
    with s3_server(buckets, port_of()):
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 trials have a result" in done.stderr + done.stdout
    kept = {path.name for path in (buckets / BUCKET).rglob("*") if path.is_file()}
    media = tmp_path / "data" / "media"
    pictures = [path for path in media.rglob("*") if path.is_file() and "drawn" not in path.parts]
    assert kept == {path.name for path in pictures}  # which map is which picture is noted on each machine
    assert len(kept) == 2  # a town's map and a building's

"""Keeps media in a bucket of any storage that speaks the S3 protocol: workers then share no disk.

`GNOMON_MEDIA_URL=s3://BUCKET/PREFIX` names it. Keys, region and address come from where every client of
Amazon's finds them: `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, a profile, or the role of the machine.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import IO, Any

from gnomon.core.errors import NoRoom, SpecError

MEDIA_URL_ENV = "GNOMON_MEDIA_URL"
PATIENCE_S = 20  # for an answer
ATTEMPTS = 3
_URL = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<prefix>[\w.\-/]*))?")


def read_media_url(environ: Mapping[str, str]) -> str | None:
    """Where media are kept for all machines; None: in each machine's folder alone.

    >>> read_media_url({"GNOMON_MEDIA_URL": "s3://gnomon-media/lab"})
    's3://gnomon-media/lab'

    Raises:
        SpecError: the variable holds no such address.
    """
    url = environ.get(MEDIA_URL_ENV, "")
    if url and not _URL.fullmatch(url):
        raise _no_bucket(url)
    return url or None


def _no_bucket(url: str) -> SpecError:
    message = f"{url!r} is no bucket; allowed: s3://BUCKET or s3://BUCKET/PREFIX"
    return SpecError(message, field=MEDIA_URL_ENV)


class Bucket:
    """An `ObjectStorage` in a bucket, below a prefix. Safe to share between threads and across forks."""

    def __init__(self, url: str) -> None:
        parts = _URL.fullmatch(url)
        if parts is None:
            raise _no_bucket(url)
        self.url, self._bucket = url, parts["bucket"]
        self._prefix = f"{(parts['prefix'] or '').strip('/')}/".lstrip("/")

    def put(self, name: str, data: bytes | IO[bytes]) -> None:
        with self._asking("keeps nothing now") as client:
            client.put_object(Bucket=self._bucket, Key=self._prefix + name, Body=data)

    def get(self, name: str) -> bytes | None:
        with self._asking("cannot be read now") as client:
            try:
                data: bytes = client.get_object(Bucket=self._bucket, Key=self._prefix + name)["Body"].read()
                return data
            except client.exceptions.NoSuchKey:
                return None

    def check(self) -> None:
        with self._asking("does not answer") as client:
            client.head_bucket(Bucket=self._bucket)

    @contextmanager
    def _asking(self, trouble: str) -> Iterator[Any]:
        from botocore.exceptions import BotoCoreError, ClientError  # late: few operators have a bucket

        try:
            yield _client(os.getpid())
        except (BotoCoreError, ClientError) as error:
            raise NoRoom(f"the object storage {self.url} {trouble}: {error}") from error


@lru_cache(maxsize=1)
def _client(_process: int) -> Any:
    """A client of this process: one that was made before a fork shares its connections with others."""
    import boto3
    from botocore.config import Config

    retries = {"total_max_attempts": ATTEMPTS, "mode": "standard"}
    config = Config(
        connect_timeout=PATIENCE_S, read_timeout=PATIENCE_S, retries=retries, max_pool_connections=64
    )
    return boto3.session.Session().client("s3", config=config)

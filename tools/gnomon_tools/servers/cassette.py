"""Reads and writes cassettes: files that hold a job's tool servers and every call of them with its result.

JSON lines: a header with the servers and the listings of their tools, one line for each picture and each
call, and at last the hash of all that is before it. A call is found by its sample, its tool, its arguments
and what was done to results (`under`); among several by trial and by how often the trial had made it.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from gnomon_tools.core.regular_file import open_regular
from gnomon_tools.core.tool import CallError
from gnomon_tools.servers.server_spec import ToolServer

VERSION = 1
HEADER = "gnomon_cassette"
MAX_LINE_BYTES = 200_000_000


class CassetteError(Exception):
    """A cassette cannot be read; the message names the line."""


@with_config(ConfigDict(extra="forbid", strict=True))
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A line of a cassette: a call and what came of it; `n` counts the same call within its trial, from 0."""

    sample: str
    tool: str
    arguments: str
    n: int
    model: str
    arm: str
    repeat: int
    under: str
    result: str
    error: CallError | None = None
    injected: str | None = None
    pictures: tuple[str, ...] = ()


def canonical(arguments: str) -> str:
    """Arguments without regard to spaces and the order of names.

    >>> canonical('{"b": 1,  "a": [2]}')
    '{"a":[2],"b":1}'
    """
    try:
        return json.dumps(
            json.loads(arguments or "{}"), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
    except (ValueError, RecursionError):
        return arguments


def cassette_lines(
    servers: Mapping[str, ToolServer],
    calls: Iterable[RecordedCall],
    picture: Callable[[str], bytes],
    *,
    job: str = "",
) -> Iterator[bytes]:
    """The lines of a cassette; `picture` reads bytes by their hash."""
    digest = hashlib.sha256()
    kept = set[str]()
    count = 0

    def line_of(line: Mapping[str, Any]) -> bytes:
        data = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode(errors="replace")
        digest.update(data)
        return data

    described = {name: _public(server) for name, server in servers.items()}
    yield line_of({HEADER: VERSION, "job": job, "servers": described})
    for call in calls:
        for sha256 in call.pictures:
            if sha256 not in kept:
                kept.add(sha256)
                yield line_of({"picture": sha256, "data": base64.b64encode(picture(sha256)).decode()})
        yield line_of({name: value for name, value in asdict(call).items() if value not in (None, ())})
        count += 1
    yield (json.dumps({"calls": count, "sha256": digest.hexdigest()}) + "\n").encode()


def _public(server: ToolServer) -> dict[str, Any]:
    """The server without the values of its variables, which may be secret."""
    plain = server.model_dump(mode="json")
    if "env" in plain.get("mcp", {}):
        plain["mcp"]["env"] = dict.fromkeys(plain["mcp"]["env"], "")
    return plain


@dataclass(slots=True)
class Cassette:
    """A cassette that has been checked to its last byte; lines are read again when they are needed."""

    path: Path
    sha256: str
    servers: Mapping[str, ToolServer]
    calls: int
    _places: dict[tuple[str, str, str, str], list["_Place"]] = field(repr=False)
    _pictures: dict[str, tuple[int, int]] = field(repr=False)

    @property
    def samples(self) -> frozenset[str]:
        """The ids of the samples whose calls it holds."""
        return frozenset(sample for sample, *_ in self._places)

    def find(
        self,
        *,
        sample: str,
        tool: str,
        arguments: str,
        under: str,
        model: str,
        arm: str,
        repeat: int,
        n: int,
    ) -> RecordedCall | None:
        """What the call gave back then; None where that was never recorded, or recordings differ.

        The same trial's comes first, then that of any arm for the same model and repeat, then any, where all
        that there are say the same.
        """
        places = self._places.get((sample, tool, canonical(arguments), under), [])
        same = [place for place in places if (place.model, place.repeat) == (model, repeat)]
        own = [place for place in same if place.arm == arm]
        for among in (own, same):
            nth = [place for place in among if place.n == n]
            if nth and len({place.result for place in nth}) == 1:
                return self._call(nth[0])
        if places and len({place.result for place in places}) == 1:
            return self._call(places[0])
        return None

    def picture(self, sha256: str) -> bytes:
        """The bytes of a picture that a call gave back."""
        line = json.loads(self._read(*self._pictures[sha256]))
        return base64.b64decode(line["data"])

    def _call(self, place: "_Place") -> RecordedCall:
        return _call_reader().validate_json(self._read(place.offset, place.length))

    def _read(self, offset: int, length: int) -> bytes:
        with open_regular(self.path) as file:
            file.seek(offset)
            return file.read(length)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a call is in the file, whose it is, and a hash of its result."""

    arm: str
    model: str
    repeat: int
    n: int
    result: bytes
    offset: int
    length: int


def open_cassette(path: Path, sha256: str | None = None) -> Cassette:
    """The cassette at that path, checked whole; `sha256` is the hash that its content must have.

    Raises:
        CassetteError: it is absent, damaged, or another; the message names the line.
    """
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError as error:
        raise CassetteError(f"{path} cannot be read: {error.strerror}") from None
    cassette = _opened(path, changed_ns)
    if sha256 is not None and cassette.sha256 != sha256:
        raise CassetteError(f"{path} is not the cassette that the job was frozen with")
    return cassette


@lru_cache(maxsize=8)
def _opened(path: Path, _changed_ns: int) -> Cassette:
    digest = hashlib.sha256()
    servers: dict[str, ToolServer] = {}
    places: dict[tuple[str, str, str, str], list[_Place]] = {}
    pictures: dict[str, tuple[int, int]] = {}
    calls, offset, is_whole = 0, 0, False
    try:
        with open_regular(path) as file:
            for number, data in enumerate(_lines(file), start=1):
                line = _parsed(data, number)
                if is_whole:
                    raise _damaged(number, "there is more after the last line")
                if number == 1:
                    servers = _servers(line)
                elif "picture" in line:
                    pictures[_checked_picture(line, number)] = (offset, len(data))
                elif "sha256" in line:
                    if line.get("sha256") != digest.hexdigest() or line.get("calls") != calls:
                        raise _damaged(number, "the hash is not that of the lines before it")
                    is_whole = True
                else:
                    call = _call(data, number, pictures)
                    key = (call.sample, call.tool, call.arguments, call.under)
                    result = hashlib.sha256(
                        json.dumps([call.result, call.error, call.injected, call.pictures]).encode()
                    ).digest()[:12]
                    place = _Place(call.arm, call.model, call.repeat, call.n, result, offset, len(data))
                    places.setdefault(key, []).append(place)
                    calls += 1
                digest.update(b"" if is_whole else data)
                offset += len(data)
    except OSError as error:
        raise CassetteError(f"{path} cannot be read: {error.strerror}") from None
    except CassetteError as error:
        raise CassetteError(f"{path}: {error}") from None
    if not is_whole:
        raise CassetteError(f"{path}: its last line, the hash of all others, is missing")
    return Cassette(path, digest.hexdigest(), servers, calls, places, pictures)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.readline(MAX_LINE_BYTES):
        yield data


def _parsed(data: bytes, number: int) -> dict[str, Any]:
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        raise _damaged(number, "it is not JSON") from None
    if not isinstance(line, dict):
        raise _damaged(number, "it is no JSON object")
    return line


def _servers(line: Mapping[str, Any]) -> dict[str, ToolServer]:
    if line.get(HEADER) != VERSION:
        raise _damaged(1, f"it is no header of a cassette of version {VERSION}")
    try:
        return {name: ToolServer.model_validate(server) for name, server in line["servers"].items()}
    except (ValidationError, KeyError, AttributeError) as error:
        raise _damaged(1, f"its servers cannot be read: {' '.join(str(error).split())[:200]}") from None


def _checked_picture(line: Mapping[str, Any], number: int) -> str:
    try:
        data = base64.b64decode(str(line["data"]), validate=True)
    except (ValueError, KeyError):
        raise _damaged(number, "the picture is no base64") from None
    if hashlib.sha256(data).hexdigest() != line["picture"]:
        raise _damaged(number, "the picture is not that of its hash")
    return str(line["picture"])


@lru_cache(maxsize=1)
def _call_reader() -> TypeAdapter[RecordedCall]:
    return TypeAdapter(RecordedCall)


def _call(line: bytes, number: int, pictures: Mapping[str, object]) -> RecordedCall:
    try:
        call = _call_reader().validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        raise _damaged(number, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if any(sha256 not in pictures for sha256 in call.pictures):
        raise _damaged(number, "a picture of the call is not before it")
    return call


def _damaged(number: int, why: str) -> CassetteError:
    return CassetteError(f"line {number}: {why}")

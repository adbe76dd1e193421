"""What both clients decide alike, without a network: when a call is sent again, what an answer holds, and
which events a stream has.
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import httpx

from gnomon.core.errors import SpecError
from gnomon.media.uploads import is_upload
from gnomon.spec.endpoints import is_loopback
from gnomon.spec.spec_file import read_spec
from gnomon_service.client.calls import Call, T
from gnomon_service.client.errors import error_of, pause_asked

TIMEOUT_S = 60.0
QUIET_S = 60.0  # a stream without a line for so long is dead: comments come every 15 s
TRIES = 5
PAUSE_S, MAX_PAUSE_S = 0.5, 60.0
POLL_S = 1.0
BUSY = (429, 502, 503, 504)  # the request was not carried out, or may not have been
ENDED = ("completed", "cancelled", "failed")


def base_url(url: str) -> httpx.URL:
    """The address of a service.

    Raises:
        SpecError: it is none.
    """
    try:
        address = httpx.URL(url)
    except (httpx.InvalidURL, TypeError) as error:
        raise SpecError(f"{url!r} is not an address: {error}", field="url") from None
    if address.scheme not in ("http", "https") or not address.host:
        raise SpecError(f"{url!r} is not an address; allowed: http://… or https://…", field="url")
    return address


def spec_to_send(spec: object, url: httpx.URL) -> object:
    """The spec, read if it is a file's path. A relative data folder is made absolute where the server is this
    machine, and so reads the same folders; an upload keeps its name.

    Raises:
        SpecError: the file cannot be read.
    """
    folder = Path.cwd()
    fields = read_spec(Path(spec)) if isinstance(spec, str | Path) else spec
    if not isinstance(fields, Mapping) or not is_loopback(url.host):
        return fields
    data = fields.get("data")
    if not isinstance(data, str) or is_upload(data):
        return fields
    return {**fields, "data": str((folder / data).resolve())}


def pause_before_again(
    call: Call[Any], attempt: int, failure: httpx.Response | httpx.HTTPError
) -> float | None:
    """The seconds to wait before the call is sent again, counting attempts from 1; None: it is not.

    A request that never reached the server is always sent again, one that was refused for its rate as well;
    one that may have been carried out only where that does no harm.
    """
    if attempt >= TRIES:
        return None
    pause_s: float = PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)
    if isinstance(failure, httpx.Response):
        if failure.status_code not in BUSY or not (call.is_repeatable or failure.status_code == 429):
            return None
        asked_s = pause_asked(failure)
        if asked_s is not None and asked_s > MAX_PAUSE_S:
            return None
        return max(pause_s, asked_s or 0.0)
    never_sent = isinstance(failure, httpx.ConnectTimeout | httpx.PoolTimeout)
    is_lost = isinstance(failure, httpx.NetworkError | httpx.RemoteProtocolError | httpx.TimeoutException)
    if isinstance(failure, httpx.ConnectError):  # nobody listens: that is said at once
        return None
    return pause_s if never_sent or (is_lost and call.is_repeatable) else None


def answer_of(call: Call[T], response: httpx.Response) -> T:
    """What a response holds.

    Raises:
        ApiError: it is a refusal, or not what the route answers.
    """
    if not response.is_success:
        raise error_of(response, response.content)
    if call.answer is bytes:
        return cast("T", response.content)
    if call.answer is str:
        return cast("T", response.text)
    try:
        return cast("T", response.json())
    except ValueError:
        message = f"the server answered {call.route} with something that is not JSON"
        raise SpecError(f"{message}; is it a Gnomon service?", field="url") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened in a job: `progress` with its counts, `trial` with a new row, `alert` with an arm whose
    replies cannot be read, `done` with the job.

    `id` names the last row that came: a stream continues after it.
    """

    name: Literal["progress", "trial", "alert", "done"]
    data: Mapping[str, Any]
    id: str | None = None


@dataclass(slots=True)
class EventReader:
    """Puts the lines of a stream of server-sent events together; remembers the last id."""

    last_id: str | None = None
    _fields: dict[str, str] = field(default_factory=dict)

    def feed(self, line: str) -> Iterator[Event]:
        """The event that this line completes, if it does.

        >>> reader = EventReader()
        >>> [event.name for line in ("id: 4", "event: done", "data: {}", "") for event in reader.feed(line)]
        ['done']
        >>> reader.last_id
        '4'
        """
        if line:
            name, _, value = line.partition(":")
            if name:  # else a comment, which keeps the connection alive
                self._fields[name] = value.removeprefix(" ")
            return
        fields, self._fields = self._fields, {}
        self.last_id = fields.get("id", self.last_id)
        name = fields.get("event", "")
        if name in ("progress", "trial", "alert", "done") and "data" in fields:
            try:
                data = json.loads(fields["data"])
            except ValueError:
                raise SpecError("the server sent an event that is not JSON", field="url") from None
            yield Event(name=cast("Any", name), data=data, id=fields.get("id"))

    def restart(self) -> None:
        """Forget an event that was cut off."""
        self._fields = {}

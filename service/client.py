"""An HTTP client of a Gnomon server, for the command line."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from gnomon.core.errors import GnomonError, NotFound, SpecError
from gnomon.spec.endpoints import is_loopback

POLL_S = 1.0
ENDED = ("completed", "cancelled", "failed")


class Client:
    """Calls one Gnomon server; use as a context manager."""

    def __init__(self, url: str, *, key: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            self._http = httpx.Client(base_url=url, headers=headers, timeout=60.0)
        except httpx.InvalidURL as error:
            raise SpecError(f"{url!r} is not an address: {error}", field="--url") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    @property
    def is_local(self) -> bool:
        """Whether the server is this machine, and so reads the same folders."""
        return is_loopback(self._http.base_url.host)

    def post_job(self, spec: object) -> dict[str, Any]:
        """Post a spec; a relative data folder is made absolute where the server is this machine.

        Raises:
            SpecError: the server refuses the spec; field and message are the server's.
        """
        if self.is_local and isinstance(spec, dict) and isinstance(spec.get("data"), str):
            spec = {**spec, "data": str((Path.cwd() / spec["data"]).resolve())}
        return self._call("POST", "/v1/jobs", spec)

    def wait(self, job_id: str, show: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        """Poll the job, with `show`, until it has ended and none of its trials runs; the job at its end."""
        while True:
            job = self._call("GET", f"/v1/jobs/{job_id}")
            show(job)
            if job["status"] in ENDED and not job["counts"]["running"]:
                return job
            time.sleep(POLL_S)

    def report(self, job_id: str) -> dict[str, Any]:
        """The job's report."""
        return self._call("GET", f"/v1/jobs/{job_id}/report")

    def _call(self, verb: str, path: str, body: object = None) -> dict[str, Any]:
        content = None if body is None else _encoded(body)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            response = self._http.request(verb, path, content=content, headers=headers)
        except httpx.HTTPError as error:
            reason = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
            message = f"nothing answers at {self._http.base_url}: {reason}"
            raise SpecError(
                f"{message}; `gnomon up` starts a server on this machine", field="--url"
            ) from None
        if response.is_success:
            answer: dict[str, Any] = response.json()
            return answer
        raise _refusal(response)


def _encoded(body: object) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise SpecError(f"cannot be written as JSON: {error}", field="spec") from None


def _refusal(response: httpx.Response) -> GnomonError:
    try:
        problem = response.json()
        detail, field = str(problem["detail"]), str(problem.get("field", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        detail, field = f"the server answered {response.status_code}", "--url"
    if response.status_code == httpx.codes.NOT_FOUND:
        return NotFound(detail, field=field)
    return SpecError(detail, field=field) if response.is_client_error else GnomonError(detail, field=field)

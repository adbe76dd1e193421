"""What goes wrong between a client and a service, as exceptions with the fields of the service's problem."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from gnomon.core.errors import Conflict, GnomonError, NotFound, SpecError, Unavailable

MAX_PROBLEM = 100_000  # bytes of an error's body that are read


class ApiError(GnomonError):
    """The service refused a request, or failed; the fields are those of its problem (RFC 9457).

    `response_status` is the HTTP status, 0 where no answer came; `field` the offending part of what was sent;
    `errors` all offending parts where there are several.
    """

    def __init__(
        self,
        detail: str,
        *,
        field: str = "",
        response_status: int = 0,
        problem_type: str = "about:blank",
        problem_title: str = "",
        errors: Sequence[Mapping[str, str]] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(detail, field=field)
        self.response_status, self.errors, self.retry_after_s = response_status, tuple(errors), retry_after_s
        self.problem_type, self.problem_title = problem_type, problem_title


class NotAllowed(ApiError, SpecError):
    """A field of the request holds what is not allowed, or the request may not be made at all."""


class NotThere(ApiError, NotFound):
    """The service has nothing of that name."""


class InConflict(ApiError, Conflict):
    """The state of the thing does not allow this."""


class NotNow(ApiError, Unavailable):
    """The service cannot be reached, is overloaded, or its store does not answer: try again later."""


def error_of(response: httpx.Response, body: bytes) -> ApiError:
    """The error that a response with a status from 400 on means."""
    problem = _problem(response, body)
    status = response.status_code
    kind: type[ApiError]
    if status == httpx.codes.NOT_FOUND:
        kind = NotThere
    elif status == httpx.codes.CONFLICT:
        kind = InConflict
    elif status in (408, 429, 502, 503, 504):
        kind = NotNow
    else:
        kind = NotAllowed if response.is_client_error else ApiError
    errors = problem.get("errors")
    return kind(
        str(problem.get("detail") or f"the server answered {status}"),
        field=str(problem.get("field") or ""),
        response_status=status,
        problem_type=str(problem.get("type") or "about:blank"),
        problem_title=str(problem.get("title") or ""),
        errors=[entry for entry in errors if isinstance(entry, dict)] if isinstance(errors, list) else (),
        retry_after_s=pause_asked(response),
    )


def unreachable(error: httpx.HTTPError, url: httpx.URL) -> ApiError:
    """The error that a request without an answer means."""
    reason = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
    message = f"nothing answers at {url}: {reason}; `gnomon up` starts a server on this machine"
    return NotNow(message, field="url")


def pause_asked(response: httpx.Response) -> float | None:
    """The seconds of a Retry-After header; None where there is none."""
    text = response.headers.get("retry-after", "")
    return float(text) if re.fullmatch(r"\d{1,6}", text) else None


def _problem(response: httpx.Response, body: bytes) -> dict[str, Any]:
    try:
        problem = httpx.Response(response.status_code, content=body[:MAX_PROBLEM]).json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}

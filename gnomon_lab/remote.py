"""Jobs of a service: the client of the REST API, whose jobs are the same objects as those of this machine."""

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.row import Row
from gnomon_lab.job import Job, missing_text
from gnomon_lab.notebook import ViewProgress
from gnomon_lab.views import Trace
from gnomon_service.client import AsyncClient, Client

if TYPE_CHECKING:
    from gnomon_service.answers import JobView

LOCAL = "http://127.0.0.1:8000"


def connect(url: str = LOCAL, *, api_key_env: str | None = None, timeout_s: float = 60.0) -> "Service":
    """A client of the service at `url`. Its key is the value of the variable `api_key_env`, by default
    GNOMON_API_KEY where that is set.

    Raises:
        SpecError: it is no address, or the variable is not set.
    """
    return Service(url, api_key_env=api_key_env, timeout_s=timeout_s)


def connect_async(
    url: str = LOCAL, *, api_key_env: str | None = None, timeout_s: float = 60.0
) -> AsyncClient:
    """The same for code with an event loop: each method of the client is awaited.

    Raises:
        SpecError: it is no address, or the variable is not set.
    """
    return AsyncClient(url, api_key_env=api_key_env, timeout_s=timeout_s)


class Service(Client):
    """A client of the REST API whose jobs are objects too."""

    def run(self, spec: str | Path | Mapping[str, Any], *, progress: bool = True) -> Job:
        """Queue the job of a spec, wait for its end, and return it.

        Raises:
            ApiError: the service refuses the spec, or does not answer.
        """
        posted = self.submit(spec)
        for warning in posted["warnings"]:
            warnings.warn(warning, stacklevel=2)
        job = self.open(posted["id"]).wait(progress=progress)
        if problem := missing_text(job.view):
            warnings.warn(problem, stacklevel=2)
        return job

    def open(self, job_id: str) -> Job:
        """A job of the service.

        Raises:
            NotFound: there is none.
        """
        self.job(job_id)
        return Job(RemoteJobs(self), job_id)


class RemoteJobs:
    """The jobs of a service, as `Job` reads them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def view(self, job_id: str) -> "JobView":
        """The job as it is now."""
        return self._client.job(job_id)

    def rows(self, job_id: str) -> Iterator[Row]:
        """Its rows."""
        return self._client.rows(job_id)

    def report(self, job_id: str) -> Mapping[str, Any]:
        """Its report."""
        return self._client.report(job_id)

    def page(self, job_id: str) -> str:
        """Its report as an HTML file."""
        return self._client.report_page(job_id)

    def trace(self, trial: str) -> Trace:
        """A trial."""
        return Trace(self._client.trial(trial))

    def sample(self, job_id: str, text: str) -> str:  # noqa: ARG002 - the job knows its samples, the API lists none
        """The id itself."""
        return text

    def cancel(self, job_id: str) -> None:
        """Cancel the job."""
        self._client.cancel(job_id)

    def resume(self, job_id: str, *, progress: bool, workers: int | None) -> None:  # noqa: ARG002 - its own workers
        """Run what is missing there, and wait for it."""
        self._client.resume(job_id)
        self.wait(job_id, progress=progress, timeout_s=None)

    def wait(self, job_id: str, *, progress: bool, timeout_s: float | None) -> None:
        """Wait until the job has ended."""
        with ViewProgress(is_shown=progress) as shown:
            self._client.wait(job_id, progress=shown.show, timeout_s=timeout_s)

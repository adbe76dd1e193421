"""Jobs that are posted, run in this process, resumed, and reported."""

from pathlib import Path
from typing import Any

from gnomon_service.jobs import Draft, draft_from_cli
from gnomon_service.reports import report_of
from gnomon_service.settings import Settings
from gnomon_workers.open_job import open_spec
from gnomon_workers.store import JobRecord, Store
from tests.workers.tiny_worker import context_of, run_job

Spec = dict[str, Any]


def draft_of(store: Store, folder: Path, spec: Spec) -> Draft:
    return draft_from_cli(spec, Settings(data_dir=folder, database_url=store.url))


def post(store: Store, folder: Path, spec: Spec) -> JobRecord:
    """Store a job as `gnomon run` does; its pictures go to `folder`."""
    draft = draft_of(store, folder, spec)
    return store.create_job(draft.spec, draft.refs, faults=draft.faults)


def run(store: Store, folder: Path, job: JobRecord) -> Spec:
    """Run what is open of a job in this process: its report."""
    run_job(job, context_of(store, folder, open_spec=open_spec))
    report: Spec = report_of(store, job.id)
    return report


class Desk:
    """Its jobs ask `openai/m` at an address, with and without tools, unless told otherwise."""

    def __init__(self, store: Store, folder: Path, data: str) -> None:
        self.store, self.folder, self.data = store, folder, data

    def draft(self, url: str, model: Spec, **changes: Any) -> Draft:
        return draft_of(self.store, self.folder, self._written(url, model, **changes))

    def post(self, url: str, model: Spec, **changes: Any) -> JobRecord:
        return post(self.store, self.folder, self._written(url, model, **changes))

    def _written(self, url: str, model: Spec, **changes: Any) -> Spec:
        return {
            "benchmark": "questions",
            "data": self.data,
            "models": [{"id": "openai/m", "name": "m", "api_base": url, "client": "direct", **model}],
            "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "direct"}],
            "retry": {"max_attempts": 1, "base_s": 0},
            "cache": False,
            "preflight": False,
            **changes,
            **({"judge": {"api_base": url, **changes["judge"]}} if "judge" in changes else {}),
        }

    def run(self, job: JobRecord) -> Spec:
        return run(self.store, self.folder, job)

    def alerts(self, job: JobRecord) -> dict[str, str]:
        """Run what is open of a job: its alerts by kind."""
        return told(self.run(job))

    def told(self, job: JobRecord) -> dict[str, str]:
        return told(report_of(self.store, job.id))


def told(report: Spec) -> dict[str, str]:
    """The alerts of a report by kind."""
    return {said["kind"]: said["text"] for said in report["alerts"]}

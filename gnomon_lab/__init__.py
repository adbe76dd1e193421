"""Gnomon in notebooks and scripts: run a job, read its rows, see its report, or use a service.

    import gnomon_lab as lab

    job = lab.run("spec.yaml")
    job.rows()        # a Polars frame
    job.report        # in a notebook, its picture

It works where `gnomon run` works: the same data folder, the same jobs. See docs/python.md.
"""

from gnomon.core.errors import Conflict, DataError, GnomonError, NotFound, SpecError, Unavailable
from gnomon_lab.frames import MissingPackage, Records
from gnomon_lab.job import Incomplete, Job, Jobs, diff
from gnomon_lab.local import jobs, plugin, run
from gnomon_lab.local import open_ as open  # noqa: A004 - the word for it; `lab.open` hides nothing
from gnomon_lab.looks import plan, samples, show, try_
from gnomon_lab.remote import Service, connect, connect_async
from gnomon_lab.report import Report
from gnomon_lab.tool_batch import batch
from gnomon_lab.views import Plan, Prompt, Trace
from gnomon_service.client import ApiError, AsyncClient

__all__ = [
    "ApiError",
    "AsyncClient",
    "Conflict",
    "DataError",
    "GnomonError",
    "Incomplete",
    "Job",
    "Jobs",
    "MissingPackage",
    "NotFound",
    "Plan",
    "Prompt",
    "Records",
    "Report",
    "Service",
    "SpecError",
    "Trace",
    "Unavailable",
    "batch",
    "connect",
    "connect_async",
    "diff",
    "jobs",
    "open",
    "plan",
    "plugin",
    "run",
    "samples",
    "show",
    "try_",
]

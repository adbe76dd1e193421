"""The store: jobs, trials, leases, results and traces in one SQL database. It is the truth; Redis is not."""

from workers.store.records import Counts, JobRecord, Lease, Page, TrialRecord, WorkerRecord
from workers.store.store import Store

__all__ = ["Counts", "JobRecord", "Lease", "Page", "Store", "TrialRecord", "WorkerRecord"]

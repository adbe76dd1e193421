"""Keeps jobs, trials, leases, results and traces in one SQL database. It is the truth; Redis is not.

Start with `schema.py` for the tables, and with `store.py`: `Store` is one class per topic (`jobs.py`,
`leases.py`, `results.py`, `budgets.py` and so on), each over `database.py`. `serialization.py` turns rows
into columns and back; `revisions/` are the steps between tables, which `migration.py` runs.
"""

from gnomon_workers.store.records import Counts, JobRecord, Lease, Page, TrialRecord, WorkerRecord
from gnomon_workers.store.store import Store

__all__ = ["Counts", "JobRecord", "Lease", "Page", "Store", "TrialRecord", "WorkerRecord"]

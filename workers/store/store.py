"""Store: everything that must outlive a process."""

from workers.store.fleet import Fleet
from workers.store.jobs import Jobs
from workers.store.leases import Leases
from workers.store.results import Results


class Store(Jobs, Leases, Results, Fleet):
    """Jobs, leases, results and the fleet over one database.

    `Store(url)`: `sqlite:///FILE` (made if absent, with its folder) or a PostgreSQL URL. Tables are made
    if absent. `clock` replaces the database's clock in tests.
    """

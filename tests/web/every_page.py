"""Every page, by name, and how its address is made from a site: one line a page."""

from collections.abc import Callable, Mapping

from tests.web.conftest import Site
from tests.web.planned_trips import planned_trip

PAGES: Mapping[str, Callable[[Site], str]] = {
    "home": lambda site: "/",
    "trace": lambda site: f"/ui/trials/{site.trial_id('w0-00010', 'tools')}",
    "two-trials": lambda site: (
        f"/ui/compare/trials?a={site.trial_id('w0-00010', 'tools')}&b={site.trial_id('w0-00010', 'raw')}"
    ),
    "trips": lambda site: "/ui/trips",
    "trip": lambda site: f"/ui/trips/{planned_trip(site)}",
    "failing-trip": lambda site: f"/ui/trips/{planned_trip(site, ateneum=('18:20', '19:50'))}",
    "docs": lambda site: "/docs",
    "sign-in": lambda site: "/ui/sign-in",
    "error": lambda site: "/ui/jobs/j_nothing",
}

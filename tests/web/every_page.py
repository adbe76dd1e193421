"""Every page, by name, and how its address is made from a site: one line a page."""

from collections.abc import Callable, Mapping

from tests.web.conftest import Site

PAGES: Mapping[str, Callable[[Site], str]] = {
    "home": lambda site: "/",
    "job": lambda site: f"/ui/jobs/{site.job_id}",
    "trials": lambda site: f"/ui/jobs/{site.job_id}/trials?changed=fixed&arm=gone",
    "trials-one-by-one": lambda site: f"/ui/jobs/{site.job_id}/trials?view=trials",
    "sample": lambda site: f"/ui/jobs/{site.job_id}/samples/w0-00010?changed=fixed",
    "trace": lambda site: f"/ui/trials/{site.trial_id('w0-00010', 'tools')}",
    "two-trials": lambda site: (
        f"/ui/compare/trials?a={site.trial_id('w0-00010', 'tools')}&b={site.trial_id('w0-00010', 'raw')}"
    ),
    "sign-in": lambda site: "/ui/sign-in",
    "error": lambda site: "/ui/jobs/j_nothing",
}

"""Every page, by name, and how its address is made from a site: one line a page."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from gnomon.core.review import Review, ReviewQueue
from tests.web.conftest import Site
from tests.web.planned_trips import planned_trip
from tests.web.planted_card import card_job


def _queue(site: Site) -> str:
    """A queue of two samples; reviewers disagree on the first, and one has noted something hostile."""
    samples = tuple(ref.sample_id for ref in site.store.refs(site.job_id))[:2]
    if not site.store.queues():
        site.store.create_queue(
            ReviewQueue(name="worlds", job_id=site.job_id, mode="judge", choice="all", samples=samples)
        )
        for reviewer, decision in (("ann", "sound"), ("bob", "drop")):
            answered = Review(sample_id=samples[0], reviewer=reviewer, response="A", answer="A", score=0.0)
            site.store.add_answer("worlds", answered)
            note = "<script>alert(1)</script>" * 4
            site.store.decide("worlds", replace(answered, decision=decision, note=note))  # type: ignore[arg-type]
    return "worlds"


PAGES: Mapping[str, Callable[[Site], str]] = {
    "home": lambda site: "/",
    "new-job": lambda site: "/ui/new",
    "new-job-like": lambda site: f"/ui/new?from={site.job_id}",
    "job": lambda site: f"/ui/jobs/{site.job_id}",
    "card": lambda site: f"/ui/jobs/{card_job(site)}/card",
    "trials": lambda site: f"/ui/jobs/{site.job_id}/trials?changed=fixed&arm=gone",
    "trials-one-by-one": lambda site: f"/ui/jobs/{site.job_id}/trials?view=trials",
    "sample": lambda site: f"/ui/jobs/{site.job_id}/samples/w0-00010?changed=fixed",
    "trace": lambda site: f"/ui/trials/{site.trial_id('w0-00010', 'tools')}",
    "two-trials": lambda site: (
        f"/ui/compare/trials?a={site.trial_id('w0-00010', 'tools')}&b={site.trial_id('w0-00010', 'raw')}"
    ),
    "trips": lambda site: "/ui/trips",
    "trip": lambda site: f"/ui/trips/{planned_trip(site)}",
    "failing-trip": lambda site: f"/ui/trips/{planned_trip(site, ateneum=('18:20', '19:50'))}",
    "workers": lambda site: "/ui/workers",
    "keys": lambda site: "/ui/keys",
    "delete": lambda site: f"/ui/jobs/{site.job_id}/delete",
    "review": lambda site: f"/ui/review?{_queue(site)}",
    "review item": lambda site: f"/ui/review/{_queue(site)}",
    "review disagreements": lambda site: f"/ui/review/{_queue(site)}/disagreements",
    "tools": lambda site: "/ui/tools",
    "tool": lambda site: "/ui/tools/forecast_arrival",
    "tool-refusing": lambda site: '/ui/tools/distance?scene=small&args={"start":{"camera":"no"},"end":{}}',
    "tool-without-scene": lambda site: "/ui/tools/look_at_frame",
    "scene": lambda site: "/ui/scenes/w0-00001?tool=distance",
    "benchmarks": lambda site: "/ui/benchmarks",
    "benchmark": lambda site: "/ui/benchmarks/worlds",
    "benchmark-published": lambda site: "/ui/benchmarks/gtr-bench",
    "agents": lambda site: "/ui/agents",
    "agent": lambda site: "/ui/agents/react",
    "presets": lambda site: "/ui/presets",
    "preset": lambda site: "/ui/presets/ladder",
    "docs": lambda site: "/docs",
    "compare-choice": lambda site: "/ui/compare",
    "board": lambda site: "/ui/board?benchmark=worlds",
    "sign-in": lambda site: "/ui/sign-in",
    "error": lambda site: "/ui/jobs/j_nothing",
}

"""Every page, by name, and how its address is made from a site: one line a page."""

from collections.abc import Callable, Mapping

from tests.web.conftest import Site

PAGES: Mapping[str, Callable[[Site], str]] = {
    "home": lambda site: "/",
    "trace": lambda site: f"/ui/trials/{site.trial_id('w0-00010', 'tools')}",
    "two-trials": lambda site: (
        f"/ui/compare/trials?a={site.trial_id('w0-00010', 'tools')}&b={site.trial_id('w0-00010', 'raw')}"
    ),
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
    "compare-choice": lambda site: "/ui/compare",
    "board": lambda site: "/ui/board?benchmark=worlds",
    "sign-in": lambda site: "/ui/sign-in",
    "error": lambda site: "/ui/jobs/j_nothing",
}

"""Matched compute: the budget of the arm without tools, read from a finished job."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon_service.jobs import draft_from_cli
from gnomon_service.reports import report_of
from gnomon_service.settings import Settings, read_settings
from gnomon_workers.open_job import open_spec
from gnomon_workers.store.store import Store

SCRIPT = {"replies": ["A"]}
MODEL, OTHER = ({"id": name, "options": SCRIPT} for name in ("scripted/m", "scripted/other"))
SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "select": {"limit": 4, "seed": 5},
    "models": [MODEL],
    "arms": [
        {"name": "raw", "agent": "react"},
        {"name": "placebo", "agent": "react", "tools": ["speed"], "results": "neutral"},
        {"name": "live", "agent": "react", "tools": ["speed"]},
    ],
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings({}, data_dir=tmp_path)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    store = Store(settings.database_url)
    yield store
    store.close()


def filed(store: Store, media: Path, tokens: dict[str, int | None], **changes: Any) -> str:
    """A finished job whose trials took so many prompt tokens by arm, and 10 more for the answer."""
    spec = JobSpec.model_validate({**SPEC, **changes})
    refs = open_spec(spec, MediaStore(media)).samples.refs
    rows = [
        Row(
            job_id="",
            trial_id=f"{arm}-{ref.sample_id}",
            benchmark="worlds",
            task=ref.task,
            cell=ref.cell,
            sample_id=ref.sample_id,
            cluster=ref.cluster,
            model="scripted/m",
            arm=arm,
            repeat=0,
            outcome=Outcome.SCORED,
            stop_reason="answered",
            score=1.0,
            prompt_tokens=prompt,
            completion_tokens=10,
        )
        for ref in refs
        for arm, prompt in tokens.items()
    ]
    trace = {"prompt": [], "steps": [], "response": "A"}
    return store.insert_finished_job(spec, refs, [(row, trace) for row in rows])


def test_the_only_arm_with_live_tools_sets_the_budget_and_the_plan_says_so(
    settings: Settings, store: Store
) -> None:
    job = filed(store, settings.data_dir / "media", {"raw": 90, "placebo": 300, "live": 500})
    spec = draft_from_cli({**SPEC, "arms": {"preset": "matched_compute", "tokens_from": job}}, settings).spec
    assert spec.arm("matched").max_tokens == 510
    assert spec.analysis.notes == [f"510 tokens per trial: the mean of 4 trials under live in {job}"]


def test_the_line_that_the_report_offers_is_such_a_spec(settings: Settings, store: Store) -> None:
    job = filed(store, settings.data_dir / "media", {"raw": 90, "placebo": 300, "live": 500})
    offered = {price["variant"]: price["matched_compute"] for price in report_of(store, job)["prices"]}
    assert offered["placebo"] == ""
    written = yaml.safe_load(offered["live"])
    spec = draft_from_cli({**SPEC, **written}, settings).spec
    assert spec.arm("matched").max_tokens == 510
    assert spec.arm("tools").tools == ("speed",)


def test_another_arm_can_be_named(settings: Settings, store: Store) -> None:
    job = filed(store, settings.data_dir / "media", {"placebo": 300, "live": 500})
    options = {"preset": "matched_compute", "tokens_from": job, "tokens_arm": "placebo"}
    assert draft_from_cli({**SPEC, "arms": options}, settings).spec.arm("matched").max_tokens == 310


@pytest.mark.parametrize(
    ("options", "changes", "field", "says"),
    [
        ({"tokens_from": "j_none"}, {}, "arms.tokens_from", "no job 'j_none'"),
        ({"tokens_from": "\ud800"}, {}, "arms.tokens_from", "no job"),
        ({"tokens": 5}, {}, "arms.tokens_from", "not both"),
        ({"tokens_arm": "raw"}, {}, "arms.tokens_arm", "placebo, live"),
        ({"preset": "ladder"}, {}, "arms.tokens_from", "not permitted"),
        (
            {},
            {"models": [OTHER]},
            "arms.tokens_from",
            "it has: scripted/m",
        ),
        (
            {},
            {"models": [MODEL, {"id": "reference"}]},
            "arms.tokens_from",
            "2 models",
        ),
        ({}, {"benchmark": "itinerary"}, "arms.tokens_from", "is of worlds, this spec of itinerary"),
    ],
)
def test_a_budget_that_cannot_be_read_is_refused(
    options: dict[str, Any],
    changes: dict[str, Any],
    field: str,
    says: str,
    settings: Settings,
    store: Store,
) -> None:
    job = filed(store, settings.data_dir / "media", {"placebo": 300, "live": 500})
    arms = {"preset": "matched_compute", "tokens_from": job, **options}
    with pytest.raises(SpecError) as error:
        draft_from_cli({**SPEC, **changes, "arms": arms}, settings)
    assert error.value.field == field
    assert says in error.value.message


def test_a_provider_that_counts_nothing_sets_no_budget(settings: Settings, store: Store) -> None:
    job = filed(store, settings.data_dir / "media", {"live": None})
    with pytest.raises(SpecError, match="no trial of scripted/m under live"):
        draft_from_cli({**SPEC, "arms": {"preset": "matched_compute", "tokens_from": job}}, settings)

"""The growth run measures what it says: a filled job is a whole one, and curves lie where they belong."""

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

from bench.performance.curves import curves
from bench.performance.filler import fill, lease_and_finish
from bench.performance.growth import SPEC
from bench.performance.page import BEGIN, END, Page, is_marked
from gnomon.core.sample import SampleRef
from gnomon.spec.job_spec import JobSpec
from service.reports import report_of
from workers.store import Store
from workers.store.job_counters import OPEN


def test_a_job_filled_in_bulk_cannot_be_told_from_one_that_was_leased(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/gnomon.db")
    refs = [SampleRef(sample_id=f"s{n}", task="T", cell=f"c{n % 2}", cluster=f"s{n}") for n in range(600)]
    job = store.create_job(JobSpec.model_validate(SPEC), refs)
    fill(store, job, range(job.shards - 1))
    assert store.job(job.id).status in OPEN
    assert lease_and_finish(store, job, range(job.shards)) == 1_200 - (job.shards - 1) * 300
    done, rows = store.job(job.id), list(store.iter_rows(job.id))
    assert (done.status, done.counts.scored, len(rows)) == ("completed", 1_200, 1_200)
    assert len({row.trial_id for row in rows}) == 1_200
    assert all(store.trace(row.trial_id) == {"prompt": [], "steps": []} for row in rows[::100])
    means = {arm["arm"]: arm["mean"] or 0.0 for arm in report_of(store, job.id)["arms"]}
    assert means["raw"] < means["tools"]
    assert set(Counter(row.answer for row in rows)) == set("ABCD")
    store.close()


def test_curves_have_a_line_for_each_series_and_stay_inside() -> None:
    drawn = curves(
        {
            "s": {"accept": [(1e4, 0.2), (1e6, 20.0)], "report": [(1e4, 0.1), (1e6, 30.0)]},
            "MB": {"x": [(1e4, 6.0)]},
        },
        title="a < b",
    )
    root = ET.fromstring(drawn)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    paths = [one.attrib for one in root if one.tag.endswith("path")]
    assert sum("stroke-width" in one for one in paths) == 3
    for one in paths:
        for point in one["d"].removeprefix("M").split("L"):
            x, y = map(float, point.split())
            assert 0 <= x <= width
            assert 0 <= y <= height


def test_what_was_told_stands_between_the_marks(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    page = Page()
    page.add("new")
    page.write(document)
    assert document.read_text() == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert is_marked(document)
    document.write_text("no marks")
    assert not is_marked(document)

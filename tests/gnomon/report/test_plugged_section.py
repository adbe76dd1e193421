"""A section of the report may come from a plug-in."""

from pathlib import Path

import pytest

from gnomon.report.build import build_report
from gnomon.report.markdown import render_markdown
from gnomon.report.section import SECTIONS, sections
from gnomon.spec.job_spec import JobSpec
from gnomon_tools.core.outside import FILES_ENV

MOTTO = """
from typing_extensions import TypedDict

from gnomon.report.section import Section

class Motto(TypedDict):
    motto: str

motto = Section(
    name="motto",
    title="A motto",
    question="What is it about?",
    fields=Motto,
    compute=lambda report_input: {"motto": f"job {report_input.job_id}"},
    place=97,
    html="<p>{{ report.motto }}</p>",
    view=lambda report: {},
)
"""
SPEC = {
    "benchmark": "worlds",
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}],
}


def test_a_section_of_a_plugin_is_in_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "motto.py"
    path.write_text(MOTTO)
    monkeypatch.setenv(FILES_ENV, str(path))
    assert SECTIONS.outside_names() == ("motto",)
    assert "motto" in [section.name for section in sections()]
    report = build_report(job_id="j1", spec=JobSpec.model_validate(SPEC), status="queued", rows=[], planned=0)
    assert report["motto"] == "job j1"  # type: ignore[typeddict-item]
    assert list(report)[-1] == "motto", "fields of ours keep their places"
    assert "job j1" in render_markdown(report).splitlines(), "read off its page"

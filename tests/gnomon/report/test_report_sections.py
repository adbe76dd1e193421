"""A section is one file: found by its name, in every form of the report, and alone."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gnomon.core.review import HumanAnswer
from gnomon.core.row import Row
from gnomon.core.seal import PlannedSamples, next_line, plan_body
from gnomon.report import sections as package
from gnomon.report.html import render_html, render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.section import SECTIONS, sections
from gnomon.spec.job_spec import JobSpec
from gnomon_tools.core.registry import UnknownPlugin

Reporter = Callable[..., Report]
PAGE = Path(__file__).parents[3] / "docs" / "adding-a-section.md"


@pytest.fixture
def hardest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The section that the documentation adds, as the one file that it is."""
    [source] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "hardest.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    monkeypatch.setattr(SECTIONS, "_own", None)
    yield source
    sys.modules.pop(f"{package.__name__}.hardest", None)


@pytest.fixture(scope="module")
def rich(report_of: Reporter, many: Callable[..., Iterator[Row]], spec: Callable[..., JobSpec]) -> Report:
    arms = [
        {"name": "none", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": ["bearing"]},
    ]
    chain = {"chain": ["none", "tools"]}
    rows = list(many(samples=60, arms=("none", "tools"), repeats=2))
    answers = [HumanAnswer(person="ann", sample_id=rows[0].sample_id, answer="B", score=1.0)]
    planned = spec(arms=arms, repeats=2, analysis=chain)
    at = "2026-01-01T00:00:00Z"
    body = plan_body(
        job_id="j", at=at, spec=planned.model_dump(mode="json"), samples=PlannedSamples(), trials=len(rows)
    )
    seal = [next_line([], "planned", body)]
    return report_of(rows, spec=planned, planned=len(rows), human_answers=answers, seal=seal)


def squeezed(html: str) -> str:
    return re.sub(r"\s+", "", html)


def test_a_file_alone_adds_a_section_to_every_form(
    hardest: str, report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(0, 0), (1, 0), (0, None), (0, 0)]))
    assert report["hardest"] == ["s000", "s003"]  # type: ignore[typeddict-item]
    page = render_html(report)
    assert "Samples that no arm got right" in page
    assert "<li>s000</li><li>s003</li>" in page
    assert page.index("What it cost") > page.index("Samples that no arm") > page.index("Scores by subset")
    assert "## Samples that no arm got right\n\n2 samples:\n\n- s000\n- s003\n" in render_markdown(report)
    assert squeezed(render_section(report, "hardest")) in squeezed(page)


def test_a_section_with_nothing_to_show_is_not_on_the_page(
    hardest: str, report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(1, 1)]))
    assert "no arm got right" not in render_html(report)
    assert "Hardest" not in render_markdown(report)
    assert render_section(report, "hardest") == ""


def test_the_example_is_short(hardest: str) -> None:
    assert len(hardest.splitlines()) <= 60


def test_a_report_names_the_fields_of_every_section_of_the_kernel() -> None:
    fields = [field for section in sections() for field in section.fields.__annotations__]
    own = [field for section in sections() if not section.behind for field in section.fields.__annotations__]
    assert sorted(own) == sorted(Report.__annotations__)
    assert len(set(fields)) == len(fields)


def test_the_fields_of_a_report_keep_their_order(rich: Report) -> None:
    assert [name for name in rich if name in Report.__annotations__] == list(Report.__annotations__)


def test_the_fields_of_a_section_stand_behind_the_one_that_it_names(rich: Report) -> None:
    names = list(rich)
    behind: dict[str, list[str]] = {}
    for section in sections():
        if section.behind:
            behind.setdefault(section.behind, []).extend(section.fields.__annotations__)
    for name, fields in behind.items():
        at = names.index(name) + 1
        assert [field for field in names[at:] if field in fields] == fields
        assert names[at] == fields[0]


def test_every_section_bears_the_name_of_its_file_and_answers_a_question() -> None:
    for name in SECTIONS.names():
        section = SECTIONS.get(name)
        assert section.name == name
        assert section.title
        assert section.question.endswith("?")
        assert not section.shown_in or section.shown_in in SECTIONS.names()


def test_every_section_has_a_place_of_its_own() -> None:
    places = [section.place for section in sections()]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("name", SECTIONS.names())
def test_a_section_rendered_alone_is_that_of_the_page(rich: Report, name: str) -> None:
    alone = render_section(rich, name)
    assert squeezed(alone) in squeezed(render_html(rich))
    has_nothing_to_show = name in (
        "alerts",
        "attribution",
        "consistency",
        "difficulty",
        "error_kinds",
        "figures",
        "judge",
        "extra_metrics",
        "pair_verdicts",
        "plan_rates",
        "preflights",
        "question_dots",
        "replays",
        "replies",
        "sequential",
        "server_card",
        "wording",
    )
    assert bool(alone.strip()) is not has_nothing_to_show


def test_no_section_of_that_name(rich: Report) -> None:
    with pytest.raises(UnknownPlugin, match="no section of the report 'nonsense'"):
        render_section(rich, "nonsense")

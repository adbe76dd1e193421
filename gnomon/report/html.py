"""Renders the report as one HTML file that needs nothing else, or one of its sections."""

import base64
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from gnomon import drawing
from gnomon.drawing.arm_look import arm_look
from gnomon.report.alert import line_of
from gnomon.report.contrast import ContrastReport, comparisons
from gnomon.report.report import Report
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.sample_cards import OpenedSamples, SampleSource, open_samples
from gnomon.report.section import SECTIONS, PairKey, Section, pair_key, sections
from gnomon.report.sections.job import repeats_text
from gnomon.report.sections.preflights import preflight_text
from gnomon.report.text_formats import FILTERS
from gnomon.stopping import while_wanted

FOLDER = Path(__file__).parent
DRAWING_CSS = Path(drawing.__file__).parent / "drawing.css"
SIGNS = {"helps": "▲", "hurts": "▼", "no_effect": "■", "undecided": "◇"}
HEADINGS = {"helps": "Helps", "hurts": "Hurts", "no_effect": "No effect", "undecided": "Undecided"}


def render_html(report: Report, *, samples: SampleSource | None = None) -> str:
    """The report as a self-contained page: no script, no request; everything from outside is escaped.

    `samples` opens some of the job's samples again, to show question, truth, picture and what was done;
    the page stays below 10 MB.

    Raises:
        Unwanted: the report is no longer wanted, see `gnomon.stopping`.
    """
    opened = OpenedSamples()
    if samples is not None:
        card = environment().get_template("sample_card.html.j2")
        opened = open_samples(report, samples, card, arms=report["job"]["arms"])
    page = environment().get_template("page.html.j2")
    chunks = page.generate(report=report, opened=opened, parts=page_parts(report, opened))
    return escape_surrogates("".join(while_wanted(chunks)))


def render_section(report: Report, name: str, *, trials_page: str = "") -> str:
    """One section as HTML, without the page around it; empty where it has nothing to show.

    A section without a template of its own is rendered as the one in which it is shown. `trials_page` is the
    address of the job's list of trials, for links to them.

    Raises:
        UnknownPlugin: no section has that name.
    """
    section = SECTIONS.get(name)
    if not section.per_comparison:
        return escape_surrogates(_rendered(report, section, OpenedSamples(), trials_page=trials_page))
    opened = OpenedSamples()
    views = section.view(report) if section.view else {}
    return escape_surrogates(
        "".join(_comparison_part(report, section, whole, views, opened) for whole in comparisons(report))
    )


def page_parts(report: Report, opened: OpenedSamples) -> Iterator[Markup]:
    """The sections of the page from the top, each with those that it shows within it."""
    for section in sections():
        if not section.shown_in and not section.per_comparison:
            yield _rendered(report, section, opened)


def _rendered(
    report: Report, section: Section[Any], opened: OpenedSamples, *, trials_page: str = ""
) -> Markup:
    if section.shown_in and not _has_template(section):
        return _rendered(report, SECTIONS.get(section.shown_in), opened, trials_page=trials_page)
    variables = section.view(report) if section.view else {}
    if variables is None:
        return Markup()
    template = environment().get_template(section.name)
    chunks = template.generate(
        report=report,
        section=section,
        comparison_parts=_comparison_parts(report, opened),
        trials_page=trials_page,
        **variables,
    )
    return Markup("".join(while_wanted(chunks)))  # noqa: S704 - the templates escape what is not theirs


def _comparison_parts(report: Report, opened: OpenedSamples) -> Callable[[ContrastReport], Iterator[Markup]]:
    """What sections show within a comparison; their variables are computed once for all of them."""
    views: dict[str, Mapping[PairKey, Mapping[str, Any]]] = {}

    def parts(whole: ContrastReport) -> Iterator[Markup]:
        for section in sections():
            if section.per_comparison:
                if section.name not in views:
                    views[section.name] = (section.view(report) if section.view else None) or {}
                yield _comparison_part(report, section, whole, views[section.name], opened)

    return parts


def _comparison_part(
    report: Report,
    section: Section[Any],
    whole: ContrastReport,
    views: Mapping[PairKey, Mapping[str, Any]] | None,
    opened: OpenedSamples,
) -> Markup:
    variables = (views or {}).get(pair_key(whole))
    if variables is None:
        return Markup()
    template = environment().get_template(section.name)
    chunks = template.generate(report=report, section=section, whole=whole, opened=opened, **variables)
    return Markup("".join(while_wanted(chunks)))  # noqa: S704 - the templates escape what is not theirs


@functools.cache
def environment() -> Environment:
    """That of the page's templates: files beside this module, and sections by their names."""
    templates = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {"signs": SIGNS, "headings": HEADINGS, "arm_look": arm_look}
    templates.filters |= {
        **FILTERS,
        "picture": _picture,
        "preflight": preflight_text,
        "line_of": line_of,
        "repeats_text": repeats_text,
    }
    return templates


def _source(name: str) -> str:
    """A template's text: a section's by its name, else a file beside this module."""
    if name in SECTIONS.names():
        section = SECTIONS.get(name)
        return section.html or _file(section).read_text(encoding="utf-8")
    path = DRAWING_CSS if name == DRAWING_CSS.name else FOLDER / name
    return path.read_text(encoding="utf-8")


def _file(section: Section[Any]) -> Path:
    return Path(inspect.getfile(section.compute)).with_name(f"{section.name}.html.j2")


def _has_template(section: Section[Any]) -> bool:
    return bool(section.html) or _file(section).is_file()


def _picture(svg: str) -> Markup:
    """An SVG as an image of its own, in which no script can run whatever a stored row holds."""
    data = base64.b64encode(escape_surrogates(svg).encode()).decode()
    return Markup('<img alt="" src="data:image/svg+xml;base64,{}">').format(data)

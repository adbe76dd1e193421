"""The samples that the report's page opens: which ones, what of them, and how much fits."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from PIL import Image

from gnomon.core.model import built_in_text
from gnomon.core.opened_question import OpenedQuestion
from gnomon.core.row import Row
from gnomon.core.sample import ImageRef, Part, Sample, SampleRef
from gnomon.report import sample_cards
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.sample_cards import ShownTrial, picture_uri
from gnomon.report.sample_choice import MOST, chosen_samples
from gnomon.report.terminal import summary_text

Reporter = Callable[..., Report]
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def png(width: int = 240, height: int = 160, colour: int = 0) -> bytes:
    out = io.BytesIO()
    Image.effect_noise((width, height), 80).point(lambda level: (level + colour) % 256).save(out, "PNG")
    return out.getvalue()


class Source:
    """Opens every sample of the tests' reports; traces name what the arm answered."""

    def __init__(
        self, rows: Sequence[Row], *, text: str = "How far?", pictures: int = 0, gone: str = ""
    ) -> None:
        self.rows, self.text, self.gone = rows, text, gone
        self.images = {f"{number:064x}": png(colour=number) for number in range(pictures)}

    def open(self, sample_id: str) -> OpenedQuestion:
        if self.gone:
            return OpenedQuestion(problem=self.gone)
        refs = [ImageRef(sha256=name, media_type="image/png", width=240, height=160) for name in self.images]
        ref = SampleRef(sample_id=sample_id, task="t", cell="c", cluster="k")
        parts = (Part(content=f"{self.text} ({sample_id})"), *(Part(content=image) for image in refs))
        return OpenedQuestion(sample=Sample(ref=ref, parts=parts, target={"metres": 40}))

    def trials(self, sample_id: str, model: str) -> Sequence[ShownTrial]:
        places = {"raw": 0, "tools": 1}
        trace = {"steps": [{"kind": "reply", "text": self.text}], "response": self.text}
        return [
            ShownTrial(arm=row.arm, place=places[row.arm], row=row, trace=trace)
            for row in self.rows
            if (row.sample_id, row.model) == (sample_id, model)
        ]

    def picture(self, sha256: str) -> bytes | None:
        return self.images.get(sha256)


def traces(_: str) -> dict[str, Any]:
    return {"steps": [{"kind": "reply", "text": "forty"}]}


@pytest.fixture
def job(report_of: Reporter, pairs: Callable[..., Iterator[Row]]) -> tuple[list[Row], Report]:
    """Thirty fixed samples, one regressed, ten that both arms missed and two that lost a trial."""
    scores = [(0, 1)] * 30 + [(1, 0)] + [(0, 0)] * 10 + [(1, None)] * 2
    rows = list(pairs(scores))
    return rows, report_of(rows, trace=traces)


def test_some_of_each_kind_are_chosen(job: tuple[list[Row], Report]) -> None:
    chosen = chosen_samples(job[1])
    kinds = [choice.kind for choice in chosen]
    assert len(chosen) == MOST
    assert kinds[:4] == ["regressed", "fixed", "both wrong", "no score"]
    assert (kinds.count("regressed"), kinds.count("both wrong"), kinds.count("no score")) == (1, 6, 2)
    assert len({choice.sample_id for choice in chosen}) == MOST


def test_the_report_names_samples_that_did_not_flip(job: tuple[list[Row], Report]) -> None:
    [other] = job[1]["other_samples"]
    assert len(other["both_wrong"]) == 10
    assert [sample["variant_score"] for sample in other["without_score"]] == [None, None]


def test_question_truth_and_answers_of_each_chosen_sample_are_on_the_page(
    job: tuple[list[Row], Report],
) -> None:
    rows, report = job
    page = render_html(report, samples=Source(rows))
    for choice in chosen_samples(report):
        assert f"How far? ({choice.sample_id})" in page
    assert page.count('<details class="sample"') == MOST
    assert page.count('<b class="gold">True:</b> metres: 40') == MOST
    assert "<script" not in page
    assert len(set(re.findall(r' id="([^"]+)"', page))) == len(re.findall(r' id="([^"]+)"', page))


def test_texts_of_an_opened_sample_stay_texts(job: tuple[list[Row], Report]) -> None:
    rows, report = job
    page = render_html(report, samples=Source(rows, text=EVIL))
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_page_whose_samples_cannot_be_opened_says_why(job: tuple[list[Row], Report]) -> None:
    rows, report = job
    page = render_html(report, samples=Source(rows, gone=f"no folder {EVIL}"))
    assert "cannot be opened again here" in page
    assert "no folder &lt;script&gt;" in page
    assert '<details class="sample"' not in page


def test_pictures_are_left_out_where_they_have_no_room(
    job: tuple[list[Row], Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, report = job
    source = Source(rows, pictures=2)
    whole = render_html(report, samples=source)
    assert whole.count('src="data:image/webp;base64,') == 2 * MOST
    assert "had no room" not in whole
    monkeypatch.setattr(sample_cards, "CARDS_BYTES", 300_000)
    small = render_html(report, samples=source)
    assert 0 < small.count('src="data:image/webp;base64,') < 2 * MOST
    assert small.count('<details class="sample"') == MOST
    assert "some pictures had no room" in small
    assert len(small) < len(render_html(report)) + 300_000


def test_samples_and_traces_are_left_out_where_they_have_no_room(
    job: tuple[list[Row], Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, report = job
    monkeypatch.setattr(sample_cards, "CARDS_BYTES", 10_000)
    page = render_html(report, samples=Source(rows))
    assert 0 < page.count('<details class="sample"') < MOST
    assert re.search(r"This file stays below 10 MB: \d+ more samples had no room", page)


def test_a_picture_is_made_smaller_and_a_broken_one_is_none() -> None:
    uri = picture_uri(png())
    assert uri is not None
    assert uri.startswith("data:image/webp;base64,")
    assert picture_uri(b"no picture") is None
    assert picture_uri(b"<svg xmlns='http://www.w3.org/2000/svg'/>") is None


def test_every_form_of_a_report_says_before_its_figures_what_a_built_in_model_is(
    report_of: Reporter, spec: Callable[..., object], pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(pairs([(0, 1)]), spec=spec(models=[{"id": "reference"}]))
    assert report["job"]["model_texts"] == {"reference": built_in_text("reference")}
    said = f"reference is {built_in_text('reference')}."
    assert "guesses by a hash" in said
    assert summary_text(report).splitlines()[0] == said
    assert render_markdown(report).splitlines()[2].startswith("reference is a built-in policy")
    html = render_html(report)
    assert html.index("a built-in policy, not a language model") < html.index("<h1>")
    del report["job"]["model_texts"], report["methods"]  # type: ignore[misc]  # as reports of older versions
    assert "not a language model" not in render_html(report)


def test_half_right_of_two_repeats_is_wrong_in_every_list(
    report_of: Reporter, row: Callable[..., Row]
) -> None:
    rows = [
        row(sample, arm, score, repeat=repeat, tool_calls=1)
        for sample, scores in enumerate(
            [((1, 0), (1, 1)), ((1, 0), (0, 0)), ((1, 1), (1, 0)), ((1, 1), (1, 1))]
        )
        for arm, of_arm in zip(("raw", "tools"), scores, strict=True)
        for repeat, score in enumerate(of_arm)
    ]
    report = report_of(rows)
    contrast, flips, others = report["contrasts"][0], report["flips"][0], report["other_samples"][0]
    assert (contrast["rescued"], contrast["broken"], contrast["both_wrong"]) == (1, 1, 1)
    assert {(sample["sample_id"], sample["kind"]) for sample in flips["samples"]} == {
        ("s000", "rescued"),
        ("s002", "broken"),
    }
    assert [sample["sample_id"] for sample in others["both_wrong"]] == ["s001"]
    assert report["called_needed"][0]["needed_called"]["n"] == 2

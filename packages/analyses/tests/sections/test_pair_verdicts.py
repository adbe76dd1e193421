"""Verdicts on pairs: what order does to them, who wins, who agrees."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from gnomon.core.review import HumanAnswer
from gnomon.core.row import Row
from gnomon.report.html import render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon_analyses.sections.pair_verdicts import EQUAL, pair_verdicts

Reporter = Callable[..., Report]
ORDERS = (("listed", "old", "new"), ("swapped", "new", "old"))


def verdicts(arm: str, letters: Sequence[str], row: Callable[..., Row], **changes: Any) -> Iterator[Row]:
    """A judge's rows: for each pair the letters given in both orders, such as "AB"; "-" is unread."""
    for number, pair in enumerate(letters):
        for letter, (order, first, second) in zip(pair, ORDERS, strict=True):
            winner = {"A": first, "B": second, "C": EQUAL}.get(letter)
            yield row(
                number,
                arm,
                1.0 if winner else 0.0,
                **{
                    "sample_id": f"p{number}-{order}",
                    "cluster": f"request {number // 2}",
                    "answer": letter if winner else None,
                    "metrics": {"pair": f"p{number}", "plan_a": first, "plan_b": second, "winner": winner},
                    **changes,
                },
            )


@pytest.fixture
def report_on(report_of: Reporter, row: Callable[..., Row]) -> Callable[..., Report]:
    def made(raw: Sequence[str], tools: Sequence[str] = (), **more: Any) -> Report:
        return report_of([*verdicts("raw", raw, row), *verdicts("tools", tools, row)], **more)

    return made


def test_a_judge_who_follows_the_plan_does_not_flip(report_on: Callable[..., Report]) -> None:
    judge = report_on(["AB"] * 6)["pair_judges"][0]
    assert (judge["both_orders"], judge["flipped"], judge["for_first"]) == (6, 0.0, 0.5)
    shares = {row["planner"]: (row["wins"], row["losses"], row["share"]) for row in judge["planners"]}
    assert shares == {"old": (12, 0, 1.0), "new": (0, 12, 0.0)}


def test_a_judge_who_follows_the_order_flips_and_nobody_wins(report_on: Callable[..., Report]) -> None:
    judge = report_on(["AA"] * 6)["pair_judges"][0]
    assert (judge["flipped"], judge["for_first"]) == (1.0, 1.0)
    assert (judge["kept_first"], judge["kept_second"]) == (6, 0)
    assert {row["share"] for row in judge["planners"]} == {0.5}
    second = report_on(["BB"] * 3)["pair_judges"][0]
    assert (second["for_first"], second["kept_second"]) == (0.0, 3)


def test_a_tie_is_half_a_win_and_an_unread_reply_is_none(report_on: Callable[..., Report]) -> None:
    judge = report_on(["CC", "AB", "-B"])["pair_judges"][0]
    assert (judge["verdicts"], judge["unread"], judge["both_orders"], judge["decided"]) == (5, 1, 2, 3)
    old = next(row for row in judge["planners"] if row["planner"] == "old")
    assert (old["wins"], old["equals"], old["losses"], old["share"]) == (3, 2, 0, 0.8)


def test_verdicts_on_one_request_are_one_cluster(report_on: Callable[..., Report]) -> None:
    wide, narrow = (
        report_on(letters)["pair_judges"][0]["planners"][0]["ci95"]
        for letters in (["AB", "AB", "BA", "BA"] * 4, ["AB", "BA", "AB", "BA"] * 4)
    )
    assert wide is not None
    assert narrow is not None
    assert wide[1] - wide[0] > narrow[1] - narrow[0]  # alike within a request: worth fewer verdicts


def test_judges_agree_on_pairs_and_a_flip_counts_as_equal(report_on: Callable[..., Report]) -> None:
    report = report_on(["AB", "BA", "AA", "AB"], ["AB", "BA", "CC", "BA"])
    [agreed] = report["pair_agreement"]
    assert agreed["judges"] == ["m, raw", "m, tools"]
    assert (agreed["n"], agreed["share"], agreed["method"]) == (4, 0.75, "Cohen's kappa")


def test_people_are_a_judge_beside_the_models(report_on: Callable[..., Report]) -> None:
    said = [
        ("ann", "p0-listed", "A"),
        ("bob", "p0-swapped", "B"),
        ("ann", "p1-listed", "A"),
        ("bob", "p1-listed", "b"),
    ]
    answers = [
        HumanAnswer(person=person, sample_id=sample, answer=letter, score=1.0)
        for person, sample, letter in said
    ]
    report = report_on(["AB", "AB"], human_answers=answers)
    judges = {(judge["model"], judge["arm"]): judge for judge in report["pair_judges"]}
    people = judges["people", ""]
    assert (people["verdicts"], people["both_orders"], people["flipped"]) == (4, 0, None)
    agreement = {" and ".join(row["judges"]): (row["n"], row["share"]) for row in report["pair_agreement"]}
    assert agreement == {"m, raw and people": (2, 0.5), "people, among themselves": (2, 0.5)}


def test_every_form_shows_it_and_other_jobs_show_nothing(
    report_on: Callable[..., Report], report_of: Reporter, pairs: Callable[..., Iterator[Row]]
) -> None:
    report = report_on(["AB", "AA"], ["AB", "AB"])
    assert "Who wins" in render_section(report, "pair_verdicts")
    assert "### Who wins" in render_markdown(report)
    other = report_of(pairs([(1, 0)]))
    assert (other["pair_judges"], other["pair_agreement"]) == ([], [])
    assert render_section(other, "pair_verdicts") == ""
    assert "Verdicts on pairs" not in render_markdown(other)
    assert pair_verdicts.view is not None
    assert pair_verdicts.view({}) is None

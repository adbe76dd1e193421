"""Counts the letters that each arm answered, beside those of the right answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from gnomon.report.alert import Alert, alert
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.scored_rows import LETTERS, NO_ANSWER, ScoredRows
from gnomon.report.section import ReportInput, Section
from gnomon.report.text_formats import p_text, percent
from gnomon.statistics.design import Codes, Floats
from gnomon.stopping import while_wanted

FEWEST = 10  # letters of an arm, and
LEAST_SHARE = 0.1  # of its answers: below, letters are not how it answers
CLEAR_EXCESS, CLEAR_P = 0.15, 0.001  # from here on an arm's favourite letter is an alert
STEPS = 50  # of estimating how often each letter is right, where no answer tells it
TEST = "cluster-robust t, Bonferroni over the letters"
Mask = NDArray[np.bool_]


class LetterReport(TypedDict):
    """The letters among a model's answers under an arm: `n` of its `answers` are letters.

    `key` says of how many of these `n` trials each letter is the right answer: counted where an answer of any
    arm tells it (one with full score, or a wrong one that rules letters out), else estimated from the others;
    None where no answer is right. `letter` is the one answered most in excess of the key, by the share
    `excess` of the n; `key_known` trials tell whether it is right; `p` is that of no excess.
    """

    model: str
    arm: str
    n: int
    answers: int
    counts: dict[str, int]
    key: dict[str, float] | None
    key_known: int
    letter: str | None
    excess: float | None
    p: float | None
    test: str


class LettersPart(TypedDict):
    """All arms that answer with letters."""

    letters: list[LetterReport]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Key:
    """By sample and letter: how likely it is right, and whether answers tell that it is or is not."""

    shares: Floats
    known: Mask


def _letters(report_input: ReportInput) -> LettersPart:
    scores, letters = report_input.scores, report_input.collected(ScoredRows).letters
    is_letter = letters >= 0
    if not is_letter.any():
        return {"letters": []}
    groups, samples = np.divmod(scores.places, len(scores.samples))
    spec = report_input.spec
    as_written = {arm.name for arm in spec.arms if arm.transform is None}  # a transform may move the options
    keyed = [arm in as_written for _, arm in scores.groups]
    names = LETTERS[: int(letters.max()) + 1]
    rows = is_letter & np.array(keyed)[groups]
    key = _key(samples[rows], letters[rows], scores.row_scores[rows], scores.cells, len(names))
    reports: list[LetterReport] = []
    for group in while_wanted(range(len(scores.groups))):
        of_group = groups == group
        answers = int(np.count_nonzero(letters[of_group] != NO_ANSWER))
        rows = of_group & is_letter
        if int(rows.sum()) >= max(FEWEST, LEAST_SHARE * answers):
            report = _report(
                scores, group, samples[rows], letters[rows], key if keyed[group] else None, names
            )
            reports.append({**report, "answers": answers})
    return {"letters": reports}


def _key(samples: Codes, letters: Codes, row_scores: Floats, cells: Codes, letters_n: int) -> _Key | None:
    """What the scores tell of the right letters; None where they tell nothing, or contradict each other.

    A right answer is the key, a wrong one is not. Where that leaves several letters, each is taken to be the
    key as often as it is elsewhere (expectation maximization). `cells` are by sample: in one with partial
    scores, or without a right answer, a score of 0 may be of a right letter with a wrong time.
    """
    shape = (len(cells), letters_n)
    is_key, may_be = np.zeros(shape, np.bool_), np.ones(shape, np.bool_)
    is_right = row_scores >= 1.0
    is_key[samples[is_right], letters[is_right]] = True
    is_partial = (row_scores > 0.0) & ~is_right
    by_letter_alone = np.setdiff1d(cells[samples[is_right]], cells[samples[is_partial]])
    is_wrong = (row_scores <= 0.0) & np.isin(cells[samples], by_letter_alone)
    may_be[samples[is_wrong], letters[is_wrong]] = False
    rights = is_key.sum(axis=1)
    if not rights.any() or (rights > 1).any():
        return None
    may_be[rights == 1] = is_key[rights == 1]
    is_ruled_out = ~may_be & may_be.any(axis=1, keepdims=True)
    asked = np.zeros(shape[0], np.bool_)
    asked[samples] = True
    left, patterns = np.unique(
        may_be[asked] @ (1 << np.arange(shape[1])), return_inverse=True
    )  # few, of however many samples
    allowed = (left[:, None] >> np.arange(shape[1])) & 1
    sizes = np.bincount(patterns)
    usual = np.full(shape[1], 1.0 / shape[1])
    for _ in range(STEPS):
        weights = allowed * usual
        totals = weights.sum(axis=1, keepdims=True)
        weights = np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), usual)
        usual = sizes @ weights / sizes.sum()
    shares = np.zeros(shape)
    shares[asked] = weights[patterns]
    return _Key(shares=shares, known=is_key | is_ruled_out)


def _report(
    scores: ScoreMatrix, group: int, samples: Codes, letters: Codes, key: _Key | None, names: str
) -> LetterReport:
    model, arm = scores.groups[group]
    counts = np.bincount(letters, minlength=len(names))
    report: LetterReport = {
        "model": model,
        "arm": arm,
        "n": len(letters),
        "answers": len(letters),
        "counts": dict(zip(names, counts.tolist(), strict=True)),
        "key": None,
        "key_known": 0,
        "letter": None,
        "excess": None,
        "p": None,
        "test": "none: no right answer tells the key",
    }
    if key is None:
        return report
    expected = key.shares[samples].sum(axis=0)
    at = int(np.argmax(counts - expected))
    trials = np.bincount(samples, minlength=len(scores.samples))
    within = trials > 0
    answered = np.bincount(samples[letters == at], minlength=len(scores.samples))
    surplus = answered[within] / trials[within] - key.shares[within, at]
    estimate = scores.design(within, "mean_of_samples").estimate(surplus, limits=(-1.0, 1.0))
    p = estimate.p_value()
    report["key"] = dict(zip(names, expected.tolist(), strict=True))
    report["key_known"] = int(key.known[samples, at].sum())
    report["letter"] = names[at]
    report["excess"] = float(counts[at] - expected[at]) / len(letters)
    report["p"] = None if p is None else min(1.0, p * len(names))
    report["test"] = TEST
    return report


def letter_alerts(report_input: ReportInput) -> Iterator[Alert]:
    """An alert for each arm that answers one letter far more often than it is right."""
    permuted = [arm.name for arm in report_input.spec.arms if arm.transform == "permute_options"]
    advice = (
        f"Read “{permuted[0]}” beside it: what holds in both orders of the options is no guess of a letter."
        if permuted
        else "A model that prefers a letter guesses: ask with the options in another order too, in an arm "
        "with `transform: permute_options`."
    )
    for row in report_input.part(letters)["letters"]:
        if row["key"] is None or row["letter"] is None or row["excess"] is None or row["p"] is None:
            continue
        if row["excess"] >= CLEAR_EXCESS and row["p"] < CLEAR_P:
            yield alert(
                "letters",
                _favourite(row),
                model=row["model"],
                arm=row["arm"],
                concerned=row["counts"][row["letter"]],
                n=row["n"],
                advice=advice,
            )


def _favourite(row: LetterReport) -> str:
    letter = row["letter"] or ""
    key = (row["key"] or {}).get(letter, 0.0)
    about = "" if row["key_known"] == row["n"] else "about "
    answered = f"answered {letter} in {row['counts'][letter]:,} of {row['n']:,}"
    return f"{answered} (key: {about}{key:,.0f} of {row['n']:,})"


def _names(report: LettersPart) -> list[str]:
    shown = {letter for row in report["letters"] for letter, n in row["counts"].items() if n}
    keys = {letter for row in report["letters"] for letter, n in (row["key"] or {}).items() if n >= 0.5}
    return sorted(shown | keys)


def _head(report: LettersPart) -> Sequence[str]:
    return "model", "arm", "in excess", "p", "letters", *_names(report)


def _row(report: LettersPart, row: LetterReport) -> Sequence[str]:
    key = row["key"]
    cells = [
        f"{row['counts'].get(letter, 0):,} ({'–' if key is None else format(key.get(letter, 0.0), ',.0f')})"
        for letter in _names(report)
    ]
    excess = "–" if row["excess"] is None else f"{row['letter']}, {percent(row['excess'])} %"
    return row["model"], row["arm"], excess, p_text(row["p"]), f"{row['n']:,} of {row['answers']:,}", *cells


def _view(report: LettersPart) -> Mapping[str, object] | None:
    if not report.get("letters"):  # absent from reports of older versions
        return None
    return {"head": _head(report), "rows": [_row(report, row) for row in report["letters"]]}


letters = Section(
    name="letters",
    title="Letters answered",
    question="Does an arm prefer a letter, whatever is right?",
    fields=LettersPart,
    compute=_letters,
    place=103,
    view=_view,
)

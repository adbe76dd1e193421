"""Writes the table of arms and differences for a paper: as Markdown, CSV and LaTeX."""

import csv
import io
import re
from collections.abc import Sequence

from typing_extensions import TypedDict

from gnomon.report.row_formats import csv_cell
from gnomon.report.section import Interval
from gnomon.report.text_formats import (
    clean,
    escape_markdown,
    p_text,
    percent,
    percent_brackets,
    points,
    points_brackets,
)

LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "α": r"$\alpha$",
    "→": r"$\rightarrow$",
    "‘": "`",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "’": "'",
    "\n": " ",
    "\t": " ",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}
HEAD = (
    "Model",
    "Arm",
    "Against",
    "n",
    "Score, % [95 %]",
    "Difference, points [95 %]",
    "p adjusted",
    "Lost, %",
    "Tokens, times",
)
NUMBERS = 3  # columns of text before those of numbers


class PaperRow(TypedDict):
    """An arm, and its difference from the arm `against`; null where it is compared with none.

    Shares and differences are fractions; `tokens_ratio` is against that arm too, null where it is unknown.
    """

    model: str
    arm: str
    against: str | None
    family: str | None
    n: int
    score: float | None
    score_ci95: Interval
    difference: float | None
    difference_ci95: Interval
    p_adjusted: float | None
    withheld: bool
    lost: float | None
    tokens_ratio: float | None


def cells(row: PaperRow) -> tuple[str, ...]:
    """A row as a reader sees it."""
    against = row["against"] or "–"
    against += " (exploratory)" if row["family"] == "exploratory" else ""
    difference = "–" if row["difference"] is None else points(row["difference"])
    return (
        row["model"],
        row["arm"],
        against,
        f"{row['n']:,}",
        f"{percent(row['score'])}{percent_brackets(row['score_ci95'])}",
        "withheld" if row["withheld"] else f"{difference}{points_brackets(row['difference_ci95'])}",
        p_text(row["p_adjusted"]),
        percent(row["lost"]),
        "–" if row["tokens_ratio"] is None else f"{row['tokens_ratio']:.2f}",
    )


def table_markdown(rows: Sequence[PaperRow]) -> str:
    """The table as Markdown, cells escaped."""
    lines = [f"| {' | '.join(HEAD)} |", f"|{'---|' * NUMBERS}{'---:|' * (len(HEAD) - NUMBERS)}"]
    lines += [f"| {' | '.join(map(escape_markdown, cells(row)))} |" for row in rows]
    return "\n".join(lines) + "\n"


def table_csv(rows: Sequence[PaperRow]) -> str:
    """The table as CSV: numbers as in the JSON, ends of intervals in columns of their own."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    flat = [_flat(row) for row in rows]
    if flat:
        writer.writerow(flat[0])
        writer.writerows([csv_cell(value) for value in row.values()] for row in flat)
    return file.getvalue()


def _flat(row: PaperRow) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, value in row.items():
        if name.endswith("_ci95"):
            low, high = value if isinstance(value, list) else (None, None)
            values |= {f"{name.removesuffix('_ci95')}_low": low, f"{name.removesuffix('_ci95')}_high": high}
        else:
            values[name] = value
    return values


def table_latex(rows: Sequence[PaperRow], *, caption: str = "") -> str:
    """The table as LaTeX, for the package booktabs; whatever a name holds is shown as it is."""
    columns = "l" * NUMBERS + "r" * (len(HEAD) - NUMBERS)
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [_latex_row(HEAD), r"\midrule", *(_latex_row(cells(row)) for row in rows)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\caption{{{escape_latex(caption)}}}"] if caption else []
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _latex_row(texts: Sequence[str]) -> str:
    # A bracket at the start of a row would be read as an argument of the line break before it.
    return f"{{}}{' & '.join(map(escape_latex, texts))} \\\\"


def escape_latex(text: str) -> str:
    r"""Text that LaTeX shows as it is, on one line.

    >>> print(escape_latex("50 % of a_b & {c} −1 \\x"))
    50 \% of a\_b \& \{c\} $-$1 \textbackslash{}x
    """
    return "".join(LATEX.get(mark, mark) for mark in re.sub(r"\s+", " ", clean(text)))

"""Writes tables for a paper as LaTeX and Markdown, and the one of arms and differences as CSV too."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from typing_extensions import TypedDict

from gnomon.report.row_formats import csv_cell
from gnomon.report.section import Interval
from gnomon.report.text_formats import (
    clean,
    markdown_table,
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
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "½": r"$\frac{1}{2}$",
    "·": r"$\cdot$",
    "✓": r"$\surd$",
    "✗": r"$\times$",
    "←": r"$\leftarrow$",
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
COLUMN_CHARS = 56  # what a paper's column holds; a table of more is as wide as the page
LONG_CELL = 34  # characters, beyond which a cell is broken into lines
LONG_TITLE = 12  # characters, beyond which a column's title has two lines
SHRUNK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"  # needs the package graphicx
BROKEN = r">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}"  # needs the package array


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
    return markdown_table(HEAD, [cells(row) for row in rows], texts=NUMBERS)


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


def table_latex(rows: Sequence[PaperRow], *, caption: str = "", label: str = "") -> str:
    """The table as LaTeX, see `latex_table`."""
    return latex_table(HEAD, [cells(row) for row in rows], texts=NUMBERS, caption=caption, label=label)


def latex_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1, caption: str = "", label: str = ""
) -> str:
    """Any table as LaTeX, for the package booktabs; whatever a name holds is shown as it is.

    The first `texts` columns are of text and at the left. A table that is too wide for a paper's
    column is as wide as the page, and shrunk to it if need be.
    """
    widths = [
        max(len(title) // 2, *map(len, column))
        for title, *column in zip(head, *rows, [""] * len(head), strict=True)
    ]
    star = "*" if sum(widths) > COLUMN_CHARS else ""
    columns = "".join(
        BROKEN.format(share=0.28 if star else 0.4) if width > LONG_CELL else "l" if index < texts else "r"
        for index, width in enumerate(widths)
    )
    lines = [rf"\begin{{table{star}}}", r"\centering"]
    lines += [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"]
    lines += [rf"\caption{{{escape_latex(caption)}}}"] if caption else []
    lines += [rf"\label{{{label}}}"] if label else []
    lines += [rf"{SHRUNK}{{\begin{{tabular}}{{{columns}}}", r"\toprule"]
    titles = (_latex_title(title, "l" if index < texts else "r") for index, title in enumerate(head))
    lines += [_latex_row(titles), r"\midrule", *(_latex_row(map(escape_latex, row)) for row in rows)]
    lines += [r"\bottomrule", r"\end{tabular}}", rf"\end{{table{star}}}"]
    return "\n".join(lines) + "\n"


def _latex_title(text: str, side: str) -> str:
    r"""A column's title, in two lines where it is long.

    >>> _latex_title("95 % adjusted", "r"), _latex_title("Arm", "l")
    ('\\shortstack[r]{95 \\%\\\\{}adjusted}', 'Arm')
    """
    spaces = [index for index, mark in enumerate(text) if mark == " "]
    if len(text) <= LONG_TITLE or not spaces:
        return escape_latex(text)
    at = min(spaces, key=lambda index: abs(index - len(text) / 2))
    return rf"\shortstack[{side}]{{{escape_latex(text[:at])}\\{{}}{escape_latex(text[at + 1 :])}}}"


def _latex_row(texts: Iterable[str]) -> str:
    # A bracket at the start of a row would be read as an argument of the line break before it.
    return f"{{}}{' & '.join(texts)} \\\\"


def escape_latex(text: str) -> str:
    r"""Text that LaTeX shows as it is, on one line.

    >>> print(escape_latex("50 % of a_b & {c} −1 \\x"))
    50 \% of a\_b \& \{c\} $-$1 \textbackslash{}x
    """
    return "".join(LATEX.get(mark, mark) for mark in re.sub(r"\s+", " ", clean(text)))

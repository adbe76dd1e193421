"""What a gate says, for a terminal and for a pull request."""

from collections.abc import Iterator

from gnomon.report.phrases import clusters_words
from gnomon.report.text_formats import (
    clusters_cell,
    count,
    escape_markdown,
    p_text,
    percent,
    points,
    points_range,
)
from gnomon_analyses.gate.gate import Finding, GatePair, GateReport, Regression

WORDS: dict[Finding, str] = {
    "not_worse": "not worse",
    "worse": "worse",
    "not_shown": "not shown to be no worse",
}
UNSEEN = 0.05  # the chance to see none of the clusters that got worse


def gate_text(report: GateReport) -> str:
    """The findings in plain sentences."""
    lines = [_headline(report), ""]
    for pair in report["pairs"]:
        lines += [f"{pair['label']}: {sentence(pair)}", *_regressed(pair), ""]
    return "\n".join([*lines, *report["notes"]]).rstrip()


def _headline(report: GateReport) -> str:
    end = "passes" if report["passed"] else "does not pass"
    failed = sum(pair["finding"] != "not_worse" for pair in report["pairs"])
    of = (
        f" ({failed} of {len(report['pairs'])} comparisons fail)"
        if failed and len(report["pairs"]) > 1
        else ""
    )
    return f"{report['new']} {end} the gate against {report['base']}, margin {report['margin']}{of}."


def sentence(pair: GatePair) -> str:
    """The finding with its numbers and denominators."""
    sizes = f"{count(pair['n'], 'sample')} in {clusters_words(pair)}"
    if _is_unchanged(pair):
        return f"nothing changed: every score and answer is the same ({sizes})."
    if pair["diff"] is None or pair["base_mean"] is None or pair["new_mean"] is None:
        return f"{WORDS[pair['finding']]}: {'; '.join(pair['reasons'])}."
    means = f"{percent(pair['new_mean'])} % against {percent(pair['base_mean'])} %"
    reach = f", 90 % interval {points_range(pair['ci90'])}" if pair["ci90"] else ""
    text = f"{WORDS[pair['finding']]}. {points(pair['diff'])} points, {means}{reach} ({sizes})"
    text += (
        f"; p {p_text(pair['p'])} of a fall by {_points(pair['margin'])} or more."
        if pair["p"] is not None
        else "."
    )
    if pair["reasons"]:
        text += f" Why: {'; '.join(pair['reasons'])}."
    if pair["next_step"]:
        text += f" {pair['next_step']}"
    return " ".join([text, *_reach(pair), *_gaps(pair)])


def _is_unchanged(pair: GatePair) -> bool:
    """Whether it passes because nothing changed."""
    return pair["is_identical"] and pair["finding"] == "not_worse"


def _reach(pair: GatePair) -> Iterator[str]:
    """What margin these results pass, and what margin so many samples could show."""
    if pair["finding"] == "worse":
        return
    if pair["passes_from"] is not None:
        yield f"These results pass from a margin of {_points(pair['passes_from'], up=True)}."
    if pair["could_show"] is not None and pair["margin"] is not None:
        size = _points(pair["could_show"], up=True)
        yield f"An equal NEW would pass a margin of {size} in 8 of 10 such comparisons."
        if pair["could_show"] > pair["margin"] and pair["finding"] == "not_shown":
            yield "More samples show a smaller one."
    fewest = min(pair["clusters"], pair["crossing_clusters"] or pair["clusters"])
    if pair["finding"] == "not_worse" and fewest < pair["n"]:
        unseen = f"{percent(1.0 - UNSEEN ** (1.0 / fewest))} % of all clusters"
        yield (
            f"Not guarded: a fall in few clusters alone. What got worse in {unseen} is in none of these "
            f"{fewest:,} in 1 of 20 such comparisons."
        )
    if pair["margin"] and pair["base_mean"] is not None and pair["margin"] >= pair["base_mean"] / 2:
        yield "Beware: the margin is half of BASE's score or more."


def _gaps(pair: GatePair) -> Iterator[str]:
    samples, missing = pair["samples"], pair["missing"]
    if samples["only_base"] or samples["only_new"]:
        counts = f"{samples['only_base']:,} samples only in BASE and {samples['only_new']:,} only in NEW"
        yield f"{counts} are left out."
    if any(missing.values()):
        shares = f"{percent(missing['base'])} % of BASE's and {percent(missing['new'])} % of NEW's trials"
        yield f"{shares} have no score."


def _regressed(pair: GatePair) -> list[str]:
    if not pair["worse"]:
        return []
    more = f", the first {len(pair['regressed'])}" if pair["worse"] > len(pair["regressed"]) else ""
    lines = [f"  {count(pair['worse'], 'sample')} scored lower and {pair['better']:,} higher{more}:"]
    for fall in pair["regressed"]:
        answers = f"  {_quoted(fall['base_answer'])} → {_quoted(fall['new_answer'])}"
        lines.append(
            f"    {fall['sample_id']}  {fall['task']}  {fall['base']:.2f} → {fall['new']:.2f}{answers}"
        )
    return lines


def gate_markdown(report: GateReport) -> str:
    """The same as Markdown, for the summary of a build or a comment on a pull request."""
    end = "passed" if report["passed"] else "not passed"
    lines = [
        f"## Gnomon gate: {end}",
        "",
        escape_markdown(_headline(report)),
        "",
        "| | finding | BASE | NEW | difference | 90 % interval | samples | clusters | p | passes from |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(_row(pair) for pair in report["pairs"]),
        "",
    ]
    for pair in report["pairs"]:
        lines += [f"**{escape_markdown(pair['label'])}**: {escape_markdown(sentence(pair))}", ""]
        if pair["regressed"]:
            first = f", the first {len(pair['regressed'])}" if pair["worse"] > len(pair["regressed"]) else ""
            title = f"{count(pair['worse'], 'sample')} scored lower, {pair['better']:,} higher{first}"
            lines += [
                f"<details><summary>{title}</summary>",
                "",
                "| sample | task | BASE | NEW | answers |",
                "|---|---|---|---|---|",
            ]
            lines += [_fall_row(fall) for fall in pair["regressed"]]
            lines += ["", "</details>", ""]
    return "\n".join([*lines, *(escape_markdown(note) for note in report["notes"])]).rstrip() + "\n\n"


def _fall_row(fall: Regression) -> str:
    answers = f"{_quoted(fall['base_answer'])} → {_quoted(fall['new_answer'])}"
    cells = [fall["sample_id"], fall["task"], f"{fall['base']:.2f}", f"{fall['new']:.2f}", answers]
    return f"| {' | '.join(map(escape_markdown, cells))} |"


def _row(pair: GatePair) -> str:
    cells = [
        escape_markdown(pair["label"]),
        f"**{'nothing changed' if _is_unchanged(pair) else WORDS[pair['finding']]}**",
        f"{percent(pair['base_mean'])} %",
        f"{percent(pair['new_mean'])} %",
        "–" if pair["diff"] is None else points(pair["diff"]),
        points_range(pair["ci90"]),
        f"{pair['n']:,} of {pair['samples']['both']:,}",
        clusters_cell(pair),
        "–" if pair["p"] is None else p_text(pair["p"]),
        "–" if pair["passes_from"] is None else _points(pair["passes_from"], up=True),
    ]
    return f"| {' | '.join(cells)} |"


def _points(value: float | None, *, up: bool = False) -> str:
    """A size in points; rounded `up` where less would be a promise too much.

    >>> _points(0.05), _points(0.0312, up=True), _points(0.01)
    ('5 points', '3.2 points', '1 point')
    """
    tenths = 1000 * (value or 0.0)
    rounded = (-(-tenths // 1) if up and abs(tenths - round(tenths)) > 1e-6 else round(tenths)) / 10
    return f"{rounded:g} point" if rounded == 1 else f"{rounded:g} points"


def _quoted(answer: str | None) -> str:
    return "no answer" if answer is None else f"“{' '.join(answer.split())}”"

"""Writes the gallery docs/cards/ from what `make cards` has run: a picture and sentences a server."""

import json
from collections import defaultdict
from typing import Any

from gnomon.report.text_formats import points, points_brackets
from gnomon_analyses.paper.chart_file import charts_in
from gnomon_analyses.server_cards import ServerCard, card_picture, card_sentences
from scripts.evidence import CARDS, FOLDER, ROOT
from scripts.marked_text import replace_between

GALLERY = ROOT / "docs" / "cards"
BEGIN, END = "<!-- made by make cards -->\n", "<!-- end of what is made -->\n"
ARMS = ("raw", "live", "schema_only", "placebo")
MODELS = ("qwen2.5-coder-1.5b", "rules")
VERDICTS = {"undecided": "cannot be told"}  # others stand as they are


def main() -> None:
    """Write the pictures, the seals and the made part of the page."""
    table = [
        "| server | its tools against none, 1.5B | rules | calls | tokens | schemas | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    sections = []
    for server in CARDS:
        folder = FOLDER / f"card-{server}"
        if not (folder / "seal.ndjson").exists():
            continue
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        rows = [
            json.loads(line) for line in (folder / "rows.ndjson").read_text(encoding="utf-8").splitlines()
        ]
        real, rules = (card_of(report, model) for model in MODELS)
        chart = next(chart for chart in charts_in(card_picture(real)) if chart.size == "at-wide")
        (GALLERY / f"{server}.svg").write_text(chart.svg, encoding="utf-8")
        table.append(row_of(server, real, rules))
        seal = (folder / "seal.ndjson").read_text(encoding="utf-8").splitlines()
        sections += ["", *section_of(server, real, rows), sealed(*map(json.loads, seal[:2]))]
    replace_between(GALLERY / "README.md", BEGIN, END, "\n".join(["", *table, *sections, ""]))


def card_of(report: dict[str, Any], model: str) -> ServerCard:
    """The card of a model."""
    card: ServerCard = next(card for card in report["server_cards"] if card["model"] == model)
    return card


def row_of(server: str, real: ServerCard, rules: ServerCard) -> str:
    """A line of the table."""
    without, with_it = real["cost"]
    verdict = VERDICTS.get(real["verdict"], real["verdict"])
    tokens = [(row["prompt_tokens"] or 0) + (row["completion_tokens"] or 0) for row in (without, with_it)]
    return (
        f"| [{server}](#{server}) | {worth(real)}: {verdict} | {worth(rules)}"
        f" | {with_it['tool_calls']:.1f}, {with_it['model_calls']:.1f} | {tokens[0]:,.0f} → {tokens[1]:,.0f}"
        f" | {real['schema_tokens']:,.0f}"
        f" | {without['wall_s']:.1f} → {with_it['wall_s']:.1f} |"
    )


def worth(card: ServerCard) -> str:
    """The gain of all tools in points, with its interval."""
    return "withheld" if card["diff"] is None else f"{points(card['diff'])}{points_brackets(card['ci95'])}"


def section_of(server: str, real: ServerCard, rows: list[dict[str, Any]]) -> list[str]:
    """What one card says: sentences, right answers by kind of question, and the picture."""
    spec = f"[`{server}.yaml`](../../examples/cards/{server}.yaml)"
    told = (sentence for sentence in card_sentences(real) if not sentence.startswith("A trial takes "))
    return [
        f"### {server}",
        "",
        " ".join(told),
        "",
        *right_by_kind(rows),
        "",
        f"![what the tools of {server} are worth to the model]({server}.svg)",
        "",
        f"Spec: {spec}.",
    ]


def right_by_kind(rows: list[dict[str, Any]]) -> list[str]:
    """A table of right answers by kind of question and arm; a sentence where there is none."""
    right: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["model"] == MODELS[0] and row["score"] is not None:  # None: the trial is missing
            right[row["task"], row["arm"]].append(row["score"])
    if not any(map(any, right.values())):
        return [f"Right answers: none, in {', '.join(ARMS[:-1])} and {ARMS[-1]} alike."]
    table = [f"| questions | of | {' | '.join(ARMS)} |", "|---" * (2 + len(ARMS)) + "|"]
    for task in sorted({task for task, _ in right}):
        cells = [right[task, arm] for arm in ARMS]
        asked = max(map(len, cells))
        counts = (f"{sum(cell):g}{f' of {len(cell)}' if len(cell) < asked else ''}" for cell in cells)
        table.append(f"| {task} | {asked} | {' | '.join(counts)} |")
    return table


def sealed(planned: dict[str, Any], results: dict[str, Any]) -> str:
    """The seal in short; whole it names folders of the machine that the job ran on."""
    plan = f"plan `{results['previous'][:12]}…` of {planned['at'][:16].replace('T', ' ')}"
    return f"[Sealed](../seal.md): job `{planned['job']}`, {plan}, results of {results['at'][11:16]}."


if __name__ == "__main__":
    main()

"""Writes a build's report as JSON and Markdown: calibration, cleaning, rules, questions, with counts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Write `report.json` and `report.md`."""
    (folder / "report.json").write_text(
        json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (folder / "report.md").write_text("\n".join(in_markdown(report)) + "\n", encoding="utf-8")


def in_markdown(report: Mapping[str, Any]) -> Iterator[str]:
    """The report's lines."""
    place, published = report["place"], report["published"]
    yield f"# Questions of {report['site']}"
    yield ""
    targets = " and ".join(f"{count:,} {kind}s" for kind, count in report["targets_by_kind"].items())
    yield (
        f"{published['published']} questions from {report['boxes']:,} boxes of {targets}: {place['trips']}"
        f" trips past {place['cameras']} cameras ({place['with_two_sightings']} of them past two or more),"
        f" {place['synthetic']} synthetic cameras." + (f" Roads: {place['roads']}." if place["roads"] else "")
    )
    for note in report["notes"]:
        yield f"- {note}"
    yield from ("", "## Questions", "", "| task | kept | dropped by a rule | repeated | no question |")
    yield "|---|---|---|---|---|"
    for task, counts in report["tasks"].items():
        yield f"| {task} | {counts['kept']} | {counts['dropped']} | {counts['repeated']} | {counts['none']} |"
    yield ""
    for task, reasons in report.get("reasons", {}).items():
        for reason, count in reasons.items():
            yield f"- {task}, {count} attempts: {reason}."
    yield from (
        "",
        "## Rules",
        "",
        "| rule | measures | limit | dropped | of | near |",
        "|---|---|---|---|---|---|",
    )
    for rule in report["rules"]:
        limit = f"{'≥' if rule['at_least'] else '≤'} {rule['limit']:g} {rule['unit']}".strip()
        counts = f"{rule['dropped']} | {rule['of']} | {rule['near']}"
        yield f"| {rule['rule']} | {rule['what']} | {limit} | {counts} |"
    yield ""
    yield (
        f"{published['in_review']} questions near a limit are in review.ndjson;"
        f" {published['dropped_by_review']} were dropped by review."
    )
    yield from ("", "## Cleaning", "", "| step | what | count | of |", "|---|---|---|---|")
    for count in report["cleaning"]:
        yield f"| {count['step']} | {count['what']} | {count['count']:,} | {count['of']:,} {count['unit']} |"
    yield from (
        "",
        "## Calibration",
        "",
        "| camera | from | RMS (m) | of pairs left out (m) | pairs | outliers | position (m) |",
    )
    yield "|---|---|---|---|---|---|---|"
    for camera in report["calibration"]:
        rms, held_out = or_dash(camera["rms_m"], ".3f"), or_dash(camera["held_out_m"], ".3f")
        eye = "–" if camera["eye_m"] is None else "{:.1f}, {:.1f}".format(*camera["eye_m"])
        left_out = ", ".join(map(str, camera["outliers"])) or "–"
        pairs = len(camera["residuals_m"]) or "–"
        cells = (camera["camera"], camera["source"], rms, held_out, str(pairs), left_out, eye)
        yield f"| {' | '.join(cells)} |"


def review_in_markdown(queue: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The questions near a limit for a person to read, each with the raw rows that it stands on."""
    yield f"# To review: {len(queue)} questions near a limit, the most doubtful first"
    for line in queue:
        near = (f"{name} {at['value']:g} (limit {at['limit']:g})" for name, at in line["near"].items())
        right = line["truth"] if isinstance(line["truth"], list) else [line["truth"]]
        yield from ("", f"## {line['sample_id']}", "", f"Near a limit: {', '.join(near)}.", "")
        yield from (line["question"], "")
        yield from (
            f"- {choice}{' (told as right)' if choice in right else ''}" for choice in line["choices"]
        )
        yield from ("", "| target | camera | in the question | rows | first: s, frame, box | last |")
        yield "|---|---|---|---|---|---|"
        for row in line["rows"]:
            ends = [
                ", ".join(f"{number:g}" for number in row.get(end, [])) or "–" for end in ("first", "last")
            ]
            cells = (row["target"], row["camera"], row["shown_as"] or "–", row["rows"], *ends)
            yield f"| {' | '.join(map(str, cells))} |"


def or_dash(value: float | None, form: str) -> str:
    """A number in a form such as `.3f`; a dash where there is none."""
    return "–" if value is None else format(value, form)

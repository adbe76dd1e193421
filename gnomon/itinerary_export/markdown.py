"""A trip as Markdown: a table a day, what is wrong with it, and whose data it rests on."""

from gnomon.itinerary_export.result import TripResult
from tools.itinerary.plan import Day

MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|"})


def to_markdown(result: TripResult) -> str:
    """The plan for reading; whatever comes from outside is escaped."""
    plan = result.plan
    lines = [f"# {_plain(result.title)}", ""]
    if plan.status == "refused":
        lines += [result.refusal, ""]
        lines += [f"- {_plain(one)}" for one in plan.conflict or ("not named",)]
    else:
        cost = plan.totals.cost
        money = f", {cost.amount:.2f} {cost.currency}" if cost else ""
        lines.append(
            f"{plan.totals.metres / 1000:.1f} km in {plan.totals.minutes} minutes on the way{money}."
        )
    for number, day in enumerate(plan.days, 1):
        lines += ["", f"## Day {number}: {day.date:%A %d %B %Y}", "", *_table(result, day)]
    lines += ["", "## Checks", ""]
    lines += [_fault(one) for one in result.violations] or [_passed(result)]
    if plan.skipped:
        lines += ["", *(f"- Left out: {_plain(one.place)} ({_plain(one.reason)})" for one in plan.skipped)]
    lines += ["", *(f"- {_plain(line)}" for line in plan.assumptions)]
    lines += ["", "Data: " + "; ".join(map(_plain, plan.attributions))] if plan.attributions else []
    return "\n".join(lines).rstrip() + "\n"


def _table(result: TripResult, day: Day) -> list[str]:
    rows = ["| arrive | leave | place | way there | open that day | cost |", "|---|---|---|---|---|---|"]
    rows.append(f"|  |  | start: {_plain(day.start.name)} |  |  |  |")
    for visit, leg in zip(day.visits, day.legs, strict=False):
        cost = f"{visit.cost.amount:.2f} {visit.cost.currency}" if visit.cost else ""
        kind = visit.place.kind.replace("_", " ")
        place = f"**{_plain(visit.place.name)}** ({_plain(kind)})" if kind else _plain(visit.place.name)
        way = f"{leg.minutes} min, {leg.metres} m {leg.mode}"
        opened = result.open_on(visit, day.date.isoformat())
        rows.append(f"| {visit.arrive} | {visit.leave} | {place} | {way} | {opened} | {cost} |")
    if day.legs:
        last = day.legs[-1]
        way = f"{last.minutes} min, {last.metres} m {last.mode}"
        rows.append(f"|  |  | end: {_plain(day.end.name)} | {way} |  |  |")
    return rows


def _fault(one: object) -> str:
    told = dict(one) if isinstance(one, dict) else {}
    text = f"expected {told.get('expected')}, found {told.get('found')}"
    return f"- {told.get('severity')} {told.get('code')} at `{told.get('path')}`: {_plain(text)}"


def _passed(result: TripResult) -> str:
    if result.plan.status == "refused":
        return "- Refused, with the constraints named above."
    return f"- Every check holds (places, walking times, opening hours; by {_plain(result.verified_by)})."


def _plain(text: str) -> str:
    r"""Text that means nothing but itself.

    >>> _plain("a|b <i>")
    'a\\|b \\<i\\>'
    """
    return " ".join(text.split()).translate(MARKS)

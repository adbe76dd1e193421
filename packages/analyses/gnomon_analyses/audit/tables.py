"""Prints the findings of an audit as tables on a terminal."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from gnomon.core.audit_plugin import VIEWS, View
from gnomon.core.sample import DataFault
from gnomon.report.text_formats import count as counted
from gnomon_analyses.audit.findings import Findings, Letters, ShortcutAccuracy

EXAMPLES = 3  # faults of a kind that are shown in full

Row = Mapping[View, ShortcutAccuracy]


def tables(findings: Findings) -> Iterator[Table | str]:
    """How often each shortcut is right, where the right answers are, what is wrong, and the verdict."""
    n = sum(findings.samples.values())
    sizes = f"{counted(n, 'sample')} in {counted(len(findings.samples), 'cell')}"
    yield f"{findings.benchmark} {findings.version}: {sizes}"
    yield escape(lead(findings))
    if findings.by_level:
        yield _levels(findings.by_level)
    rows = _rows([accuracy for accuracy in findings.accuracies if accuracy.view != "steps"])
    for kind, title in (("leak", "Leaks of a protocol"), ("floor", "Floors: regularities of the questions")):
        chosen = [row for row in rows if _first(row).kind == kind]
        telling = [row for row in chosen if _tells(row)]
        if telling:
            yield _accuracies(title, telling)
        quiet = sorted({_first(row).shortcut for row in chosen} - {_first(row).shortcut for row in telling})
        if quiet:
            yield f"Found nowhere: {'; '.join(quiet)}."
    of_steps = _rows([accuracy for accuracy in findings.accuracies if accuracy.view == "steps"])
    if telling := [row for row in of_steps if _tells(row)]:
        yield _accuracies("True steps: words, one look-up, the whole way", telling, ("steps",))
    if findings.letters:
        yield _letters(findings.letters)
    yield from map(escape, findings.remarks)
    yield _faults(findings.faults, findings.fault_counts) if findings.faults else "No faults in the data."
    for view, unread in findings.unread.items():
        if unread:
            have = "has" if unread == n == 1 else "have"
            yield f"{view}: {unread:,} of {counted(n, 'sample')} {have} no options that the audit can read"
    yield _verdict(findings)


def lead(findings: Findings) -> str:
    """The rules that beat chance under the guarded prompt, each with its rate over all cells it is tried in.

    Where questions have several levels: by level, from the first of them.

    What the guarded prompt promises to withhold counts as a leak; what lies in the questions themselves is a
    baseline, below which an arm's score means little.
    """
    levels = dict.fromkeys(accuracy.cell for accuracy in findings.by_level)
    if len(levels) > 1:
        rules = {level: [rule for rule in findings.by_level if rule.cell == level] for level in levels}
        return " ".join(
            f"{level.capitalize()}: {_beating(of_level, has_cells=False)}"
            for level, of_level in rules.items()
        )
    return _beating(findings.accuracies)


def _beating(accuracies: Sequence[ShortcutAccuracy], *, has_cells: bool = True) -> str:
    """The rules of these that beat chance under the guarded prompt, leaks first; `has_cells` names cells."""
    by_rule: dict[tuple[str, str], list[ShortcutAccuracy]] = defaultdict(list)
    for accuracy in accuracies:
        if accuracy.view == "guarded" and accuracy.applies and accuracy.chance is not None:
            by_rule[accuracy.kind, accuracy.shortcut].append(accuracy)
    named: dict[str, list[tuple[float, str]]] = {"leak": [], "floor": []}
    for (kind, shortcut), cells in by_rule.items():
        n = sum(accuracy.n for accuracy in cells)
        beating = [accuracy for accuracy in cells if accuracy.beats_chance]
        if beating:
            rate = sum(accuracy.value * accuracy.n for accuracy in cells) / n
            names = ", ".join(accuracy.cell for accuracy in beating)
            where = f"; above chance in {names}" if has_cells else ""
            named[kind].append((rate, f"{shortcut} ({100 * rate:.0f} % of {n:,}{where})"))
    if not any(named.values()):
        tried = counted(len(by_rule), "rule")
        return f"No rule beats chance under the guarded prompt, of {tried} that could be tried."
    told = {kind: "; ".join(text for _, text in sorted(rules, reverse=True)) for kind, rules in named.items()}
    baselines = (
        f"Baselines that beat chance, in the questions themselves: {told['floor']}." if told["floor"] else ""
    )
    leaks = (
        f"LEAKS that beat chance, though the prompt should withhold them: {told['leak']}."
        if told["leak"]
        else ""
    )
    return " ".join(filter(None, (leaks, baselines)))


def _levels(accuracies: Sequence[ShortcutAccuracy]) -> Table:
    """Each rule's rate at each level under the guarded prompt, over all cells it is tried in."""
    levels = list(dict.fromkeys(accuracy.cell for accuracy in accuracies))
    by_rule: dict[str, dict[str, ShortcutAccuracy]] = defaultdict(dict)
    for accuracy in accuracies:
        if accuracy.view == "guarded" and accuracy.chance is not None:
            by_rule[accuracy.shortcut][accuracy.cell] = accuracy
    table = Table(
        title="By level, guarded prompt, in %",
        caption="right [95 % interval] hits/applies; chance counts where a rule does not apply; –: never",
    )
    table.add_column("shortcut")
    for heading in ("chance", *levels):
        table.add_column(heading, justify="right")
    for shortcut, by_level in by_rule.items():
        if any(map(_found, by_level.values())):
            chances = dict.fromkeys(_percent(accuracy.chance) for accuracy in by_level.values())
            cells = [_cell(by_level.get(level)) for level in levels]
            table.add_row(escape(shortcut), " / ".join(chances), *cells)
    return table


def _rows(accuracies: Sequence[ShortcutAccuracy]) -> list[Row]:
    rows: dict[tuple[str, str], dict[View, ShortcutAccuracy]] = defaultdict(dict)
    for accuracy in accuracies:
        rows[accuracy.shortcut, accuracy.cell][accuracy.view] = accuracy
    order = list(dict.fromkeys(shortcut for shortcut, _ in rows))
    return [rows[key] for key in sorted(rows, key=lambda key: (order.index(key[0]), key[1]))]


def _first(row: Row) -> ShortcutAccuracy:
    return next(iter(row.values()))


def _tells(row: Row) -> bool:
    """Whether the rule applies anywhere; for a rule with chance 0, whether it was ever right."""
    return any(map(_found, row.values()))


def _found(accuracy: ShortcutAccuracy) -> bool:
    return bool(accuracy.applies) and (accuracy.chance != 0 or accuracy.value > 0)


def _accuracies(title: str, rows: Sequence[Row], views: Sequence[View] = VIEWS) -> Table:
    table = Table(
        title=f"{title}, in %",
        caption="right [95 % interval] hits/applies; chance counts where a rule does not apply; –: never",
    )
    for heading in ("shortcut", "cell"):
        table.add_column(heading)
    for heading in ("n", "chance", *views):
        table.add_column(heading, justify="right")
    for row in rows:
        first = _first(row)
        chances = dict.fromkeys(_percent(accuracy.chance) for accuracy in row.values())
        cells = [_cell(row.get(view)) for view in views]
        table.add_row(escape(first.shortcut), first.cell, str(first.n), " / ".join(chances), *cells)
    return table


def _cell(accuracy: ShortcutAccuracy | None) -> str:
    if accuracy is None or not accuracy.applies:
        return "–"
    interval = f" \\[{_percent(accuracy.ci95[0])}, {_percent(accuracy.ci95[1])}]" if accuracy.ci95 else ""
    text = f"{100 * accuracy.value:.1f}{interval} {accuracy.hits:.1f}/{accuracy.applies}"
    return (
        f"[bold red]{text}[/]" if accuracy.survives else f"[bold]{text}[/]" if accuracy.beats_chance else text
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}"


def _letters(letters: Sequence[Letters]) -> Table:
    table = Table(title="Where the right answer stands", caption="always the commonest letter: best, in %")
    for heading in ("cell", "prompt", "n", "times right by letter", "best", "chance"):
        table.add_column(heading, justify="left" if heading in ("cell", "prompt") else "right")
    for row in letters:
        counts = " ".join(f"{letter} {count}" for letter, count in row.counts.items())
        best, chance = _percent(row.best), _percent(row.chance)
        table.add_row(row.cell, row.view, str(row.n), counts, best, chance)
    return table


def _faults(faults: Sequence[DataFault], counts: Mapping[str, int]) -> Table:
    table = Table(title="Faults in the data", caption="all cases: --json")
    for heading in ("kind", "count", "for example"):
        table.add_column(heading, justify="right" if heading == "count" else "left")
    for kind, count in counts.items():
        examples = [fault for fault in faults if fault.kind == kind][:EXAMPLES]
        texts = (escape(": ".join(filter(None, (example.sample_id, example.detail)))) for example in examples)
        table.add_row(kind, str(count), "\n".join(texts))
    return table


def _verdict(findings: Findings) -> str:
    under_guard = [accuracy for accuracy in findings.accuracies if accuracy.view == "guarded"]
    leaks = {accuracy.shortcut for accuracy in under_guard if accuracy.kind == "leak"}
    if findings.surviving:
        by_view: dict[str, list[str]] = defaultdict(list)
        for accuracy in findings.surviving:
            place = "the true steps" if accuracy.view == "steps" else "the guarded prompt"
            by_view[place].append(f"{accuracy.shortcut} in {accuracy.cell}")
        return "; ".join(f"LEAKS SURVIVE {place}: {'; '.join(names)}" for place, names in by_view.items())
    if not leaks:
        return _untested(findings, baselines_n=len({accuracy.shortcut for accuracy in under_guard}))
    idle_n = len(leaks - {accuracy.shortcut for accuracy in under_guard if accuracy.applies})
    idle = f"; {idle_n} of them {'finds' if idle_n == 1 else 'find'} nothing there to go by" if idle_n else ""
    tried = (
        f"of {counted(len(leaks), 'rule')} for leaks that {'was' if len(leaks) == 1 else 'were'} tried on it"
    )
    return (
        f"No leak is seen to survive the guarded prompt: {tried}, none is significantly above chance{idle}."
    )


def _untested(findings: Findings, *, baselines_n: int) -> str:
    """Says why no leak was tested, and how many baselines were tried on the guarded prompt."""
    if not baselines_n:
        n = sum(findings.samples.values())
        return (
            "No leak could be tested under the guarded prompt, so none is ruled out: "
            f"no rule was tried on any of {counted(n, 'sample')}."
        )
    of_leaks = {accuracy.shortcut for accuracy in findings.accuracies if accuracy.kind == "leak"}
    leak_rules = (
        f"{counted(len(of_leaks), 'rule')} for leaks, of other views" if of_leaks else "no rule for a leak"
    )
    return (
        f"Whether the guarded prompt leaks was not tested: of {counted(baselines_n, 'rule')} tried on it, "
        "none looks for what that prompt should withhold. All are baselines: what they find lies in the "
        f"questions themselves. {findings.benchmark} has {leak_rules}."
    )

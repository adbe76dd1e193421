"""Audits a benchmark: opens it under both protocols and measures what its questions give away."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gnomon.core.audit_plugin import (
    AnswerOptions,
    AuditPlugin,
    HasRemarks,
    NamesLevels,
    ShortcutGuess,
    View,
    find_audit_plugin,
    guess,
)
from gnomon.core.benchmark import Benchmark, PromptProtocol
from gnomon.core.errors import DataError
from gnomon.core.ids import stable_hash
from gnomon.core.option_features import OffersFeatures
from gnomon.core.sample import DataFault, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.report.cluster_codes import plain_design
from gnomon.statistics.mean import mean_score, share_interval
from gnomon_analyses.audit.adversary import LACKING, is_installed, try_adversary
from gnomon_analyses.audit.findings import Findings, Letters, ShortcutAccuracy


def try_lengths(options_of: Mapping[str, AnswerOptions], view: View) -> Iterator[ShortcutGuess]:
    """Pick the longest or the shortest option by characters; none if all have the same length."""
    for name, choose in (("longest option", max), ("shortest option", min)):
        for sample_id, offered in options_of.items():
            lengths = [len(option) for option in offered.options]
            left = [index for index, length in enumerate(lengths) if length == choose(lengths)]
            guessed = left if len(left) < len(lengths) else None
            yield guess(name, "floor", view, sample_id, left=guessed, offered=offered)


def sample_faults(samples: Sequence[Sample]) -> Iterator[DataFault]:
    """Samples with absent media, and groups of samples with the same prompt."""
    by_prompt: dict[str, list[str]] = defaultdict(list)
    for sample in samples:
        if sample.missing:
            name, count = sample.missing[0], len(sample.missing)
            detail = name if count == 1 else f"{count} absent, first {name}"
            yield DataFault(sample_id=sample.ref.sample_id, kind="missing_media", detail=detail)
        by_prompt[stable_hash(sample.messages())].append(sample.ref.sample_id)
    for first, *others in by_prompt.values():
        if others:
            detail = f"the prompt is also that of {', '.join(others)}"
            yield DataFault(sample_id=first, kind="same_prompt", detail=detail)


def option_faults(options_of: Mapping[str, AnswerOptions]) -> Iterator[DataFault]:
    """Samples that list an option twice."""
    for sample_id, offered in options_of.items():
        twice = [option for option in dict.fromkeys(offered.options) if offered.options.count(option) > 1]
        if twice:
            is_right = any(offered.options[index] in twice for index in offered.right)
            detail = f"{'; '.join(twice)} ({'the right one' if is_right else 'not the right one'})"
            yield DataFault(sample_id=sample_id, kind="duplicate_option", detail=detail)


Key = tuple[str, str, View]


def shortcut_accuracies(
    guesses: Iterable[ShortcutGuess], refs: Mapping[str, SampleRef]
) -> tuple[ShortcutAccuracy, ...]:
    """How often each shortcut is right in each cell and view, in the order in which they were first tried."""
    groups: dict[Key, list[ShortcutGuess]] = defaultdict(list)
    for attempt in guesses:
        groups[attempt.shortcut, refs[attempt.sample_id].cell, attempt.view].append(attempt)
    return tuple(_accuracy(cell, group, refs) for (_, cell, _), group in groups.items())


def _accuracy(cell: str, guesses: Sequence[ShortcutGuess], refs: Mapping[str, SampleRef]) -> ShortcutAccuracy:
    grouping = plain_design([refs[attempt.sample_id].cluster for attempt in guesses])
    values = np.array([attempt.value for attempt in guesses])
    mean, estimate = mean_score(values, grouping), grouping.estimate(values, limits=(0.0, 1.0))
    chances = [attempt.chance for attempt in guesses if attempt.chance is not None]
    applied = [attempt for attempt in guesses if attempt.applies]
    return ShortcutAccuracy(
        shortcut=guesses[0].shortcut,
        kind=guesses[0].kind,
        cell=cell,
        view=guesses[0].view,
        n=len(guesses),
        applies=len(applied),
        hits=sum(attempt.value for attempt in applied),
        value=mean.mean,
        chance=sum(chances) / len(chances) if chances else None,
        clusters=mean.clusters,
        ci95=mean.ci95 if applied else None,
        ci99=share_interval(estimate, 0.99, is_rare=False) if applied and estimate.se is not None else None,
        method=mean.method if applied else "none: it never applies",
    )


def letters(
    options_of: Mapping[str, AnswerOptions], refs: Mapping[str, SampleRef], view: View
) -> tuple[Letters, ...]:
    """How often each letter is right, cell by cell."""
    cells: dict[str, list[AnswerOptions]] = defaultdict(list)
    for sample_id, offered in options_of.items():
        cells[refs[sample_id].cell].append(offered)
    return tuple(_letters(cell, cells[cell], view) for cell in sorted(cells))


def _letters(cell: str, questions: Sequence[AnswerOptions], view: View) -> Letters:
    right = Counter(question.right[0] for question in questions)
    most = max(len(question.options) for question in questions)
    return Letters(
        cell=cell,
        view=view,
        n=len(questions),
        counts={chr(ord("A") + index): right[index] for index in range(most)},
        best=max(right.values()) / len(questions),
        chance=sum(1 / len(question.options) for question in questions) / len(questions),
    )


PROTOCOLS: tuple[PromptProtocol, ...] = ("official", "guarded")
Progress = Callable[[int, int], None]  # samples read, samples in all


def audit(
    benchmark: Benchmark,
    *,
    data: Path | None,
    select: Select,
    media: MediaStore,
    progress: Progress | None = None,
) -> Findings:
    """Measure shortcuts, answer letters and faults of the selected samples; calls no model.

    Raises:
        DataError: `data` is not the benchmark's layout, or the selection is empty.
        SpecError: `select` names a task or scene that does not exist.
    """
    sets = {
        protocol: benchmark.open(data=data, select=select, protocol=protocol, media=media)
        for protocol in PROTOCOLS
    }
    refs = sets["official"].refs
    if not refs:
        raise DataError("no usable sample in this selection", field="data")
    faults = list(sets["official"].faults)
    # The guarded protocol may leave out a question that cannot be answered.
    offered = {protocol: {ref.sample_id for ref in sample_set.refs} for protocol, sample_set in sets.items()}
    samples: dict[PromptProtocol, list[Sample]] = {protocol: [] for protocol in PROTOCOLS}
    for done, ref in enumerate(refs, start=1):
        try:
            both = {
                protocol: sample_set.get(ref.sample_id)
                for protocol, sample_set in sets.items()
                if ref.sample_id in offered[protocol]
            }
        except DataError as error:
            faults.append(DataFault(sample_id=ref.sample_id, kind="broken", detail=str(error)))
            continue
        for protocol, sample in both.items():
            samples[protocol].append(sample)
        if progress is not None:
            progress(done, len(refs))
    return _findings(benchmark, samples, faults)


def _findings(
    benchmark: Benchmark, samples: dict[PromptProtocol, list[Sample]], faults: Sequence[DataFault]
) -> Findings:
    plugin = find_audit_plugin(benchmark.name)
    official = samples["official"]
    refs = {sample.ref.sample_id: sample.ref for sample in official}
    options_of = {
        protocol: _answer_options(plugin, view_samples) for protocol, view_samples in samples.items()
    }
    cells = sorted(ref.cell for ref in refs.values())
    levels = {
        sample.ref.sample_id: replace(sample.ref, cell=level)
        for sample in (official if isinstance(plugin, NamesLevels) else ())
        if (level := plugin.level_of(sample))
    }
    guesses = [*(plugin.try_shortcuts(samples) if plugin else ())]
    for protocol in PROTOCOLS:
        guesses += try_lengths(options_of[protocol], protocol)
    offered: object = plugin
    remarks = [*offered.remarks(official)] if isinstance(offered, HasRemarks) else []
    if isinstance(offered, OffersFeatures):
        if is_installed():
            named = {sample_id: ref.cell for sample_id, ref in levels.items()}
            tables = offered.option_tables(samples["guarded"])
            guesses += try_adversary(tables, options_of["guarded"], refs, named)
        else:
            remarks.append(LACKING)
    return Findings(
        benchmark=benchmark.name,
        version=benchmark.version,
        samples={cell: cells.count(cell) for cell in dict.fromkeys(cells)},
        accuracies=shortcut_accuracies(guesses, refs),
        by_level=shortcut_accuracies((tried for tried in guesses if tried.sample_id in levels), levels),
        letters=tuple(row for protocol in PROTOCOLS for row in letters(options_of[protocol], refs, protocol)),
        faults=(
            *faults,
            *sample_faults(official),
            *option_faults(options_of["official"]),
            *(plugin.case_faults(official) if plugin else ()),
        ),
        remarks=tuple(remarks),
        unread={protocol: len(samples[protocol]) - len(options_of[protocol]) for protocol in PROTOCOLS},
    )


def _answer_options(plugin: AuditPlugin | None, samples: Sequence[Sample]) -> dict[str, AnswerOptions]:
    options_of = {sample.ref.sample_id: plugin.answer_options(sample) for sample in samples} if plugin else {}
    return {sample_id: offered for sample_id, offered in options_of.items() if offered is not None}

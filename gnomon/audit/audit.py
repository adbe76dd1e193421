"""Audit: open a benchmark under both protocols and measure what its questions give away."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gnomon.audit.findings import Findings
from gnomon.audit.generic import length_plays, option_faults, sample_faults
from gnomon.audit.hook import Asked, AuditPlugin, ShortcutGuess, find_audit_plugin
from gnomon.audit.worth import letters, shortcut_accuracies
from gnomon.core.benchmark import Benchmark, PromptProtocol, Select
from gnomon.core.errors import DataError
from gnomon.core.sample import DataFault, Sample
from gnomon.media import MediaStore

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
        SpecError: `select` names a task or scene there is not.
    """
    sets = {
        protocol: benchmark.open(data=data, select=select, protocol=protocol, media=media)
        for protocol in PROTOCOLS
    }
    refs = sets["official"].refs
    if not refs:
        raise DataError("no usable sample in this selection", field="data")
    faults = list(sets["official"].faults)
    # A question that nobody could answer may be left out by the guard.
    offered = {protocol: {ref.sample_id for ref in given.refs} for protocol, given in sets.items()}
    samples: dict[PromptProtocol, list[Sample]] = {protocol: [] for protocol in PROTOCOLS}
    for done, ref in enumerate(refs, start=1):
        try:
            both = {
                protocol: given.get(ref.sample_id)
                for protocol, given in sets.items()
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
    hook = find_audit_plugin(benchmark.name)
    official = samples["official"]
    refs = {sample.ref.sample_id: sample.ref for sample in official}
    asked = {protocol: _asked(hook, given) for protocol, given in samples.items()}
    cells = sorted(ref.cell for ref in refs.values())
    plays = [*(hook.plays(samples) if hook else ()), *_length_plays(asked)]
    return Findings(
        benchmark=benchmark.name,
        version=benchmark.version,
        samples={cell: cells.count(cell) for cell in dict.fromkeys(cells)},
        worths=shortcut_accuracies(plays, refs),
        letters=tuple(row for protocol in PROTOCOLS for row in letters(asked[protocol], refs, protocol)),
        faults=(
            *faults,
            *sample_faults(official),
            *option_faults(asked["official"]),
            *(hook.case_faults(official) if hook else ()),
        ),
        unread={protocol: len(samples[protocol]) - len(asked[protocol]) for protocol in PROTOCOLS},
    )


def _asked(hook: AuditPlugin | None, samples: Sequence[Sample]) -> dict[str, Asked]:
    told = {sample.ref.sample_id: hook.asked(sample) for sample in samples} if hook else {}
    return {sample_id: one for sample_id, one in told.items() if one is not None}


def _length_plays(asked: dict[PromptProtocol, dict[str, Asked]]) -> Iterator[ShortcutGuess]:
    for protocol in PROTOCOLS:
        yield from length_plays(asked[protocol], protocol)

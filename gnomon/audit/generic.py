"""Generic: shortcuts and faults that any benchmark may have."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from gnomon.audit.hook import Asked, ShortcutGuess, View, guess
from gnomon.core.ids import stable_hash
from gnomon.core.sample import DataFault, Sample


def length_plays(asked: Mapping[str, Asked], view: View) -> Iterator[ShortcutGuess]:
    """Picking the longest or the shortest option, by characters; does not apply where all are as long."""
    for name, choose in (("longest option", max), ("shortest option", min)):
        for sample_id, one in asked.items():
            lengths = [len(option) for option in one.options]
            left = [index for index, length in enumerate(lengths) if length == choose(lengths)]
            told = left if len(left) < len(lengths) else None
            yield guess(name, "floor", view, sample_id, left=told, asked=one)


def sample_faults(samples: Sequence[Sample]) -> Iterator[DataFault]:
    """Samples with absent media, and groups of samples that nobody can tell apart by their prompt."""
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


def option_faults(asked: Mapping[str, Asked]) -> Iterator[DataFault]:
    """Samples that list an option twice."""
    for sample_id, one in asked.items():
        twice = [option for option in dict.fromkeys(one.options) if one.options.count(option) > 1]
        if twice:
            is_right = any(one.options[index] in twice for index in one.right)
            detail = f"{'; '.join(twice)} ({'the right one' if is_right else 'not the right one'})"
            yield DataFault(sample_id=sample_id, kind="duplicate_option", detail=detail)

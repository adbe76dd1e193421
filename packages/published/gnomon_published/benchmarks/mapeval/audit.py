"""Audits MapEval: its options, what words give away, and which lines of the evidence tools answer from."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample
from gnomon_published.benchmarks.mapeval.loader import MapQuestion
from gnomon_published.benchmarks.mapeval.prompt import DisplayedOptions, options_of
from gnomon_tools.core.name_match import plain_name

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
MAX_QUOTED = 60  # characters of a line in a fault


def answer_options(sample: Sample) -> AnswerOptions:
    """The options as the sample's prompt names them; the one that says unanswerable is among them."""
    options = options_of(sample)
    names = list(options.texts)
    return AnswerOptions(options=tuple(options.texts.values()), right=(names.index(options.gold),))


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess the first option, unanswerable, the middle number, and what the evidence names first or most."""
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            offered = answer_options(sample)
            name = sample.ref.sample_id
            yield guess("first option", "leak", protocol, name, left=[0], offered=offered)
            for rule, left in _rules(sample).items():
                yield guess(rule, "floor", protocol, name, left=left, offered=offered)


def floors_of(sample: Sample) -> Mapping[str, float]:
    """The score of each rule that applies: 1 / options left if the right one is among them, else 0."""
    right = answer_options(sample).right[0]
    options = options_of(sample)
    texts = list(options.texts.values())
    rules = {"first option": [0], "longest option": _longest(texts, _real(options)), **_rules(sample)}
    return {rule: (right in left) / len(left) for rule, left in rules.items() if left}


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Lines of the evidence that are not behind any tool."""
    for sample in samples:
        evidence = _question(sample).evidence
        if evidence.left_over:
            first = evidence.left_over[0][:MAX_QUOTED]
            detail = f"{len(evidence.left_over)} of {evidence.lines} lines, first {first!r}"
            yield DataFault(sample_id=sample.ref.sample_id, kind="not_behind_tools", detail=detail)


def remarks(samples: Sequence[Sample]) -> Iterator[str]:
    """How many lines of the evidence are behind tools, in all and by pattern."""
    readings = [_question(sample).evidence for sample in samples]
    behind, lines = sum(r.behind_tools for r in readings), sum(r.lines for r in readings)
    whole = sum(not reading.left_over for reading in readings)
    by_pattern: Counter[str] = Counter()
    for reading in readings:
        by_pattern.update(reading.lines_by_pattern)
    whole_contexts = f"all of {whole} of {len(readings)} contexts"
    yield f"Lines of evidence behind tools: {behind:,} of {lines:,}; {whole_contexts}."
    yield f"By pattern: {', '.join(f'{name} {count:,}' for name, count in by_pattern.most_common())}."


def _rules(sample: Sample) -> Mapping[str, Sequence[int]]:
    """The options that each rule leaves; empty where it does not apply."""
    options = options_of(sample)
    names, texts = list(options.texts), list(options.texts.values())
    real = _real(options)
    return {
        "unanswerable": [names.index(options.unanswerable)],
        "middle number": _middle(texts, real),
        "named first in the evidence": _named(sample, texts, real, most=False),
        "named most in the evidence": _named(sample, texts, real, most=True),
    }


def _real(options: DisplayedOptions) -> list[int]:
    """The indices of the options that answer the question, without the unanswerable one."""
    return [
        index
        for index, (name, text) in enumerate(options.texts.items())
        if name != options.unanswerable and text.strip()
    ]


def _longest(texts: Sequence[str], real: Sequence[int]) -> list[int]:
    longest = max(len(texts[index]) for index in real)
    left = [index for index in real if len(texts[index]) == longest]
    return left if len(left) < len(real) else []


def _middle(texts: Sequence[str], real: Sequence[int]) -> list[int]:
    """The middle options, where each begins with a number and all differ."""
    numbers = {index: _NUMBER.findall(texts[index]) for index in real}
    values = {index: float(written[0]) for index, written in numbers.items() if written}
    if len(values) < max(3, len(real)) or len(set(values.values())) < len(values):
        return []
    order = sorted(values, key=lambda index: values[index])
    return order[(len(order) - 1) // 2 : len(order) // 2 + 1]


def _named(sample: Sample, texts: Sequence[str], real: Sequence[int], *, most: bool) -> list[int]:
    """The options whose words the evidence holds first, or most often."""
    evidence = plain_name(_question(sample).context)
    plain = {index: plain_name(texts[index]) for index in real}
    counts = {index: evidence.count(words) for index, words in plain.items() if words and words in evidence}
    if not counts:
        return []
    if most:
        return [index for index, count in counts.items() if count == max(counts.values())]
    return [min(counts, key=lambda index: evidence.find(plain[index]))]


def _question(sample: Sample) -> MapQuestion:
    question: MapQuestion = sample.target["question"]
    return question

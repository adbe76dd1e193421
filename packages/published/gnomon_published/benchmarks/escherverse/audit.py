"""Audits EscherVerse: its options, and whether their order or words give the answer."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample
from gnomon_published.benchmarks.escherverse.item import FILL_IN, LETTERS, MULTIPLE, SINGLE, TRUE_FALSE, Item
from gnomon_published.benchmarks.escherverse.prompt import gold_letters

SHORT = 2  # characters: nearly every longer text contains a gold so short


def answer_options(sample: Sample) -> AnswerOptions | None:
    """The options as the prompt lists them; for True/False the two words; none for blanks."""
    item: Item = sample.target["item"]
    if item.kind == TRUE_FALSE:
        words = ("True", "False")
        right = [at for at, word in enumerate(words) if word.lower() in item.answer.lower()]
        return AnswerOptions(options=words, right=tuple(right)) if len(right) == 1 else None
    gold = gold_letters(item) if item.is_choice else None
    return AnswerOptions(options=item.options, right=tuple(map(LETTERS.index, gold))) if gold else None


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Pick the place that is most often right elsewhere; pick the option that shares most words with the
    question. Both for single choices; a True/False is guessed by the commoner word.
    """
    for protocol, protocol_samples in samples.items():
        options_by_id = {
            sample.ref.sample_id: options
            for sample in protocol_samples
            if (options := answer_options(sample))
        }
        kinds = {sample.ref.sample_id: sample.target["item"].kind for sample in protocol_samples}
        videos = {sample.ref.sample_id: sample.ref.cluster for sample in protocol_samples}
        places = Counter(
            (kinds[name], videos[name], options.right[0]) for name, options in options_by_id.items()
        )
        totals = Counter[tuple[str, int]]()
        for (kind, _, at), count in places.items():
            totals[kind, at] += count
        for sample in protocol_samples:
            name, item = sample.ref.sample_id, sample.target["item"]
            if name not in options_by_id or item.kind not in {SINGLE, TRUE_FALSE}:
                continue
            elsewhere = [
                totals[item.kind, at] - places[item.kind, videos[name], at]
                for at in range(len(options_by_id[name].options))
            ]
            candidates = _most(elsewhere)
            yield guess(
                "place most often right in other videos",
                "leak",
                protocol,
                name,
                left=candidates,
                offered=options_by_id[name],
            )
            if item.kind == SINGLE:
                words = set(_words(item.body))
                shared = [len(words & set(_words(option))) for option in options_by_id[name].options]
                candidates = _most(shared)
                yield guess(
                    "words shared with the question",
                    "floor",
                    protocol,
                    name,
                    left=candidates,
                    offered=options_by_id[name],
                )


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Golds that the official rules reward too easily, or that do not fit their question's type."""
    for sample in samples:
        item: Item = sample.target["item"]
        name, letters = sample.ref.sample_id, gold_letters(item) if item.is_choice else None
        if item.kind == SINGLE and letters and len(letters) > 1:
            yield DataFault(
                sample_id=name, kind="gold", detail=f"a single choice with {len(letters)} letters"
            )
        if item.kind == MULTIPLE and letters and len(letters) == 1:
            yield DataFault(sample_id=name, kind="gold", detail="a multiple choice with one letter")
        if item.kind == FILL_IN and len(item.answer.strip()) <= SHORT:
            detail = f"{item.answer.strip()!r} is so short that most texts hold it, which scores officially"
            yield DataFault(sample_id=name, kind="easy_gold", detail=detail)
        if item.kind == TRUE_FALSE and answer_options(sample) is None:
            yield DataFault(sample_id=name, kind="gold", detail=f"{item.answer!r:.40} is neither word")


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 3]


def _most(counts: Sequence[int]) -> list[int] | None:
    """The indices of the largest count; None where all are equal."""
    largest = [index for index, count in enumerate(counts) if count == max(counts)]
    return largest if len(largest) < len(counts) else None

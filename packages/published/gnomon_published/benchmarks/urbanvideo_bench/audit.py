"""Audits UrbanVideo-Bench: its options, and whether words alone give the answer."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import DataFault, Sample
from gnomon_published.benchmarks.urbanvideo_bench.loader import split_question
from gnomon_published.benchmarks.urbanvideo_bench.prompt import displayed

_WORD = re.compile(r"\w{4,}")


def answer_options(sample: Sample) -> AnswerOptions | None:
    """The options as the sample's prompt letters them."""
    question = displayed(sample.target["question"], sample.target["protocol"])
    letters = list(question.options)
    if question.gold not in letters:
        return None
    return AnswerOptions(options=tuple(question.options.values()), right=(letters.index(question.gold),))


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess the option that shares most words with the question, and the one most like the other options."""
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            answers = answer_options(sample)
            if answers is None:
                continue
            question = _words(split_question(sample.target["question"].text)[0])
            options = [_words(option) for option in answers.options]
            by_question = _most([len(question & option) for option in options])
            by_others = _most(
                [
                    sum(len(option & other_option) for other_option in options if other_option is not option)
                    for option in options
                ]
            )
            name = sample.ref.sample_id
            yield guess("words of the question", "floor", protocol, name, left=by_question, offered=answers)
            yield guess(
                "option most like the others", "floor", protocol, name, left=by_others, offered=answers
            )


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Nothing beyond what the loader names."""
    del samples
    return ()


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _most(counts: Sequence[int]) -> list[int] | None:
    largest = [index for index, count in enumerate(counts) if count == max(counts)]
    return largest if len(largest) < len(counts) else None

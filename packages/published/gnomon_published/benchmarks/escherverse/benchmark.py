"""EscherVerse as a benchmark plug-in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Scoring, Varied
from gnomon.core.decoding import EVERY_TASK, Decoding
from gnomon.core.errors import DataError, SpecError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.sample import Sample
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.escherverse import question_view as shown
from gnomon_published.benchmarks.escherverse.item import CATEGORIES, SCENES, kind_of, split_question
from gnomon_published.benchmarks.escherverse.loader import open_samples
from gnomon_published.benchmarks.escherverse.scoring import VARIANTS, score_official, score_strict
from gnomon_tools.core.clip import Footage
from gnomon_tools.core.inputs import Need


class EscherVerse(PlainBenchmark):
    """Six categories; a cell is a category, the headline the mean over all questions."""

    name = "escherverse"
    version = "2"
    tasks = tuple(CATEGORIES.values())
    scenes: tuple[str, ...] = tuple(SCENES.values())
    variants: tuple[str, ...] = VARIANTS
    is_cpu_bound = True
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"
    provides: tuple[Need, ...] = (Footage, None)
    options: frozenset[Varied] = frozenset({"frames", "fps", "paper"})

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        if data is None:
            raise DataError("escherverse needs the folder of its published files", field="data")
        return open_samples(data=data, select=select, protocol=protocol, media=media)

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        item = sample.target["item"]
        if scoring == "strict":
            return score_strict(item.kind, item.answer, item.options, response)
        return score_official(item.question_type, item.answer, response, variant=_variant(variant))

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        variant = _variant(variant)
        question_type, answer = (_text(record, name) for name in ("question_type", "answer"))
        response = record.get("response")
        if "response" not in record or not (response is None or isinstance(response, str)):
            raise SpecError("a record needs a response, a text or null", field="response")
        if scoring == "official":
            return score_official(question_type, answer, response, variant=variant)
        question = record.get("question")
        options = split_question(question)[1] if isinstance(question, str) else ()
        return score_strict(kind_of(question_type), answer, options, response)

    def decoding(self, protocol: str) -> Mapping[str, Decoding]:
        """The released code allows 4,096 tokens, the paper names 8,192."""
        tokens = {"official": 4_096, "paper": 8_192}.get(protocol)
        return {EVERY_TASK: Decoding(temperature=0.0, max_tokens=tokens)} if tokens else {}

    question_view = staticmethod(shown.question_view)
    verdict_in_words = staticmethod(shown.verdict_in_words)


def _variant(variant: str | None) -> str:
    if variant is not None and variant not in VARIANTS:
        raise SpecError(f"no {variant!r}; allowed: {', '.join(VARIANTS)}", field="variant")
    return variant or VARIANTS[0]


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise SpecError("a record needs it, as a text", field=name)
    return value


escherverse: Benchmark = EscherVerse()

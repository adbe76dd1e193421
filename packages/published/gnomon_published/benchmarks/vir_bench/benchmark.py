"""VIR-Bench as a benchmark plug-in."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import (
    Benchmark,
    PromptProtocol,
    SampleSet,
    Scoring,
    Varied,
    reject_variant,
)
from gnomon.core.decoding import Decoding
from gnomon.core.errors import DataError, SpecError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.sample import Sample
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_published.benchmarks.vir_bench import official, strict
from gnomon_published.benchmarks.vir_bench import question_view as shown
from gnomon_published.benchmarks.vir_bench.drawing import graph_record, named_edges, node_record
from gnomon_published.benchmarks.vir_bench.journey import Journey, journey_from_json
from gnomon_published.benchmarks.vir_bench.loader import SPLITS, SUBTASKS, open_samples
from gnomon_published.benchmarks.vir_bench.official import prediction
from gnomon_published.gazetteer.japan import Gazetteer
from gnomon_tools.core.clip import Footage
from gnomon_tools.core.inputs import Need


class VirBench(PlainBenchmark):
    """Two subtasks for each video, nodes and edges; a cell is a subtask, scored by its overall F1."""

    name = "vir-bench"
    version = "2"
    tasks: tuple[str, ...] = SUBTASKS
    scenes: tuple[str, ...] = SPLITS
    official_scenes: tuple[str, ...] = ("test",)
    is_cpu_bound = True
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_cells"
    provides: tuple[Need, ...] = (Footage, Gazetteer, None)
    options: frozenset[Varied] = frozenset({"frames", "fps", "language"})

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        if data is None:
            raise DataError("vir-bench needs the folder of its published files", field="data")
        return open_samples(data=data, select=select, protocol=protocol, media=media)

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        reject_variant(self.name, variant)
        journey, subtask = sample.target["journey"], sample.target["subtask"]
        score = _score(journey, subtask, response, scoring)
        if score.answer is None:
            return score
        graph = _graph_of(journey, subtask, response, scoring)
        return replace(score, metrics={**score.metrics, "graph": graph})

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        reject_variant(self.name, variant)
        subtask, response = record.get("subtask"), record.get("response")
        if subtask not in SUBTASKS:
            raise SpecError(f"no {subtask!r}; allowed: {', '.join(SUBTASKS)}", field="subtask")
        if "response" not in record or not (response is None or isinstance(response, str)):
            raise SpecError("a record needs a response, a text or null", field="response")
        try:
            journey = journey_from_json(record.get("graph"))
        except DataError as error:
            raise SpecError(error.message, field=error.field) from None
        return _score(journey, subtask, response, scoring)

    def decoding(self, protocol: str) -> Mapping[str, Decoding]:
        """Greedy, as the released tasks set it."""
        tokens = {"node": 1_024, "edge": 4_096} if protocol == "official" else {}
        return {task: Decoding(temperature=0.0, max_tokens=limit) for task, limit in tokens.items()}

    question_view = staticmethod(shown.question_view)
    answer_sketch = staticmethod(shown.answer_sketch)
    verdict_in_words = staticmethod(shown.verdict_in_words)


def _score(journey: Journey, subtask: str, response: str | None, scoring: Scoring) -> Score:
    if scoring == "official":
        return (official.score_nodes if subtask == "node" else official.score_edges)(journey, response)
    return (strict.score_nodes if subtask == "node" else strict.score_edges)(journey, response)


def _graph_of(journey: Journey, subtask: str, response: str, scoring: Scoring) -> str:
    """What the report needs to draw an answer."""
    names = ("edges",) if subtask == "edge" else official.NODE_LEVELS
    reply = prediction(response) if scoring == "official" else strict.read_object(response, names)
    answer = reply if isinstance(reply, Mapping) else {}
    if subtask == "edge":
        return graph_record(journey, named_edges(answer.get("edges")))
    gold, stripped = journey.gold_nodes(), scoring == "strict"
    found_ids, wrong = list[str](), list[tuple[str, str]]()
    for level, counted in strict.texts_by_level(answer, stripped=stripped).items():
        if stripped:
            pairs, counted = strict.level_pairs(gold[level], counted, level)
        else:
            pairs = official.level_pairs(gold[level], counted, level)
        found_ids += [gold[level][place].id for place, _ in pairs]
        taken = {number for _, number in pairs}
        wrong += [(level, name) for number, name in enumerate(counted) if number not in taken]
    return node_record(journey, found_ids, wrong)


vir_bench: Benchmark = VirBench()

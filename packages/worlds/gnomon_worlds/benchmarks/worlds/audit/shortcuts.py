"""Tries every shortcut on generated questions, and counts those whose truth hangs on edges and stairs.

Shortcuts are those of prompts; on the true steps they are learners, and the whole computation.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from gnomon.core.audit_plugin import Kind, ShortcutGuess, View, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Sample
from gnomon_published.benchmarks.gtr_bench.audit import answer_options
from gnomon_published.benchmarks.gtr_bench.audit import try_shortcuts as try_shortcuts_of_prompts
from gnomon_worlds.attainable import ON_EDGE_M, SAME_S, is_clear
from gnomon_worlds.benchmarks.worlds.audit.shown_steps import ShownSteps, shown_steps
from gnomon_worlds.benchmarks.worlds.audit.steps_learner import LEARNERS
from gnomon_worlds.benchmarks.worlds.audit.steps_rules import ALONG_WAYS, along_ways
from gnomon_worlds.drawing import draw
from gnomon_worlds.learner import choices_elsewhere
from gnomon_worlds.sample_numbers import number_of


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """The shortcuts of prompts, the whole way along the true steps, and what learners find.

    What words give is a leak of the steps; what a look-up gives, and the whole, are their worth.
    """
    yield from try_shortcuts_of_prompts(samples)
    shown = {
        sample.ref.sample_id: shown_steps(sample, steps_of_sample(sample)) for sample in samples["guarded"]
    }
    for sample in samples["guarded"]:
        name, offered = sample.ref.sample_id, answer_options(sample)
        if shown[name].task != "MS" and offered is not None:
            left = along_ways(shown[name])
            yield guess(f"whole: {ALONG_WAYS}", "floor", "steps", name, left=left, offered=offered)
    yield from _learned(samples["guarded"], shown)


def steps_of_sample(sample: Sample) -> str:
    """The true steps of a sample, as an arm shows them."""
    from gnomon_worlds.benchmarks.worlds.benchmark import Worlds

    return Worlds().oracle_steps(sample)


def level_of(sample: Sample) -> str | None:
    """How hard the question was to be."""
    return number_of(sample.ref.sample_id).level


def remarks(samples: Sequence[Sample]) -> Iterator[str]:
    """How many questions of each scene rest on such a stay, and which; nothing where none does."""
    is_clear_by_scene: dict[str, dict[str, bool]] = defaultdict(dict)
    for sample in samples:
        number = number_of(sample.ref.sample_id)
        drawn = draw(number)
        is_clear_by_scene[number.scene][number.sample_id] = is_clear(
            drawn.world, drawn.question, edge_m=ON_EDGE_M
        )
    for scene, by_id in sorted(is_clear_by_scene.items()):
        unclear = [sample_id for sample_id, clear in by_id.items() if not clear]
        if unclear:
            yield (
                f"{len(unclear)} of {len(by_id)} {scene} questions rest on a stay in view that begins or "
                f"ends where stairs do (to {SAME_S:g} s) or runs along the view's edge (to {ON_EDGE_M:g} m); "
                f"stairs count as out of view, the edge as in view: {', '.join(unclear)}."
            )


def _learned(samples: Sequence[Sample], shown: Mapping[str, ShownSteps]) -> Iterator[ShortcutGuess]:
    """What a learner chooses that was fitted on questions of the same task and level in other places."""
    kinds: Mapping[str, tuple[Kind, View]] = {
        "options": ("floor", "guarded"),
        "text": ("floor", "guarded"),
        "prompt": ("floor", "guarded"),
        "words": ("leak", "steps"),
        "one step": ("floor", "steps"),
    }
    clusters = {sample.ref.sample_id: sample.ref.cluster for sample in samples}
    groups: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    for sample in samples:
        sample_id = sample.ref.sample_id
        groups[shown[sample_id].task, level_of(sample)].append(sample_id)
    for ids in groups.values():
        offered = {
            sample.ref.sample_id: options
            for sample in samples
            if sample.ref.sample_id in ids and (options := answer_options(sample))
        }
        for name, (kind, view) in kinds.items():
            matrices = {sample_id: LEARNERS[name](shown[sample_id]) for sample_id in offered}
            right = {sample_id: options.right[0] for sample_id, options in offered.items()}
            for sample_id, choice in choices_elsewhere(matrices, right, clusters):
                yield guess(
                    f"learned: {name}", kind, view, sample_id, left=[choice], offered=offered[sample_id]
                )

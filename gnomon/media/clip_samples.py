"""Makes sample sets of questions about clips in a folder."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.errors import DataError, NotFound, SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.near_equal import Asked
from gnomon.core.sample import DataFault, Part, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media.clip_folders import ClipFolders, absence
from gnomon.media.clip_frames import show_clip
from gnomon.media.clips import AS_IT_IS, Clips, Frames, Look
from gnomon.media.frame_rules import FrameRule
from gnomon.media.store import MediaStore
from gnomon.parquet_file import read_group, row_counts
from gnomon_tools.core.inputs import held

MAX_ROWS = 10_000_000
MAX_UNPACKED = 2_000_000_000  # bytes of a file
Q = TypeVar("Q")  # a question of one benchmark


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipQuestion:
    """A question about a clip. `text` is as published; `options` maps letters to texts, in order."""

    sample_id: str
    task: str
    clip: str  # the published file name
    text: str
    options: Mapping[str, str]
    gold: str  # a letter
    scene: str = ""
    start_s: float | None = None
    end_s: float | None = None
    place: int | None = None  # its number where all questions of a clip are asked together
    is_dealt: bool = False  # its options have the letters that they shall have in every prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How a protocol shows a question: the frames it picks, their look, and the prompt it makes of them.

    `prompt` gets None where there are no frames. `blind_runs`: the released code asks without frames where
    the clip cannot be read; else such a sample is broken.
    """

    rule: FrameRule
    prompt: Callable[[ClipQuestion, Frames | None], tuple[Part, ...]]
    look: Look = AS_IT_IS
    blind_runs: bool = False


def question_of(record: Mapping[str, Any], letters: Iterable[str]) -> ClipQuestion:
    """The question of a record to be scored: its answer among options of which only the letters are known.

    Raises:
        SpecError: the record lacks its answer or its response, or the answer is no letter.
    """
    for field in ("answer", "response"):
        if field not in record:
            raise SpecError(f"a record needs {field!r}; response may be null", field=field)
    gold = record["answer"]
    if not isinstance(gold, str) or not gold:
        raise SpecError(f"a letter, got {gold!r}", field="answer")
    return ClipQuestion(
        sample_id="", task="", clip="", text="", options=dict.fromkeys(letters, ""), gold=gold
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipSamples(Generic[Q]):
    """The selected questions about clips in their drawn order; `build` makes a sample, on demand."""

    folders: ClipFolders
    questions: Mapping[str, Q]  # by sample id
    build: Callable[[Q], Sample]
    refs: Sequence[SampleRef]
    faults: Sequence[DataFault]
    unshowable: int
    tell: Callable[[Q], Asked] | None = None  # what a question asks, where that is known before it is built

    def asked(self) -> Iterator[Asked]:
        if self.tell is not None:
            yield from map(self.tell, self.questions.values())

    @property
    def sought(self) -> str:
        return self.folders.sought

    def get(self, sample_id: str) -> Sample:
        """The whole sample.

        Raises:
            NotFound: it is not among the selected ones.
        """
        if sample_id not in self.questions:
            raise NotFound(f"no sample {sample_id!r} in this selection")
        return self.build(self.questions[sample_id])


def draw_samples(
    questions: Sequence[ClipQuestion],
    faults: Sequence[DataFault],
    *,
    folders: ClipFolders,
    showing: Showing,
    select: Select,
    protocol: PromptProtocol,
    media: MediaStore,
) -> ClipSamples[ClipQuestion]:
    """The selection."""
    selected = (
        question
        for question in questions
        if (not select.tasks or question.task in select.tasks)
        and (not select.scenes or question.scene in select.scenes)
    )
    chosen = select.drawn(selected, lambda question: question.sample_id)
    clips = [question.clip for question in chosen]
    absent = folders.absent(clips)
    return ClipSamples(
        folders=folders,
        build=partial(_sample, folders=folders, clips=Clips(media), showing=showing, protocol=protocol),
        questions={question.sample_id: question for question in chosen},
        refs=[ref_of(question) for question in chosen],
        faults=[*faults, *_absent(absent, chosen), *absence(clips, absent, sought=folders.sought)],
        unshowable=0 if showing.blind_runs else sum(clip in absent for clip in clips),
        tell=partial(_asked, folders=folders),
    )


def _asked(question: ClipQuestion, *, folders: ClipFolders) -> Asked:
    return Asked(
        sample_id=question.sample_id,
        text=question.text,
        options=tuple(question.options.values()),
        media=(folders.find(question.clip) or question.clip, f"{question.start_s} to {question.end_s}"),
        answers=(question.options.get(question.gold, question.gold),),
    )


def _sample(
    question: ClipQuestion, *, folders: ClipFolders, clips: Clips, showing: Showing, protocol: PromptProtocol
) -> Sample:
    clip = show_clip(clips, folders.find(question.clip), question.clip, showing.rule, showing.look)
    return Sample(
        ref=ref_of(question),
        parts=showing.prompt(question, clip.frames),
        target={"question": question, "protocol": protocol},
        inputs=held(clip.footage),
        missing=clip.missing,
        broken="" if showing.blind_runs else clip.fault,
    )


def ref_of(question: ClipQuestion) -> SampleRef:
    """A question's reference: its cell is its task, its kin are the questions about the same clip."""
    return SampleRef(
        sample_id=question.sample_id, task=question.task, cell=question.task, cluster=question.clip
    )


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file as plain data; a text that is not UTF-8 becomes None.

    Raises:
        DataError: it is none, has more than MAX_ROWS rows, or unpacks to too much.
    """
    counts = row_counts(path)
    if sum(counts) > MAX_ROWS:
        raise DataError(f"{path.name} has {sum(counts):,} rows, more than {MAX_ROWS:,}")
    rows: list[dict[str, Any]] = []
    unpacked = 0
    for group in range(len(counts)):
        table = read_group(path, group)
        unpacked += table.nbytes
        if unpacked > MAX_UNPACKED:
            raise DataError(f"{path.name} unpacks to more than {MAX_UNPACKED:,} bytes")
        try:
            rows += table.to_pylist()
        except UnicodeDecodeError:
            rows += [
                {name: cell_at(table[name], at) for name in table.column_names} for at in range(len(table))
            ]
    return rows


def cell_at(column: pa.ChunkedArray, at: int) -> Any:
    """A value; None where a text in it is no UTF-8, so that one bad cell does not cost the file."""
    try:
        return column[at].as_py()
    except UnicodeDecodeError:
        return None


def _absent(absent: Collection[str], questions: Sequence[ClipQuestion]) -> list[DataFault]:
    """One fault a clip that is not there, with how many questions need it."""
    samples_of: dict[str, list[str]] = {}
    for question in questions:
        samples_of.setdefault(question.clip, []).append(question.sample_id)
    return [
        DataFault(sample_id=ids[0], kind="clip", detail=f"{clip} is absent; {len(ids)} questions need it")
        for clip, ids in samples_of.items()
        if clip in absent
    ]


def labelled_frames(frames: Frames | None) -> tuple[Part, ...]:
    """A line about the clip, and each frame behind its time; for guarded prompts."""
    if frames is None:
        return ()
    about = f"{len(frames.images)} frames of a clip of {frames.seconds:.1f} s, each behind its time:"
    parts = [Part(content=about, shown="media")]
    for time_s, image in zip(frames.times_s, frames.images, strict=True):
        parts += [Part(content=f"{time_s:.2f} s", shown="media"), Part(content=image, shown="media")]
    return tuple(parts)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_REFERS = re.compile(
    r"\b(?:all|none|both|any) of (?:the )?(?:above|these|them)\b"
    r"|\boptions?\s+[A-J]\b|\b[A-J] (?:and|or) [A-J]\b",
    re.IGNORECASE,
)


def shuffle_options(question: str, options: Mapping[str, str], gold: str) -> tuple[dict[str, str], str]:
    """The options with letters given anew, in an order drawn from the question's words, and gold's letter.

    The draw does not know the right one. Options that refer to each other keep their order.

    >>> options, gold = shuffle_options("Where to?", {"A": "left", "B": "right", "C": "ahead"}, "B")
    >>> options[gold], sorted(options.values())
    ('right', ['ahead', 'left', 'right'])
    """
    if any(_REFERS.search(text) for text in options.values()):
        return dict(options), gold
    order = sorted(options, key=lambda letter: stable_hash(question, options[letter]))
    letters = dict(zip(order, _LETTERS, strict=False))
    return {letters[old]: options[old] for old in order}, letters.get(gold, "")


C = TypeVar("C", bound=ClipQuestion)


def with_shuffled_options(question: C, text: str) -> C:
    """A question with its options shuffled; `text` is the question without them."""
    if question.is_dealt:
        return question
    options, gold = shuffle_options(text, question.options, question.gold)
    return replace(question, options=options, gold=gold)

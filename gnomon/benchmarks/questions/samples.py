"""Builds samples: the prompt with pictures and frames, then the context, the question and how to answer."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gnomon.benchmarks.questions.loader import QuestionFile
from gnomon.benchmarks.questions.pictures import keep, key_of
from gnomon.benchmarks.questions.question import Entry, OwnQuestion, displayed
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.errors import NotFound
from gnomon.core.ids import stable_hash
from gnomon.core.near_equal import Asked
from gnomon.core.sample import DataFault, ImageRef, Part, Sample, SampleRef, Shown, Transform
from gnomon.media import MediaStore
from gnomon.media.clip_frames import find_clip, show_clip
from gnomon.media.clip_samples import labelled_frames
from gnomon.media.clips import AS_IT_IS, Clips, Frames
from gnomon.media.frame_rules import FrameRule
from gnomon_tools.core.inputs import held
from gnomon_tools.scene.boxes import Boxes

FRAMES = 16  # of a clip, evenly in time, unless the job says otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSamples:
    """The selected questions in their drawn order; a row is read again when its sample is built."""

    file: QuestionFile
    entries: Mapping[str, Entry]
    protocol: PromptProtocol
    rule: FrameRule
    media: MediaStore

    @property
    def refs(self) -> Sequence[SampleRef]:
        return [entry.ref for entry in self.entries.values()]

    @property
    def faults(self) -> Sequence[DataFault]:
        return self.file.faults

    @property
    def judged(self) -> Sequence[str]:
        """The ids of those that a judge scores."""
        return [sample_id for sample_id, entry in self.entries.items() if entry.needs_judge]

    def get(self, sample_id: str) -> Sample:
        """The whole sample.

        Raises:
            NotFound: it is not among the selected ones.
            DataError: its file or a picture has changed since it was opened.
        """
        if sample_id not in self.entries:
            raise NotFound(f"no sample {sample_id!r} in this selection")
        entry, file = self.entries[sample_id], self.file
        question = file.question(entry)
        pictures = [keep(source, file.folder, self.media) for source in file.pictures(question)]
        clip = None
        if question.clip:
            path = find_clip(file.folder, question.clip)
            clip = show_clip(Clips(self.media), path, question.clip, self.rule, AS_IT_IS)
        scene = file.scene(question)
        return Sample(
            ref=entry.ref,
            parts=parts_of(displayed(question, self.protocol), pictures, clip.frames if clip else None),
            target={
                "question": question,
                "protocol": self.protocol,
                "pictures": tuple(pictures),
                "usual": file.usual.guess(question),
            },
            inputs=held(scene, Boxes.of_scene(scene), clip.footage if clip else None),
            missing=clip.missing if clip else (),
            broken=clip.fault if clip else "",
        )

    def asked(self) -> Iterator[Asked]:
        """What each selected question asks. The file is read again: only now is it known which are selected,
        and the texts of all of them need not lie in memory.
        """
        media: dict[str, tuple[str | Path, ...]] = {}  # by name of a picture, or of the row that holds it
        for question in self.file.questions(self.entries.values()):
            yield asked_of(question, tuple(self._media(question, media)))

    def _media(self, question: OwnQuestion, known: dict[str, tuple[str | Path, ...]]) -> Iterator[str | Path]:
        """What is shown or given beside the words: files, which are compared by their bytes, and hashes."""
        for source in question.pictures:
            if isinstance(source, bytes):
                yield key_of(source)
                continue
            if source not in known:
                known[source] = tuple(self.file.media(source))
            yield from known[source]
        for name in (question.clip, question.scene_source):
            if name:
                yield from self.file.media(name) if isinstance(name, str) else (stable_hash(name),)

    def cannot(self, transform: Transform, show: Collection[Shown]) -> str:  # noqa: ARG002 (options are always shown)
        """Options can be dealt out anew only where there are some."""
        without = [entry for entry in self.entries.values() if not entry.has_options]
        if not without:
            return ""
        tasks = ", ".join(sorted({entry.ref.task for entry in self.entries.values() if entry.has_options}))
        first = without[0].ref.sample_id
        return (
            f"{len(without):,} of {len(self.entries):,} questions have no options, such as {first!r}; "
            f"select.tasks can ask those of: {tasks or 'none has options'}"
        )


def asked_of(question: OwnQuestion, media: tuple[str | Path, ...]) -> Asked:
    """What a question asks: its words, its options, and what is shown or given beside them."""
    options = tuple(question.options.values())
    return Asked(
        sample_id=question.sample_id,
        text="\n".join(filter(None, (question.context, question.text))),
        options=options,
        media=media,
        form=f"{question.scorer.kind} {question.scorer.model_dump_json()}",
        answers=(question.options[question.gold],) if options else question.scorer.right(question.truth),
    )


def parts_of(question: OwnQuestion, pictures: Sequence[ImageRef], frames: Frames | None) -> tuple[Part, ...]:
    """The prompt in parts; both protocols use the same words, and differ in the order of options alone."""
    return (*_pictures(pictures), *labelled_frames(frames), Part(content=_words(question)))


def _pictures(pictures: Sequence[ImageRef]) -> Iterator[Part]:
    for number, picture in enumerate(pictures, start=1):
        if len(pictures) > 1:
            yield Part(content=f"Picture {number} of {len(pictures)}:", shown="media")
        yield Part(content=picture, shown="media")


def _words(question: OwnQuestion) -> str:
    lines = [question.context] if question.context else []
    lines.append(f"Question: {question.text}")
    if question.options:
        lines += ["Options:", *(f"{letter}. {words}" for letter, words in question.options.items())]
    return "\n".join((*lines, question.scorer.form(question.truth)))

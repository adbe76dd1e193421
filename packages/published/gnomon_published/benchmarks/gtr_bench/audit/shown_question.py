"""A question as the reader of a prompt, or of the published files, sees it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gnomon.core.audit_plugin import View
from gnomon.core.clock import NOON_S, clocks_told_s, day_span
from gnomon.core.errors import DataError
from gnomon.core.sample import Sample
from gnomon_published.benchmarks.gtr_bench.case import Case, body_of
from gnomon_tools.scene.scene import Camera

Span = tuple[float, float]  # seconds after midnight
BOXES = 3  # as many as every prompt shows
BoxRow = tuple[str, ...]

_OFFICIAL_CLIP = re.compile(
    r"^Camera: (?P<camera>\S+)\nDirection: .*\n(?:Observed: (?P<span>\S+)\n)?Target: (?P<target>.+)"
    r"(?P<boxes>(?:\n.*)*?)(?=\nCamera: |\nQuestion: |\nHere is |\Z)",
    re.MULTILINE,
)
_GUARDED_CLIP = re.compile(
    r"^Clip \d+: camera (?P<camera>\S+), (?P<target>[^,]+), (?:lasting [\d.]+ s|(?P<span>\S+))"
    r"(?P<boxes>(?:\n  .*)*)",
    re.MULTILINE,
)
_OFFICIAL_BOX = re.compile(r"^Box \[(\S+), (\S+), (\S+), (\S+)\]", re.MULTILINE)
_GUARDED_BOX = re.compile(r"box x=(\S+) y=(\S+) w=(\S+) h=(\S+)")
_OPTIONS = re.compile(r"\nOptions:\n(.*?)\n(?:Rules:|Answer with one JSON object: )", re.DOTALL)
_NEXT_OPTION = re.compile(r"\n(?=[A-Z]\. )")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenClip:
    """A clip as shown; `span_s` is None where times are withheld, `first_frame` where frame numbers are.

    `boxes` are the first BOXES of them, as texts with one decimal.
    """

    camera: str
    target: str
    boxes: tuple[BoxRow, ...]
    span_s: Span | None = None
    first_frame: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A question as shown. `text` is the prompt without the options; only the files have `middle_…`."""

    view: View
    sample_id: str
    scene: str
    task: str
    text: str
    options: tuple[str, ...]
    clips: tuple[SeenClip, ...]
    cameras: Mapping[str, Camera]
    map_file: str = ""
    middle_span_s: Span | None = None
    middle_path: tuple[str, ...] = ()

    def option_spans(self) -> list[Span | None]:
        """The options as intervals; None where an option is not one."""
        return [day_span(option) for option in self.options]

    def option_orders(self) -> list[tuple[str, ...]]:
        return [tuple(option.split(" → ")) for option in self.options]

    def last_end_s(self) -> float | None:
        """When the last clip ends; None where times are withheld."""
        return max((clip.span_s[1] for clip in self.clips if clip.span_s), default=None)


def seen_in_prompt(sample: Sample, view: View) -> Seen:
    """The question as the sample's own prompt shows it, read from its words alone.

    Raises:
        DataError: the words cannot be read, so nothing may be concluded from them.
    """
    case: Case = sample.target["case"]
    text = _text_of(sample)
    clip, box = (_OFFICIAL_CLIP, _OFFICIAL_BOX) if view == "official" else (_GUARDED_CLIP, _GUARDED_BOX)
    clips = _by_true_time([_clip_of(match, box) for match in clip.finditer(text)], text)
    block = _OPTIONS.search(text)
    if block is None or len(clips) != len(case.clips):
        reason = f"{len(clips)} of {len(case.clips)} clips and {'an' if block else 'no'} option block found"
        raise DataError(f"the {view} prompt of {case.case_id} cannot be read: {reason}")
    return Seen(
        view=view,
        sample_id=sample.ref.sample_id,
        scene=case.scene,
        task=case.task.short,
        text=text[: block.start()] + text[block.end() :],
        options=tuple(body_of(option) for option in _NEXT_OPTION.split(block[1])),
        clips=clips,
        cameras=sample.scene.cameras if sample.scene else {},
        map_file=next(iter(re.findall(r"\S+\.png", text)), ""),
    )


def seen_in_files(sample: Sample) -> Seen:
    """The question as the published object shows it, without the answer fields themselves."""
    case: Case = sample.target["case"]
    middle = case.raw.get("middle_point")
    path = case.raw.get("middle_path")
    return Seen(
        view="files",
        sample_id=sample.ref.sample_id,
        scene=case.scene,
        task=case.task.short,
        text="",
        options=tuple(body_of(choice) for choice in case.choices),
        clips=_by_true_time(
            [
                SeenClip(
                    camera=clip.camera_id,
                    target=clip.object_id,
                    boxes=tuple(tuple(f"{value:.1f}" for value in row) for row in clip.bboxes[:BOXES]),
                    span_s=(NOON_S + clip.start_s, NOON_S + clip.end_s),
                    first_frame=clip.frame_ids[0],
                )
                for clip in case.clips
            ],
            case.question,
        ),
        cameras=sample.scene.cameras if sample.scene else {},
        map_file=case.map_image_path,
        middle_span_s=day_span(str(middle.get("time"))) if isinstance(middle, Mapping) else None,
        middle_path=tuple(str(camera) for camera in path) if isinstance(path, list) else (),
    )


def _by_true_time(clips: Iterable[SeenClip], text: str) -> tuple[SeenClip, ...]:
    """The clips with the times that they would have if no clock were off."""
    ahead_s = clocks_told_s(text)
    return tuple(
        replace(clip, span_s=(clip.span_s[0] - ahead_s[clip.camera], clip.span_s[1] - ahead_s[clip.camera]))
        if clip.span_s and clip.camera in ahead_s
        else clip
        for clip in clips
    )


def _text_of(sample: Sample) -> str:
    """The words of the prompt. Its pictures are left out first, so that none is drawn for it."""
    words = tuple(part for part in sample.parts if isinstance(part.content, str))
    content = replace(sample, parts=words).messages()[0]["content"]
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _clip_of(match: re.Match[str], box: re.Pattern[str]) -> SeenClip:
    return SeenClip(
        camera=match["camera"],
        target=match["target"],
        boxes=tuple(box.findall(match["boxes"]))[:BOXES],
        span_s=day_span(match["span"]) if match["span"] else None,
    )

"""Sample: one question, in parts that an arm may show or hide."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from gnomon.core.message import Block, ImageBlock, Message, VideoBlock
from gnomon_tools.core.clip import Footage
from gnomon_tools.core.inputs import Input, Inputs
from gnomon_tools.scene.scene import Scene

Shown = Literal["always", "media", "map", "camera_data", "facts", "oracle"]
Transform = Literal["rotate", "mirror", "shift_time", "rename", "permute_options", "change_units"]
SHOWABLE: tuple[Shown, ...] = ("media", "map", "camera_data")  # what an arm shows unless it says otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRef:
    """A picture in the media store, by the hash of its bytes; its size in pixels."""

    sha256: str
    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoRef:
    """A whole video in the media store, by the hash of its bytes."""

    sha256: str
    media_type: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of text, a picture or a video; `shown` names the kind of evidence an arm shows or hides it
    with. `only_for`: models that take videos, or those that do not and see frames instead.
    """

    content: str | ImageRef | VideoRef
    shown: Shown = "always"
    only_for: Literal["all", "videos", "frames"] = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRef:
    """What planning needs of a sample. `cell`: its row in reports; `cluster`: its kin, not independent."""

    sample_id: str
    task: str
    cell: str
    cluster: str


I = TypeVar("I", bound=Input)  # noqa: E741 (an input)
Join = Literal["in_order", "texts_first"]  # texts_first: all texts as one block, then the pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """What the same person says once the agent has answered; tools work on `inputs` from then on."""

    parts: tuple[Part, ...]
    inputs: Inputs = field(default_factory=dict)

    def message(self, show: Collection[Shown] = SHOWABLE) -> Message:
        """The next message of the user."""
        return _message(self.parts, show, "in_order")

    @property
    def said(self) -> str:
        """Its words, without what only some arms are shown."""
        return "".join(str(part.content) for part in self.parts if part.shown == "always").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question. `target` is for the scorer alone; agents get `messages` and a toolbox bound to it.

    `inputs` are what tools work on, by type (`held` of `inputs.py` makes them). `broken` says why its
    media cannot be shown: a trial that would show them ends as `infra_missing`.
    """

    ref: SampleRef
    parts: tuple[Part, ...]
    target: Mapping[str, Any]
    inputs: Inputs = field(default_factory=dict)
    missing: tuple[str, ...] = ()  # media that are absent, by name
    broken: str = ""
    join: Join = "in_order"
    follow_ups: tuple[FollowUp, ...] = ()  # said one after another, each after the answer to the last

    def find(self, kind: type[I]) -> I | None:
        """Its input of this type; None where it has none."""
        value: I | None = self.inputs.get(kind)
        return value

    @property
    def scene(self) -> Scene | None:
        return self.find(Scene)

    @property
    def footage(self) -> Footage | None:
        """Its clip, for tools that look again."""
        return self.find(Footage)

    def messages(self, show: Collection[Shown] = SHOWABLE, *, videos: bool = False) -> list[Message]:
        """The prompt: the one message that every agent starts from. `videos`: the model takes them."""
        return [_message(self.parts, show, self.join, videos=videos)]


def _message(
    all_parts: Collection[Part], show: Collection[Shown], join: Join, *, videos: bool = False
) -> Message:
    other = "frames" if videos else "videos"
    parts = [part for part in all_parts if part.shown == "always" or part.shown in show]
    texts: list[Block] = []
    images: list[Block] = []
    for part in parts:
        if part.only_for == other:
            continue
        if isinstance(part.content, str):
            texts.append({"type": "text", "text": part.content})
        elif isinstance(part.content, VideoRef):
            video: VideoBlock = {
                "type": "video",
                "sha256": part.content.sha256,
                "media_type": part.content.media_type,
                "seconds": part.content.seconds,
            }
            (images if join == "texts_first" else texts).append(video)
        else:
            block: ImageBlock = {
                "type": "image",
                "sha256": part.content.sha256,
                "media_type": part.content.media_type,
            }
            (images if join == "texts_first" else texts).append(block)
    if join == "texts_first":
        joined = "".join(f"{block['text']}\n" for block in texts if block["type"] == "text")
        texts = [{"type": "text", "text": joined}]
    return {"role": "user", "content": [*texts, *images]}


LACKS_MEDIA = "media"  # the kind of the one fault that counts the samples without their media
UNUSED_COLUMNS = "unused_columns"  # the kind of the one fault that names the columns that nothing reads


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFault:
    """Something wrong with the data: which sample, what, in words. Counted and named, never fatal."""

    sample_id: str
    kind: str
    detail: str = field(default="")

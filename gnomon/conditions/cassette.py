"""Answers calls of tool servers from a cassette; a call that it does not hold ends the trial."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from gnomon.core.arm import Arm
from gnomon.core.errors import DataError
from gnomon.core.sample import Sample
from gnomon.media import MediaStore
from gnomon.trials.condition import Condition, Situation
from gnomon.trials.trial_plan import Trial
from gnomon_tools.core.clip import Picture
from gnomon_tools.core.outage import ServerFault
from gnomon_tools.core.tool import BadArguments, Tool
from gnomon_tools.core.toolbox import BAD_CALL, Observation, Toolbox, WrappedToolbox
from gnomon_tools.servers.cassette import Cassette, CassetteError, canonical, open_cassette

MISS = "cassette:miss"


def under(arm: Arm) -> str:
    """What the arm does to results and to the question: recordings are those of the same.

    >>> under(Arm(name="a", agent="react")), under(Arm(name="b", agent="react", results="other_scene"))
    ('live', 'other_scene')
    """
    faults = f"{arm.faults.kind} {arm.faults.lasting} {arm.faults.rate:g}" if arm.faults else ""
    others = (f"{name} {json.dumps(arm.conditions[name], sort_keys=True)}" for name in sorted(arm.conditions))
    return " ".join(part for part in (arm.results, faults, arm.transform or "", *others) if part)


def cassette_of(arm: Arm) -> Cassette | None:
    """The cassette that the arm replays, if it does.

    Raises:
        DataError: it is absent, damaged, or not what the job was frozen with.
    """
    if arm.cassette is None or arm.cassette.replay is None:
        return None
    try:
        return open_cassette(Path(arm.cassette.replay), arm.cassette.sha256)
    except CassetteError as error:
        raise DataError(str(error), field="cassette") from None


def replayed(
    toolbox: Toolbox, foreign: Mapping[str, Tool[Any]], arm: Arm, trial: Trial, media: MediaStore
) -> Toolbox:
    """The toolbox with the calls of the tools of servers, `foreign`, from the arm's cassette, if it has one.

    Raises:
        DataError: the cassette is absent, damaged, or not what the job was frozen with.
    """
    cassette = cassette_of(arm)
    if cassette is None or arm.results == "neutral":  # no tool is run
        return toolbox
    return CassetteToolbox(toolbox, foreign, cassette, arm=arm, trial=trial, media=media)


class CassetteToolbox(WrappedToolbox):
    """Any toolbox; the tools of servers are never run."""

    def __init__(
        self,
        toolbox: Toolbox,
        foreign: Mapping[str, Tool[Any]],
        cassette: Cassette,
        *,
        arm: Arm,
        trial: Trial,
        media: MediaStore,
    ) -> None:
        super().__init__(toolbox)
        self._foreign, self._cassette = foreign, cassette
        self._arm, self._trial, self._media = arm, trial, media
        self._times: Counter[tuple[str, str]] = Counter()

    def is_slow(self, name: str) -> bool:
        return name not in self._foreign and super().is_slow(name)

    def call(self, name: str, arguments: str) -> Observation:
        """The recorded result of a server's tool; of others what the toolbox says.

        Raises:
            ServerFault: the cassette does not hold the call.
        """
        tool = self._foreign.get(name)
        offered = {schema["function"]["name"] for schema in self.schemas}
        if tool is None or name not in offered or not _is_taken(tool, arguments):
            return self._toolbox.call(name, arguments)
        key = (name, canonical(arguments))
        recorded = self._cassette.find(
            sample=self._trial.ref.sample_id,
            tool=name,
            arguments=arguments,
            under=under(self._arm),
            model=self._trial.model,
            arm=self._arm.name,
            repeat=self._trial.repeat,
            n=self._times[key],
        )
        self._times[key] += 1
        if recorded is None:
            message = f"the cassette does not hold {name}({canonical(arguments)[:200]}) for this sample"
            raise ServerFault(message, stop_reason=MISS)
        if recorded.error not in BAD_CALL:
            self._toolbox.skip()
        return Observation(
            content=recorded.result,
            error=recorded.error,
            injected=recorded.injected,
            pictures=tuple(self._picture(sha256) for sha256 in recorded.pictures),
        )

    def _picture(self, sha256: str) -> Picture:
        kept = self._media.put(self._cassette.picture(sha256))
        return Picture(sha256=kept.sha256, media_type=kept.media_type, width=kept.width, height=kept.height)


def _is_taken(tool: Tool[Any], arguments: str) -> bool:
    """Whether the tool takes these arguments: what it refuses is told without any server."""
    try:
        value = json.loads(arguments or "{}")
        tool.read_args(value)
    except (ValueError, RecursionError, BadArguments):
        return False
    return isinstance(value, dict)


class CassetteCondition(Condition):
    """Calls of tool servers are answered from a file."""

    name = "cassette"
    description = "answers calls of tool servers from a recording"
    order = 60  # around what answers in place of a tool

    def is_of(self, arm: Arm) -> bool:
        return arm.cassette is not None

    def on_toolbox(self, toolbox: Toolbox, sample: Sample, now: Situation) -> Toolbox:  # noqa: ARG002
        """The toolbox with those calls from the arm's cassette.

        Raises:
            DataError: the cassette is absent, damaged, or not what the job was frozen with.
        """
        if now.spec is None or now.trial is None:
            return toolbox
        media = cast(MediaStore, now.media)
        return replayed(toolbox, now.spec.server_tools, now.arm, now.trial, media)


cassette = CassetteCondition()

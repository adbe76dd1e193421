"""The rules about data: a file of the user's own, how it is read, and its hash once the job is frozen."""

from pathlib import Path
from typing import Any

from gnomon.core.benchmark import BENCHMARKS, AsksJudge, ReadsOwnFiles, SampleSet
from gnomon.core.errors import DataError, SpecError
from gnomon.core.model import OWN_MODEL
from gnomon.media import MediaStore
from gnomon.media.uploads import folder_of, is_upload
from gnomon.spec.job_spec import JobSpec
from gnomon_tools.core.plugin_code import contained


def own_files(spec: JobSpec, _: object) -> None:
    """Refuses columns, a scorer, tags or a hash of a file that is not one's own, and unknown ones."""
    plugin = BENCHMARKS.get(spec.benchmark)
    for field, is_set in (
        ("columns", bool(spec.columns)),
        ("scorer", spec.scorer is not None),
        ("select.tags", bool(spec.select.tags)),
        ("data_sha256", spec.data_sha256 is not None),
    ):
        if is_set and not isinstance(plugin, ReadsOwnFiles):
            readers = ", ".join(other.name for other in BENCHMARKS if isinstance(other, ReadsOwnFiles))
            has = "has none" if field in ("select.tags", "data_sha256") else "has its own"
            message = f"{spec.benchmark} {has}; allowed with the benchmark {readers}"
            raise SpecError(message, field=field)
    if isinstance(plugin, ReadsOwnFiles):
        plugin.reading(spec.columns, spec.scorer)
    if spec.judge is not None and not isinstance(plugin, AsksJudge):
        judged = ", ".join(other.name for other in BENCHMARKS if isinstance(other, AsksJudge))
        raise SpecError(
            f"{spec.benchmark} scores by rules; allowed with the benchmark {judged}", field="judge"
        )
    if spec.judge is not None and spec.judge.id == OWN_MODEL:
        raise SpecError("an agent's own model cannot judge; name a model", field="judge.id")


def published_files(spec: JobSpec, _: object) -> None:
    """Refuses a benchmark of published files without a folder of them."""
    if spec.plugin().needs_data and not spec.data:
        files = (
            "your file of questions"
            if isinstance(spec.plugin(), ReadsOwnFiles)
            else "the folder of its published files"
        )
        raise SpecError(f"{spec.benchmark} needs {files}", field="data")


def frozen_data(spec: JobSpec, path: Path) -> JobSpec:
    """The spec with the path of its data, and the hash of a file of the user's own.

    Raises:
        DataError: the file cannot be read, or has another hash than the spec says.
    """
    changes: dict[str, Any] = {} if is_upload(str(spec.data)) else {"data": str(path)}
    plugin = spec.plugin()
    if isinstance(plugin, ReadsOwnFiles):
        with contained():
            changes["data_sha256"] = plugin.data_sha256(path)
        _check_hash(spec, changes["data_sha256"])
    return spec.model_copy(update=changes)


def data_of(spec: JobSpec, media: MediaStore) -> Path | None:
    """Where the data of a frozen spec lie; None where its benchmark needs none.

    Raises:
        NotFound: they were uploaded, and are gone.
    """
    if spec.data and is_upload(spec.data):
        return folder_of(spec.data, media)
    return Path(spec.data) if spec.data else None


def opened_samples(spec: JobSpec, media: MediaStore) -> SampleSet:
    """The samples of a frozen spec.

    Raises:
        SpecError, DataError: its data cannot be read here, or are others than when it was frozen.
    """
    data, plugin = data_of(spec, media), spec.plugin()
    with contained():
        if data is not None and isinstance(plugin, ReadsOwnFiles):
            _check_hash(spec, plugin.data_sha256(data))
        return plugin.open(data=data, select=spec.select, protocol=spec.protocol, media=media)


def _check_hash(spec: JobSpec, found: str) -> None:
    if spec.data_sha256 not in (None, found):
        message = (
            f"{Path(str(spec.data)).name} is not the file that the job was frozen with: its SHA-256 is "
            f"{found[:12]}…, not {str(spec.data_sha256)[:12]}…. A new job without data_sha256 asks this one"
        )
        raise DataError(message, field="data")

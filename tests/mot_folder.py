"""Makes tracking in the form of MOT: people on a grid of streets, seen by cameras that are pinholes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.tracking_data import HIGH, WIDE, Array, Errors, Pinhole, Row, rows_of, way


def _grid_ways(
    count: int, *, columns: int, rows: int, spacing: float, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:  # fmt: skip
    """Ways from one side of a grid of streets to the other, with few turns, at a constant speed each."""
    for _ in range(count):
        row, end = rng.integers(rows, size=2)
        turn = int(rng.integers(1, columns - 1))
        corners = [(0, row), (turn, row), (turn, end), (columns - 1, end)]
        if rng.random() < 0.5:
            corners.reverse()
        points = [np.array(corner, dtype=float) * spacing for corner in dict.fromkeys(map(tuple, corners))]
        yield way(points, rng.uniform(0, 240.0), rng.uniform(1.0, 1.6))


def _street_cameras(
    *, columns: int, rows: int, spacing: float, count: int, rng: np.random.Generator
) -> list[Pinhole]:  # fmt: skip
    """Cameras beside streets, no two on the same piece, each looking along its street."""
    pieces = [((c, r), (c + 1, r)) for c in range(columns - 1) for r in range(rows)]
    pieces += [((c, r), (c, r + 1)) for c in range(1, columns - 1) for r in range(rows - 1)]
    cameras = []
    for number, index in enumerate(rng.permutation(len(pieces))[:count], start=1):
        a, b = (np.array(end, dtype=float) * spacing for end in pieces[index])
        ahead = (b - a) / spacing * rng.choice((-1, 1))
        side = np.array([-ahead[1], ahead[0]]) * 0.06 * spacing
        at = (a + b) / 2 - ahead * 0.22 * spacing + side
        to = (a + b) / 2 + ahead * 0.1 * spacing
        cameras.append(Pinhole.looking(f"c{number:03d}", at, to, high=4.0, focal=0.9 * WIDE, far_m=13.0))
    return cameras


def _lines(rows: Sequence[Row], rest: str) -> str:
    """Rows as a file of boxes has them; its frames count from 1."""
    return "".join(
        f"{frame + 1},{name},{left},{top},{wide},{high},{rest}\n"
        for frame, name, left, top, wide, high in rows
    )


def write_mot(folder: Path, *, seed: int = 2, people: int = 70) -> Path:
    """A folder for each camera: gt/gt.txt with MOT16's nine columns, homography.txt and seqinfo.ini."""
    rng = np.random.default_rng(seed)
    lanes = {"columns": 6, "rows": 4, "spacing": 26.0}
    cameras = _street_cameras(**lanes, count=14, rng=rng)
    ways = list(_grid_ways(people, **lanes, rng=rng))
    rows = rows_of(cameras, ways, fps=15.0, body=(0.6, 1.7), errors=Errors(), rng=rng)
    for camera in cameras:
        place = folder / camera.name
        (place / "gt").mkdir(parents=True)
        reflection = [(frame, "90000", 5, 5, 40, 90) for frame in range(0, 300, 3)]
        text = _lines(rows[camera.name], "1,1,0.9") + _lines(reflection, "0,12,1")
        (place / "gt" / "gt.txt").write_text(text)
        (place / "seqinfo.ini").write_text(
            f"[Sequence]\nname={camera.name}\nframeRate=15\nimWidth={WIDE}\nimHeight={HIGH}\n"
        )
        homography = np.linalg.inv(camera.to_pixels())
        (place / "homography.txt").write_text(
            "\n".join(" ".join(f"{v:.12g}" for v in row) for row in homography)
        )
    return folder

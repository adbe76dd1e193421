"""Real size from distance, distance from real size, or focal length from both, by the pinhole camera.

extent / focal length = size / distance: for objects square to the camera's axis, without lens distortion;
`distance_m` is measured along the axis.

Error: `error_share` is `extent_error_px` over `extent_px`; the two given values are taken as exact.
"""

import math

from pydantic import Field

from gnomon_tools.core.marks import amount, drawn, number_in, text_in
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult


class PinholeArgs(ToolArgs):
    """What was seen, and two of: size, distance, lens (as focal_px, or fov_deg with image_width_px)."""

    extent_px: float = Field(gt=0, le=1e5, description="extent of the object in the picture")
    extent_error_px: float = Field(default=2.0, ge=0, le=1e5, description="how far off extent_px may be")
    size_m: float | None = Field(default=None, gt=0, le=1e6, description="its real extent in that direction")
    distance_m: float | None = Field(
        default=None, gt=0, le=1e6, description="its distance along the camera's axis (depth)"
    )
    focal_px: float | None = Field(default=None, gt=0, le=1e6, description="focal length in pixels")
    fov_deg: float | None = Field(
        default=None, ge=1, le=179, description="angle of view across image_width_px, instead of focal_px"
    )
    image_width_px: float | None = Field(default=None, gt=0, le=1e5, description="width of the full picture")


class PinholeResult(ToolResult):
    """Given and found; `found` names what was computed."""

    found: str
    size_m: float
    distance_m: float
    focal_px: float
    metres_per_px: float = Field(description="at that distance, square to the axis")
    error_share: float = Field(description="how far off what was found may be, as a share of it")


def run(_: ToolContext, args: PinholeArgs) -> PinholeResult:
    """extent_px / focal_px = size_m / distance_m, solved for the one that is not given.

    Raises:
        ToolError: not exactly two of size, distance and lens are given, or the lens twice or by half, or
            the result is not finite.
    """
    focal_px = _focal_px(args)
    values = {"size_m": args.size_m, "distance_m": args.distance_m, "focal_px": focal_px}
    unknown = [name for name, value in values.items() if value is None]
    if len(unknown) != 1:
        raise ToolError(
            "Give exactly two of size_m, distance_m and the lens (focal_px, or fov_deg with width)."
        )
    size_m, distance_m = args.size_m, args.distance_m
    if size_m is None:
        size_m = args.extent_px * (distance_m or 0.0) / (focal_px or 1.0)
    elif distance_m is None:
        distance_m = size_m * (focal_px or 0.0) / args.extent_px
    focal = focal_px or args.extent_px * (distance_m or 0.0) / size_m
    share = args.extent_error_px / args.extent_px
    if not all(map(math.isfinite, (size_m, distance_m or 0.0, focal, size_m / args.extent_px, share))):
        raise ToolError("These numbers are too far apart: the result is beyond what can be told.")
    return PinholeResult(
        found=unknown[0],
        size_m=size_m,
        distance_m=distance_m or 0.0,
        focal_px=focal,
        metres_per_px=size_m / args.extent_px,
        error_share=share,
    )


def _focal_px(args: PinholeArgs) -> float | None:
    by_angle = args.fov_deg is not None or args.image_width_px is not None
    if args.focal_px is not None and args.fov_deg is not None:
        raise ToolError("Give focal_px or fov_deg, not both.")
    if args.focal_px is not None or not by_angle:
        return args.focal_px
    if args.fov_deg is None or args.image_width_px is None:
        raise ToolError("fov_deg goes with image_width_px.")
    return args.image_width_px / 2 / math.tan(math.radians(args.fov_deg) / 2)


def sketch(_: ToolContext, args: PinholeArgs, result: Result) -> Sketch:
    """What was computed, in words: the object has no place on a map."""
    name = text_in(result, "found")
    quantity, unit = {"size_m": ("size", "m"), "distance_m": ("distance", "m")}.get(
        name, ("focal length", "px")
    )
    value = amount(number_in(result, name), unit)
    return drawn(f"{amount(args.extent_px, 'px')} in the picture → {quantity} {value}")


pinhole = Tool(
    name="pinhole",
    description=(
        "Pinhole camera: from an object's extent in pixels and two of real size, distance and lens (focal"
        " length in pixels, or angle of view with the picture's width), compute the third."
    ),
    args=PinholeArgs,
    run=run,
    sketch=sketch,
    needs=None,
    example={"extent_px": 100.0, "size_m": 2.0, "focal_px": 1000.0},
)

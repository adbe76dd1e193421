"""Examples of request bodies and responses, by route: in the OpenAPI document and on the page of the API."""

from collections.abc import Mapping
from typing import Any

SPEC = {
    "name": "first look",
    "benchmark": "worlds",
    "select": {"limit": 60, "seed": 1},
    "models": [{"id": "reference"}],
    "arms": [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": "all"},
    ],
    "analysis": {"primary": ["raw", "tools"]},
}
SCENE = {
    "type": "FeatureCollection",
    "gnomon": {
        "format": 1,
        "id": "yard",
        "kind": "outdoor",
        "frame": {"lon_deg": 24.9384, "lat_deg": 60.1699, "anchored": True},
    },
    "features": [
        {
            "type": "Feature",
            "id": "c1",
            "geometry": {"type": "Point", "coordinates": [24.9384, 60.1699]},
            "properties": {"kind": "camera", "floor": 0, "heading_deg": 90, "fov_deg": 60, "range_m": 40},
        }
    ],
}
TOOL = "cameras_seeing"
BODIES: Mapping[str, Any] = {
    "POST /v1/jobs": SPEC,
    "POST /v1/itineraries": {
        "area": "helsinki",
        "start_date": "2026-06-11",
        "hotel": "Hotelli Torni",
        "places": ["Ateneum", "Kiasma"],
    },
    "POST /v1/itineraries/check": {
        "plan": {
            "days": [{"visits": [{"place": "Kiasma", "arrive": "10:00", "leave": "11:30"}]}],
        },
        "request": {"area": "helsinki", "start_date": "2026-06-11", "places": ["Kiasma"]},
    },
    "POST /v1/tools/{name}": {"scene": SCENE, "args": {"points": [[20.0, 0.0]]}},
    "POST /v1/tools/{name}/batch": {"scene": SCENE, "args": {"points": [[20.0, 0.0], [90.0, 0.0]]}},
    "POST /v1/trials/{trial_id}/file": {"from_step": 2, "result": {"error": "The sensor is away."}},
}
COUNTS = {"planned": 120, "scored": 40, "model_failed": 0, "infra_missing": 0, "running": 8}
JOB = {"id": "j_1f0c…", "name": "first look", "status": "running", "counts": COUNTS, "usd": 0.0}
ROW = {"trial_id": "t_8b7b…", "sample_id": "w1-00000", "arm": "tools", "outcome": "scored", "score": 1.0}
RESPONSES: Mapping[str, Any] = {
    "POST /v1/jobs": {
        "id": "j_1f0c…",
        "status": "queued",
        "planned_trials": 120,
        "estimate": {"samples": 60, "trials": 120, "usd": 0.0, "usd_limit": None},
        "warnings": [],
    },
    "GET /v1/jobs": {"items": [JOB], "next_cursor": None},
    "GET /v1/jobs/{job_id}": JOB,
    "POST /v1/jobs/{job_id}/cancel": {**JOB, "status": "cancelled"},
    "POST /v1/jobs/{job_id}/resume": {**JOB, "status": "queued"},
    "GET /v1/jobs/{job_id}/trials": {"items": [ROW], "next_cursor": "100"},
    "GET /v1/trials/{trial_id}": {**ROW, "state": "done", "attempt": 1},
    "POST /v1/tools/{name}": {"cameras": [{"camera": "c1", "error_m": 0.0}]},
    "POST /v1/tools/{name}/batch": {"row": [0], "camera": ["c1"], "error_m": [0.0]},
    "POST /v1/itineraries": {"id": "j_1f0c…", "status": "queued", "events": "/v1/jobs/j_1f0c…/events"},
    "POST /v1/itineraries/check": {
        "form": "gnomon",
        "passes": True,
        "summary": "all 28 checks hold",
        "counts": {"holds": 28, "fails": 0, "unchecked": 0},
        "checks": [
            {
                "code": "OPEN_HOURS",
                "label": "It is open during the whole stay",
                "state": "holds",
                "note": "1 of 1 stop",
                "points": [],
                "evidence": ["Kiasma: Tu 10:00-17:00; We-Fr 10:00-20:30 (helsinki osm 2019-04-21)"],
            }
        ],
    },
    "GET /v1/workers": [
        {"name": "worker-1", "host": "here", "pid": 4711, "state": "busy", "shard": "j_1f0c…/0"}
    ],
    "GET /healthz": {"status": "ok"},
    "GET /readyz": {"status": "ready", "store": "ok", "redis": "ok"},
}


def add_examples(document: dict[str, Any]) -> None:
    """Put the examples into an OpenAPI document. A response may have more fields than its example."""
    for path, verbs in document["paths"].items():
        for verb, route in verbs.items():
            name = f"{verb.upper()} {path}"
            if name in BODIES:
                for media in route["requestBody"]["content"].values():
                    media["example"] = BODIES[name]
            if name in RESPONSES:
                status = next(status for status in route["responses"] if status.startswith("2"))
                content = route["responses"][status].setdefault("content", {})
                content.setdefault("application/json", {})["example"] = RESPONSES[name]

"""Gives figures and tables of a job's report as files for a paper."""

from fastapi import APIRouter
from fastapi.responses import Response

from gnomon_analyses.board.record import zipped
from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared

router = APIRouter(include_in_schema=False)


@router.get("/ui/jobs/{job_id}/paper.zip", response_model=None)
@in_place("reports")
def paper_file(state: Shared, job_id: str) -> Response:
    """Each figure and each table alone, with methods and citation, as `gnomon report` writes them."""
    from gnomon_analyses.paper.paper_files import figure_files, table_files  # late: with SciPy

    report = state.reports.get(job_id).value
    files = {f"figures/{name}": content for name, content in figure_files(report)}
    files |= {f"tables/{name}": content for name, content in table_files(report)}
    headers = {"Content-Disposition": f'attachment; filename="{job_id}-paper.zip"'}
    return Response(zipped(files), media_type="application/zip", headers=headers)

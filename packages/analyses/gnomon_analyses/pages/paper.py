"""Gives figures and tables of a job's report as files for a paper."""

import io
import zipfile

from fastapi import APIRouter
from fastapi.responses import Response

from gnomon_service.api.places import in_place
from gnomon_service.api.state import Shared

router = APIRouter(include_in_schema=False)


@router.get("/ui/jobs/{job_id}/paper.zip", response_model=None)
@in_place("reports")
def paper_file(state: Shared, job_id: str) -> Response:
    """Each figure and each table alone, with methods and citation, as `gnomon report` writes them."""
    from gnomon_analyses.paper.paper_files import figure_files, table_files  # late: with SciPy

    report, file = state.reports.get(job_id).value, io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as folder:
        for name, files in (("figures", figure_files(report)), ("tables", table_files(report))):
            for inner, content in files:
                folder.writestr(f"{name}/{inner}", content)
    headers = {"Content-Disposition": f'attachment; filename="{job_id}-paper.zip"'}
    return Response(file.getvalue(), media_type="application/zip", headers=headers)

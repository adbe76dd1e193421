"""UrbanVideo authoring: write questions of UrbanVideo-Bench's kind about clips, with any model.

Start at `benchmark.py`; `templates.py` has the categories' forms. `gnomon/curation/` takes the rows on.
"""

from gnomon_published.benchmarks.urbanvideo_authoring.benchmark import urbanvideo_authoring

__all__ = ["urbanvideo_authoring"]

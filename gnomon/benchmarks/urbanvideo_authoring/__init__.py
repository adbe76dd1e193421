"""UrbanVideo authoring: write questions of UrbanVideo-Bench's kind about clips, with any model."""

from gnomon.benchmarks.urbanvideo_authoring.benchmark import urbanvideo_authoring

__all__ = ["urbanvideo_authoring"]

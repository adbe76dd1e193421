"""Media: pictures and frames of clips, made once and kept by content for all arms, models and workers."""

from gnomon.media.store import MAX_PIXELS, MediaStore

__all__ = ["MAX_PIXELS", "MediaStore"]

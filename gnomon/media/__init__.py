"""Media: pictures and frames of clips, made once and kept by content for all arms, models and workers.

Start at `store.py` (pictures by content) and `clips.py` (frames of a clip as a rule of `frame_rules.py` picks
them, decoded by `video.py`). Benchmarks of clips use `clip_samples.py` (sample sets), `clip_folders.py`
(where clips are) and `clip_frames.py` (what is shown of one). docs/media.md.
"""

from gnomon.media.store import MediaStore

__all__ = ["MediaStore"]

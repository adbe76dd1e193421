"""A posted spec: how it is written, read, checked and frozen.

Start with `job_spec.py` (the fields of a job; arms and contrasts are in `gnomon/core/arm.py`) and
`rules.py` (all that may be wrong with a spec, in order). `preset.py` makes arms of a preset's options,
`analysis_spec.py` declares what is compared.
"""

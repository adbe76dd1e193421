"""What every tool is made of.

Start at `tool.py` (a tool and its arguments) and `toolbox.py` (the tools of one arm, bound to a sample).
`registry.py` finds plug-ins, `json_schema.py` writes their schemas. Arguments: `location.py`,
`array_args.py`, `clip.py` and `frames.py`. Computation that several tools share: `route.py`.
`regular_file.py` and `outage.py` are about the machine.
"""

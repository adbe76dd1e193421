"""The command line: one module per command in `commands/`, and what they share.

`main` finds a command by its name and turns errors into one line and an exit code; `common` opens settings,
specs and stores, and runs a job; `options` holds shared options, `progress` what is shown meanwhile. Start at
`service/gnomon_service/cli/main.py`, then `service/gnomon_service/cli/commands/run.py`.
"""

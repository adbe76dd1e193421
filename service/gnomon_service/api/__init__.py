"""The REST API: one module per group of routes, and what they share.

`app` puts it together. `middleware` checks every request, `problems` turns every error into a problem+json,
`state` is what routes share, `serializers` makes jobs and trials JSON. Start at
`gnomon_service/api/app.py`, then `service/gnomon_service/api/jobs.py`.
"""

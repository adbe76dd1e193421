"""Rate limits: what a provider key may be asked, counted in Redis for all workers on all machines.

Start with `limiter.py`. `client.py` is one process' side, `redis_limiter.py` with `acquire.lua` all share.
"""

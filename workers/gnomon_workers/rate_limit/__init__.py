"""Limits what a provider key is asked by all workers on all machines, counted in Redis.

Requests and tokens per minute are paced by GCRA (the generic cell rate algorithm), calls in flight adapt to
429s by AIMD (additive increase, multiplicative decrease), and jobs share a key by weighted fair queueing.

Start with `limiter.py`. `client.py` is one process' side: it hands out permits, some prefetched
(`prefetch.py`). `redis_limiter.py` with `acquire.lua` is the state that all share; `model.py` puts a client
around a model, and `waits.py` writes down what a job waits for.
"""

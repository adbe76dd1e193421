"""Looks up replies of earlier calls for a shard, and keeps new ones.

They are kept in the store, not in Redis: they have cost money, so they must outlive it, and would fill it.
"""

import asyncio
import functools
import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.compact_json import compact_json
from gnomon.core.model import Model, Reply, Request, memoize_by_tools
from gnomon.spec.model_providers import PROVIDERS, plugged_provider
from gnomon.spec.model_spec import ModelSpec
from gnomon_workers.store.records import Lease
from gnomon_workers.store.responses import CachedResponse
from gnomon_workers.store.store import Store
from gnomon_workers.wrapped_model import WrappedModel

DIGEST_BYTES = 16
KEPT_BATCHES = 4  # scopes of so many leases stay known: about half of them wait or run
LEAST_SCOPES = 64
# Of what is kept, part of every key: replies of an earlier format are not found. 2: with the provider's turn.
FORMAT = 2
_encode = json.JSONEncoder(check_circular=False).encode  # messages are plain data, and trees
# To what a model replies.
_IRRELEVANT = ("name", "api_key_env", "price", "rate", "prompt_cache", "tool_calls", "call_seconds")
log = logging.getLogger(__name__)


def fingerprint(spec: ModelSpec) -> bytes:
    """What decides a model's replies beside the conversation: who is asked, and its parameters."""
    # What is as it always was is left out: replies that were kept before there was a choice are found again.
    chosen = spec.model_dump(exclude_defaults=True, exclude={*_IRRELEVANT})
    facts: list[object] = [FORMAT, chosen]
    if plugged_provider(spec.id) is not None:  # another version of its code may reply otherwise
        facts.append(PROVIDERS.code(spec.id.partition("/")[0]))
    return _digest(json.dumps(facts, sort_keys=True).encode())


@functools.lru_cache(maxsize=4096)
def scope_of(model: bytes, seed: int | None) -> bytes:
    """A model and a trial's seed, which depends on sample and repeat: repeats never share a reply."""
    return _digest(model + str(seed).encode())


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:DIGEST_BYTES]


class ResponseCache:
    """Looks up and keeps replies. A trial's are fetched when it is leased: a look-up is a dictionary's.

    A new reply is kept here until it is written; then its key alone does, and the store is asked should it be
    wanted again. Known are the scopes of the last leases only, so memory does not grow with the job. A scope
    is known whole or not at all.
    """

    def __init__(self, store: Store, models: Mapping[str, bytes]) -> None:
        """`models`: fingerprints of the models that take part, by label."""
        self._store, self._models = store, models
        # A trial has one scope, a sample's arms share it. None: the body is in the store.
        self._scopes: OrderedDict[bytes, dict[bytes, str | None]] = OrderedDict()
        self._most_scopes = LEAST_SCOPES
        self._new: dict[bytes, CachedResponse] = {}
        self._lock = asyncio.Lock()

    def around(self, label: str, model: Model) -> Model:
        """The model behind the cache; one that takes no part is left as it is."""
        return CachedModel(model, self, self._models[label]) if label in self._models else model

    def prefetch(self, leases: Iterable[Lease]) -> None:
        """Fetch what is kept for these trials; runs in any thread. A store that is away keeps nothing back:
        look-ups ask it again.
        """
        trials = [lease.trial for lease in leases if lease.trial.model in self._models]
        wanted = {scope_of(self._models[trial.model], trial.seed) for trial in trials}
        self._most_scopes = max(self._most_scopes, KEPT_BATCHES * len(wanted))
        self._fetch({scope for scope in wanted if not self._is_known(scope)})

    async def get(self, scope: bytes, key: bytes) -> Reply | None:
        """The reply under that key, if one is kept."""
        bodies = self._scopes.get(scope)
        if key not in self._new and (bodies is None or bodies.get(key, "") is None):
            await asyncio.to_thread(self._fetch, {scope})
            bodies = self._scopes.get(scope)
        if key in self._new:
            return _reply_of(self._new[key].body)
        body = (bodies or {}).get(key)
        return None if body is None else _reply_of(body)

    def put(self, scope: bytes, key: bytes, reply: Reply) -> None:
        """Keep a reply; other trials of this shard find it at once. Of two under one key the first stays.

        One that is no JSON is not kept: the trial that got it goes on all the same.
        """
        fields = {name: getattr(reply, name) for name in reply.__slots__}  # asdict would copy it in depth
        try:
            body = compact_json(fields)
        except (TypeError, ValueError, RecursionError) as error:
            log.warning("a reply cannot be kept: %s", error)
            return
        self._new.setdefault(key, CachedResponse(key, scope, body))

    @asynccontextmanager
    async def keeping(self, every_s: float) -> AsyncIterator[None]:
        """Within, new replies are written from time to time, and what is left at the end."""
        flusher = asyncio.create_task(self._keep_flushing(every_s))
        try:
            yield
        finally:
            flusher.cancel()
            with suppress(asyncio.CancelledError):
                await flusher
            await self._flush()

    async def _keep_flushing(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            await asyncio.shield(self._flush())

    async def _flush(self) -> None:
        async with self._lock:
            new = list(self._new.values())
            try:
                await asyncio.to_thread(self._store.insert_responses, new)
            except Exception as error:
                expected = isinstance(error, SQLAlchemyError)
                log.warning("%d replies not kept yet: %s", len(new), error, exc_info=not expected)
                return
            for response in new:
                del self._new[response.key]
                if (bodies := self._scopes.get(response.scope)) is not None:
                    bodies[response.key] = None

    def _is_known(self, scope: bytes) -> bool:
        """Whether it is; then it is forgotten last."""
        try:
            self._scopes.move_to_end(scope)
        except KeyError:  # other threads forget scopes at any time
            return False
        return True

    def _fetch(self, scopes: set[bytes]) -> None:
        try:
            stored = self._store.responses(scopes) if scopes else {}
        except SQLAlchemyError as error:
            log.warning("replies of %d trials could not be looked up: %s", len(scopes), error)
            return
        for scope, bodies in stored.items():
            self._scopes.setdefault(scope, {**bodies}).update(bodies)  # the loop may add to it meanwhile
        while len(self._scopes) > self._most_scopes:
            self._scopes.popitem(last=False)


class CachedModel(WrappedModel):
    """A model whose replies are looked up before it is asked, and kept afterwards."""

    def __init__(self, model: Model, cache: ResponseCache, model_fingerprint: bytes) -> None:
        super().__init__(model)
        self._cache, self._fingerprint = cache, model_fingerprint
        self._offer = memoize_by_tools(lambda tools: _digest(json.dumps(tools, sort_keys=True).encode()))
        self._drawn = functools.cache(lambda decoding: json.dumps(decoding.known(), sort_keys=True))

    async def reply(self, request: Request) -> Reply:
        """The kept reply, marked `cached`, else the model's."""
        scope = scope_of(self._fingerprint, request.seed)
        key = self._key(scope, request)
        kept = await self._cache.get(scope, key)
        if kept is not None:
            return kept
        reply = await self._model.reply(request)
        self._cache.put(scope, key, reply)
        return reply

    def _key(self, scope: bytes, request: Request) -> bytes:
        """Digest of the scope, the conversation (pictures by hash), the tools offered, the choice left, and
        how the protocol has replies drawn.
        """
        head = scope + self._offer(request.tools)
        choice = f'"{request.tool_choice}"' if request.tools else "null"
        drawn = self._drawn(request.decoding)
        asked = f"[{_encode(request.messages)}, {choice}]{'' if drawn == '{}' else drawn}"
        return _digest(head + asked.encode())


def _reply_of(body: str) -> Reply:
    fields = json.loads(body)
    fields |= {name: tuple(fields.get(name, ())) for name in ("tool_calls", "request_changes", "flags")}
    return replace(Reply(**fields), cached=True)

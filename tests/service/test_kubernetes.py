"""The manifests: valid by the schemas of Kubernetes, and their commands run a job without a common disk."""

import copy
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import kubernetes_validate
import pytest
import yaml
from sqlalchemy import text

from gnomon.core.errors import SpecError
from gnomon_service.api_keys import entry_of, new_key
from gnomon_service.redis_server import RedisServer
from gnomon_workers.store import Store
from gnomon_workers.store.database import IS_POOLED
from gnomon_workers.store.store import open_store
from tests.workers.conftest import wait_until
from tests.workers.pgbouncer import ABSENT, find_pgbouncer
from tests.workers.postgresql import PostgreSQL
from tests.workers.s3_server import KEYS, s3_server

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
FILES = sorted(FOLDER.glob("*.yaml"))
OF_OTHERS = ("kustomize.config.k8s.io/v1beta1", "keda.sh/v1alpha1")  # no kinds of Kubernetes itself
VERSIONS = ("1.32", "1.37")
SPEC = {
    "benchmark": "worlds",
    "select": {"limit": 2},
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
}

Manifest = Mapping[str, Any]


def manifests() -> list[Manifest]:
    return [manifest for file in FILES for manifest in yaml.safe_load_all(file.read_text())]


def manifest(kind: str, name: str) -> Manifest:
    named = (one for one in manifests() if "metadata" in one)
    return next(one for one in named if (one["kind"], one["metadata"]["name"]) == (kind, name))


def pod(kind: str, name: str) -> Manifest:
    found: Manifest = manifest(kind, name)["spec"]["template"]["spec"]
    return found


REFERENCES = {"configMapRef": "ConfigMap", "secretRef": "Secret"}
OURS = [("Job", "gnomon-migrate"), ("Deployment", "gnomon-api"), ("Deployment", "gnomon-worker")]
PODS = [*OURS, ("Deployment", "gnomon-pgbouncer")]
KEDA = json.loads((Path(__file__).parent / "keda-2.17.json").read_text())  # the fields that we use, by us


@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_keeps_the_schema_of_its_kind(version: str) -> None:
    checked = [one for one in manifests() if one["apiVersion"] not in OF_OTHERS]
    assert len(checked) >= 9
    for one in checked:
        kubernetes_validate.validate(one, version, strict=True)


def test_a_misspelt_field_would_be_found() -> None:
    wrong = {**manifest("Service", "gnomon-api"), "sepc": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_what_a_manifest_names_is_in_another_one() -> None:
    there_are = {(one["kind"], one["metadata"]["name"]) for one in manifests() if "metadata" in one}
    resources = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    assert all((FOLDER / name).is_file() for name in resources)
    for kind, name in PODS:
        spec = pod(kind, name)
        for source in spec["containers"][0].get("envFrom", ()):
            ((reference, named),) = source.items()
            assert (REFERENCES[reference], named["name"]) in there_are
        mounts = {mount["name"] for mount in spec["containers"][0]["volumeMounts"]}
        assert mounts == {volume["name"] for volume in spec["volumes"]}
        secrets = [volume["secret"]["secretName"] for volume in spec["volumes"] if "secret" in volume]
        assert all(("Secret", secret) in there_are for secret in secrets)
        configs = [volume["configMap"]["name"] for volume in spec["volumes"] if "configMap" in volume]
        assert all(("ConfigMap", config) in there_are for config in configs)
    for budget in ("gnomon-api", "gnomon-worker", "gnomon-pgbouncer"):
        labels = manifest("PodDisruptionBudget", budget)["spec"]["selector"]["matchLabels"]
        assert labels == manifest("Deployment", budget)["spec"]["template"]["metadata"]["labels"]


def test_pods_run_as_nobody_and_provider_keys_reach_workers_alone() -> None:
    for kind, name in PODS:
        spec = pod(kind, name)
        container = spec["containers"][0]
        assert spec["securityContext"]["runAsNonRoot"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not spec["automountServiceAccountToken"]
        secrets = [
            source["secretRef"]["name"] for source in container.get("envFrom", ()) if "secretRef" in source
        ]
        assert ("gnomon-providers" in secrets) == (name == "gnomon-worker")


@pytest.mark.parametrize("kind", ["ScaledObject", "TriggerAuthentication"])
def test_the_objects_of_keda_keep_the_fields_that_it_requires(kind: str) -> None:
    scaler = manifest(kind, "gnomon-worker")
    check = jsonschema.Draft202012Validator(KEDA).validate
    check(scaler)
    for wrong in (scaler | {"sepc": {}}, scaler | {"spec": {}}, scaler | {"kind": "ScaledJob"}):
        with pytest.raises(jsonschema.ValidationError):
            check(wrong)


def test_a_scaler_whose_numbers_are_no_strings_would_be_found() -> None:
    wrong = copy.deepcopy(dict(manifest("ScaledObject", "gnomon-worker")))
    wrong["spec"]["triggers"][0]["metadata"]["targetQueryValue"] = 1
    with pytest.raises(jsonschema.ValidationError, match="is not of type 'string'"):
        jsonschema.Draft202012Validator(KEDA).validate(wrong)


def test_what_a_scaler_names_is_in_another_manifest() -> None:
    spec = manifest("ScaledObject", "gnomon-worker")["spec"]
    assert manifest("Deployment", spec["scaleTargetRef"]["name"])
    for trigger in spec["triggers"]:
        for source in manifest("TriggerAuthentication", trigger["authenticationRef"]["name"])["spec"][
            "secretTargetRef"
        ]:
            assert source["key"] in manifest("Secret", source["name"])["stringData"]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_puts_the_manifests_together_with_the_image_that_it_names() -> None:
    built = subprocess.run(
        ["kubectl", "kustomize", FOLDER], capture_output=True, text=True, check=True
    ).stdout
    of_kustomize = list(yaml.safe_load_all(built))
    names = {(one["kind"], one["metadata"]["name"]) for one in of_kustomize}
    assert set(OURS) <= names
    for one in of_kustomize:
        kubernetes_validate.validate(one, VERSIONS[0], strict=True)
        if (one["kind"], one["metadata"]["name"]) in OURS:
            image = one["spec"]["template"]["spec"]["containers"][0]["image"]
            assert image == "registry.example.org/gnomon:1"


@pytest.mark.skipif(find_pgbouncer() is None, reason=ABSENT)
def test_pgbouncer_takes_its_config_and_who_has_the_password(postgres: PostgreSQL) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    users = manifest("Secret", "gnomon-pgbouncer")["stringData"]["userlist.txt"]
    with postgres.connect() as db:
        db.execute("CREATE ROLE gnomon LOGIN")
        db.execute("CREATE DATABASE gnomon OWNER gnomon")
        config = manifest("ConfigMap", "gnomon-pgbouncer")["data"]["pgbouncer.ini"]
        for there, here in (
            ("postgres.example.org", str(postgres.folder)),
            ("6432", str(port)),
            ("0.0.0.0", "127.0.0.1"),
            ("/run/secrets/pgbouncer/userlist.txt", "userlist.txt"),
        ):
            assert there in config
            config = config.replace(there, here)
        with served_by_pgbouncer(config, users):
            url = f"postgresql://gnomon:PASSWORD@127.0.0.1:{port}/gnomon"
            with closing(open_store(url, patience_s=20.0)) as store:
                assert store.ping().startswith("postgresql")
                with store.reading() as pooled:
                    assert pooled.info[IS_POOLED]
            with pytest.raises(SpecError, match="does not open"):
                open_store(url.replace("PASSWORD", "another"))


@contextmanager
def served_by_pgbouncer(config: str, users: str) -> Iterator[None]:
    program = find_pgbouncer()
    assert program is not None
    with tempfile.TemporaryDirectory() as name:
        for file, content in (("pgbouncer.ini", config), ("userlist.txt", users)):
            (Path(name) / file).write_text(content)
        Path(name).chmod(0o755)
        user: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        pooler = subprocess.Popen(
            [program, "--quiet", "pgbouncer.ini"], cwd=name, **(user if os.geteuid() == 0 else {})
        )
        try:
            yield
        finally:
            pooler.kill()
            pooler.wait()


@pytest.fixture
def stores(tmp_path: Path, postgres: PostgreSQL) -> Iterator[dict[str, str]]:
    """Addresses of a PostgreSQL, a Redis and a bucket, in the variables of the manifests."""
    (tmp_path / "buckets" / "gnomon-media").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with RedisServer(tmp_path / "queue") as redis, s3_server(tmp_path / "buckets", port):
        yield {
            "GNOMON_DATABASE_URL": postgres.emptied(),
            "GNOMON_REDIS_URL": redis.url,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": KEYS[0],
            "AWS_SECRET_ACCESS_KEY": KEYS[1],
        }


def environment(kind: str, name: str, here: Mapping[str, str]) -> dict[str, str]:
    """What the container gets, with the addresses of `here` in place of the operator's."""
    given: dict[str, str] = {}
    for source in pod(kind, name)["containers"][0]["envFrom"]:
        for reference, named in source.items():
            of = manifest(REFERENCES[reference], named["name"])
            given |= of.get("data") or of["stringData"]
    assert not here.keys() - given.keys()
    return {**given, **here}


def test_the_commands_of_the_manifests_run_a_job_without_a_common_disk(
    stores: dict[str, str], tmp_path: Path, warm_path: str
) -> None:
    installed = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    key = new_key()
    (tmp_path / "keys").write_text(f"{entry_of(key, 'run')}\n")

    def command(kind: str, name: str, *more: str) -> dict[str, Any]:
        path = installed if name == "gnomon-worker" else warm_path  # a worker becomes another program
        env = environment(kind, name, stores) | {"GNOMON_DATA_DIR": str(tmp_path / name), "PATH": path}
        args = pod(kind, name)["containers"][0]["args"]
        if name == "gnomon-api":
            assert pod(kind, name)["containers"][0]["env"][0]["name"] == "GNOMON_API_KEYS_FILE"
            env["GNOMON_API_KEYS_FILE"] = str(tmp_path / "keys")
        return {"args": ["gnomon", *args, *more], "env": env, "cwd": tmp_path}

    migrated = subprocess.run(**command("Job", "gnomon-migrate"), capture_output=True, text=True, check=False)
    assert migrated.returncode == 0, migrated.stderr
    served = command("Deployment", "gnomon-api", "--port", "0")
    started = [subprocess.Popen(**served, stdout=subprocess.PIPE, text=True)]
    store = Store(stores["GNOMON_DATABASE_URL"])
    container = pod("Deployment", "gnomon-api")["containers"][0]
    try:
        assert started[0].stdout is not None
        with started[0].stdout as said:
            url = said.readline().strip()
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as api:

            def is_ready() -> bool:
                try:
                    return api.get(container["readinessProbe"]["httpGet"]["path"]).status_code == 200
                except httpx.TransportError:
                    return False

            wait_until(is_ready)
            assert api.get(container["livenessProbe"]["httpGet"]["path"]).status_code == 200
            ready = api.get("/readyz").json()
            assert (ready["store"].split()[0], ready["media"]) == ("postgresql", "ok")
            job = api.post("/v1/jobs", json=SPEC).json()
            assert wanted_workers(store) == store.job(job["id"]).shards
            started.append(subprocess.Popen(**command("Deployment", "gnomon-worker")))
            wait_until(lambda: api.get(f"/v1/jobs/{job['id']}").json()["status"] == "completed")
            assert store.job(job["id"]).counts.scored == 4
            assert wanted_workers(store) == 0
            kept = [path for path in (tmp_path / "buckets").rglob("*") if path.is_file()]
            assert len(kept) == 2  # a town's map and a building's
            assert not (tmp_path / "gnomon-api" / "media").exists()
            shown = api.get(f"/ui/media/{kept[0].name}")
            assert shown.content == kept[0].read_bytes()
    finally:
        store.close()
        for process in started:
            process.terminate()
        codes = [process.wait(60) for process in started]
    assert codes == [0, 0]


def wanted_workers(store: Store) -> float:
    """What the scaler of the workers is told."""
    query = manifest("ScaledObject", "gnomon-worker")["spec"]["triggers"][0]["metadata"]["query"]
    with store.reading() as db:
        return float(db.execute(text(query)).scalar_one())

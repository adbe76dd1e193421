"""The managed Redis of a data folder."""

import os
import signal
import stat
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from gnomon.core.errors import Conflict, GnomonError
from gnomon_service.redis_server import RedisServer, find_server, socket_path, version_of
from tests.workers.conftest import wait_until


def test_it_answers_on_a_socket_that_only_its_owner_can_reach(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server, Redis.from_url(server.url) as client:
        assert client.ping()
        assert client.config_get("port") == {"port": "0"}
        assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(server.socket.stat().st_mode) == 0o700


def test_a_data_folder_has_one_server(tmp_path: Path) -> None:
    with RedisServer(tmp_path), pytest.raises(Conflict, match="in use"):
        RedisServer(tmp_path).start()
    with RedisServer(tmp_path) as again, Redis.from_url(again.url) as client:
        assert client.ping()


def test_a_folder_whose_name_is_too_long_for_a_socket_gets_a_short_one(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    assert len(str(socket_path(deep))) < 108
    with RedisServer(deep) as server, Redis.from_url(server.url) as client:
        assert client.ping()


def test_a_killed_server_comes_back_with_what_it_held(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server, Redis.from_url(server.url) as client:
        client.set("key", "value")
        client.config_set("appendfsync", "always")
        client.set("key", "value")
        pid = client.info("server")["process_id"]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: _pid(server.url) not in (None, pid))
        assert client.get("key") == b"value"


def _pid(url: str) -> int | None:
    with Redis.from_url(url) as client:
        try:
            return int(client.info("server")["process_id"])
        except Exception:
            return None


def test_a_broken_data_file_is_moved_aside(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server, Redis.from_url(server.url) as client:
        for number in range(50):
            client.set(f"key{number}", "x" * 50)
    (file,) = server.folder.glob("appendonlydir/*.incr.aof")
    data = bytearray(file.read_bytes())
    data[200:260] = b"!" * 60
    file.write_bytes(bytes(data))
    with RedisServer(tmp_path) as server, Redis.from_url(server.url) as client:
        assert client.dbsize() == 0
        assert list(server.folder.glob("broken-*"))


def test_the_server_that_is_found_has_every_security_fix() -> None:
    assert version_of(find_server()) >= (9, 1)  # of Valkey


def test_without_the_package_a_server_on_the_path_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = find_server()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GnomonError, match="install one or set GNOMON_REDIS_URL"):
        find_server()
    (tmp_path / "redis-server").symlink_to(packaged)
    assert find_server() == tmp_path / "redis-server"


def test_a_client_cannot_load_a_module_or_choose_where_files_are_written(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server, Redis.from_url(server.url) as client:
        for command in (
            ("CONFIG", "SET", "dir", "/tmp"),
            ("CONFIG", "SET", "dbfilename", "x"),
            ("MODULE", "LOAD", "/tmp/x.so"),
            ("DEBUG", "SLEEP", "0"),
        ):
            with pytest.raises(ResponseError, match=r"(?i)not allowed|protected"):
                client.execute_command(*command)


def test_what_an_older_server_left_in_one_file_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "redis"
    folder.mkdir()
    (folder / "appendonly.aof").write_bytes(b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n")
    with RedisServer(tmp_path) as server, Redis.from_url(server.url) as client:
        assert client.get("key") == b"value"

"""Files at addresses: a store in memory, and a server on this machine."""

from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from optional import optional_import

import bioeval as be


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def scores():
    return be.simulate(12, 3, random_state=1)


@pytest.fixture
def server(tmp_path):
    found = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path))
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{found.server_port}"
    found.shutdown()
    thread.join()
    found.server_close()


@pytest.mark.parametrize("name", ["x.npz", "x.h5"])
def test_a_file_of_a_server(name, scores, server, tmp_path):
    be.save(scores, tmp_path / name)
    assert (be.load(f"{server}/{name}").values == scores.values).all()


@pytest.mark.parametrize("name", ["x.npz", "x.h5", "x.zarr"])
def test_a_file_of_a_store_in_memory(name, scores, tmp_path):
    fsspec = optional_import("fsspec")
    if name.endswith("zarr"):
        optional_import("zarr")
    be.save(scores, tmp_path / name)
    fsspec.filesystem("memory").put(
        str(tmp_path / name), f"/{tmp_path.name}/{name}", recursive=True
    )
    found = be.load(f"memory://{tmp_path.name}/{name}", memory_limit="100 MiB")
    assert found._limited
    assert (found.values == scores.values).all()
    assert be.verification(found).eer == be.verification(scores).eer


def test_what_is_not_there_is_named_without_secrets(server):
    optional_import("fsspec")
    with pytest.raises(be.DataError, match=r"/none.npz: cannot be read \(HTTP Error 404") as found:
        be.load(f"{server}/none.npz?token=secret")
    assert "secret" not in str(found.value)
    with pytest.raises(be.DataError, match="memory://none.npz: cannot be read"):
        be.load("memory://none.npz")
    with pytest.raises(be.DataError, match="nowhere://x/y.npz: cannot be read"):
        be.load("nowhere://x/y.npz")

"""Variables of the environment: what cannot be used is said in one line, before any work."""

import os
import subprocess
import sys

import pytest
from named_arguments import refused

import bioeval as be
from bioeval.cli import main


def run(folder, *words, **variables):
    process = subprocess.run(
        [sys.executable, "-m", "bioeval", *words],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return process.returncode, process.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NUMBA_NUM_THREADS", "0"),
        ("NUMBA_NUM_THREADS", "x"),
        ("NUMBA_NUM_THREADS", ""),
        ("SOURCE_DATE_EPOCH", "x"),
        ("SOURCE_DATE_EPOCH", "-1"),
        ("SOURCE_DATE_EPOCH", "1e30"),
        ("SOURCE_DATE_EPOCH", "999999999999"),
    ],
)
def test_a_number_that_is_none(monkeypatch, capsys, name, value):
    monkeypatch.setenv(name, value)
    assert main(["info"]) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert f"error: the environment variable {name} is {value!r}; expected a whole number" in error


def test_the_date_of_a_page(monkeypatch, tmp_path):
    results = be.verification(be.simulate(4, 2, random_state=1))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    be.report(results, tmp_path / "page.html")
    assert "1970-01-02" in (tmp_path / "page.html").read_text(encoding="utf-8")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with refused("SOURCE_DATE_EPOCH is 'today'"):
        be.report(results, tmp_path / "other.html")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["module://matplotlib_inline.backend_inline", "nope"])
def test_plots_are_drawn_whatever_the_backend(tmp_path, backend):
    be.save(be.simulate(4, 2, random_state=1), tmp_path / "in.npz")
    code, output = run(tmp_path, "run", "in.npz", "--out", "o", "--plots", MPLBACKEND=backend)
    assert code == 0, output
    assert list((tmp_path / "o").glob("*.png"))

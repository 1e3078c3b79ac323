"""``bioeval report A B --margin``: what is not worse, or equivalent, on the page."""

from __future__ import annotations

import re

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

QUICK = ["--folds", "0", "--replicates", "100", "--force"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("systems")
    scores = be.simulate(40, 3, random_state=1)
    rng = np.random.default_rng(0)
    for name, noise in (("old", 0.0), ("new", 0.05), ("bad", 4.0)):
        values = scores.values + noise * rng.random(scores.values.shape)
        be.save(be.Scores(values + values.T, scores.probe_labels), folder / f"{name}.npz")
    return folder


@pytest.fixture
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def seen(path) -> str:
    text = re.sub(r"<(script|style).*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


@pytest.mark.slow
def test_the_page_says_what_is_equivalent(inside):
    assert (
        main(["report", "new.npz", "old.npz", "--out", "a.html", "--margin", "0.05", *QUICK]) == 0
    )
    found = be.compare(be.load("new.npz"), be.load("old.npz"), margin=0.05, replicates=100)
    assert found.equivalent.sel(measure="EER") == 1
    assert "equivalent within 5 pp" in seen(inside / "a.html")
    assert main(["report", "new.npz", "old.npz", "--out", "b.html", *QUICK]) == 0
    assert "equivalent within" not in seen(inside / "b.html")


@pytest.mark.slow
def test_the_first_system_is_compared_with_the_others(inside):
    """Without a margin it would be the best."""
    words = ["report", "bad.npz", "old.npz", "new.npz", "--out", "a.html"]
    assert main([*words, "--margin", "eer=0.01", *QUICK]) == 0
    page = seen(inside / "a.html")
    assert page.index("Comparison of two systems") < page.index("bad and old Data")
    assert "bad and new Data" in page
    assert "bad may be worse by more than 1 pp" in page
    assert "is smallest for bad" not in page


@pytest.mark.slow
def test_a_page_that_chooses_the_best_system_says_that_its_lead_is_partly_chance(inside):
    words = ["report", "bad.npz", "old.npz", "new.npz", "--out", "a.html", *QUICK]
    chance = "A system that is chosen because it has the best value looks better than it is"
    assert main(words) == 0
    page = seen(inside / "a.html")
    assert "Comparison of several systems" in page and chance in page
    # The first one is compared because it was named beforehand, though it is the best as well.
    words[1:4] = ["new.npz", "bad.npz", "old.npz"]
    assert main([*words, "--margin", "0.01"]) == 0
    page = seen(inside / "a.html")
    assert "is smallest for" in page and chance not in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a.npz", "--margin", "0.1"], "--margin compares systems, and there is one"),
        (["old.npz", "new.npz", "--margin", "2"], "--margin is 2.0; expected a proportion below 1"),
        (["old.npz", "new.npz", "--margin", "x=0.1"], "a measure of --margin is 'x'"),
        (["old.npz", "results.nc", "--margin", "0.1"], "--margin needs scores; results.nc holds"),
    ],
)
def test_wrong_use_is_one_line(inside, capsys, words, says):
    assert main(["report", *words, "--out", "c.html", *QUICK]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error

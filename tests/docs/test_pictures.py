"""The pictures of the pages are those that ``docs/images/make.py`` draws."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from pages import ROOT
from PIL import Image

from bioeval.plot.systems import PLOTS

IMAGES = ROOT / "docs" / "images"


def near(name: str, drawn: Path) -> None:
    """Check that a picture of the pages equals the drawn picture."""
    sides = []
    for path in (IMAGES / name, drawn):
        with Image.open(path) as picture:
            sides.append(np.asarray(picture.convert("L"), dtype=float))
    stored, new = sides
    assert stored.shape == new.shape, name
    assert np.abs(stored - new).mean() < 0.2, f"{name}: run docs/images/make.py"


@pytest.mark.slow
def test_pictures_are_those_that_the_script_draws(tmp_path):
    draws = {
        f"{draw.__name__.replace('_', '-')}.png": draw
        for draw in runpy.run_path(str(IMAGES / "make.py"))["PICTURES"]
    }
    assert sorted(draws) == sorted(path.name for path in IMAGES.glob("*.png"))
    del draws["report.png"]  # of a browser; the page has tests of its own
    for name, draw in draws.items():
        draw(tmp_path / name)
        near(name, tmp_path / name)


def test_each_plot_of_the_gallery_has_a_picture():
    """Below its code, of the size of a slide, and small enough to load at once."""
    cell = runpy.run_path(str(IMAGES / "make.py"))["CELL"]
    page = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
    pictures = {}
    for code, name in cell.findall(page):
        pictures |= dict.fromkeys(re.findall(r"^be\.plot\.(\w+)\(", code, re.M), name)
    assert {*pictures} == {*PLOTS} and all(pictures.values())
    for path in (IMAGES / "plots").iterdir():
        with Image.open(path) as picture:
            assert picture.size == (640, 360)
        assert path.stat().st_size < 40_000, f"{path.name}: run docs/images/make.py"
        assert f"](images/plots/{path.name})" in page


@pytest.mark.slow
def test_pictures_of_the_gallery_are_those_of_its_code(tmp_path):
    drawn = runpy.run_path(str(IMAGES / "make.py"))["gallery"](tmp_path)
    assert len(drawn) > len(PLOTS)
    for name in drawn:
        near(name, tmp_path / name)

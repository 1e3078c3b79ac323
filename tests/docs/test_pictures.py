"""The pictures of the pages are those that ``docs/images/make.py`` draws."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from pages import ROOT
from PIL import Image

IMAGES = ROOT / "docs" / "images"


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
        sides = []
        for folder in (IMAGES, tmp_path):
            with Image.open(folder / name) as picture:
                sides.append(np.asarray(picture.convert("L"), dtype=float))
        kept, new = sides
        assert kept.shape == new.shape, name
        assert np.abs(kept - new).mean() < 0.2, f"{name}: run docs/images/make.py"

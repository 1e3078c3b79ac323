"""Names in plots are those of the data, also where they have the letters of a rate."""

import pytest
import xarray as xr
from drawn_plots import ONE, made_for
from matplotlib.text import Text

import bioeval as be
from bioeval.plot.registry import PLOTS
from bioeval.views.terms import in_terms

NAME = "FAR-net DIR"


@pytest.mark.parametrize("name", sorted({*PLOTS} - {"attack_det", "ranked_lists"}))
@pytest.mark.slow
def test_a_system_keeps_its_name_in_the_words_of_iso(name):
    """A rate of the same name is in these words."""
    data = made_for(name)
    if isinstance(data, xr.Dataset | xr.DataTree):
        data = in_terms(data, "iso")
    draw = getattr(be.plot, name)
    display = draw(data, name=NAME) if name in ONE else draw({NAME: data})
    texts = [" ".join(text.get_text().split()) for text in display.figure_.findobj(Text)]
    written = "\n".join(texts)
    assert "-net" not in written.replace(NAME, "")

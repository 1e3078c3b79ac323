"""Words of plots lie inside the figure and off the data, in each style and of many systems."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn_plots import INSIDE, MANY, ONE, drawn, holds, made_for, overlap, texts
from matplotlib.cbook import STEP_LOOKUP_MAP
from matplotlib.colors import to_rgb
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import bioeval as be
from bioeval.plot import plot_axes
from bioeval.plot.systems import PLOTS


@pytest.fixture(autouse=True)
def nothing_left_behind():
    settings = dict(plt.rcParams)
    yield
    assert plot_axes.Style.look is plot_axes.LOOKS["default"]
    assert dict(plt.rcParams) == settings


def drawn_in(name, look, **options):
    """Return a plot of one system, drawn in a style."""
    with be.plot.style(look):
        return drawn(name, **options)


def lies_on(box: Bbox, line: Line2D) -> bool:
    """Whether a line is drawn inside a box of its axes."""
    box = Bbox.intersection(box, line.axes.get_window_extent())
    horizontal, vertical = (np.asarray(values, dtype=float) for values in line.get_data(orig=False))
    horizontal, vertical = STEP_LOOKUP_MAP[line.get_drawstyle()](horizontal, vertical)
    is_finite = np.isfinite(horizontal) & np.isfinite(vertical)
    places = line.get_transform().transform(np.column_stack([horizontal, vertical])[is_finite])
    if box is None or not len(places):
        return False
    if line.get_linestyle() == "None":
        return bool(((places > box.min) & (places < box.max)).all(axis=1).any())
    return bool(Path(places).intersects_bbox(box, filled=False))


def off_the_data(display) -> None:
    """Hold that no text or key lies on a curve; references, which are thin and grey, are none."""
    renderer = display.figure_.canvas.get_renderer()
    for axes in display.figure_.axes:
        curves = [x for x in axes.lines if x.get_zorder() >= 1.5 or len(x.get_xdata()) > 2]
        words = [x for x in axes.texts if x.get_text().strip()]
        for word in filter(None, [*words, axes.get_legend()]):
            extent = Text.get_window_extent if word in words else Legend.get_window_extent
            for line in filter(Line2D.get_visible, curves):
                assert not lies_on(extent(word, renderer), line), f"{word} on {line.get_label()}"


@pytest.mark.parametrize("name", sorted(ONE - INSIDE))
def test_words_of_one_result_lie_off_the_data(name):
    off_the_data(drawn(name))


@pytest.mark.parametrize("name", MANY)
def test_names_of_six_systems_lie_off_the_data(name):
    display = drawn(name, 6)
    off_the_data(display)
    holds(display.figure_, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLOTS))
def test_letters_of_a_slide_are_read_from_the_last_row(name):
    figure = drawn_in(name, "slide").figure_
    assert figure.get_size_inches().tolist() == [6.4, 3.6]
    least = 72 * 3.6 / 30
    small = {x.get_text(): x.get_fontsize() for x in texts(figure) if x.get_fontsize() < least}
    assert not small, f"{least:g} points or more: {small}"
    holds(figure, name)


# ------------------------------------------------------------------------------- choosing


@pytest.fixture(scope="module")
def single():
    return be.verification(be.simulate(15, 4, within=0.7, random_state=1))


def width(display) -> float:
    return float(display.figure_.get_size_inches()[0])


def test_a_style_holds_to_the_end_of_a_block_or_until_another(single):
    with be.plot.style("paper"):
        assert width(be.plot.roc(single)) == 3.5
        with be.plot.style("slide"):
            assert width(be.plot.roc(single)) == 6.4
        assert width(be.plot.roc(single)) == 3.5
    assert width(be.plot.roc(single)) == 5.6
    be.plot.style("slide")
    try:
        assert width(be.plot.det(single)) == 6.4
    finally:
        be.plot.style("default")
    with pytest.raises(ZeroDivisionError), be.plot.style("slide"):
        1 / 0  # noqa: B018
    with pytest.raises(be.DataError, match="slides.*slide"):
        be.plot.style("slides")


@pytest.mark.parametrize("bad", [3, (3,), (0.5, 3), ("a", "b"), (3, np.nan), (3, 200)])
def test_a_bad_figsize_is_refused(single, bad):
    with pytest.raises(
        be.DataError, match="`figsize` is .*; expected a width and a height in inches"
    ):
        be.plot.roc(single, figsize=bad)


# ---------------------------------------------------------------- what a slide has to say


@pytest.mark.parametrize("name", ["roc", "det", "dir_far"])
def test_marks_that_were_not_measured_are_hollow(name, single):
    data = be.open_set(be.simulate(15, 4, within=0.7)) if name == "dir_far" else single
    options = {"ranks": [1]} if name == "dir_far" else {}
    display = getattr(be.plot, name)({"a": data, "b": data}, **options)
    for curve in display.lines_.values():
        assert to_rgb(curve.get_markerfacecolor()) == (1, 1, 1)
        assert isinstance(curve.get_markevery(), tuple)  # by length, not by points


@pytest.mark.parametrize(("within", "starts"), [(0.5, True), (1.2, False)])
def test_an_axis_that_does_not_start_at_0_has_a_mark(within, starts):
    closed = be.closed_set(be.simulate(30, 4, within=within, random_state=1))
    ax = be.plot.cmc(closed).ax_
    assert len(ax.collections) == starts == (ax.get_ylim()[0] > 0)
    assert ax.get_ylim()[0] < closed.cms.min()


def test_the_zoo_writes_its_names_inside_the_axes_and_apart():
    scores = be.simulate(30, 4, within=0.8, random_state=1)
    names = [f"participant number {x}" for x in scores.probe_labels]
    long = be.Scores(scores.values, names, kind=scores.kind)
    display = be.plot.zoo(be.zoo(long, permutations=10))
    display.figure_.canvas.draw()
    axes_box = display.ax_.get_window_extent()
    boxes = [label.get_window_extent() for label in display.drawn]
    assert len(boxes) > 3
    assert all(axes_box.contains(*box.min) and axes_box.contains(*box.max) for box in boxes)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


@pytest.mark.slow
@pytest.mark.parametrize("look", ["slide", "paper"])
@pytest.mark.parametrize("number", [2, 4, 8, 14])
def test_groups_with_long_names_fit(look, number):
    names = [f"people of the cohort of {1950 + i}" for i in range(number)]
    scores = be.simulate(60, 3, random_state=1)
    data = be.by_group(scores, [names[subject % number] for subject in scores.probe_labels])
    with be.plot.style(look):
        display = be.plot.groups(data)
    figure = display.figure_
    figure.canvas.draw()
    holds(figure, "groups")
    renderer = figure.canvas.get_renderer()
    for axes in display.figure_.axes[:2]:
        assert axes.get_window_extent().height > figure.bbox.height / 5
        for ticks in (axes.get_xticklabels(), axes.get_yticklabels()):
            boxes = [Text.get_window_extent(x, renderer) for x in ticks if x.get_text()]
            for first, second in itertools.combinations(boxes, 2):
                assert not overlap(first, second)


@pytest.mark.slow
def test_the_legend_of_a_matrix_leaves_room_for_names_that_are_turned():
    display = be.plot.matrix(be.datasets.faces("eigenfaces"))
    display.figure_.canvas.draw()
    label = display.ax_.xaxis.label.get_window_extent()
    assert not display.legend_.get_window_extent().overlaps(label)
    holds(display.figure_, "matrix")


def test_six_systems_fit_a_slide():
    """Long names leave the axes at least a third of the height."""
    with be.plot.style("slide"):
        figure = drawn("roc", 6).figure_
    assert figure.axes[0].get_window_extent().height > figure.bbox.height / 3
    holds(figure, "roc")


NAME = "FAR-net DIR"


@pytest.mark.parametrize("name", sorted({*PLOTS} - {"ranked_lists"}))
@pytest.mark.slow
def test_a_system_keeps_its_name(name):
    """Which looks like rates."""
    data = made_for(name)
    draw = getattr(be.plot, name)
    display = draw(data, name=NAME) if name in ONE else draw({NAME: data})
    texts = [" ".join(text.get_text().split()) for text in display.figure_.findobj(Text)]
    written = "\n".join(texts)
    assert "-net" not in written.replace(NAME, "")


# ----------------------------------------------------------------------- names of systems


@pytest.fixture(scope="module")
def ten_systems():
    return [
        be.verification(be.simulate(12, 3, within=0.6 + 0.05 * i, random_state=i))
        for i in range(10)
    ]


@pytest.mark.parametrize("plot", ["det", "roc", "error_rates"])
@pytest.mark.parametrize("look", ["default", "slide", "paper"])
@pytest.mark.parametrize("systems", [2, 6, 10])
@pytest.mark.parametrize("letters", [5, 32, 110])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.cases(6)
def test_a_legend_of_any_names_is_in_the_figure_and_off_the_points(
    ten_systems, alike, letters, systems, look, plot
):
    rng = np.random.default_rng(letters)
    words = "".join(rng.choice([*"abcdefgh_"], letters - 2))
    names = [
        words + f"{i:02}" if alike else f"{i:02}" + "".join(rng.permutation([*words]))
        for i in range(systems)
    ]
    with be.plot.style(look):
        display = getattr(be.plot, plot)(dict(zip(names, ten_systems, strict=False)))
    display.figure_.canvas.draw()
    legend, axes = (x.get_window_extent() for x in (display.legend_, display.ax_))
    assert not overlap(legend, axes)
    figure = display.figure_.bbox.padded(1)
    assert figure.contains(*legend.min) and figure.contains(*legend.max)
    assert axes.height > figure.height / 5
    written = [x.get_text().replace("\n", " ") for x in display.legend_.get_texts()]
    assert len({*written}) == len(written)


def test_what_all_names_share_is_said_once(ten_systems):
    names = [f"runs/market1501/resnet50_{x}/distances.npz" for x in ("triplet", "softmax")]
    display = be.plot.roc(dict(zip(names, ten_systems, strict=False)))
    assert [x.get_text() for x in display.legend_.get_texts()] == ["triplet", "softmax"]
    assert list(display.lines_) == names
    caption = " ".join(x.get_text() for x in texts(display.figure_))
    assert "names: runs/market1501/resnet50_…distances.npz" in caption.replace("\n", " ")


@pytest.mark.parametrize("number", range(14))
def test_each_line_has_a_contrast_with_white(number):
    """The contrast of WCAG 2.2, success criterion 1.4.11: at least 3:1."""
    rgb = np.array(plot_axes.Style.colour(number))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    assert 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 3

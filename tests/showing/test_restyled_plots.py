"""Readers restyle plots: colours, letters, titles and labels of every plot, and their legends."""

import re

import matplotlib.pyplot as plt
import pytest
from drawn_plots import ONE, drawn, holds, made_for, texts
from matplotlib.colors import to_rgb
from matplotlib.text import Text

import bioeval as be
from bioeval.plot.systems import PLOTS


def colours(display) -> set[tuple[float, ...]]:
    """Return the colours of all lines, patches and collections of a figure."""
    colours_drawn = set()
    for artist in display.figure_.findobj():
        for name in ("get_color", "get_facecolor", "get_edgecolor"):
            colour = getattr(artist, name, lambda: None)()
            if isinstance(colour, str):
                colours_drawn.add(to_rgb(colour))
            elif colour is not None and len(colour):
                colours_drawn |= (
                    {tuple(map(float, x[:3])) for x in ([colour] if len(colour) < 5 else colour)}
                    if (not hasattr(colour, "ndim") or colour.ndim == 1)
                    else {tuple(x[:3].tolist()) for x in colour}
                )
    return colours_drawn


def words(display) -> str:
    return "\n".join(" ".join(x.get_text().split()) for x in display.figure_.findobj(Text))


#: Plots whose colours are a scale of numbers, or the faces of people.
WITHOUT_COLOURS = {"matrix", "worst_pairs"}


@pytest.mark.parametrize("name", sorted(PLOTS))
def test_every_plot_takes_colours_letters_a_title_and_a_label(name):
    options = {"colors": ["#123456"], "fontsize": 13, "title": "A title", "labels": ["Renamed"]}
    if name == "ranking":
        options["labels"] = ["one", "two", "Renamed"]
    display = drawn(name, **options)
    assert "A title" in words(display)
    # The name of a single system of these is in the title alone.
    assert "Renamed" in words(display) or name in {*ONE, "worst_pairs"} - {"ranking"}
    assert name in WITHOUT_COLOURS or to_rgb("#123456") in colours(display)
    assert display.ax_.xaxis.label.get_fontsize() == 13


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLOTS))
def test_letters_twice_as_large_do_not_run_into_each_other(name):
    with plt.rc_context({"font.size": 20}):
        display = drawn(name)
    assert display.ax_.xaxis.label.get_fontsize() == 20
    holds(display.figure_, name)


@pytest.mark.slow
def test_colours_and_labels_are_by_system_or_in_order():
    systems = {"a": made_for("roc"), "b": made_for("roc", 1)}
    display = be.plot.roc(systems, colors={"b": "tab:red"}, labels={"b": "better"})
    default_colour = be.plot.roc(systems).lines_["a"].get_color()
    assert display.lines_["a"].get_color() == default_colour
    assert to_rgb(display.lines_["better"].get_color()) == to_rgb("tab:red")
    display = be.plot.roc(systems, colors=["black", "0.5"], labels=["first", "second"])
    assert [to_rgb(x.get_color()) for x in display.lines_.values()] == [(0, 0, 0), (0.5,) * 3]
    assert list(display.lines_) == ["first", "second"]
    ranking = be.plot.ranking(made_for("ranking"), colors={"b": "tab:red"})
    assert to_rgb("tab:red") in colours(ranking)
    templates = be.evaluate(be.simulate(12, 3, random_state=1))["verification"]
    display = be.plot.roc(templates, labels=["one template", "all templates"])
    assert list(display.lines_) == ["one template", "all templates"]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLOTS))
def test_labels_translate_every_word_of_a_plot(name):
    def shown(display):
        found = {" ".join(x.get_text().split()) for x in texts(display.figure_)}
        return {x for x in found if "mathdefault" not in x} | {display.caption}

    plain = shown(drawn(name))
    english = {x for text in plain for x in re.findall(r"\b[A-Za-z]\w+", text)}
    greek = {x: "λ" * len(x) for x in english}
    display = drawn(name, labels=greek)
    translated = shown(display)
    assert english and not re.findall(r"\b[A-Za-z]\w+", " ".join(translated))
    # Nothing but words is exchanged, and a phrase goes before its words.
    assert {len(x) for x in plain} == {len(x) for x in translated}
    if name == "roc":
        labels = {"False accept rate, FAR": "Taux", "FAR": "TFA", "ISO": "FAR"}
        assert drawn(name, labels=labels).ax_.get_xlabel() == "Taux (FAR: FMR)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colors": "red"}, "colors.*expected a list"),
        ({"colors": []}, "colors is empty"),
        ({"colors": ["blurple"]}, r"colors\[0\] is .*blurple.*; expected a colour"),
        ({"colors": {"c": "red"}}, "colors.*'c'.*'a'"),
        ({"labels": ["x"]}, "labels has 1 names, but the plot has 2"),
        ({"labels": {"c": "x"}}, "labels has 'c', but the plot has no such system or word"),
        ({"labels": [1, 2]}, "labels"),
        ({"fontsize": "large"}, "fontsize.*'large'"),
        ({"label": "x"}, r"label is no property of a plot; labels=\[...\]"),
        ({"linewdth": 2}, "be.plot.roc cannot be drawn with linewdth=2: .*linewdth"),
        ({"linewidth": "wide"}, "be.plot.roc cannot be drawn with linewidth='wide'"),
        ({"rank": 1}, "be.plot.roc cannot be drawn with rank=1"),
        ({"title": 3}, "title"),
    ],
)
def test_wrong_words_of_style_are_refused(options, message):
    systems = {"a": made_for("roc"), "b": made_for("roc", 1)}
    with pytest.raises(be.DataError, match=message):
        be.plot.roc(systems, **options)


@pytest.mark.parametrize("name", sorted({*PLOTS} - {"groups"}))
def test_no_plot_takes_a_property_that_its_artists_lack(name):
    with pytest.raises(be.DataError, match=f"be.plot.{name} cannot be drawn with wdth=1"):
        drawn(name, wdth=1)


def test_a_legend_is_drawn_anew():
    display = be.plot.roc({"a": made_for("roc"), "b": made_for("roc", 1)}, fontsize=7)
    display.lines_["a"].set(label="mine", color="red")
    legend = display.legend()
    assert [x.get_text() for x in legend.get_texts()] == ["mine", "b"]
    assert legend.legend_handles[0].get_color() == "red"
    assert legend is display.ax_.get_legend() is display.legend_
    assert legend.get_texts()[0].get_fontsize() < 7
    drawn_legend = display.legend(loc="lower right")
    display.figure_.canvas.draw()
    assert display.ax_.get_window_extent().overlaps(drawn_legend.get_window_extent())
    # It has the words of its plot, and no other plot has them.
    display = be.plot.error_rates(made_for("error_rates"), labels={"FAR": "TFA", "other": "x"})
    names = " ".join(x.get_text() for x in display.legend(loc="upper right").get_texts())
    for text in (display.caption, names):
        assert "TFA" in text and "FAR" not in text
    assert "FAR" in be.plot.error_rates(made_for("error_rates")).caption


def test_distributions_of_two_systems_are_two_panels():
    systems = {name: made_for("score_distributions", i) for i, name in enumerate("abc")}
    two = dict(list(systems.items())[:2])
    display = be.plot.score_distributions(two, thresholds={"t": 4.0})
    left_panel, right_panel = display.figure_.axes
    assert left_panel.get_title("left").endswith("a") and right_panel.get_title("left") == "b"
    assert left_panel.get_legend_handles_labels()[1] == ["Genuine", "Impostor", "t"]
    outlines, ax = plt.subplots(layout="constrained")
    display = be.plot.score_distributions(two, ax)
    assert outlines.axes == [ax] == [display.ax_]
    assert len(ax.get_legend_handles_labels()[1]) == 4
    assert len(be.plot.score_distributions(systems).figure_.axes) == 1

"""What the data do not support is withheld alike: by tables in every form, commands, and plots.

20 people form 190 pairs, of which any number of templates makes no more. By the rule of 3, a FAR of
10 % needs 30 pairs, 1 % needs 300 and 0.01 % needs 30,000.
"""

import re

import pytest

import bioeval as be

#: The label of a row or of a column, in any form. A sentence names a target after "for".
AT_FAR = re.compile(
    r"(?<!for )(?:FRR|DIR) at FAR (?:<=|&lt;=|\$\\leq\$) (10|1|0\.1|0\.01)(?:\\,\\| )%"
)


def small() -> be.Scores:
    return be.simulate(20, 4, random_state=1)


def galleries() -> object:
    split = be.partition.ProbeGallerySplit(1, n_repeats=3, random_state=0)
    return be.repeat(small(), split)


def folds() -> object:
    halves = be.partition.SubjectKFold(2)
    return be.cross_evaluate(small(), halves, far_targets=[0.1, 0.01, 0.001, 0.0001])


def far_targets_in(text: str) -> set[str]:
    """The FAR targets, in per cent, of the rows and columns of a text."""
    return set(AT_FAR.findall(" ".join(text.split())))


RESULTS = {
    "evaluation": (lambda: be.evaluate(small()), {"10"}),
    "one task": (lambda: be.verification(small()), {"10"}),
    "open set": (lambda: be.open_set(small()), set()),
    "single gallery": (lambda: be.open_set(small(), gallery="single"), set()),
    "partitions": (galleries, {"10"}),
    "folds": (folds, {"10"}),  # the 10 people of a test part form 45 pairs
    "systems": (
        lambda: {"a": be.verification(small()), "b": be.verification(small())},
        {"10"},
    ),
    "partitions of systems": (lambda: {"a": galleries(), "b": galleries()}, {"10"}),
    "comparison": (lambda: be.compare(small(), be.simulate(20, 4, random_state=2)), {"10"}),
    "three": (lambda: be.compare({x: small() for x in "abc"}), {"10"}),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.cases(4)
def test_every_table_withholds_the_same_targets(name, capsys):
    make, supported = RESULTS[name]
    results = make()
    be.show(results)
    texts = {"show": capsys.readouterr().out}
    texts |= {"latex": be.to_latex(results), "markdown": be.to_markdown(results)}
    texts["document"] = be.to_latex(results, document=True)
    for form, text in texts.items():
        assert far_targets_in(text) == supported, form
    if not isinstance(results, dict) and name != "three":  # whose differences are of one measure
        be.show(results, verbose=True)
        assert far_targets_in(capsys.readouterr().out) == {"10", "1", "0.1", "0.01"}


def test_a_target_that_was_asked_for_is_shown_with_its_message(capsys):
    results = be.verification(small(), far_targets=[0.0001])
    be.show(results)
    assert far_targets_in(capsys.readouterr().out) == {"0.01"}
    assert far_targets_in(be.to_latex(results)) == {"0.01"}
    systems = {"a": be.verification(small()), "b": be.verification(small())}
    assert "FRR at FAR <= 0.01 %" in be.to_markdown(systems, measures=["frr_at_far=0.0001"])


def test_data_have_every_target_and_say_which_are_not_supported():
    for results in (be.verification(small()), folds()):
        table = "rates_own_thresholds" if "fold" in results.dims else ""
        frame = be.to_frame(results, table=table)
        at_far = frame[frame.measure.str.startswith("FRR at FAR <=")]
        assert at_far.supported.tolist() == [True, False, False, False]
        assert frame.supported.sum() == len(frame) - 3


@pytest.mark.slow
def test_the_page_withholds_what_the_tables_do(tmp_path):
    be.report(be.evaluate(small()), tmp_path / "one.html")
    be.report({"a": be.evaluate(small()), "b": be.evaluate(small())}, tmp_path / "two.html")
    for name in ("one", "two"):
        text = re.sub(r"<[^>]+>", " ", (tmp_path / f"{name}.html").read_text())
        assert far_targets_in(text) == {"10"}


def test_plots_withhold_what_the_tables_do():
    ticks = be.plot.spread(folds()).ax_.get_yticklabels()
    assert far_targets_in(" ".join(x.get_text() for x in ticks)) == {"10"}

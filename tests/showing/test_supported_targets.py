"""What the data do not support is withheld alike: by tables in every form, commands, and plots.

20 people form 190 pairs, of which any number of templates makes no more. By the rule of 3, a FAR of
10 % needs 30 pairs, 1 % needs 300 and 0.01 % needs 30,000.
"""

import re

import pytest

import bioeval as be
from bioeval.counting.thresholds import FAR_TARGETS

#: The label of a row or of a column, in any form. A sentence names targets before these verbs.
AT_FAR = re.compile(
    r"(?:FRR|DIR) at FAR (?:<=|&lt;=|\$\\leq\$) (10|1|0\.1|0\.01)(?:\\,\\| )%"
    r"(?![\d.,%\\ and]*(?: and below)? (?:cannot|is uncertain))"
)


def small() -> be.Scores:
    return be.simulate(20, 4, random_state=1)


def galleries() -> object:
    split = be.partition.ProbeGallerySplit(1, n_repeats=3, random_state=0)
    return be.repeat(small(), split)


def folds() -> object:
    halves = be.partition.SubjectKFold(2)
    return be.cross_evaluate(small(), halves, priors=[0.1])  # with the usual FAR targets


def far_targets_in(text: str) -> set[str]:
    """The FAR targets, in per cent, of the rows and columns of a text.

    An answer may name targets for which there is no conclusion.
    """
    tables = re.sub(r"No conclusion.*?\.(?!\d)", "", " ".join(text.split()))
    return set(AT_FAR.findall(tables))


RESULTS = {
    "evaluation": (lambda: be.evaluate(small()), {"10"}),
    "one task": (lambda: be.verification(small()), {"10"}),
    "open set": (lambda: be.open_set(small()), set()),
    "single gallery": (lambda: be.open_set(small(), gallery="single"), set()),
    "partitions": (galleries, {"10"}),
    "folds": (folds, {"10"}),  # the 10 people of a test part form 45 pairs
    "systems": (lambda: {"a": be.verification(small()), "b": be.verification(small())}, {"10"}),
    "partitions of systems": (lambda: {"a": galleries(), "b": galleries()}, {"10"}),
    "comparison": (lambda: be.compare(small(), be.simulate(20, 4, random_state=2)), {"10"}),
    "three": (lambda: be.compare({x: small() for x in "abc"}), {"10"}),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_table_withholds_the_same_targets(name, capsys):
    make, supported = RESULTS[name]
    results = make()
    be.show(results)
    texts = {"show": capsys.readouterr().out}
    texts |= {"latex": be.to_latex(results), "markdown": be.to_markdown(results)}
    for form, text in texts.items():
        assert far_targets_in(text) == supported, form
    if not isinstance(results, dict) and name != "three":  # whose differences are of one measure
        be.show(results, verbose=True)
        assert far_targets_in(capsys.readouterr().out) == {"10", "1", "0.1", "0.01"}


@pytest.mark.parametrize("targets", [[0.0001], ["0.01%"], [0.1, 0.0001]])
@pytest.mark.parametrize("task", [be.verification, be.open_set])
def test_a_target_that_was_asked_for_is_marked(task, targets, capsys):
    """For any form of targets, the value stands there, and a line names the number of people."""
    results = task(small(), far_targets=targets)
    be.show(results)
    printed = capsys.readouterr().out
    expected = {"10", "0.01"} if 0.1 in targets else {"0.01"}
    assert far_targets_in(printed) == far_targets_in(be.to_latex(results)) == expected
    row = next(x for x in printed.splitlines() if "FAR <= 0.01 %" in x and "*" in x)
    name = "frr_at_far" if task is be.verification else "dir_at_far"
    value = results[name].values[-1].flat[0]
    assert f"{100 * value:.2f} %*" in row
    assert "*: not supported" in printed
    assert re.search(r"(cannot be estimated from|uncertain with) fewer than [\d,]+ people", printed)
    at_far = be.to_frame(results).query("at == 'far_target' and unit == 'proportion'")
    assert at_far.supported.tolist()[-1] is False and at_far.value.notna().all()


@pytest.mark.parametrize("usual", [[0.1, 0.01, 0.001, 0.0001], FAR_TARGETS])
def test_usual_targets_are_withheld_only_if_nobody_asked_for_them(usual, capsys):
    halves = be.partition.SubjectKFold(2)
    by_repeat = be.partition.ProbeGallerySplit(1, n_repeats=3, random_state=0)
    for results in (
        be.evaluate(small(), far_targets=usual),
        be.verification(small(), far_targets=usual),
        be.open_set(small(), far_targets=usual),
        be.cross_evaluate(small(), halves, far_targets=usual),
        be.repeat(small(), by_repeat, far_targets=usual),
        be.compare(small(), be.simulate(20, 4, random_state=2), far_targets=usual),
    ):
        be.show(results)
        assert far_targets_in(capsys.readouterr().out) == {"10", "1", "0.1", "0.01"}


def test_frr_targets_are_marked_as_far_targets_are(capsys):
    """20 people support FRR 20 %, since 3 / 20 is 15 %, and no FRR 10 %."""
    be.show(be.verification(small(), far_targets=(), frr_targets=[0.1, 0.2]))
    lines = capsys.readouterr().out.splitlines()
    strict = next(x for x in lines if x.startswith("  FAR at FRR <= 10 %"))
    assert "*" in strict
    usual = next(x for x in lines if x.startswith("  FAR at FRR <= 20 %"))
    assert "*" not in usual


def test_a_chosen_measure_is_marked_in_its_column():
    systems = {"a": be.verification(small()), "b": be.verification(small())}
    two_columns = be.to_markdown(systems, measures=["eer", "frr_at_far=0.0001"])
    table = be.to_markdown(systems, measures=["frr_at_far=0.0001"])
    assert "EER" in two_columns
    for text in (two_columns, table):
        assert far_targets_in(text) == {"0.01"} and "cannot be estimated from 20 people" in text
        assert "%\\*" in text or "%*" in text


def test_each_table_without_a_target_says_so():
    """Both tables of verification lack the same targets: the second points to the notes above."""
    text = be.to_markdown(be.evaluate(small()))
    _, single, multi = re.split("Verification, (?=single|multi)", text.partition("Open-set")[0])
    assert "0.01 % cannot be estimated" in single and "notes above" not in single
    assert "cannot be estimated" not in multi
    assert "the notes above on people and targets hold for this table, too" in multi


def test_data_have_every_target_and_say_which_are_not_supported():
    for results in (be.verification(small()), folds()):
        frame = be.to_frame(results)
        supported = frame[frame.measure == "frr_at_far"].groupby("point").supported
        assert supported.unique().map(list).to_dict() == {
            **{0.1: [True], 0.01: [False]},
            **{0.001: [False], 0.0001: [False]},
        }
        assert frame.loc[frame.measure != "frr_at_far", "supported"].isna().all()


@pytest.mark.slow
def test_the_page_withholds_what_the_tables_do(tmp_path):
    be.report(be.evaluate(small()), tmp_path / "one.html")
    be.report({"a": be.evaluate(small()), "b": be.evaluate(small())}, tmp_path / "two.html")
    for name in ("one", "two"):
        text = re.sub(r"<[^>]+>", " ", (tmp_path / f"{name}.html").read_text())
        assert far_targets_in(text) == {"10"}

"""The public calls, the command, and what they say of bad input."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.cli.program import main
from bioeval.protocol.card import Claims
from bioeval.protocol.loading import for_layout
from bioeval.studies.explain.lists import fused
from bioeval.studies.explain.results import Count

NAMES = ["a1", "a2", "b1", "b2", "c1"]
WHO = ["ann", "ann", "bob", "bob", "cat"]
D = np.array(
    [[0, 1, 4, 6, 9], [1, 0, 5, 3, 3], [4, 5, 0, 7, 8], [6, 3, 7, 0, 2], [9, 3, 8, 2, 0]],
    dtype=float,
)


@pytest.fixture
def scores() -> be.Scores:
    return be.Scores(D, WHO, probe_meta={"name": NAMES})


def counts(explained) -> dict:
    return {(k.name, k.rank): v for k, v in explained.counts.items()}


@pytest.mark.parametrize("distances", [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.3, 0.1, 0.2]])
def test_the_mean_does_not_depend_on_the_order_of_templates(distances):
    assert fused(distances, "mean") == 0.6 / 3
    assert fused([1.5e308, 1.6e308], "mean") == 1.55e308


def test_a_row_by_hand(scores):
    """Probe a2 at threshold 3: its mate a1 at 1, then b2 and c1 both at 3, then b1 at 5."""
    result = be.explain(scores, "a2", threshold=3)
    assert (result.probe, result.name, result.subject, result.threshold) == (1, "a2", "ann", 3)
    single, multi, genuine, impostor, closed = result.tasks
    assert [(e.template, e.role, [c.name for c in e.counts]) for e in single.entries] == [
        ("a1", "genuine", ["ga"]),
        ("b2", "impostor", ["fa"]),
        ("c1", "impostor", ["fa"]),
        ("b1", "impostor", ["gr"]),
        ("a2", "left out", []),
    ]
    assert single.entries[-1].reason.startswith("the probe itself")
    assert counts(single) == {("ga", None): 1, ("fa", None): 2, ("gr", None): 1}
    assert [(e.subject, e.template) for e in multi.entries] == [
        ("ann", "a1"), ("bob", "b2"), ("cat", "c1"),
    ]  # fmt: skip
    assert counts(multi) == {("ga", None): 1, ("fa", None): 2}
    assert counts(genuine) == {("genuine_attempts", None): 1, ("di", 1): 1}
    assert counts(impostor) == {("impostor_attempts", None): 1, ("fa", None): 1}
    assert [e.template for e in impostor.entries if e.place is None] == ["a1", "a2"]
    assert counts(closed) == {("attempts", None): 1, ("cms_count", 1): 1}


def test_a_mate_that_is_not_first(scores):
    """Probe b1: a1 at 4 and a2 at 5 are ahead of its mate b2 at 7."""
    result = be.explain(scores, 2, threshold=7)
    genuine = result.tasks[2]
    assert counts(genuine) == {("genuine_attempts", None): 1, ("di", 3): 1, ("fr", None): 1}
    reasons = {e.template: e.reason for e in genuine.entries}
    assert reasons["a1"] == reasons["a2"] == "ahead of the nearest mate"
    assert reasons["b2"] == "nearest mate, at rank 3 (not first: always a false reject)"
    rejected = be.explain(scores, 2, threshold=6.9).tasks[2]
    assert counts(rejected) == {("genuine_attempts", None): 1, ("fr", None): 1}


def test_a_subject_with_one_template(scores):
    result = be.explain(scores, "c1", threshold=2)
    roles = [(explained.task, explained.role) for explained in result.tasks]
    assert ("open_set", "genuine") in roles  # its list is shown, and adds nothing
    genuine = next(w for w in result.tasks if w.role == "genuine")
    assert not genuine.counts and "No usable mate" in genuine.notes[0]
    assert counts(result.tasks[-1]) == {("skipped", None): 1}
    assert "No genuine attempt" in result.tasks[0].notes[0]


def test_ties_have_their_expected_share():
    """One mate and two others at the same distance: rank 1, 2 or 3 with 1/3 each."""
    scores = be.Scores([[5.0, 5.0, 5.0, 6.0]], ["a"], ["b", "a", "c", "d"])
    explained = be.explain(scores, 0, threshold=5).tasks[2]
    assert counts(explained)["di", 3] == 1
    assert "1/3 at rank 1, 1/3 at rank 2, 1/3 at rank 3" in explained.notes[0]
    assert [e.tied for e in explained.entries] == [True, True, True, False]
    assert [e.template for e in explained.entries] == ["0", "2", "1", "3"]  # the mate behind


def test_why_others_are_left_out():
    d = np.array([[0.0, 1, 2, np.nan, 4, 5]])
    mask = np.array([[2, 2, 0, 1, 1, 1]])
    meta = {"session": [1]}, {"session": [2, 1, 2, 2, 1, 2]}
    scores = be.Scores(
        d, ["a"], ["a", "a", "b", "b", "c", "c"], nan="exclude", mask=mask, exclude=("session",),
        probe_meta=meta[0], gallery_meta=meta[1],
    )  # fmt: skip
    explained = be.explain(scores, 0, threshold=1).tasks[0]
    assert {e.column: e.reason for e in explained.entries if e.role == "left out"} == {
        1: "same subject and same session (1)",
        2: "left out by the mask",
        3: "failed comparison (NaN)",
    }
    rejected = be.Scores(d, ["a"], ["a", "a", "b", "b", "c", "c"], nan="reject")
    failed = next(e for e in be.explain(rejected, 0, threshold=1).tasks[0].entries if e.column == 3)
    assert failed.place == 6 and "infinite distance" in failed.reason
    assert [c.name for c in failed.counts] == ["gr"]


def test_probes_who_are_not_enrolled():
    """The unenrolled probe is the impostor; the enrolled one plays no impostor then."""
    scores = be.Scores([[1.0, 5], [2, 3]], ["a", "x"], ["a", "b"])
    of = [
        [(w.role, counts(w)) for w in be.explain(scores, i, threshold=2).tasks if w.role]
        for i in (0, 1)
    ]
    assert of[0] == [("genuine", {("genuine_attempts", None): 1, ("di", 1): 1})]
    assert of[1] == [("impostor", {("impostor_attempts", None): 1, ("fa", None): 1})]


def test_drawn_claims():
    """Claims of a card, those of probes who are not enrolled with counters of their own."""
    whole = be.simulate(8, 3, random_state=1)
    enrolled = [j for j in range(24) if j % 3 and j < 18]
    scores = be.Scores(
        whole.values[::3][:, enrolled], whole.probe_labels[::3], whole.probe_labels[enrolled]
    )
    card = for_layout(scores.layout)
    card = replace(card, claims=Claims(per_probe=2, genuine=0.3, seed=1))
    tree = be.evaluate(scores, card, thresholds=[5.0])
    for task in ("verification/single", "verification/multi"):
        total = {}
        for i in range(scores.shape[0]):
            walks = be.explain(scores, i, threshold=5.0, protocol=card).tasks
            (explained,) = (w for w in walks if w.task == task)
            for count, amount in explained.counts.items():
                total[count.name] = total.get(count.name, 0) + amount
        unenrolled = total.get("fa_unenrolled", 0) + total.get("gr_unenrolled", 0)
        assert unenrolled == tree[task].unenrolled_attempts.item() > 0
        for name in ("ga", "fr", "fa", "gr", "fa_unenrolled"):
            assert total.get(name, 0) == tree[task][name].item(), (task, name)


def test_a_closed_set_that_is_refused():
    scores = be.Scores([[1.0, 5], [2, 3]], ["a", "x"], ["a", "b"])
    card = for_layout(scores.layout)
    card = replace(card, closed_set=replace(card.closed_set, unmated="auto"))
    note = be.explain(scores, 1, threshold=2, protocol=card).tasks[-1].notes[0]
    assert "unmated = auto" in note and "is an error" in note
    with pytest.raises(be.ProtocolError, match="every probe is enrolled"):
        be.evaluate(scores, card)


def test_pairs_of_a_rule(scores):
    rows = [be.explain(scores, i, threshold=4, protocol="fvc2004") for i in range(5)]
    ds = be.evaluate(scores, "fvc2004", thresholds=[4.0])["verification/single"]
    for name in ("ga", "fr", "fa", "gr"):
        total = sum(w.tasks[0].counts.get(Count(name, None, 0), 0) for w in rows)
        assert total == ds[name].item()
    assert any("first-impostors" in e.reason for w in rows for e in w.tasks[0].entries)


def test_the_threshold_says_where_it_comes_from(scores):
    ds = be.verification(scores)
    result = be.explain(scores, 0)
    assert result.threshold == ds.eer_threshold
    assert "single-template verification has the equal error rate" in result.threshold_is
    loose = be.explain(scores, 0, threshold="far=0.5")
    half = be.verification(scores, far_targets=[0.5])
    assert loose.threshold == half.threshold_at_far.item()
    similar = be.Scores(-D, WHO, kind="similarity")
    assert be.explain(similar, 0).threshold == be.verification(similar).eer_threshold
    alone = be.Scores(D[:1], ["ann"], ["ann"] * 5)
    conditional = be.explain(alone, 0)
    assert conditional.threshold is None and conditional.threshold_is.startswith("none")
    assert all(e.conditional for e in conditional.tasks[0].entries)


@pytest.mark.parametrize("card", ["frte-1n", "ijbc-1n"])
def test_cards_without_verification(card):
    scores = be.Scores([[1.0, 5], [2, 3], [4, 2]], ["a", "x", "b"], ["a", "b"])
    result = be.explain(scores, 0, protocol=card)
    ds = be.evaluate(scores, card)["open_set"]
    assert result.threshold == ds.eer_threshold
    assert {explained.task for explained in result.tasks} <= {"open_set", "closed_set"}


def test_step_by_step_ends_in_the_rates_of_evaluate():
    scores = be.simulate(6, 3, random_state=3)
    steps = be.step_by_step(scores)
    t = steps.walks[0].threshold
    tree = be.evaluate(scores, thresholds=[t])
    for task, rates in steps.rates.items():
        ds = tree[task]
        for name, value in rates.items():
            if isinstance(value, dict):
                whole = ds[name].isel(threshold=0) if name == "dir" else ds[name]
                np.testing.assert_allclose(
                    list(value.values()), whole.sel(rank=list(value)), rtol=1e-12
                )
            else:
                assert value == pytest.approx(ds[name].item(), rel=1e-12), (task, name)
    text = str(steps)
    assert "Step 18 of 18" in text and "GAR = GA / TG" in text


def test_what_a_prompt_and_a_notebook_show(scores):
    result = be.explain(be.Scores(D, ["<a>", *WHO[1:]]), 0, threshold=3)
    assert repr(result) == (
        "<Explanation of Probe 0 (subject <a>), protocol course-all-vs-all; print shows it>"
    )
    assert "&lt;a&gt;" in result._repr_html_() and "<a>" not in result._repr_html_()
    assert repr(be.step_by_step(scores)) == "<Steps of 5 probes; print shows them>"


def test_an_order_has_conditions():
    scores = be.Scores(D.argsort(axis=1), WHO, kind="order")
    result = be.explain(scores, 0)
    assert result.threshold is None and "order" in result.threshold_is
    assert "GA | FR" in str(result)
    with pytest.raises(be.ProtocolError, match="only the order within each row"):
        be.explain(scores, 0, threshold=2)
    assert list(be.step_by_step(scores).rates) == ["closed_set"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"probe": 5}, be.DataError, "position from 0 to 4"),
        ({"probe": -1}, be.DataError, "expected an integer >= 0"),
        ({"probe": "b1x"}, be.DataError, "Did you mean 'b1'"),
        ({"probe": 0, "threshold": "eeer"}, be.DataError, "threshold is 'eeer'"),
        ({"probe": 0, "claim": "bod"}, be.DataError, "not enrolled.*Did you mean 'bob'"),
        ({"probe": 0, "protocol": "course-kfold"}, be.ProtocolError, "has folds"),
    ],
)
def test_errors(scores, options, error, message):
    with pytest.raises(error, match=message):
        be.explain(scores, options.pop("probe"), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"claim": "a"}, "claim needs verification"),
        ({"threshold": "eer"}, "no task with a threshold"),
    ],
)
def test_what_re_identification_has_not(options, message):
    scores = be.Scores([[1.0, 2]], ["a"], ["a", "b"])
    with pytest.raises(be.ProtocolError, match=message):
        be.explain(scores, 0, protocol="viper", **options)


def test_what_has_no_rows():
    with pytest.raises(be.ProtocolError, match="list of pairs has no rows"):
        be.explain(be.Scores.from_pairs([0.1, 0.2], [1, 0]), 0)
    with pytest.raises(be.DataError, match=r"expected bioeval\.Scores"):
        be.explain(D, 0)
    with pytest.raises(be.DataError, match="too many to read"):
        be.step_by_step(be.simulate(30, 4))


# ------------------------------------------------------------------------------- the command


@pytest.fixture
def file(tmp_path, scores):
    path = tmp_path / "tiny.npz"
    be.save(scores, path)
    return str(path)


@pytest.mark.slow
def test_the_command(file, tmp_path, capsys):
    folder = tmp_path / "out"
    args = ["explain", file, "--probe", "a2", "--threshold", "3"]
    assert main([*args, "--out", str(folder)]) == 0
    output = capsys.readouterr().out
    assert "Probe 1 (a2, subject ann)" in output and "threshold" in output
    assert (folder / "table.txt").read_text(encoding="utf-8") == output
    document = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert document["threshold"] == 3 and document["tasks"][0]["list"][0]["template"] == "a1"
    with open(folder / "list.csv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == sum(len(task["list"]) for task in document["tasks"])
    assert (rows[0]["template"], rows[0]["counts"]) == ("a1", "GA")


@pytest.mark.slow
def test_step_by_step_and_claims_on_the_command_line(file, capsys):
    assert main(["explain", file, "--step-by-step", "--threshold", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["steps"]) == 5
    assert document["rates"]["verification/single"]["gar"] == 0.5
    claim = ["--claim", "bob", "--threshold", "4"]
    assert main(["explain", file, "--probe", "a1", *claim]) == 0
    output = capsys.readouterr().out
    assert "not claimed" in output
    lines = output.splitlines()[lines_of_subjects(output) :]
    order = [
        word for line in lines for word in ("ann", "bob", "threshold", "cat") if f" {word}" in line
    ]
    assert order[:4] == ["ann", "bob", "threshold", "cat"]  # at 1, 4 and 9


def lines_of_subjects(text):
    return text.splitlines().index("List of subjects")


@pytest.mark.slow
def test_the_page_shows_what_the_commands_print(tmp_path, monkeypatch, capsys, root):
    """Each console block of docs/explain.md, without what it leaves out; its Python runs."""
    page = (root / "docs" / "explain.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, names)
    capsys.readouterr()
    blocks = re.findall(r"```console\n\$ bioeval (.*?)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    for command, shown in blocks:
        assert main(command.split()) == 0
        printed = capsys.readouterr().out
        for part in shown.split("...\n")[-1].strip("\n").split("\n\n"):
            assert part in printed


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "give --probe N, or --step-by-step"),
        (["--probe", "1", "--all"], "give --probe N, or --step-by-step"),
        (["--all", "--claim", "ann"], "--claim is of one row"),
        (["--probe", "17"], "--probe is 17; expected a position from 0 to 4"),
        (["--probe", "1", "--threshold", "nan"], "NaN"),
    ],
)
def test_wrong_usage(file, args, message, capsys):
    assert main(["explain", file, *args]) == 2
    assert message in capsys.readouterr().err

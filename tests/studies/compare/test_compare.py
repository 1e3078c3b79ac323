"""Two systems over the same data: paired by hand, refused where they are not, and said in words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from matplotlib.text import Text
from rendered import require_names_kept
from result_messages import codes
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.cli.program import main
from bioeval.scores.simulation.scores_of_people import simulate_embeddings
from bioeval.studies.compare.section import section


@pytest.fixture(scope="module")
def crowd():
    return simulate_embeddings(30, 4, random_state=1, within=0.8)


@pytest.fixture(scope="module")
def systems(crowd):
    return crowd.scores("l2").replace(name="good"), crowd.scores("linf").replace(name="poor")


@pytest.fixture(scope="module")
def result(systems):
    return be.compare(
        *systems, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300)
    )


@pytest.mark.slow
def test_values_are_those_of_the_tasks(systems, result):
    for scores, name in zip(systems, ("value_a", "value_b"), strict=True):
        single, opened, closed = be.verification(scores), be.open_set(scores), be.closed_set(scores)
        expected = [
            single.eer.item(),
            *single.frr_at_far.values,
            single.auc.item(),
            closed.recognition_rate.item(),
            *opened.dir_at_far.values[:, 0],
        ]
        np.testing.assert_allclose(result[name], expected, atol=1e-12)
    np.testing.assert_allclose(result.difference, result.value_a - result.value_b)


def test_the_recognition_rate_has_the_studentised_jackknife(systems):
    result = be.compare(
        *systems,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300),
        gallery="fixed",
    )
    labels = systems[0].probe_labels
    hits = [be.ranks(scores).identification_rank.values == 1 for scores in systems]
    change = hits[0].astype(float) - hits[1]
    without = np.array([change[labels != p].mean() for p in np.unique(labels)])
    error = np.sqrt(29 / 30 * ((without - without.mean()) ** 2).sum())
    half = 2.0452296421327034 * error  # 97.5 % of Student's t, 29 degrees of freedom
    row = result.sel(measure="recognition rate")
    expected = [change.mean() - half, change.mean() + half]
    np.testing.assert_allclose([row.difference_low, row.difference_high], expected)


def test_what_is_concluded(result):
    assert result.better.values[0] == 1
    message = dict(line.split(": ", 1) for line in result.attrs["conclusions"].splitlines())
    assert list(message) == result.measure.values.tolist()
    assert message["EER"].endswith("good is better.")
    for i, sentence in enumerate(message.values()):
        low, high = float(result.difference_low[i]), float(result.difference_high[i])
        half = float(result.tolerance[i])
        apart = low > half or high < -half
        assert apart or result.better.values[i] == 0
        if result.supported[i] and result.discordant_subjects[i] >= 6:
            assert (result.better.values[i] != 0) == apart
            assert ("no significant difference at 95 %" in sentence) != apart


@pytest.mark.slow
def test_names_of_systems_are_no_terms(systems, result):
    require_names_kept(lambda name: section({"": result.assign_attrs(system_a=name)}))
    adjusted = be.compare(
        *systems,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
        adjust="holm",
    )
    require_names_kept(lambda name: section({"": adjusted.assign_attrs(system_b=name)}))


@pytest.mark.slow
def test_the_other_way_round(systems, result):
    mirrored = be.compare(
        systems[1],
        systems[0],
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300),
    )
    np.testing.assert_allclose(mirrored.difference_low, -result.difference_high, atol=1e-15)
    np.testing.assert_array_equal(mirrored.better, -result.better)


@pytest.mark.slow
def test_a_system_does_not_differ_from_itself(systems):
    a = systems[0]
    similar = be.Scores(-np.exp(a.values), a.probe_labels, kind="similarity")
    for other in (a, similar):
        same = be.compare(
            a, other, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
        )
        assert not same.difference.any() and not same.discordant_subjects.any()
        assert not same.difference_low.any() and not same.difference_high.any()
        for sentence in same.attrs["conclusions"].splitlines():
            assert "every decision is the same; the difference is exactly 0" in sentence
        # Of 30 people, 15 disjoint pairs, for what has errors of both classes.
        bound = [1 - 0.05 ** (1 / (15 if m in ("EER", "AUC") else 30)) for m in same.measure.values]
        np.testing.assert_allclose(same.discordant_at_most, bound)
        assert (same.better == 0).all()
    assert same.attrs["kind_b"] == "similarity"


def test_pairs_and_orders(systems):
    a, b = systems
    rng = np.random.default_rng(0)
    i = rng.integers(0, 120, 900)
    j = (i + rng.integers(1, 120, 900)) % 120
    listed = be.compare(
        a.at_pairs(i, j),
        b.at_pairs(i, j),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    assert listed.measure.values.tolist()[-1] == "AUC"
    orders = [
        be.Scores(np.argsort(np.argsort(s.values)), s.probe_labels, kind="order") for s in systems
    ]
    ranked = be.compare(
        *orders, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )
    assert ranked.measure.values.tolist() == ["recognition rate"]
    with pytest.raises(be.ProtocolError, match="subjects="):
        be.compare(*[be.Scores.from_pairs([1.0, 2.0], [True, False])] * 2)


@pytest.mark.slow
def test_probes_against_a_gallery():
    scores = be.simulate(25, 2, layout="probe-against-gallery", unenrolled=10, within=0.8)
    noisy = be.Scores(
        scores.values + np.random.default_rng(0).normal(0, 1.5, scores.shape),
        scores.probe_labels,
        scores.gallery_labels,
    )
    result = be.compare(
        scores, noisy, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=200)
    )
    assert result.attrs["subjects"] == 35
    assert result.sel(measure="AUC").better == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: be.Scores(s.values[:8, :8], s.probe_labels[:8]), r"\(120, 120\)"),
        (lambda s: be.Scores(s.values, s.probe_labels[::-1]), "labels differ at 120 of 120"),
        (lambda s: be.Scores(s.values, s.probe_labels, s.probe_labels), "all-against-all"),
        (lambda s: s.values, "second system is ndarray"),
    ],
)
def test_other_data_are_refused(systems, change, says):
    with pytest.raises(be.DataError, match=says):
        be.compare(systems[0], change(systems[0]))


@pytest.mark.slow
def test_cameras_that_no_convention_uses_are_warned_of(systems):
    """As `be.evaluate` warns; not under a convention, nor where such pairs are left out."""
    camera = np.tile([0, 1, 0, 1], 30)
    meta = {"probe_meta": {"camera": camera}}
    a, b = (be.Scores(np.asarray(s._read_rows(0, 120)), s.probe_labels, **meta) for s in systems)
    code = "same-camera-counted"
    assert code in codes(be.evaluate(a)["closed_set"])
    for pair in ((a, b), (systems[0], b)):
        assert (
            codes(
                be.compare(
                    *pair, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
                )
            ).count(code)
            == 1
        )
    apart = [s.excluding("camera") for s in (a, b)]
    for options in ({"protocol": "market1501"}, {}):
        pair = (a, b) if options else apart
        assert code not in codes(
            be.compare(
                *pair,
                **options,
                interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
            )
        )


def alone(result):
    """The numbers of comparisons that one of two systems alone made."""
    messages = [x for x in be.messages(result) if x.code == "different-attempts"]
    return [message.arguments["comparisons"] for message in messages]


@pytest.mark.slow
def test_attempts_that_differ_are_said(systems):
    a = systems[0]
    values = a.values.copy()
    values[0, 5] = np.nan
    holed = be.Scores(values, a.probe_labels, nan="exclude")
    assert alone(
        be.compare(a, holed, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100))
    ) == [1]
    assert (
        alone(
            be.compare(a, a, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100))
        )
        == []
    )


def test_attempts_of_the_same_number_may_be_others(systems):
    a = systems[0]
    holed = []
    for place in ((0, 5), (5, 9)):
        values = a.values.copy()
        values[place] = np.nan
        holed.append(be.Scores(values, a.probe_labels, nan="exclude"))
    assert alone(
        be.compare(*holed, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100))
    ) == [2]
    session = {"session": np.tile([1, 1, 2, 2], 30)}
    whole = be.Scores(a.values, a.probe_labels, probe_meta=session)
    apart = whole.excluding("session")
    assert alone(
        be.compare(
            whole, apart, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
        )
    ) == [120]  # two pairs each, both ways
    assert (
        alone(
            be.compare(
                apart, apart, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
            )
        )
        == []
    )
    i, j = np.arange(20), np.arange(20, 40)
    listed = [s.at_pairs(i, j) for s in (holed[0], a)]
    listed[0].values[3] = np.nan
    assert alone(
        be.compare(*listed, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100))
    ) == [1]


#: Messages that targets are beyond the data.
TOO_FEW = ("too-few-pairs-of-people", "too-few-attempts", "target-below-one-error")


@pytest.mark.slow
def test_what_the_impostor_attempts_cannot_support_is_marked(systems, files, capsys):
    """120 probes allow no false accept at FAR 0.1 %: rows below say the same, and say so."""
    targets = [0.1, 0.01, 0.001, 0.0001]
    result = be.compare(
        *systems,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300),
        far_targets=targets,
    )
    for scores in systems:
        for other_result in (be.verification(scores), be.open_set(scores)):
            few = [x for x in be.messages(other_result) if x.code in TOO_FEW]
            assert few and all(message in be.messages(result) for message in few)
    supported = dict(zip(result.measure.values.tolist(), result.supported.values, strict=True))
    weak = ["DIR at FAR <= 1 %, rank 1", "DIR at FAR <= 0.1 %, rank 1"]
    weak += ["DIR at FAR <= 0.01 %, rank 1", "FRR at FAR <= 0.01 %"]  # of 120 probes, 7,020 pairs
    assert {name for name, yes in supported.items() if not yes} == set(weak)
    for message in result.attrs["conclusions"].splitlines():
        few = message.endswith("too few impostor attempts for this FAR.")
        assert few == (message.split(":")[0] in weak)
    assert main(files) == 0
    shown = capsys.readouterr().out
    assert "is better" in shown
    assert shown.count("no conclusion: too few") == 4
    assert "for a single error at FAR" in " ".join(shown.split())
    assert main([*files, "--far", "0.1"]) == 0
    assert "no conclusion" not in capsys.readouterr().out
    zero = be.compare(
        *systems,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
        far_targets=[0],
    )  # given, and its message
    assert zero.supported.all() and not set(TOO_FEW) & set(codes(zero))


@pytest.mark.slow
def test_systems_without_an_error_are_not_said_to_be_equal():
    labels = np.repeat(np.arange(10), 2)
    right = (labels[:, None] != labels).astype(float)
    result = be.compare(
        be.Scores(right, labels),
        be.Scores(2 * right, labels),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    assert (result.difference == 0).all() and (result.better == 0).all()
    assert (result.discordant_at_most > 0.2).all()
    wrong = be.Scores(1 - right, labels)
    result = be.compare(
        be.Scores(right, labels),
        wrong,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    rate = result.sel(measure="recognition rate")
    # Ten people are at most five disjoint pairs, and a sign test of five shows nothing.
    assert rate.difference_low == 0 and rate.difference_high == 1 and rate.better == 0
    labels = np.repeat(np.arange(12), 2)
    right = (labels[:, None] != labels).astype(float)
    pair = be.Scores(right, labels), be.Scores(1 - right, labels)
    rate = be.compare(
        *pair, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    ).sel(measure="recognition rate")
    assert rate.difference_low == pytest.approx(0.05 ** (1 / 12)) and rate.difference_high == 1
    assert rate.p_value == 2 / 2**6 and rate.better == 1


def test_without_an_attempt_nothing_is_defined():
    none = be.Scores([[0.5]], ["a"], ["b"], mask=[[0]])
    result = be.compare(
        none, none, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )
    assert np.isnan(result.value_a).all() and np.isnan(result.difference_low).all()
    assert all(x.endswith("not defined.") for x in result.attrs["conclusions"].splitlines())


def test_one_person_who_probes_many():
    values = np.random.default_rng(0).random((3, 12))
    scores = be.Scores(values, ["a"] * 3, np.repeat(list("abcd"), 3))
    result = be.compare(
        scores, scores, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    )
    assert result.attrs["subjects"] == 4 and not np.isnan(result.value_a[:-4]).any()
    assert np.isnan(result.sel(measure="recognition rate").difference_low)


def test_a_mask_alone_is_refused_without_other_methods():
    mask = be.Scores(np.ones((3, 3)), mask=[[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    with pytest.raises(be.ProtocolError, match="comparing two systems.*Give labels$"):
        be.compare(mask, mask)


def test_one_person_and_no_impostor():
    scores = be.Scores([[0.0, 1.0], [1.0, 0.0]], ["a", "a"])
    result = be.compare(scores, scores)
    assert result.sel(measure="recognition rate").value_a == 1
    assert "no conclusion with 1 subject." in result.attrs["conclusions"]
    assert "EER: not defined." in result.attrs["conclusions"]
    assert "interval-of-one-subject" in [message.code for message in be.messages(result)]


def test_a_comparison_survives_a_file(result, tmp_path):
    import xarray as xr

    result.to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "x.nc", engine="h5netcdf") as back:
        xr.testing.assert_identical(back.load(), result)
        assert {k: type(v) for k, v in result.attrs.items()} == {
            k: v.item().__class__ if isinstance(v, np.generic) else type(v)
            for k, v in back.attrs.items()
        }


# ------------------------------------------------------------------ the command


@pytest.fixture
def files(systems, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = systems[0].probe_labels
    np.savez("both.npz", first=systems[0].values, second=-systems[1].values, who=labels)
    return ["compare", "both.npz", "both.npz", "--scores", "first", "--scores-b", "second",
            "--kind", "distance", "--kind-b", "similarity", "--labels", "who",
            "--replicates", "300"]  # fmt: skip


@pytest.mark.slow
def test_the_command_says_the_same(files, result, capsys):
    assert main([*files, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["system_a"] == "first" and document["kind_b"] == "similarity"
    for i, row in enumerate(document["measures"]):
        assert row["difference"] == pytest.approx(float(result.difference[i]), abs=1e-6)
        assert row["better"] == int(result.better[i])
    assert "first is better" in document["measures"][0]["conclusion"]


@pytest.mark.slow
def test_the_command_shows_a_table_and_writes_files(files, capsys, tmp_path):
    assert main([*files, "--out", "here", "--far", "0.01"]) == 0
    shown = capsys.readouterr()
    assert "FRR at FAR <= 1 %" in shown.out and "DIR at FAR <= 1 %" in shown.out
    assert "is better" in shown.out and "no conclusion: too few" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 100
    assert "wrote 4 files" in shown.err
    names = {file.name for file in (tmp_path / "here").iterdir()}
    assert names == {"comparison.nc", "summary.json", "table.txt", "comparison.csv"}
    assert (tmp_path / "here" / "table.txt").read_text(encoding="utf-8") == shown.out
    assert main([*files, "--out", "here"]) == 2
    assert main([*files, "--out", "here", "--force"]) == 0


@pytest.mark.slow
def test_the_command_reads_what_the_others_read(systems, files, capsys):
    a, b = systems
    session = np.tile([1, 1, 2, 2], 30)
    np.savez("both.npz", first=a.values, second=-b.values, who=a.probe_labels, visit=session)
    assert main([*files, "--meta", "session=visit", "--exclude", "session", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for scores, name in ((a, "value_a"), (b, "value_b")):
        again = be.Scores(scores.values, a.probe_labels, probe_meta={"session": session})
        expected = be.verification(again.excluding("session")).eer.item()
        assert document["measures"][0][name] == pytest.approx(expected)
    assert main([*files, "--exclude", "session"]) == 2
    assert "exclude names 'session'" in capsys.readouterr().err


@pytest.mark.slow
def test_one_file_may_hold_scores_and_the_other_embeddings(crowd, systems, tmp_path, capsys):
    file = str(tmp_path / "mixed.npz")
    np.savez(file, d=systems[0].values, x=crowd.embeddings, who=crowd.labels)
    options = ["--labels", "who", "--replicates", "100", "--json"]
    for given in (
        ["--scores", "d", "--embeddings-b", "x", "--metric-b", "l2"],
        ["--embeddings", "x", "--metric", "l2", "--scores-b", "d"],
    ):
        assert main(["compare", file, file, *given, *options]) == 0
        document = json.loads(capsys.readouterr().out)
        assert {document["system_a"], document["system_b"]} == {"d", "x"}
        assert document["measures"][0]["difference"] == pytest.approx(0, abs=1e-12)


def test_a_narrow_terminal_gets_sentences(files, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    assert main(files) == 0
    assert "pp [" in (out := " ".join(capsys.readouterr().out.split()))
    assert "first is better." in out


@pytest.mark.slow
def test_differences_are_in_percentage_points_and_verdicts_in_words(
    files, result, capsys, monkeypatch
):
    """Below the row where there is no room beside it."""
    row = result.isel(measure=0)
    numbers = [f"{100 * row[name].item():.2f} %" for name in ("value_a", "value_b")]
    ends = [f"{100 * row[f'difference_{end}'].item():+.2f}" for end in ("low", "high")]
    change = f"{100 * row.difference.item():+.2f} pp"
    line = " ".join(["EER", *numbers, change, f"[{', '.join(ends)}]"])
    for columns, gap in (("80", "\n  "), ("140", " ")):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(files) == 0
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= int(columns)
        text = "\n".join(
            "  " * line.startswith("  ") + " ".join(line.split()) for line in shown.splitlines()
        )
        assert f"{line}{gap}first is better\n" in text
        assert "independent subjects, and 6 are needed" in " ".join(text.split())
        assert "no conclusion: too few impostor attempts for this FAR" in text


@pytest.mark.slow
def test_the_command_speaks_iso_terms(files, capsys):
    assert main([*files, "--terms", "iso", "--json"]) == 0
    assert "FRR at FAR <= 1 %" in capsys.readouterr().out  # names of results stay
    assert main([*files, "--terms", "iso"]) == 0
    shown = capsys.readouterr().out
    assert "FNMR at FMR <= 1 %" in shown and "TPIR at FPIR <= 1 %" in shown
    assert "for this FPIR" in shown and "for this FAR" not in shown
    assert "FMR is FAR" in shown


@pytest.mark.slow
def test_the_command_draws_both_systems_in_one_figure_each(files, tmp_path, capsys, monkeypatch):
    from bioeval.plot import files as written

    drawn = {}

    def keep(figure, path):
        drawn[path.stem] = {text.get_text() for text in figure.findobj(match=Text)}
        return path

    monkeypatch.setattr(written, "save", keep)
    assert main([*files, "--out", "here", "--plots"]) == 0
    assert set(drawn) == {"roc", "roc-log", "det", "cmc", "dir-far", "dir-far-log"}
    for texts in drawn.values():
        assert all(any(name in text for text in texts) for name in ("first", "second"))
    assert main([*files, "--plots"]) == 2
    assert "--plots needs --out" in capsys.readouterr().err


def test_other_data_are_one_line_and_2(systems, files, capsys):
    for name, values in (("one.npz", systems[0].values), ("other.npz", np.ones((3, 3)))):
        be.save(be.Scores(values, np.arange(len(values)) // 4), name)
    assert main(["compare", "one.npz", "other.npz"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "not over the same data" in error

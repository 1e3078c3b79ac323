"""The table: values are those of the datasets, each row says what it is over."""

import math

import numpy as np
import pytest
import xarray as xr
from result_text import as_text

import bioeval as be


@pytest.fixture(scope="module")
def galleries():
    return be.simulate(20, (1, 4), within=0.9, random_state=1)


def row(text: str, name: str) -> str:
    """The one row with a name."""
    (line,) = [line for line in text.splitlines() if line.strip().startswith(name)]
    return " ".join(line.split())


def test_a_gallery_is_named_with_its_people():
    text = as_text(be.open_set(be.simulate(6, 3, random_state=1), max_rank=2), verbose=True)
    words = " ".join(text.split())
    assert "N = 6 subjects (5 for impostor attempts); impostors search without" in words
    assert "at ties, the right subject ranks last (pessimistic)" in words
    masked = be.Scores([[0.1, 0.5, 0.9], [0.3, 0.4, 0.2]], mask=[[2, 1, 1], [1, 1, 1]])
    assert "gallery of 3 templates of unknown subjects; " in as_text(
        be.open_set(masked), verbose=True
    )


def test_claims_of_several_templates_are_not_called_comparisons_of_two(galleries):
    assert "compares two templates" in as_text(be.verification(galleries), verbose=True)
    assert "two templates" not in as_text(be.verification(be.claim_scores(galleries)), verbose=True)


def test_notes_are_about_the_numbers_that_are_shown():
    systems = {f"within {x}": be.simulate(20, 3, within=x, random_state=1) for x in (0.6, 0.7, 0.9)}
    text = as_text(be.compare(systems, measures=["eer"]))
    assert "share a letter" not in text and "0 or 100 %" not in text
    judged = as_text(be.judge_threshold(systems["within 0.6"], systems["within 0.7"], "eer"))
    assert "genuine and" in judged and "folds" not in judged


@pytest.mark.parametrize(
    ("values", "labels", "why"),
    [
        ([[0, 1], [2, 0]], "aa", "no results (0 impostor attempts)"),
        ([[0, 1], [2, 0]], "ab", "no results (0 genuine attempts)"),
        (np.ones((3, 3)), "aab", "n/a"),
    ],
)
def test_what_is_not_defined_says_why(values, labels, why):
    text = as_text(be.verification(be.Scores(values, [*labels])), verbose=True)
    assert f"{why}\n" in text and "nan" not in text


def test_rows_of_closed_set():
    scores = be.Scores([[1, 4, 6], [5, 3, 2]], ["ann", "bob"], ["ann", "bob", "cat"])
    text = as_text(be.closed_set(scores))
    assert row(text, "CMS, rank 1 (recognition rate)").endswith(" 50.00 %")
    assert "rank 5" not in text  # there are three candidates


def ranks_shown(dataset: xr.Dataset) -> list[str]:
    lines = as_text(dataset).splitlines()
    return [line.split()[2] for line in lines if line.startswith("  CMS, rank ")]


def test_ranks_that_the_card_asks_for():
    dataset = be.closed_set(be.simulate(10, 3, random_state=0))
    assert ranks_shown(dataset) == ["1", "5", "10"]
    assert ranks_shown(dataset.assign_attrs(report_ranks="1 3 20 1000")) == ["1", "3", "20"]
    assert ranks_shown(dataset.assign_attrs(report_ranks="1000")) == ["1"]


def test_subjects_are_those_who_made_the_attempts():
    """There are three probe subjects, of whom the third is not in the gallery."""
    distances = [[1.0, 4, 6], [5, 1, 2], [3, 3, 3]]
    scores = be.Scores(distances, ["ann", "bob", "eve"], ["ann", "bob", "cat"])
    tree = be.evaluate(scores, thresholds=[2.5, 3.5])
    for path in ("verification/single", "open_set"):
        heading = as_text(tree[path].to_dataset(), verbose=True).partition("\n  EER")[0]
        assert (" of 3 subjects" if path != "open_set" else " of 2 subjects and ") in heading
    everyone = be.open_set(scores, impostors="leave-subject-out")
    assert " of 2 subjects" in as_text(everyone, verbose=True)
    assert "2 genuine attempts of 2 subjects" in as_text(
        tree["closed_set"].to_dataset(), verbose=True
    )


def test_without_operating_points_there_are_rates():
    """At d <= 2, 2 of 10 impostor attempts are accepted and no genuine attempt is rejected."""
    distances = [[0, 1, 4, 6], [2, 0, 5, 2], [4, 2, 0, 3], [6, 3, 9, 0]]
    scores = be.Scores(distances, ["ann", "ann", "bob", "cat"])
    dataset = be.verification(scores, thresholds=[1.5, 2])
    rates_alone = dataset[["far", "frr", "genuine_attempts", "impostor_attempts"]]
    text = as_text(rates_alone)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "2 genuine and 10 impostor attempts" in text
    heading = lines.index("threshold FAR FRR")
    assert lines[heading + 1 : heading + 3] == ["1.5 0.00 % 50.00 %", "2 20.00 % 0.00 %"]


def test_names_are_not_markup():
    """A system called [red] or :smile: is shown as it is called."""
    scores = be.Scores(np.eye(2), [1, 2], name="[red]:smile:[/]")
    assert row(as_text(be.closed_set(scores)), "Data").startswith("Data [red]:smile:[/]: ")


@pytest.mark.parametrize("width", [20, 40, 100])
def test_ranked_lists_alone_have_neither_thresholds_nor_impostors(width):
    meta = {"camera": [1, 2, 1, 2]}
    scores = be.Scores(
        np.random.default_rng(1).random((4, 4)), [1, 1, 2, 2], [1, 1, 2, 2],
        probe_meta=meta, gallery_meta=meta,
    )  # fmt: skip
    text = as_text(be.evaluate(scores, "market1501"), width)
    assert "threshold" not in text.partition("Re-identification")[2]
    assert "impostor" not in text
    assert " at " not in text.partition("mAP")[2].splitlines()[0]
    if width == 100:
        assert "Re-identification: 4 queries" in text


def test_a_task_without_attempts_is_one_line():
    nobody = be.Scores([[1.0, 2.0], [2.0, 3.0]], ["x", "y"], ["a", "b"])
    text = as_text(be.evaluate(nobody))
    assert "\n\nOpen-set identification: no results (0 genuine attempts)\n\n" in text
    assert "\n\nClosed-set identification: no results (0 genuine attempts)\n" in text
    assert "n/a" not in text and "threshold  " not in text
    assert text.count("genuine attempt") == 3  # not again among the warnings
    assert "no subject of a probe is in the gallery" in text


def test_min_dcf_has_its_interval_in_the_table():
    """At each prior, as in the data."""
    costs = [(0.01, 1, 1), (0.05, 1, 1)]
    options = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
    ds = be.verification(be.simulate(30, 4, random_state=1), costs=costs, **options)
    lines = [line for line in be.to_markdown(ds).splitlines() if "minDCF at prior" in line]
    assert len(lines) == 2
    for line, low, high in zip(lines, ds.min_dcf_low, ds.min_dcf_high, strict=True):
        assert f"{low.item():.4f}"[:5] in line and f"{high.item():.4f}"[:5] in line


def test_tables_say_which_galleries(galleries):
    exact = be.closed_set(galleries, gallery="single")
    assert (
        "1 template of each subject, drawn anew for each probe; exact mean over all draws"
        in as_text(exact)
    )
    assert "of each subject" not in as_text(be.closed_set(galleries))


def test_tables_give_the_bounds_of_operating_points(galleries):
    ds = be.open_set(galleries, gallery="single", n_thresholds=100, far_targets=[0.1, 0.01])
    text = as_text(ds, 200, verbose=True)
    rows = {line[2:38].strip(): line[38:] for line in text.splitlines() if line.startswith("  ")}
    for end in ("at least", "at most"):
        name = end.replace(" ", "_")
        assert f"{100 * ds[f'eer_{name}'].item():.2f} %" in rows[f"EER, rank 1, {end}"]
        for i, target in enumerate(("10 %", "1 %")):
            rate = 100 * ds[f"dir_at_far_{name}"][i, 0].item()
            assert f"{rate:.2f} %" in rows[f"DIR at FAR <= {target}, rank 1, {end}"]
    assert "DIR, rank 1" not in rows  # at thresholds that were not given
    few_points = be.open_set(galleries, gallery="single", thresholds=[3.0], far_targets=[0.1])
    text = as_text(few_points, 200, verbose=True)
    assert "DIR, rank 1 " in text and "EER, rank 1, at least" in text


def test_ranks_name_the_subject_and_are_ordered_from_the_worst():
    """By hand: bob's mate is behind two people, ann's mate is first, dan has no mate."""
    distances = [[1, 4, 6], [5, 7, 2], [3, 2, 9.0]]
    ds = be.ranks(be.Scores(distances, ["ann", "bob", "dan"], ["ann", "bob", "cat"]))
    assert ds.probe.values.tolist() == [0, 1, 2]
    assert ds.subject.values.tolist() == ["ann", "bob", "dan"]
    frame = be.to_frame(ds)
    assert frame["subject"].tolist() == ["ann", "bob", "dan"]
    assert frame["identification_rank"].tolist()[:2] == [1, 3]
    assert math.isnan(frame["identification_rank"][2])
    text = be.to_markdown(ds)
    assert text.index("bob") < text.index("ann") < text.index("dan")


def test_ranks_by_a_mask_have_no_subject():
    mask = np.array([[2, 1], [1, 2]])  # 2: genuine, 1: impostor
    frame = be.to_frame(be.ranks(be.Scores([[1.0, 2], [3, 4]], mask=mask)))
    assert "subject" not in frame and frame["probe"].tolist() == [0, 1]


def test_a_comparison_as_a_frame_has_differences():
    systems = {name: be.simulate(20, 3, random_state=seed) for seed, name in enumerate("abc")}
    for number in (2, 3):
        some_systems = {name: systems[name] for name in list(systems)[:number]}
        ds = be.compare(some_systems)
        frame = be.to_frame(ds).query("measure == 'eer' and statistic == 'difference'")
        assert len(frame) == number * (number - 1)
        for row in frame.to_dict("records"):
            pair = {"system": row["system"], "other_system": row["other_system"]}
            first_value, second_value = (
                float(be.verification(systems[row[x]]).eer) for x in ("system", "other_system")
            )
            assert abs(row["value"] - (first_value - second_value)) < 1e-12
            assert row["low"] == float(ds.eer_difference_low.sel(pair))

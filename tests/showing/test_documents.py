"""The document of any result: all numbers of its tables are in the frame, and none is rounded."""

import math
import re

import numpy as np
import pytest
import xarray as xr
from every_result import CALLS, result_of, square
from marked_up import markdown_tables
from result_text import as_text, blocks_of

import bioeval as be
from bioeval.showing.document import section_of
from bioeval.showing.nodes import OVER, RECORDS, nodes_of
from bioeval.showing.numbers import written
from bioeval.showing.show import document_of
from bioeval.showing.text import (
    Legend,
    Messages,
    Paragraph,
    Quantity,
    Section,
    Table,
    Threshold,
    template_of,
    threshold_of,
)

#: Results of numbers; the others are records.
NAMES = [name for name in CALLS if name.replace(" ", "-") not in RECORDS]


def numbers_in_frame(results: object) -> set[float]:
    """All values, limits, thresholds and statistics of results."""
    frames = [be.to_frame(results)]
    for node in nodes_of(results):
        if dimensions := [dim for dim in OVER if dim in node.dataset.dims]:
            scalars = node.dataset.drop_dims("threshold", errors="ignore")
            frames.append(be.to_frame(be.aggregate(scalars, dimensions, quantiles=(0, 1))))
    columns = ("value", "low", "high", "threshold", "point")
    return {x for frame in frames for name in columns for x in frame[name].dropna().tolist()}


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_a_table_is_in_the_frame(name):
    results = result_of(name)
    numbers_known = numbers_in_frame(results)
    number_compared = 0
    for table in tables(section_of(nodes_of(results))):
        for cell in (x for row in table.rows for x in row if isinstance(x, Quantity)):
            ends = cell.interval or ()
            numbers = [x for x in (cell.value, *ends) if not math.isnan(x)]
            assert {*numbers} <= numbers_known, (table.id, cell)
            number_compared += len(numbers)
    assert number_compared


def tables(section: Section) -> list[Table]:
    return blocks_of(section, Table)


def cells_of(results: object, detail: str = "all") -> list[Quantity]:
    all_tables = tables(section_of(nodes_of(results), detail))
    return [x for table in all_tables for row in table.rows for x in row if isinstance(x, Quantity)]


def test_a_short_view_has_what_is_supported_and_the_other_has_all():
    ds = be.verification(square(), far_targets=[0.1, 0.0001])
    short, supported, complete = (
        [x.value for x in cells_of(ds, detail)] for detail in ("brief", "supported", "all")
    )
    assert float(ds.d_prime) in supported and float(ds.d_prime) not in short
    for name in ("frr_at_far", "threshold_at_far"):
        at_usual, at_rare = ds[name].values.tolist()
        assert at_usual in short and at_usual in supported
        # a target that was asked for is in each view
        assert complete.count(at_rare) == supported.count(at_rare)
        assert at_rare in short


def test_thresholds_have_the_next_score_and_decide_alike():
    """Thresholds and the next scores equal the values of the dataset."""
    ds = be.verification(square())
    thresholds = [x for x in cells_of(ds) if isinstance(x, Threshold)]
    (cell,) = (x for x in thresholds if x.value == float(ds.eer_threshold))
    assert cell.next == float(ds.eer_threshold_next)


def test_equal_tasks_are_shown_once():
    single = be.simulate(12, 1, layout="probe-against-gallery", probes=2, random_state=1)
    section = section_of(nodes_of(be.evaluate(single)))
    ids = [x.id for x in tables(section)]
    assert "verification_single" in ids and "verification_multi" not in ids


def test_rates_at_given_thresholds_have_a_row_for_each_threshold():
    ds = be.verification(square(), thresholds=[4.0, 5.0, 6.0])
    (table,) = (x for x in tables(section_of(nodes_of(ds))) if x.id.endswith("threshold"))
    assert [row[0].value for row in table.rows] == [4.0, 5.0, 6.0]
    column = [x.name for x in table.columns].index("far_4")
    np.testing.assert_array_equal([row[column].value for row in table.rows], ds.far.values)


def test_of_many_targets_eleven_that_are_nearest_to_an_even_spread_are_shown():
    targets = [k / 100 for k in range(24, 0, -1)]
    text = be.to_markdown(be.verification(square(), far_targets=targets))
    shown = [24 - int(x) for x in re.findall(r"^\| (\d+) % ", text, re.MULTILINE)]
    assert len(shown) == 11
    assert all(abs(10 * index - 23 * i) <= 5 for i, index in enumerate(shown))


def test_of_many_systems_the_first_are_named_and_the_others_counted():
    small, large = be.simulate(4, 3, random_state=1), be.simulate(20, 3, random_state=1)
    results = {f"s{i}": be.verification(small) for i in range(8)} | {"t": be.verification(large)}
    assert "s0, s1, s2, s3, s4, s5 and 2 more: 24 genuine and" in be.to_markdown(results)
    del results["s7"], results["s6"]
    assert "s0, s1, s2, s3, s4 and s5: 24 genuine and" in be.to_markdown(results)


def test_the_title_of_a_table_names_a_system_if_it_is_the_only_one_with_the_task():
    scores = be.simulate(20, 3, random_state=1)
    results = {"one": be.evaluate(scores), "two": be.verification(scores)}
    lines = be.to_markdown(results).splitlines()
    titles = [x.strip("*").split(": 60")[0].split(": 120")[0] for x in lines if x[:2] == "**"]
    assert titles == [
        "Verification, single-template",
        "one: verification, multi-template",
        "one: open-set identification",
        "one: closed-set identification",
    ]


def test_conditions_of_one_system_are_rows_beside_a_system_without_any():
    day, night, b = (be.verification(be.simulate(20, 3, random_state=k)) for k in range(3))
    (rows,) = markdown_tables(be.to_markdown({"a": {"day": day, "night": night}, "b": b}, ["eer"]))
    eer = [f"{100 * float(x.eer):.2f} %" for x in (day, night, b)]
    assert rows == [
        ["system", "condition", "EER"],
        *(["a", "day", eer[0]], ["", "night", eer[1]], ["b", "", eer[2]]),
    ]


def test_tables_of_chosen_measures_have_the_titles_of_their_tasks():
    scores = be.simulate(20, 3, random_state=1)
    text = be.to_markdown({"a": be.evaluate(scores), "b": be.evaluate(scores)}, ["eer"])
    assert re.findall(r"^\*\*(.*)\*\*$", text, re.MULTILINE) == [
        "Verification, single-template", "Verification, multi-template", "Open-set identification",
    ]  # fmt: skip


@pytest.mark.parametrize("direction", [{}, {"direction": "larger"}])
def test_of_many_places_the_worst_are_shown(direction):
    """The largest, or the smallest of a measure for which more is better."""
    rates = np.linspace(0, 1, 40)
    about = {"units": "proportion", "long_name": "rate", **direction}
    ds = xr.Dataset({"rate": ("subject", rates, about)}, attrs={"result_type": "mine"})
    (table,) = tables(section_of(nodes_of(ds)))
    assert [row[-1].value for row in table.rows] == sorted(rates, reverse=not direction)[:11]


@pytest.mark.slow
def test_grids_have_the_titles_and_the_labels_of_their_dimensions():
    ds = result_of("zoo")
    grids = {x.id: x for x in tables(section_of(nodes_of(ds)))}
    of_dims = {dim: tuple(ds[dim].values) for dim in ("test", "animal")}
    # Attempts of a symmetric matrix are the same by probe and by claim.
    for dim, values in of_dims.items() | {("error", ("fr", "fa_as_probe_fa_as_claimed"))}:
        about, grid = ds[dim].attrs, grids[f"zoo_{dim}"]
        assert grid.title.template == about["title"]
        assert [row[0].template for row in grid.rows] == [about[f"label_{x}"] for x in values]


@pytest.mark.parametrize(("measures", "is_in_rows"), [(1, False), (5, True)])
def test_systems_of_a_grid_are_rows_where_they_would_be_many_columns(measures, is_in_rows):
    names = [f"m{i}" for i in range(measures)]
    variables = {x: ("prior", [1.0, 2.0], {"units": "1"}) for x in names}
    ds = xr.Dataset(variables, {"prior": ["a", "b"]}, {"result_type": "mine"})
    (table,) = tables(section_of(nodes_of({"one": ds, "two": ds})))
    assert (table.columns[0].name == "system") == is_in_rows
    assert len(table.rows) == (4 if is_in_rows else 2)


def test_a_legend_explains_each_measure_of_a_long_text_once_and_pointers_need_none():
    ds = be.verification(square())
    (legend,) = blocks_of(section_of(nodes_of(ds)), Legend)
    texts = [written(text) for _, text in legend.explanations]
    assert texts.count(ds.frr_at_far.attrs["long_name"]) == 1
    assert ds.d_prime.attrs["long_name"] in texts
    assert not blocks_of(section_of(nodes_of(ds), "brief"), Legend)
    document = document_of(ds)
    about = ds.auc.attrs["long_name"]
    assert re.search(f"^ *AUC +{re.escape(about[:40])}", document.text(100), re.MULTILINE)
    assert document.html().count(about) == 1


def test_the_header_has_the_term_of_the_standard_once_for_each_rate():
    a, b = square(), square(within=1.1)
    days = {"day": np.arange(a.shape[0]) % 3}
    visits = be.Scores(a.values, a.probe_labels, probe_meta=days)
    for ds, terms in (
        (be.verification(a), ["FAR: false accept rate (ISO: FMR)"]),
        (be.open_set(a), ["FAR: false accept rate (ISO: FPIR)"]),
        (
            be.compare(a, b, measures=["frr_at_far=0.1", "dir_at_far=0.1"]),
            ["FAR: false accept rate (ISO: FMR or FPIR)", "FRR: false reject rate (ISO: FNMR)"],
        ),
        (be.verification(be.claim_scores(visits, attempts="day")), ["FAR: false accept rate"]),
    ):
        for detail in ("all", "brief"):
            text = document_of(ds, detail=detail).text(10_000)
            line = next((x for x in text.splitlines() if x.startswith("Terms ")), "Terms ")
            if detail == "all":
                assert {*terms} <= {*line.split(maxsplit=1)[1].split("; ")}
            assert not re.search(r"\b(FMR|FPIR)\b", text.replace(line, ""))
    assert template_of("FAR {x} of FAR-net, far_iso") == "{far} {{x}} of FAR-net, far_iso"


@pytest.mark.parametrize(
    ("name", "names_in_full"),
    [("market1501", ["MRR: mean reciprocal rank"]), ("judged", ["EER: equal error rate"])],
)
def test_abbreviations_have_their_names_in_full(name, names_in_full):
    lines = document_of(result_of(name)).text(10_000).splitlines()
    (terms,) = (x.split(maxsplit=1)[1] for x in lines if x.startswith("Terms "))
    assert {*names_in_full} <= {*terms.split("; ")}


@pytest.mark.parametrize("number", [5, 8])
def test_pairs_of_few_groups_are_listed_once_and_of_many_the_worst_of_each(number):
    scores = be.simulate(40, 3, random_state=3)
    ds = be.by_group(scores, scores.probe_labels % number, threshold="far=0.05")
    grids = tables(section_of(nodes_of(ds)))
    (grid,) = (x for x in grids if x.id == "groups_group_claimed_group")
    shown = [(written(a), written(b)) for a, b, *_ in grid.rows]
    groups = [str(x) for x in ds.group.values]
    if number == 5:
        assert shown == [(a, b) for i, a in enumerate(groups) for b in groups[i:]]
        return
    for group in groups:
        far = ds.far.sel(group=group).to_series()
        of_group = [far[b] for a, b in shown if a == group]
        assert of_group == sorted(far, reverse=True)[:3]


def test_an_evaluation_without_thresholds_says_nothing_of_them():
    advice = "Choose a threshold to install"
    assert advice in as_text(be.evaluate(square()))
    assert advice not in as_text(be.evaluate(be.simulate(8, 1, random_state=1)))


@pytest.mark.parametrize("rule", ["far=0.01", 50.0])
def test_the_threshold_of_a_zoo_is_printed_once_with_and_without_errors(rule):
    scores = be.simulate(12, 4, random_state=1)
    ds = be.zoo(scores, threshold=rule, permutations=20)
    has_false_rejects = bool(ds.errors.sel(error="fr").sum())
    assert has_false_rejects == (rule != 50.0)
    shown = written(threshold_of(ds))
    text = as_text(ds)
    assert (f"At the threshold {shown}," in text) == has_false_rejects
    assert bool(re.search(rf"^ *threshold +{re.escape(shown)}$", text, re.MULTILINE)) != (
        has_false_rejects
    )


def test_a_number_that_is_not_defined_says_why():
    equal_scores = be.verification(be.Scores.from_pairs([1.0, 1.0], [True, False]))
    assert np.isnan(equal_scores.d_prime)
    notes = [x for table in tables(section_of(nodes_of(equal_scores))) for x in table.notes]
    reasons = [x.arguments["why"].template for x in notes if "why" in x.arguments]
    assert equal_scores.d_prime.attrs["undefined"] in reasons


def test_the_spread_of_a_threshold_has_three_digits():
    rows = [cell for cell in cells_of(result_of("folds")) if cell.digits]
    assert [x.digits for x in rows] == [3]


def test_answers_stand_above_all_tables_and_are_no_warnings():
    section = section_of(nodes_of(result_of("zoo")))
    answers = [x for x in blocks_of(section, Paragraph) if x.role == "answer"]
    assert [x.text.code for x in answers] == ["most-errors", "animals-tested"]
    other_messages = [x for block in blocks_of(section, Messages) for x in block.messages]
    assert not any(x.text in other_messages for x in answers)


def test_a_user_s_variable_needs_no_description():
    ds = xr.Dataset({"a_b": ("camera", [1.0, 2.0])}, {"camera": ["x", "y"]}, {"result_type": "t"})
    ds["a_b"].attrs["units"] = "1"
    (table,) = tables(section_of(nodes_of(ds)))
    assert [x.heading for x in table.columns[:1]] == ["camera"]
    assert [row[1].value for row in table.rows] == [1.0, 2.0]


def test_a_difference_of_two_groups_is_shown_once():
    light = np.tile(["day", "day", "night", "night"], 40)
    ds = be.by_group(square(), (light, None), interval="people")
    (table,) = (x for x in tables(section_of(nodes_of(ds))) if x.id.endswith("other_group"))
    assert [x.value for row in table.rows for x in row[:2]] == ["day", "night"]


def test_results_over_equal_systems_stand_side_by_side_under_names_of_their_own():
    """No number of a comparison is in the place of the other one's, with conditions too."""
    first, second = be.simulate(12, 3, random_state=1), be.simulate(12, 3, random_state=2)
    compared = be.compare({"x": first, "y": second})
    other_comparison = be.compare({"x": second, "y": first})
    eer = {x: compared["eer"].sel(system=x).item() for x in "xy"}
    for results in (
        {"A": compared, "B": other_comparison},
        {"A": {"day": compared, "night": other_comparison}},
    ):
        frame = be.to_frame(results)
        values = ("value", "low", "high", "threshold", "attempts", "supported", "unit", "text")
        assert not frame.duplicated([x for x in frame if x not in values]).any()
        tables_of_results = list(tables(section_of(nodes_of(results))))
        cells = [x for table in tables_of_results[:1] for row in table.rows for x in row]
        rates_found = sorted(
            x.value for x in cells if isinstance(x, Quantity) and x.value in eer.values()
        )
        assert rates_found == sorted(2 * [*eer.values()])


def test_each_target_has_a_label_of_its_own():
    targets = [1e-7, 2e-7, 0.12345, 0.12347, *np.linspace(0.2, 0.3, 8)]
    for chosen_targets in (targets[:5], targets):
        result = be.verification(square(), far_targets=chosen_targets)
        tables_made = tables(section_of(nodes_of(result)))
        rows = [written(row[0]) for table in tables_made for row in table.rows]
        assert len({*rows}) == len(rows)
        assert any("12.345 %" in x for x in rows)


def test_records_of_several_systems_say_of_which_they_are():
    pairs = be.worst_pairs(square(), 2)
    text = document_of({"ours": pairs, "theirs": pairs}).text(100)
    assert "ours" in text
    assert "theirs" in text


def test_a_measure_of_the_training_part_has_a_column_of_its_own():
    folds = be.cross_evaluate(square(), be.partition.SubjectKFold(2))
    measures = ["far@part=train", "far@part=test"]
    _, _, line = (x for x in be.to_markdown(folds, measures).splitlines() if x.startswith("|"))
    train, test = (folds["far"].sel(part=x).mean().item() for x in ("train", "test"))
    cells = [x.strip().split(" %")[0] for x in line.split("|")[1:-1]]
    assert [float(cells[0]), float(cells[2])] == pytest.approx([100 * train, 100 * test], abs=0.01)
    _, _, line = (x for x in be.to_markdown(folds, ["far"]).splitlines() if x.startswith("|"))
    assert line.split("|")[1].strip().split(" %")[0] == cells[2]


def printed_numbers(text: str) -> set[str]:
    return {word.strip("()[],;:.*") for word in text.split() if re.search(r"\d", word)}


@pytest.mark.parametrize("width", [40, 50, 60])
@pytest.mark.parametrize("name", NAMES)
def test_a_narrow_terminal_cuts_no_number(name, width):
    result = result_of(name)
    missing = printed_numbers(as_text(result, width)) - printed_numbers(as_text(result, 1000))
    # A word may be broken at a hyphen, and a long name anywhere.
    assert not {number for number in missing if re.fullmatch(r"[+-]?[\d,.]+…?", number)}

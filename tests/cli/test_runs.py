"""What ``run`` and other commands do with several systems, thresholds, galleries and exclusions."""

import json
from pathlib import Path

import numpy as np
import pytest
from json_rows import value
from marked_up import markdown_tables

import bioeval as be
from bioeval.cli import main

SYSTEMS = {
    "old": be.simulate(12, 3, within=0.9, random_state=1).replace(name="old"),
    "new": be.simulate(12, 3, within=0.5, random_state=2).replace(name="new"),
}


@pytest.fixture(autouse=True)
def in_folder_of_systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, scores in SYSTEMS.items():
        be.save(scores, f"{name}.npz")


@pytest.fixture
def said(capsys):
    """Call a command: (exit code, output, errors)."""

    def called(*arguments: object) -> tuple[int, str, str]:
        code = main([*map(str, arguments)])
        return code, *capsys.readouterr()

    return called


@pytest.fixture
def printed(said):
    """Call a command that succeeds, and return its output."""

    def called(*arguments: object) -> str:
        code, out, errors = said(*arguments)
        assert code == 0, errors
        return out

    return called


def squeezed(text: str) -> str:
    return " ".join(text.split())


# ------------------------------------------------------------------------- several systems


def test_lists_of_scores_of_the_same_trials_are_systems(said):
    rng = np.random.default_rng(2)
    names = [f"s{i // 4}/{i % 4}" for i in range(40)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    Path("trials.txt").write_text("".join(f"{int(a[:2] == b[:2])} {a} {b}\n" for a, b in pairs))
    for system, noise in (("a", 0.5), ("b", 1.5)):
        lines = [f"{a} {b} {(a[:2] == b[:2]) + noise * rng.normal():.6f}\n" for a, b in pairs]
        Path(f"{system}.scores").write_text("".join(rng.permutation(lines)))
    files, kind = ("a.scores", "b.scores"), ("--kind", "similarity", "--format", "voxceleb")
    kind = (*kind, "--subject-from", "(s[0-9]+)/")
    code, out, _ = said("compare", *files, "--trials", "trials.txt", *kind, "--json")
    assert code == 0
    for file in files:
        options = {"kind": "similarity", "format": "voxceleb"}
        scores = be.load(file, trials="trials.txt", **options)
        eer = value(json.loads(out), "eer", system=file[0])
        assert eer == be.verification(scores).eer.item()
    assert said("run", files[0], "trials.txt", *kind)[0] == 0  # the trials may be unnamed
    assert said("run", *files, *kind)[0] == 2  # of two files, the second is the trials


def test_what_is_said_of_the_test_of_a_difference(printed):
    words = ["compare", "old.npz", "new.npz", "--measure", "eer", "--measure", "auc"]
    words += ["--replicates", "100", "--seed", "7"]
    printed_text = squeezed(printed(*words, "--out", "both"))
    assert "p value" in printed_text and "p adjusted" not in printed_text
    summary = json.loads(Path("both/summary.json").read_text())
    assert (summary["replicates"], summary["seed"]) == (100, "7")
    printed_text = squeezed(printed(*words, "--adjust", "holm"))
    assert "p adjusted" in printed_text and "p value" not in printed_text.replace("p values", "")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("run old.npz new.npz", "run takes one; give both to bioeval compare"),
        ("run old.npz new.npz third.npz", "3 files are given, and bioeval run takes one system"),
        ("zoo a.npz b.npz c.npz d.npz", "several systems are for bioeval compare"),
        ("compare old.npz old.npz", "'old.npz' is given twice"),
        ("threshold old.npz new.npz", "threshold takes one; give both to bioeval compare"),
        ("run s.npz --far 1/0", "expected a rate (0.01, 1% or 1/100)"),
        ("run s.npz --far 0,01", "expected a rate (0.01, 1% or 1/100)"),
        ("threshold s.npz --far 1", "expected a rate (0.01, 1% or 1/100)"),
        ("threshold s.npz --far 1% --assure 0.05", "expected a number from 0.5 to below 1"),
        ("run s.npz --interval people --confidence 5%", "expected a number from 0.5 to below 1"),
    ],
)
def test_what_systems_cannot_have(words, problem, said):
    code, _, errors = said(*words.split())
    assert code == 2 and problem in errors


def test_every_threshold_has_its_row(printed):
    evaluated = be.evaluate(SYSTEMS["old"], thresholds=[4.0, 5.0])
    options = ("--thresholds", "4,5", "--markdown", "--interval", "none")
    tables = markdown_tables(printed("run", "old.npz", *options))
    assert tables == markdown_tables(be.to_markdown(evaluated))
    of_thresholds = [x for x in tables if x[0][0] == "threshold"]
    tasks = ("verification/single", "verification/multi")
    for task, (heading, *rows) in zip(tasks, of_thresholds[:2], strict=True):
        for row, threshold in zip(rows, (4.0, 5.0), strict=True):
            assert float(row[0]) == threshold
            for name in ("far", "frr"):
                rate = 100 * float(evaluated[task][name].sel(threshold=threshold))
                cell = row[heading.index(name.upper())]
                assert float(cell.strip(" %")) == pytest.approx(rate, abs=0.006)


def test_a_far_of_all_attempts_is_remarked(said):
    file = "old.npz"
    remark = squeezed(said("zoo", file, "--threshold", "far=1")[2])
    assert "FAR 1 is 100 %; for 1 % write 1% or 0.01" in remark
    for option in ("--far", "--frr"):
        code, _, refusal = said("run", file, option, 1)
        assert code == 2 and "expected a rate (0.01, 1% or 1/100)" in squeezed(refusal)
    assert "100 %" not in said("run", file, "--far", "0.5", "--far", "1%")[2]
    assert "warning" not in said("run", file, "--frr", "100%")[2]
    for target, remark in (
        ("0.01", "0.01 is taken as a threshold; for a FAR write far=0.01"),
        ("FAR=1", "FAR 1 is 100 %"),
    ):
        assert remark in squeezed(said("threshold", file, "--target", target, "--folds", 3)[2])


# ------------------------------------------------------------------------- selections of a run


@pytest.fixture
def file():
    simulated = be.simulate(30, 4, random_state=1)
    meta = {"session": np.tile([1, 1, 2, 2], 30)}
    be.save(
        be.Scores(np.asarray(simulated.values), simulated.probe_labels, probe_meta=meta), "m.npz"
    )
    return "m.npz"


def test_a_gallery_without_training_is_one_selection_of_all_people(file, printed):
    text = printed("run", file, "--gallery-templates", "session=1")
    assert "60 probes of 30 subjects against 60 gallery templates of 30 subjects" in text
    assert "120 genuine and 3,480 impostor attempts" in text  # 60 x 2, 60 x 58
    assert "same list" not in text
    scores = be.load(file)
    first = scores.probe_meta["session"] == 1
    of_selection = be.verification(scores.select(np.flatnonzero(~first), np.flatnonzero(first)))
    assert f"{100 * float(of_selection.eer):.2f} %" in text.split("\n  EER")[1].splitlines()[0]
    text = printed("run", file, "--folds", "3", "--templates", "single")
    assert "Verification, single-template, in folds" in text
    assert "multi-template" not in text and "identification" not in text


def test_people_who_are_not_enrolled_without_training(file, printed):
    text = printed("run", file, "--unenrolled", "10", "--verbose")
    # 20 people x 2 templates enrolled; their 2 others and all 4 of 10 people probe.
    assert "80 probes of 30 subjects against 40 gallery templates of 20 subjects" in text
    assert "impostors are people who are not enrolled" in squeezed(text)
    redrawn = printed("run", file, "--unenrolled", "10", "--seed", "5")
    assert redrawn != text and "30 subjects against 40 gallery templates of 20 subjects" in redrawn


# ------------------------------------------------------------------------- exclusions

COMMANDS = [
    "run",
    "compare b.npz --replicates 100",
    "fuse b.npz",
    "gallery-size",
    "groups --by group --columns group=group",
    "threshold",
    "zoo",
]


@pytest.fixture
def sessions():
    """Write scores of two systems: 12 subjects, three sessions, two templates in a session."""
    rng, labels = np.random.default_rng(0), np.repeat(np.arange(12), 6)
    for name in "ab":
        embeddings = rng.normal(size=(12, 8))[labels] + 0.9 * rng.normal(size=(72, 8))
        columns = {"session": np.tile([1, 1, 2, 2, 3, 3], 12)}
        columns["group"] = np.where(labels % 2, "f", "m")
        values = np.linalg.norm(embeddings[:, None] - embeddings[None], axis=2)
        np.savez(f"{name}.npz", scores=values, labels=labels, **columns)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_what_is_excluded(command, sessions, printed):
    name, *words = command.split()
    arguments = [name, "a.npz", *words, "--kind", "distance", "--columns", "session=session"]
    excluded = "genuine pairs of the same session"
    counted = f"{excluded} are counted"  # a warning
    with_option, without = (
        squeezed(printed(*arguments, *option)) for option in (["--exclude", "session"], [])
    )
    assert excluded in with_option and counted not in with_option
    assert excluded not in without.replace(counted, "")


# What is printed by default: one screen, with what was asked for by name.


SQUARE = be.simulate(20, 4, random_state=3)


def _square_with_names_on_both_sides():
    names = [f"image {i}" for i in range(80)]
    meta = {"probe_meta": {"name": names}, "gallery_meta": {"name": names}}
    return be.Scores(SQUARE.values, SQUARE.probe_labels, SQUARE.gallery_labels, **meta)


def _listed():
    rows, columns = np.triu_indices(80, 1)
    people = np.stack([SQUARE.probe_labels[rows], SQUARE.probe_labels[columns]], axis=1)
    templates = np.stack([rows, columns], axis=1).astype(str)
    is_genuine = people[:, 0] == people[:, 1]
    values = SQUARE.values[rows, columns]
    return be.Scores.from_pairs(values, is_genuine, subjects=people, pair_templates=templates)


def _visits():
    square = be.simulate(20, 6, random_state=3)
    visits = {"visit": np.arange(120) % 6 // 2}
    return be.Scores(square.values, square.probe_labels, probe_meta=visits)


#: Scores of each layout, with options of the command.
LAYOUTS = {
    "square": (lambda: SQUARE, ""),
    "many-people": (lambda: be.simulate(200, 3, random_state=3), ""),
    "similarities": (
        lambda: be.Scores(10 - SQUARE.values, SQUARE.probe_labels, kind="similarity"),
        "",
    ),
    "two-sides": (
        lambda: be.simulate(
            30, 3, layout="probe-against-gallery", probes=2, unenrolled=5, random_state=3
        ),
        "",
    ),
    "names-on-both-sides": (_square_with_names_on_both_sides, ""),
    "list": (_listed, ""),
    "claims": (_visits, "--attempts visit --enrol first:2"),
}


@pytest.mark.parametrize(
    ("call", "most"),
    [
        *((f"run {layout}.npz {options}", 24) for layout, (_, options) in LAYOUTS.items()),
        ("threshold old.npz --far 0.05", 28),  # with a warning on few people
        ("run old.npz --protocol course-kfold --folds 4 --templates single", 48),
        ("compare old.npz new.npz", 40),
    ],
)
@pytest.mark.cases(10)
def test_default_outputs_are_short(call, most, said, monkeypatch):
    """One system fits 24 lines of 80 letters; the last line names how much more there is."""
    monkeypatch.setenv("COLUMNS", "80")
    layout = call.split()[1].removesuffix(".npz")
    if layout in LAYOUTS:
        be.save(LAYOUTS[layout][0](), f"{layout}.npz")
    code, out, _ = said(*call.split())
    lines = out.splitlines()
    assert code == 0 and len(lines) <= most, out
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("In full, with ") and lines[-1].endswith(" more: --verbose")
    in_full = said(*call.split(), "--verbose")[1]
    assert "--verbose" not in in_full and len(in_full.splitlines()) > len(lines)


def test_a_target_that_was_asked_for_has_a_marked_row_with_its_limits(said):
    be.save(SQUARE, "one.npz")
    code, out, _ = said("run", "one.npz", "--far", "0.01")
    assert code == 0
    for task, name in (("verification/single", "frr_at_far"), ("open_set", "dir_at_far")):
        evaluated = be.evaluate(be.load("one.npz"), far_targets=[0.01], interval="people")
        result = evaluated[task].to_dataset()
        assert not result[f"{name}_supported"].item(0)
        number, low, high = (
            100 * result[f"{name}{end}"].values.flat[0] for end in ("", "_low", "_high")
        )
        row = next(
            x for x in out.splitlines() if f"{name[:3].upper()} at FAR <= 1 %" in x and "[" in x
        )
        assert " ".join(row.split()).find(f"{number:.2f} %* [{low:.2f}, {high:.2f}]") > 0
    assert "*: not supported: too few people" in out
    # no target was asked for: nothing is marked
    assert "*" not in said("run", "one.npz")[1]


def test_all_four_rates_stand_at_a_threshold_that_was_asked_for(said):
    be.save(SQUARE, "one.npz")
    out = said("run", "one.npz", "--thresholds", "4.5", "--interval", "none")[1]
    table = out.partition("multi-template")[0]
    at = be.verification(SQUARE, thresholds=[4.5]).isel(threshold=0)
    for name in ("far", "frr", "gar", "grr"):
        row = next(x for x in table.splitlines() if f"{name.upper()} at threshold 4.5" in x)
        assert f"{100 * at[name].item():.2f} %" in row


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("square", "of 80 x 80 comparisons, 80 of a template with itself"),
        ("names-on-both-sides", "of 80 x 80 comparisons, 80 of a template with itself"),
        ("two-sides", None),
        ("list", None),
    ],
)
def test_the_header_says_what_was_left_out(layout, words, said):
    be.save(LAYOUTS[layout][0](), "one.npz")
    for option in ([], ["--verbose"], ["--markdown"]):
        out = " ".join(said("run", "one.npz", *option)[1].split())
        assert (words in out) if words else ("template with itself" not in out)


def test_a_list_with_a_template_beside_itself_says_so_in_its_header(said):
    names = [f"a{i // 2}_{i}" for i in range(12)]
    lines = [
        f"{a},{b},{abs(i // 2 - j // 2) + abs(i - j) / 99}"
        for i, a in enumerate(names)
        for j, b in enumerate(names)
    ]
    Path("list.csv").write_text("\n".join(["template_a,template_b,distance", *lines]))
    out = said("run", "list.csv", "--subject-from", r"(a\d+)_")[1]
    assert "12 of a template with itself" in " ".join(out.split())


@pytest.mark.parametrize("thresholds", ["612", "-3", "612,900"])
def test_thresholds_outside_all_scores_end_with_2(thresholds, said):
    """The result is shown all the same; where one threshold separates attempts, the code is 0."""
    code, out, errors = said("run", "old.npz", "--thresholds", thresholds, "--interval", "none")
    assert code == 2 and "EER" in out
    assert "bioeval: error: the " in errors and "check" in errors
    assert said("run", "old.npz", "--thresholds", "5,612", "--interval", "none")[0] == 0
    fixed = ("run", "old.npz", "--folds", "3", "--target", thresholds.partition(",")[0])
    assert said(*fixed)[0] == 2

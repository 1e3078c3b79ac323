"""The program that grades the homework: right answers pass, and remarks name the mistakes."""

import csv
import io
import itertools
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import ROOT

import bioeval as be

TEACHER = ROOT / "docs" / "course" / "teacher"
sys.path.insert(0, str(TEACHER))

import grade  # noqa: E402
import mistakes  # noqa: E402
import solution  # noqa: E402

Answers = dict[str, np.ndarray]


@pytest.fixture(scope="module", autouse=True)
def each_solution_is_computed_once() -> Iterator[None]:
    """Half a second each; the program that grades asks for those of the tests again."""
    compute, known = solution.solution, {}

    def computed_once(seed: int, thresholds: np.ndarray | None = None) -> Answers:
        if thresholds is not None:
            return compute(seed, thresholds)
        if seed not in known:
            known[seed] = compute(seed)
        return dict(known[seed])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solution, "solution", computed_once)
        patch.setattr(grade, "solution", computed_once)
        yield


RIGHT = solution.solution(7)
GENUINE, IMPOSTOR = RIGHT["genuine_attempts"], RIGHT["impostor_attempts"]


def careless(**changes: Any) -> Answers:
    """The right answers with some arrays replaced, or left out where None."""
    answers = RIGHT | {name: np.asarray(value) for name, value in changes.items()}
    return {name: array for name, array in answers.items() if changes.get(name, 0) is not None}


def below_thresholds(answers: Answers) -> np.ndarray:
    """FAR of pairs and of claims where a distance equal to the threshold is rejected."""
    scores = be.Scores(*solution.homework_data(int(answers["seed"])))
    below = np.nextafter(answers["thresholds"], -np.inf)
    by_templates = [
        be.verification(scores, templates=x, thresholds=below) for x in ("single", "multi")
    ]
    return np.stack([x.far.values for x in by_templates])


def hand_in(folder: Path, answers: Answers) -> None:
    folder.mkdir()
    np.savez(folder / "answers.npz", **answers)


def table_of(out: Path) -> dict[str, dict[str, str]]:
    with out.open(newline="", encoding="utf-8-sig") as lines:
        return {row["student"]: row for row in csv.DictReader(lines)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 20261])
def test_the_solution_has_the_numbers_of_the_package(seed: int) -> None:
    answers = solution.solution(seed)
    scores = be.Scores(*solution.homework_data(seed))
    thresholds = answers["thresholds"]
    for row, templates in enumerate(("single", "multi")):
        verified = be.verification(scores, templates=templates, thresholds=thresholds)
        for name in ("genuine_attempts", "impostor_attempts"):
            assert verified[name].item() == answers[name][row]
        for name in ("gar", "far", "frr", "grr"):
            np.testing.assert_allclose(answers[name][row], verified[name], atol=1e-12)
        gap = abs(verified.far - verified.frr).values.round(12)
        mean = ((verified.far + verified.frr) / 2).values
        assert answers["eer"][row] == pytest.approx(mean[gap.argmin()])
    searched = be.open_set(scores, thresholds=thresholds, max_rank=5)
    np.testing.assert_allclose(answers["dir"], searched.dir.transpose("threshold", "rank"))
    np.testing.assert_allclose(answers["cms"], be.closed_set(scores).cms.sel(rank=slice(1, 5)))
    parts = solution.partitions(np.array(scores.probe_labels), seed)
    repeated = be.repeat(scores, parts, curves=True, thresholds=thresholds)
    pairs = repeated["verification/single"]
    gap = abs(pairs.far - pairs.frr).values.round(12)
    mean = ((pairs.far + pairs.frr) / 2).values
    nearest = gap.argmin(axis=1)
    np.testing.assert_allclose(answers["partition_eer"], mean[np.arange(100), nearest])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(x, marks=[pytest.mark.slow] if x == "partition_eer" else [])
        for x in grade.ARRAYS
        if x != "seed"
    ],
)
def test_each_mistake_is_another_value_than_the_right_one(name: str) -> None:
    right = solution.solution(4)
    sentences = []
    for sentence, wrong in mistakes.mistakes(name, 4, right):
        same_shape = wrong.shape == right[name].shape
        assert not (same_shape and np.allclose(wrong, right[name])), sentence
        mistake = grade.what_is_wrong(name, right | {name: wrong}, right)
        sentences.append((sentence, mistake))
    assert len(sentences) >= 3
    # Two mistakes may lead to one value: the likelier one is said.
    assert sum(a == b for a, b in sentences) >= len(sentences) - 1


def test_causes_are_named() -> None:
    far, frr, eer = RIGHT["far"], RIGHT["frr"], RIGHT["eer"]
    searches, attempts = RIGHT["genuine_attempts"][1], RIGHT["impostor_attempts"][:, None]
    over_all = far * attempts / (attempts + RIGHT["genuine_attempts"][:, None])
    follows = [solution.equal_error_rate(*row) for row in zip(far**2, frr, strict=True)]
    parts = solution.partition_rates(7, RIGHT["thresholds"])
    i = np.abs(far[0] - frr[0]).argmin()
    at_one = [(x["far"][i] + x["frr"][i]) / 2 for x in parts]
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("far", {"far": [frr[0], far[1]]}, "pairs: FAR and FRR are exchanged"),
        ("far", {"far": [far[0], frr[1]]}, "claims: FAR and FRR are exchanged"),
        ("far", {"far": np.rint(far * attempts).astype(int)}, "numbers of"),
        ("cms", {"cms": np.rint(RIGHT["cms"] * searches).astype(int)}, "numbers of attempts"),
        ("far", {"far": (100 * far).round(2)}, "in per cent"),
        ("eer", {"eer": (100 * eer).round()}, "in per cent"),
        ("eer", {"eer": eer[[0, 0]]}, "claims: these are the values of the pairs"),
        ("eer", {"eer": eer[[1, 0]] / [1, 3]}, "2 of 2 are wrong; the first at [0]"),
        ("eer", {"eer": eer * [1, 3]}, "1 of 2 is wrong; the first at [1]"),
        ("eer", {"far": far**2, "eer": follows}, "follows from FAR:"),
        ("eer", {"far": far[:, :3], "frr": frr[:, :3], "eer": eer + 0.3}, "2 of 2 are wrong"),
        ("eer", {"far": 2 * far, "frr": 2 * frr, "eer": 2 * eer}, "follows from FAR and FRR: no"),
        ("grr", {"far": over_all, "grr": 1 - over_all}, "follows from FAR: no further mistake"),
        ("partition_eer", {"partition_eer": at_one}, "at the threshold of all people"),
    ]
    for name, changes, sentence in cases:
        assert sentence in grade.what_is_wrong(name, careless(**changes), RIGHT), name


def test_two_mistakes_in_pairs_and_in_claims_are_both_named() -> None:
    right = solution.solution(5)
    known = dict(mistakes.mistakes("gar", 5, right))
    pairs, claims = (
        next(s for s in known if s.startswith(title)) for title in ("pairs: ", "claims: ")
    )
    gar = np.stack([known[pairs][0], known[claims][1]])
    sentence = grade.what_is_wrong("gar", right | {"gar": gar}, right)
    assert sentence == f"{pairs}; {claims}"
    gar[1] /= 3  # no known mistake
    assert "wrong; the first" in grade.what_is_wrong("gar", right | {"gar": gar}, right)


def test_seeds_are_whole_numbers_of_any_length() -> None:
    for seed in (7, 7.0, 12345678901234567):
        assert grade.seed_of({"seed": np.array(seed)}) == seed
    for seed in (-1, 1.5, np.nan, np.inf, "7", [7, 8], 1e300, 2**64 - 1):
        assert grade.seed_of({"seed": np.array(seed)}) is None


@pytest.mark.slow
def test_a_seed_of_another_student_is_named(tmp_path: Path) -> None:
    for student, seed in (("Ada", 8), ("Bo", 8), ("Cy", 9)):
        hand_in(tmp_path / student, solution.solution(seed))
    grades = [grade.grade(x) for x in sorted(tmp_path.iterdir())]
    ada, bo, cy = grade.with_remarks_on_seeds(grades, None)
    assert ada.remarks == ["seed: 8 is also the seed of Bo"] and all(ada.right.values())
    assert bo.remarks == ["seed: 8 is also the seed of Ada"] and not cy.remarks
    *_, cy = grade.with_remarks_on_seeds(grades, {"Ada": 8, "Bo": 8})
    assert cy.remarks == ["the table of seeds has no such student"]
    cy = grade.grade(tmp_path / "Cy", 10)
    assert "another seed" in cy.remarks[0] and not any(cy.right.values())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 12, 13, 16])
def test_any_of_the_nearest_thresholds_gives_the_eer(seed: int) -> None:
    right = solution.solution(seed)
    ends = [
        [
            solution.equal_error_rates(x["far"], x["frr"])[k]
            for x in solution.partition_rates(seed, right["thresholds"])
        ]
        for k in (0, -1)
    ]
    assert not np.allclose(*ends)
    for part in ends:
        assert not grade.what_is_wrong("partition_eer", {"partition_eer": np.array(part)}, right)
    between = {"partition_eer": np.mean(ends, axis=0)}
    assert grade.what_is_wrong("partition_eer", between, right)


#: A right homework that is saved with little care: its changes, the arrays that are lost, a remark.
CARELESS: dict[str, tuple[dict[str, Any], set[str], str]] = {
    "seed as text": ({"seed": "7"}, set(), "seed: saved as text, and read as numbers"),
    "seed as text in an array": ({"seed": ["7"]}, set(), "seed: saved as text"),
    "seed in an array": ({"seed": [7]}, set(), ""),
    "exchanged": (
        {"far": RIGHT["frr"], "frr": RIGHT["far"]},
        {"far", "frr"},
        "far, frr: FAR and FRR are exchanged",
    ),
    "diagonal": (
        {"genuine_attempts": GENUINE + [GENUINE[1], 0]},
        {"genuine_attempts"},
        "genuine_attempts: the diagonal is counted",
    ),
    "all": (
        {"frr": RIGHT["frr"] * (GENUINE / (GENUINE + IMPOSTOR))[:, None]},
        {"frr"},
        "frr: divided by all attempts",
    ),
    "strict": (
        {"far": below_thresholds(RIGHT)},
        {"far"},
        "far: a distance equal to the threshold is rejected",
    ),
    "percent": ({"gar": 100 * RIGHT["gar"]}, {"gar"}, "gar: in per cent"),
    "once": (
        {"impostor_attempts": IMPOSTOR // [2, 1]},
        {"impostor_attempts"},
        "impostor_attempts: each pair is counted once",
    ),
    "sum": ({"eer": 2 * RIGHT["eer"]}, {"eer"}, "eer: this is the sum of FAR and FRR"),
    "steps": ({"cms": np.diff(RIGHT["cms"], prepend=0)}, {"cms"}, "cms: not cumulative"),
    "same": (
        {"partition_eer": np.full(100, RIGHT["partition_eer"][0])},
        {"partition_eer"},
        "partition_eer: all partitions are the first one",
    ),
    "seed as a number with decimals": ({"seed": 7.0}, set(), ""),
    "text": (
        {"eer": RIGHT["eer"].astype(str), "cms": RIGHT["cms"].astype(bytes)},
        set(),
        "eer, cms: saved as text, and read as numbers",
    ),
    "columns": (
        {"cms": RIGHT["cms"][:, None], "thresholds": RIGHT["thresholds"][None]},
        set(),
        "thresholds, cms: read without axes of length 1",
    ),
    "half precision": (
        {x: y.astype(np.float16) for x, y in RIGHT.items() if x != "seed"},
        set(),
        "",
    ),
    "four decimals": (
        {x: y.round(4) for x, y in RIGHT.items() if y.dtype.kind == "f"},
        set(),
        "",
    ),
    "whole numbers": (
        {"far": RIGHT["far"].astype(int)},
        {"far"},
        "far: these are whole numbers: the decimals are missing",
    ),
    "two decimals": (
        {"frr": RIGHT["frr"].round(2)},
        {"frr"},
        "frr: rounded to 2 decimals: four are needed",
    ),
    "transposed": ({"dir": RIGHT["dir"].T}, {"dir"}, "dir: the axes are exchanged"),
    "flat": ({"grr": RIGHT["grr"].ravel()}, {"grr"}, "grr: the shape is ("),
    "objects": (
        {"dir": RIGHT["dir"].astype(object)},
        {"dir"},
        "dir: objects are not read: save an array of numbers",
    ),
    "one row of far, and an EER in per cent": (
        {"far": RIGHT["far"][0], "eer": 100 * RIGHT["eer"]},
        {"far", "eer"},
        "eer: in per cent",
    ),
    "rounded thresholds": (
        {"thresholds": RIGHT["thresholds"].round(1)},
        {"thresholds"},
        "thresholds: rounded to 1 decimal:",
    ),
    "no thresholds": ({"thresholds": None}, {"thresholds"}, "thresholds: missing"),
    "words": ({"cms": ["a"]}, {"cms"}, "cms: the array has text: it should have numbers"),
    "nan": ({"eer": [np.nan] * 2}, {"eer"}, "eer: it contains nan: the mean of an empty array"),
    "transposed twice": (
        {"far": RIGHT["far"].T, "frr": RIGHT["frr"].T},
        {"far", "frr"},
        "far, frr: the axes are exchanged: pairs and claims are the rows",
    ),
    "another name": (
        {"cms": None, "cmc": RIGHT["cms"]},
        {"cms"},
        "cms: missing; not on the sheet: cmc",
    ),
    "another seed": (
        {"seed": 8},
        {*grade.ARRAYS},
        "no array belongs to seed 8: another seed, or other draws",
    ),
    "short": ({"gar": RIGHT["gar"][:, :3]}, {"gar"}, "gar: the shape is (2, 3)"),
    "seedless": ({"seed": 1.5}, {*grade.ARRAYS}, "seed: missing, or no whole number"),
}


@pytest.mark.parametrize("case", CARELESS)
def test_a_careless_form_costs_no_more_than_the_array(case: str, tmp_path: Path) -> None:
    changes, lost, remark = CARELESS[case]
    hand_in(tmp_path / "Ada", careless(**changes))
    ada = grade.grade(tmp_path / "Ada")
    assert {name for name, is_right in ada.right.items() if not is_right} == lost, ada.remarks
    assert any(x.startswith(remark) for x in ada.remarks) if remark else not ada.remarks


@pytest.mark.slow
@pytest.mark.parametrize("every", [3, 1])
def test_rates_at_other_thresholds_are_right_there(every: int, tmp_path: Path) -> None:
    distances, _ = solution.homework_data(7)
    thresholds = np.unique(distances)[::every]
    hand_in(tmp_path / "Ada", solution.solution(7, thresholds))
    hand_in(tmp_path / "Bo", solution.solution(7, np.linspace(1, 12, 25)))
    for student in ("Ada", "Bo"):
        graded = grade.grade(tmp_path / student)
        assert [name for name, is_right in graded.right.items() if not is_right] == ["thresholds"]


def test_names_of_files_and_arrays_may_differ_a_little(tmp_path: Path) -> None:
    for student, word in (("Ada", str.title), ("Bo", str.upper)):
        renamed = {word(name.replace("_", " ")): array for name, array in RIGHT.items()}
        (tmp_path / student / "homework").mkdir(parents=True)
        np.savez(tmp_path / student / "homework" / "Answers.npz", **renamed)
        (tmp_path / student / "._answers.npz").write_text("of another system")
        graded = grade.grade(tmp_path / student)
        assert graded.remarks == ["the file should be called answers.npz, not Answers.npz"]
        assert all(graded.right.values())


def test_arrays_without_their_names_are_named(tmp_path: Path) -> None:
    (tmp_path / "Bo").mkdir()
    np.savez(tmp_path / "Bo" / "answers.npz", *RIGHT.values())
    (remark,) = grade.grade(tmp_path / "Bo").remarks
    assert remark.startswith("the arrays of answers.npz have no names: save the arrays by")


def test_a_seed_of_the_table_replaces_a_wrong_or_missing_one(tmp_path: Path) -> None:
    hand_in(tmp_path / "Ada", careless(seed=8))
    hand_in(tmp_path / "Bo", careless(seed=None))
    ada, bo = (grade.grade(tmp_path / x, 7) for x in ("Ada", "Bo"))
    assert ada.remarks == ["seed: 8 in place of 7"] and bo.remarks == ["seed: missing"]
    assert sum(ada.right.values()) == sum(bo.right.values()) == len(grade.ARRAYS) - 1


def test_a_table_of_seeds_has_commas_or_semicolons(tmp_path: Path) -> None:
    table = tmp_path / "seeds.csv"
    for mark in (",", ";"):
        table.write_text(f"student{mark}seed\nAda{mark}7\n", encoding="utf-8")
        assert grade.read_seeds(table) == {"Ada": 7}
    rows = "Ada,7\nAda,8", "Ada,-1", "Ada,x"  # a name twice, and what is no seed
    for text in ("name,seed\nAda,7\n", "", *(f"student,seed\n{x}\n" for x in rows)):
        table.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="seed|Ada"):
            grade.read_seeds(table)


def header(descr: str, shape: str) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def zipped(member: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """The right answers with the bytes of one member in place of CMS."""
    file = io.BytesIO()
    np.savez(file, **careless(cms=None))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("cms.npy", member, compression)
    return file.getvalue()


def with_flag(file: bytes, offset: int, value: int) -> bytes:
    """A file whose last member, in both headers, says that it is encrypted, or another method."""
    changed = bytearray(file)
    changed[file.rindex(b"PK\3\4") + offset] = value
    changed[file.rindex(b"PK\1\2") + offset + 2] = value
    return bytes(changed)


def of_zeros(n: int) -> bytes:
    """A member of zeros, each byte of which is written once: the file is small."""
    return header("<f8", f"({n // 8},)") + bytes(n)


CMS = header("<f8", "(5,)") + bytes(40)

#: Files that lose one array, and what is said of it.
HOSTILE: dict[str, tuple[bytes, str]] = {
    "a header claims 10^12 numbers": (
        zipped(header("<f8", "(1000000000000,)")),
        "cms: its shape is (1000000000000,): too many numbers",
    ),
    "a header claims no numbers of any length": (
        zipped(header("<f8", "(0, 1000000000000)")),
        "cms: its shape is (0, 1000000000000): too many",
    ),
    "a header claims long text": (
        zipped(header("<U99999999", "(1,)")),
        "cms: it has no real numbers",
    ),
    "a header has negative lengths": (zipped(header("<f8", "(-5,)")), "cms: its shape is (-5,)"),
    "a header is no header": (zipped(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"), "cms: damaged"),
    "too few numbers": (zipped(CMS[:-8]), "cms: damaged"),
    "zeros": (zipped(of_zeros(30_000_000), zipfile.ZIP_DEFLATED), "cms: its shape is (3750000,)"),
    "records": (zipped(header("|V8", "(5,)") + bytes(40)), "cms: it has no real numbers"),
    "encrypted": (with_flag(zipped(CMS), 6, 1), "cms: the file is encrypted"),
    "another method": (with_flag(zipped(CMS), 8, 97), "cms: the compression is none of NumPy"),
    "LZMA": (zipped(CMS, zipfile.ZIP_LZMA), "cms: the compression is none of NumPy"),
    "a wrong sum": (zipped(CMS).replace(CMS, CMS[:-1] + b"1"), "cms: damaged"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_array_costs_itself(case: str, tmp_path: Path) -> None:
    file, remark = HOSTILE[case]
    (tmp_path / "Eve").mkdir()
    (tmp_path / "Eve" / "answers.npz").write_bytes(file)
    eve = grade.grade(tmp_path / "Eve")
    assert [x for x, is_right in eve.right.items() if not is_right] == ["cms"], eve.remarks
    assert eve.remarks[0].startswith(remark)


def test_names_that_are_not_on_the_sheet_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "Ada", RIGHT | {"distances": np.zeros(5)})
    opened, is_opened = [], zipfile.ZipFile.open

    def open_member(archive: zipfile.ZipFile, name: Any, *args: Any, **options: Any) -> Any:
        opened.append(getattr(name, "filename", name))
        return is_opened(archive, name, *args, **options)

    monkeypatch.setattr(zipfile.ZipFile, "open", open_member)
    assert all(grade.grade(tmp_path / "Ada").right.values())
    assert sorted(opened) == sorted(f"{name}.npy" for name in grade.ARRAYS)


def test_each_folder_and_each_student_of_the_table_has_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class_folder, out, seeds = tmp_path / "class", tmp_path / "out.csv", tmp_path / "seeds.csv"
    class_folder.mkdir()
    for student in ("=1+1", "Zoe\u0308", "@Eve"):  # two dots after the e
        hand_in(class_folder / student, RIGHT)
    hand_in(class_folder / "Bo", {"=2+2": np.zeros(1), "x": np.zeros(1)})
    (class_folder / "Two").mkdir()
    for name in ("one", "two"):
        np.savez(class_folder / "Two" / name, **RIGHT)
    (class_folder / "All").mkdir()
    np.savez(class_folder / "All" / "answers.npz", answers=np.array(RIGHT, dtype=object))
    (class_folder / "Dir" / "answers.npz").mkdir(parents=True)
    (class_folder / "Link").mkdir()
    (class_folder / "Link" / "answers.npz").symlink_to(class_folder / "@Eve" / "answers.npz")
    (class_folder / "Big").mkdir()
    with (class_folder / "Big" / "answers.npz").open("wb") as file:
        file.truncate(800_000_000)  # declared, not written
    for name, byte in (("Zip", b"PK\3\4"), ("None", b"")):
        (class_folder / name).mkdir()
        (class_folder / name / "answers.npz").write_bytes(byte)
    hand_in(class_folder / "Fault", RIGHT)
    read = grade.read_answers

    def fault(file: Path) -> Answers:
        if file.parent.name == "Fault":
            raise RecursionError("deep")
        return read(file)

    monkeypatch.setattr(grade, "read_answers", fault)
    seeds.write_text("student,seed\nZo\u00eb,7\nBo,7\n=1+1,7\nLee,7\n", encoding="utf-8")
    words = [str(class_folder), "--out", str(out), "--seeds", str(seeds)]
    assert grade.main(words) == 0
    assert "13 students" in capsys.readouterr().out
    assert out.read_bytes().startswith("\ufeffstudent,".encode())
    table = table_of(out)
    right = {"'=1+1", "Zo\u00eb", "'@Eve"}
    wrong = {"Bo", "Two", "All", "Dir", "Link", "Big", "Zip", "None", "Fault", "Lee"}
    assert {*table} == right | wrong
    assert all(int(table[x]["right"]) == len(grade.ARRAYS) for x in right)
    assert "no such student" not in table["Zo\u00eb"]["remarks"]
    assert all(table[x]["right"] == "0" for x in wrong)
    for student, remark in {
        "Two": "2 files could be the answers, and one is wanted: one.npz, two.npz",
        "All": "all answers are in one array, answers: save the arrays by np.savez",
        "Dir": "there is no answers.npz",
        "Link": "answers.npz is a link, not a file",
        "Big": "answers.npz has more than 20 MB",
        "Zip": "answers.npz cannot be read",
        "None": "answers.npz cannot be read",
        "Fault": "look at this file yourself: it cannot be graded (RecursionError: deep)",
        "Lee": "there is no folder of this name",
    }.items():
        assert table[student]["remarks"].startswith(remark), table[student]["remarks"]


#: Thresholds at which rates need no work.
IDLE: dict[str, np.ndarray] = {
    "zero": np.zeros(1),
    "beyond all": np.array([-1.0, 100.0]),
    "one, repeated": np.full(len(RIGHT["thresholds"]), 3.25),
    "one, and nearly one": 3.25 + 1e-6 * np.arange(len(RIGHT["thresholds"])),
    "few": np.array([2.0, 3.0, 4.0]),
    "infinite": np.array([-np.inf, 3.25, np.inf]),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", IDLE)
def test_thresholds_that_need_no_work_give_no_points(case: str, tmp_path: Path) -> None:
    idle = solution.solution(7, IDLE[case])
    hand_in(tmp_path / "Eve", idle)
    lost = {"thresholds", "gar", "far", "frr", "grr", "eer", "dir", "partition_eer"}
    eve = grade.grade(tmp_path / "Eve")
    assert {x for x, is_right in eve.right.items() if not is_right} == lost


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.cases(2)
def test_the_data_have_ties_that_ranks_depend_on(seed: int) -> None:
    distances, person = solution.homework_data(seed)
    optimistic, pessimistic, equal_mates = [], [], 0
    for i, row in enumerate(distances):
        mates = np.delete(row, i)[np.delete(person, i) == person[i]]
        others = row[person != person[i]]
        optimistic.append(1 + (others < mates.min()).sum())
        pessimistic.append(1 + (others <= mates.min()).sum())
        equal_mates += (mates == mates.min()).sum() > 1
    assert equal_mates
    cms = [[np.mean(np.array(x) <= k) for k in range(1, 6)] for x in (optimistic, pessimistic)]
    assert np.abs(np.subtract(*cms)).max() > grade.TOLERANCE


@pytest.mark.slow
def test_another_generator_is_named_whatever_its_seed() -> None:
    _, person = solution.homework_data(7)
    drawn = solution.partition_rates(7, RIGHT["thresholds"], solution.partitions(person, 77))
    eers = np.array([solution.equal_error_rate(x["far"], x["frr"]) for x in drawn])
    sentence = grade.what_is_wrong("partition_eer", RIGHT | {"partition_eer": eers}, RIGHT)
    assert "another seed of the generator" in sentence


def test_other_mates_and_other_images_of_a_claim_are_named(tmp_path: Path) -> None:
    distances, person = solution.homework_data(7)
    farthest, rank = solution.mates(distances, person, np.max)
    mates = np.flatnonzero(person == person[0])[1:]
    assert farthest[0] == distances[0, mates].max()
    assert rank[0] == 1 + (distances[0, person != person[0]] <= farthest[0]).sum()
    cms = (rank[:, None] <= np.arange(1, 6)).mean(axis=0)
    first: dict[bool, list[float]] = {True: [], False: []}  # by whether the claim is genuine
    for i, claimed in itertools.product(range(len(person)), np.unique(person)):
        (j, *_) = [j for j in np.flatnonzero(person == claimed) if j != i]
        first[bool(claimed == person[i])].append(distances[i, j])
    gar = solution.rates(*map(np.array, (first[True], first[False])), RIGHT["thresholds"])["gar"]
    hand_in(tmp_path / "Ada", careless(cms=cms, gar=np.stack([RIGHT["gar"][0], gar])))
    remarks = str(grade.grade(tmp_path / "Ada").remarks)
    assert "gar: claims: the first image decides" in remarks
    assert "cms: the farthest image of the person is the mate" in remarks

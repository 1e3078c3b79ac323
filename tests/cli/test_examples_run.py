"""The examples in the help of every command run, in a folder with small files of their names."""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from commands import COMMANDS, EXAMPLES

import bioeval as be
from bioeval.cli import main

#: Examples that take seconds each, and run with the slow tests.
SLOW = re.compile(
    "--plot|"  # figures
    "--interval|others.npz --measure|"  # replicates
    "course-kfold|test.csv|"  # folds, or a training set
    "--system deep|"  # a data set of the package
    "bioeval (demo|report|gom|conventions|gallery-)"
)

#: Options that make an example small.
SMALLER = {
    "threshold": ["--repeats", "2", "--folds", "3", "--replicates", "100"],
    "compare": ["--replicates", "100"],
}

PEOPLE, TEMPLATES = 10, 4
WHO = np.repeat(np.arange(PEOPLE), TEMPLATES)


def embeddings(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(PEOPLE, 8))[WHO] + 0.5 * rng.normal(size=(len(WHO), 8))


def distances(seed: int) -> np.ndarray:
    templates = embeddings(seed)
    return np.linalg.norm(templates[:, None] - templates, axis=2)


def matrices() -> dict[str, be.Scores]:
    """Return the scores of files that bioeval saves."""
    place = np.arange(len(WHO))
    meta = {
        "sex": np.array(["f", "m"])[WHO % 2],
        "sharpness": place * 7 % 11 / 11,
        "camera": place % 3,
    }
    matrices_by_name = {}
    plain = ("scores", "old", "new", "others", "face", "finger", "pilot", "train", "test")
    for seed, name in enumerate(plain):
        matrices_by_name[name] = be.Scores(distances(seed), WHO, probe_meta=meta)
    for seed, name in enumerate(("reid", "osnet", "agw")):
        cameras = {"probe_meta": {"camera": place % 3}, "gallery_meta": {"camera": (place + 1) % 3}}
        matrices_by_name[name] = be.Scores(distances(seed), WHO, WHO, **cameras)
    return matrices_by_name


def texts() -> dict[str, list[str]]:
    """Return the lines of the files of text."""
    boxes = [f"{t},{i},{10 * i + t},20,30,40,1,1,1" for t in range(1, 9) for i in (1, 2)]
    tracked = ("gt", "tracker", "dancetrack/val/one/gt/gt", "trackers/SORT/one")
    return {
        "people.csv": ["subject", *map(str, WHO)],
        **{f"{name}.txt": boxes for name in (*tracked, "trackers/ByteTrack/one")},
        "dancetrack/val/one/seqinfo.ini": ["[Sequence]", "name=one", "seqLength=8"],
    }  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("examples")
    for name, scores in matrices().items():
        be.save(scores, place / f"{name}.npz")
    for name, lines in texts().items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("".join(f"{line}\n" for line in lines))
    np.savez(place / "faces.npz", dlib128=embeddings(2), subject=WHO)
    np.save(place / "matrix.npy", -distances(0))
    for seed, name in enumerate(("features", "old", "new")):
        sides = {"f": embeddings(seed), "label": WHO + 1, "cam": np.arange(len(WHO)) % 3 + 1}
        mat = {f"{side}_{k}": v for side in ("query", "gallery") for k, v in sides.items()}
        scipy.io.savemat(place / f"{name}.mat", mat)
    return place


@pytest.fixture
def in_copy_of_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(folder, tmp_path / "here", copy_function=os.link)
    monkeypatch.chdir(tmp_path / "here")


def run(*words: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*words])
    # A refuted promise is an answer, with a status of its own for scripts.
    expected = 1 if "the data refute the promise" in err.getvalue() else 0
    assert code == expected, err.getvalue()
    return out.getvalue()


def words_of(line: str) -> list[str]:
    """Return the words of a small form of an example, without the name of the program."""
    words = shlex.split(line)[1:]
    # A threshold that is judged on other data, or given, is chosen in no folds, and the options of
    # folds would be refused.
    is_without_folds = {"--on", "--promise"} & {*words}
    return words if is_without_folds else words + SMALLER.get(words[0], [])


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=[pytest.mark.slow] if SLOW.search(line) else [], id=line)
        for lines in EXAMPLES.values()
        for line in lines
    ],
)
def test_example_runs(line: str, in_copy_of_folder: None) -> None:
    """The files that an example writes do not exist before."""
    words = words_of(line)
    if words[0] in ("convert", "simulate"):
        Path("scores.npz").unlink(missing_ok=True)
    run(*words)


# ------------------------------------------------------------------------- forms of output

#: Commands that have no result, but write files that others read.
WITHOUT_RESULT = ("demo", "report", "example", "info", "protocols", "convert", "simulate")

#: What every command that has results prints and writes.
OUTPUTS = {"--report", "--json", "--latex", "--markdown", "--out"}

WRITES = re.compile("--(out|save)|course-kfold")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in WITHOUT_RESULT])
def test_each_command_has_the_same_outputs(name: str) -> None:
    help_text = run(name, "--help")
    assert all(word in help_text for word in OUTPUTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in WITHOUT_RESULT])
@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
def test_each_command_has_the_same_content_in_each_form(
    name: str, in_copy_of_folder: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = words_of(next((x for x in EXAMPLES[name] if not WRITES.search(x)), EXAMPLES[name][0]))
    if "--out" in words:
        del words[words.index("--out") :]
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run(*words)
    assert [x for x in narrow.splitlines() if len(x) > 60 or "…" in x] == []
    if words[0] != "compare":  # with rates in sentences
        monkeypatch.setenv("COLUMNS", "1000")
        missing = numbers_of(narrow) - numbers_of(run(*words))
        assert not missing, missing
    out = [] if words[0] in ("fuse",) else ["--out", "made"]  # a file of scores
    document = json.loads(run(*words, "--json", "--report", "made.html", *out))
    assert all(message["code"] for message in document["messages"])
    assert Path("made.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    if out:
        assert [*Path("made").glob("*.csv")]
    for form in ("--latex", "--markdown"):
        assert run(*words, form)


def numbers_of(text: str) -> set[str]:
    """The words of a table that have a digit."""
    words = (word.strip("()[],;:.*") for word in text.split())
    return {word for word in words if re.search(r"\d", word)}

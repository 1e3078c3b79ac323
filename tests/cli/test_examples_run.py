"""The examples of every command run, in a folder with small files of the names that they use."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import click
import numpy as np
import pytest
import scipy.io
from attacked import simulated_attacks
from click.testing import CliRunner

import bioeval as be
from bioeval.cli.examples import EXAMPLES
from bioeval.cli.lazy_group import root
from bioeval.cli.table import COMMANDS

# Examples that draw, write pages, start processes, resample or measure this machine.
SLOW = re.compile(
    "--plot|--report|--interval|--step-by-step|--train|course-kfold|--worst|"
    "results|--out (study|d)|bioeval (report|gom|conventions|gallery-|groups)|"
    "--measure eer"
)

# Options that make an example small, by the command or the options that it has.
SMALLER = {
    "threshold": ["--repeats", "2", "--folds", "3", "--replicates", "100"],
    "compare": ["--replicates", "100"],
}
PEOPLE, TEMPLATES = 12, 6


def people(seed: int, number: int = PEOPLE) -> tuple[np.ndarray, np.ndarray]:
    """Return embeddings of people, and who they are."""
    rng, who = np.random.default_rng(seed), np.repeat(np.arange(number), TEMPLATES)
    return rng.normal(size=(number, 8))[who] + 0.5 * rng.normal(size=(len(who), 8)), who


def distances(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x[:, None] - x, axis=2)


def text(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def square(seed: int, **options: object) -> be.Scores:
    """Return all templates against all, with the metadata that examples name."""
    x, who = people(seed)
    at = np.arange(len(who))
    days = np.datetime64("2020-01-01") + 40 * (at % 4)
    meta = {
        "camera": at % 3, "visit": at % 2, "sex": np.array(["f", "m"])[who % 2],
        "country": np.array(["de", "fr"])[who // 2 % 2], "sharpness": at * 7 % 11 / 11,
        "size": at % 5, "q1": at % 7, "q2": at % 4, "file": np.array([f"{i}.png" for i in at]),
        "language": np.array(["en", "fr"])[at % 2], "date": days,
    }  # fmt: skip
    return be.Scores(distances(x), np.array([f"s{i}" for i in who]), probe_meta=meta, **options)


def searched(seed: int) -> be.Scores:
    """Return queries of re-identification against a gallery."""
    x, who = people(seed)
    at, q = np.arange(len(who)), np.arange(0, len(who), 2)
    sides = {"camera": at % 3}
    return be.Scores(
        distances(x)[q], who[q], who, gallery_meta=sides,
        probe_meta={"camera": (at[q] + 1) % 3},
    )  # fmt: skip


def matrices() -> dict[str, be.Scores]:
    """Return the scores of files that bioeval saves."""
    plain = ("scores", "visits", "others", "old", "new", "distances", "face", "finger", "pilot")
    made = {f"{name}.npz": square(i) for i, name in enumerate(plain)}
    old = made["distances.npz"]
    made["similarities.npz"] = be.Scores(-old.values, old.probe_labels, kind="similarity")
    ratios = 3 - old.values
    made["ratios.npz"] = be.Scores(ratios, old.probe_labels, kind="llr", probe_meta=old.probe_meta)
    made |= {f"{x}.npz": searched(i) for i, x in enumerate(("reid", "osnet", "agw"))}
    made["osnet-of-others.npz"] = searched(7)
    few, attack = old.values[:6], {"attack": ["print", "mask"] * 3}
    who = old.probe_labels
    made["attacks.npz"] = be.Scores(few, who[:6], who, probe_meta=attack)
    names = ("attacked", "dev", "test")
    for i, name in enumerate(names):
        made[f"{name}.npz"] = simulated_attacks(6, 3, {"print": 0.6, "mask": 0.9}, random_state=i)
    return made


def texts() -> dict[str, str]:
    """Return the files of text."""
    _, who = people(0)
    listed = [f"{d:.3f},{int(d < 4)}" for d in people(1)[0][:, 0] ** 2]
    boxes = [f"{t},{i},{10 * i + t},20,30,40,1,1,1" for t in range(1, 9) for i in (1, 2)]
    marks = [f"{x / 20},{('', 'print', 'mask')[x % 3]},s{x}" for x in range(20)]
    names = [f"{i:04d}_c{k % 3 + 1}s1_{k:06d}_01.jpg" for k, i in enumerate(who, 1)]
    city = [f"1 {i} {t} {10 * i + t} 20 30 40 -1 -1" for t in range(1, 9) for i in (1, 2)]
    dev = [f"s{a} m{a} s{b} p{b} {a * b % 7}" for a in range(4) for b in range(4)]
    pairs = [(a, b) for a in range(16) for b in range(a)]
    trials = [f"t{b} t{a} {'target' if a // 2 == b // 2 else 'nontarget'}" for a, b in pairs]
    made = {
        "scores.txt": text(*(f"t{b} t{a} {(a - b) % 7 + a / 50:.3f}" for a, b in pairs)),
        "trials.txt": text(*trials),
        "templates.csv": text(
            "template,subject,sex", *(f"t{i},p{i // 2},{'fm'[i // 2 % 2]}" for i in range(16))
        ),
        "people.csv": text("subject,sex", *(f"s{i},f" for i in who)),
        "images.txt": text(*names),
        "pairs.csv": text("distance,genuine", *listed),
        "scores-dev.txt": text(*dev),
        "truth.txt": text(*city), "track3.txt": text(*city),
        "my-protocol.toml": (
            Path(be.__file__).parent / "protocol/cards/course-all-vs-all.toml"
        ).read_text(),
        "MOT17/train/one/seqinfo.ini": text("[Sequence]", "name=one", "seqLength=8"),
    }  # fmt: skip
    for part in ("dev", "eval"):
        made[f"{part}.txt"] = text(*trials)
        made[f"{part}.scores"] = text(*(f"t{b} t{a} {(a - b) % 7 + a / 50:.3f}" for a, b in pairs))
        made[f"{part}-cohort.scores"] = text(
            *(f"t{a} c{c} {a * c % 7 + c / 9:.3f}" for a in range(16) for c in range(1, 9))
        )
    made |= {f"{x}.csv": text("score,attack,subject", *marks) for x in ("pad", "test", "dev")}
    for place in ("gt", "tracker", "cameras/gt/c1", "cameras/tracks/c1", "cameras/gt/c2",
                  "cameras/tracks/c2", "MOT17/train/one/gt/gt", "tracker/MOT17/one",
                  "dancetrack/val/one/gt/gt", "trackers/SORT/one",
                  "trackers/ByteTrack/one"):  # fmt: skip
        made[f"{place}.txt"] = text(*boxes)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("examples")
    for name, scores in matrices().items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        be.save(scores, place / name)
    for name, content in texts().items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    x, who = people(2)
    sex, pairs = np.array(["f", "m"])[who % 2], [[0, 1, 1], [0, 6, 0], [4, 5, 1], [4, 9, 0]]
    about = {"dlib128": x, "subject": who, "sex": sex, "view2": np.array(pairs)}
    np.savez(place / "faces.npz", x=x, **about)
    np.savez(place / "features.npz", x=x)
    np.savez(place / "both.npz", first=distances(x), second=distances(x), subject=who)
    np.save(place / "matrix.npy", -distances(x))
    np.save(place / "tiny.npy", distances(x))
    cameras = np.arange(len(who)) % 3 + 1
    mat = {f"{side}_{k}": v for side in ("query", "gallery")
           for k, v in (("f", x), ("label", who + 1), ("cam", cameras))}  # fmt: skip
    for name in ("features", "resnet", "osnet", "agw"):
        scipy.io.savemat(place / f"{name}.mat", mat)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
    return place


def cases() -> list[object]:
    """Return all examples, slow ones marked."""
    lines = [(command, line) for command, found in EXAMPLES.items() for _, line in found]
    return [
        pytest.param(line, marks=[pytest.mark.slow] * bool(SLOW.search(line)), id=line)
        for _, line in lines
    ]


@pytest.mark.parametrize("line", cases())
def test_example_runs(
    line: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a copy of the folder, without what it writes."""
    place = tmp_path / "here"
    shutil.copytree(folder, place, copy_function=os.link)
    monkeypatch.chdir(place)
    _, *words = shlex.split(line)
    if any(word.startswith("results") for word in words):
        run("run", "scores.npz", "--out", "results", "--no-auc")
    written = [words[i + 1] for i, word in enumerate(words) if word in ("--out", "--report")]
    for target in map(Path, [*written, *(words[2:3] if words[0] == "convert" else [])]):
        shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
    smaller = [] if "--on" in words else SMALLER.get(words[0], [])  # chosen once, in no folds
    run(*words, *smaller)


def run(*words: str) -> str:
    done = CliRunner().invoke(root, [*words])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


# ------------------------------------------------------------------------- forms of output

#: Commands of studies that have no result, but write files that others read.
WITHOUT_RESULT = ("report", "example", "info", "protocols", "convert", "simulate")

#: What every command that has results prints and writes.
OUTPUTS = {"--report", "--json", "--latex", "--markdown", "--terms", "--out"}


def with_results() -> list[str]:
    """The commands of studies that have results, and that of an evaluation."""
    return [name for name in COMMANDS if name not in WITHOUT_RESULT]


@pytest.mark.parametrize("name", with_results())
def test_each_command_has_the_same_outputs(name: str) -> None:
    command = root.get_command(click.Context(root), name)
    assert command is not None
    options = {word for param in command.params for word in param.opts}
    assert options >= OUTPUTS
    said = run(name, "--help")
    assert all(word in said for word in OUTPUTS)


def plain_examples() -> list[object]:
    """The first example of each command that writes no file."""
    lines = []
    for name in with_results():
        plain = [line for _, line in EXAMPLES[name] if not WRITES.search(line)]
        lines += [pytest.param(line, id=line) for line in plain[:1]]
    return lines


WRITES = re.compile("--(out|report|json|latex|markdown|plot|save)|results|https")


@pytest.mark.slow
@pytest.mark.parametrize("line", plain_examples())
@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
def test_each_command_has_the_same_content_in_each_form(
    line: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "here"
    shutil.copytree(folder, place, copy_function=os.link)
    monkeypatch.chdir(place)
    _, *words = shlex.split(line)
    words += SMALLER.get(words[0], [])
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run(*words)
    assert [x for x in narrow.splitlines() if len(x) > 60 or "…" in x] == []
    if words[0] != "compare":  # with rates in sentences
        monkeypatch.setenv("COLUMNS", "1000")
        cut = numbers_of(narrow) - numbers_of(run(*words))
        assert not cut, cut
    out = [] if words[0] in ("fuse",) else ["--out", "made"]  # a file of scores, of counts
    document = json.loads(run(*words, "--json", "--report", "made.html", *out))
    assert all(message["code"] for message in document["messages"])
    assert Path("made.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    if out:
        assert [*Path("made").glob("*.csv")]
    for form in ("--latex", "--markdown"):
        assert run(*words, form, "--terms", "iso")


def numbers_of(text: str) -> set[str]:
    """The words of a table that have a digit."""
    words = (word.strip("()[],;:.*") for word in text.split())
    return {word for word in words if re.search(r"\d", word)}

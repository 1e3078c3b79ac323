"""The commands of several sites and of data that grow: what is written, shown and refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.__main__ import main
from bioeval.studies.sites import section
from bioeval.studies.sites.gallery_parts import best_mates
from tests.optional import optional_import
from tests.rendered import HOSTILE, WRITERS, escaped

SITES = ("north", "south")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("sites")
    whole = be.simulate(
        16, 3, layout="probe-against-gallery", probes=2, unenrolled=4, random_state=1
    )
    be.save(whole, place / "whole.npz")
    for i, site in enumerate(SITES):
        rows = np.flatnonzero(whole.probe_labels % 2 == i)
        columns = np.flatnonzero(whole.gallery_labels % 2 == i)
        labels = whole.probe_labels, whole.gallery_labels
        be.save(be.Scores(whole.values[rows], labels[0][rows], labels[1]), place / f"{site}.npz")
        part = be.Scores(whole.values[:, columns], labels[0], labels[1][columns])
        be.save(part, place / f"part-{site}.npz")
    np.savetxt(place / "grid.txt", np.linspace(1, 6, 11))
    (place / "key").write_text("a secret\n")
    return place


def document(capsys, *args):
    capsys.readouterr()
    assert main([*map(str, args), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_probes_at_two_sites(folder, tmp_path, capsys):
    files = []
    for site in SITES:
        out = tmp_path / f"{site}.tally"
        args = ["tally", folder / f"{site}.npz", "--site", site, "--key-file", folder / "key"]
        grid = ["--thresholds", folder / "grid.txt", "--points", "--out", out]
        assert main([*map(str, [*args, *grid])]) == 0
        assert "all 48 genuine scores" in capsys.readouterr().out
        files.append(out)
    result = document(capsys, "merge", *files)["tasks"]
    at = {row["threshold"] for row in result["verification/single"].pop("rates")}
    assert len(at - {None}) > 1  # those of the table
    for task in result.values():
        task.pop("rates", None)
    whole = document(capsys, "run", folder / "whole.npz", "--thresholds", folder / "grid.txt")
    for node, task in whole["tasks"].items():
        known = {k: v for k, v in task.items() if k not in ("d_prime", "warnings")}
        assert {k: result[node][k] for k in known} == known
    assert main(["merge", *map(str, files)]) == 0
    shown = capsys.readouterr().out
    assert "EER" in shown and "System    north + south" in shown
    assert main(["merge", str(files[0]), str(files[0])]) == 2
    refused = capsys.readouterr().err
    assert refused.startswith(f"bioeval: error: {files[0]}: 20 of the 20 probes")
    assert "would count twice, whatever their order and their site" in refused
    page = tmp_path / "merged.html"
    assert main(["merge", *map(str, files), "--report", str(page)]) == 0
    assert capsys.readouterr().err == f"wrote {page}\n"
    assert "north + south" in page.read_text()


@pytest.mark.slow
def test_tallies_of_other_systems_are_merged_on_request_alone(folder, tmp_path, capsys):
    grid = ["--thresholds", folder / "grid.txt"]

    def counted(name, *more):
        files = []
        for site in SITES:
            files.append(str(tmp_path / f"{name}-{site}.tally"))
            args = ["tally", folder / f"{site}.npz", *grid, *more, "--out", files[-1]]
            assert main([*map(str, args)]) == 0
        capsys.readouterr()
        return files

    files = counted("own")  # each has the name of its file
    assert main(["merge", *files]) == 2
    shown = capsys.readouterr()
    assert not shown.out and shown.err.startswith(f"bioeval: error: {files[1]}: ")
    assert "--same-system" in shown.err and "north" in shown.err and "south" in shown.err
    both = document(capsys, "merge", *files, "--same-system")["tasks"]
    whole = document(capsys, "run", folder / "whole.npz", *grid)["tasks"]
    for node in whole:
        for count in ("genuine_attempts", "impostor_attempts"):
            assert both[node].get(count) == whole[node].get(count)
    named = counted("named", "--name", "matcher")
    assert document(capsys, "merge", *named)["tasks"].keys() == both.keys()
    assert main(["merge", *named]) == 0
    assert "System    matcher\n" in capsys.readouterr().out
    assert main(["merge", files[0], named[1]]) == 2
    assert "matcher" in capsys.readouterr().err


@pytest.mark.slow
def test_a_site_goes_on_from_its_checkpoint(folder, tmp_path):
    for command, more in (("best-mates", []), ("tally", ["--points"])):
        for name, kept in (("plain", []), ("new", [command]), ("again", [command])):
            args = [command, folder / "part-north.npz", *more, "--out", tmp_path / name, "--force"]
            place = [x for path in kept for x in ("--checkpoint", tmp_path / path)]
            assert main([*map(str, [*args, *place])]) == 0
            assert (tmp_path / name).read_bytes() == (tmp_path / "plain").read_bytes()
        assert list((tmp_path / command).glob("*.part"))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["best-mates", "tally"])
def test_workers_write_the_file_of_one_process(folder, tmp_path, command, monkeypatch):
    optional_import("distributed")
    monkeypatch.setattr("bioeval.cli.cluster_options._faster_here", lambda *_: "")
    for name, place in (("one", []), ("two", ["--workers", "2"])):
        args = [command, folder / "part-north.npz", "--out", tmp_path / name, *place]
        assert main([*map(str, args)]) == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_gallery_at_two_sites(folder, tmp_path, capsys):
    mates, tallies = [], []
    for site in SITES:
        mates.append(tmp_path / f"{site}.mates")
        args = ["best-mates", folder / f"part-{site}.npz", "--site", site]
        assert main([*map(str, [*args, "--out", mates[-1]])]) == 0
    assert "the score of its nearest mate" in capsys.readouterr().out
    both = tmp_path / "all.mates"
    assert document(capsys, "merge", *mates, "--out", both)["file"] == str(both)
    for site in SITES:
        tallies.append(tmp_path / f"{site}.tally")
        args = ["tally", folder / f"part-{site}.npz", "--site", site, "--mates", both]
        assert main([*map(str, [*args, "--out", tallies[-1]])]) == 0
    assert main(["merge", str(tallies[0])]) == 2
    assert "1 of 2 parts of a gallery" in capsys.readouterr().err
    args = ["merge", *tallies, "--union-of-galleries", "--same-system"]
    result = document(capsys, *args)["tasks"]
    whole = document(capsys, "run", folder / "whole.npz")["tasks"]
    for node in ("open_set", "closed_set"):
        assert {k: result[node][k] for k in whole[node] if k != "warnings"} == {
            k: v for k, v in whole[node].items() if k != "warnings"
        }
    assert main(["merge", str(mates[0]), str(tallies[0])]) == 2
    assert "merge files of one kind" in capsys.readouterr().err
    assert main(["merge", *map(str, mates)]) == 2
    assert main(["merge", *map(str, mates), "--union-of-galleries"]) == 2


def test_sites_go_on_from_a_checkpoint(folder, tmp_path, capsys):
    for name in ("best-mates", "tally"):
        args = [
            name,
            folder / "north.npz",
            "--site",
            "n",
            "--checkpoint",
            tmp_path / f"{name}.kept",
        ]
        for again in (False, True):
            assert main([*map(str, args), "--out", str(tmp_path / f"{name}-{again:d}")]) == 0
            assert ("going on from 1 finished block" in capsys.readouterr().err) == again
        assert (tmp_path / f"{name}-0").read_bytes() == (tmp_path / f"{name}-1").read_bytes()


def test_sharing(folder, tmp_path, capsys):
    out = tmp_path / "x.tally"
    args = ["tally", folder / "north.npz", "--thresholds", folder / "grid.txt", "--out", out]
    result = document(capsys, *args, "--share", "--min-count", "3", "--salt-file", folder / "key")
    disclosed = [row["discloses"] for row in result["discloses"]]
    assert any("from 1 to 2" in line for line in disclosed)
    tally = be.Tally.load(out)
    assert tally.shared.salted and len(disclosed) == len(tally.disclosed())
    assert main([*map(str, args), "--fold"]) == 2
    assert "would be replaced; give --force" in capsys.readouterr().err
    small = document(capsys, *args, "--fold", "--max-rank", "3", "--force")
    assert any("counts between 11 thresholds" in row["discloses"] for row in small["discloses"])
    shown = document(capsys, "merge", out)["tasks"]["open_set"]
    assert "eer_at_least" in shown


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["tally", "S", "--out", "S"], "one of the files to read"),
        (["tally", "S", "--out", "o", "--min-count", "3"], "belong to --share"),
        (["tally", "S", "--out", "o", "--share", "--thresholds", "9"], "--thresholds is a number"),
        (["tally", "S", "--out", "o", "--key-file", "E"], "expected a secret"),
        (["tally", "S", "--out", "o", "--mates", "S"], "saved mates"),
        (["tally", "S"], "--out"),
        (["merge", "S"], "a saved tally, or mates"),
        (["best-mates", "S", "--out", "o", "--protocol", "identity-dedup"], "do not add up"),
    ],
)
def test_what_is_refused(args, says, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "E").write_text(" \n")
    words = [str(folder / "north.npz") if x == "S" else x for x in args]
    assert main(words) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("name", HOSTILE)
def test_the_section_of_a_file_in_all_writers(name):
    counts = be.tally(be.simulate(6, 3, random_state=1).replace(name=name))
    for contents in (counts, best_mates(be.simulate(6, 3, random_state=1))):
        written = section.section(section.SiteFile(Path(name), contents))
        for writer, write in WRITERS.items():
            for vocabulary in ("lecture", "iso"):
                text = write(written, vocabulary)
                assert any(x in text for x in escaped(name, writer)), (writer, text)
                assert "18 probes" in text and "It holds no template" in text
    (message,) = be.messages(counts.folded([1.0, 2.0]).dataset("open_set"))[:1]
    assert message.code == "points-of-folded-counts"

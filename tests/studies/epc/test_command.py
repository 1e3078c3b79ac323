"""``bioeval epsc``: section, document, files and plot, of one system and of two."""

from __future__ import annotations

import json

import pytest
from rendered import require_names_kept

import bioeval as be
from bioeval.cli import main
from bioeval.studies.epc.epsc_section import section as epsc_section
from bioeval.studies.epc.section import section


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("epsc")
    for i, name in enumerate(("dev", "test"), 1):
        made = be.simulate(15, 3, attacks="print=0.6,mask=0.9", random_state=i)
        be.save(made, folder / f"{name}.npz")
    return [str(folder / f"{name}.npz") for name in ("dev", "test")]


def test_one_system_and_two(sets, tmp_path, capsys):
    dev, test = sets
    out = tmp_path / "o"
    given = ["epsc", "--dev", dev, "--test", test, "--omegas", "0,0.5", "--beta", "0.4"]
    assert main([*given, "--out", str(out), "--plots"]) == 0
    ds = be.epsc(be.load(dev), be.load(test), omegas=[0, 0.5], beta=0.4)
    message = capsys.readouterr().out
    assert f"{100 * ds.hter_w[1].item():.2f}" in message
    assert "|0.4 FAR_w - 0.6 FRR|" in message
    assert {x.name for x in out.iterdir()} == {
        "curve.csv", "epsc.png", "results.nc", "summary.json", "table.txt",
    }  # fmt: skip
    curve = json.loads((out / "summary.json").read_text())["curve"]
    assert [x["hter_w"] for x in curve] == ds.hter_w.values.tolist()
    more = ["--dev", test, "--test", dev, "--criterion", "wer", "--json"]
    assert main([*given, *more]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document["results"]) == ["test", "dev"]
    assert [x["system"] for x in document["curve"]] == ["test", "test", "dev", "dev"]
    assert document["sets"][1] == {"system": "dev", "dev": test, "test": dev}
    assert "compared" not in document


def test_names_are_kept_in_every_writer(sets):
    dev, test = map(be.load, sets)
    of_attacks = be.epsc(dev, test, omegas=[0, 1])
    require_names_kept(lambda name: epsc_section({name: of_attacks, "other": of_attacks}))
    ds = be.epc(dev, test, alphas=[0, 1])
    require_names_kept(lambda name: section({name: ds}))
    require_names_kept(lambda name: section({name: ds, "other": ds}))


def test_sets_without_attacks_are_named(sets, tmp_path, capsys):
    be.save(be.simulate(10, 3), tmp_path / "plain.npz")
    assert main(["epsc", "--dev", sets[0], "--test", str(tmp_path / "plain.npz")]) == 2
    message = capsys.readouterr().err
    assert "'attack', but the probe metadata" in message
    assert message.count("\n") == 1

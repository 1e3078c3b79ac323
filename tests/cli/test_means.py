"""``bioeval run --means identity``: what it prints, writes and refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main


@pytest.fixture(autouse=True)
def sightings(tmp_path, monkeypatch) -> be.Scores:
    """Probes of known and of unknown people, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    probes, gallery = np.sort(rng.integers(0, 12, 60)), rng.integers(0, 8, 40)
    distances = rng.random((60, 40)) - 0.4 * (probes[:, None] == gallery)
    scores = be.Scores(distances, probes, gallery)
    be.save(scores, "s.npz")
    return scores


def test_the_table_has_the_rates_of_wildlife(capsys, sightings):
    assert main(["run", "s.npz", "--means", "identity", "--thresholds", "0.0"]) == 0
    printed = capsys.readouterr().out
    ds = be.open_set(sightings, thresholds=[0], average="identity")
    for label, name in (
        ("DIR by identity, rank 1 (BAKS)", "dir_by_identity"),
        ("GRR by identity (BAUS)", "grr_by_identity"),
        ("open-set score", "open_set_score"),
        ("best open-set score", "best_open_set_score"),
    ):
        value = 100 * float(ds[name].values.ravel()[0])
        assert any(
            line.strip().startswith(label) and f"{value:.2f} %" in line
            for line in printed.splitlines()
        ), label
    assert "so is the best open-set score" in " ".join(printed.split())


def test_json_and_csv_have_the_variables(capsys, sightings):
    assert main(["run", "s.npz", "--means", "identity", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    ds = be.open_set(sightings, average="identity")
    task = document["tasks"]["open_set"]
    assert task["best_open_set_score"] == pytest.approx(float(ds.best_open_set_score))
    assert task["genuine_identities"] == int(ds.genuine_identities)
    closed = document["tasks"]["closed_set"]
    assert closed["recognition_rate_by_identity"] > 0


def test_json_has_the_means_by_identity_at_thresholds_and_ranks(capsys, sightings):
    words = ["--means", "identity", "--thresholds", "0,0.2", "--json"]
    assert main(["run", "s.npz", *words]) == 0
    tasks = json.loads(capsys.readouterr().out)["tasks"]
    ds = be.open_set(sightings, thresholds=[0, 0.2], average="identity")
    for name in ("dir_by_identity", "grr_by_identity", "open_set_score"):
        assert [row[name] for row in tasks["open_set"]["at_thresholds"]] == ds[name].values.tolist()
    ds = be.closed_set(sightings, average="identity", unmated="skip")
    for row in tasks["closed_set"]["ranks"]:
        assert row["cms_by_identity"] == float(ds.cms_by_identity.sel(rank=row["rank"]))


def test_json_has_the_cmc_by_identity(capsys, sightings):
    words = ["--means", "identity", "--interval", "subject-bootstrap", "--replicates", "100"]
    assert main(["run", "s.npz", "--protocol", "vehicleid", *words, "--json"]) == 0
    options = {"average": "identity", "interval": "subject-bootstrap", "replicates": 100}
    ds = be.reid(sightings, "vehicleid", **options)
    for row in json.loads(capsys.readouterr().out)["tasks"]["reid"]["ranks"]:
        for name in ("cmc_by_identity", "cmc_by_identity_low", "cmc_by_identity_high"):
            assert row[name] == float(ds[name].sel(rank=row["rank"]))


def test_reid_has_means_by_identity(capsys, sightings):
    assert main(["run", "s.npz", "--protocol", "vehicleid", "--means", "identity"]) == 0
    ds = be.reid(sightings, "vehicleid", average="identity")
    value = f"{100 * float(ds.mean_ap_by_identity):.2f} %"
    lines = capsys.readouterr().out.splitlines()
    assert any("mAP by identity" in line and value in line for line in lines)


@pytest.mark.parametrize("card", ["lfw-view2", "fvc2004"])
def test_verification_alone_has_no_means_by_identity(card, capsys):
    assert main(["run", "s.npz", "--protocol", card, "--means", "identity"]) == 2
    assert capsys.readouterr().err

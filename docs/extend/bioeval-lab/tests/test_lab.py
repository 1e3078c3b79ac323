"""Tests of bioeval-lab, run where it is installed beside bioeval."""

import subprocess

import pytest

import bioeval as be


def test_the_proportion_is_that_of_bayes():
    scores = be.simulate(20, 4, random_state=1)
    found, rates = be.accepted_impostors(scores, impostors=0.1), be.verification(scores)
    gar, far = rates.gar[500], rates.far[500]
    assert found.impostors_accepted[500] == pytest.approx(0.1 * far / (0.1 * far + 0.9 * gar))


def test_a_list_of_the_lab_is_read(tmp_path):
    path = tmp_path / "pairs.lab"
    path.write_text("#lab\n0.2 same\n0.9 other\n")
    assert be.verification(be.load(path)).eer == 0
    path.write_text("#lab\n0.2 some\n")
    with pytest.raises(be.DataError, match="line 2: ends in 'some'"):
        be.load(path)


def test_card_command_and_plot(tmp_path):
    be.save(be.simulate(20, 4, random_state=1), tmp_path / "s.npz")
    run = ["bioeval", "run", "s.npz", "--protocol", "lab-gate"]
    assert "FAR <= 0.333 %" in subprocess.check_output(run, cwd=tmp_path, text=True)
    command = ["bioeval", "accepted-impostors", "s.npz", "--out", "out", "--plots"]
    assert "impostors among the" in subprocess.check_output(command, cwd=tmp_path, text=True)
    assert (tmp_path / "out" / "accepted-impostors.png").exists()

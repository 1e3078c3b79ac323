import subprocess
import sys

import pytest

import bioeval as be


def test_the_proportion_is_that_of_bayes():
    scores = be.simulate(20, 4, random_state=1)
    rates = be.verification(scores, far_targets=[]).isel(threshold=500)
    expected = 0.1 * rates.far / (0.1 * rates.far + 0.9 * rates.gar)
    found = be.accepted_impostors(scores, impostors=0.1).impostors_accepted[500]
    assert found == pytest.approx(expected.item())


def test_a_list_of_the_lab_is_read(tmp_path):
    path = tmp_path / "pairs.lab"
    path.write_text("#lab\n0.2 same\n0.9 other\n")
    assert be.verification(be.load(path)).eer == 0
    path.write_text("#lab\n0.2 some\n")
    with pytest.raises(be.DataError, match="line 2: is '0.2 some'"):
        be.load(path)


def test_card_command_and_plot(tmp_path):
    def bioeval(*words):
        command = [sys.executable, "-m", "bioeval", *words]
        return subprocess.check_output(command, cwd=tmp_path, text=True)

    be.save(be.simulate(20, 4, random_state=1), tmp_path / "s.npz")
    assert "FAR <= 0.333 %" in bioeval("run", "s.npz", "--protocol", "lab-gate")
    assert "among the" in bioeval("accepted-impostors", "s.npz", "--out", "out", "--plots")
    assert (tmp_path / "out" / "accepted-impostors.png").exists()

"""The commands groups, epc and error-discard: tables, documents, files, plots and errors."""

from __future__ import annotations

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.__main__ import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    scores = be.simulate(40, 4, random_state=2)
    sex = ["fm"[x % 2] for x in scores.probe_labels]
    meta = {"sex": sex, "sharp": np.arange(160.0), "flat": np.ones(160), "row": np.arange(160)}
    made = be.Scores(scores.values, scores.probe_labels, probe_meta=meta)
    be.save(made, folder / "s.npz")
    be.save(be.simulate(40, 4, random_state=3), folder / "t.npz")
    return made, str(folder / "s.npz"), str(folder / "t.npz")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["groups", "{}", "--by", "sx"], "--by is 'sx'"),
        (["groups", "{}", "--by", "row", "--alpha", "1"], "--alpha has no effect on groups of att"),
        (["groups", "{}", "--by", "sex", "--threshold", "err"], "--threshold is 'err'"),
        (["groups", "{}", "--by", "sex", "--alpha", "2"], "--alpha is 2.0"),
        (["error-discard", "{}", "--quality", "sex", "--threshold", "1"], "--quality is 'm'"),
        (["error-discard", "{}", "--quality", "sharp", "--threshold", "1", "--fractions", "2"],
         "--fractions is (2.0,)"),
    ],
)  # fmt: skip
@pytest.mark.cases(1)
def test_wrong_input_is_one_line_and_code_2(files, given, said, capsys):
    assert main([word.format(files[1]) for word in given]) == 2
    errors = capsys.readouterr().err
    assert said in errors and errors.count("\n") == 1

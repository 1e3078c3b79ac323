"""Who is enrolled in a list of trials: the first name, or that which columns call so."""

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

GROUP = {"p0": "f", "p1": "f", "p2": "m", "p3": "m", "p4": "m"}
NAMES = [f"{who}-{i}" for who in GROUP for i in range(2)]
RNG = np.random.default_rng(4)
#: Trials: enrolled template, probe, similarity. Women are more often enrolled than men.
TRIALS = [
    (a, b, float(RNG.normal()))
    for a in NAMES
    for b in NAMES
    if a != b and (GROUP[a[:2]] == "f" or RNG.random() < 0.5)
]
THRESHOLD = 0.3


def expected():
    """Return false accepts and impostor attempts by group of the probe and of the enrolled."""
    accepts, attempts = {}, {}
    for enrolled, probe, score in TRIALS:
        if enrolled[:2] == probe[:2]:
            continue
        key = GROUP[probe[:2]], GROUP[enrolled[:2]]
        attempts[key] = attempts.get(key, 0) + 1
        accepts[key] = accepts.get(key, 0) + (score >= THRESHOLD)
    return accepts, attempts


def require_expected(ds):
    accepts, attempts = expected()
    for (probe, claimed), number in attempts.items():
        cell = ds.sel(group=probe, claimed_group=claimed)
        assert cell.impostor_attempts == number and cell.fa == accepts[probe, claimed]


def lines(head):
    """Return a file of scores and genuine marks, with columns of these names."""
    rows = [head]
    for enrolled, probe, score in TRIALS:
        sides = [probe, enrolled] if head.startswith("probe") else [enrolled, probe]
        rows.append(",".join([*sides, str(score), str(int(enrolled[:2] == probe[:2]))]))
    return "\n".join(rows) + "\n"


HEADS = [
    "enrol,test,similarity,target", "gallery,probe,similarity,target",
    "probe,gallery,similarity,target", "template_a,template_b,similarity,target",
    "modelid,segmentid,similarity,target",
]  # fmt: skip


@pytest.fixture
def table(tmp_path):
    rows = [f"{x[:2]},{x},{GROUP[x[:2]]}\n" for x in NAMES]
    (tmp_path / "t.csv").write_text("subject,template,gender\n" + "".join(rows))
    return tmp_path / "t.csv"


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("form", [None, "matrix"])
def test_groups_of_a_list_with_named_columns(tmp_path, table, head, form):
    (tmp_path / "x.csv").write_text(lines(head))
    scores = be.load(tmp_path / "x.csv", labels=table, lists={"as": form})
    require_expected(be.by_group(scores, "gender", threshold=THRESHOLD))


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".txt", ".parquet"])
def test_groups_of_a_list_of_voxceleb_and_of_what_is_saved(tmp_path, table, suffix):
    rows = [f"{int(a[:2] == b[:2])} {a} {b} {x}\n" for a, b, x in TRIALS]
    (tmp_path / "x.txt").write_text("".join(rows))
    scores = be.load(tmp_path / "x.txt", kind="similarity", labels=table)
    require_expected(be.by_group(scores, "gender", threshold=THRESHOLD))
    be.save(scores, tmp_path / f"y{suffix}")
    again = be.load(tmp_path / f"y{suffix}")
    assert again.pair_subjects.tolist() == scores.pair_subjects.tolist()
    genders = ([GROUP[b[:2]] for _, b, _ in TRIALS], [GROUP[a[:2]] for a, _, _ in TRIALS])
    require_expected(be.by_group(again, genders, threshold=THRESHOLD))
    with pytest.raises(be.DataError, match="first array is of the probes, which are the second"):
        be.by_group(again, genders[::-1], threshold=THRESHOLD)


def test_a_template_with_two_values_is_named(tmp_path, capsys):
    """A column with several values for a template is none of templates: the reason is said."""
    (tmp_path / "t.txt").write_text("".join(f"{a} {b} {x}\n" for a, b, x in TRIALS))
    table = tmp_path / "people.csv"
    rows = [f"{name},{name[:2]},{GROUP[name[:2]]},{name}.png\n" for name in NAMES]
    table.write_text("template,subject,sex,file\n" + "".join(rows) + "\np1-0,p1,m,again.png\n")
    scores = be.load(tmp_path / "t.txt", kind="similarity", labels=table)
    wrong = "this column has several values for one template in .*people.csv, as 'p1-0' is 'f' on "
    with pytest.raises(be.DataError, match=wrong + "line 4 and 'm' on line 13; give each template"):
        be.by_group(scores, "sex", threshold=THRESHOLD)
    args = ["groups", str(tmp_path / "t.txt"), "--kind", "similarity", "--labels", str(table)]
    assert main([*args, "--by", "sex"]) == 2
    assert "--by is 'sex', and this column has several values" in capsys.readouterr().err
    table.write_text("template,subject,sex,file\n" + "".join(rows) + "p1-0,p1,f,again.png\n")
    again = be.load(tmp_path / "t.txt", kind="similarity", labels=table)
    assert [*again.probe_meta] == ["sex"]

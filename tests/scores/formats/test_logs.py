"""Logs of comparisons, as a system writes them: read in one call, from a file or a DataFrame."""

import numpy as np
import pytest
from optional import optional_import

import bioeval as be
from bioeval.cli import main

LOG = """probe,person,claimed person,template,score,status,site
p1.png,ann,ann,t1,0.91,ok,A
p2.png,ann,bob,t2,0.12,ok,A
p3.png,bob,bob,t2,0.83,ok,B
p4.png,cem,bob,t2,,no face,B
p5.png,cem,cem,t3,-1,timeout,A
p6.png,cem,ann,t1,0.33,ok,A
"""
ROLES = {
    "subject_a": "claimed person",
    "subject_b": "person",
    "template": "template",
    "probe": "probe",
    "similarity": "score",
    "site": "site",
}
PEOPLE = [["ann", "ann"], ["bob", "ann"], ["bob", "bob"], ["bob", "cem"], ["cem", "cem"],
          ["ann", "cem"]]  # fmt: skip
GIVEN = {"columns": ROLES, "failed": -1}


@pytest.fixture(params=["csv", "parquet", "frame", "csv.gz"])
def log(request, tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    if request.param == "csv":
        return tmp_path / "log.csv"
    frame = optional_import("pandas").read_csv(tmp_path / "log.csv")
    if request.param == "frame":
        return frame
    if request.param == "parquet":
        optional_import("pyarrow")
        frame.to_parquet(tmp_path / "log.parquet")
    else:
        frame.to_csv(tmp_path / "log.csv.gz", index=False)
    return tmp_path / f"log.{request.param}"


def test_a_log_is_read_in_one_call(log):
    read = be.load(log, **GIVEN, nan="reject")
    np.testing.assert_array_equal(read.values, [0.91, 0.12, 0.83, np.nan, np.nan, 0.33])
    assert read.genuine.tolist() == [True, False, True, False, True, False]
    assert (read.kind, read.pair_subjects.tolist()) == ("similarity", PEOPLE)
    assert [a for a, _ in read.pair_templates.tolist()] == ["t1", "t2", "t2", "t2", "t3", "t1"]
    assert read.probe_meta["site"].tolist() == read.gallery_meta["site"].tolist() == list("AABBAA")
    found = be.verification(read)
    assert (int(found.genuine_attempts), int(found.impostor_attempts)) == (3, 3)
    left_out = be.verification(be.load(log, **GIVEN, nan="exclude"))
    assert (int(left_out.genuine_attempts), int(left_out.impostor_attempts)) == (2, 2)
    for result in (found, left_out):
        assert (result.attrs["failed_genuine"], result.attrs["failed_impostor"]) == (1, 1)
        (said,) = [x for x in be.messages(result) if x.code == "failures"]
        assert (said.arguments["genuine"], said.arguments["impostor"]) == (1, 1)


@pytest.mark.parametrize("form", [[], ["--markdown"], ["--latex"]])
def test_failures_are_said_once(tmp_path, capsys, form):
    (tmp_path / "log.csv").write_text(LOG)
    columns = ",".join(f"{role}={name}" for role, name in ROLES.items())
    given = ["--columns", columns, "--failed", "-1", "--nan", "reject"]
    assert main(["run", str(tmp_path / "log.csv"), *given, *form]) == 0
    assert " ".join(capsys.readouterr().out.split()).count("1 genuine and 1 impostor") == 1


def test_metadata_may_be_unknown(tmp_path):
    """A blank cell of a text, and a missing value of a table."""
    (tmp_path / "log.csv").write_text(LOG.replace(",ok,", ",,"))
    frame = optional_import("pandas").read_csv(tmp_path / "log.csv")
    given = {"columns": {**ROLES, "status": "status"}, "failed": -1, "nan": "reject"}
    for log in (tmp_path / "log.csv", frame):
        status = be.load(log, **given).probe_meta["status"].tolist()
        assert status == ["", "", "", "no face", "timeout", ""]


def test_a_failure_is_an_error_until_it_is_said_what_it_means(log):
    read = be.load(log, **GIVEN)
    where = "line 5" if str(log).endswith(("csv", "gz")) else "row 3"
    with pytest.raises(be.DataError, match=f"2 NaN, the first on {where} of "):
        be.verification(read)
    without_code = be.load(log, columns=ROLES, nan="reject")
    assert without_code.values[4] == -1  # which is a score like any other


def test_some_rows_are_chosen_by_pandas(tmp_path):
    pandas = optional_import("pandas")
    (tmp_path / "log.csv").write_text(LOG)
    frame = pandas.read_csv(tmp_path / "log.csv")
    read = be.load(frame[frame["site"] == "A"], **GIVEN, nan="reject")
    assert read.pair_subjects.tolist() == [PEOPLE[i] for i in (0, 1, 4, 5)]
    with pytest.raises(be.DataError, match="DataFrame: has no rows"):
        be.load(frame[frame["site"] == "C"], **GIVEN)
    frame.loc[2, "person"] = None
    with pytest.raises(be.DataError, match="DataFrame: row 2: person has no value"):
        be.load(frame, **GIVEN)
    frame["score"] = frame["score"].astype(object)
    frame.loc[1, "score"] = "low"
    with pytest.raises(be.DataError, match="DataFrame: row 1: score is 'low'; expected a number"):
        be.load(frame, **GIVEN)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"probe": "prob"}, "no column 'prob'; .*names it. Did you mean 'probe'"),
        ({"site": "sit"}, "no column 'sit'; .*names it. Did you mean 'site'"),
        ({"score": "score"}, "'scores'"),
        ({"probe_camera": "place"}, "no column 'place'"),
    ],
)
def test_names_that_are_not_there(tmp_path, changed, message):
    (tmp_path / "log.csv").write_text(LOG)
    with pytest.raises(be.DataError, match=message):
        be.load(tmp_path / "log.csv", columns={**ROLES, **changed}, failed=-1)


VISITS = """visit,light,probe,person,claimed person,template,score
v1,day,p1,ann,ann,t1,0.9
v1,day,p1,ann,bob,t2,0.2
v2,night,p2,bob,ann,t1,0.3
v2,night,p2,bob,bob,t2,0.4
"""


@pytest.mark.parametrize("table", [False, True])
def test_a_column_of_probes_alone_is_theirs(tmp_path, table):
    """The gallery does not know it. In a table of templates it has blank cells."""
    (tmp_path / "log.csv").write_text(VISITS)
    roles = {"probe": "probe", "template": "template", "similarity": "score"}
    if table:
        (tmp_path / "people.csv").write_text(
            "template,subject,visit\np1,ann,v1\np2,bob,v2\nt1,ann,\nt2,bob,\n"
        )
        how = {"labels": tmp_path / "people.csv"}
    else:
        roles |= {"subject_a": "claimed person", "subject_b": "person", "probe_visit": "visit"}
        how = {}
    read = be.load(tmp_path / "log.csv", columns=roles, lists={"as": "matrix"}, **how)
    assert read.probe_meta["visit"].tolist() == ["v1", "v2"]
    assert not any(read.gallery_meta["visit"])
    assert be.claim_scores(read, attempts="visit").shape == (2, 2)


def test_a_value_of_both_sides_that_is_of_probes_alone_is_refused(tmp_path):
    (tmp_path / "log.csv").write_text(VISITS)
    roles = {"subject_a": "claimed person", "subject_b": "person", "similarity": "score"}
    roles |= {"probe": "probe", "template": "template", "visit": "visit"}
    message = "visit of the template 't1' is 'v2', and on line 2 'v1'; name a column of one side"
    with pytest.raises(be.DataError, match=message):
        be.load(tmp_path / "log.csv", columns=roles, lists={"as": "matrix"})


def test_a_code_has_no_meaning_for_a_matrix(tmp_path):
    np.savez(tmp_path / "x.npz", scores=np.eye(2), labels=["a", "b"])
    with pytest.raises(be.DataError, match="`failed` has no meaning for a matrix of scores"):
        be.load(tmp_path / "x.npz", failed=-1)
    np.savez(tmp_path / "p.npz", scores=[0.5, -1.0], genuine=[1, 0])
    assert np.isnan(be.load(tmp_path / "p.npz", failed=-1, nan="reject").values).tolist() == [
        False,
        True,
    ]


def test_a_code_in_scores_alone(tmp_path):
    """Of two files, and in the order of a list of trials."""
    (tmp_path / "g.txt").write_text("0.5\n-1\n")
    (tmp_path / "i.txt").write_text("0.1\n0.2\n")
    (tmp_path / "t.txt").write_text("a b target\nc d nontarget\n")
    how = {"kind": "similarity", "failed": -1, "nan": "reject"}
    two = be.load((tmp_path / "g.txt", tmp_path / "i.txt"), **how)
    np.testing.assert_array_equal(two.values, [0.5, np.nan, 0.1, 0.2])
    np.save(tmp_path / "s.npy", [0.5, -1.0])
    for name in ("g.txt", "s.npy"):
        found = be.load(tmp_path / name, trials=tmp_path / "t.txt", **how)
        np.testing.assert_array_equal(found.values, [0.5, np.nan])

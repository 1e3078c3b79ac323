"""``bioeval vulnerability`` and ``bioeval pad``: lists as they are written, and wrong input."""

import json

import pytest
from attacked import simulated_attacks

import bioeval as be
from bioeval.cli import main


def said(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def by_species(result, measure, column="value"):
    """The numbers of a measure by species; of a measure without species, by None."""
    rows = [x for x in result["rows"] if x["measure"] == measure]
    return {x.get("species"): x.get(column) for x in rows}


def test_licit_and_spoof_lists_side_by_side(tmp_path, capsys):
    """Genuine pairs of the second list repeat pairs of the first list, and do not count again."""
    licit = "".join(f"{i} {i + k} s{i}{k} {9 - 5 * k}\n" for i in range(11, 15) for k in (0, 1))
    (tmp_path / "licit.txt").write_text(licit)
    (tmp_path / "spoof.txt").write_text("11 11 s110 9\n11 attack/mask a 7\n12 attack/mask b 3\n")
    arguments = [tmp_path / "licit.txt", tmp_path / "spoof.txt", "--kind", "similarity"]
    result = said(capsys, "vulnerability", *arguments, "--threshold", "5")
    for name in ("genuine_attempts", "impostor_attempts"):
        assert by_species(result, name) == {None: 4}
    assert by_species(result, "attack_attempts")["pooled"] == 2
    assert by_species(result, "iapar_at_threshold") == dict.fromkeys(
        ("mask", "pooled", "largest"), 0.5
    )
    (left_out,) = (x for x in result["messages"] if x["code"].endswith("left-out"))
    assert left_out["pairs"] == 1
    spoof = "11 11 s110 9\n11 print a 7\n12 replay b 3\n12 attack c 3\n"
    (tmp_path / "spoof.txt").write_text(spoof)
    result = said(capsys, "vulnerability", *arguments, "--threshold", "5")
    assert [*by_species(result, "presentations")][:3] == ["print", "replay", "spoof"]
    (tmp_path / "spoof.txt").write_text("attack 7\nattack 3\n")
    result = said(capsys, "vulnerability", *arguments, "--threshold", "5")
    assert [*by_species(result, "presentations")][0] == "spoof"


def test_a_list_of_three_classes_names_its_command(tmp_path, capsys):
    path = tmp_path / "list.txt"
    path.write_text("target 1\nspoof 2\nnontarget 3\ntarget 2\nspoof 4\nnontarget 5\n")
    assert main(["run", str(path), "--kind", "distance"]) == 0
    message = " ".join(capsys.readouterr().out.split())
    assert "2 attack presentations left out" in message
    assert "(bioeval vulnerability) evaluates them" in message


def test_limits_are_those_of_the_call(tmp_path, capsys):
    scores = simulated_attacks(12, 3, {"print": 0.5, "mask": 0.9})
    be.save(scores, tmp_path / "s.npz")
    arguments = ["--threshold", "3", "--interval", "people"]
    result = said(capsys, "vulnerability", tmp_path / "s.npz", *arguments)
    ds = be.vulnerability(scores, threshold=3.0, interval="people")
    for end in ("low", "high"):
        expected = ds[f"iapar_at_threshold_{end}"].to_series().to_dict()
        assert by_species(result, "iapar_at_threshold", end) == expected


@pytest.mark.parametrize(
    ("text", "attack"),
    [
        ("LA_1 A11 spoof -1\nLA_2 A12 spoof 0\nLA_3 - bonafide 1\n", ["A11", "A12", ""]),
        ("s1 t1 target 0.5\ns1 t2 nontarget 0.1\ns1 t3 spoof 0.2\n", ["", "", "spoof"]),
        ("similarity label\n1 live\n2 fake\n", ["", "spoof"]),
        ("score,genuine,attack\n1,1,\n2,1,mask\n3,0,print\n", ["", "mask", "print"]),
        ("score;species\n1;bonafide\n2;mask\n", ["", "mask"]),
        (
            "score,attack\n1,-\n2,none\n3,N/A\n4,Live\n5,genuine\n6,bona-fide\n7,\n8,nan\n9,mask\n",
            ["", "", "", "", "", "", "", "", "mask"],
        ),
    ],
)
def test_lists_as_they_are_written(text, attack, tmp_path, capsys):
    path = tmp_path / "list.txt"
    path.write_text(text)
    result = said(capsys, "pad", path)
    classes = by_species(result, "presentations") | by_species(result, "bona_fide")
    assert {x: classes[x or None] for x in attack} == {x: attack.count(x) for x in attack}


KEY = (
    "LA_3 x A12 spoof eval\nLA_1 x - bonafide eval\nLA_9 x A12 spoof eval\nLA_2 x A11 spoof eval\n"
)


@pytest.mark.parametrize(
    "scores", ["filename\tcm-score\nLA_1\t2\nLA_2\t-1\nLA_3\t1\n", "LA_1 2\nLA_2 -1\nLA_3 1\n"]
)
def test_scores_and_classes_in_two_files(scores, tmp_path, capsys):
    (tmp_path / "scores.txt").write_text(scores)
    (tmp_path / "key.txt").write_text(KEY)
    of_two_files = said(capsys, "pad", tmp_path / "scores.txt", "--key", tmp_path / "key.txt")
    (tmp_path / "list.txt").write_text("- bonafide 2\nA11 spoof -1\nA12 spoof 1\n")
    of_list = said(capsys, "pad", tmp_path / "list.txt")
    for name in ("presentations", "bona_fide", "d_eer"):
        assert by_species(of_two_files, name) == by_species(of_list, name)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("LA_1 - bonafide\nLA_2 A1 spoof\n", "lacks 'LA_3', and 1 of the 3 presentations"),
        ("LA_1 - bonafide\nLA_2 A1 spoof\nLA_2 A1 spoof\n", "line 3: 'LA_2' is listed before"),
        ("x - bonafide\ny A1 spoof\n", "no column has the names of the presentations"),
    ],
)
def test_a_key_of_other_presentations_is_refused(key, words, tmp_path, capsys):
    (tmp_path / "scores.txt").write_text("LA_1 2\nLA_2 -1\nLA_3 1\n")
    (tmp_path / "key.txt").write_text(key)
    assert main(["pad", str(tmp_path / "scores.txt"), "--key", str(tmp_path / "key.txt")]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("score,label\n1,1\n2,0\n", [], "the class is '1'"),
        ("a,b\n1,2\n", [], "0 columns of scores"),
        ("score,attack\nx,\n2,mask\n", [], "line 2: the score is 'x'"),
        ("score,attack\n1\n2,mask\n", [], "line 2: 1 cells; expected 2"),
        ("score,name\n1,x\n2,y\n", [], "does not mark attack presentations"),
        ("distance,attack\n1,\n2,mask\n", ["--kind", "similarity"], "expected one kind"),
        ("score,attack\n1,\n2,mask\n", ["--confidence", "0.9"], "needs --interval"),
        ("score,attack\n1,\n2,mask\n3,Mask\n", [], "differ only in case or spaces"),
    ],
)
def test_wrong_input_is_named(text, options, said, tmp_path, capsys):
    path = tmp_path / "list.csv"
    path.write_text(text)
    assert main(["pad", str(path), *options]) == 2
    assert said in capsys.readouterr().err

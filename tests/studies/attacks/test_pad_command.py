"""The command pad: lists of presentations as they are written, documents, files, plots, errors."""

import pytest

from bioeval.cli import main
from bioeval.studies.attacks.presentations import read_presentations


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
def test_lists_as_they_are_written(text, attack, tmp_path):
    path = tmp_path / "list.txt"
    path.write_text(text)
    assert read_presentations(path).attack == attack


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
        ("score,attack\n1,\n2,mask\n3,Mask\n", [], "different in case or spaces alone"),
    ],
)
def test_wrong_input_is_named(text, options, said, tmp_path, capsys):
    path = tmp_path / "list.csv"
    path.write_text(text)
    assert main(["pad", str(path), *options]) == 2
    assert said in capsys.readouterr().err

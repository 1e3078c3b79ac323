"""Packages beside bioeval: what they offer is there, and what is wrong with them breaks nothing."""

from __future__ import annotations

import importlib.metadata
import json
import sys

import pytest
from pages import ROOT

from bioeval.base import elsewhere
from tests.installed import install, install_source, run

EXAMPLE = ROOT / "docs" / "extend" / "bioeval-lab"

HEAD = "from bioeval.base.study import Study, Subcommand, View\n"

#: A door with a call and a command, in a module of its own.
DOOR = """
from bioeval.base.study import Study, Subcommand
STUDY = Study(
    calls={{"calls": ("{call}",)}}, commands=(Subcommand("{command}", "Do it."),), {more}
)
"""
CALLS = """
import click
def {call}():
    return 1
@click.command("{command}")
def command():
    raise ValueError("of the\\nlab")
"""


def lab(site, package, call="lab_rate", command="lab-rate", more=""):
    """Install a package with a study."""
    module = package.replace("-", "_")
    install(
        site,
        package,
        {
            f"{module}/__init__.py": DOOR.format(call=call, command=command, more=more),
            f"{module}/calls.py": CALLS.format(call=call, command=command),
            f"{module}/command.py": CALLS.format(call=call, command=command),
        },
        {"studies": {"lab": module}},
    )


def help_of(site, *words, **options):
    """Print the help; return it, and the lines of standard error."""
    done = run(site, "-m", "bioeval", *words or ["--help"], **options)
    assert "Traceback" not in done.stderr
    return done, done.stderr.splitlines()


@pytest.mark.slow
def test_the_example_is_in_the_help_and_in_the_report_of_a_fault(tmp_path):
    install_source(tmp_path, EXAMPLE)
    done, said = help_of(tmp_path)
    assert "\nFrom other packages: bioeval-lab 1.0:\n  accepted-impostors  Find" in done.stdout
    assert done.returncode == 0
    assert said == []
    done, _ = help_of(tmp_path, "info", "--json")
    document = json.loads(done.stdout)
    assert document["problems"] == []
    assert [point["has"] for point in document["from_other_packages"]] == [
        ["be.accepted_impostors", "be.plot.accepted_impostors", "bioeval accepted-impostors"],
        ["lab"],
        ["lab-gate"],
    ]
    assert document["packages"].keys() >= {"numpy", "numba", "xarray"}
    done, _ = help_of(tmp_path, "info", BIOEVAL_PLUGINS="off")
    assert "from other packages: nothing" in done.stdout


@pytest.mark.slow
def test_the_example_passes_its_own_tests(tmp_path):
    install_source(tmp_path, EXAMPLE)
    done = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE / "tests"))
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize(
    ("files", "entry", "says"),
    [
        (
            {"broken_lab.py": "import nowhere_at_all"},
            "broken_lab",
            "'lab' cannot be loaded (ModuleNotFoundError: No module named 'nowhere_at_all'); it "
            "requires bioeval-protocols>=9, and this is 0.2.0; it is left out",
        ),
        ({"broken_lab.py": "raise SystemExit(3)"}, "broken_lab", "(SystemExit: 3)"),
        ({"broken_lab.py": "x = 1"}, "broken_lab", "broken_lab has no STUDY that is a Study"),
        ({}, "broken_lab:LAB", "No module named 'broken_lab'"),
        (
            {"broken_lab.py": "from bioeval.base.study import Study\nSTUDY = Study(doors=())"},
            "broken_lab",
            "Study of doors of schema 1 has no doors",
        ),
        (
            {"broken_lab.py": "from bioeval.base.study import Study\nSTUDY = Study(schema=7)"},
            "broken_lab",
            "is a door of schema 7, and this version of bioeval opens those of schema 1 to 1; it "
            "requires bioeval-protocols>=9, and this is 0.2.0",
        ),
        (
            {"broken_lab.py": "from bioeval.base.study import Study\nSTUDY = Study(plots=(1,))"},
            "broken_lab",
            "its plots are no tuple of Plot",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = Study(calls=('x',))"},
            "broken_lab",
            "calls of a Study is ('x',); expected a Mapping",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = Study(commands=(Subcommand('x'),))"},
            "broken_lab",
            "a Subcommand has no does",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = Study(views=(View(['x'], 'y'),))"},
            "broken_lab",
            "tasks of a View is ['x']; expected a tuple",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = Study(examples='bioeval x')"},
            "broken_lab",
            "its example 'bioeval x' is no purpose",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = Study(not_options={{'run': {{'--json': 'no'}}}})"},
            "broken_lab",
            "its not_options are about 'run'; expected its own commands",
        ),
        ({"broken_lab.py": f"{HEAD}STUDY = Study(schema='1')"}, "broken_lab", "of schema 1, and"),
    ],
)
def test_a_broken_door_is_named_in_one_line(tmp_path, files, entry, says):
    install(tmp_path, "broken-lab", files, {"studies": {"lab": entry}}, "bioeval-protocols>=9")
    done, said = help_of(tmp_path)
    assert done.returncode == 0
    assert "Start:" in done.stdout
    (line,) = said
    assert line.startswith("bioeval: warning: broken-lab 1.0: ")
    assert says in line


@pytest.mark.slow
def test_a_slow_door_is_named(tmp_path):
    slow = "import time\ntime.sleep(1.1)\nfrom bioeval.base.study import Study\nSTUDY = Study()\n"
    install(tmp_path, "slow-lab", {"slow_lab.py": slow}, {"studies": {"lab": "slow_lab"}})
    _, (line,) = help_of(tmp_path)
    assert "slow-lab 1.0: slow_lab took 1.1 s to import; what" in line


def test_two_packages_with_one_name(tmp_path):
    lab(tmp_path, "lab-one")
    lab(tmp_path, "lab-two")
    done, said = help_of(tmp_path)
    assert "From other packages" not in done.stdout
    assert said == []
    done, (line,) = help_of(tmp_path, "lab-rate")
    assert done.returncode == 2
    both = "is offered by lab-one 1.0 and lab-two 1.0; uninstall one of them"
    assert f"the command 'lab-rate' {both}" in line
    done = run(tmp_path, "-c", "import bioeval as be\nbe.simulate\nbe.lab_rate")
    assert f"PluginError: be.lab_rate {both}" in done.stderr


@pytest.mark.slow
def test_names_of_bioeval_stay_its_own(tmp_path):
    lab(tmp_path, "lab-one", "zoo", "zoo", 'counts={"verification": "calls"},')
    done, said = help_of(tmp_path, "zoo", "--help")
    assert "goats" in done.stdout
    assert len(said) == 2
    assert "be.zoo is bioeval's own; that of the package is left out" in said[0]
    assert "the command 'zoo' is bioeval's own; that of the package is left out" in said[1]


def test_a_command_that_fails_is_one_line(tmp_path):
    lab(tmp_path, "lab-one")
    done, (line,) = help_of(tmp_path, "lab-rate")
    assert done.returncode == 1
    assert line == (
        "bioeval: error: lab-one 1.0: failed (ValueError: of the lab); "
        "python -X dev -m bioeval shows where"
    )
    done = run(tmp_path, "-X", "dev", "-m", "bioeval", "lab-rate")
    assert "Traceback" in done.stderr


@pytest.mark.slow
def test_a_question_that_a_package_fails_to_answer(tmp_path):
    lab(tmp_path, "lab-one", more='hooks={"with_doubts": "calls.lab_rate", "page": "no.name"},')
    program = (
        "import bioeval as be, warnings\n"
        "from bioeval.base.offers import hooks\n"
        "scores = be.simulate(5, 3, random_state=1)\n"
        "tree = be.evaluate(scores)\n"
        "for answer in hooks('with_doubts'):\n"
        "    tree = answer(tree, scores, None)\n"
        "print(type(tree).__name__, len(hooks('page')))\n"
    )
    done = run(tmp_path, "-c", program)
    assert done.stdout == "DataTree 1\n", done.stderr
    assert "lab-one 1.0: with_doubts failed (TypeError: lab_rate() takes 0" in done.stderr
    assert "lab-one 1.0: lab_one.no cannot be imported (ModuleNotFoundError" in done.stderr


FORMAT = """
from bioeval.scores import Format
def looks(file):
    {looks}
FORMAT = Format(name={name!r}, holds="a file", recognise=looks, read=print, suffixes=(".lab",))
"""


@pytest.mark.slow
def test_formats_that_clash_or_fail(tmp_path):
    kinds = {"one": ("lab", "return True"), "two": ("lab", "return True")}
    kinds |= {"three": ("bad", "1 / 0"), "four": ("text", "return True")}
    for word, (name, looks) in kinds.items():
        text = FORMAT.format(name=name, looks=looks)
        points = {"formats": {"lab": f"format_{word}"}}
        install(tmp_path, f"lab-{word}", {f"format_{word}.py": text}, points)
    (tmp_path / "x.lab").write_text("0.1 1\n", encoding="utf-8")
    (tmp_path / "scores.txt").write_text("target 1\nnontarget 2\n", encoding="utf-8")
    done, said = help_of(tmp_path, "run", "x.lab", "--format", "lab")
    assert done.returncode == 2
    both = "the format 'lab' is offered by lab-one 1.0 and lab-two 1.0; uninstall one of them"
    assert both in said[-1]
    assert "lab-four 1.0: the format 'text' is bioeval's own; that one is left out" in said[0]
    done, said = help_of(tmp_path, "run", "scores.txt", "--kind", "distance", "--json")
    assert json.loads(done.stdout)
    assert "lab-three 1.0: the format 'bad' could not look at scores.txt (ZeroDivision" in said[1]


@pytest.mark.slow
def test_cards_that_clash_or_are_not_valid(tmp_path):
    card = (EXAMPLE / "bioeval_lab" / "cards" / "lab-gate.toml").read_text(encoding="utf-8")
    cards = {
        "one": {"gate.toml": card, "pairs.toml": card.replace("lab-gate", "pairs")},
        "two": {"gate.toml": card, "wrong.toml": "schema = 1\n"},
    }
    for word, files in cards.items():
        named = {f"cards_{word}/{name}": text for name, text in files.items()}
        points = {"protocols": {"lab": f"cards_{word}"}}
        install(tmp_path, f"lab-{word}", named, points)
    done, said = help_of(tmp_path, "protocols")
    assert "lab-gate" not in done.stdout
    assert "lab-one 1.0: the card 'pairs' is bioeval's own" in said[0]
    assert "wrong.toml: name is missing" in said[1]
    _, said = help_of(tmp_path, "protocols", "lab-gate")
    assert "two packages have a card 'lab-gate': " in said[-1]


def test_nothing_is_loaded_from_the_working_directory(tmp_path):
    site, here = tmp_path / "site", tmp_path / "here"
    lab(here, "lab-here")
    lab(site, "lab-one")
    done, said = help_of(site, cwd=here)
    assert "lab-one 1.0:\n  lab-rate" in done.stdout
    assert "lab-here" not in done.stdout
    assert said == []
    (here / "lab_one").mkdir()  # hides nothing
    done, said = help_of(site, cwd=here)
    assert said == []
    (here / "lab_one.py").write_text("raise SystemExit('from the working directory')")
    _, (line,) = help_of(site, cwd=here)
    assert f"(ImportError: {here / 'lab_one.py'} in the working directory hides it)" in line
    # What is installed for development is found there, too.
    done, said = help_of(here, cwd=here)
    assert "lab-here 1.0:\n  lab-rate" in done.stdout
    assert said == []


def test_metadata_are_those_of_importlib(tmp_path, monkeypatch):
    install_source(tmp_path, EXAMPLE)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(elsewhere, "installed", elsewhere.installed.__wrapped__)
    ours = set()
    for point in elsewhere._all_entry_points.__wrapped__():
        value = f"{point.module}:{point.attribute}".rstrip(":")
        ours.add((f"bioeval.{point.group}", point.name, value, point.package))
    theirs = set()
    for distribution in importlib.metadata.distributions():
        for point in distribution.entry_points:
            if point.group.startswith("bioeval."):
                package = f"{distribution.metadata['Name']} {distribution.version}"
                theirs.add((point.group, point.name, point.value, package))
    assert ours == theirs
    assert len(ours) == 3


@pytest.mark.slow
def test_measures_of_a_package(tmp_path):
    measures = """
from bioeval.base import Scalar
given = {"of_rates": lambda far, frr: far + frr, "results": ("task", "comparison")}
SCALARS = (
    Scalar("sum", name="min_sum", best="min", label="least sum", bounds=(0, 2), **given),
    Scalar("wrong", name="eer", **given),
    Scalar("coordinate", name="threshold", **given),
    3,
    Scalar("fails", name="min_zero", best="min", of_rates=lambda far, frr: 1 / 0, label="zero"),
)
"""
    lab(tmp_path, "lab-one", more='scalars="measures.SCALARS",')
    (tmp_path / "lab_one" / "measures.py").write_text(measures, encoding="utf-8")
    program = (
        "import bioeval as be\n"
        "ds = be.verification(be.simulate(6, 3, random_state=1))\n"
        "print(float(ds.min_sum - (ds.far + ds.frr).min()), 'min_zero' in ds)\n"
        "print(ds.eer.attrs['long_name'])\n"
        "be.show(ds)\n"
    )
    done = run(tmp_path, "-c", program)
    assert done.stdout.startswith("0.0 False\nequal error rate")
    assert "least sum" in done.stdout
    for said in (
        "its scalar 'eer' is left out: name=\"eer\": there is a variable eer already",
        "its scalar 'threshold' is left out: name=\"threshold\": there is a variable threshold",
        "its scalars have 3; expected a Scalar",
        "its scalar 'min_zero' is left out: of_rates fails on arrays of FAR and FRR",
    ):
        assert said in done.stderr

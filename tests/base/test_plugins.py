"""Packages beside bioeval: what they offer is there, and what is wrong with them breaks nothing."""

from __future__ import annotations

import importlib.metadata
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from pages import ROOT

import bioeval as be
from bioeval.base import plugins
from tests.installed import install, install_source, run

EXAMPLE = ROOT / "docs" / "extend" / "bioeval-lab"

HEAD = "from bioeval.base.manifest import StudyManifest, Subcommand, View\n"

#: A manifest with a call and a command, in a module of its own.
MANIFEST = """
from bioeval.base.manifest import StudyManifest, Subcommand
STUDY = StudyManifest(
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
            f"{module}/__init__.py": MANIFEST.format(call=call, command=command, more=more),
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
            f"requires bioeval-protocols>=9, and this is {be.__version__}; it is left out",
        ),
        ({"broken_lab.py": "raise SystemExit(3)"}, "broken_lab", "(SystemExit: 3)"),
        (
            {"broken_lab.py": "x = 1"},
            "broken_lab",
            "broken_lab has no STUDY that is a StudyManifest",
        ),
        ({}, "broken_lab:LAB", "No module named 'broken_lab'"),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(doors=())"},
            "broken_lab",
            "StudyManifest.__init__() got an unexpected keyword argument 'doors'",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(schema=7)"},
            "broken_lab",
            "is a manifest of schema 7, and this version of bioeval reads those of schema 1 to 1; "
            f"it requires bioeval-protocols>=9, and this is {be.__version__}",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(plots=(1,))"},
            "broken_lab",
            "its plots are no tuple of Plot",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(calls=('x',))"},
            "broken_lab",
            "calls of a StudyManifest is ('x',); expected a Mapping",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(commands=(Subcommand('x'),))"},
            "broken_lab",
            "Subcommand.__init__() missing 1 required positional argument: 'does'",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(views=(View(['x'], 'y'),))"},
            "broken_lab",
            "result_types of a View is ['x']; expected a tuple",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(views=(View((1,), 'y'),))"},
            "broken_lab",
            "result_types of a View are (1,); expected a tuple of text",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(examples='bioeval x')"},
            "broken_lab",
            "its example 'bioeval x' is no purpose",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(not_options={{'run': {{}}}})"},
            "broken_lab",
            "its not_options are about 'run'; expected its own commands",
        ),
        (
            {"broken_lab.py": f"{HEAD}STUDY = StudyManifest(schema='1')"},
            "broken_lab",
            "of schema 1, and",
        ),
    ],
)
def test_a_broken_manifest_is_named_in_one_line(tmp_path, files, entry, says):
    install(tmp_path, "broken-lab", files, {"studies": {"lab": entry}}, "bioeval-protocols>=9")
    done, said = help_of(tmp_path)
    assert done.returncode == 0
    assert "Start:" in done.stdout
    (line,) = said
    assert line.startswith("bioeval: warning: broken-lab 1.0: ")
    assert says in line


@pytest.mark.slow
def test_a_slow_manifest_is_named(tmp_path):
    slow = f"import time\ntime.sleep(1.1)\n{HEAD}STUDY = StudyManifest()\n"
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
        "from bioeval.base.studies import hooks\n"
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


def test_entry_points_are_those_of_importlib(tmp_path, monkeypatch):
    install_source(tmp_path, EXAMPLE)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(plugins, "_metadata_folders", plugins._metadata_folders.__wrapped__)
    expected = set()
    for group in plugins.GROUPS:
        expected |= {*importlib.metadata.entry_points(group=f"bioeval.{group}")}
    assert {*plugins._all_entry_points.__wrapped__()} == expected
    assert len(expected) == 3


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("METADATA", None, "its metadata cannot be read"),
        ("entry_points.txt", "[bioeval.studies]\nno point\n", "its metadata cannot be read"),
        ("entry_points.txt", "[bioeval.studies]\nlab = 1 2\n", "'lab' cannot be loaded"),
    ],
)
def test_damaged_metadata_leave_a_package_out(tmp_path, name, text, says):
    lab(tmp_path, "lab-one")
    path = tmp_path / "lab_one-1.0.dist-info" / name
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done, (line,) = help_of(tmp_path)
    assert done.returncode == 0
    assert says in line and "it is left out" in line and "lab" in line


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


#: A manifest that prints, changes the directory and ends the program where it can.
LIES = """
import os, sys
print("loading the lab")
os.chdir("/")
from bioeval.base.manifest import StudyManifest, View
STUDY = StudyManifest(
    calls={"calls": ("lab_lies",)}, scalars="measures.SCALARS",
    views=(
        View(("verification",), "calls"),
        View(("lab",), "calls"),
        View((), "calls", dim="fold"),
    ),
)
"""
LYING_CALLS = """
import sys
def section(results):
    print("section")
    return None
def lab_lies():
    return 1
"""
LYING_MEASURES = """
import sys
from bioeval.base import Scalar
given = {"best": "min", "label": "lies", "results": ("task", "comparison")}
def prints(far, frr):
    print("rates")
    return (far + frr) / 2
def ends(far, frr):
    sys.exit(0)
SCALARS = (
    Scalar("prints", name="min_prints", of_rates=prints, **given),
    Scalar("ends", name="min_ends", of_rates=ends, **given),
)
"""
LYING_FORMAT = """
import os, sys
from bioeval import Scores
from bioeval.scores import Format
def looks(file):
    if file.path.stem == "looks":
        print("looks")
        sys.exit(0)
    return True
def reads(path, options):
    if path.stem == "ends":
        sys.exit(0)
    if path.stem == "none":
        return None
    if path.stem == "fault":
        return 1 / 0
    print("reading")
    os.chdir("/")
    return Scores.from_pairs([0.1, 0.9], [1, 0], kind="distance")
def losses(scores):
    return None
def writes(scores, path):
    sys.exit(0)
FORMAT = Format(
    name="lies", holds="a lie", recognise=looks, read=reads, suffixes=(".lie",),
    written="nothing", write=writes, losses=lambda scores: [],
)
"""


def lies(site):
    """Install a package whose manifest, measures, tables and formats lie."""
    files = {"lies/__init__.py": LIES, "lies/calls.py": LYING_CALLS}
    files |= {"lies/measures.py": LYING_MEASURES, "lies/lie.py": LYING_FORMAT}
    install(site, "lies", files, {"studies": {"lab": "lies"}, "formats": {"lab": "lies.lie"}})
    here = site / "here"
    here.mkdir()
    for name in ("reads", "ends", "none", "fault", "looks"):
        (here / f"{name}.lie").write_text("0 1\n", encoding="utf-8")
    return here


@pytest.mark.slow
def test_the_output_of_a_command_has_no_word_of_packages(tmp_path):
    here = lies(tmp_path)
    words = ("run", "reads.lie", "--json", "--out", "out")
    done, said = help_of(tmp_path, *words, "--interval", "wilson", cwd=here)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["file"] == "reads.lie"
    assert (here / "out" / "summary.json").exists()
    assert {"loading the lab", "reading", "rates"} <= {*said}
    problems = [line.removeprefix("bioeval: warning: lies 1.0: ") for line in said]
    moved = "changed the working directory to /; it was changed back"
    for expected in (
        "the import of lies printed, which goes to standard error",
        f"the import of lies {moved}",
        f"the reader of the format 'lies' {moved}",
        "its scalar 'min_ends' is left out: it ended the program (SystemExit: 0)",
    ):
        assert problems.count(expected) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (
            ("run", "none.lie"),
            1,
            "none.lie: the reader of lies 1.0 returned NoneType; expected Scores, PairScores or "
            "TopKScores",
        ),
        (
            ("run", "ends.lie", "--json"),
            1,
            "ends.lie: the reader of lies 1.0 ended the program (SystemExit: 0)",
        ),
        (
            ("run", "fault.lie"),
            2,
            "fault.lie: is truncated or damaged, or the reader of lies 1.0 has a fault "
            "(ZeroDivisionError: division by zero); expected a lie",
        ),
        (
            ("convert", "reads.lie", "new.lie"),
            1,
            "lies 1.0: the writer of the format 'lies' failed (SystemExit: 0)",
        ),
    ],
)
def test_a_format_that_lies_is_one_line(tmp_path, words, code, says):
    here = lies(tmp_path)
    done, said = help_of(tmp_path, *words, cwd=here)
    assert done.returncode == code
    assert done.stdout == ""
    assert said[-1] == f"bioeval: error: {says}"


@pytest.mark.slow
def test_a_format_that_ends_the_program_at_a_look(tmp_path):
    here = lies(tmp_path)
    done, said = help_of(tmp_path, "run", "looks.lie", "--json", cwd=here)
    assert (done.returncode, done.stdout) == (2, "")
    could_not = "the format 'lies' could not look at looks.lie (SystemExit: 0)"
    assert f"bioeval: warning: lies 1.0: {could_not}" in said


@pytest.mark.slow
def test_tables_of_bioeval_stay_its_own(tmp_path):
    lies(tmp_path)
    program = (
        "import bioeval as be\n"
        "scores = be.simulate(6, 3, random_state=1)\n"
        "found = be.verification(scores)\n"
        "be.show(found)\n"
        "try:\n"
        "    be.show(found.assign_attrs(result_type='lab'))\n"
        "except be.PluginError as error:\n"
        "    print(error)\n"
        "folds = be.cross_evaluate(scores, be.partition.SubjectKFold(2))\n"
        "be.show(folds.assign_attrs(result_type='lab'))\n"
    )
    done = run(tmp_path, "-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("EER") >= 2
    assert "lies 1.0: lies.calls.section returned no section; expected one of" in done.stdout
    assert "NoneType" not in done.stderr
    kept = "bioeval's own; the view of the package is left out"
    for result_type in ("verification", "lab"):
        assert (
            f"lies 1.0: the table of results of the type {result_type!r} is {kept}" in done.stderr
        )


@pytest.mark.slow
def test_two_packages_with_one_table(tmp_path):
    for name in ("lab-one", "lab-two"):
        lab(tmp_path, name, name.replace("-", "_"), name, 'views=(View(("lab",), "calls"),),')
    for manifest in tmp_path.glob("*/__init__.py"):
        text = manifest.read_text(encoding="utf-8").replace(
            "import StudyManifest", "import View, StudyManifest"
        )
        manifest.write_text(text, encoding="utf-8")
    program = "import bioeval as be\nfound = be.verification(be.simulate(6, 3, random_state=1))\n"
    done = run(tmp_path, "-c", f"{program}be.show(found.assign_attrs(result_type='lab'))\n")
    both = "is offered by lab-one 1.0 and lab-two 1.0; uninstall one of them"
    assert f"PluginError: the table of results of the type 'lab' {both}" in done.stderr


def test_plug_ins_in_several_threads_leave_the_output(capfd):
    together = threading.Barrier(4, timeout=60)

    def calls(number):
        with plugins.plugin_code("lab 1.0", f"call {number}"):
            together.wait()
            print("from a plug-in")
            sys.stdout.close()
        together.wait()

    before = sys.stdout
    with (
        pytest.warns(be.PluginWarning, match="printed, which goes to standard error"),
        ThreadPoolExecutor(4) as pool,
    ):
        list(pool.map(calls, range(4)))
    assert sys.stdout is before
    print("after them")
    said = capfd.readouterr()
    assert said.out == "after them\n"
    assert said.err.count("from a plug-in") == 4


def test_a_signal_ends_the_program_while_a_plug_in_runs():
    with pytest.raises(plugins.Terminated), plugins.plugin_code("lab 1.0", "a call"):
        raise plugins.Terminated(143)

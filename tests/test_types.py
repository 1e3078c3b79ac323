"""A type checker finds the mistakes in scripts of users, and none where there is none."""

import re
import subprocess
import sys
from typing import get_args, get_type_hints

import pytest
from optional import optional_import

import bioeval as be
from bioeval.protocol.card import SECTIONS
from bioeval.protocol.fields import fields_of

CORRECT = """
import numpy as np
from sklearn.model_selection import GroupKFold

import bioeval as be

scores: be.Scores = be.load("scores.npz", kind="distance", nan="reject")
single = be.verification(scores, interval="subject-bootstrap", fusion="kth:2")
tree = be.evaluate(be.simulate(20, 4, random_state=1), "course-all-vs-all")
closed, opened = be.closed_set(scores, ties="expected"), be.open_set(scores)
study = be.study_threshold(scores, "eer", task="open_set")
copy = be.Scores(np.zeros((2, 2)), ["a", "b"], kind=scores.kind, nan=scores.nan)
difference = be.compare(scores, copy)
for splitter in (be.partition.SubjectKFold(5), be.partition.Experiment(0.5)):
    be.cross_evaluate(scores, splitter, threshold="eer", interval="quantile")
    be.repeat(scores, splitter, curves=True)
be.cross_evaluate(scores, GroupKFold(5), task="closed_set", rank_unit="subject")
be.repeat(scores, [be.partition.ProbesGallery(np.arange(5), np.arange(5, 10))])
be.repeat(scores, be.partition.ProbeGallerySplit(1))
be.reid(scores, cmc="allshots", removed="none")
be.Scores.from_embeddings(np.eye(2), ["a", "b"], metric=lambda a, b: a @ b.T, kind="similarity")
be.plot.det(single)
be.plot.roc(single).figure_.savefig("roc.png")
be.plot.save_all(tree, scores, "plots", ("png", "pdf"))
be.save(scores, "copy.npz")
try:
    be.tracking("truth.txt", "result.txt")
except be.BioevalError as error:
    print(error, float(single.eer), be.__version__)
"""

# Each line that ends in a comment has a mistake; the comment is in the message.
WITH_MISTAKES = {
    "course.py": """
import bioeval as be

scores = be.Scores([[0.0, 1.0], [1.0, 0.0]], ["ann", "bob"], kind="distances")  # "kind"
single = be.verification(scores, templates="both")  # "templates"
be.plot.rocc(single)  # no attribute "rocc"
print(be.closed_set(scores, ties="pesimistic"))  # "ties"
""",
    "deployment.py": """
import bioeval as be

scores = be.load("scores.npz", nan="drop")  # "nan"
folds = be.cross_evaluate(scores, 5)  # "SplitterLike | Iterable[Any]"
study = be.study_threshold(scores, "eer", task="identification")  # "task"
""",
    "report.py": """
import bioeval as be

scores = be.simulate(20, 4)
opened = be.open_set(scores, rank_unit="person")  # "rank_unit"
multi = be.verification(scores, templates="multi", fusion="average")  # "fusion"
tree = be.evaluate(scores, interval="bootstrap")  # "interval"
be.report({"a": tree}, "page.html")
""",
}


@pytest.mark.slow
def test_scripts_under_the_strict_type_checker(tmp_path):
    """Ten mistakes in three scripts; none in another."""
    optional_import("mypy")
    modules = {"be": be, "be.plot": be.plot, "be.stats": be.stats, "be.partition": be.partition}
    names = [f"{module}.{name}" for module, loaded in modules.items() for name in loaded.__all__]
    scripts = {"correct.py": "\n".join([CORRECT, *names]), **WITH_MISTAKES}
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
    options = ["--strict", "--follow-imports=silent", "--config-file=", "--python-version=3.12"]
    options += ["--no-error-summary", "--disable-error-code=import-untyped", "--cache-dir=cache"]
    process = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *scripts],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not process.stderr
    errors = dict(re.findall(r"^(\w+\.py:\d+): error: (.*)$", process.stdout, re.MULTILINE))
    expected = {
        f"{name}:{number}": line.partition("  # ")[2]
        for name, text in scripts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if "  # " in line
    }
    assert len(expected) == 10
    assert errors.keys() == expected.keys(), process.stdout
    assert all(expected[place] in message for place, message in errors.items()), process.stdout


@pytest.mark.parametrize("section", ["verification", "open_set", "closed_set", "reid", "gom"])
def test_types_have_the_words_of_the_cards(section):
    """Of the arguments of a call, and of the fields of its section."""
    fields = {k: f for k, f in fields_of(SECTIONS[section]).items() if f.choices}
    compared = 0
    for hints in (get_type_hints(getattr(be, section)), get_type_hints(SECTIONS[section])):
        for name in fields.keys() & hints.keys():
            words = {x for hint in (hints[name], *get_args(hints[name])) for x in get_args(hint)}
            words |= {*get_args(hints[name])}
            texts = {"kth:K" if x[:4] == "kth:" else x for x in words if isinstance(x, str)}
            if texts:
                assert texts == {*fields[name].words()}, name
                compared += 1
    assert compared > 2

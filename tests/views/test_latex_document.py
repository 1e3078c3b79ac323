"""A document of LaTeX that compiles on its own, as handouts need."""

import re
import shutil
import subprocess

import pytest

import bioeval as be

SCORES = [[0, 2, 6, 9], [2, 0, 4, 7], [6, 4, 0, 5], [9, 7, 5, 0]]


def handout(*names: str) -> str:
    steps = be.step_by_step(be.Scores(SCORES, [names[0], names[0], *names[1:]]), threshold=5)
    return be.to_latex(steps, document=True)


def test_titles_and_sentences_are_text():
    text = handout("ann", "bob", "cat")
    assert not re.search(r"^%", text, re.MULTILINE)
    assert r"\section*{Every probe, step by step}" in text
    assert r"\subsection*{Step 2 of 4: Probe 1 (subject ann)}" in text
    assert r"\item[Scores] distances, accepted at or below the threshold" in text
    for what in ("document", "tabular", "tabularx", "description"):
        assert text.count(rf"\begin{{{what}}}") == text.count(rf"\end{{{what}}}") > 0


def test_tables_alone_keep_their_sentences_as_comments():
    steps = be.step_by_step(be.Scores(SCORES, ["a", "a", "b", "b"]), threshold=5)
    needs = "% needs \\usepackage{array,booktabs,tabularx}\n% Every probe"
    assert be.to_latex(steps).startswith(needs)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is missing")
def test_it_compiles(tmp_path):
    (tmp_path / "handout.tex").write_text(handout("a_1 & b", "50 % #", "{x}\\y~^"), "utf-8")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "handout.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]

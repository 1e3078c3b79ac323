"""Every block of code of every page runs, and prints what the page shows."""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from pages import PAGES, ROOT, Block, blocks, paragraphs

import bioeval as be
from bioeval.cli import main

#: Commands that other tests run, or that change the machine.
ELSEWHERE = (
    *("scripts/", "source ", "pip ", "git ", ".venv/", ".ci/", "conda ", "docker ", "kubectl "),
    "python docs/",
)
WITH_CODE = [page for page in PAGES if any(True for _ in blocks(page))]


def test_blocks_with_commands_have_a_language():
    """A block without a language is not run: it shows a layout or an output alone."""
    for page in PAGES:
        for block in blocks(page):
            commands = re.findall(r"^(?:bioeval|python|pip) .*", block.code, re.M)
            assert block.language or not commands, f"{page}:{block.line}: {commands}"


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    names: dict[str, object] = {"__name__": "page", "__file__": str(page), "np": np, "be": be}
    said, printed = {}, ""
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        above, printed = printed, ""
        if block.language in ("python", "pycon", "code-cell"):
            said[block.line] = printed = run_python(block, names, where)
        elif block.language in ("sh", "bash", "text", "console"):
            said[block.line] = "\n".join(run_command(*each, where) for each in block.commands)
            if block.language == "text" and not block.commands and above:
                assert squeezed(block.code) in squeezed(above), f"{where}: printed\n{above}"
    unknown = unknown_in(page, said)
    assert not unknown, f"{page.relative_to(ROOT)}: no block above prints what is on {unknown}"


@pytest.mark.slow
def test_the_commands_that_answer_questions_run(tmp_path, monkeypatch):
    """With the files that the blocks of the page make; data of a reader's own are called DATA."""
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "index.md"
    for block in blocks(page):
        for command, _ in block.commands if block.language == "sh" else ():
            if command.startswith(("bioeval simulate", "bioeval example")):
                run_command(command, "", page.name)
    listed = re.findall(r"^- .*`(bioeval [^`]*)`$", page.read_text(encoding="utf-8"), re.M)
    commands = [command for command in listed if "DATA" not in command]
    assert len(commands) >= 20
    for command in commands:
        run_command(command, "", f"{page.name}: {command}")


def unknown_in(page: Path, said: dict[int, str]) -> list[str]:
    """Return the numbers of paragraphs that no block above prints or shows, with their lines.

    Paragraphs are those after a block of the same section that prints something, and quotations,
    which are examples of what to write.
    """
    code = {block.line: block.code for block in blocks(page, all_of_them=True)}
    lines = []
    for part in paragraphs(page):
        output = any(said[line] for line in said if part.section <= line < part.line)
        if output or part.text.startswith(">"):
            above = [text for texts in (code, said) for k, text in texts.items() if k < part.line]
            numbers = unknown_numbers(part.text, "\n".join(above))
            lines += [f"line {part.line}: {', '.join(numbers)}"] * bool(numbers)
    return lines


NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?!\w)( ?%)?")


def unknown_numbers(text: str, printed: str) -> list[str]:
    """Return the numbers of a text that were not printed, even rounded or in per cent."""
    printed_values = [value(number[0]) for number in NUMBER.finditer(printed)] + [0, 1, 2]
    return [
        number[0]
        for number in NUMBER.finditer(text)
        if not any(
            abs(value(number[0]) - x * factor) <= accuracy(number[0]) * (1 + 1e-9)
            for x in printed_values
            for factor in ((1, 100) if number[1] else (1,))
        )
    ]


def value(number: str) -> float:
    return float(number.replace(",", "").rstrip("% "))


def accuracy(number: str) -> float:
    """Return half of the last decimal; whole numbers are exact, unless they are per cent."""
    decimals = len(number.rstrip("% ").partition(".")[2])
    return 0.5 * 10.0**-decimals if decimals or "%" in number else 0.0


def run_python(block: Block, names: dict[str, object], where: str) -> str:
    if ">>> " in block.code:
        examples = doctest.DocTestParser().get_doctest(block.code, names, where, where, block.line)
        said = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        failed = runner.run(examples, out=said.write, clear_globs=False).failed
        names.update(examples.globs)
        assert not failed, said.getvalue()
        return block.code
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        try:
            exec(compile("\n" * block.line + block.code, where, "exec"), names)
        except Exception as error:
            pytest.fail(f"{where}: {type(error).__name__}: {error}")
    return out.getvalue()


def run_command(command: str, shown: str, where: str) -> str:
    if command.startswith(("#", *ELSEWHERE)):
        return ""
    words = shlex.split(command, comments=True)
    if not words:
        return ""
    said, code = run(command, words)
    assert code == 0 or "exit" in command, f"{where}: {command}: exit {code}\n{said}"
    if shown.strip():
        assert re.search(pattern(shown), squeezed(said)), f"{where}: {command} prints\n{said}"
    return said


def run(command: str, words: list[str]) -> tuple[str, int]:
    """Run a command in this process where it is ours alone, else in a shell."""
    if words[0] == "bioeval" and not set("|<>&;") & set(command):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main(words[1:])
        return out.getvalue(), code
    script = f'bioeval() {{ "{sys.executable}" -m bioeval "$@"; }}\n{command}\n'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=environment, timeout=300
    )
    return process.stdout + process.stderr, process.returncode


def squeezed(text: str) -> str:
    """Return the text with single blanks, for tables are as wide as a terminal."""
    return re.sub(r"\s+", " ", text).strip()


def pattern(shown: str) -> str:
    """Return a pattern of the shown output, in which ``...`` is anything."""
    return ".*".join(re.escape(squeezed(part)) for part in re.split(r"\.\.\.", shown))


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("3.96 of 247,500 at 15.5 % and 95 %", ["95 %"]),
        ("0.0112 is 1.1 %, 1.12 %; not 1.2 %", ["1.2 %"]),
        ("4 is no 3.958, and 1e-3 is 0.001", ["4"]),
        ("v1.5, rank-1, x2 and 10-fold", ["10"]),
    ],
)
def test_a_number_that_no_block_prints_is_found(text, unknown):
    printed = "EER 15.46 %  3.958  247,500 0.0112 0.001"
    assert unknown_numbers(text, printed) == unknown


def test_numbers_after_an_output_and_of_quotations_are_held(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Page 70\n\nfree 10\n\n```sh\nfirst 20\n```\n\nheld 20 30 `40` [x](60) of 2019\n"
        "and 80\n\n```sh\nsecond\n```\n\nheld 90\n<!-- numbers: measured -->\nfree 91\n\n"
        "free 92\n\n```sh\nthird\n```\nheld 93\n\n<!-- first:\n94\n-->\n## Next 95\n\n"
        "free 96\n\n```sh\nsilent\n```\nfree 97\n\n> quoted 98\n"
    )
    first, second, third, _, silent = (block.line for block in blocks(page))
    said = {first: "30", second: "-", third: "92", silent: ""}
    assert unknown_in(page, said) == ["line 9: 80", "line 16: 90", "line 25: 93", "line 39: 98"]


@pytest.mark.slow
def test_the_table_of_conditions_has_the_exit_codes_of_its_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "choose-threshold.md"
    before, _, after = page.read_text(encoding="utf-8").partition('<a id="fail-if"></a>')
    table, *_ = after.partition("\n<a id=")
    for simulate_command in re.findall(
        r"^\$ (bioeval simulate .*--out \w+\.npz)$", before + table, re.M
    ):
        run_command(simulate_command, "", page.name)
    rows = re.findall(r"^\| `(bioeval .*?)` \| (\d) \|", table, re.M)
    assert {code for _, code in rows} == {"0", "1", "2"} and len(rows) >= 6
    for command, code in rows:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            exit_code = main(shlex.split(command)[1:])
        assert exit_code == int(code), f"{command}: exit {exit_code}\n{said.getvalue()}"

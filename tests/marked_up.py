"""Tables of LaTeX and Markdown read back into cells, by rules of these languages alone."""

import re

LATEX = {
    **{f"\\{c}": c for c in "%&#$_{}"},
    **{r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^"},
    **{r"\textbar{}": "|", "$<$": "<", "$>$": ">", r"$\leq$": "<=", r"$\geq$": ">="},
    **{r"$\pm$": "±", r"$\times$": "×", "$-$": "-", r"\,": " ", "{}": ""},
}
_TOKEN = re.compile("|".join(map(re.escape, LATEX)) + "|.")


def of_latex(text: str) -> str:
    """Return the printed text of a piece of LaTeX, without any special character."""
    tokens = _TOKEN.findall(re.sub(r"^(\s*)\\textbf\{(.*)\}(\s*)$", r"\1\2\3", text))
    bare = [x for x in tokens if x in [*"%&#$_{}\\~^|<>"]]
    assert not bare, (bare, text)
    return "".join(LATEX.get(x, x) for x in tokens)


def of_markdown(text: str) -> str:
    """Return the text of a piece of Markdown in a single line."""
    text = re.sub(r"^(\s*)\*\*(.*)\*\*(\s*)$", r"\1\2\3", text.replace("<br>", " "))
    bare = re.sub(r"\\[!-/:-@[-`{-~]|`[^`]+`", "", text)
    assert not re.search(r"[`*_|~$\\]|<[A-Za-z/!?]|\]\(", bare), text
    return re.sub(r"\\([!-/:-@[-`{-~])", r"\1", text).replace("&amp;", "&")


def latex_tables(text: str) -> list[list[list[str]]]:
    """Return the cells of each table; all else are comments."""
    tables: list[list[list[str]]] = []
    lines = [line for line in text.splitlines() if line and not line.startswith("%")]
    width = 0
    for line, after in zip(lines, [*lines, ""][1:], strict=True):
        if begun := re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", line):
            width = len(begun[1])
            tables.append([])
            assert after == r"\toprule"
        elif line == r"\bottomrule":
            assert after == r"\end{tabular}"
        elif line not in (r"\toprule", r"\midrule", r"\end{tabular}"):
            assert line.endswith(r" \\") and not line.lstrip().startswith(("[", "*"))
            cells = re.split(r"(?<!\\)&", line.removesuffix(r"\\").replace(" -- ", " - "))
            assert len(cells) == width, line
            tables[-1].append([of_latex(cell).strip() for cell in cells])
    return tables


def markdown_tables(text: str) -> list[list[list[str]]]:
    """Return the cells of each table; all else are paragraphs and lists."""
    tables: list[list[list[str]]] = []
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if not lines or not lines[0].startswith("|"):
            for line in lines:
                of_markdown(line.removeprefix("**").removesuffix("**"))
            continue
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
        assert {len(row) for row in rows} == {len(rows[0])}
        assert all(re.fullmatch(r" (:-+|-+:) ", cell) for cell in rows[1])
        read = [[of_markdown(cell).strip() for cell in row] for row in (rows[0], *rows[2:])]
        tables.append(read[not any(read[0]) :])  # a table always has a heading
    return tables

"""File formats of other packages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bioeval.base.elsewhere import entry_points, load_entry, report, said
from bioeval.base.errors import DataError
from bioeval.base.offers import doors, value_from_elsewhere
from bioeval.scores.formats.format import Format, Found

#: The message of each format that two packages have, by its word.
clashes: dict[str, str] = {}


def from_elsewhere(own: Sequence[str]) -> list[Format]:
    """Return the formats of other packages; words of bioeval's `own` formats stay theirs."""
    by_word: dict[str, list[tuple[str, Format]]] = {}
    for package, form in _of_packages():
        if not isinstance(form, Format) or _wrong(form):
            report(package, f"{form!r} is no Format with text and functions; it is left out")
        elif form.word in own:
            report(package, f"the format {form.word!r} is bioeval's own; that one is left out")
        else:
            by_word.setdefault(form.word, []).append((package, form))
    forms = []
    for word, offers in by_word.items():
        if len(offers) > 1:
            listed = " and ".join(package for package, _ in offers)
            clashes[word] = f"the format {word!r} is offered by {listed}; uninstall one of them"
        else:
            forms.append(_guarded(*offers[0]))
    return forms


def _wrong(form: Format) -> bool:
    """Whether a field that is looked at for each file is not of its type."""
    named = isinstance(form.name, str) and isinstance(form.suffixes, tuple)
    return not (named and callable(form.recognise) and callable(form.read))


def formats_of(module: Any) -> Sequence[Any]:
    """Return the formats of a module: its ``FORMATS``, or its one ``FORMAT``."""
    return getattr(module, "FORMATS", None) or [module.FORMAT]


def _of_packages() -> Iterator[tuple[str, Any]]:
    """Yield packages and what they have as formats, by their doors and their entry points."""
    for study in doors().values():
        for home in study.formats if study.package else ():
            yield study.package, value_from_elsewhere(study.package, f"{home}.FORMAT")
    for point in entry_points("formats"):
        module = load_entry(point)
        if module is None:
            continue
        if point.attribute:
            yield point.package, getattr(module, point.attribute, None)
        elif hasattr(module, "FORMATS") or hasattr(module, "FORMAT"):
            for form in formats_of(module):
                yield point.package, form
        else:
            report(point.package, f"{point.module} has no FORMAT; it is left out")


def _guarded(package: str, form: Format) -> Format:
    """Return a format that recognises nothing where looking at a file raises an error."""

    def guarded(looks: Callable[[Found], bool]) -> Callable[[Found], bool]:
        """Return a look at a file whose errors are reported."""

        @functools.wraps(looks)
        def recognised(file: Found) -> bool:
            """Look at a file."""
            try:
                return bool(looks(file))
            except DataError as error:  # advice for a near miss
                if str(file.path) in str(error):
                    raise
                raise error.preceded_by(f"{file.path}: ") from None
            except Exception as error:
                failed = f"the format {form.word!r} could not look at {file.path} ({said(error)})"
                report(package, failed)
                return False

        return recognised

    return replace(
        form,
        package=package,
        recognise=guarded(form.recognise),
        first_line=guarded(form.first_line),
    )

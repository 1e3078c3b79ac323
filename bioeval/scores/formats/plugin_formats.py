"""File formats of other packages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bioeval.base.errors import (
    BioevalError,
    DataError,
    PluginError,
    Words,
)
from bioeval.base.plugins import (
    ProgramEndedError,
    call_plugin,
    entry_points,
    error_line,
    load_entry,
    package_of,
    plugin_code,
    report,
)
from bioeval.base.studies import manifests, value_of_plugin
from bioeval.scores.formats.format import FileFacts, Format, ReadOptions
from bioeval.scores.matrix import Scores

#: The message of each format that two packages have, by its word.
clashes: dict[str, str] = {}


def plugin_formats(taken: Sequence[str]) -> list[Format]:
    """Return the formats of other packages; the words of bioeval's formats are `taken`."""
    by_word: dict[str, list[tuple[str, Format]]] = {}
    for package, form in _of_packages():
        if not isinstance(form, Format) or _wrong(form):
            report(package, f"{form!r} is no Format with text and functions; it is left out")
        elif form.word in taken:
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
    """Yield packages and what they have as formats, by their manifests and their entry points."""
    for study in manifests().values():
        for home in study.formats if study.package else ():
            yield study.package, value_of_plugin(study.package, f"{home}.FORMAT")
    for point in entry_points("formats"):
        module = load_entry(point)
        if module is None:
            continue
        if point.attr:
            yield package_of(point), getattr(module, point.attr, None)
        elif hasattr(module, "FORMATS") or hasattr(module, "FORMAT"):
            for form in formats_of(module):
                yield package_of(point), form
        else:
            report(package_of(point), f"{point.module} has no FORMAT; it is left out")


def _guarded(package: str, form: Format) -> Format:
    """Return a format whose functions run in :func:`plugin_code`, and return what is expected.

    It recognises nothing where looking at a file raises an error.
    """
    of_format = f"of the format {form.word!r}"

    def looking(looks: Callable[[FileFacts], bool]) -> Callable[[FileFacts], bool]:
        """Return a look at a file whose errors are reported."""

        @functools.wraps(looks)
        def recognised(file: FileFacts) -> bool:
            """Look at a file."""
            try:
                with plugin_code(package, f"a look at a file {of_format}"):
                    return bool(looks(file))
            except DataError as error:  # advice for a near miss
                if str(file.path) in str(error):
                    raise
                raise error.preceded_by(f"{file.path}: ") from None
            except Exception as error:
                failed = (
                    f"the format {form.word!r} could not look at {file.path} ({error_line(error)})"
                )
                report(package, failed)
                return False

        return recognised

    def read(path: Path, options: ReadOptions) -> Scores:
        """Read a file; an error of the reader may as well be one of the file."""
        try:
            with plugin_code(package, f"the reader {of_format}"):
                scores = form.read(path, options)
        except (BioevalError, ImportError, MemoryError, Warning):
            raise
        except ProgramEndedError as error:
            raise PluginError(
                f"{path}: the reader of {package} ended the program ({error_line(error)})"
            ) from error
        except Exception as error:
            raise DataError(
                f"{path}: is truncated or damaged, or the reader of {package} has a fault "
                f"({error_line(error)}); expected {form.expected}"
            ) from error
        if not isinstance(scores, Scores):
            raise PluginError(
                f"{path}: the reader of {package} returned {type(scores).__name__}; expected "
                "Scores, PairScores or TopKScores"
            )
        return scores

    def returning(
        name: str, function: Callable[..., Any], expected: type[Any], *members: type[Any]
    ) -> Callable[..., Any]:
        """Return a function whose result is of a type, or a list of members of a type."""

        @functools.wraps(function)
        def checked(*arguments: Any) -> Any:
            answer = call_plugin(package, f"{name} {of_format}", function, *arguments)
            if not isinstance(answer, expected) or (
                expected is list and not all(isinstance(member, members) for member in answer)
            ):
                wanted = f"list of {members[0].__name__}" if expected is list else expected.__name__
                raise PluginError(
                    f"{package}: {name} {of_format} returned {type(answer).__name__}; expected a "
                    f"{wanted}"
                )
            return answer

        return checked

    def writing(write: Callable[[Scores, Path], None]) -> Callable[[Scores, Path], None]:
        """Return a way to write whose errors name the package."""
        return functools.partial(call_plugin, package, f"the writer {of_format}", write)

    return replace(
        form,
        package=package,
        recognise=looking(form.recognise),
        first_line=looking(form.first_line),
        read=read,
        write=writing(form.write),
        losses=form.losses and returning("losses", form.losses, list, str, Words),
        files=returning("files", form.files, list, Path),
        check=returning("check", form.check, Path),
        otherwise=tuple(
            replace(
                way,
                write=writing(way.write),
                losses=returning("losses", way.losses, list, str, Words),
            )
            for way in form.otherwise
        ),
    )

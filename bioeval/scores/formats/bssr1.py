"""Similarities of the NIST Biometric Scores Set, release 1 (BSSR1), in the folders as shipped.

``sims/dos/face/C`` has one text file for each user, under the name of the user's signature: a line
with the address of the publisher, a line with the number of scores, then one score per line, for
each enrollee. ``users.xml`` (rows) and ``enrollees.xml`` (columns) in ``sets/dos``, or below it in
the folder of the finger, say whose the signatures are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.scores.formats.files import decoded_lines, shipments, text_array
from bioeval.scores.formats.format import Format, ReadOptions, say
from bioeval.scores.formats.label_files import xml_elements
from bioeval.scores.formats.spellings import is_number
from bioeval.scores.matrix import Scores

_ADDRESS = "biometricscores.nist.gov"
_SIDES = "users.xml", "enrollees.xml"
_SHOWN = 8


def _matrices(folder: Path) -> list[tuple[Path, Path]]:
    """Return the folders of scores in a folder, or itself, each with that of its lists."""
    matrices = []
    for shipment in shipments(folder):
        sims = shipment / "sims"
        root = sims
        if folder.absolute().is_relative_to(sims.absolute()):
            root = folder.absolute()
        for place in (root, *sorted(root.rglob("*"))):
            if place.is_dir() and any(map(Path.is_file, place.iterdir())):
                inside = place.absolute().relative_to(sims.absolute())
                matrices.append((place, _lists_of(shipment / "sets", inside)))
    return matrices


def _lists_of(sets: Path, inside: Path) -> Path:
    """Return the folder of the lists of users and enrollees, of the finger or of all."""
    for place in map(sets.joinpath, (inside, *inside.parents)):
        if all(map(Path.is_file, map(place.joinpath, _SIDES))):
            return place
    raise DataError(
        f"{sets}: has no users.xml and enrollees.xml for sims/{inside.as_posix()}; expected them "
        f"in sets/{''.join(inside.parts[:1])}, as shipped"
    )


def _signatures(path: Path) -> tuple[list[str], np.ndarray]:
    """Return the names and the subjects of the signatures of a set."""
    names, subjects = [], []
    for element, attributes in xml_elements(path):
        if element == "signature":
            names.append(attributes.get("name", "").strip())
            subjects.append(attributes.get("subject_id", "").strip())
    for key, values in (("name", names), ("subject_id", subjects)):
        if "" in values or not values:
            first = f", the first is signature {values.index('') + 1}" if values else ""
            raise DataError(
                f"{path}: {values.count('')} of {counted(len(values), 'signatures')} have no {key}"
                f'{first}; expected elements <signature name="..." subject_id="...">'
            )
    return names, text_array(subjects, f"{path}: subject_id")


def _row(path: Path, columns: int) -> np.ndarray:
    """Return the scores of one user."""
    lines = decoded_lines(path)
    if not lines or not lines[0].strip().startswith(_ADDRESS):
        raise DataError(f"{path}: line 1 does not begin with {_ADDRESS}; expected a file of scores")
    stated, scores = "".join(lines[1:2]), lines[2:]
    if stated != str(columns) or len(scores) != columns:
        raise DataError(
            f"{path}: holds {counted(len(scores), 'scores')}, and line 2 states "
            f"{stated or 'none'}; expected {columns}, one for each enrollee"
        )
    try:
        return np.array(scores, dtype=np.float64)
    except ValueError:
        row = [*map(is_number, scores)].index(False)
        raise DataError(
            f"{path}: line {row + 3} is {scores[row][:40]!r}; expected a score"
        ) from None


def _files(folder: Path, users: Sequence[str]) -> list[Path]:
    """Return the file of each user: the signature's name, with ``.bin`` or without."""
    plain, without_suffix = {}, {}
    for file in filter(Path.is_file, folder.iterdir()):
        plain[file.name] = file
        if file.suffix == ".bin":
            without_suffix[file.stem] = file
    named = without_suffix | plain
    missing = [user for user in users if user not in named]
    if missing:
        raise DataError(
            f"{folder}: has no file of {len(missing)} of {counted(len(users), 'users')}; the first "
            f"is {missing[0]!r}. Expected a file for each signature of users.xml"
        )
    return [named[user] for user in users]


def _read(path: Path, options: ReadOptions) -> Scores:
    """Read the one matrix of a folder."""
    matrices = _matrices(path)
    if len(matrices) != 1:
        shown = ", ".join("/".join(scores.parts[-3:]) for scores, _ in matrices[:_SHOWN])
        raise DataError(
            f"{path}: holds {counted(len(matrices), 'matrices')} of scores"
            f"{f' ({shown})' if shown else ''}; expected the folder of one"
        )
    if options.kind not in (None, "similarity", "llr"):
        raise DataError(f"{path}: BSSR1 has similarities, not ", say("kind", options.kind))
    ((folder, sets),) = matrices
    users, probes = _signatures(sets / _SIDES[0])
    enrollees, gallery = _signatures(sets / _SIDES[1])
    values = np.empty((len(users), len(enrollees)))
    for i, file in enumerate(_files(folder, users)):
        values[i] = _row(file, len(enrollees))
    scores = Scores(
        values,
        probes,
        gallery,
        probe_meta={"template": text_array(users, "users.xml")},
        gallery_meta={"template": text_array(enrollees, "enrollees.xml")},
        kind=options.kind or "similarity",
        nan=options.nan or "raise",
        name="-".join(folder.parts[-2:]),
    )
    where = "/".join(sets.parts[-2:])
    return scores._with(_reading=(f"subjects from users.xml and enrollees.xml of {where}",))


FORMAT = Format(
    name="bssr1",
    holds="similarities of NIST's BSSR1 in the folders as shipped, such as `sims/dos/face/C`",
    looks="a folder of BSSR1",
    expected="a folder of BSSR1",
    recognised_by="a folder in, or above, `sims`",
    recognise=lambda file: file.content == "a folder",
    read=_read,
    options=("kind", "nan"),
)

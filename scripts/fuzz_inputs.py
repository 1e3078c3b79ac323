"""Valid files of every format, and what damages them: the inputs of `fuzz.py`, by their number."""

from __future__ import annotations

import gzip
import io
import random
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import h5py
import numpy as np
import pyarrow
import pyarrow.parquet
import scipy.io

from bioeval.cli.lazy_group import COMMANDS, root
from bioeval.scores.formats.writing import WRITTEN

#: Values of cells and of options that are no good, or hardly.
ODD = (
    *("", " ", "0", "-1", "1", "2", "3", "0.5", "-0.0", "nan", "inf", "-inf", "1e309", "1e-320"),
    *("1_0", "\u0663", "\uff11", "0x10", "1e3", "1000000000", "9223372036854775808", "9" * 30),
    *(",", "1,", "1,2", "2-1", "5-", "-", "=", "a=", "=b", "a=b", "a=b=c", "0.4,0.5", "2,3,4"),
    *("\u202e", "\xe9" * 50, "x" * 5000, "\x1b[31m", "$\\frac", "a$b$", "[bold]", "\udcff"),
    *("genuine", "subject", "label", "scores", "labels", "far=0.1", "far=1e-400", "eer", "cost=1"),
    *("true", "None", "\u0130", "\ufeff1", '"', "'", "#", "../x", "%s", "{}"),
    *(
        "s1\u200b",
        "\ufeffs1",
        "s\xa01",
        "s\xad1",
        "\xe9",
        "e\u0301",
        "007",
        "7",
        "s1\x85",
        "s1\u2028",
    ),
    *("1e400", "true", '{"a": 1, "a": 2}', "s1\r", "a\rb"),
)
_PATHS = (
    *("/dev/null", "/dev/zero", "/dev/full", ".", "/", "nope.npz", "fifo", "s.npz", "l.csv"),
    *("x.npy", "t.txt", "card.toml", "gt.txt", "out.npz", "out.npy", "out.csv", "new"),
)
_SHAPES = ("(2,)", "()", "(0, 3)", "(9999999999, 2)", "(2, 99999999999999999999)", "(-1, 4)")
_DTYPES = (
    *("<f8", "<f4", ">f8", "|O", "<U9", "<U99999999", "|S0", "|V8", "<i8", "<q9", "<c16", "|b1"),
)


@dataclass(frozen=True)
class Input:
    """Files of one folder, and the arguments of a command in it."""

    reader: str
    files: dict[str, bytes]
    args: list[str]
    #: The input whose result this one has too, unless it is refused.
    same_as: Input | None = None
    room: int | None = None  # bytes that a file may take: a disk that is full
    #: Names in the result of `same_as`, and those in their place: this one is not refused.
    names: dict[str, str] = field(default_factory=dict)


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


def _text(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def valid_inputs(folder: Path) -> list[Input]:
    """Return a valid input for each reader; `folder` is an empty one to work in."""
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(6), 3)
    n = len(who)
    vectors = rng.normal(size=(n, 8)) + 3 * rng.normal(size=(6, 8))[who]
    d = np.linalg.norm(vectors[:, None] - vectors, axis=2)
    names = [f"{i:04d}_c{k % 3 + 1}s1_{k:06d}_01.jpg" for k, i in enumerate(who)]
    label = _text("label,camera", *(f"s{i},{k % 3}" for k, i in enumerate(who)))
    matrix = _npz(scores=d, labels=who, camera=np.arange(n) % 3)
    plain = _npz(scores=d)
    top = np.argsort(d, axis=1)[:, :5]
    card = (Path(__file__).parents[1] / "protocols/course-all-vs-all.toml").read_bytes()
    boxes = [f"{t},{i},{10 * i + t},20,30,40,1,1,1" for t in range(1, 9) for i in (1, 2)]
    pairs = [(f"n{i}\t1\t2", f"n{i}\t1\tn{(i + 1) % 6}\t2") for i in range(6)]
    lfw = _text("1\t6", *(one for one, _ in pairs), *(other for _, other in pairs))
    mat = {"query_f": vectors, "query_label": who + 1, "query_cam": np.arange(n) % 3 + 1}
    mat |= {name.replace("query", "gallery"): array for name, array in mat.items()}
    packed = {}
    for name, compress in (("a.mat", False), ("b.mat", True)):
        file = io.BytesIO()
        scipy.io.savemat(file, mat, do_compression=compress)
        packed[name] = b"MATLAB 5.0 MAT-file".ljust(116) + file.getvalue()[116:]
    with h5py.File(folder / "c.mat", "w") as hdf:
        for name, array in mat.items():
            hdf[name] = np.atleast_2d(array).T
            hdf[name].attrs["MATLAB_class"] = np.bytes_("double")
    (folder / "s.npz").write_bytes(matrix)
    written = {"c.mat": (folder / "c.mat").read_bytes()}
    run = ["run", "s.npz"]
    base = {"s.npz": plain, "l.csv": label}
    market = ["--protocol", "market1501"]
    return [
        Input("npz matrix", {"s.npz": matrix}, run),
        Input(
            "npz pairs",
            {"s.npz": _npz(scores=d[0], genuine=who == 0, subjects=np.stack([0 * who, who], 1))},
            run,
        ),
        Input("npz embeddings", {"s.npz": _npz(embeddings=vectors, labels=who, metric="l2")}, run),
        Input(
            "npz top-K",
            {"s.npz": _npz(indices=top, probe_labels=who, gallery_labels=who)},
            ["convert", "s.npz", "out.npz"],
        ),
        Input(
            "npy matrix",
            {"x.npy": _npy(d), "x.labels.csv": label},
            ["run", "x.npy", "--exclude", "camera"],
        ),
        Input(
            "npy embeddings",
            {"q.npy": _npy(vectors), "g.npy": _npy(vectors), "g.labels.csv": label, "l.csv": label},
            ["run", "q.npy", "--gallery", "g.npy", "--metric", "l2", "--labels", "l.csv"],
        ),
        Input(
            "csv pairs",
            {"p.csv": _text("distance,genuine,subject_a,subject_b,fold", *(
                f"{d[0, k]},{int(who[k] == 0)},s0,s{who[k]},{k % 2}" for k in range(1, n)))},
            ["run", "p.csv"],
        ),
        *_lists(d, who, folder),
        *(Input("mat 5", {"a.mat": raw}, ["run", "a.mat", *market]) for raw in packed.values()),
        Input("mat 7.3", {"c.mat": written["c.mat"]}, ["run", "c.mat", *market]),
        Input("labels csv", base, [*run, "--labels", "l.csv", "--exclude", "camera"]),
        Input(
            "names of images",
            {"s.npz": plain, "n.txt": _text(*names)},
            [*run, "--labels", "n.txt", "--gallery", "n.txt", "--names-of",
             "market1501", *market],
        ),
        Input(
            "lfw pairs",
            {"s.npz": _npz(embeddings=vectors, who=[f"n{i}" for i in who], k=np.tile([1, 2, 3], 6)),
             "pairs.txt": lfw},
            [*run, "--columns", "embeddings=embeddings,labels=who,image_number=k",
             "--trials", "pairs.txt", "--format", "lfw"],
        ),
        Input("card", {"card.toml": card}, ["protocols", "card.toml"]),
        Input(
            "card run", {"s.npz": matrix, "card.toml": card}, [*run, "--protocol", "card.toml"]
        ),
        Input(
            "tracks",
            {"gt.txt": _text(*boxes), "r.txt": _text(*boxes)},
            ["tracking", "gt.txt", "r.txt"],
        ),
        Input(
            "trackers",
            {"gt.txt": _text(*boxes), "a.txt": _text(*boxes), "b.txt": _text(*boxes[1:])},
            ["tracking", "gt.txt", "a.txt", "b.txt"],
        ),
        Input(
            "tracks gzip",
            {"gt.txt.gz": gzip.compress(_text(*boxes), mtime=0), "r.txt": _text(*boxes)},
            ["tracking", "gt.txt.gz", "r.txt"],
        ),
        Input(
            "seqinfo",
            {"a/gt/gt.txt": _text(*boxes), "r.txt": _text(*boxes),
             "a/seqinfo.ini": _text("[Sequence]", "name=a", "seqLength=8")},
            ["tracking", "a", "r.txt"],
        ),
    ]  # fmt: skip


def _lists(d: np.ndarray, who: np.ndarray, folder: Path) -> list[Input]:
    """Return lists of scores in text, tables and stores."""
    n = len(who)
    pairs = [(i, j) for i in range(3) for j in range(n) if i != j]
    kind = ["--kind", "distance"]
    bobs, marked = [*kind, "--format", "bob"], [*kind, "--format", "voxceleb"]
    bob = _text(*(f"s{who[j]} s{who[i]} p{i} {d[i, j]}" for i, j in pairs))
    models = _text(*(f"s{who[j]} m{j} s{who[i]} p{i} {d[i, j]}" for i, j in pairs))
    keyed = _text(*(f"id{who[i]}/{i} id{who[j]}/{j} {d[i, j]}" for i, j in pairs))
    trials = _text(
        *(f"{int(who[i] == who[j])} id{who[i]}/{i} id{who[j]}/{j}" for i, j in reversed(pairs))
    )
    rows = [
        {"distance": d[i, j], "genuine": bool(who[i] == who[j]), "probe": f"{i}", "model": f"{j}"}
        for i, j in pairs
    ]
    table = {name: [row[name] for row in rows] for name in rows[0]}
    pyarrow.parquet.write_table(pyarrow.table(table), folder / "p.parquet")
    with h5py.File(folder / "s.h5", "w") as file:
        file["scores"], file["labels"] = d.astype(np.float32), who
    named = {"probe": [f"s{i}" for i in who]} | {f"s{i}": d[3 * i] for i in range(6)}
    pyarrow.parquet.write_table(pyarrow.table(named), folder / "w.parquet")
    table = [",".join(map(str, row)) for row in zip(*named.values(), strict=True)]
    wide = {"w.csv": _text(",".join(named), *table)}
    wide["w.parquet"] = (folder / "w.parquet").read_bytes()
    zstd = pyarrow.compress(bob, codec="zstd", asbytes=True)
    made = ("p.parquet", "s.h5")
    written = {name: (folder / name).read_bytes() for name in made}
    matrix = ["convert", "s.txt", "out.npz", "--lists", "as=matrix", *bobs]
    return [
        Input("text bob", {"s.txt": bob}, ["run", "s.txt", *bobs]),
        Input("text gzip", {"s.gz": gzip.compress(bob, mtime=0)}, ["run", "s.gz", *bobs]),
        Input("text matrix", {"s.txt": models}, matrix),
        Input("text trials", {"s.txt": keyed, "t.txt": trials}, ["run", "s.txt", "t.txt", *marked]),
        Input(
            "text subjects", {"s.txt": keyed},
            ["run", "s.txt", "--subject-from", "id([0-9]+)/", *marked],
        ),
        Input(
            "text two files",
            {"g.txt": _text(*map(str, d[0])), "i.txt": _text(*map(str, d[1]))},
            ["run", "g.txt", "i.txt", *kind],
        ),
        Input(
            "text in order",
            {"s.txt": _text(*(str(d[i, j]) for i, j in reversed(pairs))), "t.txt": trials},
            ["run", "s.txt", "t.txt", *marked],
        ),
        Input(
            "text templates",
            {
                "s.txt": _text(*(f"{i} {j} {d[i, j]}" for i, j in pairs)),
                "t.csv": _text("template_id,subject_id", *(f"{i},{w}" for i, w in enumerate(who))),
            },
            ["run", "s.txt", "t.csv", *marked],
        ),
        Input("parquet", {"p.parquet": written["p.parquet"]}, ["run", "p.parquet"]),
        Input("hdf5", {"s.h5": written["s.h5"]}, ["run", "s.h5"]),
        Input("text zstd", {"s.zst": zstd}, ["run", "s.zst", *bobs]),
        *(Input(f"wide {name[2:]}", {name: raw}, ["run", name, *kind])
          for name, raw in wide.items()),
        Input(
            "npy features",
            {
                "s.npy": _npy(d),
                "t.txt": _text(*(f"t{i} t{j} {int(who[i] == who[j])}" for i, j in pairs)),
                "t.csv": _text("name,subject_id", *(f"t{i},{w}" for i, w in enumerate(who))),
            },
            ["run", "s.npy", "t.txt", "--labels", "t.csv", "--metric", "l2", "--format", "kaldi"],
        ),
        Input(
            "npy in order",
            {"s.npy": _npy([d[i, j] for i, j in reversed(pairs)]), "t.txt": trials},
            ["run", "s.npy", "t.txt", *marked],
        ),
    ]  # fmt: skip


# ------------------------------------------------------------------------- damage


def damaged(rng: random.Random, valid: Input) -> Input:
    """Return a valid input with one of its files damaged in one to three ways."""
    files = dict(valid.files)
    if rng.random() < 0.15:
        return with_other_line_ends(rng, valid)
    name = rng.choice(list(files))
    raw = files[name]
    for _ in range(rng.choice((1, 1, 2, 3))):
        if name.endswith(".npz") and rng.random() < 0.6:
            raw = _damage_member(rng, raw)
        elif name.endswith(".gz") and rng.random() < 0.6:
            raw = gzip.compress(rng.choice(_TEXT)(rng, gzip.decompress(files[name])), mtime=0)
        elif name.endswith((".npy", ".npz", ".mat", ".gz")):
            raw = rng.choice(_BINARY)(rng, raw)
        else:
            raw = rng.choice((*_TEXT, *_TEXT, *_BINARY))(rng, raw)
    return Input(valid.reader, {**files, name: raw}, valid.args)


_TEXTS = (".txt", ".csv", ".toml", ".ini")


def with_other_line_ends(rng: random.Random, valid: Input) -> Input:
    """Return an input whose texts have other line ends, in one file perhaps several kinds."""
    files = dict(valid.files)
    for name, raw in files.items():
        ends = rng.choice(
            ((b"\r",), (b"\r\n",), (b"\n", b"\r\n"), (b"\r", b"\n"), (b"\r", b"\r\n"))
        )
        if name.endswith((*_TEXTS, ".gz")):
            text = gzip.decompress(raw) if name.endswith(".gz") else raw
            text = re.sub(b"\n", lambda _, ends=ends: rng.choice(ends), text)
            files[name] = gzip.compress(text, mtime=0) if name.endswith(".gz") else text
    return Input(valid.reader, files, valid.args, valid)


def _damage_member(rng: random.Random, raw: bytes) -> bytes:
    """Damage one array in a .npz file, whose checksums stay right."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # damaged before
        return raw
    if not members:
        return raw
    name = rng.choice(list(members))
    change = rng.randrange(6)
    if change == 0:
        del members[name]
    elif change == 1:
        members[rng.choice((*ODD, "labels", "mask", "embeddings", "schema")) + ".npy"] = members[
            rng.choice(list(members))
        ]
    else:
        members[name] = rng.choice((_edit_header, _edit_header, *_BINARY))(rng, members[name])
    file = io.BytesIO()
    packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name.encode("utf-8", "replace").decode().replace("\x00", ""), content)
    return file.getvalue()


def _edit_header(rng: random.Random, raw: bytes) -> bytes:
    """Change the dtype, the shape or the order of a .npy array."""
    head, rest = raw[10:128].decode("latin-1"), raw[128:]
    change = rng.randrange(4)
    if change == 0:
        head = re.sub(r"'descr': '[^']*'", f"'descr': '{rng.choice(_DTYPES)}'", head)
    elif change == 1:
        head = re.sub(r"\([^)]*\)", lambda _: rng.choice(_SHAPES), head)
    elif change == 2:
        head = re.sub(
            r"\d+(?=[,)])", lambda found: rng.choice((found[0], "0", "1", "7", "9" * 12)), head
        )
    else:
        head = head.replace("False", "True")
    return raw[:10] + head.rstrip().ljust(117).encode("latin-1")[:117] + b"\n" + rest


def _place(rng: random.Random, raw: bytes) -> int:
    """Return a place in the bytes: as often in the first 256, where headers are, as elsewhere."""
    return rng.randrange(max(1, min(len(raw), 256) if rng.random() < 0.5 else len(raw)))


def _flip(rng: random.Random, raw: bytes) -> bytes:
    out = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2, 8)) if raw else 0):
        out[_place(rng, raw)] ^= 1 << rng.randrange(8)
    return bytes(out)


def _set(rng: random.Random, raw: bytes) -> bytes:
    at, length = _place(rng, raw), rng.choice((1, 2, 4, 8, 64))
    return raw[:at] + rng.choice((b"\x00", b"\xff", b"\x7f", b"9")) * length + raw[at + length :]


def _truncate(rng: random.Random, raw: bytes) -> bytes:
    return raw[: _place(rng, raw)]


def _insert(rng: random.Random, raw: bytes) -> bytes:
    at = _place(rng, raw)
    return raw[:at] + rng.randbytes(rng.choice((1, 3, 100))) + raw[at:]


def _repeat(rng: random.Random, raw: bytes) -> bytes:
    at, length = _place(rng, raw), rng.choice((1, 10, 200))
    return raw[:at] + raw[at : at + length] * rng.choice((2, 3, 300)) + raw[at + length :]


def _drop(rng: random.Random, raw: bytes) -> bytes:
    at = _place(rng, raw)
    return raw[:at] + raw[at + rng.choice((1, 10, 200)) :]


_BINARY: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _flip, _flip, _set, _truncate, _insert, _repeat, _drop
)  # fmt: skip


def _odd(rng: random.Random) -> bytes:
    return rng.choice(ODD).encode("utf-8", "surrogateescape")


def _cell(rng: random.Random, raw: bytes) -> bytes:
    """Put something odd in the place of a word."""
    words = list(re.finditer(rb"[^\s,;=\"<>\[\]]+", raw))
    if not words:
        return _odd(rng)
    word = rng.choice(words)
    return raw[: word.start()] + _odd(rng) + raw[word.end() :]


def _lines(rng: random.Random, raw: bytes) -> bytes:
    """Swap, double or drop lines, or put in an odd one."""
    lines = raw.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(4)
    if change == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif change == 1:
        lines.insert(i, lines[j])
    elif change == 2:
        del lines[i]
    else:
        lines.insert(i, rng.choice((b"", b"#", b"\x00", _odd(rng), b"," * 2000, b"\xff\xfe")))
    return b"\n".join(lines)


def _columns(rng: random.Random, raw: bytes) -> bytes:
    """Swap, double or drop a column, or change what separates them."""
    mark = rng.choice((b",", b" ", b"\t"))
    rows = [line.split(mark) for line in raw.split(b"\n")]
    i, j, change = rng.randrange(4), rng.randrange(4), rng.randrange(4)
    for row in rows:
        if len(row) > max(i, j):
            if change == 0:
                row[i], row[j] = row[j], row[i]
            elif change == 1:
                row.insert(i, row[j])
            elif change == 2:
                del row[i]
    return (rng.choice((b";", b"\t", b" ")) if change == 3 else mark).join(
        b"\n".join(mark.join(row) for row in rows).split(mark)
    )


def _nest(rng: random.Random, raw: bytes) -> bytes:
    """Put in brackets nested deeply, or a key of very many parts."""
    depth, (left, right) = rng.choice((50, 5000)), rng.choice(("[]", "{}", "()", "<>", ("a.", "")))
    at = rng.choice([0, len(raw), *(found.end() for found in re.finditer(rb"[=:\n]", raw))])
    return raw[:at] + (left * depth + "1" + right * depth).encode() + raw[at:]


_TEXT: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _cell, _cell, _cell, _lines, _columns, _nest
)  # fmt: skip


# ------------------------------------------------------------------------- options

#: A command that works, for each command, to which odd options are added.
WORKING = {
    "explain": ["s.npz", "--probe", "2"],
    "example": ["faces", "--system", "deep", "--out", "new.npz", "--force"],
    "threshold": ["s.npz", "--folds", "3", "--repeats", "2"],
    "compare": ["s.npz", "t.npz", "--replicates", "100"],
    "report": ["s.npz", "--out", "new", "--interval", "none", "--folds", "0"],
    "gom": ["s.npz", "--protocol", "viper"],
    "zoo": ["s.npz", "--permutations", "9"],
    "groups": ["s.npz", "--by", "g", "--columns", "g=labels"],
    "fuse": ["s.npz", "s.npz", "--name", "a", "--name", "b", "--method", "mean"],
    "tracking": ["gt.txt", "r.txt"],
    "protocols": ["card.toml"],
    "info": [],
    "convert": ["s.npz", "out.csv"],
    "simulate": ["--out", "out.npz", "--subjects", "5"],
}


def working_commands(valid: list[Input]) -> dict[str, Input]:
    """Return for each command that reads data, or describes them, one that works."""
    known = {name: raw for one in reversed(valid) for name, raw in one.files.items()}
    names = ("x.npy", "x.labels.csv", "card.toml", "gt.txt", "r.txt", "l.csv")
    files = {name: known[name] for name in names}
    files |= {"s.npz": valid[0].files["s.npz"], "t.txt": b"1\n2\n"}
    files["t.npz"] = files["s.npz"]
    files["v.txt"] = b"a1 a2 0.9\na1 b1 0.4\nb1 a2 0.6\n"
    files["v1.txt"] = b"1 a1 a2\n0 a1 b1\n0 b1 a2\n"
    files["v2.txt"] = b"a1 c 0.1\na1 d 0.4\na2 c 0.2\na2 d 0.5\nb1 c 0.3\nb1 d 0.2\n"
    return {
        name: Input(f"options of {name}", files, [name, *WORKING.get(name, ["s.npz"])])
        for name in COMMANDS
        if name != "demo"  # it reads nothing, and takes long
    }


def odd_options(rng: random.Random, valid: list[Input]) -> Input:
    """Return a command with one to three odd options, or an odd argument."""
    working = working_commands(valid)
    name = rng.choice(list(working))
    args = list(working[name].args)
    if rng.random() < 0.1:
        args[1:2] = [rng.choice((*ODD, *_PATHS))]
    command = root.get_command(click.Context(root), name)
    assert command is not None
    options = [param for param in command.params if isinstance(param, click.Option)]
    for option in rng.sample(options, min(len(options), rng.choice((1, 1, 2, 3)))):
        if option.is_flag or option.name == "help":
            args.append(option.opts[0])
            continue
        values: list[str] = [*ODD, *_PATHS]
        if isinstance(option.type, click.Choice):
            values = [*option.type.choices] * 9 + values
        args += [option.opts[0], rng.choice(values)]
    if rng.random() < 0.05:
        args.append(rng.choice((*ODD, "--nope", "--far", "-x", "--seed=" + rng.choice(ODD))))
    return Input(working[name].reader, working[name].files, args)


# ------------------------------------------------------------------------- full disks


def writers() -> dict[str, list[str]]:
    """Return a command that writes scores in each format, and one for each other kind of output."""
    found = {f"out{x}": ["convert", "s.npz", f"out{x}"] for x in WRITTEN}
    return found | {
        "simulated.npz": ["simulate", "--out", "simulated.npz", "--subjects", "20"],
        "out": ["run", "s.npz", "--out", "out"],
        "page.html": ["run", "s.npz", "--report", "page.html"],
        "fused.npz": ["fuse", "s.npz", "s.npz", "--name", "a", "--name", "b", "--method", "mean",
                      "--out", "fused.npz"],
    }  # fmt: skip


def full_disk(rng: random.Random, valid: list[Input]) -> Input:
    """Return a command that writes, with room for a part of it only."""
    name, args = rng.choice(list(writers().items()))
    files = {"s.npz": valid[0].files["s.npz"]}
    return Input(f"no room for {name}", files, args, room=int(10 ** rng.uniform(0, 5)))


# ------------------------------------------------------------------------- names

#: Names of files and of subjects that are also terms, numbers or words of the options; without -1,
#: which `bioeval check` takes for unknown people.
TERMS = (
    *("FAR-net", "EER", "FRR", "FMR", "FNMR of FAR", "DIR, rank 1", "mAP", "AUC", "GAR vs FAR"),
    *("genuine", "impostor", "threshold", "rank", "subject", "+1", "1e3", "--json", "any", "mean"),
)

#: Commands that print the names of systems or of subjects.
_NAMING = ("run", "explain", "threshold", "zoo", "groups", "check")


def with_terms(rng: random.Random, valid: list[Input]) -> Input:
    """Return a command on a file and on subjects whose names are terms of the field.

    Its output is that of names that mean nothing, of the same length and in the same order.
    """
    subjects = sorted(rng.sample(TERMS, 6))
    system = rng.choice([term for term in TERMS if not term.startswith("-")])
    names = {}
    for name, letter in zip((*subjects, system), "JKQVWXZ", strict=True):
        names[re.sub(r"\w", letter, name)] = name
    name = rng.choice(_NAMING)
    words = [name, *WORKING.get(name, ["s.npz"])]
    arrays = dict(np.load(io.BytesIO(valid[0].files["s.npz"])))
    inputs = []
    for labels, file in ((list(names)[:6], list(names)[6]), (subjects, system)):
        arrays["labels"] = np.repeat(labels, 3)
        args = [f"{file}.npz" if word == "s.npz" else word for word in words]
        inputs.append(Input(f"names in {name}", {f"{file}.npz": _npz(**arrays)}, args))
    plain, named = inputs
    return replace(named, same_as=plain, names=names)


def number(valid: list[Input], seed: int, index: int) -> Input:
    """Return the input of this number: the same for the same seed, always."""
    rng = random.Random(f"{seed}/{index}")
    kind = rng.random()
    if kind >= 0.97:
        return full_disk(rng, valid)
    if kind >= 0.96:
        return with_terms(rng, valid)
    return odd_options(rng, valid) if kind < 0.25 else damaged(rng, rng.choice(valid))

"""The files of a source as one relation, on DuckDB."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from anonymizer.compile import Sql, Table, ident
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import SourceError
from anonymizer.policy import Policy
from anonymizer.policy.paths import name_text
from anonymizer.policy.reading import Reading
from anonymizer.source.conversion import needs_copy, of_copy, refuse_total, write_copy
from anonymizer.source.files import file_relation
from anonymizer.source.snapshot import Relation


def source_files(policy: Policy) -> tuple[Path, ...]:
    """The files of a policy's source: one, or those that its pattern matches, in order."""
    return matching(policy.source_path)


def matching(path: Path) -> tuple[Path, ...]:
    """A file, or those that a pattern matches, in order; the path itself if none does."""
    if path.exists() or not set(str(path)) & set("*?["):
        return (path.resolve(),)
    found = (Path(name) for name in glob.glob(str(path), recursive=True))  # noqa: PTH207
    return tuple(sorted(file.resolve() for file in found if file.is_file())) or (path,)


def read_files(
    engine: DuckDBEngine,
    files: Sequence[Path],
    read: Reading | None,
    target: Table,
    where: str,
    *,
    texts: bool = False,
) -> Relation:
    """Files of one form as one relation. `target`: a table for the rows that the engine cannot read
    where they are: text in another encoding, sheets. `texts`: all cells as text. Raises SourceError
    for a file that is not one table, and for files with other columns than the first.
    """
    found: list[Sql] = []
    copied: list[Table] = []
    for number, file in enumerate(files):
        if where == "source.file":
            refuse_total(file, read, where)
        if needs_copy(file, read):
            own = Table(f"{target.name}_{number}", target.schema, target.catalog)
            with _copied(engine, file, read, where) as copy:
                as_csv = of_copy(file, read)
                relation = file_relation(copy, engine.raw, where, as_csv, texts=texts)
                engine.raw(f"create or replace table {ident(own)} as from {relation}", where)
            found.append(ident(own))
            copied.append(own)
        else:
            found.append(file_relation(file, engine.raw, where, read, texts=texts))
    if len(found) == 1:
        return Relation(found[0], *copied)
    named = [file.name for file in files]
    _refuse_unlike(named, [engine.describe(one.text, where) for one in found], where)
    together = " union all by name ".join(f"from {one}" for one in found)
    if copied:
        engine.raw(f"create or replace table {ident(target)} as {together}", where)
        return Relation(ident(target), target)
    return Relation(Sql(f"({together}) as files"))


def _refuse_unlike(
    files: Sequence[str], columns: Sequence[Sequence[tuple[str, str]]], where: str
) -> None:
    """Raise SourceError for files that have other columns, or types, than the first."""
    first = dict(columns[0])
    for file, described in zip(files[1:], columns[1:], strict=True):
        found = dict(described)
        odd = [name for name in {**first, **found} if first.get(name) != found.get(name)]
        if odd:
            said = f"has, in {file}, another column or type than in {files[0]}: {name_text(odd[0])}"
            hint = "state them in source.read.types, or read the files apart"
            raise SourceError.at(where, said, hint=hint)


@contextmanager
def _copied(engine: DuckDBEngine, file: Path, read: Reading | None, where: str) -> Iterator[Path]:
    """A copy of a file that the engine can read, in a private folder, for as long as it is read."""
    folder = engine.parts
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(TemporaryDirectory()))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy = folder / "source.csv"
        stack.callback(copy.unlink, missing_ok=True)
        write_copy(file, read, copy, where)
        yield copy

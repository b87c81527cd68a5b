"""Data about earlier releases for a run that continues them, and keyed digests of persons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anonymizer.compile import ident, lit
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.ledger.compare import group_series
from anonymizer.ledger.entries import entries
from anonymizer.ledger.protected_columns import CLASS, identity, marks
from anonymizer.ledger.record import beside_server, hand_over
from anonymizer.ledger.store import (
    DICTIONARY,
    DIGESTS,
    GROUPS,
    HISTORY,
    HISTORY_COMMON,
    HISTORY_COUNTS,
    HISTORY_RELEASES,
    HISTORY_TEXTS,
    HISTORY_VALUES,
    MEMBERS,
    RELEASES,
    SERIES,
    SIGNATURES,
    attached,
    bound,
    is_ledger,
    read_key,
)
from anonymizer.policy import Policy
from anonymizer.policy.values import table_parts
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Step

# Data about earlier releases for a run that continues them, copied into scratch tables.
#
# For every person the latest release is used: its signature of values (m-invariance), or the
# lineage of its class (append-only), with the person's group in the series, how many are in it, and
# whether the last release of this view has the person (`latest`).


KNOWN = "list_sort(list_distinct(signature))"
"""A signature as a set: the ledger may list a value twice."""
EMPTY = (
    (
        HISTORY,
        "person uhugeint, lineage bigint, signature bigint, since integer,"
        " grp bigint, persons bigint, latest integer",
    ),
    (HISTORY_COMMON, "grp bigint, facet varchar, text varchar"),
    (HISTORY_COUNTS, "grp bigint, facet varchar, text varchar, n bigint"),
    (HISTORY_RELEASES, "releases bigint, since_placed bigint"),
    (HISTORY_VALUES, "signature bigint, value bigint"),
    (HISTORY_TEXTS, "value bigint, text varchar"),
)


HISTORY_TABLES = tuple(table for table, _ in EMPTY)


def load_history(
    engine: DuckDBEngine, ledger: Path, name: str, column: str | None, ruled: Sequence[str] = ()
) -> None:
    """Fill the history tables of scratch; `name`: of the view; `column`: the sensitive column with
    signatures; `ruled`: columns whose values a group has to keep in common over all releases.
    """
    for table, columns in EMPTY:
        engine.raw(f"create or replace table {ident(table)} ({columns})", "ledger")
    if not ledger.exists():
        return
    with attached(engine, ledger, read_only=True):
        if is_ledger(engine):
            _load(engine, name, column or "", ruled)


def _load(engine: DuckDBEngine, name: str, column: str, ruled: Sequence[str]) -> None:
    found = entries(engine)
    if not found:
        return
    numbers = [entry.release for entry in found]
    own = [entry.release for entry in found if _last_part(entry.view) == _last_part(name)]
    group_series(engine, numbers, several=any(entry.several for entry in found), new=None)
    engine.raw(
        f"insert into {ident(HISTORY)}"
        " with latest as (select person, max(release) as release"
        f"  from {ident(MEMBERS)} where person is not null group by person),"
        " shown as (select m.person, min(m.lineage) as lineage,"
        f"  min(case when e.scopes[list_position(e.facets, {lit(column)})] = {lit(CLASS)}"
        f"  then m.class_id else m.buckets[list_position(e.facets, {lit(column)})] end) as grp,"
        "  m.release, min(m.since) as since"
        f"  from {ident(MEMBERS)} m join latest l on l.person = m.person and l.release = m.release"
        f"  join {ident(RELEASES)} e on e.release = m.release group by m.person, m.release),"
        f" signatures as (select release, grp, {KNOWN} as signature from {ident(SIGNATURES)}"
        f"  where facet = {lit(column)}),"
        # ids of signatures follow their content, so that they do not depend on the order of rows
        " numbered as (select signature, row_number() over (order by signature) as id"
        "  from (select distinct signature from signatures))"
        " select h.person, h.lineage, n.id, h.since, g.grp, g.persons,"
        f" cast(h.person in (select person from {ident(MEMBERS)}"
        f"  where release = {lit(max(own, default=0))}) as integer) from shown h"
        " join (select person, persons, dense_rank() over (order by grp) as grp"
        f"  from {ident(SERIES)}) g on g.person = h.person"
        " left join signatures s on s.release = h.release and s.grp = h.grp"
        " left join numbered n on n.signature = s.signature",
        "ledger",
    )
    if ruled:
        listed = ", ".join(lit(name).text for name in ruled)
        engine.raw(
            f"insert into {ident(HISTORY_COMMON)}"
            f" with grouped as (select person, dense_rank() over (order by grp) as grp"
            f"  from {ident(SERIES)}),"
            " one as (select grp, min(person) as person from grouped group by grp),"
            " placed as (select distinct o.grp, m.release, s.facet, s.signature from one o"
            f"  join {ident(MEMBERS)} m on m.person = o.person"
            f"  join {ident(SIGNATURES)} s on s.release = m.release and s.grp = m.class_id"
            f"  and s.facet in ({listed})),"
            " times as (select grp, facet, count(*) as n from placed group by grp, facet),"
            " shown as (select grp, facet, release, unnest(list_distinct(signature)) as value"
            "  from placed)"
            " select s.grp, s.facet, d.text from"
            "  (select grp, facet, value, count(*) as n from shown group by all) s"
            " join times t on t.grp = s.grp and t.facet = s.facet and t.n = s.n"
            f" join {ident(DICTIONARY)} d on d.facet = s.facet and d.value = s.value",
            "ledger",
        )
        engine.raw(
            f"insert into {ident(HISTORY_COUNTS)}"
            " with grouped as (select distinct grp as own, dense_rank() over (order by grp) as grp"
            f"  from {ident(SERIES)}),"
            " known as (select grp as own, facet, value, n"
            f"  from {ident(GROUPS)} where facet in ({listed})"
            "  qualify release = max(release) over (partition by grp, facet))"
            " select g.grp, k.facet, d.text, k.n from known k join grouped g on g.own = k.own"
            f" join {ident(DICTIONARY)} d on d.facet = k.facet and d.value = k.value",
            "ledger",
        )
    listed = ", ".join(map(str, own))
    engine.raw(
        f"insert into {ident(HISTORY_RELEASES)} select {len(own)}, count(*)"
        f" from (select unnest([{listed}]::bigint[]) as release) where release >"
        # (the last release of the view with a class that no release had before)
        f" (select coalesce(max(first), 0) from (select min(release) as first from"
        f"  {ident(MEMBERS)} where release in ({listed or 'null'}) group by lineage))",
        "ledger",
    )
    engine.raw(
        f"insert into {ident(HISTORY_VALUES)} select id, unnest(signature) from"
        " (select signature, row_number() over (order by signature) as id from"
        f" (select distinct {KNOWN} as signature from {ident(SIGNATURES)}"
        f"  where facet = {lit(column)}))",
        "ledger",
    )
    engine.raw(
        f"insert into {ident(HISTORY_TEXTS)} select value, min(text) from {ident(DICTIONARY)}"
        f" where facet = {lit(column)} group by value",
        "ledger",
    )


def _last_part(name: str) -> str:
    return table_parts(name)[-1].lower()


# Keyed digests, by which a ledger recognizes persons.


def digests_step(policy: Policy, roles: Roles, profile: TableProfile) -> Step:
    """The step that computes digests for a continued series; the ledger's key is bound in it."""
    context = {**digested(policy, roles, profile), "digests": DIGESTS}
    return Step("digests of persons", "ledger/digests", context, binds=("ledger_key",))


def digested(policy: Policy, roles: Roles, profile: TableProfile) -> dict[str, Any]:
    """The parameters of the digests of persons."""
    return {
        "snapshot": SNAPSHOT,
        "identity": identity(policy, roles, profile),
        "marks": marks(policy, roles),
    }


def prepare_history(policy: Policy, engine: Engine) -> None:
    """For a run that continues earlier releases, load their history into scratch, and bind the key
    of the digests (a temporary one if there is no ledger yet).
    """
    if not policy.continues or policy.republish is None or policy.ledger is None:
        return
    path = policy.resolve(policy.ledger).resolve()
    if "ledger_key" not in engine.binds:
        engine.binds = {**engine.binds, "ledger_key": bound(read_key(path) or "")}
    column = policy.sensitive[0] if policy.republish.m else None
    ruled = policy.protected if policy.republish.follow else ()
    if isinstance(engine, DuckDBEngine):
        load_history(engine, path, policy.publish.name, column, ruled)
        return
    with beside_server(engine, path) as home:
        load_history(home, path, policy.publish.name, column, ruled)
        hand_over(engine, home, HISTORY_TABLES)

"""The tables of a ledger, in the database that the policy names, and those of a run in scratch."""

from __future__ import annotations

from anonymizer.compile import Table, ident, work

CATALOG = "anon_ledger"
SCHEMA = "anonymizer_ledger"


def _kept(name: str) -> Table:
    return Table(name, SCHEMA, CATALOG)


RELEASES = _kept("releases")
MEMBERS = _kept("members")
SIGNATURES = _kept("signatures")
DICTIONARY = _kept("dictionary")
SCHEMAS = _kept("schemas")
ROWS = _kept("rows")
LISTING = _kept("listing")
GROUPS = _kept("group_values")

DIGESTS = work("ledger_digests")
NEW_MEMBERS = work("ledger_members")
NEW_SIGNATURES = work("ledger_signatures")
NEW_DICTIONARY = work("ledger_dictionary")
NUMBERED = work("ledger_numbered")
NEW_ROWS = work("ledger_rows")
SEEN = work("ledger_seen")
SERIES = work("ledger_series")
SPELLS = work("ledger_spells")
HISTORY = work("history")
HISTORY_VALUES = work("history_values")
HISTORY_TEXTS = work("history_texts")

CREATE = (
    f"create schema if not exists {ident(Table(SCHEMA, None, CATALOG))}",
    f"create table if not exists {ident(RELEASES)} (release integer, run_id varchar, view varchar,"
    " target varchar, policy_digest varchar, created varchar, state varchar, owner varchar,"
    " key_check varchar, secret_digest varchar, several boolean, facets varchar[],"
    " scopes varchar[], marks varchar[], persons bigint, counterfeits bigint)",
    f"alter table {ident(RELEASES)} add column if not exists person_column varchar",
    f"alter table {ident(RELEASES)} add column if not exists person_kind varchar",
    f"alter table {ident(RELEASES)} add column if not exists forms varchar[]",
    f"alter table {ident(RELEASES)} add column if not exists held bigint[]",
    f"alter table {ident(RELEASES)} add column if not exists seal varchar",
    f"alter table {ident(RELEASES)} add column if not exists opens varchar[]",
    f"create table if not exists {ident(MEMBERS)} (release integer, person uhugeint,"
    " class_id bigint, number bigint, buckets bigint[], marks uhugeint[], lineage bigint,"
    " since integer)",
    f"create table if not exists {ident(SIGNATURES)} (release integer, facet varchar, grp bigint,"
    " signature bigint[])",
    f"create table if not exists {ident(DICTIONARY)} (facet varchar, value bigint, text varchar)",
    f"create table if not exists {ident(SCHEMAS)} (release integer, k integer, events integer,"
    " rows boolean, tables varchar[], keys varchar[], columns varchar[])",
    f"create table if not exists {ident(ROWS)} (release integer, person uhugeint, source varchar,"
    " by_key uhugeint, content uhugeint, cells uhugeint)",
    f"create table if not exists {ident(LISTING)} (listing varchar)",
    f"create table if not exists {ident(GROUPS)} (release integer, grp uhugeint, facet varchar,"
    " value bigint, n bigint)",
)
"""`members`: one row per published row; `person` is NULL for a counterfeit. `marks` are digests of
published values that are nearly unique; `since` is the release from which on a person's signature
was kept (0: no promise of that kind was made). `buckets` has the group of every facet, the class of
those whose values were not dealt; NULL where none was. `signatures`: the values of a class or
bucket, under their numbers in `dictionary`, some of them twice; all of them stand in the release
as well. `schemas`: a release of several tables, with what it promises against those who know rows;
of each table besides that of the persons, the kind of its key (NULL without one) and its event
columns. `rows`: one line per published row of those tables that somebody may know, found again by
the digest of its key or of its person and true events; equal `cells`, a digest by the run's secret,
say that two rows of the release look the same. `held`: what the other tables hold of a release, in
numbers. `opens`: the columns that a release publishes as they are. `seal`: a keyed digest of all
of that, and of the entry. `group_values`: of persons with the same classes in all releases so far,
how many have each value; the last release that changed it counts. `listing`: one keyed digest of
the numbers and runs of all releases."""

"""Faults to plant in a correct release: what is changed, and which checks have to report it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import duckdb

Change: TypeAlias = Callable[["Tampered"], None]


@dataclass(frozen=True)
class Tampered:
    """A release file that is open for writing."""

    connection: duckdb.DuckDBPyConnection
    rows: str
    """The frozen table, quoted."""

    def do(self, text: str) -> None:
        self.connection.execute(text.replace("{rows}", self.rows))

    def one(self, text: str) -> str:
        """A single value of the release, as text."""
        found = self.connection.execute(text.replace("{rows}", self.rows)).fetchone()
        assert found is not None
        return str(found[0])


@dataclass(frozen=True)
class Fault:
    """A change of one release that some checks must report, by name."""

    release: str
    expected: frozenset[tuple[str, str | None]]
    change: Change


FAULTS: dict[str, Fault] = {}


def fault(release: str, *expected: str | tuple[str, str]) -> Callable[[Change], Change]:
    """Enter a fault; a check is named alone or with its column."""
    named = frozenset((one, None) if isinstance(one, str) else one for one in expected)

    def enter(change: Change) -> Change:
        FAULTS[change.__name__] = Fault(release, named, change)
        return change

    return enter


# classes ----------------------------------------------------------------------------------------


@fault("mondrian", "k_anonymity", "k_anonymity_tuples")
def a_class_below_k(file: Tampered) -> None:
    file.do(
        "delete from {rows} where class_id = 1 and rowid not in"
        " (select rowid from {rows} where class_id = 1 limit 3)"
    )


@fault("mondrian", "k_anonymity", "dense")
def a_row_on_its_own(file: Tampered) -> None:
    file.do(
        "update {rows} set class_id = 1000, age = '99'"
        " where rowid = (select min(rowid) from {rows})"
    )


@fault("mondrian", "k_anonymity_tuples", "class_cells")
def a_class_with_two_tuples(file: Tampered) -> None:
    file.do("update {rows} set age = '[1, 99]' where rowid = (select min(rowid) from {rows})")


@fault("mondrian", "k_anonymity")
def a_class_number_parted_in_two(file: Tampered) -> None:
    # the tuples still are large enough: only the numbers tell
    file.do(
        "update {rows} set class_id = (select max(class_id) + 1 from {rows})"
        " where rowid = (select min(rowid) from {rows})"
    )


@fault("alike", ("cells_alike", "seen"))
def a_class_whose_cell_does_not_follow(file: Tampered) -> None:
    file.do(
        "update {rows} set seen = '2020-01-01' where class_id = (select min(class_id) from {rows}"
        " where city in (select city from {rows} group by 1 having count(distinct class_id) > 1))"
    )


@fault("mondrian", "class_present")
def a_row_without_a_class(file: Tampered) -> None:
    file.do("update {rows} set class_id = null where rowid = (select min(rowid) from {rows})")


@fault("mondrian", "class_cells")
def two_classes_under_one_number(file: Tampered) -> None:
    file.do("update {rows} set class_id = 1 where class_id = 2")


@fault("mondrian", ("dense", "class_id"))
def a_gap_in_the_numbers_of_classes(file: Tampered) -> None:
    file.do("update {rows} set class_id = class_id + 1 where class_id > 1")


@fault("typed", "person_class")
def a_person_in_two_classes(file: Tampered) -> None:
    file.do(
        "update {rows} set person_id = (select min(person_id) from {rows} where class_id = 1)"
        " where rowid = (select min(rowid) from {rows} where class_id = 2)"
    )


@fault("typed", "person_present")
def a_row_of_nobody(file: Tampered) -> None:
    file.do("update {rows} set person_id = null where rowid = (select min(rowid) from {rows})")


@fault("typed", "k_anonymity", "ir_k", ("ir_alpha_beta", "disease"))
def a_class_of_one_person(file: Tampered) -> None:
    file.do(
        "update {rows} set person_id = (select min(person_id) from {rows} where class_id = 1)"
        " where class_id = 1"
    )


# sensitive values -------------------------------------------------------------------------------


@fault(
    "mondrian",
    *[(name, "disease") for name in ("distinct_l", "entropy_l", "recursive_cl", "alpha")],
    ("t_closeness", "disease"),
)
def one_value_in_a_class(file: Tampered) -> None:
    file.do("update {rows} set disease = 'flu' where class_id = 1")


@fault(
    "mondrian",
    *[(name, "disease") for name in ("distinct_l", "entropy_l", "recursive_cl", "alpha")],
    ("beta_likeness", "disease"),
)
def no_value_in_a_class(file: Tampered) -> None:
    file.do("update {rows} set disease = null where class_id = 1")


@fault("mondrian", ("beta_likeness", "disease"))
def a_rare_value_gathered_in_a_class(file: Tampered) -> None:
    file.do("update {rows} set disease = 'gout' where disease = 'ulcer'")
    file.do(
        "update {rows} set disease = 'ulcer' where rowid in"
        " (select rowid from {rows} where class_id = 1 order by disease, rowid limit 2)"
    )


@fault("mondrian", ("t_closeness", "cost"))
def the_extreme_values_in_a_class(file: Tampered) -> None:
    file.do("update {rows} set cost = 10")
    file.do("update {rows} set cost = 1000000 where class_id = 1")


@fault("typed", ("eir_l", "disease"))
def one_value_that_everybody_of_a_class_has(file: Tampered) -> None:
    file.do(
        "update {rows} set disease = 'hiv' where class_id = 1 and rowid in"
        " (select min(rowid) from {rows} group by person_id)"
    )


@fault("typed", ("ir_alpha_beta", "disease"))
def a_person_with_most_of_a_classs_rows(file: Tampered) -> None:
    file.do(
        "insert into {rows} select r.* from {rows} r, range(40)"
        " where person_id = (select min(person_id) from {rows} where class_id = 1)"
    )


# cells ------------------------------------------------------------------------------------------


def _cell(column: str, text: str, name: str, *also: str | tuple[str, str]) -> None:
    """A whole class shows this cell: nothing but the grammar tells."""

    @fault("mondrian", ("cell_form", column), *also)
    def change(file: Tampered) -> None:
        quoted = text.replace("'", "''")
        file.do(f"update {{rows}} set {column} = '{quoted}' where class_id = 1")

    FAULTS[name] = FAULTS.pop("change")


_cell("age", "[40, 30]", "bounds_the_wrong_way_round")
_cell("age", "[30, 30]", "bounds_that_are_equal")
_cell("age", "034", "a_number_with_a_leading_zero")
_cell("age", "[30, 39", "an_interval_that_does_not_close")
_cell("age", "30 or NULL or NULL", "null_twice")
_cell("age", "", "an_empty_cell")
_cell("city", "{Köln, Bonn}", "an_unsorted_set")
_cell("city", "{Bonn, Bonn}", "a_member_twice")
_cell("city", "{Bonn}", "a_set_of_one")
_cell("city", "a, b", "a_member_without_its_quotes")
_cell("city", '"Bonn"', "quotes_that_are_not_needed")
_cell("city", "{Bonn,Köln}", "a_set_without_spaces")
_cell("seen", "[2020-02-30, 2020-03-01]", "a_day_that_is_not_in_the_calendar")
_cell("seen", "[2020-01-05, 2020-01-04]", "dates_the_wrong_way_round")


@fault("mondrian", ("cell_star", "city"))
def a_set_that_covers_the_domain(file: Tampered) -> None:
    file.do("update {rows} set city = '{Aachen, Bonn, Köln, Trier, \"a, b\"}' where class_id = 1")
    file.do("update {rows} set city = '{Aachen, Bonn}' where city like '*%'")


@fault("typed", ("cell_form", "age"))
def typed_bounds_the_wrong_way_round(file: Tampered) -> None:
    file.do("update {rows} set age_lo = age_hi + 1 where class_id = 1")


@fault("typed", ("cell_form", "seen"))
def a_typed_cell_with_one_bound(file: Tampered) -> None:
    file.do("update {rows} set seen_lo = null where class_id = 1")


@fault("typed", ("cell_form", "age"))
def a_typed_cell_that_does_not_say_if_null(file: Tampered) -> None:
    file.do("update {rows} set age_nullable = null where class_id = 1")


@fault("typed", ("cell_form", "city"))
def an_unsorted_list(file: Tampered) -> None:
    file.do("update {rows} set city = ['b', 'a'] where class_id = 1")


@fault("typed", ("cell_form", "city"))
def an_empty_list(file: Tampered) -> None:
    file.do("update {rows} set city = [] where class_id = 1")


# buckets ----------------------------------------------------------------------------------------


@fault("lgb", ("distinct_l", "disease"), ("bucket_unique", "disease"))
def a_value_twice_in_a_bucket(file: Tampered) -> None:
    file.do("update {rows} set disease = 'flu' where disease_bucket = 1")


@fault("lgb", ("distinct_l", "disease"))
def a_row_in_another_bucket(file: Tampered) -> None:
    file.do(
        "update {rows} set disease_bucket = 2 where rowid in"
        " (select rowid from {rows} where disease_bucket = 1 limit 2)"
    )


@fault("lgb", ("bucket_unique", "disease"))
def two_rows_that_swapped_buckets(file: Tampered) -> None:
    """Rows of two values trade buckets, so that each bucket gets a value that it has already."""
    one, other, a, b = file.connection.execute(
        f"""select x.rowid, y.rowid, x.disease_bucket, y.disease_bucket
            from {file.rows} x join {file.rows} y
            on x.disease <> y.disease and x.disease_bucket < y.disease_bucket
            where exists (from {file.rows} z where z.disease_bucket = x.disease_bucket
                          and z.disease = y.disease and z.rowid <> x.rowid)
            order by x.rowid, y.rowid limit 1"""
    ).fetchall()[0]
    file.do(f"update {{rows}} set disease_bucket = {b} where rowid = {one}")
    file.do(f"update {{rows}} set disease_bucket = {a} where rowid = {other}")


@fault("lgb", ("bucket_persons", "disease"))
def a_person_twice_in_a_bucket(file: Tampered) -> None:
    number = file.one("select person_id from {rows} where disease_bucket = 1 order by 1 limit 1")
    file.do(f"update {{rows}} set disease_bucket = 1 where person_id = {number}")


@fault("lgb", ("cell_or_bucket", "age"))
def an_interval_in_a_bucket(file: Tampered) -> None:
    file.do(
        "update {rows} set age = '[20, 30]' where rowid ="
        " (select min(rowid) from {rows} where age_bucket is not null)"
    )


@fault("lgb", "class_flags", "k_anonymity_tuples")
def a_bucketized_cell_in_a_generalized_class(file: Tampered) -> None:
    file.do(
        "update {rows} set age = '22', age_bucket = 1 where rowid ="
        " (select min(rowid) from {rows} where age_bucket is null)"
    )


@fault("lgb", ("cell_or_bucket", "disease"))
def a_sensitive_cell_without_a_bucket(file: Tampered) -> None:
    file.do("update {rows} set disease_bucket = null where rowid = 0")


@fault("lgb", ("t_closeness", "cost"))
def a_bucket_far_from_its_column(file: Tampered) -> None:
    file.do("update {rows} set cost = 77 where cost_bucket = 1")


@fault("lgb", ("dense", "age_bucket"))
def a_gap_in_the_numbers_of_buckets(file: Tampered) -> None:
    file.do("update {rows} set age_bucket = age_bucket + 5 where age_bucket > 2")


@fault("lgb_typed", ("cell_or_bucket", "age"))
def a_value_beside_its_bounds(file: Tampered) -> None:
    file.do(
        "update {rows} set age_value = 22 where rowid ="
        " (select min(rowid) from {rows} where age_bucket is null)"
    )


@fault("lgb_typed", ("cell_or_bucket", "city"))
def a_list_beside_its_value(file: Tampered) -> None:
    file.do(
        "update {rows} set city = ['Bonn'] where rowid ="
        " (select min(rowid) from {rows} where city_bucket is not null)"
    )


@fault("lgb_typed", ("cell_or_bucket", "age"))
def a_value_that_may_be_null_as_well(file: Tampered) -> None:
    file.do(
        "update {rows} set age_nullable = true where rowid ="
        " (select min(rowid) from {rows} where age_bucket is not null)"
    )


# groups -----------------------------------------------------------------------------------------


@fault("msb", ("level_l", "disease"))
def a_value_too_often_in_a_group(file: Tampered) -> None:
    file.do("update people_anonymous_disease set disease = 'hiv' where group_id = 1")


@fault("msb", ("level_l", "disease"))
def a_group_without_any_value(file: Tampered) -> None:
    file.do("update people_anonymous_disease set disease = null where group_id = 1")


@fault("msb", ("group_sizes", "disease"))
def a_value_that_is_gone(file: Tampered) -> None:
    file.do("delete from people_anonymous_disease where rowid = 0")


@fault("msb", ("group_sizes", "cost"))
def a_value_in_another_group(file: Tampered) -> None:
    file.do(
        "update people_anonymous_cost set group_id = 2 where rowid ="
        " (select min(rowid) from people_anonymous_cost where group_id = 1)"
    )


@fault("msb", "person_group")
def a_person_in_two_groups(file: Tampered) -> None:
    file.do(
        "update {rows} set person_id = (select min(person_id) from {rows} where group_id = 1)"
        " where rowid = (select min(rowid) from {rows} where group_id = 2)"
    )


@fault("msb", "group_present")
def a_row_without_a_group(file: Tampered) -> None:
    file.do("update {rows} set group_id = null where rowid = 0")


@fault("msb", "columns")
def group_sizes_that_are_told(file: Tampered) -> None:
    file.do("alter table people_anonymous_disease add column n integer")


# columns, types, view ---------------------------------------------------------------------------


@fault("mondrian", "columns", "view")
def a_column_that_came_later(file: Tampered) -> None:
    file.do("drop view people_anonymous")
    file.do("alter table {rows} add column name varchar default 'Ada'")
    file.do(
        "create view people_anonymous as select class_id, age, city, seen, disease, cost"
        " from main.{rows}"
    )


@fault("mondrian", "types")
def a_column_of_another_type(file: Tampered) -> None:
    file.do("alter table {rows} alter cost type bigint")


@fault("mondrian", "view")
def a_view_that_computes(file: Tampered) -> None:
    file.do(
        "create or replace view people_anonymous as select class_id, age, city, seen,"
        " upper(disease) as disease, cost from main.{rows}"
    )


@fault("mondrian", "view")
def a_view_that_filters(file: Tampered) -> None:
    file.do(
        "create or replace view people_anonymous as select class_id, age, city, seen,"
        " disease, cost from main.{rows} where class_id > 1"
    )


@fault("mondrian", "view")
def a_view_that_crosses_its_columns(file: Tampered) -> None:
    file.do(
        "create or replace view people_anonymous as select class_id, age, seen as city,"
        " city as seen, disease, cost from main.{rows}"
    )


@fault("mondrian", "view")
def a_view_of_another_table(file: Tampered) -> None:
    file.do("create table other as from {rows}")
    file.do(
        "create or replace view people_anonymous as select class_id, age, city, seen,"
        " disease, cost from main.other"
    )


@fault("mondrian", "view")
def a_view_that_reads_a_file(file: Tampered) -> None:
    file.do(
        "create or replace view people_anonymous as select class_id, age, city, seen,"
        " (select content from read_text('/etc/hostname')) as disease, cost from main.{rows}"
    )

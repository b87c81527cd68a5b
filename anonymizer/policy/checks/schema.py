"""Checks across the parts of a policy of several tables; all problems are raised together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy import kinds
from anonymizer.policy.checks import columns
from anonymizer.policy.checks import models as of_guarantees
from anonymizer.policy.checks import release_options as of_release
from anonymizer.policy.checks.models import unnested
from anonymizer.policy.checks.release_options import is_source, target
from anonymizer.policy.columns import MASKS
from anonymizer.policy.fields import PublishedName, cell_names, is_reserved
from anonymizer.policy.hierarchies import Frequency, Order, Prefix, Suffix, Taxonomy
from anonymizer.policy.paths import closest, column_path, name_text, path_text, table_path, within
from anonymizer.policy.problems import Broken

if TYPE_CHECKING:
    from anonymizer.policy.schema import SchemaColumn, SchemaFields, SchemaTable


# Checks of columns: those of a single table, and the roles that each table may have.


ROLES = {
    **columns.ROLES,
    "hierarchy": (("quasi", "event", "sensitive"), None),
    "protect": (("sensitive", "event"), "role: sensitive"),
    "acknowledge": (("keep", "sensitive", "quasi", "event"), None),
    "nulls": (("quasi", "event", "sensitive", "keep"), None),
    "null_as_value": (("sensitive",), None),
    "top_code": (("quasi", "event", "sensitive", "round"), "role: top_code, with at"),
    "bottom_code": (("quasi", "event", "sensitive", "round"), "role: bottom_code, with at"),
    "zip3": (("quasi", "event", "sensitive"), "role: zip3"),
    "round": (("quasi", "event", "sensitive"), "role: round, with to"),
}


def each_table(policy: SchemaFields) -> Iterator[Problem]:
    """The checks of the columns of a single table, for each table."""
    for name, table in policy.tables.items():
        yield from within(name, _of_table(table, policy.engine))
        yield from within(name, of_guarantees.unweighted(table, policy.algorithm))


def _of_table(table: SchemaTable, engine: str) -> Iterator[Problem]:
    yield from columns.some_column(table)
    yield from columns.same_but_for_case(table, engine)
    yield from columns.hierarchy_fits_kind(table)
    yield from columns.distance_has_order(table)
    yield from unnested(table, whole=False, otherwise="")


def options_fit_role(policy: SchemaFields) -> Iterator[Problem]:
    """Options are only set for roles that use them."""
    for name, table in policy.tables.items():
        for column, given in table.columns.items():
            yield from within(name, columns.misplaced(column, given, ROLES))


def masks(policy: SchemaFields) -> Iterator[Problem]:
    """Every masking role has its required options."""
    for name, table in policy.tables.items():
        for column, given in table.columns.items():
            yield from within(name, columns.of_column(column, given))
            if given.per is not None and given.per not in table.columns:
                said = "is not a column listed under columns"
                path = column_path(column, "per")
                yield from within(name, [Problem(path, said, hint="list it there")])
            if given.safe_harbor is not None:
                said = "is an option of preset: safe_harbor, which is for one table"
                yield from within(name, [Problem(column_path(column, "safe_harbor"), said)])
            if given.of is not None and given.masks:
                said = f"cannot be combined with {given.masks[0][0]} yet"
                path = column_path(column, "of")
                yield from within(name, [Problem(path, said, hint="round it in source.query")])
    yield from columns.shifted_alike(
        (
            path_text(("tables", name, "columns", column)),
            (name, given.per) if given.per else None,
            given,
        )
        for name, table in policy.tables.items()
        for column, given in table.columns.items()
        if given.role == "shift"
    )


def roles_fit_table(policy: SchemaFields) -> Iterator[Problem]:
    """The role quasi is for the persons' table, the role event for the others."""
    if policy.person not in policy.tables:
        return
    for name, table in policy.tables.items():
        one = name == policy.person
        yield from within(name, _of_persons(table) if one else _of_rows(table, policy.person))
        if not one:
            yield from within(name, _lifted_names(policy, name))


def _of_persons(table: SchemaTable) -> Iterator[Problem]:
    for name, column in table.columns.items():
        if column.role == "event":
            said = "is event, and this table has one row per person"
            yield Problem(column_path(name, "role"), said, hint="role: quasi")
        if column.of is not None:
            said = "is for other tables: these columns are the person's already"
            yield Problem(column_path(name, "of"), said, hint="leave of out")


def _of_rows(table: SchemaTable, persons: str) -> Iterator[Problem]:
    for name, column in table.columns.items():
        lifted = column.role == "quasi" and column.of is not None
        if column.of is not None and not lifted:
            said = f"does not apply to a column of the role {column.role}"
            yield Problem(column_path(name, "of"), said, hint="role: quasi, or leave of out")
        elif column.role == "quasi" and not lifted:
            said = f"is quasi, which stands in the table of the persons, {name_text(persons)}"
            hint = "role: event, which may differ from row to row; or of: person, if it does not"
            yield Problem(column_path(name, "role"), said, hint=hint)
        if column.nulls == "suppress" and not lifted:
            said = "would suppress persons for single rows, which is not offered"
            yield Problem(column_path(name, "nulls"), said, "own_class, forbid")


def _lifted_names(policy: SchemaFields, table: str) -> Iterator[Problem]:
    """The name of a lifted column differs from those of the persons' columns."""
    taken = {name.casefold(): policy.person for name in policy.tables[policy.person].columns}
    for other in list(policy.tables)[: list(policy.tables).index(table)]:
        if other != policy.person:
            taken |= {name.casefold(): other for name in policy.tables[other].lifted}
    for name in policy.tables[table].lifted:
        if name.casefold() in taken:
            said = f"is a column of {name_text(taken[name.casefold()])} as well"
            yield Problem(column_path(name, "of"), said, hint="rename it in source.query")


def quasi_needed(policy: SchemaFields) -> Iterator[Problem]:
    """There is at least one quasi-identifier to form classes of persons."""
    persons = policy.tables.get(policy.person)
    if persons is not None and persons.columns and not (persons.quasi or policy.lifted):
        said = "has no quasi column, and there is nothing to make classes of persons by"
        hint = "give the columns that others may know role: quasi"
        yield Problem(table_path(policy.person, "columns"), said, hint=hint)


# Checks of rules on event columns, whose published cells are nodes of a hierarchy.


RULE = "eir_l"
"""The rule that can be judged in the worst case that generalized cells allow."""
CATEGORIES = "is a rule on values of categories, and the cells of this column are intervals"


def rules_of_events(policy: SchemaFields) -> Iterator[Problem]:
    """A rule on an event column can be judged by its generalized cells."""
    for name, table in policy.tables.items():
        for column in table.events:
            given = table.columns[column]
            if given.protect is not None:
                yield from within(name, _of_column(column, given))


def _of_column(name: str, column: SchemaColumn) -> Iterator[Problem]:
    assert column.protect is not None
    hint = "protect: {eir_l: 3}; or role: sensitive, if nobody can know it of a row"
    asked = [rule for rule, value in column.protect if value is not None]
    for rule in asked:
        if rule != RULE:
            said = "cannot be judged of an event, whose values are generalized"
            yield Problem(column_path(name, "protect", rule), said, RULE, hint)
    if RULE not in asked:
        return
    path = column_path(name, "protect", RULE)
    spec = column.hierarchy
    otherwise = "role: sensitive, if nobody can know it of a row"
    if column.kind in ("numeric", "date"):
        yield Problem(path, CATEGORIES, hint=otherwise)
    elif isinstance(spec, Frequency | Order):
        said = f"cannot be judged of cells that are sets of values, as {spec.builder} makes them"
        yield Problem(path, said, hint="hierarchy: {file: codes.csv}, or builder: prefix")
    elif spec is not None and not isinstance(spec, Prefix | Suffix | Taxonomy):
        yield Problem(path, CATEGORIES, hint=otherwise)


def not_combined(policy: SchemaFields) -> Iterator[Problem]:
    """A rule on an event column is judged in whole classes of one release."""
    ruled = [(name, c) for name, table in policy.tables.items() for c in table.ruled_events]
    if not ruled:
        return
    listed = ", ".join(f"{name}.{column}" for name, column in ruled)
    otherwise = f"or leave out {table_path(ruled[0][0], 'columns', ruled[0][1], 'protect')}"
    if policy.privacy.knows.sensitive:
        said = (
            f"is not offered with a rule on an event column ({listed}): among those who remain, the"
            " known rows would have to be told from the others"
        )
        yield Problem("privacy.knows.sensitive", said, "false", otherwise)
    if policy.ledger is not None:
        said = (
            f"is not offered with a rule on an event column ({listed}): what the generalized cells"
            " of two releases tell together is not compared"
        )
        yield Problem("ledger", said, hint=f"leave ledger out, {otherwise}")


# Checks of guarantees: k is stated, and `knows` refers to something in the policy.


OF_PERSONS = {"k_anonymity", "ir_k"}
"""Guarantees about persons, not values."""


def k_needed(policy: SchemaFields) -> Iterator[Problem]:
    """Every guarantee for several tables needs k persons."""
    if policy.privacy.k_anonymity is None:
        said = "is missing: with several tables at least k persons share what is known"
        hint = "privacy: {k_anonymity: 5}, or preset: internal"
        yield Problem("privacy.k_anonymity", said, hint=hint)


def something_to_know(policy: SchemaFields) -> Iterator[Problem]:
    """`knows` refers to columns, rows and rules that the policy has."""
    knows = policy.privacy.knows
    if knows.events and policy.tables and not policy.events:
        said = "needs at least one event column"
        hint = "role: event for what somebody may know of a row"
        yield Problem("privacy.knows.events", said, "0", hint)
    if knows.rows and len(policy.tables) == 1:
        said = "needs at least one other table"
        yield Problem("privacy.knows.rows", said, "false")
    if knows.sensitive and not knows.anything:
        said = "needs events or rows that may be known"
        hint = "knows: {events: 1, sensitive: true}"
        yield Problem("privacy.knows.sensitive", said, "false", hint)
    elif knows.sensitive and not _rules(policy):
        said = "is about the rules of sensitive columns, and there is none"
        hint = "protect: {l_diversity: 3} at a sensitive column"
        yield Problem("privacy.knows.sensitive", said, "false", hint)


def _rules(policy: SchemaFields) -> bool:
    """Return whether any rule concerns the values of a sensitive column."""
    if any(table.protected for table in policy.tables.values()):
        return True
    return bool(policy.sensitive and set(policy.privacy.guarantees) - OF_PERSONS)


def as_tree(policy: SchemaFields) -> Iterator[Problem]:
    """Options of mondrian that the tree of classes of whole tuples does not support."""
    if policy.algorithm.must_refine:
        said = "gives rows better classes within one table, not with several tables"
        yield Problem("algorithm.refine", said, "auto, 0", "leave refine out")
    if policy.algorithm.must_divide:
        said = "divides one table, and not several together"
        yield Problem("algorithm.part_size", said, "auto, all", "leave part_size out")
    if not policy.algorithm.strict:
        said = "parts persons with equal quasi-identifiers, who stay together with several tables"
        yield Problem("algorithm.strict", said, "true", "leave strict out")


# Checks of keys and links: which columns they are, and that the links lead to the persons.


def persons_table(policy: SchemaFields) -> Iterator[Problem]:
    """`person` names a table, not a column as in a policy of one table."""
    if not policy.tables:
        example = "tables: {patients: {source: {table: main.patients}, columns: …}, visits: …}"
        yield Problem("tables", "is empty", hint=example)
    elif policy.person not in policy.tables:
        tables = policy.tables.items()
        of_column = [n for n, t in tables if policy.person in t.columns and not t.links]
        named = name_text(of_column[0] if of_column else next(iter(policy.tables)))
        near = None if of_column else closest(policy.person, policy.tables)
        said, allowed = "is not a table listed under tables", "the table with one row per person"
        yield Problem("person", said, allowed, near or f"person: {named}, its key is the person")


def one_link(policy: SchemaFields) -> Iterator[Problem]:
    """Only the persons' table has no link; every other table has exactly one."""
    if policy.person not in policy.tables:
        return
    persons = name_text(policy.person)
    for name, table in policy.tables.items():
        path = table_path(name, "links")
        if name == policy.person:
            if table.links:
                said = "lead away from the persons: this table has one row per person"
                yield Problem(path, said, hint="leave links out")
        elif not table.links:
            own = next((name_text(column) for column in table.unused_keys), "<own column>")
            said = "is missing: without it the rows of this table reach no person"
            yield Problem(path, said, hint=f"links: {{{own}: {persons}}}")
        elif len(table.links) > 1:
            said = "holds several links, which is not offered yet: rows reach a person by one way"
            yield Problem(path, said, "one link", "leave one link; role: drop for the other keys")


def known_tables(policy: SchemaFields) -> Iterator[Problem]:
    """Every link leads to a table of the policy."""
    for name, table in policy.tables.items():
        for column, other in table.links.items():
            if other not in policy.tables:
                hint = closest(other, policy.tables) or "links: {<own column>: <table>}"
                said = "leads to no table listed under tables"
                yield Problem(table_path(name, "links", column), said, hint=hint)


def no_circle(policy: SchemaFields) -> Iterator[Problem]:
    """Links do not form a cycle; every cycle is reported once."""
    for circle in circles(policy):
        if policy.person in circle:
            continue  # the links of the persons' table are reported
        column = next(iter(policy.tables[circle[0]].links))
        said = f"leads round in a circle: {', '.join(map(name_text, circle))}"
        hint = f"one of these tables links to {name_text(policy.person)}"
        yield Problem(table_path(circle[0], "links", column), said, hint=hint)


def circles(policy: SchemaFields) -> list[list[str]]:
    """The tables of every cycle, the first one repeated at the end."""
    found: list[list[str]] = []
    for name in policy.tables:
        way = _way(policy, name)
        circle = way[way.index(way[-1]) :]
        if len(circle) > 1 and not any(set(circle) & set(other) for other in found):
            found.append(circle)
    return found


def _way(policy: SchemaFields, start: str) -> list[str]:
    """The tables along the links from `start`, up to the first repeated one."""
    way = [start]
    while (link := policy.tables[way[-1]].link) is not None and link[1] in policy.tables:
        seen = link[1] in way
        way.append(link[1])
        if seen:
            break
    return way


def listed(policy: SchemaFields) -> Iterator[Problem]:
    """Key and links are columns of their table."""
    for name, table in policy.tables.items():
        named = [(column, ("links", column)) for column in table.links]
        keys = [(table.key, ("key",))] if table.key is not None else []
        for column, place in (*keys, *named):
            if column not in table.columns:
                free = next((f"did you mean {name_text(key)}?" for key in table.unused_keys), None)
                hint = closest(column, table.columns) or free or "list it there, as role: key"
                said = "is not a column listed under the table's columns"
                yield Problem(table_path(name, *place), said, hint=hint)


def role_of_keys(policy: SchemaFields) -> Iterator[Problem]:
    """The key of a table and its link have the role key."""
    leading = _leading(policy)
    for name, table in policy.tables.items():
        for column in table.links:
            role = table.columns[column].role if column in table.columns else "key"
            if role != "key":
                path = table_path(name, "columns", column, "role")
                yield Problem(path, f"is {role}, and the column is a link", "key", "role: key")
        if table.key is None or table.key in table.links or table.key not in table.columns:
            continue
        path = table_path(name, "columns", table.key, "role")
        role = table.columns[table.key].role
        if name in leading and role != "key":
            yield Problem(path, f"has to be key: {leading[name]}", "key", "role: key")
        elif role not in ("key", "drop", "identifier"):
            said = f"is the key of the table, and would be published by the role {role}"
            yield Problem(path, said, "key, drop, identifier", "role: key")


def one_use(policy: SchemaFields) -> Iterator[Problem]:
    """A column of the role key is either the key of its table or a link."""
    leading, round_about = _leading(policy), {name for way in circles(policy) for name in way}
    for name, table in policy.tables.items():
        if name in round_about:
            continue  # its links are reported as wrong
        if table.key is not None and table.key in table.links:
            said = f"is the link to {name_text(table.links[table.key])} as well"
            yield Problem(table_path(name, "key"), said, hint="leave key out")
        named = {*table.links, *([table.key] if table.key is not None else [])}
        missing = (name in leading and table.key is None) or (
            name != policy.person and not table.links
        )
        if missing or not named <= set(table.columns):
            continue  # a missing column is reported
        for column in table.unused_keys:
            said = "is key, and the column is neither the key of the table nor a link"
            path = table_path(name, "columns", column, "role")
            yield Problem(path, said, hint="links: {<column>: <table>}, or role: drop")


def needed(policy: SchemaFields) -> Iterator[Problem]:
    """The persons' table has a key, and so has every table that others link to."""
    leading = _leading(policy)
    for name, table in policy.tables.items():
        if table.key is None and name in leading:
            own = next((name_text(column) for column in table.unused_keys), "<column>")
            said = f"is missing: {leading[name]}"
            yield Problem(table_path(name, "key"), said, hint=f"key: {own}")


def _leading(policy: SchemaFields) -> dict[str, str]:
    """Tables that need a key, with the reason."""
    round_about = {name for way in circles(policy) for name in way}
    why = {
        other: f"{name_text(name)} links to this table"
        for name, table in policy.tables.items()
        if name not in round_about
        for other in table.links.values()
    }
    return {**why, policy.person: "it is the person"}


# Checks of the release: its target, and the names of its views and their columns.


def column_names(
    policy: SchemaFields, table: str, kinds: Mapping[str, str] | None = None
) -> Iterator[PublishedName]:
    """Every column that the view of a table may have; `kinds`: of columns with known types."""
    if table == policy.person:
        yield PublishedName("class_id", "the number of the class", None, True)
    for name, column in policy.columns_of(table).items():
        if column.role in ("quasi", "event"):
            kind, event = column.kind or (kinds or {}).get(name), column.role == "event"
            yield from cell_names(name, column, kind, policy.publish.cells, event=event)
        elif column.role in ("key", "sensitive", "keep", *MASKS):
            yield PublishedName(name, f"the {column.role} column", name, False)


BY_QUERY = "rename the column in a query as source"


def place(policy: SchemaFields) -> Iterator[Problem]:
    """The release overwrites neither its sources nor the ledger."""
    publish = policy.publish
    yield from target(publish)
    if _same(policy.ledger, publish.database):
        yield Problem("ledger", "is the same file as publish.database", hint="another file")
    for name, table in policy.tables.items():
        if _same(table.source.file, publish.database):
            said = "is the same file as publish.database"
            yield Problem(table_path(name, "source", "file"), said, hint="another file")
        view = policy.view(name)
        sources = [other.source for other in policy.tables.values()]
        if publish.database is None and any(
            is_source(source, publish, view, policy.engine) for source in sources
        ):
            said = f"the view of {name_text(name)} would have the name of a source table"
            hint = "publish: {prefix: anonymous_}, another publish.schema, or publish.database"
            yield Problem("publish.names", said, hint=hint)


def _same(file: str | None, database: str | None) -> bool:
    return file is not None and database is not None and PurePath(file) == PurePath(database)


def views(policy: SchemaFields) -> Iterator[Problem]:
    """Every view has a distinct name, also from the manifest."""
    for name in policy.publish.names:
        if name not in policy.tables:
            path = path_text(("publish", "names", name))
            said = "is not a table listed under tables"
            yield Problem(
                path, said, hint=closest(name, policy.tables) or "table: name of its view"
            )
    manifest = f"{policy.view(policy.person)}_manifest"
    first = {manifest.casefold(): "the manifest"}
    # tables that keep their name first, so that the new name is the one reported as taken
    for name in sorted(policy.tables, key=lambda table: table in policy.publish.names):
        view = policy.view(name)
        other = first.setdefault(view.casefold(), f"the view of {name_text(name)}")
        if other != f"the view of {name_text(name)}":
            renamed = name in policy.publish.names
            path = path_text(("publish", "names", name)) if renamed else table_path(name)
            said = f"would be published as {name_text(view)}, which is the name of {other}"
            yield Problem(path, said, hint=f"publish: {{names: {{{name_text(name)}: <new name>}}}}")


def clashes(
    policy: SchemaFields, kinds: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[Problem]:
    """The published columns of a table have distinct names; `kinds`, by table and column, determine
    those of typed cells.
    """
    for table in policy.tables:
        first: dict[str, PublishedName] = {}
        names = column_names(policy, table, (kinds or {}).get(table))
        # source columns first, so that the generated name is the one reported as colliding
        for one in sorted((one for one in names if one.certain), key=lambda one: one.generated):
            path = _place(policy, table, one.column)
            if is_reserved(one.name):
                said = f"would be published as {name_text(one.name)}, a name of the tool's own"
                yield Problem(path, said, hint=BY_QUERY)
            other = first.setdefault(one.name.casefold(), one)
            if one is not other and one.generated:  # else reported as a duplicate
                told = f"{_words(other)} and {_words(one)} would both be published as"
                place = _place(policy, table, other.column or other.name)
                yield Problem(place, f"{told} {name_text(one.name)}", hint=BY_QUERY)


def _place(policy: SchemaFields, table: str, column: str | None) -> str:
    """The path of a column in the policy; some of the persons' columns are in another table."""
    if column is None:
        return table_path(table, "columns")
    stands = policy.lifted.get(column, table) if table == policy.person else table
    return table_path(stands, "columns", column)


def _words(one: PublishedName) -> str:
    return f"{one.what} {name_text(one.column if one.column is not None else one.name)}"


# Checks across the parts of a policy of several tables; all run, and all problems are raised.
#
# A check that reads an invalid part is skipped, so that no mistake is reported twice.


def bounds(policy: SchemaFields) -> Iterator[Problem]:
    """Bounds that are nobody's, in the table of the persons and in events."""
    for name, table in policy.tables.items():
        nodes = "a table of events" if name != policy.person else None
        for column, of in table.columns.items():
            problems = of_release.bounds_of(column, of, policy.publish.bounds, nodes)
            yield from within(name, problems)


Check = Callable[["SchemaFields"], Iterable[Problem]]

CHECKS: tuple[tuple[Check, tuple[str, ...]], ...] = (
    (kinds.agrees, ("kind", "tables", "columns", "algorithm")),
    (persons_table, ("person", "tables", "columns")),
    (one_link, ("person", "tables", "links")),
    (known_tables, ("tables", "links")),
    (no_circle, ("tables", "links")),
    (listed, ("columns", "key", "links")),
    (role_of_keys, ("tables", "key", "links")),
    (one_use, ("person", "tables", "columns", "key", "links")),
    (needed, ("person", "tables", "key", "links")),
    (each_table, ("columns",)),
    (options_fit_role, ()),
    (masks, ("columns",)),
    (roles_fit_table, ("person", "tables")),
    (quasi_needed, ("person", "tables", "columns")),
    (k_needed, ("privacy", "preset")),
    (something_to_know, ("tables", "columns", "privacy")),
    (rules_of_events, ("tables", "columns")),
    (not_combined, ("tables", "columns", "privacy", "ledger")),
    (as_tree, ("algorithm",)),
    (of_guarantees.identity_reserved, ("tables", "columns", "privacy", "person")),
    (of_guarantees.alpha_k, ("tables", "columns", "privacy")),
    (place, ("tables", "publish", "source")),
    (views, ("person", "tables", "publish")),
    (clashes, ("person", "columns", "publish")),
    (of_release.remembered, ("republish", "ledger")),
    (bounds, ("tables", "columns", "publish")),
)
"""Each check with the sections, of the policy or of any table, that must be valid for it."""


def crosscheck(policy: SchemaFields, broken: Broken = frozenset()) -> list[Problem]:
    """Every contradiction in a policy whose parts are valid by themselves."""
    sections = set(_sections(broken))
    found: dict[Problem, None] = {}
    for check, needs in CHECKS:
        if not sections.intersection(needs):
            found.update(dict.fromkeys(check(policy)))
    return list(found)


def _sections(broken: Broken) -> Iterator[object]:
    """The names of invalid sections; a table that is invalid as a whole counts as `tables`."""
    for place in broken:
        inside = place[:1] == ("tables",) and len(place) > 2
        yield from place[2:3] if inside else place[:1]

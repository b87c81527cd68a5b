"""Converts pydantic's errors to problems: from location and type, never from the input."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from anonymizer.errors import Problem
from anonymizer.policy.algorithms import ALGORITHMS
from anonymizer.policy.hierarchies import BUILDERS
from anonymizer.policy.paths import closest, path_text
from anonymizer.policy.reading import COLUMN_TYPES
from anonymizer.policy.values import TAG, FrozenMap, Refused

Loc = tuple[Any, ...]
Broken = frozenset[Loc]
"""The invalid parts of a policy; see `field_problems`."""

NO_KEY = object()

PLAIN = {
    "missing": ("is missing", None),
    "int_type": ("must be a whole number", "without quotes and without a decimal point"),
    "float_type": ("must be a number", "without quotes"),
    "finite_number": ("must be a finite number", None),
    "bool_type": ("must be true or false", "yes, no, on and off are text in YAML 1.2"),
    "string_type": ("must be text", "put it in quotes"),
    "string_too_short": ("must not be empty", None),
    "tuple_type": ("must be a list", "write [a, b], or one item per line after a dash"),
    "too_short": ("has too few items", None),
    "too_long": ("has too many items", None),
    "invalid_key": ("is a name that is not text", "put it in quotes"),
}
ONE_COLUMN = (
    "one column; make one of several in source.query, a || '-' || b, and give it the role key"
)
MAPPINGS = {"model_type", "model_attributes_type", "dict_type"}
BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
NOUNS = {"role": "a role", "kind": "a kind of column", "engine": "an engine", "preset": "a preset"}
EXAMPLES = {
    "version": "begin with version: 1",
    "source": "source: {table: main.visits}",
    "columns": "columns: {age: {role: quasi}}",
    "person": "person: patients, the table with one row per person",
    "tables": "tables: {patients: {source: {table: main.patients}, columns: …}, visits: …}",
    "links": "links: {patient_id: patients}, own column: table",
    "knows": "knows: {events: 1}",
    "weight": "weight: {events: 1}",
    "names": "names: {visits: encounters}",
    "privacy": "privacy: {k_anonymity: 5}",
    "publish": "publish: {database: release.duckdb}",
    "protect": "protect: {l_diversity: 3}",
    "workload": "workload: {sql: workload.sql}",
    "republish": "republish: {follow: true}",
    "context": "context: {recipients: two universities}",
    "rename": "rename: {class_id: group}",
    "generalize": "generalize: {k: 5}",
    "recursive_cl": "recursive_cl: {c: 4, l: 3}",
    "t_closeness": "t_closeness: {t: 0.2, distance: equal}",
    "aggregate": "aggregate: {by: {region: {}}, measures: {patients: {count: persons}}}",
    "by": "by: {region: {hierarchy: regions.csv}, sex: {}}",
    "measures": "measures: {patients: {count: persons}}",
    "dominance": "dominance: {p: 10}",
    "rest": "rest: {limit: 0.05}",
    "levels": "levels: {1: [a], 0: [b]}",
    "level_l": "level_l: {0: 1, 1: 2, 2: 3}",
    "alpha_k": "alpha_k: {alpha: 0.5, k: 5}",
    "ir_kl": "ir_kl: {k: 5, l: 3}",
    "ir_alpha_beta": "ir_alpha_beta: {alpha: 0.5, beta: 0.5}",
    "eir_alpha_beta": "eir_alpha_beta: {alpha: 0.5, beta: 0.5}",
    "units": "units: {household: 3}",
    "k_map": "k_map: {k: 5, population: main.people}",
    "delta_presence": "delta_presence: {min: 0.1, max: 0.5, population: main.people}",
}


def field_problems(
    root: type[BaseModel], failure: ValidationError, given: Mapping[Any, Any]
) -> tuple[list[Problem], dict[Any, Any] | None, Broken]:
    """The problems, the input without its broken parts, and those parts.

    A broken part is a column, as `("columns", name)`, or a whole section, as `("privacy",)`; with
    several tables, the same inside a table, as `("tables", "visits", "links")`.
    """
    found: dict[Problem, None] = {}
    broken: set[Loc] = set()
    for error in failure.errors(include_url=False):
        loc = error["loc"]
        place = _place(loc, given, keep_last=error["type"] == "missing")
        broken.add(_part(place))
        found[_problem(root, error, loc, place)] = None
    return list(found), _without(given, broken), frozenset(broken)


def _place(loc: Loc, given: object, *, keep_last: bool) -> Loc:
    """The location in the input: without tags, and nothing below a shorthand."""
    place: list[Any] = []
    steps = [step for step in loc if not (isinstance(step, str) and step.startswith(TAG))]
    for at, step in enumerate(steps):
        if isinstance(given, Mapping):
            key = _key(given, step)
            if key is not NO_KEY:
                given, step = given[key], key
            elif keep_last and at == len(steps) - 1:
                given = None
            else:
                break
        elif isinstance(given, Sequence) and not isinstance(given, str) and isinstance(step, int):
            given = given[step] if step < len(given) else None
        else:
            break
        place.append(step)
    return tuple(place)


def _key(given: Mapping[Any, Any], step: object) -> object:
    """The key for a step: pydantic writes keys that are not text as text."""
    if isinstance(step, str) and step in given:
        return step
    return next((key for key in given if str(key) == str(step) or key == step), NO_KEY)


def _part(place: Loc) -> Loc:
    """The column or section of a location."""
    table = place[:2] if place[:1] == ("tables",) else ()
    inside = place[len(table) :]
    return (*table, *inside[: 2 if inside[:1] == ("columns",) else 1])


_STAND_INS: dict[str, Any] = {"source": {"table": "t"}, "columns": {}}
"""Placeholders for what every table must have."""
_OF_COUNTS: dict[str, Any] = {
    "source": {"table": "t"},
    "aggregate": {"by": {"a": {}}, "measures": {"n": {"count": "persons"}}},
}
"""The same for a table of counts."""


def _without(given: Mapping[Any, Any], broken: set[Loc]) -> dict[Any, Any] | None:
    if broken & {("columns",), ("tables",)}:
        return None
    rest = _pruned(given, broken, ())
    rest.setdefault("version", 1)
    if "aggregate" in given:
        return {**_OF_COUNTS, **rest}
    if "tables" not in rest:
        return {**_STAND_INS, **rest}
    rest["tables"] = {name: _whole(table) for name, table in rest["tables"].items()}
    rest.setdefault("person", "person")
    return rest


def _pruned(given: Mapping[Any, Any], broken: set[Loc], at: Loc) -> dict[Any, Any]:
    """A copy without the broken parts."""
    kept: dict[Any, Any] = {}
    for key, value in given.items():
        here = (*at, key)
        if here not in broken:
            inside = any(loc[: len(here)] == here for loc in broken)
            kept[key] = _pruned(value, broken, here) if inside else value
    return kept


def _whole(table: Any) -> Any:
    return {**_STAND_INS, **table} if isinstance(table, Mapping) else table


def _problem(root: type[BaseModel], error: Any, loc: Loc, place: Loc) -> Problem:
    kind, context = error["type"], error.get("ctx", {})
    path = path_text(place) or "policy"
    if kind == "policy":
        if context["at"]:
            path = f"{path}.{context['at']}" if place else context["at"]
        return Problem(path, context["message"], context["allowed"], context["hint"])
    if kind == "extra_forbidden":
        return _unknown(root, loc, path)
    if kind == "literal_error":
        allowed = _literals(_annotation(root, loc))
        noun = NOUNS.get(str(place[-1]), "an allowed value")
        noun = "a kind of release" if place == ("kind",) else noun
        hint = closest(error["input"], allowed)
        return Problem(path, f"is not {noun}", ", ".join(allowed), hint)
    if kind in BOUNDS:
        key, said = BOUNDS[kind]
        bound = context[key]
        shown = f"{bound:g}" if isinstance(bound, float) else bound
        return Problem(path, f"must be {said} {shown}", hint=None)
    if kind in MAPPINGS:
        said = "is empty" if error["input"] is None else "must be a mapping of options"
        return Problem(path, said, hint=_example(root, place))
    message, hint = PLAIN.get(kind, ("is not valid here", None))
    if kind == "missing":
        values = _literals(_annotation(root, loc))
        choice = ", ".join(values) if len(values) > 1 else None
        return Problem(
            path, message, choice, _example(root, place if len(place) == 1 else place[:-1])
        )
    if kind == "string_type" and isinstance(error["input"], list | tuple):
        hint = ONE_COLUMN if place[-1] == "key" else "write one, without brackets"
    return Problem(path, message, hint=hint)


def _example(root: type[BaseModel], place: Loc) -> str | None:
    if place == ("republish",) and "tables" in root.model_fields:
        return "republish: {new_population: true}"
    if place[-2:-1] == ("columns",):
        return "a column is written {role: drop}"
    if place[:1] == ("tables",) and len(place) == 2:
        return "a table is written {source: {table: main.visits}, columns: {age: {role: drop}}}"
    return EXAMPLES.get(str(place[-1])) if place else None


def _unknown(root: type[BaseModel], loc: Loc, path: str) -> Problem:
    model = _annotation(root, loc[:-1])
    fields = _fields(model) if _is_model(model) else []
    name = str(loc[-1])
    for family in (ALGORITHMS, BUILDERS):
        owners = [of for of, owner in family.items() if name in _fields(owner)]
        this = next((of for of, owner in family.items() if owner is model), None)
        if this is not None and owners:
            return Problem(
                path, f"is an option of {', '.join(owners)}, not of {this}", ", ".join(fields)
            )
    near = closest(name, [*fields, *getattr(model, "OTHERWISE", ())])
    return Problem(path, "is not an option", ", ".join(fields), near)


def _fields(model: type[BaseModel]) -> list[str]:
    return [
        field.alias or name
        for name, field in model.model_fields.items()
        if not any(isinstance(one, Refused) for one in field.metadata)
    ]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _annotation(root: type[BaseModel], loc: Iterable[Any]) -> Any:
    """The declared type at a location, following tags, fields, mappings and tuples."""
    here: Any = root
    for step in loc:
        if isinstance(step, str) and step.startswith(TAG):
            here = {**ALGORITHMS, **BUILDERS, **COLUMN_TYPES}[step[1:]]
            continue
        for option in _options(here):
            if _is_model(option):
                fields = {f.alias or n: f.annotation for n, f in option.model_fields.items()}
                if step in fields:
                    here = fields[step]
                    break
            elif get_origin(option) is FrozenMap:
                here = get_args(option)[1]
                break
            elif get_origin(option) is tuple:
                here = get_args(option)[0]
                break
    models = [option for option in _options(here) if _is_model(option)]
    return models[0] if len(models) == 1 else here


def _options(annotation: Any) -> list[Any]:
    """The members of a union, without annotations."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _options(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [one for member in get_args(annotation) for one in _options(member)]
    return [annotation]


def _literals(annotation: Any) -> list[str]:
    literals = [one for one in _options(annotation) if get_origin(one) is Literal]
    return [str(value) for one in literals for value in get_args(one)]

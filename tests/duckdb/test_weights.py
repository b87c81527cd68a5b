"""Weights of columns: what they prefer, what they leave as it is, and where they are refused."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.errors import PolicyError
from anonymizer.measure.loss import least_sentence
from tests.duckdb.test_bound import TREE, TYPES, as_oracle, drawn
from tests.oracle.attributes import Attribute
from tests.oracle.least import least_loss
from tests.runs import policy, run, source
from tests.selection import rounds, some

pytestmark = pytest.mark.usefixtures("fine_figures")

WAYS: dict[str, dict[str, Any]] = {
    "mondrian": {"name": "mondrian"},
    "mondrian_cuts": {"name": "mondrian", "refine": 0, "compare": 1},
    "mondrian_full": {"name": "mondrian", "refine": "full"},
    "lgb_ncp": {"name": "lgb", "generalization": "ncp"},
    "lgb_loss": {"name": "lgb", "generalization": "loss"},
    "full_domain": {"name": "full_domain"},
    "full_domain_glm": {"name": "full_domain", "optimum": "glm"},
    "full_domain_budget": {"name": "full_domain", "budget": 60},
}
ADULT: dict[str, dict[str, Any]] = {
    "age": {"hierarchy": {"builder": "cardinality"}},
    "education_num": {"hierarchy": {"builder": "conventional"}},
    "sex": {"hierarchy": {"builder": "frequency"}},
    "race": {"hierarchy": {"builder": "frequency"}},
    "marital_status": {"hierarchy": {"builder": "frequency"}},
}


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory, adult_parquet: Path) -> Path:
    path = tmp_path_factory.mktemp("adult") / "source.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"create table people as select {', '.join(ADULT)}"
            f" from '{adult_parquet}' order by fnlwgt, age, education_num limit 3000"
        )
    return path


def asked(folder: Path, way: Mapping[str, Any], weights: Mapping[str, float]) -> Policy:
    trees = way["name"] == "full_domain"
    columns = {
        name: {
            "role": "quasi",
            **(hierarchy if trees else {}),
            **({"weight": weights[name]} if name in weights else {}),
        }
        for name, hierarchy in ADULT.items()
    }
    return policy(
        folder,
        columns,
        5,
        algorithm=dict(way),
        suppression_limit=0.02 if trees else 0,
    )


@some(1, 2)
@pytest.mark.parametrize("way", WAYS)
def test_a_heavy_column_loses_less(tmp_path: Path, adult: Path, way: str) -> None:
    plain = run(asked(tmp_path, WAYS[way], {}), adult).measures
    assert not [name for name in plain if "weighted" in name]
    lowered = 0
    for heavy in ("age", "marital_status"):
        if plain[f"ncp.{heavy}"] == 0:
            continue
        release = run(asked(tmp_path, WAYS[way], {heavy: 50}), adult)
        found = release.measures
        assert release.verification.passed
        assert found[f"ncp.{heavy}"] < plain[f"ncp.{heavy}"], heavy
        lowered += 1
        # the mean over columns by their weights, computed anew from what is told of each
        lost = found["suppressed"] / (found["suppressed"] + found["rows"])
        means = {name: (1 - lost) * found[f"ncp.{name}"] + lost for name in ADULT}
        assert found["ncp"] == pytest.approx(sum(means.values()) / 5)
        weighted = sum(means.values()) + 49 * means[heavy]
        assert found["ncp_weighted"] == pytest.approx(weighted / 54)
        assert found["ncp_weighted"] < found["ncp"]
        if "mondrian" in way:
            assert "ncp_bound" not in found
            assert 0 < found["ncp_weighted_bound"] <= found["ncp_weighted"]
            assert "by the weights of the columns" in least_sentence(found)
    assert lowered


@pytest.mark.parametrize("weight", [0.001, 1000])
def test_losses_of_a_light_column_with_nulls_fit(tmp_path: Path, weight: float) -> None:
    """What `*` loses is a number of 32 bits there, and is multiplied by the height of the tree."""
    tree = tmp_path / "tree.csv"
    tree.write_text("a;x;y;*\nb;x;y;*\nc;z;z;*\n")
    columns = {
        name: {"role": "quasi", "hierarchy": {"file": str(tree)}, **more}
        for name, more in {"plain": {}, "weighed": {"weight": weight}}.items()
    }
    rows = list(itertools.product(["a", "b", None], "abc"))
    database = source(tmp_path, dict.fromkeys(columns, "VARCHAR"), rows)
    release = run(policy(tmp_path, columns, 2, algorithm={"name": "full_domain"}), database)
    assert release.verification.passed


CODES = {"a": ["11", "12", "21", "22", "31"], "b": ["x1", "x2", "y1", "y3"]}


def cell_loss(values: list[str], value: str, level: int) -> Fraction:
    """NCP of a prefix over the codes that occur; the root is `*`."""
    if level == 2:
        return Fraction(1)
    below = {v for v in values if v[: 2 - level] == value[: 2 - level]}
    whole = set(values)
    if below == whole:
        return Fraction(1) if level else Fraction(0)
    return Fraction(len(below), len(whole)) if len(below) > 1 else Fraction(0)


def losses_of_nodes(
    rows: list[tuple[str, ...]], k: int, weights: tuple[float, float]
) -> Iterable[tuple[Fraction, tuple[int, int]]]:
    """Weighted loss of all levels at which classes have k rows, by the definition."""
    columns = list(zip(*rows, strict=True))
    for levels in itertools.product(range(3), range(3)):
        tuples = Counter(tuple(row[j][: 2 - levels[j]] for j in range(2)) for row in rows)
        if min(tuples.values()) >= k:
            lost = sum(
                Fraction(weights[j]) * cell_loss(list(columns[j]), row[j], levels[j])
                for row in rows
                for j in range(2)
            )
            yield lost / Fraction(sum(weights)) / len(rows), levels


@pytest.mark.slow
@rounds(4, 6, 40)
def test_the_node_that_loses_least_by_weight(tmp_path: Path, rounds: int) -> None:
    draw = random.Random(11)
    changed = 0
    for _ in range(rounds):
        rows = [tuple(draw.choice(CODES[c]) for c in "ab") for _ in range(draw.randint(6, 14))]
        if any(len({row[j] for row in rows}) < 2 for j in range(2)):
            continue
        weights = draw.choice([(1, 8), (8, 1), (0.25, 1), (1, 3)])
        tree = {"role": "quasi", "hierarchy": {"builder": "prefix"}}
        columns = {c: {**tree, "weight": w} for c, w in zip("ab", weights, strict=True)}
        database = source(tmp_path, {"a": "VARCHAR", "b": "VARCHAR"}, rows)
        release = run(
            policy(tmp_path, columns, 2, algorithm={"name": "full_domain"}), database
        ).measures
        nodes = {levels: lost for lost, levels in losses_of_nodes(rows, 2, weights)}
        chosen = (release["level.a"], release["level.b"])
        assert nodes[chosen] == min(nodes.values()), (rows, weights)
        assert release["ncp_weighted"] == pytest.approx(float(nodes[chosen]), rel=5e-3)
        plain = min(losses_of_nodes(rows, 2, (1, 1)))
        changed += nodes[plain[1]] > nodes[chosen]
    assert changed, "no table of these needs its weights"


@dataclass(frozen=True)
class Weighed:
    """An attribute of the oracle whose loss counts more or less."""

    of: Attribute
    weight: Fraction

    def loss(self, values: Iterable[Any]) -> Fraction:
        return self.weight * self.of.loss(values)


@pytest.mark.slow
@rounds(3, 5, 40)
def test_no_grouping_loses_less_by_weight(tmp_path: Path, rounds: int) -> None:
    draw = random.Random(5)
    tree = tmp_path / "tree.csv"
    tree.write_text("".join(f"{leaf};{';'.join(path)}\n" for leaf, path in TREE.items()))
    proven = 0.0
    for _ in range(rounds):
        names = draw.sample(list(TYPES), draw.choice([2, 3]))
        weights = [draw.choice([0.01, 0.5, 1, 3, 100]) for _ in names]
        if len(set(weights)) == 1:
            continue
        k, rows = 2, drawn(draw, names, draw.randint(5, 8))
        columns = {
            name: {"role": "quasi", "weight": weight}
            | ({"hierarchy": {"file": str(tree)}} if name == "kind" else {})
            for name, weight in zip(names, weights, strict=True)
        }
        database = source(tmp_path, {name: TYPES[name] for name in names}, rows)
        told = run(policy(tmp_path, columns, k), database).measures
        whole = sum(map(Fraction, weights))
        shapes, values = [], []
        for j, name in enumerate(names):
            of, column = as_oracle(name, [row[j] for row in rows])
            shapes.append(Weighed(of, Fraction(weights[j]) * len(names) / whole))
            values.append(column)
        best = least_loss(values, shapes, k)  # type: ignore[arg-type]  # only their loss is asked
        assert told["ncp_weighted_bound"] <= float(best) + 1e-12, (names, weights, rows)
        assert float(best) <= told["ncp_weighted"] + 1e-9
        proven += told["ncp_weighted_bound"]
    assert proven > 0


def problem(tmp_path: Path, columns: Mapping[str, Any], **more: Any) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        policy(tmp_path, columns, **more)
    return [str(one) for one in caught.value.problems]


@pytest.mark.parametrize("weight", [0, -1, math.nan, math.inf, 1e9, 0.0001, "2", True])
def test_weights_that_are_none(tmp_path: Path, weight: Any) -> None:
    (said,) = problem(tmp_path, {"age": {"role": "quasi", "weight": weight}})
    assert said.startswith("columns.age.weight: must be"), said


@pytest.mark.parametrize(
    ("algorithm", "hint"),
    [
        ({"name": "mondrian", "split": "median"}, "split: loss"),
        ({"name": "lgb"}, "generalization: ncp, or loss"),
        ({"name": "full_domain", "optimum": "dcp"}, "optimum: ncp, glm or distortion"),
        ({"name": "privacyfrost"}, "priority, which is the weight"),
        ({"name": "msb"}, "generalize: {k: 5}"),
    ],
)
def test_refused_where_no_loss_is_weighed(
    tmp_path: Path, algorithm: dict[str, Any], hint: str
) -> None:
    columns = {
        "age": {"role": "quasi", "weight": 2, "hierarchy": {"builder": "cardinality"}},
        "sex": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
        "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    }
    k = None if algorithm["name"] == "msb" else 2
    (said,) = problem(tmp_path, columns, k=k, algorithm=algorithm)
    assert said.startswith("columns.age.weight: is of no effect"), said
    assert hint in said

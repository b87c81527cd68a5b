"""(alpha,k)-anonymity of one value, and a hierarchical distance of a column without values."""

from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.errors import SourceError
from tests.selection import some


def database(folder: Path) -> Path:
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as opened:
        opened.execute(
            "create table people as select i % 20 as age, 'abcde'[1 + i % 5] as ill,"
            " cast(null as varchar) as ward from range(200) t(i)"
        )
    return path


def policy(folder: Path, **more: object) -> anonymizer.Policy:
    given = {
        "version": 1,
        "source": {"table": "people"},
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}},
            "ill": {"role": "sensitive"},
            "ward": {"role": "drop"},
        },
        "publish": {"database": str(folder / "release.duckdb"), "name": "released"},
        **more,
    }
    return anonymizer.Policy.model_validate(given)


@some(2)
@pytest.mark.parametrize("algorithm", ["mondrian", "full_domain", "privacyfrost"])
@pytest.mark.parametrize("value", ["a", "unknown"])
def test_alpha_limits_the_value_that_is_named(tmp_path: Path, algorithm: str, value: str) -> None:
    asked = {"alpha_k": {"alpha": 0.2, "k": 4, "value": value}}
    given = policy(tmp_path, privacy=asked, algorithm={"name": algorithm})
    release = anonymizer.run(given, database(tmp_path), seed=1)
    assert release.verification.passed
    with duckdb.connect(str(release.database), read_only=True) as opened:
        found = opened.execute(
            "select count(*), count(*) filter (where ill = 'a') from released group by class_id"
        ).fetchall()
    for size, named in found:
        assert size >= 4
        assert value != "a" or named <= 0.2 * size


def test_a_hierarchical_distance_needs_values(tmp_path: Path) -> None:
    closeness = {"t_closeness": {"t": 0.5, "distance": "hierarchical"}}
    ward = {"role": "sensitive", "hierarchy": {"builder": "frequency"}, "protect": closeness}
    columns = {"age": {"role": "quasi"}, "ill": {"role": "drop"}, "ward": ward}
    given = policy(tmp_path, columns=columns, privacy={"k_anonymity": 4})
    with pytest.raises(SourceError, match=r"columns\.ward\.protect\.t_closeness: has no hierarchy"):
        anonymizer.run(given, database(tmp_path), seed=1)

"""The method dp: the noise, the domain, and what releases spend."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from anonymizer.algorithms.aggregate.dp import mechanism, with_noise
from anonymizer.cli import main
from anonymizer.compile import Table
from anonymizer.errors import EngineError, GuaranteeError, PolicyError, SourceError
from anonymizer.independent.layout import consistent
from anonymizer.independent.rows import open_release
from anonymizer.independent.tabulation import judge_counts
from anonymizer.ledger import LedgerSession
from anonymizer.ledger.session import forget_release, listed, spends
from anonymizer.policy import AggregatePolicy
from anonymizer.publish.duckdb.file import FileTarget
from anonymizer.release.published import Release
from anonymizer.run import verbs
from anonymizer.run.verify import verify
from anonymizer.verification.release import verify_release
from tests.aggregate.releases import WORKED, cells, copied, database, failed, grid
from tests.aggregate.releases import policy as any_policy
from tests.aggregate.test_rest import ALL, TEXT, second_opinion

pytest.importorskip("opendp")

BY: dict[str, Any] = {
    "r": {"domain": ["r1", "r2", "r3", "r4", "r5"]},
    "c": {"domain": ["c1", "c2", "c3", "c4"]},
}


def policy(folder: Path, by: Any = None, **parts: Any) -> AggregatePolicy:
    """A policy of noisy counts over `t`, with a ledger beside the release."""
    given = {"dp": {"epsilon": 1, "budget": 3}, "ledger": str(folder / "l.duckdb"), **parts}
    return any_policy(folder, by or BY, None, method="dp", **given)


def published(
    folder: Path, rows: Iterable[tuple[Any, ...]], columns: str = TEXT, **parts: Any
) -> Release:
    return verbs.run(policy(folder, **parts), database(folder, rows, columns))


def chi_square(draws: Iterable[int], epsilon: float) -> tuple[float, int]:
    """The statistic of draws against the probabilities of discrete Laplace noise, and the bins."""
    found = Counter(draws)
    n, a = found.total(), math.exp(-epsilon)
    expected = {k: n * (1 - a) / (1 + a) * a ** abs(k) for k in range(-2000, 2001)}
    bins = {k: e for k, e in expected.items() if e >= 50}
    tail = n - sum(bins.values()), n - sum(found[k] for k in bins)
    pairs = [(e, found[k]) for k, e in bins.items()] + ([tail] if tail[0] >= 50 else [])
    return sum((o - e) ** 2 / e for e, o in pairs), len(pairs)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0, 3.0])
def test_the_noise_has_its_distribution(epsilon: float) -> None:
    """Another epsilon by 10 % is seen; the true one is refused less than once in ten million."""
    draws = [*with_noise([0] * 200_000, mechanism(epsilon))]
    statistic, bins = chi_square(draws, epsilon)
    limit = bins + 6 * math.sqrt(2 * bins) + 24
    assert statistic < limit
    assert chi_square(draws, epsilon * 1.1)[0] > limit


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 0.7, 1 / 3, 1.0, 3.0, 9.9])
def test_the_loss_is_at_most_epsilon(epsilon: float) -> None:
    """By OpenDP's own account, whose rounding makes 1 / 0.7 too small a scale."""
    loss = mechanism(epsilon).map(1)
    assert epsilon * (1 - 1e-12) < loss <= epsilon


def test_neighbours_of_the_noise_do_not_follow_from_it() -> None:
    """Draws of one release are independent: their products average to 0, also between batches."""
    draws = [*with_noise([0] * 120_000, mechanism(1.0))]
    for lag in (1, 2, 50_000):
        products = [a * b for a, b in zip(draws, draws[lag:], strict=False)]
        # the variance of a draw is 1.84
        assert abs(sum(products)) < 6 * 1.84 * math.sqrt(len(products))


def test_every_group_of_the_domain_is_listed(tmp_path: Path) -> None:
    """r5 has nobody; counts may be negative, and totals are the sums of what is shown."""
    release = published(tmp_path, grid(WORKED), dp={"epsilon": 0.1})
    found = cells(release)
    assert len(found) == 6 * 5
    atoms = {labels: n for labels, n in found.items() if ALL not in labels}
    assert found[ALL, ALL] == sum(atoms.values())
    for r in ("r1", "r5"):
        assert found[r, ALL] == sum(n for labels, n in atoms.items() if labels[0] == r)
    true = Counter(grid(WORKED))
    assert any(n != true[labels] for labels, n in atoms.items())
    found_again = verify(policy(tmp_path, dp={"epsilon": 0.1}), release.database)
    assert found_again.passed
    assert "differential_privacy" in found_again.unverified
    assert not any(second_opinion(tmp_path / "release.duckdb").values())
    manifest = release.manifest
    assert manifest.data["requirements"][0]["parameters"] == {"epsilon": 0.1, "per_person": 1}
    assert "0.1-differentially private" in str(manifest.data["certificate"])
    assert not manifest.data["reproducible"]


def test_only_the_noise_depends_on_the_data(tmp_path: Path) -> None:
    """Of nobody, and of many, the same groups are listed; the manifests differ in run and seal."""
    by = {**BY, "r": {**BY["r"], "hierarchy": {"builder": "prefix", "lengths": [1]}}}
    stated = []
    for rows in ([], grid(WORKED)):
        release = published(tmp_path, rows, by=by, dp={"epsilon": 1, "budget": 1})
        data = {**release.manifest.data, "run_id": "", "created": "", "seal": ""}
        stated.append((sorted(cells(release)), data))
        for file in tmp_path.iterdir():
            file.unlink()
    assert stated[0] == stated[1]
    assert len(stated[0][0]) == (5 + 1 + 1) * 5


def test_a_run_draws_anew_and_spends_again(tmp_path: Path) -> None:
    first = cells(published(tmp_path, grid(WORKED)))
    again = published(tmp_path, grid(WORKED))
    assert cells(again) != first
    counts = again.manifest.layout.counts
    assert counts is not None
    assert counts.noise is not None
    assert (counts.noise.spent, counts.noise.budget) == (2, 3)
    assert spends(tmp_path / "l.duckdb") == {1: 1, 2: 1}
    shown = CliRunner().invoke(main, ["ledger", "show", str(tmp_path / "l.duckdb")])
    assert "epsilon" in shown.output


def test_a_minimum_is_not_applied(tmp_path: Path) -> None:
    release = published(tmp_path, grid(WORKED), protect={"minimum": 5})
    assert any("protect.minimum is not applied" in said for said in release.warnings)
    assert verify(policy(tmp_path, protect={"minimum": 5}), release.database).passed
    assert not any("minimum" in said for said in published(tmp_path, grid(WORKED)).warnings)


def test_overspending(tmp_path: Path) -> None:
    published(tmp_path, grid(WORKED), dp={"epsilon": 2, "budget": 2.5})
    before = (tmp_path / "release.duckdb").read_bytes()
    with pytest.raises(GuaranteeError, match=r"dp.epsilon: is 1, and 0.5 is left .* of 2.5"):
        published(tmp_path, grid(WORKED), dp={"epsilon": 1})
    with pytest.raises(GuaranteeError, match=r"dp.budget: is above .* which is 2.5"):
        published(tmp_path, grid(WORKED), dp={"epsilon": 0.1, "budget": 9})
    assert (tmp_path / "release.duckdb").read_bytes() == before
    published(tmp_path, grid(WORKED), dp={"epsilon": 0.5})
    with pytest.raises(GuaranteeError, match="0 is left"):
        published(tmp_path, grid(WORKED), dp={"epsilon": 1e-6})


def test_without_a_stated_budget_there_is_one_release(tmp_path: Path) -> None:
    published(tmp_path, grid(WORKED), dp={"epsilon": 0.5})
    with pytest.raises(GuaranteeError, match=r"0 is left .*budget: 1"):
        published(tmp_path, grid(WORKED), dp={"epsilon": 0.5})
    published(tmp_path, grid(WORKED), dp={"epsilon": 0.5, "budget": 1})


def test_sums_are_of_decimals(tmp_path: Path) -> None:
    """0.1 + 0.1 + 0.1 is more than 0.3 in binary."""
    for _ in range(3):
        published(tmp_path, grid(WORKED), dp={"epsilon": 0.1, "budget": 0.3})
    with pytest.raises(GuaranteeError, match="0 is left"):
        published(tmp_path, grid(WORKED), dp={"epsilon": 0.1, "budget": 0.3})


def test_a_changed_ledger_is_refused(tmp_path: Path) -> None:
    published(tmp_path, grid(WORKED), dp={"epsilon": 1, "budget": 1})
    with duckdb.connect(str(tmp_path / "l.duckdb")) as con:
        con.execute("update anonymizer_ledger.spends set epsilon = '0.1'")
    with pytest.raises(EngineError, match="was changed"):
        published(tmp_path, grid(WORKED), dp={"epsilon": 0.1})
    with duckdb.connect(str(tmp_path / "l.duckdb")) as con:
        con.execute("delete from anonymizer_ledger.spends")
    with pytest.raises(EngineError, match="does not hold as much"):
        published(tmp_path, grid(WORKED), dp={"epsilon": 0.1})


def killed(monkeypatch: pytest.MonkeyPatch, where: type, name: str) -> None:
    """Let a run die at a call: nothing of what it would do afterwards is done."""

    def die(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, name, die)
    monkeypatch.setattr(LedgerSession, "withdraw", lambda _: None)


@pytest.mark.parametrize(
    ("where", "name", "spent"),
    [(LedgerSession, "confirm", {1: 1, 2: 1}), (FileTarget, "publish", {1: 1})],
)
def test_a_killed_run_spends_what_it_published(
    tmp_path: Path, where: type, name: str, spent: dict[int, float]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        killed(patched, where, name)
        with pytest.raises(KeyboardInterrupt):
            published(tmp_path, grid(WORKED))
    assert spends(tmp_path / "l.duckdb") == {1: 1}
    published(tmp_path, grid(WORKED))
    assert spends(tmp_path / "l.duckdb") == spent
    assert {entry.state for entry in listed(tmp_path / "l.duckdb")} == {"published"}


def test_a_failed_run_spends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise EngineError.at("publish", "does not work")

    monkeypatch.setattr(FileTarget, "publish", fail)
    with pytest.raises(EngineError, match="does not work"):
        published(tmp_path, grid(WORKED))
    assert spends(tmp_path / "l.duckdb") == {}


def test_without_opendp_nothing_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)
    with pytest.raises(EngineError, match=r"method: needs opendp.*sql-anonymizer\[dp\]"):
        published(tmp_path, grid(WORKED))
    assert spends(tmp_path / "l.duckdb") == {}


def test_what_is_forgotten_is_given_back(tmp_path: Path) -> None:
    release = published(tmp_path, grid(WORKED))
    forget_release(tmp_path / "l.duckdb", release.run_id)
    assert spends(tmp_path / "l.duckdb") == {}


def test_a_seed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = database(tmp_path, grid(WORKED), TEXT)
    for seed in (1, "a" * 64):
        with pytest.raises(PolicyError, match="seed: would make the noise known"):
            verbs.run(policy(tmp_path), file, seed=seed)
    monkeypatch.setenv("ANONYMIZER_SEED", "a" * 64)
    with pytest.raises(PolicyError, match="seed: would make the noise known"):
        verbs.run(policy(tmp_path), file)
    assert not (tmp_path / "l.duckdb").exists()


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "no epsilon": ({"dp": {}}, r"dp.epsilon: is missing"),
    "zero": ({"dp": {"epsilon": 0}}, r"dp.epsilon: must be at least 1e-06"),
    "negative": ({"dp": {"epsilon": -1}}, r"dp.epsilon: must be at least"),
    "subnormal": ({"dp": {"epsilon": 5e-324}}, r"dp.epsilon: must be at least"),
    "too small": ({"dp": {"epsilon": 1e-9}}, r"dp.epsilon: must be at least"),
    "none": ({"dp": {"epsilon": math.nan}}, r"dp.epsilon: must be a finite number"),
    "infinite": ({"dp": {"epsilon": math.inf}}, r"dp.epsilon: must be a finite number"),
    "no noise": ({"dp": {"epsilon": 20}}, r"dp.epsilon: must be at most 10"),
    "text": ({"dp": {"epsilon": "1"}}, r"dp.epsilon: must be a number"),
    "budget": ({"dp": {"epsilon": 1, "budget": 0.5}}, r"dp.budget: is below dp.epsilon"),
    "several": ({"dp": {"epsilon": 1, "per_person": 2}}, r"dp.per_person: is above 1"),
    "no ledger": ({"ledger": None}, r"ledger: is missing"),
    "insiders": ({"protect": {"insiders": True}}, r"protect.insiders: is about sums"),
    "no domain": ({"by": {"r": {}, "c": BY["c"]}}, r"aggregate.by.r: has no domain"),
    "prefix": (
        {"by": {"r": {"hierarchy": {"builder": "prefix"}}}},
        r"aggregate.by.r: has no domain",
    ),
    "twice": ({"by": {"r": {"domain": ["a", "a"]}}}, r"domain: lists a value twice"),
    "empty": ({"by": {"r": {"domain": []}}}, r"domain: has too few items"),
    "bands": ({"by": {"r": {"domain": [0], "bands": [0, 9]}}}, r"domain: has bands"),
    "multiple": ({"by": {"r": {**BY["r"], "multiple": True}}}, r"multiple: is not available"),
    "option": ({"round": {"base": 5}}, r"round: is of another method"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused_policies(tmp_path: Path, name: str) -> None:
    parts, said = CASES[name]
    with pytest.raises(PolicyError, match=said) as raised:
        policy(tmp_path, **parts)
    assert len(raised.value.problems) == 1


@pytest.mark.parametrize(
    "measure", [{"sum": "r"}, {"count": "rows"}, {"ratio": ["patients", "patients"]}]
)
def test_other_measures_are_refused(tmp_path: Path, measure: dict[str, Any]) -> None:
    measures = {"patients": {"count": "persons"}, "other": measure}
    with pytest.raises(PolicyError, match=r"aggregate.measures.other: "):
        verbs.run(
            policy(tmp_path, person="p", aggregate={"measures": measures}),
            database(tmp_path, [("r1", "c1", "p1")], "r varchar, c varchar, p varchar"),
        )


def test_values_outside_of_the_domain(tmp_path: Path) -> None:
    """Refused with every method whose policy states one, and before anything is spent."""
    rows = [*grid(WORKED), ("r6", "c1"), ("r7", "c1"), (None, "c1")]
    said = r"aggregate.by.r.domain: 3 rows have values outside of the domain"
    with pytest.raises(SourceError, match=said):
        published(tmp_path, rows)
    assert spends(tmp_path / "l.duckdb") == {}
    with pytest.raises(SourceError, match=said):
        verbs.run(any_policy(tmp_path, BY), database(tmp_path, rows, TEXT))
    found = published(
        tmp_path, rows, by={**BY, "r": {"domain": [*BY["r"]["domain"], "r6", "r7", None]}}
    )
    assert len([labels for labels in cells(found) if labels[0] == "(null)"]) == 5
    with pytest.raises(SourceError, match=r"domain: 1 value is no INTEGER"):
        published(tmp_path, [(1,)], "r integer", by={"r": {"domain": [1, "one"]}})


def test_domains_of_all_kinds(tmp_path: Path) -> None:
    """Bands, a file, a table, and a builder over the stated domain: nothing comes from the data."""
    (tmp_path / "codes.csv").write_text("a1;a;*\na2;a;*\nb1;b;*\n")
    columns = "age integer, code varchar, day date, size double, yes boolean"
    rows = [(30, "a1", "2024-01-01", 0.5, True)] * 40
    by: dict[str, Any] = {
        "age": {"bands": [[0, 18, 65], [0, 65]]},
        "code": {"hierarchy": "codes.csv"},
        "day": {"domain": ["2024-01-01", "2024-01-02"]},
        "size": {"domain": [0.5, 1, 2], "hierarchy": {"builder": "prefix", "lengths": [1]}},
        "yes": {"domain": [True, False, None]},
    }
    release = published(tmp_path, rows, columns, by=by)
    assert len(cells(release)) == (3 + 2 + 1) * (3 + 2 + 1) * 3 * (3 + 3 + 1) * 4
    assert verify(policy(tmp_path, by), release.database).passed
    assert not any(second_opinion(tmp_path / "release.duckdb").values())
    with pytest.raises(SourceError, match=r"age.bands: 1 row has a value outside .* NULL is in no"):
        published(tmp_path, [*rows, (None, *rows[0][1:])], columns, by=by)
    with pytest.raises(SourceError, match=r"code.hierarchy: 1 row has a value outside"):
        published(tmp_path, [*rows, (30, None, *rows[0][2:])], columns, by=by)


def test_too_many_groups(tmp_path: Path) -> None:
    wide = {"domain": [f"v{i}" for i in range(1500)]}
    with pytest.raises(SourceError, match=r"aggregate.by: has domains of 2,250,000 groups"):
        published(tmp_path, [("v1", "v2")], by={"r": wide, "c": wide})


CHANGES = {
    "additive": "update t set patients = patients + 1 where r = 'r2' and c = '(all)'",
    "all_groups": "delete from t where r = 'r5' and c = 'c1'",
    "cell_form": "update t set patients = null where r = 'r1' and c = 'c1'",
    "cell_once": "insert into t from t limit 1",
    "no_reason": "update t set status = 'noisy' where r = 'r1' and c = 'c1'",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found(tmp_path: Path, name: str) -> None:
    release = published(tmp_path, grid(WORKED))
    con = copied(release)
    con.execute(CHANGES[name])
    assert name in failed(release, con)


def test_a_change_of_the_budget_is_found(tmp_path: Path) -> None:
    release = published(tmp_path, grid(WORKED))
    layout, con = release.manifest.layout, copied(release)
    counts = layout.counts
    assert counts is not None
    assert counts.noise is not None
    for change in ({"spent": 0.5}, {"budget": 0.5}, {"epsilon": 1.5, "spent": 2.0}):
        noise = replace(counts.noise, **change)
        found = verify_release(
            lambda text: con.execute(text).fetchall(),
            Table("t", "main"),
            replace(layout, counts=replace(counts, noise=noise)),
            release.manifest.requirements,
        )
        assert {check.name for check in found.failed} == {"budget"}


def test_the_second_verifier_finds_changes(tmp_path: Path) -> None:
    published(tmp_path, grid(WORKED))
    opened = open_release(tmp_path / "release.duckdb")
    form = opened.manifest.layout.counts
    assert form is not None
    assert form.noise is not None
    rows, at = opened.rows.rows, opened.rows.columns.index("patients")
    more = (*rows[0][:at], "1000", *rows[0][at + 1 :])
    none = (*rows[0][:at], None, *rows[0][at + 1 :])
    for changed, name in (
        ((more, *rows[1:]), "additive"),
        (rows[1:], "all_groups"),
        ((none, *rows[1:]), "cell_form"),
        ((*rows, rows[0]), "cell_once"),
    ):
        other = replace(opened, rows=replace(opened.rows, rows=changed))
        found = judge_counts(other, form, 0, Decimal(1), {})
        assert name in {check.name for check in found if not check.passed}
    for part, epsilon in (
        ({}, "0.5"),
        ({"epsilon": Decimal(2)}, "1"),
        ({"spent": Decimal(4)}, "1"),
        ({"spent": Decimal("0.5")}, "1"),
    ):
        stated = replace(form, noise=replace(form.noise, **part))
        found = judge_counts(opened, stated, 0, Decimal(epsilon), {})
        assert {check.name for check in found if not check.passed} == {"budget"}


@pytest.mark.parametrize("algorithm", ["rest", "suppress", "round", "none"])
def test_a_forged_method_is_not_read(tmp_path: Path, algorithm: str) -> None:
    published(tmp_path, grid(WORKED))
    layout = open_release(tmp_path / "release.duckdb").manifest.layout
    with pytest.raises(ValueError, match="algorithm"):
        consistent(replace(layout, algorithm=algorithm))


def test_other_terms_are_refused(tmp_path: Path) -> None:
    """What was made with less epsilon keeps a policy with more, and not the other way round."""
    release = published(tmp_path, grid(WORKED))
    with pytest.raises(GuaranteeError, match="the guarantees that it asks for hold"):
        verify(policy(tmp_path, dp={"epsilon": 2, "budget": 3}), release.database)
    assert not verify(policy(tmp_path, dp={"epsilon": 0.5, "budget": 3}), release.database).passed
    with pytest.raises(GuaranteeError, match=r"dp.budget: is not that of the release"):
        verify(policy(tmp_path, dp={"epsilon": 1, "budget": 2}), release.database)


def test_a_plan_spends_nothing(tmp_path: Path) -> None:
    made = verbs.plan(policy(tmp_path), database(tmp_path, grid(WORKED), TEXT))
    assert "30 cells; the finest ones get noise of the scale 1" in made.title
    assert not (tmp_path / "l.duckdb").exists()


def test_listed_zeros_of_rounded_counts(tmp_path: Path) -> None:
    """A group of 0 may be empty or rounded to 0, so that listing it says nothing."""
    counts = ((1, 2, 3, 4), (5, 6, 7, 8), (4, 4, 1, 2))
    options: dict[str, Any] = {"method": "round", "aggregate": {"zeros": "list"}}
    made = any_policy(tmp_path, BY, **options)
    release = verbs.run(made, database(tmp_path, grid(counts), TEXT))
    found = cells(release)
    assert len(found) == 30
    assert {n for labels, n in found.items() if "r5" in labels} == {0}
    assert verify(made, release.database).passed
    assert not any(second_opinion(tmp_path / "release.duckdb").values())
    with pytest.raises(GuaranteeError, match=r"aggregate.zeros"):
        verify(any_policy(tmp_path, BY, method="round"), release.database)
    for change, check in (
        ("update t set patients = 1 where r = 'r5' and c = 'c1'", "rounded"),
        ("delete from t where r = 'r5' and c = 'c1'", "all_groups"),
        ("update t set patients = -5 where r = 'r5' and c = 'c1'", "cell_form"),
    ):
        con = copied(release)
        con.execute(change)
        assert check in failed(release, con)
    with pytest.raises(PolicyError, match=r"aggregate.by.r: has no domain"):
        any_policy(tmp_path, {"r": {}, "c": BY["c"]}, **options)
    for method in ("rest", "suppress"):
        with pytest.raises(PolicyError, match=r"aggregate.zeros"):
            any_policy(tmp_path, BY, method=method, aggregate={"zeros": "list"})


@pytest.mark.parametrize(("by", "cells_there"), [("occupation", 765), ("race", 4590)])
def test_errors_on_adult(tmp_path: Path, data_folder: Path, by: str, cells_there: int) -> None:
    """With epsilon 1 the mean error is 1.5 and 1.9; totals have larger ones, with an error of the
    grand total of 1.36 times the root of the number of groups.
    """
    columns = ["education", "occupation", "sex", *(["race"] if by == "race" else [])]
    file = tmp_path / "source.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(f"create table t as from '{data_folder / 'adult_complete.parquet'}'")
        domains: dict[str, Any] = {
            name: {"domain": [v for (v,) in con.sql(f"select distinct {name} from t").fetchall()]}
            for name in columns
        }
    release = verbs.run(policy(tmp_path, domains), file)
    found = cells(release)
    assert len(found) == cells_there
    labels = ", ".join(f"coalesce({name}, '(all)')" for name in columns)
    with duckdb.connect(str(file)) as con:
        query = f"select {labels}, count(*) from t group by cube({', '.join(columns)})"
        true = {tuple(row[:-1]): row[-1] for row in con.sql(query).fetchall()}
    errors = [abs(n - true.get(place, 0)) for place, n in found.items()]
    assert 0.8 < sum(errors) / len(errors) < 2.6
    groups = math.prod(len(of["domain"]) for of in domains.values())
    assert max(errors) < 8 * 1.36 * math.sqrt(groups)

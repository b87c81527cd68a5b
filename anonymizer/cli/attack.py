"""`anonymizer attack`: what an attacker who knows quasi-identifiers learns from a release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from anonymizer.cli import options
from anonymizer.cli.output import Output
from anonymizer.errors import PolicyError, Problem
from anonymizer.process.document import Document, Section, table_section, terminal
from anonymizer.process.text import figure

if TYPE_CHECKING:
    from anonymizer.engines.base import Limits
    from anonymizer.policy import Policy
    from anonymizer.review.attack import Attack


@click.command()
@options.policy_argument
@options.database_option("Database file of the source; not needed where the policy names a file.")
@options.source_option
@click.option("--release", metavar="FILE", help="The release; default: publish.database of POLICY.")
@click.option("--earlier", metavar="FILE", help="An earlier release of the same view.")
@click.option(
    "--share",
    metavar="F",
    type=float,
    default=0.1,
    show_default=True,
    help="Share of the source's rows (persons) that the attacker looks for; all, if 0.1 is nobody.",
)
@click.option("--test-seed", metavar="N", type=int, default=0, help="Seed for drawing the targets.")
@options.preset_option
@options.limit_options
@options.output_options
def attack_command(
    output: Output,
    policy: str,
    database: str | None,
    source_file: str | None,
    release: str | None,
    earlier: str | None,
    share: float,
    test_seed: int,
    preset: str | None,
    limits: Limits,
) -> None:
    """Attack the release of POLICY with knowledge of some persons from its source.

    The attacks are linking by the quasi-identifiers, the same with one known sensitive value, and
    intersection with an earlier release. Their success is compared with the bounds that the release
    promises. Exit code 1 if an attack exceeds a bound, of this release or of both together. Nothing
    is written, and no value is shown. With several tables, the attackers are observers who know the
    class of a person and one event, two events, the number of rows, or all events.
    """
    from anonymizer.review.attack import attack
    from anonymizer.review.observers import attack_tables

    asked = options.load_policy(policy, preset, source_file)
    if asked.several:
        if earlier is not None:
            raise PolicyError.at("--earlier", "is not offered with several tables")
        observed = attack_tables(asked, database, release=release, limits=limits)
        passed = Problem("release", "an observer got beyond a bound that the release promises")
        text = terminal(observed.document())
        output.verdict(observed.as_dict(), text, [passed], holds=observed.holds)
        return
    found = attack(
        asked,
        database,
        release=release,
        earlier=earlier,
        share=share,
        seed=test_seed,
        limits=limits,
    )
    if found.other_source:
        output.warn(
            "the source has another number of rows than the release was made of: of another source"
            " an attack says little; --source names the file of the run"
        )
    text = terminal(document(found))
    output.verdict(found.as_dict(), text, _problems(found, asked), holds=found.holds)


def _problems(found: Attack, policy: Policy) -> list[Problem]:
    """The promises that do not hold: of the release, and of it beside an earlier one."""
    from anonymizer.ledger.matches import ways_out

    problems = []
    refuses = "" if policy.engine == "spark" else "a ledger refuses such a release; "
    if policy.republish is not None and policy.republish.follow and not found.of_both:
        refuses = (
            "whom the later release withdrew is a target here too, though in one release only; the"
            " ledger judges persons who are in both; "
        )
    if not found.alone_holds:
        said = "an attack got beyond a bound that the release promises"
        problems.append(Problem("release", said))
    problems += [
        Problem(
            "--earlier",
            f"with the earlier release a promise does not hold: {said}",
            # (the earlier release need not be in the policy's ledger, so none can continue it)
            hint=refuses + ways_out(policy, 1, holds=False, absent=True),
        )
        for said in found.broken()
    ]
    return problems


def document(found: Attack) -> Document:
    """The results of the attacks."""
    link, different = found.linking, found.differences
    rows = (
        ("fewest candidates", link.fewest_candidates),
        ("candidates, on average", link.mean_candidates),
        ("largest chance for one target", link.most),
        ("promised", link.bound),
        ("expected share of rows found", link.success),
        ("targets that were left out", link.not_found),
    )
    sections = [table_section("Linking: the attacker knows the quasi-identifiers", (), rows)]
    if found.inference:
        sections += [
            table_section(
                "Guessing a sensitive value from the candidates",
                ("column", "largest chance", "promised", "guessed right", "without the attack"),
                (
                    (i.column, i.most_confident, i.bound, i.success, i.blind_success)
                    for i in found.inference
                ),
            ),
            table_section(
                "Linking with one sensitive value known as well (no model here promises k then)",
                ("known", "targets", "fewest candidates", "found", "singled out", "below k"),
                (
                    (v.column, v.targets, v.fewest_candidates, v.success, v.singled_out, v.below_k)
                    for v in found.known_value
                ),
            ),
        ]
    if found.proved is not None:
        said = (
            f"Complete records that the cells prove and fewer than k {found.unit} may share"
            f" (bounds and members of sets are values of rows): {figure(found.proved)}"
        )
        sections.append(Section(said))
        if found.if_tight is not None and found.if_tight > found.proved:
            said = (
                "The same for a reader who takes every cell for the smallest possible, so that"
                f" both values of a node of two occur: {figure(found.if_tight)}"
            )
            sections.append(Section(said))
    if found.intersection:
        known = ("column", "targets", "values now", "left", "exposed")
        head = (*known, "below l", "fewest", "below k")
        both = (
            (x.column, x.targets, x.values_now, x.values_left,
             x.exposed, x.below_l, x.fewest_left, x.below_k)
            for x in found.intersection
        )  # fmt: skip
        sections.append(table_section("Intersection with the earlier release", head, both))
    if different is not None:
        title = f"Differences of both releases, by {', '.join(different.columns)}"
        names = ("rows gone", "rows come", "fewest", "below k", "below l")
        below_l = max(different.below_l.values(), default=None)
        row = (different.gone, different.come, different.fewest, different.below_k, below_l)
        sections.append(table_section(title, names, [row]))
    sections.append(Section("\n".join(_verdict(found))))
    title = f"{found.view}: {figure(link.targets)} targets, {100 * found.share:g} % of the source"
    return Document(title, sections=tuple(sections))


def _verdict(found: Attack) -> Iterator[str]:
    """The last lines, without reassurance if somebody is exposed."""
    together = found.together()
    if found.uncompared:
        yield (
            "nothing was compared with the earlier release: no sensitive column, or no target, is"
            " in both"
        )
    yield from (f"both releases together: {said}" for said in together)
    if not found.holds:
        yield "A PROMISED BOUND WAS PASSED"
    elif together:
        yield f"the release alone keeps its promises; {found.exposed:,} {found.unit} are exposed"
    else:
        yield "no promised bound was passed"

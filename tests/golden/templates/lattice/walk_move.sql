-- full_domain_budget_c_dm, move walkers: The next node of every walker. Down: the node that holds and loses less, by what it saves in relation to its cost; walkers differ in their cost: units suppressed, classes split (the entropy of two rows being in one class), the size of the smallest class, or nothing. As long as no node holds: any node that may have a finer one that does. Swapping, or at the start: the node that loses least. If there is none, walkers that went down swap, and the others begin a new turn.
create or replace table anon_scratch.main.lattice_walkers as
with seen as (
    select
        r.walker,
        r.weight,
        n.number,
        n.bound,
        j.loss,
        j.holds,
        coalesce(j.suppressed, j.small) as suppressed,
        j.small,
        j.smallest,
        cast(j.squares as double) as squares
    from anon_scratch.main.lattice_reached r
    join anon_scratch.main.lattice_nodes n on n.m0 = r.m0
    join anon_scratch.main.lattice_judged j on j.number = n.number
    where n.number not in (select number from anon_scratch.main.lattice_failed)
),
stands as (
    select
        w.*,
        n.bound,
        j.loss,
        coalesce(j.holds, false) as holds,
        coalesce(j.suppressed, j.small) as suppressed,
        j.small,
        j.smallest,
        cast(j.squares as double) as squares
    from anon_scratch.main.lattice_walkers w
    left join anon_scratch.main.lattice_nodes n on n.number = w.number
    left join anon_scratch.main.lattice_judged j on j.number = w.number
),
priced as (
    select
        s.walker,
        s.number,
        s.holds,
        s.loss,
        w.phase,
        -- rounded to whole numbers, so that equal steps are equal
        cast(s.weight as double) * cast(w.bound - s.bound as double) / cast(case w.walker % 4
            when 1 then greatest(round(1000000 * ln(w.squares / s.squares)), 1)
            when 2 then greatest(s.suppressed - w.suppressed, 0) + 1
            when 3 then greatest(round(1000000 * ln(w.smallest / cast(s.smallest as double))), 1)
            else 1
        end as double) as worth
    from seen s
    join stands w on w.walker = s.walker
    where case
        when w.phase = 'start' then true
        when w.holds then s.holds and s.loss < w.loss
        else s.holds or w.phase = 'down'
    end
),
ranked as (
    select
        *,
        row_number() over (
            partition by walker
            order by holds desc, case when phase <> 'down' then loss end, worth desc, number
        ) as place
    from priced
),
gone as (
    select
        s.walker,
        s.turn,
        s.draw,
        coalesce(r.number, s.number) as number,
        case
            when r.number is not null then 'down'
            when s.phase = 'down' and s.holds then 'swap'
            else 'start'
        end as phase
    from stands s
    left join ranked r on r.walker = s.walker and r.place = 1
)
select walker, case when phase = 'start' then turn + 1 else turn end as turn, phase, number, draw
from gone
and  -- privacyfrost_suppressing, move walkers: join {{ nodes | ident }} n on {% for word in words %}n.{{ word.m }} = r.{{ word.m }}{% if not loop.last %} and {% endif %}{% endfor %}

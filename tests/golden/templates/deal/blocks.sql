-- mondrian_dealt, blocks with the table's shares: The rows of every value dealt to blocks in the order of one attribute, so that all blocks have the table's shares.
create or replace table anon_scratch.main.deal_blocks as
with binned as (
    select p.unit, s.bin, s.q, z.goal, s.most, p.l1 as place
    from anon_scratch.main.refine_points p
    join anon_scratch.main.cells_1 c on c.unit = p.unit
    join anon_scratch.main.deal_shares s on s.value = c.value
    cross join anon_scratch.main.deal_size z
-- 4 lines of the template, ea941366
        row_number() over (partition by bin order by place, unit) as place_in_bin,
        count(*) over (partition by bin) as units_of_bin,
        greatest(ceil(cast(count(*) over () as double) / 4000), 1) as blocks
    from binned
)
select *, (block << 24) + bin as cell
-- 7 lines of the template, 3527e34b

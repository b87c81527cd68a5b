-- ledger_classes, ledger signatures: The values of every class, bucket or group for each protected column, including NULL; users of a signature remove duplicates. Values of a class are distinct already. In the few rows of a bucket or group they hardly repeat, and removing duplicates would cost more than storing them all. Every list is sorted, so that the position of a value does not tell which person has it. Rows of buckets and groups are sorted by group first: a list then stays in the processor's cache while it grows.
create or replace table anon_scratch.main.ledger_signatures as
with shown_1 as (
    select class_id as grp, list(t1) as t1
    from (
        select distinct class_id, t1
        from anon_scratch.main.ledger_members
        where class_id is not null
    )
    group by class_id
)
select 'ill' as facet, grp, list_sort(t1) as signature from shown_1
-- 3 branches as in the template, 6a123905

-- ledger_classes, ledger signatures: The values of every class, bucket or group, for each protected column, NULL as well; whoever reads a signature takes each value once. Values of a class stand there once already. In the few rows of a bucket or group they hardly repeat, and to tell them apart would cost more than to keep them all. Every list is sorted, so that no value stands where its person stands among the members. So are the rows of buckets and groups before: a list then stays in the processor's cache while it grows.
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
order by b1  -- ledger_buckets_of_persons, ledger signatures: {% if not facets[0].once %}
,  -- ledger_buckets_of_persons, ledger signatures: ){% if not loop.last %},
union all  -- ledger_buckets_of_persons, ledger signatures: {% if not (last and loop.last) %}

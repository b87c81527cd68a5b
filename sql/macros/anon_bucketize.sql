-- Bucketize one column (local bucketization; Li and He 2022, Algorithm 2): every row keeps its other
-- columns, and the values of the column are dealt anew within buckets of at least l different
-- values. Buckets hold values that are near in order: the column is halved at its median as long as
-- both halves can be dealt, and a piece of n values is dealt over n / l buckets.
-- Rows come in an order drawn with the secret, as are ties and places in a bucket: equal table and
-- secret, equal result. Use a fresh secret for every release. NULLs are dealt over all buckets.
--
-- tbl        name of a table or view
-- sensitive  the column whose values are dealt
-- l          fewest different values of a bucket, 2 or more; a value that more than one of l rows
--            has is an error
-- secret     text of 32 characters or more
-- returns    every row, the column with the dealt value, and <column>_bucket, dense from 1
-- empty      no rows
--
-- example    from anon_bucketize('visits', 'disease', 2, 'f0e1d2c3b4a5968778695a4b3c2d1e0f');
create or replace temp macro anon_bucketize(tbl varchar, sensitive varchar, l, secret varchar) as table
from query(
    _anon_with('anon_bucketize', tbl, _anon_columns('anon_bucketize', 'sensitive', [sensitive]))
    || _anon_free('anon_bucketize', [sensitive || '_bucket', '_anon_value', '_anon_draw', '_anon_row'])
    || ', _anon_limit(l) as (select ' || _anon_at_least('anon_bucketize', 'l', l, 2)
    || '), _anon_drawn as (select *, ' || _anon_name(sensitive) || ' as _anon_value, md5_number(concat('
    || _anon_text(_anon_secret('anon_bucketize', secret))
    || ', '':'', to_json(_anon_row))) as _anon_draw from _anon_source _anon_row where (select free from _anon_free))'
    || $$,
-- exact duplicates are distinguished by a number: which of them gets
-- which makes no difference
_anon_rows as materialized (
    select * exclude (_anon_draw), row_number() over (order by _anon_draw) as _anon_row, _anon_draw
    from (
        select * replace (md5_number(concat(
            hex(_anon_draw), ':', row_number() over (partition by _anon_draw)
        )) as _anon_draw)
        from _anon_drawn
    )
),
_anon_ranked as materialized (
    select
        _anon_row as id,
        _anon_draw as draw,
        _anon_value as value,
        row_number() over (partition by _anon_value is null order by _anon_value, _anon_draw) - 1 as place
    from _anon_rows
),
_anon_counts as (
    select row_number() over (order by value) as code, cast(count(*) as bigint) as n, min(place) as start
    from _anon_ranked
    where value is not null
    group by value
),
_anon_total as (
    select
        case
            when max(n) * (select l from _anon_limit) > sum(n)
            then error('anon_bucketize: l: one value is too frequent for it (allowed: at most ' || cast(floor(sum(n) / max(n)) as bigint) || ')')
            when count(*) = 0 and (select count(*) from _anon_rows) > 0
            then error('anon_bucketize: sensitive: the column is NULL in all rows')
            else cast(coalesce(sum(n), 0) as bigint)
        end as n
    from _anon_counts
),
-- the number of a piece is the position where it begins
_anon_pieces(code, n, start, piece, piece_n) using key (code) as (
    select code, n, start, cast(0 as bigint), (select n from _anon_total) from _anon_counts
    union all (
        with sided as (
            -- the lower median is the first value up to which there is at least half of the piece
            select *, 2 * (start - piece) < piece_n as small from _anon_pieces
        ),
        halves as (
            select piece, small, min(start) as start, cast(sum(n) as bigint) as n
            from sided
            group by piece, small
            having max(n) * (select l from _anon_limit) <= sum(n)
        ),
        chosen as (select piece from halves group by piece having count(*) = 2)
        select s.code, s.n, s.start, h.start, h.n
        from sided s
        join chosen c on c.piece = s.piece
        join halves h on h.piece = s.piece and h.small = s.small
    )
),
_anon_quotas as (
    select piece, buckets, cast(sum(buckets) over (order by piece) - buckets as bigint) as first
    from (
        select distinct piece, cast(floor(piece_n / (select l from _anon_limit)) as bigint) as buckets
        from _anon_pieces
    )
),
_anon_placed as (
    select r.id, r.draw, r.value, q.first + (r.place - q.piece) % q.buckets as bucket
    from _anon_ranked r
    join _anon_pieces p on r.value is not null and r.place >= p.start and r.place < p.start + p.n
    join _anon_quotas q on q.piece = p.piece
    where (select n from _anon_total) > 0
    union all
    select id, draw, value, place % (select cast(sum(buckets) as bigint) from _anon_quotas)
    from _anon_ranked
    where value is null and (select n from _anon_total) > 0
),
_anon_positions as (
    select
        id,
        value,
        bucket,
        row_number() over (partition by bucket order by md5_number(concat(hex(draw), ':row')), id) as position,
        row_number() over (partition by bucket order by md5_number(concat(hex(draw), ':value')), id) as card
    from _anon_placed
),
_anon_numbers as (
    select bucket, row_number() over (order by md5_number(concat(hex(min(draw)), ':bucket')), bucket) as number
    from _anon_placed
    group by bucket
),
_anon_dealt as (
    select s.id, c.value, n.number
    from _anon_positions s
    join _anon_positions c on c.bucket = s.bucket and c.card = s.position
    join _anon_numbers n on n.bucket = s.bucket
)
select r.* exclude (_anon_value, _anon_draw, _anon_row) replace (d.value as $$
    || _anon_name(sensitive) || '), d.number as ' || _anon_name(sensitive || '_bucket')
    || ' from _anon_rows r join _anon_dealt d on d.id = r._anon_row order by r._anon_row'
);

comment on macro table anon_bucketize is
    'Values of a column permuted within buckets of l different values: from anon_bucketize(table, column, l, secret)';

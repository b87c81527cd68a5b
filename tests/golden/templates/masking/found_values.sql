-- masks, values that say who in ward: The texts in which values of such columns stand, and the same without them. The runs of a text's words are joined with the values, so that no text is compared with all.
create or replace table anon_scratch.main.found_o6 as
with texts as (
    select distinct k4 as text from anon_scratch.main.raw_rows where k4 is not null
),
words as (
    select text, string_split(trim(regexp_replace(lower(text), '[^\p{L}\p{N}]+', ' ', 'g')), ' ') as words
    from texts
),
lengths as (select distinct length from anon_scratch.main.identifier_values),
runs as (
    select distinct w.text, l.length, unnest(list_transform(
        range(1, len(w.words) - l.length + 2),
        lambda j: array_to_string(w.words[j:(j + l.length - 1)], ' ')
    )) as words
    from words w
    join lengths l on l.length <= len(w.words)
),
hits as (
    select r.text, v.number, v.words
    from runs r
    join anon_scratch.main.identifier_values v on v.length = r.length and v.words = r.words
),
patterns as (
    select
        text
        , coalesce(
            string_agg(replace(words, ' ', '[^\p{L}\p{N}]+'), '|' order by length(words) desc, words)
                filter (where number = 1),
            '[^\s\S]'
        ) as p1
        , coalesce(
            string_agg(replace(words, ' ', '[^\p{L}\p{N}]+'), '|' order by length(words) desc, words)
                filter (where number = 2),
            '[^\s\S]'
        ) as p2
    from hits
    group by text
)
select text, regexp_replace(regexp_replace(regexp_replace(regexp_replace(text, concat('(^|[^\p{L}\p{N}])(', p1, ')($|[^\p{L}\p{N}])'), '\1[visit]\3', 'gi'), concat('(^|[^\p{L}\p{N}])(', p1, ')($|[^\p{L}\p{N}])'), '\1[visit]\3', 'gi'), concat('(^|[^\p{L}\p{N}])(', p2, ')($|[^\p{L}\p{N}])'), '\1[patient]\3', 'gi'), concat('(^|[^\p{L}\p{N}])(', p2, ')($|[^\p{L}\p{N}])'), '\1[patient]\3', 'gi') as clean
from patterns

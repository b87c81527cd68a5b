-- hierarchy_distortion, hierarchy_1.distortion: Distortion of every node: what it costs to publish it instead of the values below.
create or replace table anon_scratch.main.distortion_1 as
with nodes as (
    -- 4 lines of the template, b0f7eafb
        (min(cast(hi as double)) - min(cast(lo as double))) as width
    from anon_scratch.main.hierarchy_1
    -- 8 lines of the template, 7b9706c4

-- 9 lines of the template, 9d9dc062
-- 4 lines of the template, 4f2ff20d
-- 3 branches as in the template, 41faa83b

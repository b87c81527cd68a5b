-- mondrian_dealt, size of classes: The class size: the smallest at which whole rows can give every value about its share. For a value that is expected more than once, about half a row is too much or too little. Nothing is dealt beyond so many values: every class that grows has a row for each of them.
create or replace table anon_scratch.main.deal_size as
with goals(goal) as (
    values (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (28), (30), (32), (34), (36), (38), (40), (42), (45), (48), (51), (54), (57), (60), (64), (68), (72), (76), (81), (86), (91), (96), (102), (108), (114), (121), (128), (136), (144), (153), (162), (172), (182), (193), (205), (217), (230), (244), (259), (275), (292), (310), (329), (349), (370), (392), (416), (441), (467), (495), (525), (556), (589), (624), (661), (701), (743), (788), (835), (885), (938), (994), (1054), (1117), (1184), (1255), (1330), (1410), (1495), (1585), (1680), (1781), (1888), (2001), (2121), (2248), (2383), (2526), (2678), (2839), (3009), (3190), (3381), (3584), (3799), (4027), (4269)
),
bins as (
    select distinct bin, q, total, most from anon_scratch.main.deal_shares
-- 4 lines of the template, e7e1ebad
        sum(least(cast(b.q as double) * g.goal, CAST(0.46 AS DOUBLE) * b.total)) as surplus,
        -- 5 lines of the template, 026931c3
select goal, cast(floor(CAST(0.4 AS DOUBLE) * goal * total - CAST(1e-06 AS DOUBLE)) as bigint) as budget, total
from weighed
where bins <= 1000 and goal * 2 <= total and surplus <= CAST(0.4 AS DOUBLE) * goal * total and room >= CAST(1.25 AS DOUBLE) * goal and least_room >= 1
order by goal
limit 1

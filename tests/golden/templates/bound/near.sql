-- mondrian_many_rows, tuples near them: {% if sampled > 1 %}
-- as many as are kept, of a part of the units: those of all units are no farther
close as (
    -- the loss of the pair and the unit as one number, so that the least are kept without a sort
    select r.unit as r, min(cast(case when r.c3 = u.c3 then 0 else 10000000 end + greatest(greatest(r.h1, u.h1) - least(r.l1, u.l1), 0) + case when least(r.l2, u.l2) >= greatest(r.h2, u.h2) then 0 when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 16 then greatest(r.z2_1, u.z2_1) when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 256 then greatest(r.z2_2, u.z2_2) when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 4096 then greatest(r.z2_3, u.z2_3) when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 65536 then greatest(r.z2_4, u.z2_4) when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 1048576 then greatest(r.z2_5, u.z2_5) else 10000000 end as bigint) * 4294967296 + u.unit, 3) as found
    from (
        -- combinations of codes that alone lose less than the cap
        select r.*, u.c3 as key_c3
        from anon_scratch.main.bound_rows r
        join keys u on case when r.c3 = u.c3 then 0 else 10000000 end < r.cap
    ) r
    join points u on u.c3 = r.key_c3 and case when r.c3 = u.c3 then 0 else 10000000 end + greatest(greatest(r.h1, u.h1) - least(r.l1, u.l1), 0) < r.cap and case when r.c3 = u.c3 then 0 else 10000000 end + greatest(greatest(r.h1, u.h1) - least(r.l1, u.l1), 0) + case when least(r.l2, u.l2) >= greatest(r.h2, u.h2) then 0 when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 16 then greatest(r.z2_1, u.z2_1) when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 256 then greatest(r.z2_2, u.z2_2) when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 4096 then greatest(r.z2_3, u.z2_3) when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 65536 then greatest(r.z2_4, u.z2_4) when ((least(r.l2, u.l2) | greatest(r.h2, u.h2)) - (least(r.l2, u.l2) & greatest(r.h2, u.h2))) < 1048576 then greatest(r.z2_5, u.z2_5) else 10000000 end < r.cap
    where u.unit <> r.unit and u.unit % 8 = 0
    -- 5 lines of the template, fcc67f3b
        case when len(c.found) > 2 then list_max(c.found) // 4294967296 + 1 else r.cap end as cap
    from anon_scratch.main.bound_rows r
    left join close c on c.r = r.unit
),

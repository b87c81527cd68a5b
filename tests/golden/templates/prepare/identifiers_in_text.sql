-- mondrian, identifiers in published text: Text that would be published and identifies a person: for each such column what was found and how often, in words and as the kinds of a policy. A form counts only if it is no coincidence.
with
known as (
    select 0 as place, count(q1) as n from anon_scratch.main.snapshot
    union all
    select 1 as place, count(q2) as n from anon_scratch.main.snapshot
),
found_0 as (
    select place, value, regexp_replace(regexp_replace(value, '(^|[^0-9A-Za-z])([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})([^0-9A-Za-z]|$)', '\1 \3', 'g'), '(^|[^0-9A-Za-z])([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})([^0-9A-Za-z]|$)', '\1 \3', 'g') as rest, n, regexp_matches(value, '[^0-9]') as mixed
    from anon_scratch.main.suspects
    where kind is null
),
found_1 as (
    select
        *
        , case when mixed then regexp_matches(rest, '(^|\n|.)([^ \t\r\n@<>,;:"''()]+@[A-Za-z0-9À-힣_\[\]-]+([.][A-Za-z0-9À-힣_\[\]-]+)*[.][A-Za-zÀ-힣]{2,})') else false end as f0
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9A-Za-z][0-9A-Za-z._+-]*( @ ?|@ | ?[(\[]at[)\]] ?)[A-Za-z0-9-]+([.][A-Za-z0-9-]+)*[.][a-z]{2,})([^0-9A-Za-z]|$)') else false end as f1
        , case when mixed then regexp_matches(rest, '(^|\n|.)(([hH][tT][tT][pP][sS]?|[fF][tT][pP])://[^ \t\r\n]+)') else false end as f2
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([wW]{3}[.][A-Za-z0-9-]+[.][A-Za-z]{2,}[^\n]*)([^0-9A-Za-z]|$)') else false end as f3
        , case when mixed then regexp_matches(value, '(^|[^0-9A-Za-z])([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})([^0-9A-Za-z]|$)') else false end as f4
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5})([^0-9A-Za-z]|$)') else false end as f5
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5})([^0-9A-Za-z]|$)') else false end as f6
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{4}[.][0-9a-fA-F]{4}[.][0-9a-fA-F]{4})([^0-9A-Za-z]|$)') else false end as f7
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z.])((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])([.](25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3})([.]?[^0-9A-Za-z.]|[.]?$)', 2) else '' end as f8
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7})([^0-9A-Za-z]|$)') else false end as f9
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){1,5}::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,5})?)([^0-9A-Za-z]|$)') else false end as f10
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){2,5})([^0-9A-Za-z]|$)') else false end as f11
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([fF][eE]80::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,6})([^0-9A-Za-z]|$)') else false end as f12
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?)([^0-9A-Za-z]|$)', 2) else '' end as f13
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([A-Za-z]{2}[0-9]{2}( ?[0-9]{4}){2,7}( ?[0-9]{1,3})?)([^0-9A-Za-z]|$)', 2) else '' end as f14
        , regexp_extract(rest, '(^|[^0-9A-Za-z])([3-6][0-9]{3}[ -]?[0-9]{4,6}[ -]?[0-9]{4,5}([ -]?[0-9]{1,4})?)([^0-9A-Za-z]|$)', 2) as f15
    from found_0
),
found_2 as (
    select
        *
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z-])((00[1-9]|0[1-9][0-9]|[1-57-8][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])([- ])(0[1-9]|[1-9][0-9])[- ](000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))([^0-9A-Za-z-]|$)') else false end as f16
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.])([0-8][0-9]{2}[.][0-9]{2}[.][0-9]{4})([^0-9A-Za-z.]|[.]?$)') else false end as f17
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([+][1-9][0-9]*([ ()/-]|[.][0-9]*[ ()/.-]|[.][0-9]{4})[0-9 ()/.-]*[0-9])([^0-9A-Za-z]|$)', 2) else '' end as f18
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([+][1-9][0-9]{6,}([.][0-9]{4})?)([^0-9A-Za-z.,]|[.,]?$|[.,][^0-9]|,[0-9]{5})', 2) else '' end as f19
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(00[1-9][0-9]?[)]?[ /-][0-9 ()/.-]{5,}[0-9])([^0-9A-Za-z]|$)', 2) else '' end as f20
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(00[1-9][0-9]{2}(([)]?[ /]|[)]-|-([0-9]{0,3}[ ()/.-]|[0-9]{4}[ ()/.]|[0-9]{5}|[0-9]{4}-[0-9]{1,2}[()/.-]))[0-9 ()/.-]*[0-9]|-[0-9]{4}-[0-9]{3,}([0-9 ()/.-]*[0-9])?))([^0-9A-Za-z]|$)', 2) else '' end as f21
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(00352-[0-9]{4}-[0-9]{2})([^0-9A-Za-z]|$)', 2) else '' end as f22
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.-])((1[ .-]?)?([(][2-9][0-9]{2}[)] ?[2-9][0-9]{2}[ .-][0-9]{4}|[2-9][0-9]{2}([.-])[2-9][0-9]{2}[.-][0-9]{4}))([^0-9A-Za-z]|$)') else false end as f23
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(0[1-9]([ .-][0-9]{2}){4})([^0-9A-Za-z]|$)') else false end as f24
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(0[1-9][0-9]{1,4}[ /-][1-9][0-9]{2,3}[ -]?[0-9]{3,5})([^0-9A-Za-z]|$)') else false end as f25
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([3-9][0-9]{2} [0-9]{3} [0-9]{3,4}|[6-9][0-9]{2}( [0-9]{2}){3})([^0-9A-Za-z]|$)') else false end as f26
        , case when mixed then regexp_extract(rest, '((?:[Pp]hone|[Tt]elef|[Mm]obil|[Mm][oó]vil|[Hh]andy|[Pp]ortable|[Aa]ppel|[Aa]nruf|[Ll]lama|[Cc]hiama|(?:^|[^A-Za-z])(?:[Tt][Ee][Ll]|[Ff]ax|[Cc]ell|[Cc]all|[Rr]ing|[Bb]el ))[^0-9+\]]{0,14})(([03-9(]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]{5,}[0-9])([^0-9A-Za-z]|$)', 2) else '' end as f27
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.])(-?[0-8]?[0-9][.][0-9]{4,} ?[,; ] ?-?1?[0-9]{1,2}[.][0-9]{4,})([^0-9A-Za-z.]|$)') else false end as f28
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9]{1,3}° ?[0-9]{1,2}[''′][^\n]*[NSEWO])(\n|.|$)') else false end as f29
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(([0-9]{8}|[0-9]{2}[.][0-9]{3}[.][0-9]{3}|[XYZxyz]-?[0-9]{7})-?[A-Za-z])([^0-9A-Za-z]|$)', 2) else '' end as f30
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z])([^0-9A-Za-z]|$)') else false end as f31
    from found_1
),
found_3 as (
    select
        *
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([a-z]{6}[0-9]{2}[a-ehlmprst][0-9]{2}[a-z][0-9]{3}[a-z])([^0-9A-Za-z]|$)') else false end as f32
        , regexp_extract(rest, '(^|[^0-9A-Za-z])([12] ?[0-9]{2} ?[0-9]{2} ?(2[AB]|[0-9]{2}) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})([^0-9A-Za-z]|$)', 2) as f33
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?[0-9]{2}){3}[ -]?[A-D])([^0-9A-Za-z]|$)') else false end as f34
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([a-ceghj-pr-tw-z][a-ceghj-npr-tw-z]([ -]?[0-9]{2}){3}[ -]?[a-d])([^0-9A-Za-z]|$)') else false end as f35
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[-+][0-9]{4})([^0-9A-Za-z]|$)', 2) else '' end as f36
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])((0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{2}[-+A-FU-Y][0-9]{3}[0-9A-Ya-y])([^0-9A-Za-z]|$)', 2) else '' end as f37
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{2}[.][0-9]{2}[.][0-9]{2}-[0-9]{3}[.][0-9]{2})([^0-9A-Za-z]|$)', 2) else '' end as f38
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2})([^0-9A-Za-z]|$)', 2) else '' end as f39
        , regexp_extract(rest, '(^|[^0-9A-Za-z])(756[.]?[0-9]{4}[.]?[0-9]{4}[.]?[0-9]{2})([^0-9A-Za-z]|$)', 2) as f40
        , regexp_extract(rest, '(^|[^0-9A-Za-z])([1-9][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-9]{5}[0-9X])([^0-9A-Za-z]|$)', 2) as f41
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{3} [0-9]{3} [0-9]{4})([^0-9A-Za-z]|$)', 2) else '' end as f42
        , regexp_extract(rest, '^( *)([0-9]{9})( *)$', 2) as f43
        , regexp_extract(rest, '^( *)([0-9]{10})( *)$', 2) as f44
        , regexp_extract(rest, '^( *)([0-9]{11})( *)$', 2) as f45
        , regexp_extract(rest, '^( *)([0-9]{11})( *)$', 2) as f46
    from found_2
),
plain as (
    select
        place, n
        , f0
        , f1
-- 44 more turns, e10071cf
        , upper(regexp_replace(f46, '[^0-9A-Za-z]', '', 'g')) as f46
    from found_3
-- 4 lines of the template, 3cf55f02
        , sum(case when f0 then n else 0 end) as f0
        , sum(case when f1 then n else 0 end) as f1
-- 44 more turns, 1850edde
        , sum(case when f46 <> '' then n else 0 end) as m46
        , sum(case when f46 <> '' and case when length(f46) = 11 then (1 * cast(substr(f46, 1, 1) as integer) + 3 * cast(substr(f46, 2, 1) as integer) + 7 * cast(substr(f46, 3, 1) as integer) + 9 * cast(substr(f46, 4, 1) as integer) + 1 * cast(substr(f46, 5, 1) as integer) + 3 * cast(substr(f46, 6, 1) as integer) + 7 * cast(substr(f46, 7, 1) as integer) + 9 * cast(substr(f46, 8, 1) as integer) + 1 * cast(substr(f46, 9, 1) as integer) + 3 * cast(substr(f46, 10, 1) as integer) + 1 * cast(substr(f46, 11, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f46
    -- 6 lines of the template, 64c44124
        , case when f0 >= CAST(0.0 AS DOUBLE) * k.n then f0 else 0 end as f0
        , case when f1 >= CAST(0.0 AS DOUBLE) * k.n then f1 else 0 end as f1
-- 44 more turns, 2bc32913
        , case when f46 * 2 >= m46 and f46 >= CAST(0.8 AS DOUBLE) * k.n
            then f46 else 0 end as f46
    -- 4 lines of the template, 3c562c17
    select 0 as kind
    union all
    select 1 as kind
    union all
-- 8 more turns, c8839c3e
    select 10 as kind
),
-- one branch for all kinds: Spark runs a common table expression as often as it is read
-- 4 lines of the template, 8d15ede7
            when 0 then greatest(0, f0, f1)
            when 1 then greatest(0, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27)
            when 2 then greatest(0, f13, f14)
            when 3 then greatest(0, f15)
            when 4 then greatest(0, f16, f17)
            when 5 then greatest(0, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39, f40, f41, f42, f43, f44, f45, f46)
            when 6 then greatest(0, f8, f9, f10, f11, f12)
            when 7 then greatest(0, f5, f6, f7)
            when 8 then greatest(0, f2, f3)
            when 9 then greatest(0, f28, f29)
            when 10 then greatest(0, f4)
        -- 7 lines of the template, d24d03df
            when 'name' then 11
            when 'identifier_value' then 12
        end as kind,
        n
    from anon_scratch.main.suspects
    -- 6 lines of the template, ca578eaa
-- 14 lines of the template, 5b51fdd9
        , max(case when kind = 0 then concat(n, ' values with mail addresses') end) as w0
        , max(case when kind = 0 then 'mail' end) as k0
        , max(case when kind = 1 then concat(n, ' values with telephone numbers') end) as w1
        , max(case when kind = 1 then 'phone' end) as k1
-- 10 more turns, c5129687
        , max(case when kind = 12 then concat(n, ' values that hold one of an identifier column') end) as w12
        , max(case when kind = 12 then 'identifier_value' end) as k12
    -- 5 lines of the template, 52b01082
    concat_ws(', ', w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12) as found,
    concat_ws(', ', k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12) as kinds
from words
order by place
-- 1 branch as in the template, a70d01f6

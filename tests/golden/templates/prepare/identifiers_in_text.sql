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
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([+][1-9][0-9]{6,})([^0-9A-Za-z.,]|[.,]?$|[.,][^0-9]|,[0-9]{5})', 2) else '' end as f19
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(00[1-9][0-9]?[)]?[ /-][0-9 ()/.-]{5,}[0-9])([^0-9A-Za-z]|$)', 2) else '' end as f20
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(00[1-9][0-9]{2}(([)]?[ /]|[)]-|-([0-9]{0,3}[ ()/.-]|[0-9]{4}[ ()/.]|[0-9]{5}|[0-9]{4}-[0-9]{1,2}[()/.-]))[0-9 ()/.-]*[0-9]|-[0-9]{4}-[0-9]{3,}([0-9 ()/.-]*[0-9])?))([^0-9A-Za-z]|$)', 2) else '' end as f21
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.-])((1[ .-]?)?([(][2-9][0-9]{2}[)] ?[2-9][0-9]{2}[ .-][0-9]{4}|[2-9][0-9]{2}([.-])[2-9][0-9]{2}[.-][0-9]{4}))([^0-9A-Za-z]|$)') else false end as f22
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(0[1-9]([ .-][0-9]{2}){4})([^0-9A-Za-z]|$)') else false end as f23
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(0[1-9][0-9]{1,4}[ /-][1-9][0-9]{2,3}[ -]?[0-9]{3,5})([^0-9A-Za-z]|$)') else false end as f24
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([3-9][0-9]{2} [0-9]{3} [0-9]{3,4}|[6-9][0-9]{2}( [0-9]{2}){3})([^0-9A-Za-z]|$)') else false end as f25
        , case when mixed then regexp_extract(rest, '((?:[Pp]hone|[Tt]elef|[Mm]obil|[Mm][oó]vil|[Hh]andy|[Pp]ortable|[Aa]ppel|[Aa]nruf|[Ll]lama|[Cc]hiama|(?:^|[^A-Za-z])(?:[Tt][Ee][Ll]|[Ff]ax|[Cc]ell|[Cc]all|[Rr]ing|[Bb]el ))[^0-9+\]]{0,14})(([03-9(]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]{5,}[0-9])([^0-9A-Za-z]|$)', 2) else '' end as f26
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.])(-?[0-8]?[0-9][.][0-9]{4,} ?[,; ] ?-?1?[0-9]{1,2}[.][0-9]{4,})([^0-9A-Za-z.]|$)') else false end as f27
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9]{1,3}° ?[0-9]{1,2}[''′][^\n]*[NSEWO])(\n|.|$)') else false end as f28
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(([0-9]{8}|[0-9]{2}[.][0-9]{3}[.][0-9]{3}|[XYZxyz]-?[0-9]{7})-?[A-Za-z])([^0-9A-Za-z]|$)', 2) else '' end as f29
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z])([^0-9A-Za-z]|$)') else false end as f30
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([a-z]{6}[0-9]{2}[a-ehlmprst][0-9]{2}[a-z][0-9]{3}[a-z])([^0-9A-Za-z]|$)') else false end as f31
    from found_1
),
found_3 as (
    select
        *
        , regexp_extract(rest, '(^|[^0-9A-Za-z])([12] ?[0-9]{2} ?[0-9]{2} ?(2[AB]|[0-9]{2}) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})([^0-9A-Za-z]|$)', 2) as f32
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?[0-9]{2}){3}[ -]?[A-D])([^0-9A-Za-z]|$)') else false end as f33
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([a-ceghj-pr-tw-z][a-ceghj-npr-tw-z]([ -]?[0-9]{2}){3}[ -]?[a-d])([^0-9A-Za-z]|$)') else false end as f34
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[-+][0-9]{4})([^0-9A-Za-z]|$)', 2) else '' end as f35
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])((0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{2}[-+A-FU-Y][0-9]{3}[0-9A-Ya-y])([^0-9A-Za-z]|$)', 2) else '' end as f36
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{2}[.][0-9]{2}[.][0-9]{2}-[0-9]{3}[.][0-9]{2})([^0-9A-Za-z]|$)', 2) else '' end as f37
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2})([^0-9A-Za-z]|$)', 2) else '' end as f38
        , regexp_extract(rest, '(^|[^0-9A-Za-z])(756[.]?[0-9]{4}[.]?[0-9]{4}[.]?[0-9]{2})([^0-9A-Za-z]|$)', 2) as f39
        , regexp_extract(rest, '(^|[^0-9A-Za-z])([1-9][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-9]{5}[0-9X])([^0-9A-Za-z]|$)', 2) as f40
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{3} [0-9]{3} [0-9]{4})([^0-9A-Za-z]|$)', 2) else '' end as f41
        , regexp_extract(rest, '^( *)([0-9]{9})( *)$', 2) as f42
        , regexp_extract(rest, '^( *)([0-9]{10})( *)$', 2) as f43
        , regexp_extract(rest, '^( *)([0-9]{11})( *)$', 2) as f44
        , regexp_extract(rest, '^( *)([0-9]{11})( *)$', 2) as f45
    from found_2
),
plain as (
    select
        place, n
        , f0
        , f1
        , f2
        , f3
        , f4
        , f5
        , f6
        , f7
        , f8
        , f9
        , f10
        , f11
        , f12
        , upper(regexp_replace(f13, '[^0-9A-Za-z]', '', 'g')) as f13
        , upper(regexp_replace(f14, '[^0-9A-Za-z]', '', 'g')) as f14
        , upper(regexp_replace(f15, '[^0-9A-Za-z]', '', 'g')) as f15
        , f16
        , f17
        , upper(regexp_replace(f18, '[^0-9A-Za-z]', '', 'g')) as f18
        , upper(regexp_replace(f19, '[^0-9A-Za-z]', '', 'g')) as f19
        , upper(regexp_replace(f20, '[^0-9A-Za-z]', '', 'g')) as f20
        , upper(regexp_replace(f21, '[^0-9A-Za-z]', '', 'g')) as f21
        , f22
        , f23
        , f24
        , f25
        , upper(regexp_replace(f26, '[^0-9A-Za-z]', '', 'g')) as f26
        , f27
        , f28
        , upper(regexp_replace(f29, '[^0-9A-Za-z]', '', 'g')) as f29
        , f30
        , f31
        , upper(regexp_replace(f32, '[^0-9A-Za-z]', '', 'g')) as f32
        , f33
        , f34
        , upper(regexp_replace(f35, '[^0-9A-Za-z]', '', 'g')) as f35
        , upper(regexp_replace(f36, '[^0-9A-Za-z]', '', 'g')) as f36
        , upper(regexp_replace(f37, '[^0-9A-Za-z]', '', 'g')) as f37
        , upper(regexp_replace(f38, '[^0-9A-Za-z]', '', 'g')) as f38
        , upper(regexp_replace(f39, '[^0-9A-Za-z]', '', 'g')) as f39
        , upper(regexp_replace(f40, '[^0-9A-Za-z]', '', 'g')) as f40
        , upper(regexp_replace(f41, '[^0-9A-Za-z]', '', 'g')) as f41
        , upper(regexp_replace(f42, '[^0-9A-Za-z]', '', 'g')) as f42
        , upper(regexp_replace(f43, '[^0-9A-Za-z]', '', 'g')) as f43
        , upper(regexp_replace(f44, '[^0-9A-Za-z]', '', 'g')) as f44
        , upper(regexp_replace(f45, '[^0-9A-Za-z]', '', 'g')) as f45
    from found_3
),
counted as (
    select
        place
        , sum(case when f0 then n else 0 end) as f0
        , sum(case when f1 then n else 0 end) as f1
        , sum(case when f2 then n else 0 end) as f2
        , sum(case when f3 then n else 0 end) as f3
        , sum(case when f4 then n else 0 end) as f4
        , sum(case when f5 then n else 0 end) as f5
        , sum(case when f6 then n else 0 end) as f6
        , sum(case when f7 then n else 0 end) as f7
        , sum(case when f8 <> '' then n else 0 end) as m8
        , sum(case when f8 <> '' and regexp_matches(f8, '(6[4-9]|[7-9][0-9]|[12][0-9][0-9])') then n else 0 end) as f8
        , sum(case when f9 then n else 0 end) as f9
        , sum(case when f10 then n else 0 end) as f10
        , sum(case when f11 then n else 0 end) as f11
        , sum(case when f12 then n else 0 end) as f12
        , sum(case when f13 <> '' then n else 0 end) as m13
        , sum(case when f13 <> '' and case when case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end > 0 and length(f13) >= case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end then ((cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f13, 5, case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f13, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 1, 9) as bigint) % 97 * 52 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f13, 5, case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f13, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 10, 9) as bigint) % 97 * 70 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f13, 5, case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f13, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 19, 9) as bigint) % 97 * 42 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f13, 5, case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f13, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 28, 9) as bigint) % 97 * 64 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f13, 5, case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f13, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 37, 9) as bigint) % 97 * 19 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f13, 5, case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f13, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 46, 9) as bigint) % 97 * 89 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f13, 5, case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f13, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 55, 9) as bigint) % 97 * 34 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f13, 5, case substr(f13, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f13, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 64, 9) as bigint) % 97 * 1) % 97) = 1 else false end then n else 0 end) as f13
        , sum(case when f14 <> '' then n else 0 end) as m14
        , sum(case when f14 <> '' and case when case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end > 0 and length(f14) >= case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end then ((cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f14, 5, case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f14, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 1, 9) as bigint) % 97 * 52 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f14, 5, case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f14, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 10, 9) as bigint) % 97 * 70 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f14, 5, case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f14, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 19, 9) as bigint) % 97 * 42 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f14, 5, case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f14, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 28, 9) as bigint) % 97 * 64 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f14, 5, case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f14, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 37, 9) as bigint) % 97 * 19 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f14, 5, case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f14, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 46, 9) as bigint) % 97 * 89 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f14, 5, case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f14, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 55, 9) as bigint) % 97 * 34 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f14, 5, case substr(f14, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f14, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 64, 9) as bigint) % 97 * 1) % 97) = 1 else false end then n else 0 end) as f14
        , sum(case when f15 <> '' then n else 0 end) as m15
        , sum(case when f15 <> '' and case when length(f15) between 13 and 19 then (cast(substr(lpad(f15, 19, '0'), 1, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 2, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 3, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 4, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 5, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 6, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 7, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 8, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 9, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 10, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 11, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 12, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 13, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 14, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 15, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 16, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 17, 1) as integer) + strpos('0516273849', substr(lpad(f15, 19, '0'), 18, 1)) - 1 + cast(substr(lpad(f15, 19, '0'), 19, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f15
        , sum(case when f16 then n else 0 end) as f16
        , sum(case when f17 then n else 0 end) as f17
        , sum(case when f18 <> '' then n else 0 end) as m18
        , sum(case when f18 <> '' and length(f18) between 8 and 15 then n else 0 end) as f18
        , sum(case when f19 <> '' then n else 0 end) as m19
        , sum(case when f19 <> '' and length(f19) between 8 and 15 then n else 0 end) as f19
        , sum(case when f20 <> '' then n else 0 end) as m20
        , sum(case when f20 <> '' and length(f20) between 11 and 15 then n else 0 end) as f20
        , sum(case when f21 <> '' then n else 0 end) as m21
        , sum(case when f21 <> '' and length(f21) between 11 and 15 then n else 0 end) as f21
        , sum(case when f22 then n else 0 end) as f22
        , sum(case when f23 then n else 0 end) as f23
        , sum(case when f24 then n else 0 end) as f24
        , sum(case when f25 then n else 0 end) as f25
        , sum(case when f26 <> '' then n else 0 end) as m26
        , sum(case when f26 <> '' and length(f26) between 8 and 15 then n else 0 end) as f26
        , sum(case when f27 then n else 0 end) as f27
        , sum(case when f28 then n else 0 end) as f28
        , sum(case when f29 <> '' then n else 0 end) as m29
        , sum(case when f29 <> '' and case when length(f29) = 9 then substr('TRWAGMYFPDXBNJZSQVHLCKE', cast(translate(substr(f29, 1, 8), 'XYZ', '012') as integer) % 23 + 1, 1) = right(f29, 1) else false end then n else 0 end) as f29
        , sum(case when f30 then n else 0 end) as f30
        , sum(case when f31 then n else 0 end) as f31
        , sum(case when f32 <> '' then n else 0 end) as m32
        , sum(case when f32 <> '' and case when length(f32) = 15 then 97 - ((cast(substr(lpad(left(replace(replace(f32, '2A', '19'), '2B', '18'), 13), 18, '0'), 1, 9) as bigint) % 97 * 34 + cast(substr(lpad(left(replace(replace(f32, '2A', '19'), '2B', '18'), 13), 18, '0'), 10, 9) as bigint) % 97 * 1) % 97) = cast(right(f32, 2) as integer) else false end then n else 0 end) as f32
        , sum(case when f33 then n else 0 end) as f33
        , sum(case when f34 then n else 0 end) as f34
        , sum(case when f35 <> '' then n else 0 end) as m35
        , sum(case when f35 <> '' and case when length(f35) between 10 and 10 then (strpos('0516273849', substr(lpad(f35, 10, '0'), 1, 1)) - 1 + cast(substr(lpad(f35, 10, '0'), 2, 1) as integer) + strpos('0516273849', substr(lpad(f35, 10, '0'), 3, 1)) - 1 + cast(substr(lpad(f35, 10, '0'), 4, 1) as integer) + strpos('0516273849', substr(lpad(f35, 10, '0'), 5, 1)) - 1 + cast(substr(lpad(f35, 10, '0'), 6, 1) as integer) + strpos('0516273849', substr(lpad(f35, 10, '0'), 7, 1)) - 1 + cast(substr(lpad(f35, 10, '0'), 8, 1) as integer) + strpos('0516273849', substr(lpad(f35, 10, '0'), 9, 1)) - 1 + cast(substr(lpad(f35, 10, '0'), 10, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f35
        , sum(case when f36 <> '' then n else 0 end) as m36
        , sum(case when f36 <> '' and substr('0123456789ABCDEFHJKLMNPRSTUVWXY', cast(concat(left(f36, 6), left(right(f36, 4), 3)) as integer) % 31 + 1, 1) = right(f36, 1) then n else 0 end) as f36
        , sum(case when f37 <> '' then n else 0 end) as m37
        , sum(case when f37 <> '' and case when length(f37) = 11 then cast(right(f37, 2) as integer) in (97 - cast(left(f37, 9) as bigint) % 97, 97 - (2000000000 + cast(left(f37, 9) as bigint)) % 97) else false end then n else 0 end) as f37
        , sum(case when f38 <> '' then n else 0 end) as m38
        , sum(case when f38 <> '' and case when length(f38) = 11 then f38 <> repeat(left(f38, 1), 11) and (10 * cast(substr(f38, 1, 1) as integer) + 9 * cast(substr(f38, 2, 1) as integer) + 8 * cast(substr(f38, 3, 1) as integer) + 7 * cast(substr(f38, 4, 1) as integer) + 6 * cast(substr(f38, 5, 1) as integer) + 5 * cast(substr(f38, 6, 1) as integer) + 4 * cast(substr(f38, 7, 1) as integer) + 3 * cast(substr(f38, 8, 1) as integer) + 2 * cast(substr(f38, 9, 1) as integer)) * 10 % 11 % 10 = cast(substr(f38, 10, 1) as integer) and (11 * cast(substr(f38, 1, 1) as integer) + 10 * cast(substr(f38, 2, 1) as integer) + 9 * cast(substr(f38, 3, 1) as integer) + 8 * cast(substr(f38, 4, 1) as integer) + 7 * cast(substr(f38, 5, 1) as integer) + 6 * cast(substr(f38, 6, 1) as integer) + 5 * cast(substr(f38, 7, 1) as integer) + 4 * cast(substr(f38, 8, 1) as integer) + 3 * cast(substr(f38, 9, 1) as integer) + 2 * cast(substr(f38, 10, 1) as integer)) * 10 % 11 % 10 = cast(substr(f38, 11, 1) as integer) else false end then n else 0 end) as f38
        , sum(case when f39 <> '' then n else 0 end) as m39
        , sum(case when f39 <> '' and case when length(f39) = 13 then (1 * cast(substr(f39, 1, 1) as integer) + 3 * cast(substr(f39, 2, 1) as integer) + 1 * cast(substr(f39, 3, 1) as integer) + 3 * cast(substr(f39, 4, 1) as integer) + 1 * cast(substr(f39, 5, 1) as integer) + 3 * cast(substr(f39, 6, 1) as integer) + 1 * cast(substr(f39, 7, 1) as integer) + 3 * cast(substr(f39, 8, 1) as integer) + 1 * cast(substr(f39, 9, 1) as integer) + 3 * cast(substr(f39, 10, 1) as integer) + 1 * cast(substr(f39, 11, 1) as integer) + 3 * cast(substr(f39, 12, 1) as integer) + 1 * cast(substr(f39, 13, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f39
        , sum(case when f40 <> '' then n else 0 end) as m40
        , sum(case when f40 <> '' and case when length(f40) = 18 then substr('10X98765432', (7 * cast(substr(f40, 1, 1) as integer) + 9 * cast(substr(f40, 2, 1) as integer) + 10 * cast(substr(f40, 3, 1) as integer) + 5 * cast(substr(f40, 4, 1) as integer) + 8 * cast(substr(f40, 5, 1) as integer) + 4 * cast(substr(f40, 6, 1) as integer) + 2 * cast(substr(f40, 7, 1) as integer) + 1 * cast(substr(f40, 8, 1) as integer) + 6 * cast(substr(f40, 9, 1) as integer) + 3 * cast(substr(f40, 10, 1) as integer) + 7 * cast(substr(f40, 11, 1) as integer) + 9 * cast(substr(f40, 12, 1) as integer) + 10 * cast(substr(f40, 13, 1) as integer) + 5 * cast(substr(f40, 14, 1) as integer) + 8 * cast(substr(f40, 15, 1) as integer) + 4 * cast(substr(f40, 16, 1) as integer) + 2 * cast(substr(f40, 17, 1) as integer)) % 11 + 1, 1) = right(f40, 1) else false end then n else 0 end) as f40
        , sum(case when f41 <> '' then n else 0 end) as m41
        , sum(case when f41 <> '' and case when length(f41) = 10 then (10 * cast(substr(f41, 1, 1) as integer) + 9 * cast(substr(f41, 2, 1) as integer) + 8 * cast(substr(f41, 3, 1) as integer) + 7 * cast(substr(f41, 4, 1) as integer) + 6 * cast(substr(f41, 5, 1) as integer) + 5 * cast(substr(f41, 6, 1) as integer) + 4 * cast(substr(f41, 7, 1) as integer) + 3 * cast(substr(f41, 8, 1) as integer) + 2 * cast(substr(f41, 9, 1) as integer) + 1 * cast(substr(f41, 10, 1) as integer)) % 11 = 0 else false end then n else 0 end) as f41
        , sum(case when f42 <> '' then n else 0 end) as m42
        , sum(case when f42 <> '' and case when length(f42) = 9 then (9 * cast(substr(f42, 1, 1) as integer) + 8 * cast(substr(f42, 2, 1) as integer) + 7 * cast(substr(f42, 3, 1) as integer) + 6 * cast(substr(f42, 4, 1) as integer) + 5 * cast(substr(f42, 5, 1) as integer) + 4 * cast(substr(f42, 6, 1) as integer) + 3 * cast(substr(f42, 7, 1) as integer) + 2 * cast(substr(f42, 8, 1) as integer) + -1 * cast(substr(f42, 9, 1) as integer)) % 11 = 0 else false end then n else 0 end) as f42
        , sum(case when f43 <> '' then n else 0 end) as m43
        , sum(case when f43 <> '' and case when length(f43) = 10 then (10 * cast(substr(f43, 1, 1) as integer) + 9 * cast(substr(f43, 2, 1) as integer) + 8 * cast(substr(f43, 3, 1) as integer) + 7 * cast(substr(f43, 4, 1) as integer) + 6 * cast(substr(f43, 5, 1) as integer) + 5 * cast(substr(f43, 6, 1) as integer) + 4 * cast(substr(f43, 7, 1) as integer) + 3 * cast(substr(f43, 8, 1) as integer) + 2 * cast(substr(f43, 9, 1) as integer) + 1 * cast(substr(f43, 10, 1) as integer)) % 11 = 0 else false end then n else 0 end) as f43
        , sum(case when f44 <> '' then n else 0 end) as m44
        , sum(case when f44 <> '' and case when length(f44) = 11 then f44 <> repeat(left(f44, 1), 11) and (10 * cast(substr(f44, 1, 1) as integer) + 9 * cast(substr(f44, 2, 1) as integer) + 8 * cast(substr(f44, 3, 1) as integer) + 7 * cast(substr(f44, 4, 1) as integer) + 6 * cast(substr(f44, 5, 1) as integer) + 5 * cast(substr(f44, 6, 1) as integer) + 4 * cast(substr(f44, 7, 1) as integer) + 3 * cast(substr(f44, 8, 1) as integer) + 2 * cast(substr(f44, 9, 1) as integer)) * 10 % 11 % 10 = cast(substr(f44, 10, 1) as integer) and (11 * cast(substr(f44, 1, 1) as integer) + 10 * cast(substr(f44, 2, 1) as integer) + 9 * cast(substr(f44, 3, 1) as integer) + 8 * cast(substr(f44, 4, 1) as integer) + 7 * cast(substr(f44, 5, 1) as integer) + 6 * cast(substr(f44, 6, 1) as integer) + 5 * cast(substr(f44, 7, 1) as integer) + 4 * cast(substr(f44, 8, 1) as integer) + 3 * cast(substr(f44, 9, 1) as integer) + 2 * cast(substr(f44, 10, 1) as integer)) * 10 % 11 % 10 = cast(substr(f44, 11, 1) as integer) else false end then n else 0 end) as f44
        , sum(case when f45 <> '' then n else 0 end) as m45
        , sum(case when f45 <> '' and case when length(f45) = 11 then (1 * cast(substr(f45, 1, 1) as integer) + 3 * cast(substr(f45, 2, 1) as integer) + 7 * cast(substr(f45, 3, 1) as integer) + 9 * cast(substr(f45, 4, 1) as integer) + 1 * cast(substr(f45, 5, 1) as integer) + 3 * cast(substr(f45, 6, 1) as integer) + 7 * cast(substr(f45, 7, 1) as integer) + 9 * cast(substr(f45, 8, 1) as integer) + 1 * cast(substr(f45, 9, 1) as integer) + 3 * cast(substr(f45, 10, 1) as integer) + 1 * cast(substr(f45, 11, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f45
    from plain
    group by place
),
likely as (
    select
        c.place
        , case when f0 >= CAST(0.0 AS DOUBLE) * k.n then f0 else 0 end as f0
        , case when f1 >= CAST(0.0 AS DOUBLE) * k.n then f1 else 0 end as f1
        , case when f2 >= CAST(0.0 AS DOUBLE) * k.n then f2 else 0 end as f2
        , case when f3 >= CAST(0.0 AS DOUBLE) * k.n then f3 else 0 end as f3
        , case when f4 >= CAST(0.0 AS DOUBLE) * k.n then f4 else 0 end as f4
        , case when f5 >= CAST(0.0 AS DOUBLE) * k.n then f5 else 0 end as f5
        , case when f6 >= CAST(0.5 AS DOUBLE) * k.n then f6 else 0 end as f6
        , case when f7 >= CAST(0.5 AS DOUBLE) * k.n then f7 else 0 end as f7
        , case when f8 * 2 >= m8 and f8 >= CAST(0.0 AS DOUBLE) * k.n
            then f8 else 0 end as f8
        , case when f9 >= CAST(0.0 AS DOUBLE) * k.n then f9 else 0 end as f9
        , case when f10 >= CAST(0.0 AS DOUBLE) * k.n then f10 else 0 end as f10
        , case when f11 >= CAST(0.0 AS DOUBLE) * k.n then f11 else 0 end as f11
        , case when f12 >= CAST(0.0 AS DOUBLE) * k.n then f12 else 0 end as f12
        , case when f13 * 2 >= m13 and f13 >= CAST(0.0 AS DOUBLE) * k.n
            then f13 else 0 end as f13
        , case when f14 * 2 >= m14 and f14 >= CAST(0.0 AS DOUBLE) * k.n
            then f14 else 0 end as f14
        , case when f15 * 2 >= m15 and f15 >= CAST(0.0 AS DOUBLE) * k.n
            then f15 else 0 end as f15
        , case when f16 >= CAST(0.0 AS DOUBLE) * k.n then f16 else 0 end as f16
        , case when f17 >= CAST(0.5 AS DOUBLE) * k.n then f17 else 0 end as f17
        , case when f18 * 2 >= m18 and f18 >= CAST(0.0 AS DOUBLE) * k.n
            then f18 else 0 end as f18
        , case when f19 * 2 >= m19 and f19 >= CAST(0.0 AS DOUBLE) * k.n
            then f19 else 0 end as f19
        , case when f20 * 2 >= m20 and f20 >= CAST(0.0 AS DOUBLE) * k.n
            then f20 else 0 end as f20
        , case when f21 * 2 >= m21 and f21 >= CAST(0.0 AS DOUBLE) * k.n
            then f21 else 0 end as f21
        , case when f22 >= CAST(0.0 AS DOUBLE) * k.n then f22 else 0 end as f22
        , case when f23 >= CAST(0.0 AS DOUBLE) * k.n then f23 else 0 end as f23
        , case when f24 >= CAST(0.5 AS DOUBLE) * k.n then f24 else 0 end as f24
        , case when f25 >= CAST(0.8 AS DOUBLE) * k.n then f25 else 0 end as f25
        , case when f26 * 2 >= m26 and f26 >= CAST(0.0 AS DOUBLE) * k.n
            then f26 else 0 end as f26
        , case when f27 >= CAST(0.5 AS DOUBLE) * k.n then f27 else 0 end as f27
        , case when f28 >= CAST(0.0 AS DOUBLE) * k.n then f28 else 0 end as f28
        , case when f29 * 2 >= m29 and f29 >= CAST(0.0 AS DOUBLE) * k.n
            then f29 else 0 end as f29
        , case when f30 >= CAST(0.0 AS DOUBLE) * k.n then f30 else 0 end as f30
        , case when f31 >= CAST(0.0 AS DOUBLE) * k.n then f31 else 0 end as f31
        , case when f32 * 2 >= m32 and f32 >= CAST(0.0 AS DOUBLE) * k.n
            then f32 else 0 end as f32
        , case when f33 >= CAST(0.0 AS DOUBLE) * k.n then f33 else 0 end as f33
        , case when f34 >= CAST(0.5 AS DOUBLE) * k.n then f34 else 0 end as f34
        , case when f35 * 2 >= m35 and f35 >= CAST(0.0 AS DOUBLE) * k.n
            then f35 else 0 end as f35
        , case when f36 * 2 >= m36 and f36 >= CAST(0.0 AS DOUBLE) * k.n
            then f36 else 0 end as f36
        , case when f37 * 2 >= m37 and f37 >= CAST(0.0 AS DOUBLE) * k.n
            then f37 else 0 end as f37
        , case when f38 * 2 >= m38 and f38 >= CAST(0.0 AS DOUBLE) * k.n
            then f38 else 0 end as f38
        , case when f39 * 2 >= m39 and f39 >= CAST(0.0 AS DOUBLE) * k.n
            then f39 else 0 end as f39
        , case when f40 * 2 >= m40 and f40 >= CAST(0.0 AS DOUBLE) * k.n
            then f40 else 0 end as f40
        , case when f41 * 2 >= m41 and f41 >= CAST(0.8 AS DOUBLE) * k.n
            then f41 else 0 end as f41
        , case when f42 * 2 >= m42 and f42 >= CAST(0.8 AS DOUBLE) * k.n
            then f42 else 0 end as f42
        , case when f43 * 2 >= m43 and f43 >= CAST(0.8 AS DOUBLE) * k.n
            then f43 else 0 end as f43
        , case when f44 * 2 >= m44 and f44 >= CAST(0.8 AS DOUBLE) * k.n
            then f44 else 0 end as f44
        , case when f45 * 2 >= m45 and f45 >= CAST(0.8 AS DOUBLE) * k.n
            then f45 else 0 end as f45
    from counted c
    join known k on k.place = c.place
),
judged as (
    select place, 0 as kind, cast(greatest(0, f0, f1) as bigint) as n
    from likely
    union all
    select place, 1 as kind, cast(greatest(0, f18, f19, f20, f21, f22, f23, f24, f25, f26) as bigint) as n
    from likely
    union all
    select place, 2 as kind, cast(greatest(0, f13, f14) as bigint) as n
    from likely
    union all
    select place, 3 as kind, cast(greatest(0, f15) as bigint) as n
    from likely
    union all
    select place, 4 as kind, cast(greatest(0, f16, f17) as bigint) as n
    from likely
    union all
    select place, 5 as kind, cast(greatest(0, f29, f30, f31, f32, f33, f34, f35, f36, f37, f38, f39, f40, f41, f42, f43, f44, f45) as bigint) as n
    from likely
    union all
    select place, 6 as kind, cast(greatest(0, f8, f9, f10, f11, f12) as bigint) as n
    from likely
    union all
    select place, 7 as kind, cast(greatest(0, f5, f6, f7) as bigint) as n
    from likely
    union all
    select place, 8 as kind, cast(greatest(0, f2, f3) as bigint) as n
    from likely
    union all
    select place, 9 as kind, cast(greatest(0, f27, f28) as bigint) as n
    from likely
    union all
    select place, 10 as kind, cast(greatest(0, f4) as bigint) as n
    from likely
    union all
    select place, 11 as kind, n
    from anon_scratch.main.suspects
    where kind = 'name'
    union all
    select place, 12 as kind, n
    from anon_scratch.main.suspects
    where kind = 'identifier_value'
),
shown as (
    select place, kind, cast(n as varchar) as n, length(cast(n as varchar)) as digits
    from judged
    where n > 0
),
grouped as (
    select
        place, kind,
        case
            when digits <= 3 then n
            when digits <= 6 then concat(left(n, digits - 3), ',', right(n, 3))
            else concat(left(n, digits - 6), ',', left(right(n, 6), 3), ',', right(n, 3))
        end as n
    from shown
),
words as (
    select
        place
        , max(case when kind = 0 then concat(n, ' values with mail addresses') end) as w0
        , max(case when kind = 0 then 'mail' end) as k0
        , max(case when kind = 1 then concat(n, ' values with telephone numbers') end) as w1
        , max(case when kind = 1 then 'phone' end) as k1
        , max(case when kind = 2 then concat(n, ' values with bank accounts (IBAN)') end) as w2
        , max(case when kind = 2 then 'iban' end) as k2
        , max(case when kind = 3 then concat(n, ' values with payment cards') end) as w3
        , max(case when kind = 3 then 'card' end) as k3
        , max(case when kind = 4 then concat(n, ' values with social security numbers') end) as w4
        , max(case when kind = 4 then 'ssn' end) as k4
        , max(case when kind = 5 then concat(n, ' values with identity numbers') end) as w5
        , max(case when kind = 5 then 'national_id' end) as k5
        , max(case when kind = 6 then concat(n, ' values with IP addresses') end) as w6
        , max(case when kind = 6 then 'ip' end) as k6
        , max(case when kind = 7 then concat(n, ' values with MAC addresses') end) as w7
        , max(case when kind = 7 then 'mac' end) as k7
        , max(case when kind = 8 then concat(n, ' values with web addresses') end) as w8
        , max(case when kind = 8 then 'url' end) as k8
        , max(case when kind = 9 then concat(n, ' values with coordinates') end) as w9
        , max(case when kind = 9 then 'coordinates' end) as k9
        , max(case when kind = 10 then concat(n, ' values with UUIDs') end) as w10
        , max(case when kind = 10 then 'uuid' end) as k10
        , max(case when kind = 11 then concat(n, ' different values under a name that says who somebody is') end) as w11
        , max(case when kind = 11 then 'name' end) as k11
        , max(case when kind = 12 then concat(n, ' values that hold one of an identifier column') end) as w12
        , max(case when kind = 12 then 'identifier_value' end) as k12
    from grouped
    group by place
)
select
    place,
    concat_ws(', ', w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12) as found,
    concat_ws(', ', k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12) as kinds
from words
order by place
where place not in (1)  -- several_tables_named, identifiers in published text: {% if kind.acknowledged %}

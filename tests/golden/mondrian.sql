-- read the source: Read the source once: what is released, the sensitivity flags, and the identity of each row.
create or replace table anon_scratch.main.snapshot as
select
    "age" as q1,
    cast("zip" as varchar) collate "binary" as q2,
    case when "patient" is not null then hash("patient") end as h0
from "anon_source"."main"."people";

-- values of age: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_1 as
select q1 as value, count(*) as n
from anon_scratch.main.snapshot
where q1 is not null
group by 1;

-- values of zip: The distinct values of one column, with their row counts.
create or replace table anon_scratch.main.values_2 as
select q2 as value, count(*) as n
from anon_scratch.main.snapshot
where q2 is not null
group by 1;

-- suspected identifiers: Published data that may identify a person: values that may have the form of an identifier, columns named like one, and columns that hold values of identifier columns.
create or replace table anon_scratch.main.suspects as
select place, cast(null as varchar) as kind, value, cast(sum(n) as bigint) as n
from (select place, case when regexp_matches(value, '[               　‐‑‒–—―−！-～٠-٩۰-۹०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯๐-๙໐-໙༠-༩၀-၉០-៩­͏؜᠎​‌‍‎‏‪‫‬‭‮⁠⁡⁢⁣⁤⁦⁧⁨⁩︎️﻿]') then translate(value, '               　‐‑‒–—―−！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९০১২৩৪৫৬৭৮৯੦੧੨੩੪੫੬੭੮੯૦૧૨૩૪૫૬૭૮૯୦୧୨୩୪୫୬୭୮୯௦௧௨௩௪௫௬௭௮௯౦౧౨౩౪౫౬౭౮౯೦೧೨೩೪೫೬೭೮೯൦൧൨൩൪൫൬൭൮൯๐๑๒๓๔๕๖๗๘๙໐໑໒໓໔໕໖໗໘໙༠༡༢༣༤༥༦༧༨༩၀၁၂၃၄၅၆၇၈၉០១២៣៤៥៦៧៨៩­͏؜᠎​‌‍‎‏‪‫‬‭‮⁠⁡⁢⁣⁤⁦⁧⁨⁩︎️﻿', '                -------!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789') else value end as value, n from (
    select 0 as place, case when value >= 100000000 then cast(value as varchar) end as value, n from anon_scratch.main.values_1
    union all
    select 1 as place, cast(value as varchar) as value, n from anon_scratch.main.values_2
) as published where regexp_matches(value, '[0-9@:！-～٠-٩۰-۹०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯๐-๙໐-໙༠-༩၀-၉០-៩]|[Ww][Ww][Ww][.]|[(\[{<][aA][tT][)\]}>]|&commat;| [aA][tT] [A-Za-z0-9-]+([.]| [dD][oO][tT] )|-[^-]*-[^-]*-[^-]*-')) as texts
where regexp_matches(value, '((^|\n|.)([^ \t\r\n@<>,;:"''()]+@[A-Za-z0-9À-힣_\[\]-]+([.][A-Za-z0-9À-힣_\[\]-]+)*[.][A-Za-zÀ-힣]{2,}))|((^|[^0-9A-Za-z])([0-9A-Za-z][0-9A-Za-z._+-]*( @ ?|@ | ?[(\[{<][aA][tT][)\]}>] ?)[A-Za-z0-9-]+(([.]| ?[(\[{<][dD][oO][tT][)\]}>] ?| dot )[A-Za-z0-9-]+)*([.]| ?[(\[{<][dD][oO][tT][)\]}>] ?| dot )[a-z]{2,})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9A-Za-z%][0-9A-Za-z._%+-]*(%40|&#0*64;|&#[xX]0*40;|&commat;)[A-Za-z0-9-]+(([.]|%2[eE]|&#0*46;|&#[xX]0*2[eE];|&period;)[A-Za-z0-9-]+)+)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([A-Za-z][0-9A-Za-z]*[._0-9+-][0-9A-Za-z._+-]* [aA][tT] [A-Za-z0-9-]+([.][A-Za-z0-9-]+)*[.]([Cc][Oo][Mm]|[Oo][Rr][Gg]|[Nn][Ee][Tt]|[Ee][Dd][Uu]|[Gg][Oo][Vv]|[Ii][Nn][Ff][Oo]|[Ii][Oo]|[Ee][Uu]|[Uu][Kk]|[Dd][Ee]|[Ff][Rr]|[Ee][Ss]|[Nn][Ll]|[Pp][Ll]|[Cc][Hh]|[Pp][Tt]|[Bb][Rr]|[Rr][Uu]|[Ss][Ee]|[Dd][Kk]|[Ff][Ii]|[Cc][Zz]|[Gg][Rr]|[Tt][Rr]|[Cc][Aa]|[Aa][Uu]|[Nn][Zz]|[Jj][Pp]|[Cc][Nn]|[Kk][Rr]|[Mm][Xx]|[Aa][Rr]|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]|[Tt][Ee][Ss][Tt]|[Ii][Nn][Vv][Aa][Ll][Ii][Dd]))([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([A-Za-z][0-9A-Za-z]* [aA][tT] [A-Za-z0-9-]+( [dD][oO][tT] [A-Za-z0-9-]+)* [dD][oO][tT] ([Cc][Oo][Mm]|[Oo][Rr][Gg]|[Nn][Ee][Tt]|[Ee][Dd][Uu]|[Gg][Oo][Vv]|[Ii][Nn][Ff][Oo]|[Ii][Oo]|[Ee][Uu]|[Uu][Kk]|[Dd][Ee]|[Ff][Rr]|[Ee][Ss]|[Nn][Ll]|[Pp][Ll]|[Cc][Hh]|[Pp][Tt]|[Bb][Rr]|[Rr][Uu]|[Ss][Ee]|[Dd][Kk]|[Ff][Ii]|[Cc][Zz]|[Gg][Rr]|[Tt][Rr]|[Cc][Aa]|[Aa][Uu]|[Nn][Zz]|[Jj][Pp]|[Cc][Nn]|[Kk][Rr]|[Mm][Xx]|[Aa][Rr]|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]|[Tt][Ee][Ss][Tt]|[Ii][Nn][Vv][Aa][Ll][Ii][Dd]))([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([A-Za-z][0-9A-Za-z]* [aA][tT] ([A-Za-z0-9-]*([Mm][Aa][Ii][Ll]|[Yy][Aa][Hh][Oo][Oo]|[Oo][Uu][Tt][Ll][Oo][Oo][Kk]|[Hh][Oo][Tt][Mm][Aa][Ii][Ll]|[Ll][Ii][Vv][Ee]|[Ii][Cc][Ll][Oo][Uu][Dd]|[Aa][Oo][Ll]|[Gg][Mm][Xx]|[Ww][Ee][Bb]|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]))[.]([A-Za-z0-9-]+[.])?([Cc][Oo][Mm]|[Oo][Rr][Gg]|[Nn][Ee][Tt]|[Ee][Dd][Uu]|[Gg][Oo][Vv]|[Ii][Nn][Ff][Oo]|[Ii][Oo]|[Ee][Uu]|[Uu][Kk]|[Dd][Ee]|[Ff][Rr]|[Ee][Ss]|[Nn][Ll]|[Pp][Ll]|[Cc][Hh]|[Pp][Tt]|[Bb][Rr]|[Rr][Uu]|[Ss][Ee]|[Dd][Kk]|[Ff][Ii]|[Cc][Zz]|[Gg][Rr]|[Tt][Rr]|[Cc][Aa]|[Aa][Uu]|[Nn][Zz]|[Jj][Pp]|[Cc][Nn]|[Kk][Rr]|[Mm][Xx]|[Aa][Rr]|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]|[Tt][Ee][Ss][Tt]|[Ii][Nn][Vv][Aa][Ll][Ii][Dd]))([^0-9A-Za-z]|$))|((^|\n|.)(([hH][tT][tT][pP][sS]?|[fF][tT][pP])://[^ \t\r\n]+))|((^|[^0-9A-Za-z])([wW]{3}[.][A-Za-z0-9-]+[.][A-Za-z]{2,}[^\n]*)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9a-fA-F]{4}[.][0-9a-fA-F]{4}[.][0-9a-fA-F]{4})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z.])((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])([.](25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3})([.]?[^0-9A-Za-z.]|[.]?$))|((^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){1,5}::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,5})?)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){2,5})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([fF][eE]80::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,6})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([A-Z]{2}[0-9]{2}([ .-]?[A-Z0-9]{4}){2,7}([ .-]?[A-Z0-9]{1,3})?)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([A-Za-z]{2}[0-9]{2}([ .-]?[0-9]{4}){2,7}([ .-]?[0-9]{1,3})?)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([A-Za-z]{2}[0-9]{2}[ .-]?[0-9A-Za-z]{4}([ .-]?([0-9][0-9A-Za-z]{3}|[A-Za-z][0-9][0-9A-Za-z]{2}|[A-Za-z]{2}[0-9][0-9A-Za-z]|[A-Za-z]{3}[0-9])){2,6}([ .-]?[0-9][0-9A-Za-z]{0,2})?)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])((no|be|dk|fi|fo|gl|nl|mk|si|at|ba|ee|kz|lt|lu|xk|ch|hr|li|lv|bg|bh|cr|de|gb|ge|ie|me|rs|va|ae|gi|il|iq|om|tl|ad|cz|es|md|pk|ro|sa|se|sk|tn|vg|ly|pt|st|is|tr|bi|dj|fr|gr|it|mc|mr|sm|al|az|by|cy|do|gt|hu|lb|ni|pl|br|eg|ps|qa|ua|jo|kw|mu|mt|sc|lc|ru)[0-9]{2}[0-9a-z]{11,30})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([3-6][0-9]{3}[ .-]?[0-9]{4,6}[ .-]?[0-9]{4,5}([ .-]?[0-9]{1,4})?)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z-])((00[1-9]|0[1-9][0-9]|[1-57-8][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])([- ])(0[1-9]|[1-9][0-9])[- ](000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))([^0-9A-Za-z-]|$))|((^|[^0-9A-Za-z.])([0-8][0-9]{2}[.][0-9]{2}[.][0-9]{4})([.]?[^0-9A-Za-z.]|[.]?$))|(((?:[Ss][Ss][Nn]|[Ss]ocial [Ss]ecurity)[^0-9\]]{0,12})([0-9]{9})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([+][1-9][0-9]*([ ()/-]|[.][0-9]*[ ()/.-]|[.][0-9]{4})[0-9 ()/.-]*[0-9])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([+]([17][0-9]{10}|(43|49|98|247|290|352|358|500|672|676|677|678|682|685|686|690)[0-9]{4,}|[2-689][0-9]{8,}|[1-9][0-9]{6,}[.][0-9]{4}))([^0-9A-Za-z.,]|[.,]?$|[.,][^0-9]|,[0-9]{5}))|((^|[^0-9A-Za-z])(00[1-9][0-9]?[)]?[ /-][0-9 ()/.-]{5,}[0-9])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])(00[1-9][0-9]{2}(([)]?[ /]|[)]-|-([0-9]{0,3}[ ()/.-]|[0-9]{4}[ ()/.]|[0-9]{5}|[0-9]{4}-[0-9]{1,2}[()/.-]))[0-9 ()/.-]*[0-9]|-[0-9]{4}-[0-9]{3,}([0-9 ()/.-]*[0-9])?))([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])(00352-[0-9]{4}-[0-9]{2})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z.-])((1[ .-]?)?([(][2-9][0-9]{2}[)] ?[2-9][0-9]{2}[ .-][0-9]{4}|[2-9][0-9]{2}([.-])[2-9][0-9]{2}[.-][0-9]{4}))([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9]{2}([ .-][0-9]{2}){4})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9]{3,6}([ /-]|[)] ?)[0-9]{3,4}[ -]?[0-9]{3,5})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([3-9][0-9]{2} [0-9]{3} [0-9]{4}|[6-9][0-9]{2}( [0-9]{2}){3})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9]{1,3} [0-9]{3} [0-9]{3})([^0-9A-Za-z]|$))|(((?:(?:[Pp][Hh][Oo][Nn][Ee]|[Tt][Ee][Ll][Ee][Ff]|[Tt][Ee][Ll][Ee][Mm]|[Mm][Oo][Bb][Ii][Ll]|[Mm][Oo][Bb][Ii][Ee][Ll]|[Mm][Oo][Vv][Ii][Ll]|[Mm][Óó][Vv][Ii][Ll]|[Hh][Aa][Nn][Dd][Yy]|[Pp][Oo][Rr][Tt][Aa][Bb][Ll][Ee]|[Aa][Pp][Pp][Ee][Ll]|[Aa][Nn][Rr][Uu][Ff]|[Rr][Uu][Ff][Nn][Uu][Mm][Mm][Ee][Rr]|[Ll][Ll][Aa][Mm][Aa]|[Cc][Hh][Ii][Aa][Mm][Aa]|[Ww][Hh][Aa][Tt][Ss][Aa][Pp][Pp]|[Cc][Ee][Ll][Uu][Ll][Aa][Rr]|[Cc][Ee][Ll][Ll][Uu][Ll][Aa][Rr]|[Kk][Oo][Mm][Óó][Rr][Kk]|[Kk][Oo][Mm][Oo][Rr][Kk]|[Тт][Ее][Лл][Ее][Фф][Оо][Нн]|[Мм][Оо][Бб][Ии][Лл]|[Зз][Вв][Оо][Нн]|[Сс][Оо][Тт][Оо][Вв]|[电电][话话]|[電電][話話]|[手手][机机]|[手手][機機]|[致致][电电]|[携携][帯帯]|[전전][화화]|[휴휴][대대][폰폰]|[هه][اا][تت][فف]|[جج][وو][اا][لل]|[مم][وو][بب][اا][يي][لل]|[تت][لل][فف][وو][نن]|[फफ]़ो[नन]|[फफ]ो[नन]|[मम]ो[बब]ा[इइ][लल])|(?:^|[^A-Za-zА-яЁё])(?:[Tt][Ee][Ll]|[Tt][Éé][Ll]|[Ff][Aa][Xx]|[Cc][Ee][Ll][Ll]|[Cc][Aa][Ll][Ll]|[Cc][Aa][Ll][Ll][Ee][Dd]|[Cc][Aa][Ll][Ll][Ii][Nn][Gg]|[Rr][Ii][Nn][Gg]|[Rr][Aa][Nn][Gg]|[Dd][Ii][Aa][Ll]|[Dd][Ii][Aa][Ll][Ll][Ee][Dd]|[Bb][Ee][Ll]|[Mm][Oo][Bb]|[Gg][Ss][Mm]|[Cc][Ee][Pp]|[Тт][Ее][Лл]|[Мм][Оо][Бб])[^0-9A-Za-zА-яЁё\]])[^0-9+\]]{0,14})((([03-9][0-9]{2}|1[0-8][0-9]|2[1-9][0-9]|(19|20)[0-9][ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]{3,}[0-9]|[0-9]{1,2}([ ()][0-9 ()/.-]{4,}|[./-]([ ()./-][0-9 ()/.-]{3,}|[0-9]{3}[0-9 ()/.-]+|[0-9]{1,2}[ ()][0-9 ()/.-]{2,}|[0-9]{1,2}[./-]([03-9]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]*))[0-9]|[0-9]{10,11}))([^0-9A-Za-z:]|:[^0-9]|:?$))|(((?:^|[^A-Za-z])(?:[Cc][Oo][Nn][Tt][Aa][Cc][Tt]|[Cc][Oo][Nn][Tt][Aa][Cc][Tt][Oo]|[Kk][Oo][Nn][Tt][Aa][Kk][Tt]|[Pp][Hh]|[Tt][Ee][Xx][Tt]|[Tt][Ee][Xx][Tt][Ee][Dd]|[Ss][Mm][Ss]|[Rr][Ee][Aa][Cc][Hh]|[Rr][Ee][Aa][Cc][Hh][Ee][Dd])(?:[ .:,;#()=-]|[Ii][Ss]|[Oo][Nn]|[Aa][Tt]|[Mm][Ee]|[Hh][Ii][Mm]|[Hh][Ee][Rr]|[Tt][Hh][Ee][Mm]|[Uu][Ss]|[Bb][Aa][Cc][Kk]|[Tt][Oo]|[Nn][Oo]|[Nn][Uu][Mm][Bb][Ee][Rr]|[Nn][Uu][Mm]|[Nn][Rr]|[Vv][Ii][Aa]){1,9})((0[0-9]{2}[0-9 ()/.-]{5,}[0-9]|0[0-9]?([ ()][0-9 ()/.-]{4,}|[./-]([ ()./-][0-9 ()/.-]{3,}|[0-9]{3}[0-9 ()/.-]+|[0-9]{1,2}[ ()][0-9 ()/.-]{2,}|[0-9]{1,2}[./-]([03-9]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]*))[0-9]|[0-9]{10,11}))([^0-9A-Za-z:]|:[^0-9]|:?$))|((^|[^0-9A-Za-z.])((0[0-9]{2}[0-9 ()/.-]{5,}[0-9]|0[0-9]?([ ()][0-9 ()/.-]{4,}|[./-]([ ()./-][0-9 ()/.-]{3,}|[0-9]{3}[0-9 ()/.-]+|[0-9]{1,2}[ ()][0-9 ()/.-]{2,}|[0-9]{1,2}[./-]([03-9]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]*))[0-9]|[0-9]{10,11}))([ ,(:-]{1,3}(?:(?:is|was|his|her|my|their|the|a) )*(?:[Pp][Hh][Oo][Nn][Ee]|[Tt][Ee][Ll][Ee][Pp][Hh][Oo][Nn][Ee]|[Mm][Oo][Bb][Ii][Ll][Ee]|[Cc][Ee][Ll][Ll]|[Tt][Ee][Ll]|[Ff][Aa][Xx]|[Hh][Aa][Nn][Dd][Yy]|[Mm][Oo][Bb][Ii][Ll])(?:[^A-Za-z]|$)))|((^|[^0-9A-Za-z.,])(-?[1-8][0-9][.][0-9]{4,} ?[,; ] ?-?1?[0-9]{1,2}[.][0-9]{4,}|-?0?[0-9][.][0-9]{4,} ?[,; ] ?-?1?[0-9]{2}[.][0-9]{4,}|-?0?[0-9][.][0-9]{5,} ?[,; ] ?-?0?[0-9][.][0-9]{5,})([.,]?[^0-9A-Za-z.,]|[.,]?$))|((^|[^0-9A-Za-z.,])(-?[1-8][0-9],[0-9]{4,}( ?[;/] ?|, | )-?1?[0-9]{1,2},[0-9]{4,}|-?0?[0-9],[0-9]{4,}( ?[;/] ?|, | )-?1?[0-9]{2},[0-9]{4,}|-?0?[0-9],[0-9]{5,}( ?[;/] ?|, | )-?0?[0-9],[0-9]{5,})([.,]?[^0-9A-Za-z.,]|[.,]?$))|((^|[^0-9A-Za-z])(["'']?([Ll][Aa][Tt]|[Ll][Aa][Tt][Ii][Tt][Uu][Dd][Ee]|[Ll][Aa][Tt][Ii][Tt][Uu][Dd]|[Bb][Rr][Ee][Ii][Tt][Ee]|[Bb][Rr][Ee][Ii][Tt][Ee][Nn][Gg][Rr][Aa][Dd]|[Ll][Oo][Nn]|[Ll][Nn][Gg]|[Ll][Oo][Nn][Gg]|[Ll][Oo][Nn][Gg][Ii][Tt][Uu][Dd][Ee]|[Ll][Oo][Nn][Gg][Ii][Tt][Uu][Dd]|[Ll][Ää][Nn][Gg][Ee]|[Ll][Aa][Ee][Nn][Gg][Ee])["'' ]*[:=]?["'' ]*-?1?[0-9]{1,2}[.,][0-9]{3,} ?°?["'' ]*[,;/ ]{1,3}["'']?([Ll][Aa][Tt]|[Ll][Aa][Tt][Ii][Tt][Uu][Dd][Ee]|[Ll][Aa][Tt][Ii][Tt][Uu][Dd]|[Bb][Rr][Ee][Ii][Tt][Ee]|[Bb][Rr][Ee][Ii][Tt][Ee][Nn][Gg][Rr][Aa][Dd]|[Ll][Oo][Nn]|[Ll][Nn][Gg]|[Ll][Oo][Nn][Gg]|[Ll][Oo][Nn][Gg][Ii][Tt][Uu][Dd][Ee]|[Ll][Oo][Nn][Gg][Ii][Tt][Uu][Dd]|[Ll][Ää][Nn][Gg][Ee]|[Ll][Aa][Ee][Nn][Gg][Ee])["'' ]*[:=]?["'' ]*-?1?[0-9]{1,2}[.,][0-9]{3,} ?°?)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([NS] ?-?1?[0-9]{1,2}[.,][0-9]{3,} ?°? ?[,;/]? ?[EWO] ?-?1?[0-9]{1,2}[.,][0-9]{3,} ?°?)([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])(-?1?[0-9]{1,2}[.,][0-9]{3,} ?°? ?[NS] ?[,;/]? ?-?1?[0-9]{1,2}[.,][0-9]{3,} ?°? ?[EWO])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])(-?1?[0-9]{1,2}[.,][0-9]{3,}° ?[,;/]? ?-?1?[0-9]{1,2}[.,][0-9]{3,}°))|((^|[^0-9A-Za-z])([0-9]{1,3}° ?[0-9]{1,2}[''′][^\n]*[NSEWO])(\n|.|$))|((^|[^0-9A-Za-z])(([0-9]{8}|[0-9]{2}[.][0-9]{3}[.][0-9]{3}|[XYZxyz]-?[0-9]{7})-?[A-Za-z])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([a-z]{6}[0-9]{2}[a-ehlmprst][0-9]{2}[a-z][0-9]{3}[a-z])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([12] ?[0-9]{2} ?[0-9]{2} ?(2[AB]|[0-9]{2}) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?[0-9]{2}){3}[ -]?[A-D])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([a-z]{2}([ -]?[0-9]{2}){3}[ -]?[a-z])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[-+][0-9]{4})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])((0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{2}[-+A-FU-Y][0-9]{3}[0-9A-Ya-y])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9]{2}[.][0-9]{2}[.][0-9]{2}-[0-9]{3}[.][0-9]{2})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])(756[.]?[0-9]{4}[.]?[0-9]{4}[.]?[0-9]{2})([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([1-9][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-9]{5}[0-9X])([^0-9A-Za-z]|$))|((^|[^0-9A-Za-z])([0-9]{3} [0-9]{3} [0-9]{4})([^0-9A-Za-z]|$))|(((?:[Bb][Ss][Nn]|[Ss][Oo][Ff][Ii]|[Bb][Uu][Rr][Gg][Ee][Rr][Ss][Ee][Rr][Vv][Ii][Cc][Ee][Nn][Uu][Mm][Mm][Ee][Rr])[^0-9\]]{0,12})([0-9]{9})([^0-9A-Za-z]|$))|(((?:[Nn][Hh][Ss])[^0-9\]]{0,12})([0-9]{10})([^0-9A-Za-z]|$))|(((?:[Pp][Ee][Ss][Ee][Ll])[^0-9\]]{0,12})([0-9]{11})([^0-9A-Za-z]|$))|(((?:[Cc][Pp][Ff])[^0-9\]]{0,12})([0-9]{11})([^0-9A-Za-z]|$))|(^( *)([0-9]{9})( *)$)|(^( *)([0-9]{10})( *)$)|(^( *)([0-9]{11})( *)$)|(^( *)([0-9]{11})( *)$)')
group by place, value;

-- identifiers in published text: Text that would be published and identifies a person: for each such column what was found and how often, in words and as the kinds of a policy. A form counts only if it is no coincidence: that depends on the values that have it, or are like it, and on no others. (stops the run if it returns rows)
with
found_0 as (
    select place, value, regexp_replace(regexp_replace(value, '(^|[^0-9A-Za-z])([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})([^0-9A-Za-z]|$)', '\1 \3', 'g'), '(^|[^0-9A-Za-z])([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})([^0-9A-Za-z]|$)', '\1 \3', 'g') as rest, n, regexp_matches(value, '[^0-9]') as mixed
    from anon_scratch.main.suspects
    where kind is null
),
found_1 as (
    select
        *
        , case when mixed then regexp_matches(rest, '(^|\n|.)([^ \t\r\n@<>,;:"''()]+@[A-Za-z0-9À-힣_\[\]-]+([.][A-Za-z0-9À-힣_\[\]-]+)*[.][A-Za-zÀ-힣]{2,})') else false end as f0
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9A-Za-z][0-9A-Za-z._+-]*( @ ?|@ | ?[(\[{<][aA][tT][)\]}>] ?)[A-Za-z0-9-]+(([.]| ?[(\[{<][dD][oO][tT][)\]}>] ?| dot )[A-Za-z0-9-]+)*([.]| ?[(\[{<][dD][oO][tT][)\]}>] ?| dot )[a-z]{2,})([^0-9A-Za-z]|$)') else false end as f1
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9A-Za-z%][0-9A-Za-z._%+-]*(%40|&#0*64;|&#[xX]0*40;|&commat;)[A-Za-z0-9-]+(([.]|%2[eE]|&#0*46;|&#[xX]0*2[eE];|&period;)[A-Za-z0-9-]+)+)([^0-9A-Za-z]|$)') else false end as f2
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-Za-z][0-9A-Za-z]*[._0-9+-][0-9A-Za-z._+-]* [aA][tT] [A-Za-z0-9-]+([.][A-Za-z0-9-]+)*[.]([Cc][Oo][Mm]|[Oo][Rr][Gg]|[Nn][Ee][Tt]|[Ee][Dd][Uu]|[Gg][Oo][Vv]|[Ii][Nn][Ff][Oo]|[Ii][Oo]|[Ee][Uu]|[Uu][Kk]|[Dd][Ee]|[Ff][Rr]|[Ee][Ss]|[Nn][Ll]|[Pp][Ll]|[Cc][Hh]|[Pp][Tt]|[Bb][Rr]|[Rr][Uu]|[Ss][Ee]|[Dd][Kk]|[Ff][Ii]|[Cc][Zz]|[Gg][Rr]|[Tt][Rr]|[Cc][Aa]|[Aa][Uu]|[Nn][Zz]|[Jj][Pp]|[Cc][Nn]|[Kk][Rr]|[Mm][Xx]|[Aa][Rr]|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]|[Tt][Ee][Ss][Tt]|[Ii][Nn][Vv][Aa][Ll][Ii][Dd]))([^0-9A-Za-z]|$)') else false end as f3
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-Za-z][0-9A-Za-z]* [aA][tT] [A-Za-z0-9-]+( [dD][oO][tT] [A-Za-z0-9-]+)* [dD][oO][tT] ([Cc][Oo][Mm]|[Oo][Rr][Gg]|[Nn][Ee][Tt]|[Ee][Dd][Uu]|[Gg][Oo][Vv]|[Ii][Nn][Ff][Oo]|[Ii][Oo]|[Ee][Uu]|[Uu][Kk]|[Dd][Ee]|[Ff][Rr]|[Ee][Ss]|[Nn][Ll]|[Pp][Ll]|[Cc][Hh]|[Pp][Tt]|[Bb][Rr]|[Rr][Uu]|[Ss][Ee]|[Dd][Kk]|[Ff][Ii]|[Cc][Zz]|[Gg][Rr]|[Tt][Rr]|[Cc][Aa]|[Aa][Uu]|[Nn][Zz]|[Jj][Pp]|[Cc][Nn]|[Kk][Rr]|[Mm][Xx]|[Aa][Rr]|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]|[Tt][Ee][Ss][Tt]|[Ii][Nn][Vv][Aa][Ll][Ii][Dd]))([^0-9A-Za-z]|$)') else false end as f4
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-Za-z][0-9A-Za-z]* [aA][tT] ([A-Za-z0-9-]*([Mm][Aa][Ii][Ll]|[Yy][Aa][Hh][Oo][Oo]|[Oo][Uu][Tt][Ll][Oo][Oo][Kk]|[Hh][Oo][Tt][Mm][Aa][Ii][Ll]|[Ll][Ii][Vv][Ee]|[Ii][Cc][Ll][Oo][Uu][Dd]|[Aa][Oo][Ll]|[Gg][Mm][Xx]|[Ww][Ee][Bb]|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]))[.]([A-Za-z0-9-]+[.])?([Cc][Oo][Mm]|[Oo][Rr][Gg]|[Nn][Ee][Tt]|[Ee][Dd][Uu]|[Gg][Oo][Vv]|[Ii][Nn][Ff][Oo]|[Ii][Oo]|[Ee][Uu]|[Uu][Kk]|[Dd][Ee]|[Ff][Rr]|[Ee][Ss]|[Nn][Ll]|[Pp][Ll]|[Cc][Hh]|[Pp][Tt]|[Bb][Rr]|[Rr][Uu]|[Ss][Ee]|[Dd][Kk]|[Ff][Ii]|[Cc][Zz]|[Gg][Rr]|[Tt][Rr]|[Cc][Aa]|[Aa][Uu]|[Nn][Zz]|[Jj][Pp]|[Cc][Nn]|[Kk][Rr]|[Mm][Xx]|[Aa][Rr]|[Ee][Xx][Aa][Mm][Pp][Ll][Ee]|[Tt][Ee][Ss][Tt]|[Ii][Nn][Vv][Aa][Ll][Ii][Dd]))([^0-9A-Za-z]|$)') else false end as f5
        , case when mixed then regexp_matches(rest, '(^|\n|.)(([hH][tT][tT][pP][sS]?|[fF][tT][pP])://[^ \t\r\n]+)') else false end as f6
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([wW]{3}[.][A-Za-z0-9-]+[.][A-Za-z]{2,}[^\n]*)([^0-9A-Za-z]|$)') else false end as f7
        , case when mixed then regexp_matches(value, '(^|[^0-9A-Za-z])([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})([^0-9A-Za-z]|$)') else false end as f8
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5})([^0-9A-Za-z]|$)') else false end as f9
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5})([^0-9A-Za-z]|$)', 2) else '' end as f10
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{4}[.][0-9a-fA-F]{4}[.][0-9a-fA-F]{4})([^0-9A-Za-z]|$)') else false end as f11
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z.])((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])([.](25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3})([.]?[^0-9A-Za-z.]|[.]?$)', 2) else '' end as f12
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7})([^0-9A-Za-z]|$)') else false end as f13
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){1,5}::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,5})?)([^0-9A-Za-z]|$)') else false end as f14
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9a-fA-F]{1,4}::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){2,5})([^0-9A-Za-z]|$)') else false end as f15
    from found_0
),
found_2 as (
    select
        *
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([fF][eE]80::[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){0,6})([^0-9A-Za-z]|$)') else false end as f16
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([A-Z]{2}[0-9]{2}([ .-]?[A-Z0-9]{4}){2,7}([ .-]?[A-Z0-9]{1,3})?)([^0-9A-Za-z]|$)', 2) else '' end as f17
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([A-Za-z]{2}[0-9]{2}([ .-]?[0-9]{4}){2,7}([ .-]?[0-9]{1,3})?)([^0-9A-Za-z]|$)', 2) else '' end as f18
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([A-Za-z]{2}[0-9]{2}[ .-]?[0-9A-Za-z]{4}([ .-]?([0-9][0-9A-Za-z]{3}|[A-Za-z][0-9][0-9A-Za-z]{2}|[A-Za-z]{2}[0-9][0-9A-Za-z]|[A-Za-z]{3}[0-9])){2,6}([ .-]?[0-9][0-9A-Za-z]{0,2})?)([^0-9A-Za-z]|$)', 2) else '' end as f19
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])((no|be|dk|fi|fo|gl|nl|mk|si|at|ba|ee|kz|lt|lu|xk|ch|hr|li|lv|bg|bh|cr|de|gb|ge|ie|me|rs|va|ae|gi|il|iq|om|tl|ad|cz|es|md|pk|ro|sa|se|sk|tn|vg|ly|pt|st|is|tr|bi|dj|fr|gr|it|mc|mr|sm|al|az|by|cy|do|gt|hu|lb|ni|pl|br|eg|ps|qa|ua|jo|kw|mu|mt|sc|lc|ru)[0-9]{2}[0-9a-z]{11,30})([^0-9A-Za-z]|$)', 2) else '' end as f20
        , regexp_extract(rest, '(^|[^0-9A-Za-z])([3-6][0-9]{3}[ .-]?[0-9]{4,6}[ .-]?[0-9]{4,5}([ .-]?[0-9]{1,4})?)([^0-9A-Za-z]|$)', 2) as f21
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z-])((00[1-9]|0[1-9][0-9]|[1-57-8][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])([- ])(0[1-9]|[1-9][0-9])[- ](000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))([^0-9A-Za-z-]|$)') else false end as f22
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.])([0-8][0-9]{2}[.][0-9]{2}[.][0-9]{4})([.]?[^0-9A-Za-z.]|[.]?$)') else false end as f23
        , case when mixed then regexp_matches(rest, '((?:[Ss][Ss][Nn]|[Ss]ocial [Ss]ecurity)[^0-9\]]{0,12})([0-9]{9})([^0-9A-Za-z]|$)') else false end as f24
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([+][1-9][0-9]*([ ()/-]|[.][0-9]*[ ()/.-]|[.][0-9]{4})[0-9 ()/.-]*[0-9])([^0-9A-Za-z]|$)', 2) else '' end as f25
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([+]([17][0-9]{10}|(43|49|98|247|290|352|358|500|672|676|677|678|682|685|686|690)[0-9]{4,}|[2-689][0-9]{8,}|[1-9][0-9]{6,}[.][0-9]{4}))([^0-9A-Za-z.,]|[.,]?$|[.,][^0-9]|,[0-9]{5})', 2) else '' end as f26
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(00[1-9][0-9]?[)]?[ /-][0-9 ()/.-]{5,}[0-9])([^0-9A-Za-z]|$)', 2) else '' end as f27
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(00[1-9][0-9]{2}(([)]?[ /]|[)]-|-([0-9]{0,3}[ ()/.-]|[0-9]{4}[ ()/.]|[0-9]{5}|[0-9]{4}-[0-9]{1,2}[()/.-]))[0-9 ()/.-]*[0-9]|-[0-9]{4}-[0-9]{3,}([0-9 ()/.-]*[0-9])?))([^0-9A-Za-z]|$)', 2) else '' end as f28
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(00352-[0-9]{4}-[0-9]{2})([^0-9A-Za-z]|$)', 2) else '' end as f29
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.-])((1[ .-]?)?([(][2-9][0-9]{2}[)] ?[2-9][0-9]{2}[ .-][0-9]{4}|[2-9][0-9]{2}([.-])[2-9][0-9]{2}[.-][0-9]{4}))([^0-9A-Za-z]|$)') else false end as f30
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(0[1-9]([ .-][0-9]{2}){4})([^0-9A-Za-z]|$)') else false end as f31
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9]{2}([ .-][0-9]{2}){4})([^0-9A-Za-z]|$)') else false end as m31
    from found_1
),
found_3 as (
    select
        *
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(0[1-9][0-9]{1,4}([ /-]|[)] ?)[0-9]{3,4}[ -]?[0-9]{3,5})([^0-9A-Za-z]|$)') else false end as f32
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9]{3,6}([ /-]|[)] ?)[0-9]{3,4}[ -]?[0-9]{3,5})([^0-9A-Za-z]|$)') else false end as m32
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([3-9][0-9]{2} [0-9]{3} [0-9]{4}|[6-9][0-9]{2}( [0-9]{2}){3})([^0-9A-Za-z]|$)') else false end as f33
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([3-9][0-9]{2} [0-9]{3} [0-9]{3})([^0-9A-Za-z]|$)') else false end as f34
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9]{1,3} [0-9]{3} [0-9]{3})([^0-9A-Za-z]|$)') else false end as m34
        , case when mixed then regexp_extract(rest, '((?:(?:[Pp][Hh][Oo][Nn][Ee]|[Tt][Ee][Ll][Ee][Ff]|[Tt][Ee][Ll][Ee][Mm]|[Mm][Oo][Bb][Ii][Ll]|[Mm][Oo][Bb][Ii][Ee][Ll]|[Mm][Oo][Vv][Ii][Ll]|[Mm][Óó][Vv][Ii][Ll]|[Hh][Aa][Nn][Dd][Yy]|[Pp][Oo][Rr][Tt][Aa][Bb][Ll][Ee]|[Aa][Pp][Pp][Ee][Ll]|[Aa][Nn][Rr][Uu][Ff]|[Rr][Uu][Ff][Nn][Uu][Mm][Mm][Ee][Rr]|[Ll][Ll][Aa][Mm][Aa]|[Cc][Hh][Ii][Aa][Mm][Aa]|[Ww][Hh][Aa][Tt][Ss][Aa][Pp][Pp]|[Cc][Ee][Ll][Uu][Ll][Aa][Rr]|[Cc][Ee][Ll][Ll][Uu][Ll][Aa][Rr]|[Kk][Oo][Mm][Óó][Rr][Kk]|[Kk][Oo][Mm][Oo][Rr][Kk]|[Тт][Ее][Лл][Ее][Фф][Оо][Нн]|[Мм][Оо][Бб][Ии][Лл]|[Зз][Вв][Оо][Нн]|[Сс][Оо][Тт][Оо][Вв]|[电电][话话]|[電電][話話]|[手手][机机]|[手手][機機]|[致致][电电]|[携携][帯帯]|[전전][화화]|[휴휴][대대][폰폰]|[هه][اا][تت][فف]|[جج][وو][اا][لل]|[مم][وو][بب][اا][يي][لل]|[تت][لل][فف][وو][نن]|[फफ]़ो[नन]|[फफ]ो[नन]|[मम]ो[बब]ा[इइ][लल])|(?:^|[^A-Za-zА-яЁё])(?:[Tt][Ee][Ll]|[Tt][Éé][Ll]|[Ff][Aa][Xx]|[Cc][Ee][Ll][Ll]|[Cc][Aa][Ll][Ll]|[Cc][Aa][Ll][Ll][Ee][Dd]|[Cc][Aa][Ll][Ll][Ii][Nn][Gg]|[Rr][Ii][Nn][Gg]|[Rr][Aa][Nn][Gg]|[Dd][Ii][Aa][Ll]|[Dd][Ii][Aa][Ll][Ll][Ee][Dd]|[Bb][Ee][Ll]|[Mm][Oo][Bb]|[Gg][Ss][Mm]|[Cc][Ee][Pp]|[Тт][Ее][Лл]|[Мм][Оо][Бб])[^0-9A-Za-zА-яЁё\]])[^0-9+\]]{0,14})((([03-9][0-9]{2}|1[0-8][0-9]|2[1-9][0-9]|(19|20)[0-9][ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]{3,}[0-9]|[0-9]{1,2}([ ()][0-9 ()/.-]{4,}|[./-]([ ()./-][0-9 ()/.-]{3,}|[0-9]{3}[0-9 ()/.-]+|[0-9]{1,2}[ ()][0-9 ()/.-]{2,}|[0-9]{1,2}[./-]([03-9]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]*))[0-9]|[0-9]{10,11}))([^0-9A-Za-z:]|:[^0-9]|:?$)', 2) else '' end as f35
        , case when mixed then regexp_extract(rest, '((?:^|[^A-Za-z])(?:[Cc][Oo][Nn][Tt][Aa][Cc][Tt]|[Cc][Oo][Nn][Tt][Aa][Cc][Tt][Oo]|[Kk][Oo][Nn][Tt][Aa][Kk][Tt]|[Pp][Hh]|[Tt][Ee][Xx][Tt]|[Tt][Ee][Xx][Tt][Ee][Dd]|[Ss][Mm][Ss]|[Rr][Ee][Aa][Cc][Hh]|[Rr][Ee][Aa][Cc][Hh][Ee][Dd])(?:[ .:,;#()=-]|[Ii][Ss]|[Oo][Nn]|[Aa][Tt]|[Mm][Ee]|[Hh][Ii][Mm]|[Hh][Ee][Rr]|[Tt][Hh][Ee][Mm]|[Uu][Ss]|[Bb][Aa][Cc][Kk]|[Tt][Oo]|[Nn][Oo]|[Nn][Uu][Mm][Bb][Ee][Rr]|[Nn][Uu][Mm]|[Nn][Rr]|[Vv][Ii][Aa]){1,9})((0[0-9]{2}[0-9 ()/.-]{5,}[0-9]|0[0-9]?([ ()][0-9 ()/.-]{4,}|[./-]([ ()./-][0-9 ()/.-]{3,}|[0-9]{3}[0-9 ()/.-]+|[0-9]{1,2}[ ()][0-9 ()/.-]{2,}|[0-9]{1,2}[./-]([03-9]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]*))[0-9]|[0-9]{10,11}))([^0-9A-Za-z:]|:[^0-9]|:?$)', 2) else '' end as f36
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z.])((0[0-9]{2}[0-9 ()/.-]{5,}[0-9]|0[0-9]?([ ()][0-9 ()/.-]{4,}|[./-]([ ()./-][0-9 ()/.-]{3,}|[0-9]{3}[0-9 ()/.-]+|[0-9]{1,2}[ ()][0-9 ()/.-]{2,}|[0-9]{1,2}[./-]([03-9]|1[0-8 ()/.-]|2[1-9 ()/.-]|(19|20)[0-9]?[ ()/.-]|(19|20)[0-9]{3})[0-9 ()/.-]*))[0-9]|[0-9]{10,11}))([ ,(:-]{1,3}(?:(?:is|was|his|her|my|their|the|a) )*(?:[Pp][Hh][Oo][Nn][Ee]|[Tt][Ee][Ll][Ee][Pp][Hh][Oo][Nn][Ee]|[Mm][Oo][Bb][Ii][Ll][Ee]|[Cc][Ee][Ll][Ll]|[Tt][Ee][Ll]|[Ff][Aa][Xx]|[Hh][Aa][Nn][Dd][Yy]|[Mm][Oo][Bb][Ii][Ll])(?:[^A-Za-z]|$))', 2) else '' end as f37
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.,])(-?[1-8][0-9][.][0-9]{4,} ?[,; ] ?-?1?[0-9]{1,2}[.][0-9]{4,}|-?0?[0-9][.][0-9]{4,} ?[,; ] ?-?1?[0-9]{2}[.][0-9]{4,}|-?0?[0-9][.][0-9]{5,} ?[,; ] ?-?0?[0-9][.][0-9]{5,})([.,]?[^0-9A-Za-z.,]|[.,]?$)') else false end as f38
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z.,])(-?[1-8][0-9],[0-9]{4,}( ?[;/] ?|, | )-?1?[0-9]{1,2},[0-9]{4,}|-?0?[0-9],[0-9]{4,}( ?[;/] ?|, | )-?1?[0-9]{2},[0-9]{4,}|-?0?[0-9],[0-9]{5,}( ?[;/] ?|, | )-?0?[0-9],[0-9]{5,})([.,]?[^0-9A-Za-z.,]|[.,]?$)') else false end as f39
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(["'']?([Ll][Aa][Tt]|[Ll][Aa][Tt][Ii][Tt][Uu][Dd][Ee]|[Ll][Aa][Tt][Ii][Tt][Uu][Dd]|[Bb][Rr][Ee][Ii][Tt][Ee]|[Bb][Rr][Ee][Ii][Tt][Ee][Nn][Gg][Rr][Aa][Dd]|[Ll][Oo][Nn]|[Ll][Nn][Gg]|[Ll][Oo][Nn][Gg]|[Ll][Oo][Nn][Gg][Ii][Tt][Uu][Dd][Ee]|[Ll][Oo][Nn][Gg][Ii][Tt][Uu][Dd]|[Ll][Ää][Nn][Gg][Ee]|[Ll][Aa][Ee][Nn][Gg][Ee])["'' ]*[:=]?["'' ]*-?1?[0-9]{1,2}[.,][0-9]{3,} ?°?["'' ]*[,;/ ]{1,3}["'']?([Ll][Aa][Tt]|[Ll][Aa][Tt][Ii][Tt][Uu][Dd][Ee]|[Ll][Aa][Tt][Ii][Tt][Uu][Dd]|[Bb][Rr][Ee][Ii][Tt][Ee]|[Bb][Rr][Ee][Ii][Tt][Ee][Nn][Gg][Rr][Aa][Dd]|[Ll][Oo][Nn]|[Ll][Nn][Gg]|[Ll][Oo][Nn][Gg]|[Ll][Oo][Nn][Gg][Ii][Tt][Uu][Dd][Ee]|[Ll][Oo][Nn][Gg][Ii][Tt][Uu][Dd]|[Ll][Ää][Nn][Gg][Ee]|[Ll][Aa][Ee][Nn][Gg][Ee])["'' ]*[:=]?["'' ]*-?1?[0-9]{1,2}[.,][0-9]{3,} ?°?)([^0-9A-Za-z]|$)') else false end as f40
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([NS] ?-?1?[0-9]{1,2}[.,][0-9]{3,} ?°? ?[,;/]? ?[EWO] ?-?1?[0-9]{1,2}[.,][0-9]{3,} ?°?)([^0-9A-Za-z]|$)') else false end as f41
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(-?1?[0-9]{1,2}[.,][0-9]{3,} ?°? ?[NS] ?[,;/]? ?-?1?[0-9]{1,2}[.,][0-9]{3,} ?°? ?[EWO])([^0-9A-Za-z]|$)') else false end as f42
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])(-?1?[0-9]{1,2}[.,][0-9]{3,}° ?[,;/]? ?-?1?[0-9]{1,2}[.,][0-9]{3,}°)') else false end as f43
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([0-9]{1,3}° ?[0-9]{1,2}[''′][^\n]*[NSEWO])(\n|.|$)') else false end as f44
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])(([0-9]{8}|[0-9]{2}[.][0-9]{3}[.][0-9]{3}|[XYZxyz]-?[0-9]{7})-?[A-Za-z])([^0-9A-Za-z]|$)', 2) else '' end as f45
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z])([^0-9A-Za-z]|$)') else false end as f46
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([a-z]{6}[0-9]{2}[a-ehlmprst][0-9]{2}[a-z][0-9]{3}[a-z])([^0-9A-Za-z]|$)') else false end as f47
    from found_2
),
found_4 as (
    select
        *
        , regexp_extract(rest, '(^|[^0-9A-Za-z])([12] ?[0-9]{2} ?[0-9]{2} ?(2[AB]|[0-9]{2}) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})([^0-9A-Za-z]|$)', 2) as f48
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?[0-9]{2}){3}[ -]?[A-D])([^0-9A-Za-z]|$)') else false end as f49
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([a-ceghj-pr-tw-z][a-ceghj-npr-tw-z]([ -]?[0-9]{2}){3}[ -]?[a-d])([^0-9A-Za-z]|$)') else false end as f50
        , case when mixed then regexp_matches(rest, '(^|[^0-9A-Za-z])([a-z]{2}([ -]?[0-9]{2}){3}[ -]?[a-z])([^0-9A-Za-z]|$)') else false end as m50
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[-+][0-9]{4})([^0-9A-Za-z]|$)', 2) else '' end as f51
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])((0[1-9]|[12][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{2}[-+A-FU-Y][0-9]{3}[0-9A-Ya-y])([^0-9A-Za-z]|$)', 2) else '' end as f52
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{2}[.][0-9]{2}[.][0-9]{2}-[0-9]{3}[.][0-9]{2})([^0-9A-Za-z]|$)', 2) else '' end as f53
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2})([^0-9A-Za-z]|$)', 2) else '' end as f54
        , regexp_extract(rest, '(^|[^0-9A-Za-z])(756[.]?[0-9]{4}[.]?[0-9]{4}[.]?[0-9]{2})([^0-9A-Za-z]|$)', 2) as f55
        , regexp_extract(rest, '(^|[^0-9A-Za-z])([1-9][0-9]{5}(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-9]{5}[0-9X])([^0-9A-Za-z]|$)', 2) as f56
        , case when mixed then regexp_extract(rest, '(^|[^0-9A-Za-z])([0-9]{3} [0-9]{3} [0-9]{4})([^0-9A-Za-z]|$)', 2) else '' end as f57
        , case when mixed then regexp_extract(rest, '((?:[Bb][Ss][Nn]|[Ss][Oo][Ff][Ii]|[Bb][Uu][Rr][Gg][Ee][Rr][Ss][Ee][Rr][Vv][Ii][Cc][Ee][Nn][Uu][Mm][Mm][Ee][Rr])[^0-9\]]{0,12})([0-9]{9})([^0-9A-Za-z]|$)', 2) else '' end as f58
        , case when mixed then regexp_extract(rest, '((?:[Nn][Hh][Ss])[^0-9\]]{0,12})([0-9]{10})([^0-9A-Za-z]|$)', 2) else '' end as f59
        , case when mixed then regexp_extract(rest, '((?:[Pp][Ee][Ss][Ee][Ll])[^0-9\]]{0,12})([0-9]{11})([^0-9A-Za-z]|$)', 2) else '' end as f60
        , case when mixed then regexp_extract(rest, '((?:[Cc][Pp][Ff])[^0-9\]]{0,12})([0-9]{11})([^0-9A-Za-z]|$)', 2) else '' end as f61
        , regexp_extract(rest, '^( *)([0-9]{9})( *)$', 2) as f62
        , regexp_extract(rest, '^( *)([0-9]{10})( *)$', 2) as f63
    from found_3
),
found_5 as (
    select
        *
        , regexp_extract(rest, '^( *)([0-9]{11})( *)$', 2) as f64
        , regexp_extract(rest, '^( *)([0-9]{11})( *)$', 2) as f65
    from found_4
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
        , upper(regexp_replace(f10, '[^0-9A-Za-z]', '', 'g')) as f10
        , f11
        , f12
        , f13
        , f14
        , f15
        , f16
        , upper(regexp_replace(f17, '[^0-9A-Za-z]', '', 'g')) as f17
        , upper(regexp_replace(f18, '[^0-9A-Za-z]', '', 'g')) as f18
        , upper(regexp_replace(f19, '[^0-9A-Za-z]', '', 'g')) as f19
        , upper(regexp_replace(f20, '[^0-9A-Za-z]', '', 'g')) as f20
        , upper(regexp_replace(f21, '[^0-9A-Za-z]', '', 'g')) as f21
        , f22
        , f23
        , f24
        , upper(regexp_replace(f25, '[^0-9A-Za-z]', '', 'g')) as f25
        , upper(regexp_replace(f26, '[^0-9A-Za-z]', '', 'g')) as f26
        , upper(regexp_replace(f27, '[^0-9A-Za-z]', '', 'g')) as f27
        , upper(regexp_replace(f28, '[^0-9A-Za-z]', '', 'g')) as f28
        , upper(regexp_replace(f29, '[^0-9A-Za-z]', '', 'g')) as f29
        , f30
        , f31
        , m31
        , f32
        , m32
        , f33
        , f34
        , m34
        , upper(regexp_replace(f35, '[^0-9A-Za-z]', '', 'g')) as f35
        , upper(regexp_replace(f36, '[^0-9A-Za-z]', '', 'g')) as f36
        , upper(regexp_replace(f37, '[^0-9A-Za-z]', '', 'g')) as f37
        , f38
        , f39
        , f40
        , f41
        , f42
        , f43
        , f44
        , upper(regexp_replace(f45, '[^0-9A-Za-z]', '', 'g')) as f45
        , f46
        , f47
        , upper(regexp_replace(f48, '[^0-9A-Za-z]', '', 'g')) as f48
        , f49
        , f50
        , m50
        , upper(regexp_replace(f51, '[^0-9A-Za-z]', '', 'g')) as f51
        , upper(regexp_replace(f52, '[^0-9A-Za-z]', '', 'g')) as f52
        , upper(regexp_replace(f53, '[^0-9A-Za-z]', '', 'g')) as f53
        , upper(regexp_replace(f54, '[^0-9A-Za-z]', '', 'g')) as f54
        , upper(regexp_replace(f55, '[^0-9A-Za-z]', '', 'g')) as f55
        , upper(regexp_replace(f56, '[^0-9A-Za-z]', '', 'g')) as f56
        , upper(regexp_replace(f57, '[^0-9A-Za-z]', '', 'g')) as f57
        , upper(regexp_replace(f58, '[^0-9A-Za-z]', '', 'g')) as f58
        , upper(regexp_replace(f59, '[^0-9A-Za-z]', '', 'g')) as f59
        , upper(regexp_replace(f60, '[^0-9A-Za-z]', '', 'g')) as f60
        , upper(regexp_replace(f61, '[^0-9A-Za-z]', '', 'g')) as f61
        , upper(regexp_replace(f62, '[^0-9A-Za-z]', '', 'g')) as f62
        , upper(regexp_replace(f63, '[^0-9A-Za-z]', '', 'g')) as f63
        , upper(regexp_replace(f64, '[^0-9A-Za-z]', '', 'g')) as f64
        , upper(regexp_replace(f65, '[^0-9A-Za-z]', '', 'g')) as f65
    from found_5
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
        , sum(case when f8 then n else 0 end) as f8
        , sum(case when f9 then n else 0 end) as f9
        , sum(case when f10 <> '' then n else 0 end) as m10
        , sum(case when f10 <> '' and regexp_matches(f10, '[A-F]') then n else 0 end) as f10
        , sum(case when f11 then n else 0 end) as f11
        , sum(case when f12 <> '' then n else 0 end) as m12
        , sum(case when f12 <> '' and regexp_matches(f12, '(6[4-9]|[7-9][0-9]|[12][0-9][0-9])') then n else 0 end) as f12
        , sum(case when f13 then n else 0 end) as f13
        , sum(case when f14 then n else 0 end) as f14
        , sum(case when f15 then n else 0 end) as f15
        , sum(case when f16 then n else 0 end) as f16
        , sum(case when f17 <> '' then n else 0 end) as m17
        , sum(case when f17 <> '' and case when case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end > 0 and length(f17) >= case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end then ((cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f17, 5, case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f17, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 1, 9) as bigint) % 97 * 52 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f17, 5, case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f17, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 10, 9) as bigint) % 97 * 70 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f17, 5, case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f17, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 19, 9) as bigint) % 97 * 42 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f17, 5, case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f17, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 28, 9) as bigint) % 97 * 64 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f17, 5, case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f17, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 37, 9) as bigint) % 97 * 19 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f17, 5, case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f17, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 46, 9) as bigint) % 97 * 89 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f17, 5, case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f17, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 55, 9) as bigint) % 97 * 34 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f17, 5, case substr(f17, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f17, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 64, 9) as bigint) % 97 * 1) % 97) = 1 else false end then n else 0 end) as f17
        , sum(case when f18 <> '' then n else 0 end) as m18
        , sum(case when f18 <> '' and case when case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end > 0 and length(f18) >= case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end then ((cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f18, 5, case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f18, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 1, 9) as bigint) % 97 * 52 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f18, 5, case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f18, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 10, 9) as bigint) % 97 * 70 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f18, 5, case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f18, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 19, 9) as bigint) % 97 * 42 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f18, 5, case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f18, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 28, 9) as bigint) % 97 * 64 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f18, 5, case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f18, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 37, 9) as bigint) % 97 * 19 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f18, 5, case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f18, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 46, 9) as bigint) % 97 * 89 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f18, 5, case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f18, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 55, 9) as bigint) % 97 * 34 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f18, 5, case substr(f18, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f18, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 64, 9) as bigint) % 97 * 1) % 97) = 1 else false end then n else 0 end) as f18
        , sum(case when f19 <> '' then n else 0 end) as m19
        , sum(case when f19 <> '' and case when case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end > 0 and length(f19) >= case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end then ((cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f19, 5, case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f19, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 1, 9) as bigint) % 97 * 52 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f19, 5, case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f19, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 10, 9) as bigint) % 97 * 70 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f19, 5, case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f19, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 19, 9) as bigint) % 97 * 42 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f19, 5, case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f19, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 28, 9) as bigint) % 97 * 64 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f19, 5, case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f19, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 37, 9) as bigint) % 97 * 19 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f19, 5, case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f19, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 46, 9) as bigint) % 97 * 89 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f19, 5, case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f19, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 55, 9) as bigint) % 97 * 34 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f19, 5, case substr(f19, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f19, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 64, 9) as bigint) % 97 * 1) % 97) = 1 else false end then n else 0 end) as f19
        , sum(case when f20 <> '' then n else 0 end) as m20
        , sum(case when f20 <> '' and case when case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end > 0 and length(f20) >= case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end then ((cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f20, 5, case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f20, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 1, 9) as bigint) % 97 * 52 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f20, 5, case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f20, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 10, 9) as bigint) % 97 * 70 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f20, 5, case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f20, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 19, 9) as bigint) % 97 * 42 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f20, 5, case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f20, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 28, 9) as bigint) % 97 * 64 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f20, 5, case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f20, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 37, 9) as bigint) % 97 * 19 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f20, 5, case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f20, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 46, 9) as bigint) % 97 * 89 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f20, 5, case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f20, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 55, 9) as bigint) % 97 * 34 + cast(substr(lpad(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(concat(substr(f20, 5, case substr(f20, 1, 2) when 'NO' then 15 when 'BE' then 16 when 'DK' then 18 when 'FI' then 18 when 'FO' then 18 when 'GL' then 18 when 'NL' then 18 when 'MK' then 19 when 'SI' then 19 when 'AT' then 20 when 'BA' then 20 when 'EE' then 20 when 'KZ' then 20 when 'LT' then 20 when 'LU' then 20 when 'XK' then 20 when 'CH' then 21 when 'HR' then 21 when 'LI' then 21 when 'LV' then 21 when 'BG' then 22 when 'BH' then 22 when 'CR' then 22 when 'DE' then 22 when 'GB' then 22 when 'GE' then 22 when 'IE' then 22 when 'ME' then 22 when 'RS' then 22 when 'VA' then 22 when 'AE' then 23 when 'GI' then 23 when 'IL' then 23 when 'IQ' then 23 when 'OM' then 23 when 'TL' then 23 when 'AD' then 24 when 'CZ' then 24 when 'ES' then 24 when 'MD' then 24 when 'PK' then 24 when 'RO' then 24 when 'SA' then 24 when 'SE' then 24 when 'SK' then 24 when 'TN' then 24 when 'VG' then 24 when 'LY' then 25 when 'PT' then 25 when 'ST' then 25 when 'IS' then 26 when 'TR' then 26 when 'BI' then 27 when 'DJ' then 27 when 'FR' then 27 when 'GR' then 27 when 'IT' then 27 when 'MC' then 27 when 'MR' then 27 when 'SM' then 27 when 'AL' then 28 when 'AZ' then 28 when 'BY' then 28 when 'CY' then 28 when 'DO' then 28 when 'GT' then 28 when 'HU' then 28 when 'LB' then 28 when 'NI' then 28 when 'PL' then 28 when 'BR' then 29 when 'EG' then 29 when 'PS' then 29 when 'QA' then 29 when 'UA' then 29 when 'JO' then 30 when 'KW' then 30 when 'MU' then 30 when 'MT' then 31 when 'SC' then 31 when 'LC' then 32 when 'RU' then 33 else 0 end - 4), substr(f20, 1, 4)), 'A', '10'), 'B', '11'), 'C', '12'), 'D', '13'), 'E', '14'), 'F', '15'), 'G', '16'), 'H', '17'), 'I', '18'), 'J', '19'), 'K', '20'), 'L', '21'), 'M', '22'), 'N', '23'), 'O', '24'), 'P', '25'), 'Q', '26'), 'R', '27'), 'S', '28'), 'T', '29'), 'U', '30'), 'V', '31'), 'W', '32'), 'X', '33'), 'Y', '34'), 'Z', '35'), 72, '0'), 64, 9) as bigint) % 97 * 1) % 97) = 1 else false end then n else 0 end) as f20
        , sum(case when f21 <> '' then n else 0 end) as m21
        , sum(case when f21 <> '' and case when length(f21) between 13 and 19 then (cast(substr(lpad(f21, 19, '0'), 1, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 2, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 3, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 4, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 5, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 6, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 7, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 8, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 9, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 10, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 11, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 12, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 13, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 14, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 15, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 16, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 17, 1) as integer) + strpos('0516273849', substr(lpad(f21, 19, '0'), 18, 1)) - 1 + cast(substr(lpad(f21, 19, '0'), 19, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f21
        , sum(case when f22 then n else 0 end) as f22
        , sum(case when f23 then n else 0 end) as f23
        , sum(case when f24 then n else 0 end) as f24
        , sum(case when f25 <> '' then n else 0 end) as m25
        , sum(case when f25 <> '' and length(f25) between 8 and 15 then n else 0 end) as f25
        , sum(case when f26 <> '' then n else 0 end) as m26
        , sum(case when f26 <> '' and length(f26) between 8 and 15 then n else 0 end) as f26
        , sum(case when f27 <> '' then n else 0 end) as m27
        , sum(case when f27 <> '' and length(f27) between 11 and 15 then n else 0 end) as f27
        , sum(case when f28 <> '' then n else 0 end) as m28
        , sum(case when f28 <> '' and length(f28) between 11 and 15 then n else 0 end) as f28
        , sum(case when f29 <> '' then n else 0 end) as m29
        , sum(case when f29 <> '' and length(f29) between 11 and 15 then n else 0 end) as f29
        , sum(case when f30 then n else 0 end) as f30
        , sum(case when f31 then n else 0 end) as f31
        , sum(case when m31 then n else 0 end) as m31
        , sum(case when f32 then n else 0 end) as f32
        , sum(case when m32 then n else 0 end) as m32
        , sum(case when f33 then n else 0 end) as f33
        , sum(case when f34 then n else 0 end) as f34
        , sum(case when m34 then n else 0 end) as m34
        , sum(case when f35 <> '' then n else 0 end) as m35
        , sum(case when f35 <> '' and length(f35) between 8 and 15 then n else 0 end) as f35
        , sum(case when f36 <> '' then n else 0 end) as m36
        , sum(case when f36 <> '' and length(f36) between 8 and 15 then n else 0 end) as f36
        , sum(case when f37 <> '' then n else 0 end) as m37
        , sum(case when f37 <> '' and length(f37) between 8 and 15 then n else 0 end) as f37
        , sum(case when f38 then n else 0 end) as f38
        , sum(case when f39 then n else 0 end) as f39
        , sum(case when f40 then n else 0 end) as f40
        , sum(case when f41 then n else 0 end) as f41
        , sum(case when f42 then n else 0 end) as f42
        , sum(case when f43 then n else 0 end) as f43
        , sum(case when f44 then n else 0 end) as f44
        , sum(case when f45 <> '' then n else 0 end) as m45
        , sum(case when f45 <> '' and case when length(f45) = 9 then substr('TRWAGMYFPDXBNJZSQVHLCKE', cast(translate(substr(f45, 1, 8), 'XYZ', '012') as integer) % 23 + 1, 1) = right(f45, 1) else false end then n else 0 end) as f45
        , sum(case when f46 then n else 0 end) as f46
        , sum(case when f47 then n else 0 end) as f47
        , sum(case when f48 <> '' then n else 0 end) as m48
        , sum(case when f48 <> '' and case when length(f48) = 15 then 97 - ((cast(substr(lpad(left(replace(replace(f48, '2A', '19'), '2B', '18'), 13), 18, '0'), 1, 9) as bigint) % 97 * 34 + cast(substr(lpad(left(replace(replace(f48, '2A', '19'), '2B', '18'), 13), 18, '0'), 10, 9) as bigint) % 97 * 1) % 97) = cast(right(f48, 2) as integer) else false end then n else 0 end) as f48
        , sum(case when f49 then n else 0 end) as f49
        , sum(case when f50 then n else 0 end) as f50
        , sum(case when m50 then n else 0 end) as m50
        , sum(case when f51 <> '' then n else 0 end) as m51
        , sum(case when f51 <> '' and case when length(f51) between 10 and 10 then (strpos('0516273849', substr(lpad(f51, 10, '0'), 1, 1)) - 1 + cast(substr(lpad(f51, 10, '0'), 2, 1) as integer) + strpos('0516273849', substr(lpad(f51, 10, '0'), 3, 1)) - 1 + cast(substr(lpad(f51, 10, '0'), 4, 1) as integer) + strpos('0516273849', substr(lpad(f51, 10, '0'), 5, 1)) - 1 + cast(substr(lpad(f51, 10, '0'), 6, 1) as integer) + strpos('0516273849', substr(lpad(f51, 10, '0'), 7, 1)) - 1 + cast(substr(lpad(f51, 10, '0'), 8, 1) as integer) + strpos('0516273849', substr(lpad(f51, 10, '0'), 9, 1)) - 1 + cast(substr(lpad(f51, 10, '0'), 10, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f51
        , sum(case when f52 <> '' then n else 0 end) as m52
        , sum(case when f52 <> '' and substr('0123456789ABCDEFHJKLMNPRSTUVWXY', cast(concat(left(f52, 6), left(right(f52, 4), 3)) as integer) % 31 + 1, 1) = right(f52, 1) then n else 0 end) as f52
        , sum(case when f53 <> '' then n else 0 end) as m53
        , sum(case when f53 <> '' and case when length(f53) = 11 then cast(right(f53, 2) as integer) in (97 - cast(left(f53, 9) as bigint) % 97, 97 - (2000000000 + cast(left(f53, 9) as bigint)) % 97) else false end then n else 0 end) as f53
        , sum(case when f54 <> '' then n else 0 end) as m54
        , sum(case when f54 <> '' and case when length(f54) = 11 then f54 <> repeat(left(f54, 1), 11) and (10 * cast(substr(f54, 1, 1) as integer) + 9 * cast(substr(f54, 2, 1) as integer) + 8 * cast(substr(f54, 3, 1) as integer) + 7 * cast(substr(f54, 4, 1) as integer) + 6 * cast(substr(f54, 5, 1) as integer) + 5 * cast(substr(f54, 6, 1) as integer) + 4 * cast(substr(f54, 7, 1) as integer) + 3 * cast(substr(f54, 8, 1) as integer) + 2 * cast(substr(f54, 9, 1) as integer)) * 10 % 11 % 10 = cast(substr(f54, 10, 1) as integer) and (11 * cast(substr(f54, 1, 1) as integer) + 10 * cast(substr(f54, 2, 1) as integer) + 9 * cast(substr(f54, 3, 1) as integer) + 8 * cast(substr(f54, 4, 1) as integer) + 7 * cast(substr(f54, 5, 1) as integer) + 6 * cast(substr(f54, 6, 1) as integer) + 5 * cast(substr(f54, 7, 1) as integer) + 4 * cast(substr(f54, 8, 1) as integer) + 3 * cast(substr(f54, 9, 1) as integer) + 2 * cast(substr(f54, 10, 1) as integer)) * 10 % 11 % 10 = cast(substr(f54, 11, 1) as integer) else false end then n else 0 end) as f54
        , sum(case when f55 <> '' then n else 0 end) as m55
        , sum(case when f55 <> '' and case when length(f55) = 13 then f55 <> '0000000000000' and (1 * cast(substr(f55, 1, 1) as integer) + 3 * cast(substr(f55, 2, 1) as integer) + 1 * cast(substr(f55, 3, 1) as integer) + 3 * cast(substr(f55, 4, 1) as integer) + 1 * cast(substr(f55, 5, 1) as integer) + 3 * cast(substr(f55, 6, 1) as integer) + 1 * cast(substr(f55, 7, 1) as integer) + 3 * cast(substr(f55, 8, 1) as integer) + 1 * cast(substr(f55, 9, 1) as integer) + 3 * cast(substr(f55, 10, 1) as integer) + 1 * cast(substr(f55, 11, 1) as integer) + 3 * cast(substr(f55, 12, 1) as integer) + 1 * cast(substr(f55, 13, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f55
        , sum(case when f56 <> '' then n else 0 end) as m56
        , sum(case when f56 <> '' and case when length(f56) = 18 then substr('10X98765432', (7 * cast(substr(f56, 1, 1) as integer) + 9 * cast(substr(f56, 2, 1) as integer) + 10 * cast(substr(f56, 3, 1) as integer) + 5 * cast(substr(f56, 4, 1) as integer) + 8 * cast(substr(f56, 5, 1) as integer) + 4 * cast(substr(f56, 6, 1) as integer) + 2 * cast(substr(f56, 7, 1) as integer) + 1 * cast(substr(f56, 8, 1) as integer) + 6 * cast(substr(f56, 9, 1) as integer) + 3 * cast(substr(f56, 10, 1) as integer) + 7 * cast(substr(f56, 11, 1) as integer) + 9 * cast(substr(f56, 12, 1) as integer) + 10 * cast(substr(f56, 13, 1) as integer) + 5 * cast(substr(f56, 14, 1) as integer) + 8 * cast(substr(f56, 15, 1) as integer) + 4 * cast(substr(f56, 16, 1) as integer) + 2 * cast(substr(f56, 17, 1) as integer)) % 11 + 1, 1) = right(f56, 1) else false end then n else 0 end) as f56
        , sum(case when f57 <> '' then n else 0 end) as m57
        , sum(case when f57 <> '' and case when length(f57) = 10 then f57 <> '0000000000' and (10 * cast(substr(f57, 1, 1) as integer) + 9 * cast(substr(f57, 2, 1) as integer) + 8 * cast(substr(f57, 3, 1) as integer) + 7 * cast(substr(f57, 4, 1) as integer) + 6 * cast(substr(f57, 5, 1) as integer) + 5 * cast(substr(f57, 6, 1) as integer) + 4 * cast(substr(f57, 7, 1) as integer) + 3 * cast(substr(f57, 8, 1) as integer) + 2 * cast(substr(f57, 9, 1) as integer) + 1 * cast(substr(f57, 10, 1) as integer)) % 11 = 0 else false end then n else 0 end) as f57
        , sum(case when f58 <> '' then n else 0 end) as m58
        , sum(case when f58 <> '' and case when length(f58) = 9 then f58 <> '000000000' and (9 * cast(substr(f58, 1, 1) as integer) + 8 * cast(substr(f58, 2, 1) as integer) + 7 * cast(substr(f58, 3, 1) as integer) + 6 * cast(substr(f58, 4, 1) as integer) + 5 * cast(substr(f58, 5, 1) as integer) + 4 * cast(substr(f58, 6, 1) as integer) + 3 * cast(substr(f58, 7, 1) as integer) + 2 * cast(substr(f58, 8, 1) as integer) + -1 * cast(substr(f58, 9, 1) as integer)) % 11 = 0 else false end then n else 0 end) as f58
        , sum(case when f59 <> '' then n else 0 end) as m59
        , sum(case when f59 <> '' and case when length(f59) = 10 then f59 <> '0000000000' and (10 * cast(substr(f59, 1, 1) as integer) + 9 * cast(substr(f59, 2, 1) as integer) + 8 * cast(substr(f59, 3, 1) as integer) + 7 * cast(substr(f59, 4, 1) as integer) + 6 * cast(substr(f59, 5, 1) as integer) + 5 * cast(substr(f59, 6, 1) as integer) + 4 * cast(substr(f59, 7, 1) as integer) + 3 * cast(substr(f59, 8, 1) as integer) + 2 * cast(substr(f59, 9, 1) as integer) + 1 * cast(substr(f59, 10, 1) as integer)) % 11 = 0 else false end then n else 0 end) as f59
        , sum(case when f60 <> '' then n else 0 end) as m60
        , sum(case when f60 <> '' and case when length(f60) = 11 then f60 <> '00000000000' and (1 * cast(substr(f60, 1, 1) as integer) + 3 * cast(substr(f60, 2, 1) as integer) + 7 * cast(substr(f60, 3, 1) as integer) + 9 * cast(substr(f60, 4, 1) as integer) + 1 * cast(substr(f60, 5, 1) as integer) + 3 * cast(substr(f60, 6, 1) as integer) + 7 * cast(substr(f60, 7, 1) as integer) + 9 * cast(substr(f60, 8, 1) as integer) + 1 * cast(substr(f60, 9, 1) as integer) + 3 * cast(substr(f60, 10, 1) as integer) + 1 * cast(substr(f60, 11, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f60
        , sum(case when f61 <> '' then n else 0 end) as m61
        , sum(case when f61 <> '' and case when length(f61) = 11 then f61 <> repeat(left(f61, 1), 11) and (10 * cast(substr(f61, 1, 1) as integer) + 9 * cast(substr(f61, 2, 1) as integer) + 8 * cast(substr(f61, 3, 1) as integer) + 7 * cast(substr(f61, 4, 1) as integer) + 6 * cast(substr(f61, 5, 1) as integer) + 5 * cast(substr(f61, 6, 1) as integer) + 4 * cast(substr(f61, 7, 1) as integer) + 3 * cast(substr(f61, 8, 1) as integer) + 2 * cast(substr(f61, 9, 1) as integer)) * 10 % 11 % 10 = cast(substr(f61, 10, 1) as integer) and (11 * cast(substr(f61, 1, 1) as integer) + 10 * cast(substr(f61, 2, 1) as integer) + 9 * cast(substr(f61, 3, 1) as integer) + 8 * cast(substr(f61, 4, 1) as integer) + 7 * cast(substr(f61, 5, 1) as integer) + 6 * cast(substr(f61, 6, 1) as integer) + 5 * cast(substr(f61, 7, 1) as integer) + 4 * cast(substr(f61, 8, 1) as integer) + 3 * cast(substr(f61, 9, 1) as integer) + 2 * cast(substr(f61, 10, 1) as integer)) * 10 % 11 % 10 = cast(substr(f61, 11, 1) as integer) else false end then n else 0 end) as f61
        , sum(case when f62 <> '' then n else 0 end) as m62
        , sum(case when f62 <> '' and case when length(f62) = 9 then f62 <> '000000000' and (9 * cast(substr(f62, 1, 1) as integer) + 8 * cast(substr(f62, 2, 1) as integer) + 7 * cast(substr(f62, 3, 1) as integer) + 6 * cast(substr(f62, 4, 1) as integer) + 5 * cast(substr(f62, 5, 1) as integer) + 4 * cast(substr(f62, 6, 1) as integer) + 3 * cast(substr(f62, 7, 1) as integer) + 2 * cast(substr(f62, 8, 1) as integer) + -1 * cast(substr(f62, 9, 1) as integer)) % 11 = 0 else false end then n else 0 end) as f62
        , sum(case when f63 <> '' then n else 0 end) as m63
        , sum(case when f63 <> '' and case when length(f63) = 10 then f63 <> '0000000000' and (10 * cast(substr(f63, 1, 1) as integer) + 9 * cast(substr(f63, 2, 1) as integer) + 8 * cast(substr(f63, 3, 1) as integer) + 7 * cast(substr(f63, 4, 1) as integer) + 6 * cast(substr(f63, 5, 1) as integer) + 5 * cast(substr(f63, 6, 1) as integer) + 4 * cast(substr(f63, 7, 1) as integer) + 3 * cast(substr(f63, 8, 1) as integer) + 2 * cast(substr(f63, 9, 1) as integer) + 1 * cast(substr(f63, 10, 1) as integer)) % 11 = 0 else false end then n else 0 end) as f63
        , sum(case when f64 <> '' then n else 0 end) as m64
        , sum(case when f64 <> '' and case when length(f64) = 11 then f64 <> repeat(left(f64, 1), 11) and (10 * cast(substr(f64, 1, 1) as integer) + 9 * cast(substr(f64, 2, 1) as integer) + 8 * cast(substr(f64, 3, 1) as integer) + 7 * cast(substr(f64, 4, 1) as integer) + 6 * cast(substr(f64, 5, 1) as integer) + 5 * cast(substr(f64, 6, 1) as integer) + 4 * cast(substr(f64, 7, 1) as integer) + 3 * cast(substr(f64, 8, 1) as integer) + 2 * cast(substr(f64, 9, 1) as integer)) * 10 % 11 % 10 = cast(substr(f64, 10, 1) as integer) and (11 * cast(substr(f64, 1, 1) as integer) + 10 * cast(substr(f64, 2, 1) as integer) + 9 * cast(substr(f64, 3, 1) as integer) + 8 * cast(substr(f64, 4, 1) as integer) + 7 * cast(substr(f64, 5, 1) as integer) + 6 * cast(substr(f64, 6, 1) as integer) + 5 * cast(substr(f64, 7, 1) as integer) + 4 * cast(substr(f64, 8, 1) as integer) + 3 * cast(substr(f64, 9, 1) as integer) + 2 * cast(substr(f64, 10, 1) as integer)) * 10 % 11 % 10 = cast(substr(f64, 11, 1) as integer) else false end then n else 0 end) as f64
        , sum(case when f65 <> '' then n else 0 end) as m65
        , sum(case when f65 <> '' and case when length(f65) = 11 then f65 <> '00000000000' and (1 * cast(substr(f65, 1, 1) as integer) + 3 * cast(substr(f65, 2, 1) as integer) + 7 * cast(substr(f65, 3, 1) as integer) + 9 * cast(substr(f65, 4, 1) as integer) + 1 * cast(substr(f65, 5, 1) as integer) + 3 * cast(substr(f65, 6, 1) as integer) + 7 * cast(substr(f65, 7, 1) as integer) + 9 * cast(substr(f65, 8, 1) as integer) + 1 * cast(substr(f65, 9, 1) as integer) + 3 * cast(substr(f65, 10, 1) as integer) + 1 * cast(substr(f65, 11, 1) as integer)) % 10 = 0 else false end then n else 0 end) as f65
    from plain
    group by place
),
likely as (
    select
        place
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
        , case when f10 * 2 >= m10 or (f10 * 4 >= m10 and f10 >= 20)
            then f10 else 0 end as f10
        , f11
        , case when f12 * 2 >= m12 or (f12 * 4 >= m12 and f12 >= 20)
            then f12 else 0 end as f12
        , f13
        , f14
        , f15
        , f16
        , case when f17 * 2 >= m17 or (f17 * 4 >= m17 and f17 >= 20)
            then f17 else 0 end as f17
        , case when f18 * 2 >= m18 or (f18 * 4 >= m18 and f18 >= 20)
            then f18 else 0 end as f18
        , case when f19 * 2 >= m19 or (f19 * 4 >= m19 and f19 >= 20)
            then f19 else 0 end as f19
        , case when f20 * 2 >= m20 or (f20 * 4 >= m20 and f20 >= 20)
            then f20 else 0 end as f20
        , case when f21 * 2 >= m21 or (f21 * 4 >= m21 and f21 >= 20)
            then f21 else 0 end as f21
        , f22
        , f23
        , f24
        , case when f25 * 2 >= m25 or (f25 * 4 >= m25 and f25 >= 20)
            then f25 else 0 end as f25
        , case when f26 * 2 >= m26 or (f26 * 4 >= m26 and f26 >= 20)
            then f26 else 0 end as f26
        , case when f27 * 2 >= m27 or (f27 * 4 >= m27 and f27 >= 20)
            then f27 else 0 end as f27
        , case when f28 * 2 >= m28 or (f28 * 4 >= m28 and f28 >= 20)
            then f28 else 0 end as f28
        , case when f29 * 2 >= m29 or (f29 * 4 >= m29 and f29 >= 20)
            then f29 else 0 end as f29
        , f30
        , case when f31 >= CAST(0.8 AS DOUBLE) * m31 then f31 else 0 end as f31
        , case when f32 >= CAST(0.25 AS DOUBLE) * m32 then f32 else 0 end as f32
        , f33
        , case when f34 >= CAST(0.8 AS DOUBLE) * m34 then f34 else 0 end as f34
        , case when f35 * 2 >= m35 or (f35 * 4 >= m35 and f35 >= 20)
            then f35 else 0 end as f35
        , case when f36 * 2 >= m36 or (f36 * 4 >= m36 and f36 >= 20)
            then f36 else 0 end as f36
        , case when f37 * 2 >= m37 or (f37 * 4 >= m37 and f37 >= 20)
            then f37 else 0 end as f37
        , f38
        , f39
        , f40
        , f41
        , f42
        , f43
        , f44
        , case when f45 * 2 >= m45 or (f45 * 4 >= m45 and f45 >= 20)
            then f45 else 0 end as f45
        , f46
        , f47
        , case when f48 * 2 >= m48 or (f48 * 4 >= m48 and f48 >= 20)
            then f48 else 0 end as f48
        , f49
        , case when f50 >= CAST(0.25 AS DOUBLE) * m50 then f50 else 0 end as f50
        , case when f51 * 2 >= m51 or (f51 * 4 >= m51 and f51 >= 20)
            then f51 else 0 end as f51
        , case when f52 * 2 >= m52 or (f52 * 4 >= m52 and f52 >= 20)
            then f52 else 0 end as f52
        , case when f53 * 2 >= m53 or (f53 * 4 >= m53 and f53 >= 20)
            then f53 else 0 end as f53
        , case when f54 * 2 >= m54 or (f54 * 4 >= m54 and f54 >= 20)
            then f54 else 0 end as f54
        , case when f55 * 2 >= m55 or (f55 * 4 >= m55 and f55 >= 20)
            then f55 else 0 end as f55
        , case when f56 * 2 >= m56 or (f56 * 4 >= m56 and f56 >= 20)
            then f56 else 0 end as f56
        , case when f57 >= CAST(0.8 AS DOUBLE) * m57 and f57 >= 3
            then f57 else 0 end as f57
        , case when f58 * 2 >= m58 or (f58 * 4 >= m58 and f58 >= 20)
            then f58 else 0 end as f58
        , case when f59 * 2 >= m59 or (f59 * 4 >= m59 and f59 >= 20)
            then f59 else 0 end as f59
        , case when f60 * 2 >= m60 or (f60 * 4 >= m60 and f60 >= 20)
            then f60 else 0 end as f60
        , case when f61 * 2 >= m61 or (f61 * 4 >= m61 and f61 >= 20)
            then f61 else 0 end as f61
        , case when f62 >= CAST(0.8 AS DOUBLE) * m62 and f62 >= 3
            then f62 else 0 end as f62
        , case when f63 >= CAST(0.8 AS DOUBLE) * m63 and f63 >= 3
            then f63 else 0 end as f63
        , case when f64 >= CAST(0.8 AS DOUBLE) * m64 and f64 >= 3
            then f64 else 0 end as f64
        , case when f65 >= CAST(0.8 AS DOUBLE) * m65 and f65 >= 3
            then f65 else 0 end as f65
    from counted
),
kinds as (
    select 0 as kind
    union all
    select 1 as kind
    union all
    select 2 as kind
    union all
    select 3 as kind
    union all
    select 4 as kind
    union all
    select 5 as kind
    union all
    select 6 as kind
    union all
    select 7 as kind
    union all
    select 8 as kind
    union all
    select 9 as kind
    union all
    select 10 as kind
),
-- one branch for all kinds: Spark runs a common table expression as often as it is read
verdicts as (
    select
        l.place, k.kind,
        cast(case k.kind
            when 0 then greatest(0, f0, f1, f2, f3, f4, f5)
            when 1 then greatest(0, f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36, f37)
            when 2 then greatest(0, f17, f18, f19, f20)
            when 3 then greatest(0, f21)
            when 4 then greatest(0, f22, f23, f24)
            when 5 then greatest(0, f45, f46, f47, f48, f49, f50, f51, f52, f53, f54, f55, f56, f57, f58, f59, f60, f61, f62, f63, f64, f65)
            when 6 then greatest(0, f12, f13, f14, f15, f16)
            when 7 then greatest(0, f9, f10, f11)
            when 8 then greatest(0, f6, f7)
            when 9 then greatest(0, f38, f39, f40, f41, f42, f43, f44)
            when 10 then greatest(0, f8)
        end as bigint) as n
    from likely l
    cross join kinds k
    union all
    select
        place,
        case kind
            when 'name' then 11
            when 'identifier_value' then 12
        end as kind,
        n
    from anon_scratch.main.suspects
    where kind is not null
),
shown as (
    select place, kind, cast(n as varchar) as n, length(cast(n as varchar)) as digits
    from verdicts
    where n > 0
),
groups as (
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
        , max(case when kind = 11 then concat(n, ' different values in a column named like an identifier') end) as w11
        , max(case when kind = 11 then 'name' end) as k11
        , max(case when kind = 12 then concat(n, ' values that contain a value of an identifier column') end) as w12
        , max(case when kind = 12 then 'identifier_value' end) as k12
    from groups
    group by place
)
select
    place,
    concat_ws(', ', w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12) as found,
    concat_ws(', ', k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12) as kinds
from words
order by place;

-- warnings about the source: How often a condition of the policy is NULL, and how often values of columns that look like keys repeat.
select
    k0.different as "different_values.patient",
    k0.known as "known_values.patient",
    k0.most as "most_rows.patient"
from
    (
        select
            count(*) as different,
            cast(coalesce(sum(n), 0) as bigint) as known,
            coalesce(max(n), 0) as most
        from (
            select count(*) as n
            from anon_scratch.main.snapshot
            where h0 is not null
            group by h0
        ) as repeats
    ) as k0;

-- what values look like: What the values of text columns look like: 1 if all are numbers, 2 if all are dates, else 0. How many values of exact numbers are the same as another one if they are computed with as doubles. And how many values a text has that may be names: 0 if few, or most are codes.
with looked_at as (
    select
        1 as number,
        case
            when count(*) <= 10 then 0
            when min(case when regexp_matches(value, '^ *[-+]?([0-9]+|[0-9]{1,3}([.,][0-9]{3})+)([.,][0-9]+)? *$') then 1 else 0 end) = 1 then 1
            when min(case when regexp_matches(value, '^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))([ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?$') then 1 else 0 end) = 1 then 2
            else 0
        end as figure
    from anon_scratch.main.values_2
)
select
    max(case when number = 1 then figure end) as "written_as.zip"
from looked_at;

-- values that may not be meant: What columns hold that may not be meant: counts of rows, and how many of the different values are another one but for case, outer blanks or Unicode form, or belong to one row (person) only.
select
    counts."meant.early.4.n"
from
    (
        select
            count(*) filter (where regexp_matches(cast(q2 as varchar), '^ *((0[0-9]{3}|1[0-4][0-9]{2})[-./](0?[1-9]|1[0-2])[-./](0?[1-9]|[12][0-9]|3[01])|(0?[1-9]|[12][0-9]|3[01])[-./](0?[1-9]|[12][0-9]|3[01])[-./](0[0-9]{3}|1[0-4][0-9]{2}))([ T][0-9:.]+)? *$')) as "meant.early.4.n"
        from anon_scratch.main.snapshot
    ) as counts;

-- codes of age: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_1 as
with value_counts as (
    select value, n from anon_scratch.main.values_1
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.value
        ) as code,
        count(*) over () as size
    from value_counts v
)
select
    cast(code as integer) as code,
    value,
    cast(value as varchar) as label,
    n,
    cast(size as bigint) as size,
    -- halved, so that the width of a domain of doubles cannot overflow
    (cast(value as double) / 2 - min(cast(value as double)) over () / 2)
        / nullif(max(cast(value as double)) over () / 2 - min(cast(value as double)) over () / 2, 0) as share
from coded
order by code;

-- codes of zip: Number the values of one column in the order in which it is cut: by value (numbers, dates), by hierarchy leaf, else the most frequent first.
create or replace table anon_scratch.main.domain_2 as
with value_counts as (
    select value, n from anon_scratch.main.values_2
),
coded as (
    select
        v.value,
        v.n,
row_number() over (
order by v.n desc, v.value
        ) as code,
        count(*) over () as size
    from value_counts v
)
select
    cast(code as integer) as code,
    value,
    case when regexp_matches(cast(value as varchar), '^$|^\*$|^NULL$|^ | $| or NULL$|[][,{}"]') then '"' || replace(cast(value as varchar), '"', '""') || '"' else cast(value as varchar) end as label,
    n,
    cast(size as bigint) as size,
    (code - min(code) over ()) / nullif(cast(max(code) over () - min(code) over () as double), 0) as share
from coded
order by code;

-- values as counted: Columns that have more values than were counted for the plan, or NULLs where none were counted, by number, and how many. (stops the run if it returns rows)
with nulls as (
    select count(*) - count(q1) as n1, count(*) - count(q2) as n2, count(*) as n from anon_scratch.main.snapshot
)
select 1 as number, false as is_null, max(code) - 9 as n from anon_scratch.main.domain_1 having max(code) > 9
union all
select 2 as number, false as is_null, max(code) - 8 as n from anon_scratch.main.domain_2 having max(code) > 8
union all
select 1, true, n1 from nulls where n1 > 0
union all
select 2, true, n2 from nulls where n2 > 0;

-- encode rows: Every row as small codes, or as the words of its tuple, with its secret-keyed draw.
create or replace table anon_scratch.main.coded as
with placed as (
    select
        s.rowid as row_ref
        , cast(d1.code as bigint) * 9 + d2.code as t1
    from anon_scratch.main.snapshot s
    join anon_scratch.main.domain_1 d1 on d1.value is not distinct from s.q1
    join anon_scratch.main.domain_2 d2 on d2.value is not distinct from s.q2
),
copied as (
    select *, row_number() over (partition by t1) as copy
    from placed
),
drawn as (
    select
        md5_number(concat($secret, ':', t1, ':', copy)) as draw
        , row_ref
        , t1
    from copied
)
select *
from drawn;

-- enough rows: The table has fewer units (rows, or persons) than one class needs. (stops the run if it returns rows)
select count(*) as units from anon_scratch.main.coded having count(*) < 2;

-- distinct tuples: The distinct quasi-identifier tuples with their counts: what is partitioned instead of rows.
create or replace table anon_scratch.main.units as
with groups as (
    select t1, count(*) as n, min(draw) as draw
    from anon_scratch.main.coded
    group by t1
)
select row_number() over (order by t1) as unit, *, cast(t1 // 9 as integer) as c1, cast((t1) % 9 as integer) as c2
from groups;

-- places in the domains: The domains of all quasi-identifiers in one table, with a row for cells that are sensitive.
create or replace table anon_scratch.main.positions as
select 1 as attribute, code, share, size

from anon_scratch.main.domain_1
union all
select 2 as attribute, code, share, size

from anon_scratch.main.domain_2;

-- partition: The whole partitioning as one statement: every class is cut until no admissible cut is left.
create or replace table anon_scratch.main.members as
with recursive partition(unit, class_id, level, closed, n, c1, c2, w1, several) as (
    select unit, 1 as class_id, 0 as level, false as closed, n, c1, c2, case when c2 between 0 and 8 then cast(1 as bigint) << (c2 + 0) else 0 end as w1, cast(-1 as bigint) as several
from anon_scratch.main.units
    union all (
        with histogram as (
    -- all attributes at once: an aggregation for each takes longer
    select class_id, attribute, code, max(level) as level, cast(sum(n) as bigint) as n, count(*) as units
    from (
        select
            o.class_id, o.level, o.n, t.attribute,
            case t.attribute when 1 then o.c1 when 2 then o.c2 end as code
        from partition o
        cross join (values (1, 2), (2, 4)) as t(attribute, bit)
        where not o.closed and o.several & t.bit <> 0
    ) as codes
    group by class_id, attribute, code
),
-- the rows below every code, counted from the first class on where sums are taken together
cumulative as (
    select
        h.class_id, h.attribute, h.code, h.level, h.n, h.units, p.share, p.size,
        cast(sum(h.n) over below as bigint) as n_below,
        cast(sum(h.units) over below as bigint) as units_below,
        row_number() over below as values_below,
        lead(p.share) over below as next_share
    from histogram h
    join anon_scratch.main.positions p on p.attribute = h.attribute and p.code = h.code
    window below as (order by h.class_id, h.attribute, h.code rows between unbounded preceding and current row)
),
-- an attribute with one value in a class cannot be cut there
spans as (
    select
        class_id, attribute,
        cast(sum(n) as bigint) as n_all,
        count(*) as values_all,
        min(code) as first_code,
        max(code) as last_code,
        min(share) as first_share,
        max(share) as last_share,
        min(n_below - n) as n_before,
        min(units_below - units) as units_before,
        min(values_below - 1) as values_before
    from cumulative
    group by class_id, attribute
    having count(*) > 1 and sum(n) >= 4
),
running as (
    select
        p.class_id, p.attribute, p.code, p.level, p.share, p.size, p.n, p.units,
        s.n_all, s.values_all, s.first_code, s.last_code, s.first_share, s.last_share,
        p.n_below - s.n_before as n_left,
        p.units_below - s.units_before as units_left,
        p.values_below - s.values_before as values_left,
        case when p.code < s.last_code then p.next_share end as next_share
    from cumulative p
    join spans s on s.class_id = p.class_id and s.attribute = p.attribute
),
scores as (
    select
        class_id, attribute, code, false as single, level, n_left, n_all,
        units_left,
        n_left as kept_left,
        n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - n_left * case when attribute in (1) then case when first_code = 0 and code > 0 then (coalesce(share - first_share, 0) * (size - 1) + 1) / size else coalesce(share - first_share, 0) end when attribute in (2) then case when values_left > 1 then values_left / cast(size as double) else 0 end end - (n_all - n_left) * case when attribute in (1) then coalesce(last_share - next_share, 0) when attribute in (2) then case when (values_all - values_left) > 1 then (values_all - values_left) / cast(size as double) else 0 end end as gain
    from running
    where n_left >= 2 and n_all - n_left >= 2 and code < last_code
    union all
    -- one category against all others; those with the first and the last one are among the cuts above
    select class_id, attribute, code, true, level, n, n_all, units, n, n_all * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when values_all > 1 then values_all / cast(size as double) else 0 end end - (n_all - n) * case when attribute in (1) then case when first_code = 0 then (coalesce(last_share - first_share, 0) * (size - 1) + 1) / size else coalesce(last_share - first_share, 0) end when attribute in (2) then case when (values_all - 1) > 1 then (values_all - 1) / cast(size as double) else 0 end end
    from running
    where attribute in (2)
        and code > first_code and code < last_code
        and n >= 2 and n_all - n >= 2
        and level < 16
),
-- a cut that saves nothing need not be judged
candidates as (
    select * from scores where cast(gain as decimal(18, 8)) > 0
),

allowed as (
    select
        class_id, attribute, code, single, level, units_left, kept_left, n_all,
        -- cuts by loss may peel values off one by one; late levels are cut in the middle instead
        case when level < 16 then cast(gain / sqrt(case when attribute in (1) then least(kept_left, n_all - kept_left) when attribute in (2) then n_all end) as decimal(18, 8)) else least(kept_left, n_all - kept_left) end as merit
    from candidates

),
-- the best cut of every attribute
best as (
    select class_id, attribute, max(merit) as merit from allowed group by class_id, attribute
),
first as (
    select a.class_id, a.attribute, a.merit, min(2 * a.code + case when a.single then 1 else 0 end) as place
    from allowed a
    join best b on b.class_id = a.class_id and b.attribute = a.attribute and b.merit = a.merit
    group by a.class_id, a.attribute, a.merit
),
-- ranked by counting the better ones: a class has few cuts, and a window function would cost more
ranked as (
    select
        f.class_id, f.attribute, f.place,
        sum(case when r.merit > f.merit or r.merit = f.merit and r.attribute <= f.attribute then 1 else 0 end) as rank,
        count(*) as rivals
    from first f
    join first r on r.class_id = f.class_id
    group by f.class_id, f.attribute, f.place
),
contenders as (
    select a.*, r.rank, r.rivals
    from ranked r
    join allowed a on a.class_id = r.class_id and a.attribute = r.attribute
        and 2 * a.code + case when a.single then 1 else 0 end = r.place
    where r.rank <= 4
),
halves as (
    select
        class_id, cut, is_left, cast(sum(n) as bigint) as n
        , min(c1) as low1, max(c1) as high1
        , bit_or(w1) as w1
    from (
        select
            o.*, t.attribute as cut,
            case t.attribute
                when 1 then case when t.single then o.c1 = t.code else o.c1 <= t.code end
                when 2 then case when t.single then o.c2 = t.code else o.c2 <= t.code end
            end as is_left
        from partition o
        join contenders t on t.class_id = o.class_id
        where not o.closed
            and t.rivals > 1 and t.level < 16
    )
    group by class_id, cut, is_left
),
extents as (
    select * from (
        select
            h.class_id, h.cut, h.is_left, h.n, t.attribute,
            case t.attribute when 1 then h.low1 when 2 then 1 end as low,
            case t.attribute when 1 then h.high1 when 2 then 1 end as high,
            case t.attribute
                when 1 then 0
                when 2 then cast(bit_count(w1 & 511) as integer)
            end as different
        from halves h
        cross join (values (1), (2)) as t(attribute)
    ) as every_cell
    where low < high or different > 1
),
losses as (
    -- rounded once per term and once more in the sum, so that equal sums tie
    select e.class_id, e.cut, cast(e.n * case when e.attribute in (1) then case when different > 0 then (coalesce(h.share - l.share, 0) * (l.size - 1) + 1) / l.size else coalesce(h.share - l.share, 0) end when e.attribute in (2) then different / cast(l.size as double) end as decimal(38, 12)) as lost
        , case when e.is_left then cast(1 as bigint) << e.attribute else 0 end as left_several
        , case when e.is_left then 0 else cast(1 as bigint) << e.attribute end as right_several
    from extents e
    join anon_scratch.main.positions l on l.attribute = e.attribute and l.code = e.low
    join anon_scratch.main.positions h on h.attribute = e.attribute and h.code = e.high
    union all
    select distinct class_id, cut, 0, 0, 0 from halves
),
lost as (
    select class_id, cut, cast(sum(lost) as decimal(38, 6)) as lost
        , bit_or(left_several) as left_several, bit_or(right_several) as right_several
    from losses
    group by class_id, cut
),
least_loss as (
    select l.class_id, min(l.cut) as attribute
    from lost l
    join (select class_id, min(lost) as lost from lost group by class_id) b on b.class_id = l.class_id and b.lost = l.lost
    group by l.class_id
),

cuts as (
    select
        c.class_id, c.attribute, c.code, c.single, c.units_left,
        -- a half that is too small to be cut again is final at once
        c.kept_left < 4 as left_closed,
        c.n_all - c.kept_left < 4 as right_closed
        , coalesce(l.left_several, -1) as left_several
        , coalesce(l.right_several, -1) as right_several
    from contenders c
    left join least_loss w on w.class_id = c.class_id
    left join lost l on l.class_id = w.class_id and l.cut = w.attribute
    where c.attribute = coalesce(w.attribute, c.attribute) and (w.attribute is not null or c.rank = 1)
)

        select
    unit,
    case when is_left then class_id else class_id + units_left end as class_id,
    level + 1 as level,
    case when is_left then left_closed else right_closed end as closed,
    n, c1, c2, w1, several & case when is_left then left_several else right_several end as several
from (
    select
        o.*, t.units_left, t.left_closed, t.right_closed, t.left_several, t.right_several,
        case when t.single then case t.attribute when 1 then o.c1 when 2 then o.c2 end = t.code else case t.attribute when 1 then o.c1 when 2 then o.c2 end <= t.code end as is_left
    from partition o
    join cuts t on t.class_id = o.class_id
    where not o.closed
)

    )
)
select unit, arg_max(class_id, level) as class_id
from partition
group by unit;

-- units as extents: The units of all classes that lose something (those with more than one unit), with their extents.
create or replace table anon_scratch.main.refine_points as
with several as (
    select class_id, count(*) as units from anon_scratch.main.members group by class_id having count(*) > 1
)
, d1 as (
    select code, cast(round(10000000 * abs(coalesce(share - sum(n * share) over () / sum(case when share is null then 0 else n end) over (), 0))) as bigint) as rarity, cast(round(10000000 * coalesce(share, 0)) as bigint) as place
    from anon_scratch.main.domain_1
)
, d2 as (
    select code, cast(round(10000000 * ln(cast(sum(n) over () as double) / n) / 8) as bigint) as rarity
    from anon_scratch.main.domain_2
)
select
    u.unit, m.class_id, cast(u.n as bigint) as n,
    d1.rarity + d2.rarity as rarity
    , case when c2 between 0 and 8 then cast(1 as bigint) << (c2 + 0) else 0 end as w1
    , case when u.c1 = 0 then 40000000 else d1.place end as l1
    , case when u.c1 = 0 then -40000000 else d1.place end as h1
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
join several s on s.class_id = m.class_id
join d1 on d1.code = u.c1
join d2 on d2.code = u.c2
where (select coalesce(sum(units), 0) from several) <= 400000;

-- extents of classes: The extents of classes and what all their rows lose together.
create or replace table anon_scratch.main.refine_classes as
select *, n * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as lost
from (
    select
        class_id, cast(sum(n) as bigint) as n, count(*) as units

, bit_or(w1) as w1, min(l1) as l1, max(h1) as h1
    from anon_scratch.main.refine_points
    group by class_id
) c;

-- blocks of classes: Classes that lie beside each other in the order of the cuts, in blocks of about so many rows.
create or replace table anon_scratch.main.refine_blocks as
select
    class_id,
    cast(floor((sum(n) over (order by class_id rows unbounded preceding) - n) / 12) as bigint) as block
from anon_scratch.main.refine_classes;

-- new classes in blocks: New classes in every block, all blocks at once: the unit with the rarest values starts a class, which takes the unit that widens it least until it is large enough.
create or replace table anon_scratch.main.refine_groups as
with recursive grow(unit, block, n, rank, left_over, grp, taken, size, w1, l1, h1) as (
    with units as (
    select p.*, b.block, count(*) over (partition by b.block) as units
    from anon_scratch.main.refine_points p
    join anon_scratch.main.refine_blocks b on b.class_id = p.class_id
)
select
    unit, block, n, row_number() over (partition by block order by rarity desc, unit) as rank,
    cast(0 as bigint) as left_over, cast(0 as bigint) as grp, false as taken, cast(0 as bigint) as size
, w1, l1, h1
from units
-- a few large classes have too many units to be taken one by one
where units <= 200
union all
select
    cast(0 as bigint), block, cast(0 as bigint), cast(0 as bigint), cast(sum(n) as bigint), cast(0 as bigint), false, cast(0 as bigint)
, cast(0 as bigint), cast(40000000 as bigint), cast(-40000000 as bigint)
from units
where units <= 200
group by block

    union all (
        with open as (
    select unit, block, n, rank, w1, l1, h1
    from "grow"
    where rank > 0 and not taken
),
growing as (
    select
        g.*
, 4611686018427387903 - g.w1 as free_w1, cast(case when (cast(bit_count(g.w1 & 511) as integer)) = 1 then 2500000 else 1250000 end as double) as step2
    from "grow" g
    where g.rank = 0
),
best as (
    select block, cast(min(case when size = 0 then rank else (
        greatest(jh1 - jl1, 0) + cast((bit_count(w1 & free_w1 & 511)) * step2 as bigint)

    ) * 16384 + rank end) % 16384 as bigint) as rank
    from (
        select
            u.block, u.rank, u.n, g.size
, u.w1, least(u.l1, g.l1) as jl1, greatest(u.h1, g.h1) as jh1, g.free_w1, g.step2
        from open u
        join growing g on g.block = u.block
    ) j
    group by block
),
joined as (
    select
        u.block, u.rank, g.size + u.n as size, g.left_over - u.n as left_over,
        g.grp + case when g.size = 0 then 1 else 0 end as grp
, (u.w1 | g.w1) as w1, least(u.l1, g.l1) as l1, greatest(u.h1, g.h1) as h1
    from best b
    join open u on u.block = b.block and u.rank = b.rank
    join growing g on g.block = b.block
),
picked as (
    select *, size >= 2 as closes from joined
)
select
    u.unit, u.block, u.n, u.rank, 0, p.grp, u.rank = p.rank, 0
, u.w1, u.l1, u.h1
from open u
join picked p on p.block = u.block
where u.rank = p.rank or not p.closes or p.left_over >= 2
union all
select
    0, block, 0, 0, left_over, grp, false, case when closes then 0 else size end
, case when closes then 0 else w1 end, case when closes then 40000000 else l1 end, case when closes then -40000000 else h1 end
from picked
where not closes or left_over >= 2

    )
)
select unit, block, grp from grow where taken;

-- classes for units left over: The new class of every unit of a block; units that are left over join the one that widens least.
create or replace table anon_scratch.main.refine_homes as
with grown as (
    select
        g.block, g.grp, cast(sum(p.n) as bigint) as size

, bit_or(w1) as w1, min(l1) as l1, max(h1) as h1
    from anon_scratch.main.refine_groups g
    join anon_scratch.main.refine_points p on p.unit = g.unit
    group by g.block, g.grp
),
full_groups as (
    select *, size * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as lost
    from grown
    where size >= 2
),
placed as (
    select g.unit, g.block, g.grp
    from anon_scratch.main.refine_groups g
    join full_groups w on w.block = g.block and w.grp = g.grp
),
left_over as materialized (
    select p.*, b.block
    from anon_scratch.main.refine_points p
    join anon_scratch.main.refine_blocks b on b.class_id = p.class_id
    where p.unit not in (select unit from placed)
),
offers as (
    select
        p.unit, w.block, w.grp, w.size + p.n as j_size, w.lost
, (w.w1 | p.w1) as jw1, least(w.l1, p.l1) as jl1, greatest(w.h1, p.h1) as jh1
    from left_over p
    join full_groups w on w.block = p.block
),
costs as (
    select unit, block, grp, j_size * cast(greatest(jh1 - jl1, 0) + cast(((cast(bit_count(jw1 & 511) as integer)) - case when (cast(bit_count(jw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) - lost as cost from offers
)
select unit, block, grp from placed
union all
select unit, block, grp
from (
    select unit, block, grp, row_number() over (partition by unit order by cost, grp) as choice from costs
) o
where choice = 1;

-- better classes of blocks: The units of every block in its new classes, where these lose less than the old ones.
create or replace table anon_scratch.main.refine_points as
with groups as (
    select
        h.block, h.grp, cast(sum(p.n) as bigint) as size
, bit_or(w1) as w1, min(l1) as l1, max(h1) as h1
    from anon_scratch.main.refine_homes h
    join anon_scratch.main.refine_points p on p.unit = h.unit
    group by h.block, h.grp
),
new_loss as (
    select block, sum(size * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint)) as lost from groups group by block
),
old_loss as (
    select b.block, sum(c.lost) as lost
    from anon_scratch.main.refine_blocks b
    join anon_scratch.main.refine_classes c on c.class_id = b.class_id
    group by b.block
),
better as (
    select n.block
    from new_loss n
    join old_loss o on o.block = n.block
    where n.lost < o.lost
),
numbered as (
    select
        h.unit,
        (select max(class_id) from anon_scratch.main.members) + dense_rank() over (order by h.block, h.grp) as class_id
    from anon_scratch.main.refine_homes h
    join better b on b.block = h.block
)
select
    p.unit, coalesce(h.class_id, p.class_id) as class_id, p.n, p.rarity

, p.w1, p.l1, p.h1
from anon_scratch.main.refine_points p
left join numbered h on h.unit = p.unit;

-- extents of classes: The extents of classes and what all their rows lose together.
create or replace table anon_scratch.main.refine_classes as
select *, n * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as lost
from (
    select
        class_id, cast(sum(n) as bigint) as n, count(*) as units

, bit_or(w1) as w1, min(l1) as l1, max(h1) as h1
    from anon_scratch.main.refine_points
    group by class_id
) c;

-- near classes: Pairs of near classes: of those that follow a class in some order, the ones that lose least in a union with it.
create or replace table anon_scratch.main.refine_near as
with ordered as (
    select
        class_id, row_number() over (order by class_id) as place_0
        , row_number() over (order by w1, class_id) as place_1
        , row_number() over (order by l1, class_id) as place_2
    from anon_scratch.main.refine_classes
    -- every unit of a class is compared with every unit of a near one
    where units <= 60
    and (select count(*) from anon_scratch.main.refine_points) <= 100000
),
steps as (
    select o.class_id, o.place_0, o.place_1, o.place_2, s.step
    from ordered o
    cross join (select 1 as step union all select 2 as step union all select 3 as step union all select 4 as step) s
),
beside as (
    select x.class_id as a, y.class_id as b
    from steps x
    join ordered y on y.place_0 = x.place_0 + x.step
    union all
    select x.class_id as a, y.class_id as b
    from steps x
    join ordered y on y.place_1 = x.place_1 + x.step
    union all
    select x.class_id as a, y.class_id as b
    from steps x
    join ordered y on y.place_2 = x.place_2 + x.step
),
joined as (
    select
        p.a, p.b, x.n + y.n as j_size, x.lost + y.lost as lost
, (x.w1 | y.w1) as jw1, least(x.l1, y.l1) as jl1, greatest(x.h1, y.h1) as jh1
    from beside p
    join anon_scratch.main.refine_classes x on x.class_id = p.a
    join anon_scratch.main.refine_classes y on y.class_id = p.b
),
costs as (
    select a, b, j_size * cast(greatest(jh1 - jl1, 0) + cast(((cast(bit_count(jw1 & 511) as integer)) - case when (cast(bit_count(jw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) - lost as cost from joined
),
ranked as (
    -- a class may follow another one in several orders
    select a, b, dense_rank() over (partition by a order by cost, b) as choice from costs
)
select distinct least(a, b) as a, greatest(a, b) as b from ranked where choice <= 2;

-- every class to look at: The initial state: as if all classes had swapped units, so that no offers are kept.
create or replace table anon_scratch.main.refine_swaps as
select a, b, cast(0 as bigint) as r, cast(0 as bigint) as q, cast(0 as bigint) as gain from anon_scratch.main.refine_near;

-- no offers yet: The initial state (no offers).
create or replace table anon_scratch.main.refine_offers as
select a, b, cast(0 as bigint) as r, cast(0 as bigint) as q, cast(0 as bigint) as gain from anon_scratch.main.refine_near where false;

-- extents without a unit: Every unit of a near class with its own extent and that of the other units of its class; and for every such class a row without a unit (unit 0, no rows, empty extent), so that a move is a swap with nothing.
create or replace table anon_scratch.main.refine_rest as
with pairs as (
    select a as class_id from anon_scratch.main.refine_near union select b from anon_scratch.main.refine_near
),
others as (
    select
        p.unit, cast(sum(o.n) as bigint) as size

, bit_or(o.w1) as w1, min(o.l1) as l1, max(o.h1) as h1
    from anon_scratch.main.refine_points p
    join pairs c on c.class_id = p.class_id
    join anon_scratch.main.refine_points o on o.class_id = p.class_id and o.unit <> p.unit
    group by p.unit
)
select *, cast(greatest(gh1 - gl1, 0) + cast(((cast(bit_count(gw1 & 511) as integer)) - case when (cast(bit_count(gw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as each
from (
    select
        p.class_id, p.unit, p.n, o.size

, p.w1, o.w1 as gw1, p.l1, o.l1 as gl1, p.h1, o.h1 as gh1
    from others o
    join anon_scratch.main.refine_points p on p.unit = o.unit
    union all
    select
        class_id, 0, 0, n

, 0, w1, 40000000, l1, -40000000, h1
    from anon_scratch.main.refine_classes
    where class_id in (select class_id from pairs)
) r;

-- offers to near classes: The best swap of every pair of near classes, if it saves something: unit r of class a against unit q of class b, where 0 is none. Offers of pairs that the last swaps did not touch are kept.
create or replace table anon_scratch.main.refine_offers as
with changed as (
    select a as class_id from anon_scratch.main.refine_swaps union all select b from anon_scratch.main.refine_swaps
),
looked_at as (
    select p.a, p.b, x.lost + y.lost as lost
    from anon_scratch.main.refine_near p
    join anon_scratch.main.refine_classes x on x.class_id = p.a
    join anon_scratch.main.refine_classes y on y.class_id = p.b
    where p.a in (select class_id from changed) or p.b in (select class_id from changed)
),
paired as (
    select
        p.a, p.b, r.unit as r, q.unit as q, p.lost,
        r.size + q.n as size_a, q.size + r.n as size_b, q.each as each_b
, (r.gw1 | q.w1) as aw1, (q.gw1 | r.w1) as bw1, least(r.gl1, q.l1) as al1, least(q.gl1, r.l1) as bl1, greatest(r.gh1, q.h1) as ah1, greatest(q.gh1, r.h1) as bh1
    from looked_at p
    join anon_scratch.main.refine_rest r on r.class_id = p.a
    join anon_scratch.main.refine_rest q on q.class_id = p.b
    where r.size + q.n >= 2 and q.size + r.n >= 2
    -- a class loses at least what its other units lose
    and (r.size + q.n) * r.each + (q.size + r.n) * q.each < p.lost
),
half_weighed as (
    select *, lost - size_a * cast(greatest(ah1 - al1, 0) + cast(((cast(bit_count(aw1 & 511) as integer)) - case when (cast(bit_count(aw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as left_over from paired
),
weights as (
    select a, b, r, q, left_over - size_b * cast(greatest(bh1 - bl1, 0) + cast(((cast(bit_count(bw1 & 511) as integer)) - case when (cast(bit_count(bw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as gain
    from half_weighed
    where left_over > size_b * each_b
),
ranked as (
    select *, row_number() over (partition by a, b order by gain desc, r, q) as choice
    from weights
    where gain > 0
)
select a, b, r, q, gain from ranked where choice = 1
union all
select a, b, r, q, gain
from anon_scratch.main.refine_offers
where a not in (select class_id from changed) and b not in (select class_id from changed);

-- swaps: The swaps of a round: the best of all that touch one of their two classes, so that each class is in one; then the best of what these leave, twice.
create or replace table anon_scratch.main.refine_swaps as
with offers_1 as (
    select *, row_number() over (order by gain desc, a, b) as rank from anon_scratch.main.refine_offers
),
taken_1 as (
    select o.a, o.b, o.r, o.q, o.gain
    from "offers_1" o
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_1" union all select b, rank from "offers_1") t
        group by class_id
    ) x on x.class_id = o.a and x.rank = o.rank
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_1" union all select b, rank from "offers_1") t
        group by class_id
    ) y on y.class_id = o.b and y.rank = o.rank

),
offers_2 as (
    select * from "offers_1"
    where a not in (select a from "taken_1" union all select b from "taken_1")
    and b not in (select a from "taken_1" union all select b from "taken_1")

),
taken_2 as (
    select o.a, o.b, o.r, o.q, o.gain
    from "offers_2" o
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_2" union all select b, rank from "offers_2") t
        group by class_id
    ) x on x.class_id = o.a and x.rank = o.rank
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_2" union all select b, rank from "offers_2") t
        group by class_id
    ) y on y.class_id = o.b and y.rank = o.rank

),
offers_3 as (
    select * from "offers_2"
    where a not in (select a from "taken_2" union all select b from "taken_2")
    and b not in (select a from "taken_2" union all select b from "taken_2")

),
taken_3 as (
    select o.a, o.b, o.r, o.q, o.gain
    from "offers_3" o
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_3" union all select b, rank from "offers_3") t
        group by class_id
    ) x on x.class_id = o.a and x.rank = o.rank
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_3" union all select b, rank from "offers_3") t
        group by class_id
    ) y on y.class_id = o.b and y.rank = o.rank

)
select a, b, r, q, gain from taken_1
union all
select a, b, r, q, gain from taken_2
union all
select a, b, r, q, gain from taken_3;

-- units after swaps: The units in their classes after the swaps of a round.
create or replace table anon_scratch.main.refine_points as
with moved as (
    select r as unit, b as class_id from anon_scratch.main.refine_swaps
    union all
    select q, a from anon_scratch.main.refine_swaps
)
select
    p.unit, coalesce(m.class_id, p.class_id) as class_id, p.n, p.rarity

, p.w1, p.l1, p.h1
from anon_scratch.main.refine_points p
left join "moved" m on m.unit = p.unit;

-- extents of classes: The extents of classes and what all their rows lose together.
create or replace table anon_scratch.main.refine_classes as
select *, n * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as lost
from (
    select
        class_id, cast(sum(n) as bigint) as n, count(*) as units

, bit_or(w1) as w1, min(l1) as l1, max(h1) as h1
    from anon_scratch.main.refine_points
    group by class_id
) c;

-- near units: Pairs of units that agree in nearly all attributes, each with the next ones by another; of these the ones whose common class would lose least.
create or replace table anon_scratch.main.refine_near_units as
with coded as (
    select u.unit, u.c1, u.c2
    from anon_scratch.main.units u
    where u.unit in (select unit from anon_scratch.main.refine_points)
    and (select count(*) from anon_scratch.main.refine_points) <= 50000
),
placed_1 as (
    select unit, lead(unit, 1) over w as next_1, lead(unit, 2) over w as next_2, lead(unit, 3) over w as next_3
    from coded
    window w as (partition by c2 order by c1, unit)
),
placed_2 as (
    select unit, lead(unit, 1) over w as next_1, lead(unit, 2) over w as next_2, lead(unit, 3) over w as next_3
    from coded
    window w as (order by c1, unit)
),
beside as (
    select unit as one, next_1 as other from placed_1 where next_1 is not null
    union all
    select unit as one, next_2 as other from placed_1 where next_2 is not null
    union all
    select unit as one, next_3 as other from placed_1 where next_3 is not null
    union all
    select unit as one, next_1 as other from placed_2 where next_1 is not null
    union all
    select unit as one, next_2 as other from placed_2 where next_2 is not null
    union all
    select unit as one, next_3 as other from placed_2 where next_3 is not null
),
pairs as (
    select distinct least(one, other) as one, greatest(one, other) as other from beside
),
joined as (
    select
        p.one, p.other
, (x.w1 | y.w1) as jw1, least(x.l1, y.l1) as jl1, greatest(x.h1, y.h1) as jh1
    from pairs p
    join anon_scratch.main.refine_points x on x.unit = p.one
    join anon_scratch.main.refine_points y on y.unit = p.other
),
costs as (
    select one, other, cast(greatest(jh1 - jl1, 0) + cast(((cast(bit_count(jw1 & 511) as integer)) - case when (cast(bit_count(jw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as cost from joined
),
ranked as (
    select
        one, other,
        row_number() over (partition by one order by cost, other) as choice,
        row_number() over (partition by other order by cost, one) as back
    from costs
)
select one, other from ranked where choice <= 3 or back <= 3;

-- no rounds yet: The initial state (no round has been made since near classes were looked for).
create or replace table anon_scratch.main.refine_rounds as
select 0 as number, cast(0 as bigint) as swaps, cast(0 as bigint) as saved, cast(coalesce(sum(lost), 0) as bigint) as lost
from anon_scratch.main.refine_classes;

-- classes of near units: Pairs of classes with near units.
create or replace table anon_scratch.main.refine_near as
select distinct least(x.class_id, y.class_id) as a, greatest(x.class_id, y.class_id) as b
from anon_scratch.main.refine_near_units n
join anon_scratch.main.refine_points x on x.unit = n.one
join anon_scratch.main.refine_points y on y.unit = n.other
where x.class_id <> y.class_id;

-- every class to look at: The initial state: as if all classes had swapped units, so that no offers are kept.
create or replace table anon_scratch.main.refine_swaps as
select a, b, cast(0 as bigint) as r, cast(0 as bigint) as q, cast(0 as bigint) as gain from anon_scratch.main.refine_near;

-- no offers yet: The initial state (no offers).
create or replace table anon_scratch.main.refine_offers as
select a, b, cast(0 as bigint) as r, cast(0 as bigint) as q, cast(0 as bigint) as gain from anon_scratch.main.refine_near where false;

-- loop: divide near classes anew, at most 2 times, until the exit query counts 0
-- items of near classes: The units of near classes, of which one holds up to five items: single units, and all others as the last one. Their order does not change, so that offers of classes that did not change stay valid.
create or replace table anon_scratch.main.refine_items as
select
    p.unit, p.class_id, p.n
, p.w1, p.l1, p.h1    , cast(least(
        row_number() over (partition by p.class_id order by (p.unit * 7919) % 1000003, p.unit),
        5
    ) as integer) as item
from anon_scratch.main.refine_points p
where p.class_id in (select a from anon_scratch.main.refine_near union select b from anon_scratch.main.refine_near);

-- sets of items: The extents of all sets of the items of every near class, as bits of a number, and what a row of each loses.
create or replace table anon_scratch.main.refine_item_sets as
with wide as (
    select
        class_id
        , cast(coalesce(sum(case when item = 1 then n end), 0) as bigint) as n_1
        , coalesce(bit_or(case when item = 1 then w1 end), 0) as w1_1
        , coalesce(min(case when item = 1 then l1 end), 40000000) as l1_1
        , coalesce(max(case when item = 1 then h1 end), -40000000) as h1_1
        , cast(coalesce(sum(case when item = 2 then n end), 0) as bigint) as n_2
        , coalesce(bit_or(case when item = 2 then w1 end), 0) as w1_2
        , coalesce(min(case when item = 2 then l1 end), 40000000) as l1_2
        , coalesce(max(case when item = 2 then h1 end), -40000000) as h1_2
        , cast(coalesce(sum(case when item = 3 then n end), 0) as bigint) as n_3
        , coalesce(bit_or(case when item = 3 then w1 end), 0) as w1_3
        , coalesce(min(case when item = 3 then l1 end), 40000000) as l1_3
        , coalesce(max(case when item = 3 then h1 end), -40000000) as h1_3
        , cast(coalesce(sum(case when item = 4 then n end), 0) as bigint) as n_4
        , coalesce(bit_or(case when item = 4 then w1 end), 0) as w1_4
        , coalesce(min(case when item = 4 then l1 end), 40000000) as l1_4
        , coalesce(max(case when item = 4 then h1 end), -40000000) as h1_4
        , cast(coalesce(sum(case when item = 5 then n end), 0) as bigint) as n_5
        , coalesce(bit_or(case when item = 5 then w1 end), 0) as w1_5
        , coalesce(min(case when item = 5 then l1 end), 40000000) as l1_5
        , coalesce(max(case when item = 5 then h1 end), -40000000) as h1_5
    from anon_scratch.main.refine_items
    group by class_id
),
sets as (
    select cast(0 as bigint) as part
    union all
    select cast(1 as bigint) as part
    union all
    select cast(2 as bigint) as part
    union all
    select cast(3 as bigint) as part
    union all
    select cast(4 as bigint) as part
    union all
    select cast(5 as bigint) as part
    union all
    select cast(6 as bigint) as part
    union all
    select cast(7 as bigint) as part
    union all
    select cast(8 as bigint) as part
    union all
    select cast(9 as bigint) as part
    union all
    select cast(10 as bigint) as part
    union all
    select cast(11 as bigint) as part
    union all
    select cast(12 as bigint) as part
    union all
    select cast(13 as bigint) as part
    union all
    select cast(14 as bigint) as part
    union all
    select cast(15 as bigint) as part
    union all
    select cast(16 as bigint) as part
    union all
    select cast(17 as bigint) as part
    union all
    select cast(18 as bigint) as part
    union all
    select cast(19 as bigint) as part
    union all
    select cast(20 as bigint) as part
    union all
    select cast(21 as bigint) as part
    union all
    select cast(22 as bigint) as part
    union all
    select cast(23 as bigint) as part
    union all
    select cast(24 as bigint) as part
    union all
    select cast(25 as bigint) as part
    union all
    select cast(26 as bigint) as part
    union all
    select cast(27 as bigint) as part
    union all
    select cast(28 as bigint) as part
    union all
    select cast(29 as bigint) as part
    union all
    select cast(30 as bigint) as part
    union all
    select cast(31 as bigint) as part
),
sides as (
    select
        w.class_id, s.part
        , w.n_1 * ((s.part >> 0) & 1) + w.n_2 * ((s.part >> 1) & 1) + w.n_3 * ((s.part >> 2) & 1) + w.n_4 * ((s.part >> 3) & 1) + w.n_5 * ((s.part >> 4) & 1) as n
        , (w.w1_1 & -((s.part >> 0) & 1)) | (w.w1_2 & -((s.part >> 1) & 1)) | (w.w1_3 & -((s.part >> 2) & 1)) | (w.w1_4 & -((s.part >> 3) & 1)) | (w.w1_5 & -((s.part >> 4) & 1)) as w1
        , least(case when ((s.part >> 0) & 1) = 1 then w.l1_1 else 40000000 end, case when ((s.part >> 1) & 1) = 1 then w.l1_2 else 40000000 end, case when ((s.part >> 2) & 1) = 1 then w.l1_3 else 40000000 end, case when ((s.part >> 3) & 1) = 1 then w.l1_4 else 40000000 end, case when ((s.part >> 4) & 1) = 1 then w.l1_5 else 40000000 end) as l1
        , greatest(case when ((s.part >> 0) & 1) = 1 then w.h1_1 else -40000000 end, case when ((s.part >> 1) & 1) = 1 then w.h1_2 else -40000000 end, case when ((s.part >> 2) & 1) = 1 then w.h1_3 else -40000000 end, case when ((s.part >> 3) & 1) = 1 then w.h1_4 else -40000000 end, case when ((s.part >> 4) & 1) = 1 then w.h1_5 else -40000000 end) as h1
    from wide w
    cross join sets s
)
select *, case when n = 0 then 0 else cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) end as each
from sides;

-- divisions of near classes: The best division of every pair of near classes, if it saves something: the items r of class a stay in it, and the items q of class b join it. Offers of pairs that the last round did not touch are kept.
create or replace table anon_scratch.main.refine_offers as
with changed as (
    select a as class_id from anon_scratch.main.refine_swaps union all select b from anon_scratch.main.refine_swaps
),
unions as (
    select
        p.a, p.b, x.lost + y.lost as lost, x.n + y.n as j_size
, (x.w1 | y.w1) as jw1, least(x.l1, y.l1) as jl1, greatest(x.h1, y.h1) as jh1
    from anon_scratch.main.refine_near p
    join anon_scratch.main.refine_classes x on x.class_id = p.a
    join anon_scratch.main.refine_classes y on y.class_id = p.b
    where p.a in (select class_id from changed) or p.b in (select class_id from changed)
),
looked_at as (
    -- where the union loses much more than both, hardly any division gains
    select a, b, lost
    from unions
    where lost > 0 and j_size * cast(greatest(jh1 - jl1, 0) + cast(((cast(bit_count(jw1 & 511) as integer)) - case when (cast(bit_count(jw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) * 100 <= 185 * lost
),
sides as (
    select
        x.class_id, x.part, x.n, x.each, y.n as o_n, y.each as o_each

, x.w1, y.w1 as ow1, x.l1, y.l1 as ol1, x.h1, y.h1 as oh1
    from anon_scratch.main.refine_item_sets x
    join anon_scratch.main.refine_item_sets y on y.class_id = x.class_id and y.part = 31 - x.part
),
leaving as (
    -- in a class of few items the others are empty
    select * from sides where bit_count(part) <= 2 and o_n > 0
),
paired as (
    select
        p.a, p.b, x.part as left_part, y.part as q, p.lost,
        x.o_n + y.n as size_a, y.o_n + x.n as size_b, y.o_each as each_b
, (x.ow1 | y.w1) as aw1, (y.ow1 | x.w1) as bw1, least(x.ol1, y.l1) as al1, least(y.ol1, x.l1) as bl1, greatest(x.oh1, y.h1) as ah1, greatest(y.oh1, x.h1) as bh1
    from looked_at p
    join leaving x on x.class_id = p.a
    join leaving y on y.class_id = p.b
    where x.o_n + y.n >= 2 and y.o_n + x.n >= 2
    -- a class loses at least what its parts lose
    and (x.o_n + y.n) * greatest(x.o_each, y.each) + (y.o_n + x.n) * greatest(y.o_each, x.each) < p.lost
),
half_weighed as (
    select *, lost - size_a * cast(greatest(ah1 - al1, 0) + cast(((cast(bit_count(aw1 & 511) as integer)) - case when (cast(bit_count(aw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as left_over from paired
),
weights as (
    select a, b, 31 - left_part as r, q, left_over - size_b * cast(greatest(bh1 - bl1, 0) + cast(((cast(bit_count(bw1 & 511) as integer)) - case when (cast(bit_count(bw1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as gain
    from half_weighed
    where left_over > size_b * each_b
),
ranked as (
    select *, row_number() over (partition by a, b order by gain desc, r, q) as choice
    from weights
    where gain > 0
)
select a, b, cast(r as bigint) as r, cast(q as bigint) as q, gain from ranked where choice = 1
union all
select a, b, r, q, gain
from anon_scratch.main.refine_offers
where a not in (select class_id from changed) and b not in (select class_id from changed);

-- divisions: The swaps of a round: the best of all that touch one of their two classes, so that each class is in one; then the best of what these leave, twice.
create or replace table anon_scratch.main.refine_swaps as
with offers_1 as (
    select *, row_number() over (order by gain desc, a, b) as rank from anon_scratch.main.refine_offers
),
taken_1 as (
    select o.a, o.b, o.r, o.q, o.gain
    from "offers_1" o
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_1" union all select b, rank from "offers_1") t
        group by class_id
    ) x on x.class_id = o.a and x.rank = o.rank
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_1" union all select b, rank from "offers_1") t
        group by class_id
    ) y on y.class_id = o.b and y.rank = o.rank

),
offers_2 as (
    select * from "offers_1"
    where a not in (select a from "taken_1" union all select b from "taken_1")
    and b not in (select a from "taken_1" union all select b from "taken_1")

),
taken_2 as (
    select o.a, o.b, o.r, o.q, o.gain
    from "offers_2" o
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_2" union all select b, rank from "offers_2") t
        group by class_id
    ) x on x.class_id = o.a and x.rank = o.rank
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_2" union all select b, rank from "offers_2") t
        group by class_id
    ) y on y.class_id = o.b and y.rank = o.rank

),
offers_3 as (
    select * from "offers_2"
    where a not in (select a from "taken_2" union all select b from "taken_2")
    and b not in (select a from "taken_2" union all select b from "taken_2")

),
taken_3 as (
    select o.a, o.b, o.r, o.q, o.gain
    from "offers_3" o
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_3" union all select b, rank from "offers_3") t
        group by class_id
    ) x on x.class_id = o.a and x.rank = o.rank
    join (
        select class_id, min(rank) as rank
        from (select a as class_id, rank from "offers_3" union all select b, rank from "offers_3") t
        group by class_id
    ) y on y.class_id = o.b and y.rank = o.rank

)
select a, b, r, q, gain from taken_1
union all
select a, b, r, q, gain from taken_2
union all
select a, b, r, q, gain from taken_3;

-- units after divisions: The units in their classes after the divisions of a round.
create or replace table anon_scratch.main.refine_points as
with ends as (
    select a as class_id, a, b, r as part from anon_scratch.main.refine_swaps
    union all
    select b, a, b, q from anon_scratch.main.refine_swaps
),
moved as (
    select i.unit, case when (e.part >> (i.item - 1)) & 1 = 1 then e.a else e.b end as class_id
    from anon_scratch.main.refine_items i
    join ends e on e.class_id = i.class_id
)
select
    p.unit, coalesce(m.class_id, p.class_id) as class_id, p.n, p.rarity

, p.w1, p.l1, p.h1
from anon_scratch.main.refine_points p
left join "moved" m on m.unit = p.unit;

-- extents of classes: The extents of classes and what all their rows lose together.
create or replace table anon_scratch.main.refine_classes as
select *, n * cast(greatest(h1 - l1, 0) + cast(((cast(bit_count(w1 & 511) as integer)) - case when (cast(bit_count(w1 & 511) as integer)) = 1 then 1 else 0 end) * cast(1250000 as double) as bigint) as bigint) as lost
from (
    select
        class_id, cast(sum(n) as bigint) as n, count(*) as units

, bit_or(w1) as w1, min(l1) as l1, max(h1) as h1
    from anon_scratch.main.refine_points
    group by class_id
) c;

-- rounds of divisions: One more round of swaps, and what it saved.
create or replace table anon_scratch.main.refine_rounds as
select r.number + 1 as number, s.swaps, r.saved + s.saved as saved, r.lost
from anon_scratch.main.refine_rounds r
cross join (select count(*) as swaps, cast(coalesce(sum(gain), 0) as bigint) as saved from anon_scratch.main.refine_swaps) s;

-- exit query of the loop: Whether another round may save something, and is allowed.
select count(*) from anon_scratch.main.refine_rounds where swaps > 0 and number < 2;
-- end of loop: divide near classes anew

-- final classes: The units in their final classes.
create or replace table anon_scratch.main.members as
select m.unit, coalesce(p.class_id, m.class_id) as class_id
from anon_scratch.main.members m
left join anon_scratch.main.refine_points p on p.unit = m.unit;

-- extent of classes: The extent of every class: lowest and highest code per attribute, NULLs, size, smallest draw.
create or replace table anon_scratch.main.boxes as
select
    m.class_id,
    cast(sum(u.n) as bigint) as n,
    min(u.draw) as draw
    , min(u.c1) as lo1
    , max(u.c1) as hi1
    , false as null1
    , min(u.c2) as lo2
    , max(u.c2) as hi2
    , false as null2
    , bit_or(case when u.c2 > 0 then cast(1 as bigint) << u.c2 else 0 end) as bits2
from anon_scratch.main.members m
join anon_scratch.main.units u on u.unit = m.unit
group by m.class_id;

-- sets of zip: The sets that classes with more than one value publish for one categorical attribute, keyed by their bits if the domain is small, otherwise by class. The set of all published values is `*`.
create or replace table anon_scratch.main.sets_2 as
with pairs as (
    select f.bits, d.code
    from (select distinct bits2 as bits from anon_scratch.main.boxes where lo2 < hi2) f
    join anon_scratch.main.domain_2 d on d.code > 0 and (f.bits >> d.code) & 1 = 1
)
select
    p.bits,
    count(*) as size,
    case when count(*) = (select bit_count(bit_or(bits2)) from anon_scratch.main.boxes) then '*'
        else '{' || string_agg(d.label, ', ' order by cast(d.value as varchar)) || '}' end as cell
from pairs p
join anon_scratch.main.domain_2 d on d.code = p.code
group by p.bits;

-- cells of classes: The published cells of every class, one column each, and its number in secret-keyed order.
create or replace table anon_scratch.main.cells as
with numbers as (
    select class_id, row_number() over (order by md5_number(concat(hex(draw), ':class')), class_id) as number
    from anon_scratch.main.boxes
)
select
    b.class_id,
    o.number,
    b.n
    , case when b.lo1 is null then null when b.lo1 = b.hi1 then low1.label else '[' || low1.label || ', ' || high1.label || ']' end as cell1
    , case when b.lo2 is null then null when b.lo2 = b.hi2 then low2.label else chosen2.cell end as cell2
from anon_scratch.main.boxes b
join numbers o on o.class_id = b.class_id
left join anon_scratch.main.domain_1 low1 on low1.code = b.lo1
left join anon_scratch.main.domain_1 high1 on high1.code = b.hi1
left join anon_scratch.main.domain_2 low2 on low2.code = b.lo2
left join anon_scratch.main.sets_2 chosen2 on chosen2.bits = b.bits2;

-- tuples for the bound: Units of classes that lose something, drawn in proportion to about what they lose (priority sampling, Duffield, Lund and Thorup 2007): those with the highest weight by draw, and the next one, whose priority is the threshold. All units if there are no more than that.
create or replace table anon_scratch.main.bound_sample as
with losing as (
    select class_id, case when b.lo1 < b.hi1 then (b.hi1 - b.lo1) * cast(1111111 as bigint) else 0 end + case when b.lo2 < b.hi2 then (cast(bit_count(b.bits2) as bigint)) * cast(1250000 as bigint) else 0 end as each from anon_scratch.main.boxes b
),
drawn as (
    select
        m.unit, m.class_id, cast(u.n as bigint) as n, l.each * cast(u.n as bigint) as weight,
        -- the smallest draw of n rows, as one draw
        1 - power(1 - cast(u.draw as double) / 340282366920938463463374607431768211456.0, u.n) as share
    from losing l
    join anon_scratch.main.members m on m.class_id = l.class_id
    join anon_scratch.main.units u on u.unit = m.unit
    -- the box of a tuple that has k rows loses nothing
    where l.each > 0 and u.n < 2
),
weights as (
    select unit, class_id, n, weight, weight / greatest(share, 1e-12) as priority from drawn
),
kept as (
    select * from weights order by priority desc, unit limit 33
)
select
    *, row_number() over (order by priority desc, unit) as place,
    (select sum(weight) from weights) as all_weights
from kept;

-- what they lose: The drawn units with their extents, and the loss of a row in its own class, which caps its bound.
create or replace table anon_scratch.main.bound_rows as
with d1 as (
    select code, cast(round(10000000 * coalesce(share, 0)) as bigint) as place from anon_scratch.main.domain_1
),
wanted as (
    select distinct class_id from anon_scratch.main.bound_sample where place <= 32
),
totals as (
    select m.class_id, m.unit, u.c2, case when c2 between 0 and 8 then cast(1 as bigint) << (c2 + 0) else 0 end as w1, case when u.c1 = 0 then 40000000 else d1.place end as l1, case when u.c1 = 0 then -40000000 else d1.place end as h1
    from wanted w
    join anon_scratch.main.members m on m.class_id = w.class_id
    join anon_scratch.main.units u on u.unit = m.unit
    join d1 on d1.code = u.c1

),
classes as (
    select class_id, bit_or(w1) as w1, min(l1) as l1, max(h1) as h1
    from totals
    group by class_id
),
capped as (
    select class_id, cast(greatest(h1 - l1, 0) + ((cast(bit_count(w1 & 511) as integer))) * least(((cast(bit_count(w1 & 511) as integer))) - 1, 1) * 1250000 as bigint) as cap from classes
)
select
    h.unit, s.n, c.cap
, h.c2, h.w1, h.l1, h.h1
from totals h
join anon_scratch.main.bound_sample s on s.unit = h.unit and s.place <= 32
join capped c on c.class_id = h.class_id;

-- tuples near them: The units with which a drawn one may share a class that loses less per row than its own: as a pair they lose less. The nearest of them with their extents, and one more, which shows how far away all others are.
create or replace table anon_scratch.main.bound_near as
with d1 as (
    select code, cast(round(10000000 * coalesce(share, 0)) as bigint) as place from anon_scratch.main.domain_1
),
points as (
    select u.unit, u.c2, case when u.c1 = 0 then 40000000 else d1.place end as l1, case when u.c1 = 0 then -40000000 else d1.place end as h1
    from anon_scratch.main.units u
    join d1 on d1.code = u.c1

    -- where nothing is drawn, nobody is looked at
    where (select count(*) from anon_scratch.main.bound_rows) > 0
),
keys as (
    -- (a column of its own, since there may be no codes)
    select distinct c2, true as looked_at from points
),
nearest as (
    -- the loss of the pair and the unit as one number, so that the least are kept without a sort
    select r.unit as r, min(cast(greatest(greatest(r.h1, u.h1) - least(r.l1, u.l1), 0) + case when r.c2 = u.c2 then 0 else 2500000 end as bigint) * 4294967296 + u.unit, 33) as found
    from (
        -- combinations of codes that alone lose less than the cap
        select r.*, u.c2 as key_c2
        from anon_scratch.main.bound_rows r
        join keys u on case when r.c2 = u.c2 then 0 else 2500000 end < r.cap
    ) r
    join points u on u.c2 = r.key_c2 and greatest(greatest(r.h1, u.h1) - least(r.l1, u.l1), 0) + case when r.c2 = u.c2 then 0 else 2500000 end < r.cap
    where u.unit <> r.unit
    group by r.unit
),
apart as (
    select r, unnest(found) as one from nearest
),
placed as (
    select
        a.r, one // 4294967296 as d, one % 4294967296 as unit,
        row_number() over (partition by a.r order by one) as place
    from apart a
)
select
    p.r, p.unit, cast(u.n as bigint) as n, p.d, p.place
, case when c2 between 0 and 8 then cast(1 as bigint) << (c2 + 0) else 0 end as w1, case when u.c1 = 0 then 40000000 else d1.place end as l1, case when u.c1 = 0 then -40000000 else d1.place end as h1
from placed p
join anon_scratch.main.units u on u.unit = p.unit
join d1 on d1.code = u.c1;

-- what three lose: The least loss of a class with a drawn unit and a near one: the extent of both and a third one, at which k rows are reached. No class made of near units only that has the near one loses less.
create or replace table anon_scratch.main.bound_thirds as
with ends as (
    -- whoever takes part beyond the nearest is at least as far as the first of them
    select r.unit as r, min(case when x.place > 32 then x.d else r.cap end) as far
    from anon_scratch.main.bound_near x
    join anon_scratch.main.bound_rows r on r.unit = x.r
    group by r.unit
),
pairs as (
    select
        x.r, x.unit, x.n, x.d, r.n + x.n as rows_of_pair, e.far
, (r.w1 | x.w1) as w1, least(r.l1, x.l1) as l1, greatest(r.h1, x.h1) as h1
    from anon_scratch.main.bound_near x
    join anon_scratch.main.bound_rows r on r.unit = x.r
    join ends e on e.r = x.r
    where x.place <= 32 and x.d < e.far
),
triples as (
    select
        p.r, p.unit, p.n, p.rows_of_pair, p.far, t.n as more
, (p.w1 | t.w1) as jw1, least(p.l1, t.l1) as jl1, greatest(p.h1, t.h1) as jh1
    from pairs p
    join anon_scratch.main.bound_near t on t.r = p.r and t.place <= 32
    where t.unit <> p.unit and p.rows_of_pair < 2
),
weights as (
    select r, unit, n, rows_of_pair, far, more, cast(greatest(jh1 - jl1, 0) + ((cast(bit_count(jw1 & 511) as integer))) * least(((cast(bit_count(jw1 & 511) as integer))) - 1, 1) * 1250000 as bigint) as lost from triples
),
reached as (
    select
        r, unit, lost,
        rows_of_pair + sum(more) over (partition by r, unit order by lost rows unbounded preceding) as rows_reached
    from weights
    where lost < far
),
least_of as (
    select r, unit, min(lost) as lost from reached where rows_reached >= 2 group by r, unit
)
select
    p.r, p.unit, p.n,
    case when p.rows_of_pair >= 2 then p.d else coalesce(l.lost, p.far) end as least
from pairs p
left join least_of l on l.r = p.r and l.unit = p.unit;

-- least loss of any classes: A lower bound of the mean loss per cell of any grouping into classes of k rows. Every drawn unit counts with its weight, or the threshold of the draw; some standard errors are subtracted.
with cumulative as (
    select
        x.r, x.d, x.place, r.cap,
        r.n + sum(x.n) over (partition by x.r order by x.place rows unbounded preceding) as rows_reached
    from anon_scratch.main.bound_near x
    join anon_scratch.main.bound_rows r on r.unit = x.r
),
ends as (
    select
        r,
        min(case when rows_reached >= 2 or place > 32 then d else cap end) as first,
        min(case when place > 32 then d else cap end) as far
    from cumulative
    group by r
),
reached as (
    select
        t.r, t.least,
        r.n + sum(t.n) over (partition by t.r order by t.least, t.unit rows unbounded preceding) as rows_reached
    from anon_scratch.main.bound_thirds t
    join anon_scratch.main.bound_rows r on r.unit = t.r
),
second as (
    select r, min(least) as least from reached where rows_reached >= 2 group by r
),
bounds as (
    select
        r.unit, r.n,
        -- places in a domain are rounded
        greatest(case when e.r is null then r.cap else greatest(e.first, least(coalesce(s.least, e.far), e.far)) end - 2, 0) as lost
    from anon_scratch.main.bound_rows r
    left join ends e on e.r = r.unit
    left join second s on s.r = r.unit
),
threshold as (
    select coalesce(max(priority), 0) as tau from anon_scratch.main.bound_sample where place > 32
),
weighed as (
    select
        b.n * b.lost / cast(s.weight as double) as share,
        cast(s.weight as double) as weight, t.tau, s.all_weights
    from bounds b
    join anon_scratch.main.bound_sample s on s.unit = b.unit
    cross join threshold t
),
-- as integers, sums do not depend on the order of addition
summed as (
    select
        count(*) as drawn,
        coalesce(sum(cast(floor(share * greatest(weight, tau)) as hugeint)), 0) as lost,
        coalesce(sum(cast(ceil(greatest(weight, tau)) as hugeint)), 0) as weights,
        coalesce(max(cast(all_weights as double)), 0) as all_weights
    from weighed
),
rated as (
    -- what is lost by weight is known better than what is lost by all
    select *, lost / greatest(cast(weights as double), 1) as rate from summed
),
varied as (
    select coalesce(sum(cast(ceil(power(w.share - r.rate, 2) * w.tau * greatest(w.tau - w.weight, 0)) as hugeint)), 0) as variance
    from weighed w
    cross join rated r
)
select
    case when bound < 0.01 then floor(100000 * bound) / 100000 when bound < 0.1 then floor(10000 * bound) / 10000 else floor(1000 * bound) / 1000 end as ncp_bound,
    case when (select max(place) from anon_scratch.main.bound_sample) > 32 then drawn else 0 end as ncp_bound_sample
from (
    select
        r.drawn,
        greatest(r.rate - 3 * sqrt(cast(v.variance as double)) / greatest(cast(r.weights as double), 1), 0) * r.all_weights
            / (cast((select sum(n) from anon_scratch.main.units) as double) * 20000000) as bound
    from rated r
    cross join varied v
) s;

-- write the release: The release: every published row with the cells of its class, shuffled by its draw.
create or replace table anon_scratch.main.staged as
select
    c.number as "class_id",
    c.cell1 as "age",
    c.cell2 as "zip"
from anon_scratch.main.coded r
join anon_scratch.main.units u on u.t1 = r.t1
join anon_scratch.main.members m on m.unit = u.unit
join anon_scratch.main.cells c on c.class_id = m.class_id
order by r.draw;

,  -- privacyfrost_recursive, merit of levels: ({{ a.number }}, {{ a.height | lit }}, cast({{ a.priority }} as decimal(25, 12))){% if not loop.last %},{% endif %}
,  -- privacyfrost_recursive, merit of levels: unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
,  -- privacyfrost_recursive, merit of levels: unnest([{% for a in attributes %}{{ a.c }}{% if not loop.last %}, {% endif %}{% endfor %}]) as code,
union all  -- privacyfrost_recursive, merit of levels: {% if not loop.last %}
cast(case when before > 1 and e > 0 then cast(priority as double) * (ln(e) / ln(before)) else 0 end as decimal(38, 12))  -- privacyfrost_driven, merit of levels: {% if score == "basic" %} ... {% else %}
-- privacyfrost_suppressing, merit of levels: {% if judging %}
        cast(coalesce(sum(n.n) filter (where n.n < 2), 0) as bigint) as small,
        cast(coalesce(sum(n.n) filter (where n.n < 2), 0) as bigint) as short,
-- privacyfrost_suppressing, merit of levels: {% if judging %}
    c.small,
    c.short,
cast(priority * cast(case when e > 3.5 then 2 when 2 * e > 3.5 then 1 else 0 end as decimal(13, 0)) as decimal(38, 12))  -- privacyfrost_full_domain, merit of levels: {%- elif score == "eta" %}

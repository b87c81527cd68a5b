,  -- privacyfrost_recursive, best table: unnest([{% for a in attributes %}{{ a.number }}{% if not loop.last %}, {% endif %}{% endfor %}]) as attribute,
,  -- privacyfrost_recursive, best table: unnest([{% for a in attributes %}{{ a.best }}{% if not loop.last %}, {% endif %}{% endfor %}]) as depth

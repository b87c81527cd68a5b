, pattern  -- lgb_parts, units of a part: select unit, n{% for column in carried %}, {{ column }}{% endfor %}, {{ codes | join }}

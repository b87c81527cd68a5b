-- several_tables_everybody_reserved, what values look like: {% for table, number, named in rosters %}
    select
        1 as number,
        case
            when count(*) <= 10 or count(*) * 20 <= sum(n) then 0
            when 2 * sum(case
                when regexp_matches(value, '^([A-Z0-9./-]*[0-9][A-Z0-9./-]*|[A-Za-z]{1,3})$') or regexp_matches(value, '^ *[-+]?([0-9]+|[0-9]{1,3}([.,][0-9]{3})+)([.,][0-9]+)? *$')
                    or regexp_matches(value, '^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2}))([ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?$') then 1 else 0
            end) > count(*) then 0
            else count(*)
        end as figure
    from anon_scratch.main.values_200001
-- 2 branches as in the template, b160ee2c

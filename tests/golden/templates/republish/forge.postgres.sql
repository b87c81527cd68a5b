-- m_invariance, counterfeits: Counterfeits as encoded rows: each has the codes of one row of its class, so that no cell changes. (A row of Postgres is referred to by its position: those of counterfeits are beyond the end of any table.)
-- 10 lines as in templates/republish/forge.sql, m_invariance, counterfeits
    cast(concat('(', 4294967294 - (-g.id) // 65535, ',', 1 + (-g.id) % 65535, ')') as tid) as row_ref
    -- 8 lines as in templates/republish/forge.sql, m_invariance, counterfeits

-- A keyed pseudonym: HMAC-SHA-256 of the value's text. The same value and secret give the same
-- pseudonym, so that tables can be joined; whoever has the secret can reverse it by trying values.
-- Pseudonymous data are not anonymous. Keep the secret out of scripts: getvariable('secret').
--
-- value    any value; NULL stays NULL
-- secret   text of 32 characters or more
-- returns  64 hexadecimal digits
--
-- example  select anon_pseudonym('Ann Smith', 'f0e1d2c3b4a5968778695a4b3c2d1e0f') as person;
create or replace temp macro anon_pseudonym(value, secret) as
    case
        -- (asked by itself: DuckDB takes an expression with a NULL in it for NULL, without its error)
        when _anon_secret('anon_pseudonym', secret) is null then null
        else sha256(
            _anon_xor(_anon_block(secret), '54761032DCFE98BA', 'CDEF89AB45670123')
            || unhex(sha256(
                _anon_xor(_anon_block(secret), '32107654BA98FEDC', '67452301EFCDAB89')
                || encode(cast(value as varchar))
            ))
        )
    end;

comment on macro anon_pseudonym is 'Keyed pseudonym (HMAC-SHA-256): anon_pseudonym(value, secret)';

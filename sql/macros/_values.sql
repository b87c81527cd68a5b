-- What the scalar macros share: checks of their arguments, and values as published text.

-- A number above 0.
create or replace temp macro _anon_positive(macro_name, argument, given) as (
    case
        when given is null or not given > 0
        then error(macro_name || ': ' || argument || ': must be a number above 0, not ' || coalesce(given::varchar, 'NULL'))
        else given
    end
);

-- Something other than NULL.
create or replace temp macro _anon_given(macro_name, argument, given) as
    coalesce(given, error(macro_name || ': ' || argument || ': is NULL (allowed: a value of the column''s type)'));

-- A secret: long enough not to be guessed. The message does not show it.
create or replace temp macro _anon_secret(macro_name, secret) as (
    case
        when coalesce(length(secret) < 32, true)
        then error(macro_name || ': secret: is too short (allowed: 32 characters or more; hint: openssl rand -hex 32)')
        else secret
    end
);

-- Is the value of a type of whole numbers?
create or replace temp macro _anon_is_whole(value) as
    regexp_full_match(typeof(value), 'U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)');

-- How many times a whole number holds a base above 0, rounded; halves go away from zero.
create or replace temp macro _anon_rounded(value, base) as
    -- (a base that is none is told elsewhere; the engine may compute what is not asked for)
    sign(value) * (
        abs(value) // nullif(base, 0)
        + case when abs(value) % nullif(base, 0) >= base - abs(value) % nullif(base, 0) then 1 else 0 end
    );

-- The lowest number of the interval of a value; counted from the origin, also below it.
create or replace temp macro _anon_floor(value, width, origin) as
    value - (((value - origin) % width) + width) % width;

-- The same of whole numbers: the ends of an interval may be beyond the type of its values.
create or replace temp macro _anon_whole_floor(value, width, origin) as
    _anon_floor(try_cast(value as hugeint), nullif(try_cast(width as hugeint), 0), try_cast(origin as hugeint));

-- A period of the calendar, and how long it lasts.
create or replace temp macro _anon_calendar(period) as
    _anon_one_of('anon_date_interval', 'period', period, ['day', 'week', 'month', 'quarter', 'year', 'decade']);

create or replace temp macro _anon_length(period) as (
    case period
        when 'day' then interval 1 day
        when 'week' then interval 7 days
        when 'month' then interval 1 month
        when 'quarter' then interval 3 months
        when 'year' then interval 1 year
        else interval 10 years
    end
);

-- A ZIP code as text; a number has lost the zeros it began with.
create or replace temp macro _anon_zip(zip) as
    case
        when _anon_is_whole(zip) and length(cast(zip as varchar)) < 5 then lpad(cast(zip as varchar), 5, '0')
        when _anon_is_whole(zip) and length(cast(zip as varchar)) between 6 and 8
        then lpad(cast(zip as varchar), 9, '0')
        else trim(cast(zip as varchar))
    end;

-- 64 bytes, as 128 hexadecimal digits, each byte's digits exchanged one for one: what an exclusive
-- or with a constant byte does.
create or replace temp macro _anon_xor(digits, high, low) as
    unhex(array_to_string(
        list_transform(
            range(64),
            lambda i: translate(substring(digits, 2 * i + 1, 1), '0123456789ABCDEF', high)
                || translate(substring(digits, 2 * i + 2, 1), '0123456789ABCDEF', low)
        ),
        ''
    ));

-- The key of an HMAC as one block of 64 bytes; a longer one is hashed first (RFC 2104).
create or replace temp macro _anon_block(secret) as
    rpad(
        upper(case when octet_length(encode(secret)) > 64 then sha256(encode(secret)) else hex(encode(secret)) end),
        128,
        '0'
    );

INSERT INTO lockbench_insert AS held (name, owner, expires, token)
VALUES ($1, $2, clock_timestamp() + $3 * interval '1 microsecond', nextval('lockbench_tokens'))
ON CONFLICT (name) DO UPDATE
SET owner = excluded.owner, expires = clock_timestamp() + $3 * interval '1 microsecond', token = nextval('lockbench_tokens')
WHERE held.expires < clock_timestamp()
RETURNING token

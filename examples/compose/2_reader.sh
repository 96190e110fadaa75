#!/bin/sh
# The account that sqljury uses: it may read, and nothing else.
set -eu
psql --username "${POSTGRES_USER:-postgres}" --dbname "${POSTGRES_DB:-shop}" --set ON_ERROR_STOP=1 --set password="$READER_PASSWORD" <<'SQL'
CREATE ROLE shop_reader LOGIN PASSWORD :'password';
ALTER ROLE shop_reader SET default_transaction_read_only = on;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO shop_reader;
SQL

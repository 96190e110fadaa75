-- Statements that must be refused or contained, the files unchanged: one a line.
-- Plain writes
DELETE FROM customer
UPDATE customer SET age = 0
INSERT INTO customer (id, name) VALUES (9, 'Eve')
INSERT INTO customer (id, name) VALUES (9, 'Eve') RETURNING id
INSERT OR REPLACE INTO customer (id, name) VALUES (1, 'Eve')
INSERT INTO customer BY NAME SELECT 9 AS id, 'Eve' AS name
INSERT INTO nation VALUES ('x', 'y') ON CONFLICT DO UPDATE SET capital = 'z'
TRUNCATE customer
MERGE INTO nation USING (SELECT 'Latvia' AS name) s ON nation.name = s.name WHEN MATCHED THEN DELETE
DROP TABLE customer
DROP VIEW IF EXISTS city_sales
DROP SCHEMA stock CASCADE
DROP SEQUENCE counter
DROP MACRO twice
ALTER TABLE customer RENAME TO gone
ALTER TABLE customer ADD COLUMN x INT
CREATE TABLE t (a INT)
CREATE OR REPLACE TABLE customer AS SELECT 1 AS a
CREATE TABLE t AS FROM customer
CREATE TEMP TABLE t AS SELECT * FROM customer
CREATE TEMPORARY VIEW v AS SELECT 1
CREATE OR REPLACE VIEW city_sales AS SELECT 1
CREATE INDEX i ON customer (name)
CREATE SEQUENCE s
CREATE TYPE t AS ENUM ('a')
CREATE SCHEMA s
CREATE MACRO m(a) AS a + 1
CREATE FUNCTION f() AS TABLE FROM read_text('/etc/passwd')
CREATE TRIGGER g AFTER INSERT ON orders BEGIN DELETE FROM customer; END
COMMENT ON TABLE customer IS 'mine'
VACUUM
VACUUM ANALYZE
ANALYZE
CHECKPOINT
FORCE CHECKPOINT
-- Writes inside something that looks like a read
WITH gone AS (DELETE FROM customer RETURNING *) SELECT * FROM gone
WITH new AS (INSERT INTO nation VALUES ('x', 'y') RETURNING *) SELECT * FROM new
WITH new AS (UPDATE customer SET age = 0 RETURNING *) SELECT * FROM new
WITH c AS (SELECT 1) DELETE FROM customer
WITH c AS (SELECT 9 AS a) INSERT INTO customer (id, name) SELECT a, 'Eve' FROM c
WITH c AS (SELECT 1) UPDATE customer SET age = (SELECT * FROM c)
WITH c AS (SELECT 1) MERGE INTO nation USING c ON true WHEN MATCHED THEN DELETE
SELECT * FROM (DELETE FROM customer RETURNING *)
SELECT * FROM (INSERT INTO nation VALUES ('x', 'y') RETURNING *)
SELECT * INTO copy FROM customer
SELECT * FROM customer FOR UPDATE
SELECT 1 UNION DELETE FROM customer
(DELETE FROM customer)
EXPLAIN DELETE FROM customer
EXPLAIN ANALYZE DELETE FROM customer
EXPLAIN SELECT * FROM customer
EXPLAIN ANALYZE SELECT * FROM customer
PIVOT customer ON city USING count(*)
UNPIVOT customer ON age INTO NAME n VALUE v
SUMMARIZE customer
DESCRIBE customer
SHOW ALL TABLES
SELECT * FROM (DESCRIBE customer)
SELECT * FROM (SHOW TABLES)
SELECT nextval('counter')
SELECT currval('counter')
SELECT setval('counter', 5)
SELECT * FROM customer WHERE id = nextval('counter')
-- More than one statement
SELECT 1; DELETE FROM customer
SELECT 1; SELECT 2
SELECT 1;;; DROP TABLE customer
; DROP TABLE customer
SELECT 1; -- harmless⏎DROP TABLE customer
SELECT 1 /* ; */; DROP TABLE customer /* ; */
SELECT 1; COPY customer TO 'x.csv'
SELECT $$; $$; DROP TABLE customer
-- Settings, state, transactions
PRAGMA database_list
PRAGMA enable_profiling
PRAGMA threads = 64
PRAGMA table_info('customer')
PRAGMA storage_info('customer')
CALL pragma_version()
CALL force_checkpoint()
SET threads = 64
SET GLOBAL enable_external_access = true
SET memory_limit = '100GB'
SET search_path = 'stock'
SET VARIABLE x = 1
SET lock_configuration = false
SET temp_directory = '/tmp/elsewhere'
SET allowed_paths = ['/etc/passwd']
SET python_enable_replacements = true
RESET enable_external_access
BEGIN
BEGIN TRANSACTION
COMMIT
ROLLBACK
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE p
USE stock
SELECT current_setting('temp_directory')
SELECT getvariable('x')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_temporary_files()
SELECT * FROM duckdb_databases
SELECT path FROM system.main."duckdb_databases"
SELECT path FROM 'duckdb_databases'
FROM main.DUCKDB_DATABASES
SELECT * FROM pg_settings
SELECT (FROM pg_catalog.pg_settings SELECT setting LIMIT 1)
WITH v AS (SELECT * FROM information_schema.views) SELECT view_definition FROM v
SELECT sql FROM sqlite_master
SELECT definition FROM pg_views
SELECT * FROM duckdb_logs
SELECT * FROM pragma_database_size()
SELECT * FROM pragma_database_size
SELECT * FROM checkpoint()
SELECT * FROM force_checkpoint()
SELECT * FROM enable_logging()
SELECT * FROM enable_profiling()
SELECT * FROM truncate_duckdb_logs()
SELECT write_log('x')
SELECT sleep_ms(60000)
SELECT pg_sleep(60)
SELECT setseed(0.5)
SELECT current_query()
-- Files
SELECT * FROM '/etc/passwd'
SELECT * FROM "/etc/passwd"
SELECT * FROM 'shop.duckdb'
SELECT * FROM 'x.csv'
SELECT * FROM 'https://example.invalid/x.parquet'
SELECT * FROM 's3://bucket/x.parquet'
FROM '/etc/passwd'
FROM read_csv('/etc/passwd')
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('/etc/passwd', header = false)
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM read_json('/etc/passwd')
SELECT * FROM read_ndjson_objects('/etc/passwd')
SELECT * FROM read_parquet('x.parquet')
SELECT * FROM parquet_scan('x.parquet')
SELECT * FROM parquet_metadata('x.parquet')
SELECT * FROM parquet_schema('x.parquet')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM read_duckdb('shop.duckdb')
SELECT * FROM "read_csv"('/etc/passwd')
SELECT * FROM READ_CSV/**/('/etc/passwd')
SELECT * FROM read_csv⏎('/etc/passwd')
SELECT * FROM main.read_csv('/etc/passwd')
SELECT * FROM system.main.read_text('/etc/passwd')
SELECT (SELECT content FROM read_text('/etc/passwd'))
SELECT name FROM customer WHERE name IN (SELECT content FROM read_text('/etc/passwd'))
SELECT * FROM customer, LATERAL (SELECT * FROM read_text(name))
SELECT * FROM glob('/etc/*')
SELECT * FROM glob('*')
SELECT getenv('HOME')
SELECT * FROM query('SELECT 1')
SELECT * FROM query('DELETE FROM customer')
SELECT * FROM query_table('customer')
SELECT * FROM query_table(['customer', '/etc/passwd'])
SELECT * FROM json_execute_serialized_sql('{}')
SELECT json_serialize_sql('SELECT 1')
SELECT json_deserialize_sql('{}')
SELECT * FROM seq_scan('customer')
SELECT * FROM arrow_scan(1, 2, 3)
SELECT * FROM pandas_scan(1)
SELECT * FROM python_map_function(1)
SELECT * FROM register_external_resource('x')
SELECT parse_duckdb_log_message('x', 'y')
SELECT twice(21)
COPY customer TO 'x.csv'
COPY (SELECT * FROM customer) TO 'x.parquet' (FORMAT parquet)
COPY customer FROM '/etc/passwd'
COPY (SELECT 1) TO '/dev/stdout'
COPY FROM DATABASE shop TO other
EXPORT DATABASE 'everything'
IMPORT DATABASE 'everything'
ATTACH 'other.duckdb'
ATTACH ':memory:' AS m
ATTACH 'shop.duckdb' AS again (READ_WRITE)
ATTACH 'dbname=x' AS pg (TYPE postgres)
DETACH shop
INSTALL httpfs
LOAD httpfs
LOAD '/tmp/evil.duckdb_extension'
FORCE INSTALL httpfs FROM community
UPDATE EXTENSIONS
CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')
CREATE PERSISTENT SECRET s (TYPE s3)
-- Python around it
SELECT * FROM statements
SELECT * FROM limits
SELECT * FROM sys
-- Resource bombs: stopped at their limits
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n
WITH RECURSIVE n(s) AS (SELECT 'ab' UNION ALL SELECT s || s FROM n) SELECT max(length(s)) FROM n
WITH RECURSIVE n(x, l) AS (SELECT 1, [1] UNION ALL SELECT x + 1, l || l FROM n) SELECT count(*) FROM n
SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c
SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i)
SELECT count(*) FROM customer a, customer b, customer c, customer d, customer e, customer f, customer g, customer h, customer i, customer j, customer k, customer l, customer m, customer n, customer o, customer p, customer q, customer r, customer s
SELECT count(*) FROM range(1000000000000)
SELECT count(*) FROM generate_series(TIMESTAMP '1900-01-01', TIMESTAMP '2900-01-01', INTERVAL 1 MICROSECOND)
SELECT range(1000000000000)
SELECT len(range(200000000))
SELECT unnest(range(1000000000))
SELECT array_to_string(range(100000000), ',')
SELECT string_split(repeat('a,', 100000000), ',')
SELECT list_distinct(range(200000000))
SELECT list_sort(list_transform(range(100000000), lambda x: hash(x)))
SELECT list_transform(range(100000), lambda x: range(100000))
SELECT list_resize([1], 4000000000, 0)
SELECT repeat([1], 1000000000)
SELECT flatten(list_transform(range(100000), lambda x: range(x)))
SELECT generate_series(TIMESTAMP '1900-01-01', TIMESTAMP '2900-01-01', INTERVAL 1 SECOND)
SELECT repeat('x', 10000000000)
SELECT length(repeat('x', 2000000000))
SELECT repeat(repeat(repeat('x', 100000), 100000), 100000)
SELECT lpad('x', 2000000000, 'y')
SELECT rpad('x', 2000000000, 'y')
SELECT printf('%2000000000d', 1)
SELECT format('{:>2000000000}', 1)
SELECT replace(repeat('a', 100000000), 'a', repeat('b', 1000))
SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))
SELECT regexp_replace(repeat('a', 50000000), '(a?){30}a{30}', 'x', 'g')
SELECT count(DISTINCT hash(i)) FROM range(10000000000) t(i)
SELECT list(i) FROM range(10000000000) t(i)
SELECT string_agg(i::VARCHAR, ',') FROM range(10000000000) t(i)
SELECT i FROM range(10000000000) t(i) ORDER BY hash(i)
SELECT median(i) OVER (ORDER BY i ROWS BETWEEN 10000000 PRECEDING AND CURRENT ROW) FROM range(100000000) t(i)
SELECT histogram(hash(i)) FROM range(1000000000) t(i)
SELECT '1' || 99999999999999999999999999999999999999999999999999999999999999999999999999999999::VARCHAR
SELECT 10 ** 400, factorial(10000), 170141183460469231731687303715884105727::HUGEINT * 2
SELECT repeat('[', 1000000)::JSON
-- Unicode, comments, odd quoting
ＤＥＬＥＴＥ FROM customer
DELETE FROM customer
DEL/**/ETE FROM customer
/* SELECT */ DELETE FROM customer
-- SELECT⏎DELETE FROM customer
/* /* nested */ SELECT 1; */ DELETE FROM customer
SELECT 1 /* unclosed
SELECT 'unclosed
SELECT "unclosed
SELECT $tag$ $tag$; DELETE FROM customer
SELECT E'\''; DELETE FROM customer; --'
SELECT '\'; DELETE FROM customer; --'
​SELECT 1; DELETE FROM customer
SELECT﻿ * FROM read_text('/etc/passwd')
SELECT * FROM "read_text" ('/etc/passwd')
SELECT U&"\0072ead_text"('/etc/passwd')
SELECT * FROM rеad_text('/etc/passwd')
SELECT 'x'.read_text()
SELECT $1
SELECT ?

-- work that doubles with each level of nesting before the engine sees anything
SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT 1))))))))))))))))))

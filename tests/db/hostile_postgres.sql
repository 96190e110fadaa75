-- Statements that must be refused or contained, the data unchanged: one a line, OUT for a folder the server can write to.
-- Plain writes
DELETE FROM customer
DELETE FROM ONLY customer WHERE id = 1 RETURNING *
UPDATE customer SET age = 0
UPDATE customer SET age = 0 FROM nation RETURNING customer.id
INSERT INTO audit VALUES ('x')
INSERT INTO audit SELECT name FROM customer
INSERT INTO audit VALUES ('x') ON CONFLICT DO NOTHING RETURNING what
INSERT INTO audit DEFAULT VALUES
MERGE INTO audit USING nation ON true WHEN MATCHED THEN DELETE
MERGE INTO audit a USING nation n ON a.what = n.name WHEN NOT MATCHED THEN INSERT VALUES (n.name)
TRUNCATE audit
TRUNCATE TABLE customer CASCADE
DROP TABLE audit
DROP VIEW IF EXISTS city_sales
DROP DATABASE shop
DROP SCHEMA public CASCADE
DROP OWNED BY CURRENT_USER CASCADE
ALTER TABLE customer ADD COLUMN note text
ALTER TABLE customer RENAME TO gone
ALTER TABLE audit DISABLE TRIGGER ALL
ALTER SEQUENCE counter RESTART WITH 1000
ALTER ROLE reader SUPERUSER
ALTER SYSTEM SET fsync = off
ALTER DATABASE shop SET default_transaction_read_only = off
CREATE TABLE t (a int)
CREATE TABLE t AS SELECT * FROM customer
CREATE TEMP TABLE t AS SELECT * FROM customer
CREATE TEMP TABLE t (a int) ON COMMIT DROP
CREATE UNLOGGED TABLE t (a int)
CREATE VIEW v AS SELECT 1
CREATE OR REPLACE TEMP VIEW customer AS SELECT 1
CREATE MATERIALIZED VIEW m AS SELECT 1
REFRESH MATERIALIZED VIEW city_sales
CREATE INDEX i ON customer (name)
CREATE SEQUENCE s
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
CREATE EXTENSION dblink
CREATE ROLE mallory SUPERUSER PASSWORD 'x'
CREATE TRIGGER g AFTER INSERT ON audit EXECUTE FUNCTION evil()
CREATE RULE r AS ON SELECT TO audit DO INSTEAD NOTHING
CREATE DATABASE other
CREATE SCHEMA s
COMMENT ON TABLE customer IS 'x'
SECURITY LABEL ON TABLE customer IS 'x'
GRANT ALL ON customer TO PUBLIC
REVOKE SELECT ON customer FROM reader
REASSIGN OWNED BY reader TO boss
VACUUM
VACUUM FULL customer
ANALYZE
CLUSTER
REINDEX DATABASE shop
CHECKPOINT
IMPORT FOREIGN SCHEMA public FROM SERVER s INTO public
-- Writes inside something that looks like a read
WITH gone AS (DELETE FROM customer RETURNING *) SELECT * FROM gone
WITH a AS (SELECT 1), b AS (INSERT INTO audit VALUES ('x') RETURNING *) SELECT * FROM a, b
WITH u AS (UPDATE customer SET age = 1 RETURNING *) SELECT count(*) FROM u
WITH c AS (SELECT 1) DELETE FROM customer
WITH c AS (SELECT 1 AS x) INSERT INTO audit SELECT x::text FROM c
WITH c AS (SELECT 1) UPDATE customer SET age = (SELECT * FROM c)
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 3) INSERT INTO audit SELECT x FROM r
WITH m AS (MERGE INTO audit USING nation ON true WHEN MATCHED THEN DELETE) SELECT 1
SELECT * FROM (WITH d AS (DELETE FROM audit RETURNING *) SELECT * FROM d) AS x
SELECT (WITH d AS (DELETE FROM audit RETURNING what) SELECT what FROM d LIMIT 1)
SELECT * FROM (DELETE FROM audit RETURNING *) AS x
SELECT * INTO copy FROM customer
SELECT * INTO TEMP copy FROM customer
SELECT * INTO UNLOGGED TABLE copy FROM customer
WITH c AS (SELECT 1) SELECT * INTO copy FROM c
(SELECT * INTO copy FROM customer)
SELECT 1 UNION SELECT 2 INTO copy
SELECT * FROM customer FOR UPDATE
SELECT * FROM customer FOR NO KEY UPDATE SKIP LOCKED
SELECT * FROM customer FOR SHARE NOWAIT
SELECT * FROM (SELECT * FROM customer FOR KEY SHARE) AS x
WITH c AS (SELECT * FROM customer FOR UPDATE) SELECT * FROM c
VALUES (1) RETURNING 1
EXPLAIN ANALYZE DELETE FROM customer
EXPLAIN (ANALYZE, FORMAT JSON) INSERT INTO audit VALUES ('x')
TABLE customer
PREPARE p AS DELETE FROM customer
EXECUTE p
DEALLOCATE ALL
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM customer
-- More than one statement
SELECT 1; DELETE FROM customer
SELECT 1; COMMIT; DELETE FROM customer
COMMIT; DELETE FROM customer
ROLLBACK; BEGIN READ WRITE; DELETE FROM customer; COMMIT
; DELETE FROM customer
SELECT 1; SELECT 2
SELECT 1 /* ; */ ; DROP TABLE audit
-- The transaction and the session
COMMIT
ROLLBACK
ROLLBACK TO SAVEPOINT s
RELEASE SAVEPOINT s
BEGIN READ WRITE
START TRANSACTION READ WRITE
SET TRANSACTION READ WRITE
SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE
SET transaction_read_only = off
SET default_transaction_read_only = off
SET standard_conforming_strings = off
SET statement_timeout = 0
SET ROLE boss
SET SESSION AUTHORIZATION boss
RESET ALL
RESET ROLE
DISCARD ALL
SELECT set_config('transaction_read_only', 'off', false)
SELECT set_config('transaction_read_only', 'off', true), evil()
SELECT set_config('role', 'boss', false)
SELECT set_config('statement_timeout', '0', false), pg_sleep(60)
SELECT pg_catalog.set_config('standard_conforming_strings', 'off', false)
SELECT "set_config"('search_path', 'evil', false)
SHOW ALL
LISTEN x
NOTIFY x, 'y'
UNLISTEN *
LOCK TABLE customer
LOAD 'auto_explain'
CALL evil_procedure()
DO 'BEGIN DELETE FROM customer; END'
DO $$BEGIN DELETE FROM customer; COMMIT; END$$
DO LANGUAGE plpgsql $x$BEGIN PERFORM evil(); END$x$
-- Files and programs of the server
COPY customer TO 'OUT/copy.csv'
COPY (SELECT * FROM customer) TO 'OUT/copy2.csv'
COPY customer TO PROGRAM 'cat > OUT/program.csv'
COPY audit FROM '/etc/hostname'
COPY audit FROM PROGRAM 'id'
COPY customer TO STDOUT
COPY audit FROM STDIN
SELECT pg_read_file('/etc/passwd')
SELECT pg_read_file('PG_VERSION', 0, 10)
SELECT pg_read_binary_file('/etc/passwd')
SELECT pg_ls_dir('.')
SELECT * FROM pg_ls_dir('/')
SELECT * FROM pg_ls_logdir()
SELECT * FROM pg_stat_file('/etc/passwd')
SELECT lo_import('/etc/passwd')
SELECT lo_export(4711, 'OUT/large')
SELECT lo_create(4712)
SELECT lo_creat(-1)
SELECT lo_unlink(4711)
SELECT lo_put(4711, 0, 'changed')
SELECT lo_from_bytea(4713, 'new')
SELECT lo_open(4711, 131072), lowrite(0, 'changed')
SELECT lo_truncate(lo_open(4711, 131072), 0)
SELECT lo_get(4711)
-- Other servers
SELECT * FROM dblink('dbname=shop', 'DELETE FROM customer') AS t(a int)
SELECT dblink_exec('dbname=shop', 'DELETE FROM customer')
SELECT dblink_connect('host=127.0.0.1')
SELECT pg_logical_emit_message(true, 'x', 'y')
-- Functions with side effects
SELECT nextval('counter')
SELECT setval('counter', 99)
SELECT currval('counter')
SELECT lastval()
SELECT pg_sleep(60)
SELECT pg_sleep_for('1 minute')
SELECT pg_sleep_until(now() + interval '1 minute')
SELECT * FROM pg_sleep(60)
SELECT * FROM customer, LATERAL pg_sleep(id)
SELECT name FROM customer WHERE pg_sleep(60) IS NULL
SELECT name FROM customer ORDER BY pg_sleep(60)
SELECT count(*) FILTER (WHERE pg_sleep(60) IS NULL) FROM customer
SELECT pg_advisory_lock(1)
SELECT pg_advisory_xact_lock(1)
SELECT pg_try_advisory_lock_shared(1)
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
SELECT pg_reload_conf()
SELECT pg_rotate_logfile()
SELECT pg_notify('x', 'y')
SELECT pg_stat_reset()
SELECT pg_create_restore_point('x')
SELECT pg_switch_wal()
SELECT pg_create_physical_replication_slot('x')
SELECT pg_export_snapshot()
SELECT txid_current()
SELECT pg_current_xact_id()
SELECT setseed(0.5)
SELECT current_setting('data_directory')
SELECT query_to_xml('DELETE FROM customer', true, true, '')
SELECT query_to_xml('SELECT evil()', true, true, '')
SELECT table_to_xml('customer', true, true, '')
SELECT database_to_xml(true, true, '')
SELECT ts_stat('SELECT evil()')
SELECT * FROM ts_stat('DELETE FROM customer')
SELECT ts_rewrite('a'::tsquery, 'SELECT evil()::text::tsquery, ''b''::tsquery')
SELECT pg_get_viewdef('city_sales')
SELECT pg_relation_size('customer')
SELECT brin_summarize_new_values('customer')
SELECT gin_clean_pending_list('customer')
SELECT pg_import_system_collations('public')
SELECT pg_replication_origin_create('x')
SELECT xmlparse(document '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>')
-- Functions of the user's own
SELECT evil()
SELECT public.evil()
SELECT "evil"()
SELECT public."evil" ()
SELECT evil/**/()
SELECT * FROM evil()
SELECT * FROM ROWS FROM (evil()) AS x
SELECT evil_definer()
SELECT evil_writable()
SELECT evil_setting()
SELECT evil_sequence()
SELECT evil_temp()
SELECT evil_commit()
SELECT evil_sleep()
SELECT evil_row(customer) FROM customer
SELECT customer.evil_row FROM customer
SELECT (customer).evil_row FROM customer
SELECT lower('a', 'b')
SELECT public.lower('a', 'b')
SELECT 'a'::text <+> 'b'::text
SELECT 'a'::text OPERATOR(public.<+>) 'b'::text
SELECT * FROM evil_view
SELECT * FROM evil_sequence_view
SELECT count(*) OVER (ORDER BY evil()) FROM customer
SELECT evil() FROM (SELECT 1) AS evil(a)
-- Tricks with text, comments and Unicode
SELECT U&"\0065vil"()
SELECT U&"!0065vil" UESCAPE '!' ()
SELECT U&'\0027; DELETE FROM customer; --'
SELECT E'\'; DELETE FROM customer; --'; DELETE FROM customer
SELECT E'a'⏎'\'', pg_sleep(60) --'
SELECT 'a\', pg_sleep(60) --'; DELETE FROM customer
SELECT $$a$$; DELETE FROM customer
SELECT $x$ $$ $x$, evil()
SELECT 1 /* /* */ , evil() */ , evil()
SELECT 1 -- \r⏎, evil()
SELECT 1 {# #} , evil()
SELECT 1; -- {% raw %}⏎DELETE FROM customer
/*! DELETE FROM customer */
SELECT /*+ Set(transaction_read_only off) */ evil()
ＳＥＬＥＣＴ 1
SELECT ｅvil()
SELECT evil ()
SELECT​ evil()
﻿DELETE FROM customer
DELETE FROM customer
SELECT $1; DELETE FROM customer
SELECT :x
SELECT ?
\! touch OUT/shell
\copy customer TO 'OUT/psql'
-- Bombs
SELECT count(*) FROM generate_series(1, 1000000000000)
SELECT generate_series(1, 1000000000000)
SELECT * FROM generate_series(1, 1000000000000)
SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b
SELECT a.name FROM customer a, customer b, customer c, customer d, customer e, customer f, customer g, customer h, customer i, customer j, customer k, customer l, customer m, customer n, customer o ORDER BY random()
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n
WITH RECURSIVE n(x) AS (SELECT 1::numeric UNION ALL SELECT x * 2 FROM n) SELECT max(x) FROM n
WITH RECURSIVE n(x) AS (SELECT 'a'::text UNION ALL SELECT x || x FROM n) SELECT length(x) FROM n
SELECT repeat('x', 500000000)
SELECT repeat(repeat('x', 1000), 1000000)
SELECT lpad('x', 900000000)
SELECT string_agg(repeat('x', 1000), '') FROM generate_series(1, 100000000)
SELECT array_agg(x) FROM generate_series(1, 1000000000) AS x
SELECT array_fill(1, ARRAY[100000000])
SELECT factorial(1000000)
SELECT 9.0 ^ 9 ^ 9 ^ 9
SELECT exp(5000.0)
SELECT format('%1000000000s', 'x')
SELECT format('%*s', 1000000000, 'x')
SELECT regexp_replace(repeat('a', 10000), '(a*)*(a*)*(a*)*b', 'x')
SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' SIMILAR TO '(((a*)*)*)*b'
SELECT jsonb_agg(x) FROM generate_series(1, 100000000) AS x
SELECT * FROM slow_view
SELECT 10 ^ 1000000
SELECT (SELECT count(*) FROM generate_series(1, 100000000) b WHERE b > a) FROM generate_series(1, 100000000) a

-- work that doubles with each level of nesting before the engine sees anything
SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT 1))))))))))))))))))

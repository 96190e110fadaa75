-- Statements that must be refused or contained, the file unchanged: one a line.
-- Plain writes
DELETE FROM customer
UPDATE customer SET age = 0
INSERT INTO customer (name) VALUES ('Eve')
INSERT INTO customer (name) VALUES ('Eve') RETURNING id
INSERT OR REPLACE INTO customer (id, name) VALUES (1, 'Eve')
REPLACE INTO customer (id, name) VALUES (1, 'Eve')
UPDATE OR IGNORE customer SET id = 2 RETURNING *
DELETE FROM customer WHERE id = 1 RETURNING name
DROP TABLE customer
DROP VIEW IF EXISTS city_sales
ALTER TABLE customer RENAME TO gone
ALTER TABLE customer ADD COLUMN note TEXT
CREATE TABLE t (a)
CREATE TABLE t AS SELECT * FROM customer
CREATE TEMP TABLE t AS SELECT * FROM customer
CREATE TEMPORARY VIEW v AS SELECT 1
CREATE VIEW v AS SELECT 1
CREATE INDEX i ON customer (name)
CREATE TRIGGER g AFTER INSERT ON orders BEGIN DELETE FROM customer; END
CREATE VIRTUAL TABLE v USING fts5 (a)
INSERT INTO docs (docs) VALUES ('optimize')
INSERT INTO docs (docs, rank) VALUES ('integrity-check', 1)
DELETE FROM docs_data
-- Writes inside something that looks like a read
WITH gone AS (DELETE FROM customer RETURNING *) SELECT * FROM gone
WITH c AS (SELECT 1) DELETE FROM customer
WITH c AS (SELECT 1) INSERT INTO customer (name) SELECT 'Eve' FROM c
WITH c AS (SELECT 1) UPDATE customer SET age = (SELECT * FROM c)
WITH c AS (SELECT 1) REPLACE INTO customer (id, name) SELECT 1, 'Eve'
WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c LIMIT 3) INSERT INTO audit SELECT x FROM c
SELECT * INTO copy FROM customer
SELECT * FROM (DELETE FROM customer RETURNING *)
SELECT * FROM customer WHERE id IN (INSERT INTO audit VALUES ('x') RETURNING what)
SELECT 1 UNION DELETE FROM customer
SELECT * FROM customer FOR UPDATE
(DELETE FROM customer)
EXPLAIN DELETE FROM customer
EXPLAIN QUERY PLAN DELETE FROM customer
EXPLAIN SELECT * FROM customer
SELECT raise(ABORT, 'x')
SELECT optimize(notes) FROM notes
-- More than one statement
SELECT 1; DELETE FROM customer
SELECT 1; SELECT 2
SELECT 1;;; DROP TABLE customer
; DROP TABLE customer
SELECT 1; -- harmless⏎DROP TABLE customer
SELECT 1 /* ; */; DROP TABLE customer /* ; */
SELECT ';'; DROP TABLE customer; SELECT '--'
SELECT 1; BEGIN; DELETE FROM customer; COMMIT
-- Comment tricks
/* SELECT 1 */ DELETE FROM customer
-- SELECT 1⏎DELETE FROM customer
SELECT 1 /* /* */; DELETE FROM customer; -- */
/*! DELETE FROM customer */
/**/DELETE/**/FROM/**/customer
DEL/**/ETE FROM customer
SELECT 1 --⏎; DELETE FROM customer
/* never closed
-- Quoting and Unicode tricks
SELECT 1；DELETE FROM customer
ＤＥＬＥＴＥ FROM customer
DELETE FROM customer
D​ELETE FROM customer
﻿DELETE FROM customer
SELECT ' FROM customer
SELECT "a FROM customer
SELECT 'a''; DELETE FROM customer; --
SELECT $$a$$; DELETE FROM customer
SELECT E'\'; DELETE FROM customer; --'
SELECT `a`;DELETE FROM [customer]
"DELETE" FROM customer
ꓓELETE FROM customer
-- The connection's own state
PRAGMA query_only = OFF
PRAGMA writable_schema = ON
PRAGMA table_info(customer)
PRAGMA journal_mode = WAL
PRAGMA user_version = 7
PRAGMA wal_checkpoint(TRUNCATE)
PRAGMA temp_store_directory = '/tmp'
PRAGMA hard_heap_limit = 1
SELECT * FROM pragma_table_info('customer')
SELECT * FROM pragma_user_version
SELECT * FROM "pragma_database_list"
SELECT * FROM [pragma_table_info]('customer')
SELECT * FROM main.pragma_table_info('customer')
SELECT (SELECT file FROM pragma_database_list)
SELECT * FROM customer, pragma_function_list
SELECT * FROM customer JOIN pragma_table_xinfo('customer') USING (name)
WITH pragma AS (SELECT * FROM pragma_compile_options) SELECT * FROM pragma
UPDATE sqlite_master SET sql = ''
DELETE FROM sqlite_schema
BEGIN
BEGIN EXCLUSIVE
COMMIT
ROLLBACK
SAVEPOINT s
RELEASE s
ANALYZE
REINDEX
VACUUM
-- Other files
ATTACH '/etc/passwd' AS p
ATTACH DATABASE 'stolen.db' AS s
ATTACH ':memory:' AS m
DETACH main
VACUUM INTO 'copy.db'
VACUUM main INTO '/tmp/copy.db'
SELECT load_extension('/tmp/evil.so')
SELECT LOAD_EXTENSION('/tmp/evil.so', 'init')
SELECT "load_extension"('/tmp/evil.so')
SELECT [load_extension]('/tmp/evil.so')
SELECT name, load_extension(city) FROM customer
SELECT 1 WHERE load_extension('x') IS NULL
SELECT (SELECT load_extension('x'))
SELECT 1 ORDER BY load_extension('x')
SELECT readfile('/etc/passwd')
SELECT writefile('/tmp/x', 'y')
SELECT edit('x', 'sh')
SELECT eval('DELETE FROM customer')
SELECT * FROM fsdir('/etc')
SELECT * FROM readfile('/etc/passwd')
SELECT * FROM csv('/etc/passwd')
COPY customer TO '/tmp/x'
COPY (SELECT * FROM customer) TO PROGRAM 'sh'
SELECT * FROM customer INTO OUTFILE '/tmp/x'
LOAD DATA INFILE '/etc/passwd' INTO TABLE customer
.shell rm -rf x
.read /etc/passwd
-- SQLite's inside
SELECT fts3_tokenizer('simple')
SELECT fts3_tokenizer('simple', x'0000000000000000')
SELECT hex(fts3_tokenizer('simple')) FROM notes
SELECT fts5(x'00')
SELECT rtreecheck('box')
SELECT rtreenode(2, x'0000')
SELECT sqlite_compileoption_get(1)
SELECT sqlite_log(1, 'x')
SELECT * FROM dbstat
SELECT * FROM sqlite_dbpage
SELECT * FROM sqlite_stmt
SELECT * FROM bytecode('SELECT 1')
SELECT count(*) FROM dbstat
SELECT * FROM temp.dbstat
SELECT 1 FROM customer WHERE name IN temp.dbstat
SELECT 1 FROM customer WHERE name IN dbstat
SELECT * FROM (WITH dbstat AS (SELECT 1 AS x) SELECT * FROM dbstat), dbstat
SELECT last_insert_rowid(), changes(), total_changes()
-- Too much time
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT max(x) FROM n
WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT a.x FROM n a, n b WHERE a.x < 0
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n), m AS (SELECT x FROM n) SELECT * FROM m WHERE x = -1
WITH n(x) AS (SELECT 1 FROM customer a, customer b, customer c, customer d, customer e, customer f) SELECT count(*) FROM n a, n b, n c
SELECT count(*) FROM customer a, customer b, customer c, customer d, customer e, customer f, customer g, customer h, customer i, customer j, customer k, customer l, customer m, customer n, customer o, customer p
SELECT * FROM customer a, customer b, customer c, customer d, customer e, customer f, customer g, customer h, customer i, customer j, customer k, customer l, customer m ORDER BY random()
-- Too much memory
SELECT zeroblob(1000000000)
SELECT hex(zeroblob(100000000))
SELECT randomblob(1000000000)
SELECT hex(randomblob(100000000))
SELECT printf('%1000000000d', 1)
SELECT printf('%.*c', 2000000000, 'x')
SELECT format('%*d', 1000000000, 1)
SELECT replace(printf('%1000000d', 1), ' ', printf('%1000000d', 1))
SELECT replace(replace(replace(printf('%999d', 1), ' ', printf('%999d', 1)), ' ', 'abcdefghij'), 'a', 'bbbbbbbbbbbbbbbbbbbb')
SELECT printf('%' || '1000000000d', 1)
SELECT printf(name, 1000000000, 1) FROM customer
SELECT "format"('%-+ #0*d', 1000000000, 1)
SELECT length(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(printf('%999d', 1))))))))))))
WITH RECURSIVE n(x, s) AS (SELECT 1, 'ab' UNION ALL SELECT x + 1, s || s FROM n) SELECT length(s) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT group_concat(x) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT group_concat(printf('%999d', x), '') FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT json_group_array(printf('%999d', x)) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT json_group_object(x, printf('%999d', x)) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT printf('%999d', x) || printf('%900d', x) FROM n ORDER BY 1
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT DISTINCT printf('%990d', x) FROM n LIMIT -1 OFFSET 9999999999
WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n) SELECT count(DISTINCT printf('%999d', x)) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT sum(x) OVER (ORDER BY printf('%999d', -x)) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT printf('%999d', x) || printf('%900d', x) FROM n

-- work that doubles with each level of nesting before the engine sees anything
SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT (SELECT 1 LIMIT 1))))))))))))))))))

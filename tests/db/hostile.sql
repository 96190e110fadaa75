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
-- Too much to compile: SQLite looks at no clock there
WITH e0 AS (SELECT age x FROM customer), e1 AS (SELECT x + x AS x FROM e0), e2 AS (SELECT x + x AS x FROM e1), e3 AS (SELECT x + x AS x FROM e2), e4 AS (SELECT x + x AS x FROM e3), e5 AS (SELECT x + x AS x FROM e4), e6 AS (SELECT x + x AS x FROM e5), e7 AS (SELECT x + x AS x FROM e6), e8 AS (SELECT x + x AS x FROM e7), e9 AS (SELECT x + x AS x FROM e8), e10 AS (SELECT x + x AS x FROM e9), e11 AS (SELECT x + x AS x FROM e10), e12 AS (SELECT x + x AS x FROM e11), e13 AS (SELECT x + x AS x FROM e12), e14 AS (SELECT x + x AS x FROM e13), e15 AS (SELECT x + x AS x FROM e14), e16 AS (SELECT x + x AS x FROM e15), e17 AS (SELECT x + x AS x FROM e16), e18 AS (SELECT x + x AS x FROM e17), e19 AS (SELECT x + x AS x FROM e18), e20 AS (SELECT x + x AS x FROM e19), e21 AS (SELECT x + x AS x FROM e20), e22 AS (SELECT x + x AS x FROM e21), e23 AS (SELECT x + x AS x FROM e22), e24 AS (SELECT x + x AS x FROM e23), e25 AS (SELECT x + x AS x FROM e24), e26 AS (SELECT x + x AS x FROM e25) SELECT * FROM e26
WITH e0 AS (SELECT age x FROM customer), e1 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e0), e2 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e1), e3 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e2), e4 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e3), e5 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e4), e6 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e5), e7 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e6), e8 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e7), e9 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e8), e10 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e9), e11 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e10), e12 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e11), e13 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e12), e14 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e13), e15 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e14), e16 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e15), e17 AS (SELECT CASE WHEN x THEN x ELSE -x END AS x FROM e16) SELECT * FROM e17
WITH e0 AS (SELECT name x FROM customer), e1 AS (SELECT x || x AS x FROM e0), e2 AS (SELECT x || x AS x FROM e1), e3 AS (SELECT x || x AS x FROM e2), e4 AS (SELECT x || x AS x FROM e3), e5 AS (SELECT x || x AS x FROM e4), e6 AS (SELECT x || x AS x FROM e5), e7 AS (SELECT x || x AS x FROM e6), e8 AS (SELECT x || x AS x FROM e7), e9 AS (SELECT x || x AS x FROM e8), e10 AS (SELECT x || x AS x FROM e9), e11 AS (SELECT x || x AS x FROM e10), e12 AS (SELECT x || x AS x FROM e11), e13 AS (SELECT x || x AS x FROM e12), e14 AS (SELECT x || x AS x FROM e13), e15 AS (SELECT x || x AS x FROM e14), e16 AS (SELECT x || x AS x FROM e15), e17 AS (SELECT x || x AS x FROM e16), e18 AS (SELECT x || x AS x FROM e17), e19 AS (SELECT x || x AS x FROM e18), e20 AS (SELECT x || x AS x FROM e19), e21 AS (SELECT x || x AS x FROM e20), e22 AS (SELECT x || x AS x FROM e21), e23 AS (SELECT x || x AS x FROM e22), e24 AS (SELECT x || x AS x FROM e23), e25 AS (SELECT x || x AS x FROM e24), e26 AS (SELECT x || x AS x FROM e25) SELECT count(*) FROM e26 WHERE x > 'a'
WITH e0 AS (SELECT age x FROM customer), e1 AS (SELECT coalesce(x, x, x) AS x FROM e0), e2 AS (SELECT coalesce(x, x, x) AS x FROM e1), e3 AS (SELECT coalesce(x, x, x) AS x FROM e2), e4 AS (SELECT coalesce(x, x, x) AS x FROM e3), e5 AS (SELECT coalesce(x, x, x) AS x FROM e4), e6 AS (SELECT coalesce(x, x, x) AS x FROM e5), e7 AS (SELECT coalesce(x, x, x) AS x FROM e6), e8 AS (SELECT coalesce(x, x, x) AS x FROM e7), e9 AS (SELECT coalesce(x, x, x) AS x FROM e8), e10 AS (SELECT coalesce(x, x, x) AS x FROM e9), e11 AS (SELECT coalesce(x, x, x) AS x FROM e10), e12 AS (SELECT coalesce(x, x, x) AS x FROM e11), e13 AS (SELECT coalesce(x, x, x) AS x FROM e12), e14 AS (SELECT coalesce(x, x, x) AS x FROM e13), e15 AS (SELECT coalesce(x, x, x) AS x FROM e14), e16 AS (SELECT coalesce(x, x, x) AS x FROM e15) SELECT * FROM e16
WITH e0 AS (SELECT age x, id y FROM customer), e1 AS (SELECT x + y AS x, x - y AS y FROM e0), e2 AS (SELECT x + y AS x, x - y AS y FROM e1), e3 AS (SELECT x + y AS x, x - y AS y FROM e2), e4 AS (SELECT x + y AS x, x - y AS y FROM e3), e5 AS (SELECT x + y AS x, x - y AS y FROM e4), e6 AS (SELECT x + y AS x, x - y AS y FROM e5), e7 AS (SELECT x + y AS x, x - y AS y FROM e6), e8 AS (SELECT x + y AS x, x - y AS y FROM e7), e9 AS (SELECT x + y AS x, x - y AS y FROM e8), e10 AS (SELECT x + y AS x, x - y AS y FROM e9), e11 AS (SELECT x + y AS x, x - y AS y FROM e10), e12 AS (SELECT x + y AS x, x - y AS y FROM e11), e13 AS (SELECT x + y AS x, x - y AS y FROM e12), e14 AS (SELECT x + y AS x, x - y AS y FROM e13), e15 AS (SELECT x + y AS x, x - y AS y FROM e14), e16 AS (SELECT x + y AS x, x - y AS y FROM e15), e17 AS (SELECT x + y AS x, x - y AS y FROM e16), e18 AS (SELECT x + y AS x, x - y AS y FROM e17), e19 AS (SELECT x + y AS x, x - y AS y FROM e18), e20 AS (SELECT x + y AS x, x - y AS y FROM e19), e21 AS (SELECT x + y AS x, x - y AS y FROM e20), e22 AS (SELECT x + y AS x, x - y AS y FROM e21), e23 AS (SELECT x + y AS x, x - y AS y FROM e22), e24 AS (SELECT x + y AS x, x - y AS y FROM e23), e25 AS (SELECT x + y AS x, x - y AS y FROM e24), e26 AS (SELECT x + y AS x, x - y AS y FROM e25) SELECT * FROM e26
WITH e0 AS (SELECT age x FROM customer), e1 AS (SELECT x FROM e0 UNION ALL SELECT x FROM e0), e2 AS (SELECT x FROM e1 UNION ALL SELECT x FROM e1), e3 AS (SELECT x FROM e2 UNION ALL SELECT x FROM e2), e4 AS (SELECT x FROM e3 UNION ALL SELECT x FROM e3), e5 AS (SELECT x FROM e4 UNION ALL SELECT x FROM e4), e6 AS (SELECT x FROM e5 UNION ALL SELECT x FROM e5), e7 AS (SELECT x FROM e6 UNION ALL SELECT x FROM e6), e8 AS (SELECT x FROM e7 UNION ALL SELECT x FROM e7), e9 AS (SELECT x FROM e8 UNION ALL SELECT x FROM e8), e10 AS (SELECT x FROM e9 UNION ALL SELECT x FROM e9), e11 AS (SELECT x FROM e10 UNION ALL SELECT x FROM e10), e12 AS (SELECT x FROM e11 UNION ALL SELECT x FROM e11), e13 AS (SELECT x FROM e12 UNION ALL SELECT x FROM e12), e14 AS (SELECT x FROM e13 UNION ALL SELECT x FROM e13), e15 AS (SELECT x FROM e14 UNION ALL SELECT x FROM e14), e16 AS (SELECT x FROM e15 UNION ALL SELECT x FROM e15) SELECT * FROM e16
WITH e0 AS (SELECT age x FROM customer), e1 AS (SELECT a.x FROM e0 a, e0 b), e2 AS (SELECT a.x FROM e1 a, e1 b), e3 AS (SELECT a.x FROM e2 a, e2 b), e4 AS (SELECT a.x FROM e3 a, e3 b), e5 AS (SELECT a.x FROM e4 a, e4 b), e6 AS (SELECT a.x FROM e5 a, e5 b), e7 AS (SELECT a.x FROM e6 a, e6 b), e8 AS (SELECT a.x FROM e7 a, e7 b), e9 AS (SELECT a.x FROM e8 a, e8 b), e10 AS (SELECT a.x FROM e9 a, e9 b), e11 AS (SELECT a.x FROM e10 a, e10 b), e12 AS (SELECT a.x FROM e11 a, e11 b), e13 AS (SELECT a.x FROM e12 a, e12 b), e14 AS (SELECT a.x FROM e13 a, e13 b), e15 AS (SELECT a.x FROM e14 a, e14 b), e16 AS (SELECT a.x FROM e15 a, e15 b) SELECT * FROM e16
WITH e0 AS (SELECT age x FROM customer), e1 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e0), e2 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e1), e3 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e2), e4 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e3), e5 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e4), e6 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e5), e7 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e6), e8 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e7), e9 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e8), e10 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e9), e11 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e10), e12 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e11), e13 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e12), e14 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e13), e15 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e14), e16 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e15), e17 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e16), e18 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e17), e19 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e18), e20 AS (SELECT (SELECT x) + (SELECT x) AS x FROM e19) SELECT * FROM e20
-- Deaf calls: one of a function that takes long, and looks at no clock
WITH RECURSIVE g(s, n) AS (SELECT 'aa', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 19) SELECT length(trim(s, substr(replace(s, 'a', 'x'), 1, 85000) || 'a')) FROM g WHERE n = 19
WITH RECURSIVE g(s, n) AS (SELECT 'aa', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 19) SELECT length(ltrim(s, substr(replace(substr(s, 1, 90000), 'a', 'é'), 1, 85000) || 'a')) FROM g WHERE n = 18
WITH RECURSIVE g(s, n) AS (SELECT 'aa', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 19) SELECT length(rtrim(s, substr(replace(s, 'a', 'y'), 1, 85000) || 'a')) FROM g WHERE n = 19
WITH RECURSIVE g(s, n) AS (SELECT 'ab', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 20) SELECT instr(s, substr(s, 1, 500000) || 'c') FROM g WHERE n = 20
WITH RECURSIVE g(s, n) AS (SELECT 'ab', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 20) SELECT length(replace(s, substr(s, 1, 500000) || 'c', 'd')) FROM g WHERE n = 20
WITH RECURSIVE g(s, n) AS (SELECT 'ab', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 20) SELECT instr(CAST(s AS BLOB), CAST(substr(s, 1, 500000) || 'c' AS BLOB)) FROM g WHERE n = 20
WITH RECURSIVE g(s, n) AS (SELECT 'aa', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 19) SELECT s LIKE '%a%a%a%a%a%a%a%a%b' FROM g WHERE n = 12
WITH RECURSIVE g(s, n) AS (SELECT 'aa', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 19) SELECT s GLOB '*a*a*a*a*a*a*a*a*b' FROM g WHERE n = 12
WITH RECURSIVE g(s, n) AS (SELECT 'aa', 1 UNION ALL SELECT s || s, n + 1 FROM g WHERE n < 19) SELECT glob('*[a-c]*[a-c]*[a-c]*[a-c]*[a-c]*d', s) FROM g WHERE n = 12
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 40000) SELECT length(json_patch(json_group_object(x, x), json_group_object(-x, x))) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 40000) SELECT length(json_patch(json_group_object('k' || x, 1), json_group_object('k' || -x, NULL))) FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 40000) , o(j) AS (SELECT json_group_object('k' || x, x) FROM n) SELECT count(json_extract(j, '$.k' || x)) FROM o, n
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

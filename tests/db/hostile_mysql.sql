-- Statements that must be refused or contained, the data unchanged: one a line, OUT for a folder the server can write to.
-- Plain writes
DELETE FROM customer
DELETE QUICK FROM old
DELETE FROM audit RETURNING what
DELETE c FROM customer c JOIN orders o ON o.customer_id = c.id
UPDATE customer SET age = 0
UPDATE LOW_PRIORITY old SET what = 'x'
UPDATE customer, orders SET age = 0, total = 0
INSERT INTO audit VALUES ('x')
INSERT INTO audit VALUES ('x') RETURNING what
INSERT IGNORE INTO audit SELECT name FROM customer
INSERT DELAYED INTO old VALUES ('x')
INSERT INTO customer (id, name) VALUES (1, 'x') ON DUPLICATE KEY UPDATE name = 'x'
REPLACE INTO customer (id, name) VALUES (1, 'Eve')
REPLACE INTO old SELECT name FROM customer
LOAD DATA INFILE '/etc/passwd' INTO TABLE audit
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE audit
LOAD XML INFILE '/etc/passwd' INTO TABLE audit
TRUNCATE audit
TRUNCATE TABLE old
DROP TABLE audit
DROP TABLE IF EXISTS audit, old
DROP DATABASE shop
DROP VIEW city_sales
DROP FUNCTION evil
DROP USER reader
ALTER TABLE customer ADD COLUMN note text
ALTER TABLE old ENGINE=InnoDB
ALTER DATABASE shop CHARACTER SET latin1
ALTER USER reader IDENTIFIED BY 'x'
RENAME TABLE audit TO gone
CREATE TABLE t (a int)
CREATE TABLE t AS SELECT * FROM customer
CREATE TABLE t LIKE customer
CREATE TEMPORARY TABLE t AS SELECT * FROM customer
CREATE TEMPORARY TABLE t (a int) ENGINE=MEMORY
CREATE OR REPLACE TABLE audit (a int)
CREATE VIEW v AS SELECT 1
CREATE OR REPLACE VIEW city_sales AS SELECT 1
CREATE INDEX i ON customer (name)
CREATE SEQUENCE s
CREATE DATABASE other
CREATE USER mallory
CREATE FUNCTION f() RETURNS int RETURN 1
CREATE FUNCTION sys_exec RETURNS int SONAME 'lib_mysqludf_sys.so'
CREATE PROCEDURE p() SELECT 1
CREATE TRIGGER g AFTER INSERT ON audit FOR EACH ROW DELETE FROM customer
CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM customer
CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')
GRANT ALL ON *.* TO reader
REVOKE ALL ON *.* FROM reader
INSTALL PLUGIN x SONAME 'x.so'
INSTALL SONAME 'ha_connect'
OPTIMIZE TABLE old
ANALYZE TABLE customer
REPAIR TABLE old
CHECK TABLE old
CHECKSUM TABLE old
FLUSH TABLES
FLUSH TABLES WITH READ LOCK
FLUSH PRIVILEGES
PURGE BINARY LOGS TO 'x'
RESET MASTER
KILL 1
KILL QUERY 1
SHUTDOWN
-- Writes inside something that looks like a read
WITH c AS (SELECT 1) DELETE FROM customer
WITH c AS (SELECT 1 AS x) INSERT INTO audit SELECT x FROM c
WITH c AS (SELECT 1) UPDATE customer SET age = (SELECT * FROM c)
WITH d AS (DELETE FROM audit RETURNING what) SELECT * FROM d
INSERT INTO audit WITH c AS (SELECT 1 AS x) SELECT x FROM c
SELECT * FROM (DELETE FROM audit RETURNING what) AS x
SELECT * FROM customer FOR UPDATE
SELECT * FROM customer FOR UPDATE SKIP LOCKED
SELECT * FROM customer FOR SHARE
SELECT * FROM customer LOCK IN SHARE MODE
SELECT * FROM (SELECT * FROM customer FOR UPDATE) AS x
(SELECT * FROM customer FOR UPDATE)
SELECT * FROM customer INTO OUTFILE 'OUT/a'
SELECT * INTO OUTFILE 'OUT/b' FROM customer
SELECT * INTO OUTFILE 'OUT/c' FIELDS TERMINATED BY ',' LINES TERMINATED BY '\n' FROM customer
SELECT 'x' INTO DUMPFILE 'OUT/d'
SELECT '<?php' INTO OUTFILE 'OUT/e.php' CHARACTER SET utf8mb4
(SELECT 1) INTO OUTFILE 'OUT/f'
SELECT 1 UNION SELECT 2 INTO OUTFILE 'OUT/g'
SELECT 1 UNION (SELECT 2 INTO OUTFILE 'OUT/h')
SELECT * FROM (SELECT 1 INTO OUTFILE 'OUT/i') AS x
SELECT (SELECT 1 INTO @x)
SELECT 1 INTO @x
SELECT name INTO @x FROM customer LIMIT 1
SELECT * FROM customer PROCEDURE ANALYSE(10, 10)
SELECT * FROM customer PROCEDURE ANALYSE((SELECT evil()), 1)
EXPLAIN DELETE FROM customer
ANALYZE DELETE FROM customer
ANALYZE FORMAT=JSON SELECT evil()
DESCRIBE customer
TABLE customer
TABLE customer INTO OUTFILE 'OUT/j'
VALUES (1) INTO OUTFILE 'OUT/k'
HANDLER customer OPEN
HANDLER customer READ FIRST
HANDLER customer CLOSE
DO evil()
DO SLEEP(60)
CALL evil_procedure()
PREPARE p FROM 'DELETE FROM customer'
EXECUTE p
EXECUTE IMMEDIATE 'DELETE FROM customer'
DEALLOCATE PREPARE p
BEGIN NOT ATOMIC DELETE FROM customer; END
IF 1 THEN DELETE FROM customer; END IF
-- More than one statement
SELECT 1; DELETE FROM customer
SELECT 1; COMMIT; DELETE FROM customer
; DELETE FROM customer
SELECT 1;; DROP TABLE audit
DELIMITER // DELETE FROM customer //
-- The transaction and the session
COMMIT
COMMIT AND CHAIN
ROLLBACK
ROLLBACK RELEASE
BEGIN
START TRANSACTION READ WRITE
START TRANSACTION WITH CONSISTENT SNAPSHOT
SET TRANSACTION READ WRITE
SET SESSION TRANSACTION READ WRITE
SET SESSION tx_read_only = 0
SET autocommit = 0
SET sql_mode = 'ANSI_QUOTES'
SET @@session.max_statement_time = 0
SET NAMES gbk
SET GLOBAL general_log = 1
SET GLOBAL general_log_file = 'OUT/log.php'
SET PASSWORD = PASSWORD('x')
SET ROLE none
SET STATEMENT max_statement_time = 0 FOR SELECT SLEEP(60)
SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR SELECT 1
USE mysql
LOCK TABLES customer WRITE
UNLOCK TABLES
SAVEPOINT s
XA START 'x'
SHOW GRANTS
SHOW VARIABLES
SELECT @x := 1
SELECT @x := @x + 1 FROM customer
SELECT @a, @b := name FROM customer
SELECT @@global.general_log_file
SELECT @@datadir
SELECT @@session.sql_mode
-- Files of the server
SELECT LOAD_FILE('/etc/passwd')
SELECT load_file(0x2f6574632f706173737764)
SELECT `LOAD_FILE`('/etc/passwd')
SELECT LOAD_FILE ('/etc/passwd')
SELECT LOAD_FILE/**/('/etc/passwd')
SELECT length(LOAD_FILE('/etc/passwd')) FROM customer
-- Functions with side effects
SELECT SLEEP(60)
SELECT SLEEP(60) FROM customer
SELECT name FROM customer WHERE SLEEP(60) = 0
SELECT name FROM customer ORDER BY SLEEP(60)
SELECT name FROM customer GROUP BY SLEEP(60)
SELECT IF(1, SLEEP(60), 0)
SELECT * FROM (SELECT SLEEP(60)) AS x
SELECT BENCHMARK(1000000000000, MD5('x'))
SELECT GET_LOCK('x', 60)
SELECT RELEASE_LOCK('x')
SELECT RELEASE_ALL_LOCKS()
SELECT IS_FREE_LOCK('x')
SELECT NEXT VALUE FOR counter
SELECT NEXTVAL(counter)
SELECT SETVAL(counter, 99)
SELECT LASTVAL(counter)
SELECT counter.nextval
SELECT LAST_INSERT_ID(5)
SELECT ROW_COUNT()
SELECT FOUND_ROWS()
SELECT UUID_SHORT()
SELECT MASTER_POS_WAIT('x', 4, 60)
SELECT MASTER_GTID_WAIT('0-1-1', 60)
SELECT sys_exec('id')
SELECT sys_eval('id')
SELECT EXTRACTVALUE(1, CONCAT(0x7e, (SELECT 1)))
SELECT UPDATEXML(1, CONCAT(0x7e, VERSION()), 1)
SELECT NAME_CONST('x', 1)
SELECT USER(), CURRENT_ROLE(), VERSION()
SELECT DATABASE()
SELECT CONNECTION_ID()
SELECT PASSWORD('x')
SELECT ENCRYPT('x')
SELECT SYS_GUID()
SELECT RANDOM_BYTES(1000)
-- Functions of the user's own
SELECT evil()
SELECT shop.evil()
SELECT `evil`()
SELECT `shop`.`evil`()
SELECT evil/**/()
SELECT evil_old()
SELECT evil_mode()
SELECT evil_sequence()
SELECT evil_sleep()
SELECT evil_temp()
SELECT shop.lower('A')
SELECT `shop`.`lower` ('A')
SELECT * FROM evil_view
SELECT * FROM evil_old_view
SELECT * FROM evil_sequence_view
SELECT count(*) FROM customer WHERE evil() = 1
-- Tricks with text, comments and Unicode
SELECT 1 /*! INTO OUTFILE 'OUT/l' */
SELECT 1 /*!50000 INTO OUTFILE 'OUT/m' */
SELECT 1 /*M! INTO OUTFILE 'OUT/n' */
SELECT 1 /*M!100000 , evil() */
SELECT /*!99999 1, */ evil()
/*! DELETE FROM customer */
/*!50000 DELETE */ FROM customer
SELECT /*+ SET_VAR(sql_mode = 'ANSI_QUOTES') */ 1
SELECT /*+ MAX_EXECUTION_TIME(0) */ SLEEP(60)
SELECT 1 --1 INTO OUTFILE 'OUT/o'
SELECT 1--⏎+1 INTO OUTFILE 'OUT/p'
SELECT 1 # x⏎INTO OUTFILE 'OUT/q'
SELECT 1 /* /* */ INTO OUTFILE 'OUT/r' -- */
SELECT '\' INTO OUTFILE "OUT/s" -- '
SELECT '\'; DELETE FROM customer -- '
SELECT "a\" INTO OUTFILE 'OUT/t' -- "
SELECT "a" "\"", evil() -- "
SELECT `a\`, evil() -- `
SELECT _gbk'縗', evil() -- '
SELECT 'a' 'b' INTO @x
SELECT 1 {# #} INTO @x
SELECT 1 ; -- {% raw %}⏎DELETE FROM customer
ＤＥＬＥＴＥ FROM customer
SELECT evil ()
SELECT​ evil()
﻿DELETE FROM customer
SELECT ?
SELECT :x
SELECT $$a$$, evil()
\! touch OUT/shell
source OUT/x.sql
-- Bombs
SELECT count(*) FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b
SELECT seq FROM seq_1_to_1000000000000
SELECT a.seq FROM seq_1_to_1000000 a, seq_1_to_1000000 b ORDER BY rand()
SELECT count(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c
SELECT a.name FROM customer a, customer b, customer c, customer d, customer e, customer f, customer g, customer h, customer i, customer j, customer k, customer l, customer m, customer n, customer o ORDER BY rand()
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n a, n b, n c, n d
WITH RECURSIVE n(x) AS (SELECT CAST('a' AS CHAR(1000000)) UNION ALL SELECT concat(x, x) FROM n) SELECT length(x) FROM n
SELECT repeat('x', 2000000000)
SELECT repeat(repeat('x', 1000000), 1000)
SELECT space(2000000000)
SELECT rpad('x', 2000000000, 'y')
SELECT group_concat(repeat('x', 10000)) FROM seq_1_to_100000000
SELECT json_arrayagg(seq) FROM seq_1_to_100000000
SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' REGEXP '^(a+)+$b'
SELECT regexp_replace(repeat('a', 100000), '(a*)*(a*)*(a*)*b', 'x')
SELECT pow(10, 400)
SELECT exp(1000)
SELECT 99999999999999999999999999999999999999999999999999999999999999999 * 99999999999999999999999999999999999999999
SELECT * FROM slow_view
SELECT count(DISTINCT a.seq, b.seq) FROM seq_1_to_1000000 a, seq_1_to_1000000 b
SELECT (SELECT count(*) FROM seq_1_to_10000000 b WHERE b.seq > a.seq) FROM seq_1_to_10000000 a

CREATE TABLE nation (name text PRIMARY KEY, capital text);
CREATE TABLE customer (id int PRIMARY KEY, name text NOT NULL, city text, age int, joined date, tags text[], extra jsonb);
CREATE TABLE orders (id serial PRIMARY KEY, customer_id int REFERENCES customer, total numeric(10, 2), at timestamptz);
CREATE TABLE audit (what text);
CREATE TABLE "Odd ""table" ("Order" int, "two words" text, größe float8);
CREATE SEQUENCE counter;
CREATE VIEW city_sales AS
    SELECT city, sum(total) AS total FROM customer JOIN orders ON orders.customer_id = customer.id GROUP BY city;
INSERT INTO nation VALUES ('Latvia', 'Riga'), ('Norway', 'Oslo');
INSERT INTO customer VALUES (1, 'Ann', 'Riga', 31, '2021-03-01', '{a,b}', '{"vip": true, "score": 5}'),
    (2, 'Bo', 'Oslo', 25, '2022-07-15', '{}', '{"score": 7}'), (3, 'Cem', NULL, NULL, NULL, NULL, NULL),
    (4, 'Dee', 'Riga', 44, '2020-12-31', '{b}', '[1, 2]');
INSERT INTO orders (customer_id, total, at) VALUES (1, 9.5, '2023-01-05 10:00+00'), (1, 20, '2023-02-06 11:30+00'),
    (4, 7, '2023-02-07 00:00+00'), (2, 12.25, '2024-05-01 23:59:59+00');
INSERT INTO "Odd ""table" VALUES (1, 'x', 2.5);
SELECT lo_from_bytea(4711, 'a large object');
CREATE FUNCTION evil() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO audit VALUES (''evil''); RETURN 1; END';
CREATE FUNCTION evil_definer() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
    'BEGIN INSERT INTO audit VALUES (''definer''); RETURN 1; END';
CREATE FUNCTION evil_writable() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
    'BEGIN SET transaction_read_only = off; INSERT INTO audit VALUES (''writable''); RETURN 1; END';
CREATE FUNCTION evil_setting() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
    'BEGIN PERFORM set_config(''standard_conforming_strings'', ''off'', false); RETURN 1; END';
CREATE FUNCTION evil_sequence() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT nextval(''counter'')';
CREATE FUNCTION evil_temp() RETURNS int LANGUAGE plpgsql AS 'BEGIN CREATE TEMP TABLE t (a int); RETURN 1; END';
CREATE FUNCTION evil_commit() RETURNS int LANGUAGE plpgsql AS 'BEGIN COMMIT; DELETE FROM audit; RETURN 1; END';
CREATE FUNCTION evil_sleep() RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN 1; END';
CREATE FUNCTION evil_row(customer) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
    'BEGIN DELETE FROM audit; RETURN 1; END';
CREATE FUNCTION lower(text, text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS
    'BEGIN INSERT INTO audit VALUES (''lower''); RETURN $1; END';
CREATE FUNCTION evil_plus(text, text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS
    'BEGIN INSERT INTO audit VALUES (''operator''); RETURN $1; END';
CREATE OPERATOR <+> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil_plus);
CREATE VIEW evil_view AS SELECT evil_definer() AS x;
CREATE VIEW evil_sequence_view AS SELECT evil_sequence() AS x;
CREATE VIEW slow_view AS SELECT count(*) FROM generate_series(1, 1000000000000) AS x;
CREATE PROCEDURE evil_procedure() LANGUAGE plpgsql AS 'BEGIN DELETE FROM audit; COMMIT; END';
INSERT INTO audit VALUES ('kept');
CREATE TABLE secret (word text);
GRANT USAGE ON SCHEMA public TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
REVOKE ALL ON secret FROM reader;

-- As access_attacks.sql, with what only DuckDB has.
FROM customer
FROM customer SELECT ssn
FROM customer SELECT name WHERE ssn > 'C'
SELECT * FROM (FROM customer)
SELECT name FROM (FROM customer)
WITH t AS (FROM customer) SELECT * FROM t
WITH t AS (TABLE customer) SELECT * FROM t
(TABLE customer)
SELECT 1, '', '', '', '' UNION ALL TABLE customer
SELECT (TABLE secret)
SELECT COLUMNS(*) FROM customer
SELECT COLUMNS('s.n') FROM customer
SELECT COLUMNS(c -> c LIKE 's%n') FROM customer
SELECT COLUMNS(* EXCLUDE (name)) FROM customer
SELECT COLUMNS(customer.*) FROM customer
SELECT COLUMNS(['ssn']) FROM customer
SELECT customer.COLUMNS('ssn') FROM customer
SELECT min(COLUMNS(*)) FROM customer
SELECT coalesce(*COLUMNS('ssn|name')) FROM customer
SELECT struct_pack(*COLUMNS(*)) FROM customer
SELECT name FROM customer WHERE COLUMNS('ssn') > 'C'
SELECT name FROM customer WHERE starts_with(COLUMNS('s.n'), 'C')
SELECT name FROM customer ORDER BY COLUMNS('ssn')
SELECT UNPACK(COLUMNS(*)) FROM customer
SELECT * EXCLUDE (name) FROM customer
SELECT * EXCLUDE (ssn) FROM customer
SELECT * EXCLUDE (ssn, "Credit Card") FROM customer
SELECT * REPLACE (ssn AS name) FROM customer
SELECT * RENAME (ssn AS x) FROM customer
SELECT * LIKE 's%' FROM customer
SELECT * SIMILAR TO 's.n' FROM customer
SELECT pet.* REPLACE (customer.ssn AS name) FROM pet, customer
SELECT customer.* EXCLUDE (name) FROM customer
SELECT #4 FROM customer
SELECT name FROM customer ORDER BY #4
SELECT name FROM customer WHERE #4 > 'C'
SELECT customer FROM customer
SELECT c FROM customer c
SELECT (c).ssn FROM customer c
SELECT c['ssn'] FROM customer c
SELECT customer['ssn'] FROM customer
SELECT struct_extract(c, 'ssn') FROM customer c
SELECT struct_extract_at(c, 4) FROM customer c
SELECT to_json(c) FROM customer c
SELECT row_to_json(c) FROM customer c
SELECT CAST(c AS VARCHAR) FROM customer c
SELECT c::TEXT FROM customer c
SELECT count(DISTINCT c) FROM customer c
SELECT list(c) FROM customer c
SELECT max(c) FROM customer c
SELECT hash(c) FROM customer c
SELECT unnest(c) FROM customer c
SELECT unnest(c, recursive := true) FROM customer c
SELECT c = (1, 'Ann', 'Riga', 'CANARY-1', 'x') FROM customer c
SELECT name FROM customer c ORDER BY c
SELECT count(*) FROM customer c GROUP BY c
SELECT x.ssn FROM (SELECT c FROM customer c) t, (SELECT t.c AS x)
SELECT main.customer.ssn FROM customer
SELECT memory.main.customer.ssn FROM customer
SELECT ssn FROM memory.main.customer
SELECT ssn FROM memory.customer
SELECT ssn FROM main.customer
SELECT customer.ssn.x FROM customer
SELECT a FROM customer AS x(a, b, c, d)
SELECT d FROM customer AS x(a, b, c, d, e)
SELECT name FROM customer AS x(i, name, city)
SELECT t.b FROM pet, customer AS t(a, b)
SELECT x: ssn FROM customer
SELECT a: name, b: ssn FROM customer
PIVOT customer ON ssn USING count(*)
SELECT * FROM (PIVOT customer ON ssn USING count(*))
SELECT * FROM customer PIVOT (count(*) FOR ssn IN ('CANARY-1'))
UNPIVOT customer ON ssn INTO NAME n VALUE v
SELECT v FROM customer UNPIVOT (v FOR n IN (ssn))
SELECT * FROM (UNPIVOT customer ON COLUMNS('ssn') INTO NAME n VALUE v)
SELECT * FROM (UNPIVOT customer ON name, city INTO NAME n VALUE v)
DESCRIBE customer
SELECT * FROM (DESCRIBE customer)
SELECT * FROM (SUMMARIZE customer)
SELECT * FROM (SHOW TABLES)
SUMMARIZE customer
SHOW TABLES
SELECT * FROM duckdb_tables()
SELECT * FROM duckdb_columns
SELECT * FROM duckdb_columns()
SELECT * FROM information_schema.columns
SELECT * FROM pg_catalog.pg_class
SELECT * FROM pg_class
SELECT sql FROM sqlite_master
WITH duckdb_columns AS (SELECT * FROM duckdb_columns) SELECT * FROM duckdb_columns
WITH RECURSIVE duckdb_columns AS (SELECT * FROM duckdb_columns) SELECT * FROM duckdb_columns
WITH RECURSIVE secret AS (SELECT val FROM secret UNION ALL SELECT val FROM secret WHERE false) SELECT * FROM secret
WITH RECURSIVE customer AS (SELECT * FROM customer) SELECT ssn FROM customer
SELECT * FROM query('SELECT ssn FROM customer')
SELECT * FROM query_table('customer')
SELECT * FROM query_table(['customer'])
SELECT * FROM pragma_table_info('customer')
SELECT * FROM pragma_storage_info('customer')
SELECT * FROM read_csv('x.csv')
SELECT * FROM 'x.csv'
SELECT * FROM "customer.parquet"
SELECT * FROM generate_series(1, 3)
SELECT * FROM range(3)
SELECT * FROM json_execute_serialized_sql('{}')
SELECT 'CANARY-1' IN secret
SELECT list_transform([1], x -> ssn) FROM customer
SELECT list_transform([1], x -> customer.ssn) FROM customer
SELECT list_filter([1], x -> ssn > 'C') FROM customer
SELECT list_transform([1], ssn -> ssn) FROM customer
SELECT list_transform([c], x -> x.ssn) FROM customer c
SELECT [ssn FOR x IN [1]] FROM customer
SELECT [x FOR x IN [1] IF ssn > 'C'] FROM customer
SELECT [x FOR x IN [ssn]] FROM customer
SELECT list_reduce([1, 2], (a, b) -> length(ssn)) FROM customer
SELECT {'a': ssn} FROM customer
SELECT {'a': ssn}.a FROM customer
SELECT [ssn] FROM customer
SELECT MAP {'a': ssn} FROM customer
SELECT struct_pack(a := ssn) FROM customer
SELECT row(ssn) FROM customer
SELECT name[length(ssn):] FROM customer
SELECT ssn[1:3] FROM customer
SELECT ssn.upper() FROM customer
SELECT customer.ssn.upper() FROM customer
SELECT ('x').concat(ssn) FROM customer
SELECT name FROM customer QUALIFY row_number() OVER (ORDER BY ssn) = 1
SELECT name, row_number() OVER w FROM customer WINDOW w AS (ORDER BY ssn)
SELECT DISTINCT ON (ssn) name FROM customer
SELECT arg_max(name, ssn) FROM customer
SELECT list(name ORDER BY ssn) FROM customer
SELECT string_agg(name, ',' ORDER BY ssn) FROM customer
SELECT count(*) FILTER (ssn > 'C') FROM customer
SELECT quantile_disc(0.5) WITHIN GROUP (ORDER BY ssn) FROM customer
SELECT count(*) FROM customer GROUP BY ROLLUP (ssn)
SELECT count(*) FROM customer GROUP BY GROUPING SETS ((ssn), ())
SELECT grouping(ssn) FROM customer GROUP BY ssn
SELECT name FROM customer LIMIT (SELECT length(ssn) FROM customer LIMIT 1)
SELECT ARRAY(SELECT ssn FROM customer)
SELECT (SELECT list(ssn) FROM customer)
SELECT name FROM customer, LATERAL (SELECT ssn) x
SELECT x.y FROM customer, (SELECT ssn AS y) x
SELECT x.y FROM customer, LATERAL (SELECT customer.ssn AS y) x
SELECT x.y FROM customer JOIN LATERAL (SELECT ssn AS y) x ON true
SELECT y FROM customer, unnest([ssn]) AS t(y)
SELECT y FROM customer, (VALUES (ssn)) AS t(y)
SELECT 1 FROM pet SEMI JOIN customer ON customer.ssn > 'C'
SELECT 1 FROM pet ANTI JOIN customer USING (ssn)
SELECT (SELECT ssn FROM orders o ANTI JOIN (SELECT 1 AS ssn) x ON o.id = x.ssn) FROM customer
SELECT 1 FROM pet POSITIONAL JOIN customer WHERE customer.ssn > 'C'
SELECT * FROM pet POSITIONAL JOIN customer
SELECT 1 FROM pet ASOF JOIN customer ON pet.name >= customer.ssn
SELECT * FROM pet NATURAL JOIN customer
SELECT name FROM pet UNION BY NAME SELECT ssn AS name FROM customer
SELECT * FROM pet UNION BY NAME SELECT * FROM customer
SELECT name FROM customer TABLESAMPLE 10
SELECT name FROM customer USING SAMPLE 1
SELECT name FROM customer AT (VERSION => 1)
SELECT name AS n, ssn || n FROM customer
SELECT upper(n), ssn AS n FROM customer
SELECT U&"\0073sn" FROM customer, (SELECT 1 AS u, 2 AS "\0073sn") x
SELECT getvariable('x'), ssn FROM customer
SELECT name FROM customer WHERE (SELECT true FROM secret WHERE val LIKE 'CANARY%' LIMIT 1)
SELECT name FROM customer GROUP BY ALL HAVING max(ssn) > 'C'
SELECT count(*) FROM customer ORDER BY max(ssn)
SELECT try_cast(ssn AS INT) FROM customer
SELECT CAST(ssn AS INT) FROM customer
SELECT name COLLATE NOCASE, ssn COLLATE NOCASE FROM customer
SELECT customer.rowid, ssn FROM customer
SELECT * FROM leaky
SELECT x FROM renamed
SELECT stats(ssn) FROM customer
SELECT typeof(ssn) FROM customer
SELECT alias(ssn) FROM customer
SELECT $$x$$, ssn FROM customer
SELECT name FROM customer WHERE ssn LIKE ANY (['C%'])
SELECT name FROM customer WHERE EXISTS (FROM pet WHERE pet.name = customer.ssn)
SELECT name FROM customer WHERE EXISTS (FROM customer)
SELECT unnest(customer) FROM customer
SELECT list_transform([1], lambda x: x + length(ssn)) FROM customer
SELECT upper(ssn -> '$') FROM customer
SELECT json_extract(ssn -> '$', '$') FROM customer
SELECT date_trunc(ssn, DATE '2024-01-01') FROM customer
SELECT name AS ssn, date_trunc(ssn, DATE '2024-01-01') FROM customer
SELECT date_part(ssn, DATE '2024-01-01') FROM customer
SELECT date_diff(ssn, DATE '2024-01-01', DATE '2024-01-01') FROM customer
SELECT datediff(ssn, DATE '2024-01-01', DATE '2024-01-01') FROM customer
SELECT date_sub(ssn, DATE '2024-01-01', DATE '2024-01-01') FROM customer
SELECT to_days(length(ssn)) FROM customer
SELECT INTERVAL (length(ssn)) DAY FROM customer
SELECT CASE WHEN true THEN ssn END FROM customer
SELECT date_trunc(customer.ssn, DATE '2024-01-01') FROM customer
SELECT date_trunc("ssn", DATE '2024-01-01') FROM customer

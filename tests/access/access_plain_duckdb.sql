-- As access_plain.sql, with what only DuckDB has.
SELECT * FROM pet
SELECT COLUMNS('n.*') FROM pet
SELECT * EXCLUDE (ssn) FROM pet
SELECT * REPLACE (ssn + 1 AS ssn) FROM pet
SELECT name, city FROM customer ORDER BY ALL
SELECT city, count(*) FROM customer GROUP BY ALL ORDER BY ALL
SELECT name AS n, upper(n) AS u FROM customer
SELECT n: name FROM customer
SELECT json_extract_string('{"a": 1}'::JSON -> 'a', '$')
SELECT [x * 2 FOR x IN [1, 2, 3] IF x > 1]
SELECT {'a': name}.a FROM customer
SELECT {'ssn': 1}['ssn']
SELECT list(name ORDER BY id) FROM customer
SELECT arg_max(name, id) FROM customer
SELECT name FROM customer QUALIFY row_number() OVER (ORDER BY id) = 1
SELECT DISTINCT ON (city) city FROM customer ORDER BY city
SELECT count(*) FILTER (city = 'Riga') FROM customer
SELECT name[1:2], name.upper() FROM customer
SELECT main.customer.name FROM main.customer
SELECT customer.name FROM customer SEMI JOIN orders ON orders.customer_id = customer.id
SELECT x FROM unnest([1, 2]) AS t(x)
SELECT t.x FROM pet, LATERAL (SELECT ssn * 2 AS x) t
SELECT a FROM pet AS x(a, b, c)
SELECT name::VARCHAR, '3'::INT FROM customer
SELECT p FROM pet p
SELECT strftime(DATE '2024-05-01', '%Y'), date_trunc('month', DATE '2024-05-03')
SELECT extract(year FROM DATE '2024-05-01') AS y
SELECT name FROM customer WHERE city IN ('Riga', 'Oslo') AND name ILIKE 'a%'
SELECT customer.rowid FROM customer
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4) SELECT x FROM n
WITH t AS (FROM pet) SELECT name, ssn FROM t
SELECT name FROM customer UNION BY NAME SELECT name FROM pet ORDER BY name
SELECT count(*) FROM customer c JOIN orders o ON o.customer_id = c.id WHERE o.total > 5
SELECT INTERVAL 3 DAY, current_date > DATE '2000-01-01'

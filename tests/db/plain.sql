-- Queries that SQLite runs and that must never be refused: one a line.
SELECT * FROM customer
select name, city from customer order by name desc limit 2 offset 1;
SELECT 1; -- a comment after the end
-- first a comment⏎SELECT 1
/* first a comment */ SELECT 1 /* and one in the middle */ + 1
SELECT count(*), count(DISTINCT city), avg(age), total(age), min(age), max(age) FROM customer
SELECT name FROM customer WHERE city = "Riga"
SELECT [name], `city`, "age" FROM [customer] WHERE `city` IS NOT NULL
SELECT c.name, o.total FROM customer c LEFT JOIN orders o USING (id) ORDER BY 2 NULLS LAST
SELECT * FROM customer c NATURAL JOIN orders
SELECT * FROM customer CROSS JOIN orders LIMIT 1
SELECT * FROM customer INNER JOIN orders ON customer.id = orders.customer_id, nation
SELECT city FROM customer GROUP BY city HAVING count(*) > 1
SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders WHERE total > 10)
SELECT name FROM customer WHERE NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = customer.id)
SELECT name FROM customer WHERE (id, city) = (1, 'Riga')
SELECT name FROM customer WHERE (id, city) IN (VALUES (1, 'Riga'), (2, 'Oslo'))
SELECT name FROM customer WHERE name LIKE '%a\_%' ESCAPE '\' OR name GLOB 'A*' OR name NOT LIKE 'b%'
SELECT name FROM customer WHERE age BETWEEN 20 AND 30 AND city <> 'Oslo' AND age != 3 AND NOT age == 4
SELECT name FROM customer WHERE city IS NULL OR age ISNULL OR city NOTNULL OR city NOT NULL
SELECT name FROM customer WHERE city IS 'Riga' OR city IS NOT 'Oslo' OR city IS DISTINCT FROM 'Bonn'
SELECT name COLLATE NOCASE FROM customer ORDER BY name COLLATE NOCASE
SELECT CASE WHEN age > 30 THEN 'old' ELSE 'young' END, CASE city WHEN 'Riga' THEN 1 END FROM customer
SELECT CAST(age AS REAL) / 2, CAST(age AS INTEGER) % 3, age << 1, age >> 1, age & 1, age | 1, ~age, -age FROM customer
SELECT name || ' of ' || city, 'it''s', x'0aff', 0x10, 1e3, .5, 1.5e-2 FROM customer
SELECT iif(age > 3, 'a', 'b'), ifnull(city, '?'), nullif(city, ''), coalesce(city, name, '') FROM customer
SELECT strftime('%Y', '2024-01-02'), date('now', '-1 day'), julianday('now') - julianday('2024-01-01'), datetime('now')
SELECT CURRENT_DATE, CURRENT_TIMESTAMP, current_time
SELECT substr(name, 1, 3), upper(name), length(name), replace(name, 'a', 'b'), trim(name), instr(name, 'a') FROM customer
SELECT printf('%.2f', age), format('%d', age), round(age / 3.0, 2), abs(age), hex(name), typeof(age), quote(name), unicode(name), char(65) FROM customer
SELECT group_concat(name), group_concat(name, '; '), group_concat(DISTINCT city) FROM customer
SELECT name, row_number() OVER (PARTITION BY city ORDER BY age DESC) AS r FROM customer
SELECT name, sum(age) OVER w, lag(age, 1, 0) OVER w, ntile(4) OVER w FROM customer WINDOW w AS (PARTITION BY city ORDER BY id)
SELECT avg(age) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM customer
SELECT avg(age) OVER (ORDER BY id GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM customer
SELECT count(*) FILTER (WHERE age > 30) FROM customer
SELECT city FROM customer UNION SELECT name FROM nation UNION ALL SELECT 'x' EXCEPT SELECT 'y' INTERSECT SELECT 'x'
SELECT * FROM (SELECT city, count(*) AS n FROM customer GROUP BY city) AS t WHERE t.n > 0 ORDER BY n DESC
SELECT (SELECT max(total) FROM orders), (SELECT min(total) FROM orders)
WITH big AS (SELECT * FROM orders WHERE total > 1) SELECT count(*) FROM big
WITH a AS MATERIALIZED (SELECT 1 AS x), b(y) AS NOT MATERIALIZED (SELECT x FROM a) SELECT y FROM b
WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT x FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION SELECT x + 1 FROM n LIMIT 5) SELECT sum(x) FROM n
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1), (2))
SELECT json_extract('{"a": [1]}', '$.a[0]'), '{"a": 1}' -> '$.a', '{"a": 1}' ->> 'a', json_array(1, 2)
SELECT value FROM json_each('[1, 2]')
SELECT key, j.value FROM customer, json_each('[1]') AS j
SELECT name FROM sqlite_master WHERE type = 'table'
SELECT rowid, _rowid_, oid FROM customer
SELECT customer.* FROM customer INDEXED BY customer_city WHERE city = 'Riga'
SELECT customer.* FROM customer NOT INDEXED
SELECT count(DISTINCT city) FROM customer ORDER BY random() LIMIT 1
SELECT name FROM main.customer
SELECT "no such column" AS literal
SELECT 'drop table customer; -- delete' AS harmless
SELECT 'insert' AS "update", 'x' AS [delete] FROM customer
SELECT name AS "with ""quotes""" FROM customer
SELECT "order", "two words", größe FROM "odd ""table"
SELECT * FROM city_sales
SELECT docs FROM docs WHERE docs MATCH 'river'
SELECT snippet(docs, 0, '<', '>', '', 5), bm25(docs) FROM docs('river') ORDER BY rank
SELECT id FROM box WHERE min_x > 0
SELECT name, age FROM customer WHERE age > (SELECT avg(age) FROM customer) AND city LIKE 'r%' OR name IN ('Ann', 'Bo')
SELECT max(total, 3), min(1, 2), sign(-1), sqrt(4), pow(2, 3), log(10), ceil(1.2), floor(1.2), mod(5, 3), pi() FROM orders
SELECT -- comment; with a semicolon⏎ 1
-- Names of functions and tables that may not be used, as names of the query's own
WITH eval AS (SELECT city, count(*) AS n FROM customer GROUP BY city) SELECT city, n FROM eval ORDER BY n, city
WITH completion AS (SELECT id FROM orders) SELECT count(*) FROM completion
SELECT edit.name FROM customer AS edit ORDER BY edit.id

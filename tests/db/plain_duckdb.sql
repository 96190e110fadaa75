-- Ordinary analytical statements for DuckDB: each must pass and run on the shop, one a line.
-- Filters, sorting, limits
SELECT * FROM customer
SELECT name, city FROM customer WHERE city = 'Riga' ORDER BY name LIMIT 3 OFFSET 0
SELECT DISTINCT city FROM customer WHERE city IS NOT NULL ORDER BY 1
SELECT name FROM customer WHERE name ILIKE '%a%' OR name LIKE 'B_' OR name SIMILAR TO 'C.*'
SELECT name FROM customer WHERE age BETWEEN 20 AND 40 AND city IN ('Riga', 'Oslo')
SELECT * EXCLUDE (age) FROM customer ORDER BY ALL
SELECT * REPLACE (upper(name) AS name) FROM customer
SELECT COLUMNS('n.*') FROM customer
SELECT name FROM customer ORDER BY age DESC NULLS LAST LIMIT 50%
SELECT c.name AS "the name" FROM customer AS c; -- with a comment at the end
SELECT DISTINCT ON (city) city, name FROM customer ORDER BY city, age DESC
SELECT 'it''s', 1e3, -2, 0.5, TRUE, NULL
SELECT name FROM customer USING SAMPLE 2 ROWS
SELECT name FROM customer TABLESAMPLE 100 PERCENT
VALUES (1, 'a'), (2, 'b')
-- Joins and set operations
SELECT c.name, o.total FROM customer c JOIN orders o ON o.customer_id = c.id
SELECT c.name, coalesce(sum(o.total), 0) AS spent FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name
SELECT name FROM customer SEMI JOIN orders ON orders.customer_id = customer.id
SELECT name FROM customer ANTI JOIN orders ON orders.customer_id = customer.id
SELECT c.name, o.day FROM customer c ASOF JOIN orders o ON c.id = o.customer_id AND c.joined <= o.day
SELECT count(*) FROM customer a CROSS JOIN customer b
SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = customer.id)
SELECT city FROM customer UNION SELECT name FROM nation EXCEPT SELECT 'Oslo' INTERSECT SELECT 'Riga'
SELECT id FROM customer UNION ALL BY NAME SELECT id FROM orders
SELECT n.name, x.most FROM nation n, LATERAL (SELECT max(age) AS most FROM customer WHERE city = n.capital) x
(SELECT 1 AS a) UNION ALL (SELECT 2) ORDER BY a
-- Grouping and aggregates
SELECT city, count(*), avg(age), min(age), max(age) FROM customer GROUP BY city HAVING count(*) > 1
SELECT city, count(*) FILTER (WHERE age > 30) AS old FROM customer GROUP BY ALL ORDER BY ALL
SELECT city, grouping(city), count(*) FROM customer GROUP BY ROLLUP (city)
SELECT city, state, count(*) FROM customer GROUP BY CUBE (city, state)
SELECT city, state, sum(age) FROM customer GROUP BY GROUPING SETS ((city), (state), ())
SELECT string_agg(name, ', ' ORDER BY name) FROM customer
SELECT list(name ORDER BY age), array_agg(DISTINCT city), first(name ORDER BY id), any_value(city) FROM customer
SELECT arg_max(name, age), min_by(name, age), mode(city), median(age), approx_count_distinct(city) FROM customer
SELECT quantile_cont(age, 0.5), percentile_cont(0.9) WITHIN GROUP (ORDER BY age), stddev(age), var_pop(age), corr(age, id) FROM customer
SELECT bool_and(age > 1), bool_or(age > 40), count_if(age > 30), product(id), histogram(city) FROM customer
-- Windows
SELECT name, row_number() OVER (PARTITION BY city ORDER BY age DESC) AS place FROM customer
SELECT day, total, sum(total) OVER (ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM orders
SELECT day, avg(total) OVER (ORDER BY day RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW) FROM orders
SELECT day, total - lag(total) OVER w AS change, ntile(2) OVER w FROM orders WINDOW w AS (ORDER BY day)
SELECT name, city FROM customer QUALIFY rank() OVER (PARTITION BY city ORDER BY age DESC) = 1
SELECT lead(total, 1, 0) OVER (ORDER BY day), last_value(total IGNORE NULLS) OVER (ORDER BY day) FROM orders
-- Dates and times
SELECT date_trunc('month', day) AS month, sum(total) FROM orders GROUP BY 1 ORDER BY 1
SELECT extract(year FROM day), year(day), month(day), dayname(day), date_part('dow', day), strftime(day, '%Y-%m') FROM orders
SELECT day + INTERVAL 1 DAY, day - INTERVAL '3' MONTH, date_diff('day', day, DATE '2024-12-31'), age(day::TIMESTAMP) FROM orders
SELECT count(*) FROM orders WHERE day >= DATE '2024-01-01' AND day < current_date AND day <= today() AND now() > day
SELECT strptime('31.01.2024', '%d.%m.%Y'), make_date(2024, 1, 31), last_day(DATE '2024-02-01'), to_timestamp(0), epoch(day) FROM orders
SELECT time_bucket(INTERVAL '1 week', day), count(*) FROM orders GROUP BY 1
SELECT TIMESTAMP '2024-01-01 10:00:00' AT TIME ZONE 'Europe/Riga'
SELECT d::DATE, count(o.id) FROM generate_series(DATE '2024-01-01', DATE '2024-01-31', INTERVAL 1 DAY) AS g(d) LEFT JOIN orders o ON o.day = g.d GROUP BY 1 ORDER BY 1
-- Expressions and text
SELECT CASE WHEN age < 30 THEN 'young' WHEN age IS NULL THEN '?' ELSE 'old' END, if(age > 30, 1, 2), ifnull(age, 0) FROM customer
SELECT age::VARCHAR, CAST(age AS DOUBLE), TRY_CAST(name AS INTEGER), name || ' ' || coalesce(city, '-') FROM customer
SELECT upper(name), length(name), substr(name, 1, 2), name[1:2], trim(name), replace(name, 'a', 'b'), split_part(name, 'n', 1) FROM customer
SELECT regexp_matches(name, '^A'), regexp_replace(name, 'n+', ''), regexp_extract(name, '(.)n', 1), starts_with(name, 'A') FROM customer
SELECT round(total, 1), floor(total), total // 2, total % 3, total ** 2, greatest(total, 10), abs(-total), ln(total) FROM orders
SELECT printf('%d items', count(*)), format('{} orders', count(*)), lpad('7', 3, '0'), levenshtein('duck', 'dusk') FROM orders
SELECT age IS DISTINCT FROM 31, nullif(age, 25), hash(name) IS NULL FROM customer
-- Lists, structs, maps, JSON
SELECT unnest([1, 2, 3]) AS n
SELECT tags, len(tags), tags[1], list_contains(tags, 'new'), array_to_string(tags, ',') FROM customer
SELECT list_transform([1, 2, 3], lambda x: x + 1), list_filter([1, 2, 3], lambda x: x > 1), [x * 2 FOR x IN [1, 2] IF x > 1]
SELECT {'a': 1, 'b': 'x'} AS s, ({'a': 1}).a, MAP {'k': 1}['k'], struct_pack(a := 1), row(1, 2)
SELECT c.name, t.tag FROM customer c, unnest(c.tags) AS t(tag)
SELECT note->>'$.color', json_extract(note, '$.size'), json_extract_string(note, '$.color') FROM customer
SELECT i FROM range(5) AS t(i)
-- Common table expressions and views
WITH spent AS (SELECT customer_id, sum(total) AS total FROM orders GROUP BY 1) SELECT name, total FROM customer JOIN spent ON id = customer_id
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT sum(i) FROM n
WITH a AS MATERIALIZED (SELECT 1 AS x) SELECT * FROM a
SELECT * FROM city_sales ORDER BY total DESC
SELECT "two words", "größe" FROM "odd ""table" WHERE "order" = 1
SELECT * FROM stock.item JOIN stock.place USING (place_id)
SELECT table_name FROM information_schema.tables ORDER BY 1

-- Queries that PostgreSQL runs and that must never be refused: one a line.
SELECT * FROM customer
select name, city from customer order by name desc limit 2 offset 1;
SELECT 1; -- a comment after the end
/* first /* nested */ comment */ SELECT 1 /* and one in the middle */ + 1
SELECT count(*), count(DISTINCT city), avg(age), min(age), max(age) FROM customer
SELECT city, count(*) AS n FROM customer GROUP BY city HAVING count(*) > 1
SELECT name FROM customer WHERE city ILIKE 'r%' AND name NOT LIKE '%\_%' ESCAPE '\'
SELECT name FROM customer WHERE city ~* '^r' OR city !~ 'x' OR city SIMILAR TO '(R|O)%'
SELECT c.name, o.total FROM customer c LEFT JOIN orders o ON o.customer_id = c.id ORDER BY 2 DESC NULLS LAST
SELECT * FROM customer c JOIN orders o USING (id)
SELECT * FROM customer c NATURAL JOIN orders
SELECT * FROM customer FULL OUTER JOIN orders ON customer.id = orders.customer_id
SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders WHERE total > 10)
SELECT name FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
SELECT name FROM customer WHERE (id, city) IN ((1, 'Riga'), (2, 'Oslo'))
SELECT name FROM customer WHERE age >= ALL (SELECT age FROM customer WHERE age IS NOT NULL)
SELECT name FROM customer WHERE id = ANY (ARRAY[1, 2])
SELECT name FROM customer WHERE age BETWEEN SYMMETRIC 30 AND 20 OR city IS DISTINCT FROM 'Oslo'
SELECT CASE WHEN age > 30 THEN 'old' ELSE 'young' END AS kind, count(*) FROM customer GROUP BY 1
SELECT DISTINCT ON (city) city, name FROM customer ORDER BY city, age DESC
SELECT date_trunc('month', at) AS month, sum(total) FROM orders GROUP BY 1 ORDER BY 1
SELECT extract(year FROM at), to_char(at, 'YYYY-MM'), date_part('dow', at) FROM orders
SELECT at AT TIME ZONE 'UTC', at::date, at + interval '1 day', now() - at FROM orders
SELECT age(joined), joined + 7, joined - date '2020-01-01', CURRENT_DATE FROM customer
SELECT make_date(2024, 1, 5), to_date('05.01.2024', 'DD.MM.YYYY'), to_timestamp(0)
SELECT (date '2024-01-01', date '2024-02-01') OVERLAPS (date '2024-01-15', date '2024-03-01')
SELECT name, rank() OVER (PARTITION BY city ORDER BY age DESC) FROM customer
SELECT name, sum(age) OVER w, lag(age) OVER w FROM customer WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
SELECT name, count(*) OVER (ORDER BY age RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM customer
SELECT id, total, round(100.0 * total / sum(total) OVER (), 2) AS share FROM orders
SELECT count(*) FILTER (WHERE age > 30), avg(age) FILTER (WHERE city = 'Riga') FROM customer
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total), mode() WITHIN GROUP (ORDER BY customer_id) FROM orders
SELECT string_agg(name, ', ' ORDER BY name), array_agg(DISTINCT city) FROM customer
SELECT city, name, count(*) FROM customer GROUP BY GROUPING SETS ((city), (name), ())
SELECT city, grouping(city), count(*) FROM customer GROUP BY ROLLUP (city)
SELECT city, age, count(*) FROM customer GROUP BY CUBE (city, age)
WITH rich AS (SELECT customer_id, sum(total) AS s FROM orders GROUP BY 1) SELECT name, s FROM customer JOIN rich ON id = customer_id
WITH a AS MATERIALIZED (SELECT 1 AS x), b AS NOT MATERIALIZED (SELECT 2 AS x) SELECT * FROM a, b
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT sum(x) FROM n
SELECT d::date FROM generate_series('2024-01-01'::timestamp, '2024-01-05', '1 day') AS d
SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS g(value, place)
SELECT c.name, o.total FROM customer c CROSS JOIN LATERAL (SELECT total FROM orders WHERE customer_id = c.id ORDER BY total DESC LIMIT 1) o
SELECT name, unnest(tags) AS tag FROM customer
SELECT name, t.tag FROM customer, unnest(tags) AS t(tag)
SELECT name FROM customer WHERE tags @> ARRAY['a'] OR 'b' = ANY (tags) OR cardinality(tags) = 0 OR tags[1] = 'b'
SELECT extra->>'vip', (extra->'score')::int, extra #>> '{score}', extra ? 'vip' FROM customer WHERE jsonb_typeof(extra) = 'object'
SELECT key, value FROM customer, jsonb_each_text(extra) WHERE jsonb_typeof(extra) = 'object'
SELECT jsonb_build_object('name', name), to_jsonb(age), row_to_json(customer) FROM customer
SELECT jsonb_path_query(extra, '$.score') FROM customer
SELECT name FROM customer WHERE extra @> '{"vip": true}'
SELECT CAST(age AS text), age::numeric(10, 2), '12'::int, CAST('2024-01-05' AS date), 5::varchar(3) FROM customer
SELECT coalesce(city, 'none'), nullif(age, 25), greatest(1, 2), least(3, NULL) FROM customer
SELECT upper(name) || ' ' || initcap(coalesce(city, '')), length(name), substring(name FROM 1 FOR 2), split_part(name, 'e', 1) FROM customer
SELECT substring(name, 1, 2), left(name, 1), right(name, 1), trim(BOTH ' ' FROM name), position('e' IN name), replace(name, 'n', 'm') FROM customer
SELECT regexp_replace(name, '[aeiou]', '', 'g'), regexp_matches('a1b2', '\d', 'g'), concat_ws('-', name, city), format('%s (%s)', name, age) FROM customer
SELECT round(avg(total), 2), stddev(total), variance(total), corr(total, id), ceil(2.1), floor(-2.1), mod(7, 3), power(2, 10), 7 % 3, 2 ^ 3, |/ 9.0 FROM orders
SELECT width_bucket(total, 0, 100, 10), ntile(2) OVER (ORDER BY total), cume_dist() OVER (ORDER BY total) FROM orders
SELECT name FROM customer UNION SELECT capital FROM nation EXCEPT SELECT city FROM customer ORDER BY 1
(SELECT name FROM customer LIMIT 1) UNION ALL (SELECT name FROM nation LIMIT 1)
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(id, name) WHERE t.id > 1
SELECT * FROM customer FETCH FIRST 2 ROWS ONLY
SELECT "Order", "two words", größe FROM "Odd ""table"
SELECT * FROM public.customer WHERE public.customer.id = 1
SELECT E'a\'b\n', 'it''s', $$dollar's$$, $tag$ $$ $tag$, 'back\slash', 'two'⏎' lines'
SELECT name FROM customer WHERE joined >= DATE '2021-01-01' AND joined < '2022-01-01'::date
SELECT to_tsvector('english', 'a running river') @@ to_tsquery('english', 'run')
SELECT '10.0.0.1'::inet << '10.0.0.0/8'::cidr, host('10.0.0.1/8'::inet)
SELECT int4range(1, 5) @> 3, lower(int4range(1, 5)), daterange('2024-01-01', '2024-02-01') && daterange('2024-01-15', NULL)
SELECT bool_and(age > 20), bool_or(age > 40), every(true), bit_or(id) FROM customer
SELECT total::int, count(*) FROM orders TABLESAMPLE BERNOULLI (100) GROUP BY 1
SELECT name COLLATE "C" FROM customer ORDER BY name COLLATE "C"
SELECT * FROM city_sales ORDER BY total DESC
SELECT count(*) FROM customer WHERE city IS NULL OR age IS NOT NULL AND (age > 5) IS TRUE
SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'customer'
SELECT ROW(1, 'a'), (1, 2) = (1, 2), ARRAY[[1, 2], [3, 4]], ARRAY(SELECT id FROM customer)
SELECT md5(name), encode(sha256(name::bytea), 'hex'), chr(65), ascii('A'), to_hex(255) FROM customer
SELECT random() < 2, gen_random_uuid() IS NOT NULL

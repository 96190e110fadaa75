-- Queries on access_shop_postgres.sql that touch nothing denied and must give what they give without rules.
SELECT (o).* FROM orders o
SELECT s.column1 FROM (VALUES (1, 2)) s
SELECT s FROM unnest(ARRAY[1]) s
SELECT lower(note) FROM orders
SELECT count(*) FROM orders
SELECT to_jsonb(o) FROM orders o
SELECT row_to_json(o) FROM orders o
SELECT row_to_json(o.*) FROM orders o
SELECT o IS NULL FROM orders o
SELECT upper('a')
SELECT 'small'::size
SELECT id FROM orders WHERE size = 'small'
SELECT (o.place).street FROM orders o
SELECT (place).street FROM orders
SELECT (place).city FROM orders
SELECT (json_each('{"a": 1}')).key
SELECT t.count FROM (SELECT count(*) FROM pet) t
SELECT t.max FROM (SELECT max(id) FROM pet) t
SELECT * FROM (SELECT * FROM pet) t WHERE t.ssn > 5
SELECT t.a FROM pet AS t(a, b)
SELECT j.name FROM (pet JOIN orders ON true) AS j
SELECT * FROM v_plain
SELECT * FROM m_plain
SELECT id FROM child
SELECT c.name, o.total FROM customer c JOIN orders o ON o.customer_id = c.id
SELECT c.name, t.s FROM customer c JOIN (SELECT customer_id, sum(total) AS s FROM orders GROUP BY customer_id) t ON t.customer_id = c.id
SELECT date_trunc('month', now()) IS NOT NULL, '2024-01-01'::date, 1::numeric(10,2), 'a'::varchar(3), now()::timestamptz IS NULL
SELECT o.id FROM orders o WHERE o.tags @> ARRAY['a']
SELECT tag FROM orders, unnest(tags) AS tag
SELECT t.tag FROM orders, unnest(tags) AS t(tag)
SELECT data->>'a' FROM orders
SELECT data FROM orders
SELECT (orders).total FROM orders
SELECT json_agg(t) FROM (SELECT id, total FROM orders) t
SELECT count(DISTINCT c.name) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id WHERE o IS NULL
SELECT (o).total FROM orders o
SELECT (o.place).street, (o.place).city FROM orders o
SELECT t.n FROM (SELECT note AS n FROM orders) t
SELECT t.total FROM (SELECT * FROM orders) t
SELECT t.sum FROM (SELECT sum(total) FROM orders) t
WITH t AS (SELECT * FROM pet) SELECT t.name FROM t
SELECT lower(note), upper(note), length(note) FROM orders
SELECT note || 'x' FROM orders
SELECT row_to_json(t) FROM (SELECT id, total FROM orders) t
SELECT c.name, count(*) AS n FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.name ORDER BY n DESC
SELECT name AS ssn FROM customer ORDER BY ssn
SELECT name, x FROM customer, (SELECT 5 AS x) t
SELECT day, value FROM measure
SELECT id, note FROM child
SELECT customer_id, n FROM m_plain
SELECT id, sum(id) OVER w FROM customer WINDOW w AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
SELECT string_agg(name, ',' ORDER BY name) FROM customer
SELECT extract(year FROM day), date_trunc('month', day) FROM measure
SELECT o.id FROM orders o LEFT JOIN customer c ON c.id = o.customer_id WHERE o IS NOT NULL
SELECT size, count(*) FROM orders WHERE size = 'small'::size GROUP BY size
SELECT id::text, total::int, note::varchar(10), '{}'::jsonb, ARRAY[1]::int[] FROM orders
SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders WHERE total > 5)


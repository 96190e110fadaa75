-- Queries on access_shop_postgres.sql that touch what is denied, or could through what its owner made: all to be refused.
SELECT (o).fullname FROM orders o
SELECT o.fullname FROM orders o
SELECT orders.fullname FROM orders
SELECT public.orders.fullname FROM orders
SELECT (SELECT o.fullname) FROM orders o
SELECT x.f FROM orders o, LATERAL (SELECT o.fullname AS f) x
SELECT (s.o).fullname FROM (SELECT o FROM orders o) s
SELECT (o).fullname FROM (SELECT o FROM orders o) s
SELECT s.leak FROM (SELECT * FROM orders) s
SELECT s.leak FROM (SELECT id FROM orders) s
SELECT s.peek FROM (SELECT id, 1 FROM orders) s
SELECT s.peek FROM (VALUES (1, 2)) s
SELECT s.leak FROM unnest(ARRAY[1]) s
SELECT (ARRAY(SELECT o FROM orders o))[1].fullname
SELECT ((ARRAY(SELECT o FROM orders o))[1]).fullname
SELECT (row(1,1,1,'x','small','{}',null,null)::orders).fullname
SELECT (jsonb_populate_record(null::orders, '{"customer_id": 1}')).fullname
SELECT lower(o) FROM orders o
SELECT count(o) FROM orders o
SELECT o::text FROM orders o
SELECT upper(o) FROM orders o
SELECT initcap(o) FROM orders o
SELECT o || 'x' FROM orders o
SELECT 'x' || o FROM orders o
SELECT concat(o) FROM orders o
SELECT concat(o.*) FROM orders o
SELECT o = o FROM orders o
SELECT o FROM orders o
SELECT upper('a', 'b')
SELECT 'a'::text + 'b'::text
SELECT 'CANARY-1'::guess
SELECT (null::customer).ssn
SELECT null::mood
SELECT enum_range(null::mood)
SELECT (o.place).leak FROM orders o
SELECT (json_each('{"a": 1}')).leak
SELECT leak(1)
SELECT o.ctid FROM orders o
SELECT j.fullname FROM (pet JOIN orders ON true) AS j
SELECT made FROM gen
SELECT n FROM v_spy
SELECT pin FROM child
SELECT value FROM measure_2024
SELECT orders FROM orders
SELECT fullname(orders) FROM orders
SELECT array_agg(o) FROM orders o
SELECT (array_agg(o))[1].fullname FROM orders o
SELECT coalesce(o, null) FROM orders o
SELECT max(o) FROM orders o
SELECT id FROM orders o GROUP BY o.id HAVING max(o.fullname) > ''
SELECT 1 FROM orders o ORDER BY o.fullname
SELECT 1 FROM orders o ORDER BY o
SELECT DISTINCT o FROM orders o
SELECT text(o) FROM orders o
SELECT json_value('1', '$' RETURNING guess)
SELECT (orders).fullname FROM orders
SELECT ((o)).fullname FROM orders o
SELECT (o)."fullname" FROM orders o
SELECT "o"."fullname" FROM orders "o"
SELECT o.leak FROM orders o
SELECT o.peek FROM orders o
SELECT t.leak FROM pet AS t(a, b)
SELECT t.leak FROM (SELECT 1 AS a) t
SELECT t.leak FROM (SELECT 1 AS a UNION SELECT 2) t
SELECT t.leak FROM pet p, LATERAL (SELECT p.id) t
SELECT t.leak FROM pet p CROSS JOIN LATERAL (SELECT p.*) t
WITH t AS (SELECT * FROM orders) SELECT t.leak FROM t
WITH t AS (SELECT * FROM orders) SELECT (t).leak FROM t
WITH t AS (SELECT o FROM orders o) SELECT (t.o).fullname FROM t
WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x FROM t WHERE false) SELECT t.leak FROM t
SELECT (SELECT x.leak FROM (SELECT 1 AS leak) y, pet x)
SELECT (SELECT s.x FROM (SELECT 1 AS leak) o, (SELECT o.leak AS x) s) FROM orders o
SELECT (SELECT 1 FROM (SELECT 1 AS leak) o, pet b JOIN pet c ON o.leak IS NULL) FROM orders o
SELECT (SELECT o FROM orders o LIMIT 1).fullname
SELECT ((SELECT o FROM orders o LIMIT 1)).fullname
SELECT (CASE WHEN true THEN o END).fullname FROM orders o
SELECT (coalesce(o, o)).fullname FROM orders o
SELECT (first_value(o) OVER ()).fullname FROM orders o
SELECT (array_agg(o ORDER BY o.id))[1].fullname FROM orders o
SELECT (unnest(ARRAY(SELECT o FROM orders o))).fullname
SELECT u.fullname FROM unnest(ARRAY(SELECT o FROM orders o)) u
SELECT (u).fullname FROM unnest(ARRAY(SELECT o FROM orders o)) u
SELECT (json_populate_record(NULL::orders, '{"customer_id": 1}')).fullname
SELECT (json_populate_record(o, '{}')).fullname FROM orders o
SELECT (jsonb_populate_record(CAST(NULL AS public.orders), '{}')).*
SELECT (NULL::public.orders).fullname
SELECT ('(1,1,1,x,small,{},,)'::orders).fullname
SELECT (CAST('(1,1,1,x,small,{},,)' AS orders)).fullname
SELECT (ARRAY['(1,1,1,x,small,{},,)']::orders[])[1].fullname
SELECT lower('(1,1,1,x,small,{},,)'::orders)
SELECT orders '(1,1,1,x,small,{},,)'
SELECT lower((o)) FROM orders o
SELECT lower(o.*) FROM orders o
SELECT btrim(o) FROM orders o
SELECT concat_ws(',', o) FROM orders o
SELECT format('%s', o) FROM orders o
SELECT o LIKE '%' FROM orders o
SELECT o IN (SELECT p FROM orders p) FROM orders o
SELECT o::varchar FROM orders o
SELECT CAST(o AS text) FROM orders o
SELECT string_agg(o, ',') FROM orders o
SELECT count(o.*) FROM orders o
SELECT (o.place).fullname FROM orders o
SELECT ((o).place).leak FROM orders o
SELECT (o.place)::text FROM orders o WHERE (o.place).leak > ''
SELECT (o.tags).leak FROM orders o
SELECT (o.data).leak FROM orders o
SELECT (o.id).leak FROM orders o
SELECT ('x'::text).spy
SELECT (1).leak
SELECT (o.note).spy FROM orders o
SELECT (row(1, 2)).leak
SELECT (row(1, 2)).f1
SELECT 'x'::guess IS NULL
SELECT CAST('CANARY-1' AS guess)
SELECT CAST('CANARY-1' AS public.guess)
SELECT 'CANARY-1'::guess[]
SELECT enum_first(null::mood)
SELECT 'CANARY sad'::mood
SELECT n FROM v_over
SELECT n FROM v_attr
SELECT n FROM v_op
SELECT n FROM v_cast
SELECT n FROM v_domain
SELECT n FROM v_outer
SELECT n FROM v_from
SELECT n FROM v_xml
SELECT n FROM m_spy
SELECT column_name FROM v_names
SELECT 'customer'::regclass
SELECT secrets()
SELECT (secrets()).ssn
SELECT * FROM secrets()
SELECT ssn FROM public.secrets()
SELECT value FROM hr.measure_2025
SELECT c.name FROM customer c, LATERAL (SELECT c.ssn AS x) t
SELECT parent.pin FROM parent
SELECT 'a' + 'b'
SELECT note + note FROM orders
SELECT pg_get_viewdef('leaky')
SELECT initcap('(1,1,1,x,small,{},,)', 'x'), (null::orders).fullname
SELECT null::string, null::object
SELECT 1::spy

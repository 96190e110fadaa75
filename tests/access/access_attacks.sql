-- Queries on tests/schema/access_shop.py that touch what is denied, or try to: one a line, all to be refused.
-- Plainly
SELECT ssn FROM customer
SELECT customer.ssn FROM customer
SELECT c.ssn FROM customer c
SELECT c.ssn FROM customer AS c, orders AS o
SELECT main.customer.ssn FROM customer
SELECT main.customer.ssn FROM main.customer
SELECT SSN FROM CUSTOMER
SELECT "ssn" FROM customer
SELECT [ssn] FROM customer
SELECT `ssn` FROM customer
SELECT "SSN" FROM "Customer"
SELECT c."ssn" FROM customer c
SELECT c.'ssn' FROM customer c
SELECT "Credit Card" FROM customer
SELECT [credit card] FROM customer
SELECT code FROM account
SELECT val FROM secret
SELECT * FROM secret
SELECT count(*) FROM secret
SELECT 1 FROM secret
SELECT s.val FROM orders, secret s
SELECT val FROM 'secret'
SELECT val FROM main.secret
SELECT val FROM "main"."secret"
SELECT/**/ssn/**/FROM/**/customer
SELECT ssn -- name⏎FROM customer
SELECT name, /* ' */ ssn /* ' */ FROM customer
SELECT name /* /* */ , ssn /* */ FROM customer
-- Stars and whole rows
SELECT * FROM customer
SELECT c.* FROM customer c
SELECT customer.* FROM customer
SELECT *, 1 FROM customer
SELECT * FROM orders o JOIN customer c ON c.id = o.customer_id
SELECT * FROM orders, customer
SELECT c.* FROM orders o JOIN customer c ON c.id = o.customer_id
SELECT * FROM (SELECT * FROM customer)
SELECT name FROM (SELECT * FROM customer)
SELECT x.name FROM (SELECT c.* FROM customer c) AS x
SELECT count(*) FROM (SELECT * FROM customer)
SELECT * FROM (customer JOIN orders ON 1)
SELECT * FROM (customer)
SELECT j.ssn FROM (customer JOIN orders ON 1) AS j
SELECT ssn FROM (customer JOIN orders ON 1)
SELECT ssn FROM (customer)
SELECT j.* FROM (customer c) AS j
SELECT name FROM customer WHERE EXISTS (SELECT * FROM customer)
SELECT customer FROM customer
SELECT count(customer) FROM customer
SELECT 1 FROM customer WHERE (SELECT * FROM customer) = (1, 2, 3, 4, 5)
SELECT name FROM customer WHERE (id, name, city, ssn, "Credit Card") IN (SELECT * FROM customer)
-- Clauses that show no value and still tell it
SELECT name FROM customer WHERE ssn LIKE 'CANARY%'
SELECT name FROM customer WHERE "ssn" = 'x'
SELECT name FROM customer ORDER BY ssn
SELECT name FROM customer ORDER BY ssn COLLATE NOCASE DESC
SELECT name FROM customer ORDER BY customer.ssn LIMIT 1
SELECT count(*) FROM customer GROUP BY ssn
SELECT city FROM customer GROUP BY city HAVING max(ssn) > 'C'
SELECT name, rank() OVER (ORDER BY ssn) FROM customer
SELECT name, count(*) OVER (PARTITION BY ssn) FROM customer
SELECT name, sum(id) OVER w FROM customer WINDOW w AS (PARTITION BY ssn)
SELECT count(*) FILTER (WHERE ssn > 'C') FROM customer
SELECT count(DISTINCT ssn) FROM customer
SELECT group_concat(ssn) FROM customer
SELECT group_concat(name, ssn) FROM customer
SELECT name FROM customer LIMIT (SELECT length(ssn) FROM customer)
SELECT name FROM customer LIMIT 1 OFFSET (SELECT unicode(max(ssn)) FROM customer)
SELECT CASE WHEN ssn > 'C' THEN 1 END FROM customer
SELECT CASE ssn WHEN 'x' THEN 1 ELSE 2 END FROM customer
SELECT iif(ssn > 'C', 1 / 0, 1) FROM customer
SELECT CAST(ssn AS INT) FROM customer
SELECT ssn || '' FROM customer
SELECT -ssn FROM customer
SELECT ssn IS NULL FROM customer
SELECT ssn ISNULL FROM customer
SELECT ssn BETWEEN 'A' AND 'D' FROM customer
SELECT 'CANARY-1' IN (ssn) FROM customer
SELECT name FROM customer WHERE 'C' < ssn AND ssn < 'D'
SELECT name FROM customer WHERE (id, ssn) = (1, 'CANARY-1')
SELECT name FROM customer WHERE (id, ssn) > (1, 'A')
SELECT substr(ssn, 1, 1) FROM customer
SELECT json_object('a', ssn) FROM customer
SELECT json_extract(ssn, '$') FROM customer
SELECT ssn ->> '$' FROM customer
SELECT printf('%s', ssn) FROM customer
SELECT max(name, ssn) FROM customer
SELECT DISTINCT ssn FROM customer
SELECT name FROM customer WHERE ssn GLOB 'C*' OR ssn MATCH 'x'
SELECT upper(ssn -> '$.x') FROM customer
SELECT coalesce(ssn -> '$', 1) FROM customer
SELECT max((ssn) -> '$', 1) FROM customer
SELECT max((name, ssn) -> '$', 1) FROM customer
SELECT max("ssn" -> '$', 'a') FROM customer
SELECT date(ssn, 'x') FROM customer
SELECT strftime(ssn, 'x') FROM customer
SELECT name AS ssn, max(ssn -> '$', 1) FROM customer
-- Joins
SELECT pet.name FROM pet JOIN (customer c JOIN orders o ON c.id = o.customer_id)
SELECT 1 FROM (SELECT * FROM pet) NATURAL JOIN customer
SELECT 1 FROM customer JOIN pet ON pet.ssn = customer.ssn
SELECT 1 FROM customer JOIN pet USING (ssn)
SELECT 1 FROM customer NATURAL JOIN pet
SELECT 1 FROM pet NATURAL LEFT JOIN customer
SELECT ssn FROM pet JOIN customer USING (ssn)
SELECT pet.name FROM pet JOIN customer ON ssn = 'x'
SELECT pet.name FROM pet, customer WHERE ssn = 'x'
SELECT o.id FROM orders o LEFT JOIN customer c ON c.ssn > 'C'
SELECT o.id FROM orders o JOIN (SELECT ssn AS x FROM customer) t ON t.x = o.note
SELECT o.id FROM (orders o JOIN customer c ON c.ssn = o.note)
SELECT 1 FROM orders o JOIN (customer c JOIN pet p USING (ssn)) ON 1
SELECT 1 FROM orders JOIN secret ON val = note
SELECT 1 FROM orders NATURAL JOIN secret
-- Subqueries that reach out, and names that seem to stand before a hidden one
SELECT (SELECT ssn) FROM customer
SELECT (SELECT c.ssn) FROM customer c
SELECT (SELECT ssn FROM orders) FROM customer
SELECT (SELECT ssn FROM (SELECT 1 AS a) x) FROM customer
SELECT (SELECT ssn FROM (SELECT "ssn" FROM orders) x) FROM customer
SELECT (SELECT ssn FROM (SELECT 'ssn') x) FROM customer
SELECT (SELECT 1 FROM orders a JOIN orders b ON ssn = 1, (SELECT 1 AS ssn) c) FROM customer
SELECT (SELECT 1 FROM (SELECT 1 AS ssn) a, orders b JOIN orders c ON ssn = 1) FROM customer
SELECT (SELECT x.ssn FROM (SELECT 1 AS a) x) FROM customer x
SELECT (SELECT max(ssn) FROM orders WHERE customer_id = customer.id) FROM customer
SELECT name FROM customer c WHERE EXISTS (SELECT 1 FROM orders WHERE note = c.ssn)
SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM orders WHERE note = ssn)
SELECT name FROM customer WHERE id IN (SELECT id FROM customer WHERE ssn > 'C')
SELECT name FROM customer WHERE ssn IN (SELECT note FROM orders)
SELECT name FROM orders, (SELECT ssn AS name FROM customer)
SELECT x FROM (SELECT ssn AS x FROM customer)
SELECT "x" FROM (SELECT ssn "x" FROM customer)
SELECT 1 WHERE (SELECT ssn FROM customer) > 'C'
SELECT * FROM (VALUES ((SELECT ssn FROM customer)))
VALUES ((SELECT ssn FROM customer))
SELECT name AS ssn FROM customer WHERE ssn > ''
SELECT 'x' IN secret
SELECT 'CANARY-1' IN (secret)
SELECT 'CANARY-1' IN secret FROM (SELECT 1 AS secret)
SELECT 'CANARY-1' IN main.secret
SELECT name FROM orders JOIN customer ON orders.customer_id IN secret
-- CTEs and set operations
WITH t AS (SELECT ssn FROM customer) SELECT * FROM t
WITH t(a) AS (SELECT ssn FROM customer) SELECT a FROM t
WITH t AS (SELECT * FROM customer) SELECT name FROM t
WITH t AS MATERIALIZED (SELECT ssn AS a FROM customer) SELECT a FROM t
WITH customer AS (SELECT * FROM customer) SELECT ssn FROM customer
WITH customer AS (SELECT ssn FROM main.customer) SELECT ssn FROM customer
WITH pet AS (SELECT ssn FROM customer) SELECT ssn FROM pet
WITH t AS (SELECT 1) SELECT ssn FROM customer
WITH secret AS (SELECT val FROM main.secret) SELECT val FROM secret
WITH secret AS (SELECT 1 AS val) SELECT val FROM main.secret
WITH RECURSIVE secret AS (SELECT val FROM secret UNION SELECT val FROM secret) SELECT val FROM secret
WITH RECURSIVE t AS (SELECT ssn AS x FROM customer UNION ALL SELECT x FROM t LIMIT 3) SELECT x FROM t
WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT ssn FROM t, customer LIMIT 3) SELECT x FROM t
WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t WHERE (SELECT ssn FROM customer) > 'C' LIMIT 3) SELECT x FROM t
WITH "ſecret" AS (SELECT 1 AS val) SELECT val FROM secret
WITH t AS (WITH u AS (SELECT ssn FROM customer) SELECT * FROM u) SELECT * FROM t
SELECT (WITH u AS (SELECT ssn) SELECT * FROM u) FROM customer
SELECT * FROM (WITH u AS (SELECT ssn AS y FROM customer) SELECT y FROM u)
SELECT name FROM pet UNION SELECT ssn FROM customer
SELECT name FROM pet UNION ALL SELECT val FROM secret
SELECT name FROM pet EXCEPT SELECT ssn FROM customer
SELECT ssn FROM pet INTERSECT SELECT ssn FROM customer
SELECT name FROM customer UNION SELECT name FROM pet ORDER BY customer.ssn
SELECT name FROM customer UNION SELECT name FROM customer ORDER BY (SELECT ssn FROM customer)
-- Row numbers that are a hidden key, and names that only look alike
SELECT rowid FROM account
SELECT oid FROM account
SELECT _rowid_ FROM account
SELECT "rowid" FROM account
SELECT a.rowid FROM account a
SELECT rowid FROM (SELECT * FROM account)
SELECT x.rowid FROM (SELECT owner FROM account) AS x
SELECT rowid FROM (SELECT owner FROM account)
SELECT owner FROM account ORDER BY rowid
SELECT owner FROM account WHERE rowid > 900000000
SELECT rowid FROM (account JOIN pet ON 1)
SELECT ſsn FROM customer
SELECT ｓｓｎ FROM customer
SELECT ssN FROM customer
SELECT "ssn " FROM customer, (SELECT ssn AS "ssn " FROM customer)
-- Views
SELECT * FROM leaky
SELECT name FROM leaky
SELECT x FROM renamed
SELECT name FROM nested
SELECT name FROM counted_secret
-- Full-text tables of which a column is hidden
SELECT body FROM docs
SELECT * FROM docs
SELECT title FROM docs WHERE docs MATCH 'canary'
SELECT title FROM docs WHERE body MATCH 'canary'
SELECT title FROM docs WHERE title MATCH 'body: canary'
SELECT title FROM docs WHERE docs = 'canary'
SELECT title FROM docs('canary')
SELECT highlight(docs, 1, '', '') FROM docs
SELECT snippet(docs, 1, '', '', '', 9) FROM docs
SELECT title FROM old WHERE title MATCH 'body:canary'
SELECT offsets(old) FROM old WHERE old MATCH 'canary'
SELECT c0 FROM docs_content
SELECT block FROM docs_data
SELECT * FROM old_content
-- Catalogues and functions in the place of tables
SELECT sql FROM sqlite_master
SELECT sql FROM sqlite_schema
SELECT sql FROM main.sqlite_master
SELECT name FROM sqlite_temp_master
SELECT * FROM sqlite_sequence
SELECT name FROM pragma_table_info('customer')
SELECT * FROM pragma_table_list
SELECT value FROM json_each((SELECT ssn FROM customer))
SELECT value FROM customer, json_each(json_array(ssn))
SELECT * FROM json_each('[1]')
WITH sqlite_master AS (SELECT * FROM sqlite_master) SELECT sql FROM sqlite_master
WITH RECURSIVE sqlite_master AS (SELECT * FROM sqlite_master) SELECT sql FROM sqlite_master
SELECT name FROM temp.customer
SELECT name FROM other.customer
-- Names that mean nothing
SELECT nonsense FROM customer
SELECT customer.nonsense FROM customer
SELECT x.ssn FROM customer
SELECT name FROM nowhere
SELECT orders.ssn FROM orders JOIN customer ON 1
SELECT * EXCLUDE (ssn) FROM customer
SELECT name FROM customer INDEXED BY hidden_index
SELECT name FROM customer WHERE name IN json_each('[]')
SELECT ssn OVER FROM customer
SELECT name FROM customer; SELECT ssn FROM customer
PRAGMA table_info(customer)
EXPLAIN SELECT ssn FROM customer
SELECT {# ssn #} name, ssn FROM customer

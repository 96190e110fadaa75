-- Queries on tests/schema/access_shop.py that touch nothing denied and must give what they give without rules.
SELECT name FROM customer
SELECT name, city FROM customer ORDER BY name DESC LIMIT 2 OFFSET 1
SELECT NAME FROM CUSTOMER
SELECT "name", [city], `id` FROM "customer"
SELECT c.name FROM customer AS c
SELECT customer.name FROM customer
SELECT main.customer.name FROM main.customer
SELECT count(*) FROM customer
SELECT count(*), count(DISTINCT city), max(name) FROM customer
SELECT count(*) FROM customer WHERE city = "Riga"
SELECT name FROM customer WHERE city = 'Riga' -- those of Riga
SELECT /* names */ name FROM customer
SELECT name AS "ssn of" FROM customer ORDER BY "ssn of"
SELECT ssn FROM pet
SELECT * FROM pet
SELECT p.* FROM pet p JOIN customer c ON c.name = p.name
SELECT p.ssn FROM pet p JOIN customer c ON c.name = p.name
SELECT pet.ssn, customer.name FROM pet, customer WHERE pet.name = customer.name
SELECT name FROM customer WHERE name IN (SELECT name FROM pet WHERE ssn > 3)
SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM pet WHERE ssn > 3 AND pet.name = customer.name)
SELECT name FROM customer WHERE EXISTS (SELECT * FROM pet WHERE pet.name = customer.name)
SELECT name FROM customer c WHERE (SELECT max(ssn) FROM pet) > c.id
SELECT 'ssn' FROM customer
SELECT name FROM customer WHERE name <> 'ssn' AND city NOT LIKE '%ssn%'
SELECT name FROM customer JOIN orders ON customer.id = orders.customer_id
SELECT c.name, sum(o.total) AS s FROM customer c JOIN orders o ON c.id = o.customer_id GROUP BY c.id HAVING s > 1 ORDER BY s DESC
SELECT c.name, o.total FROM customer c LEFT JOIN orders o USING (id) ORDER BY 2 NULLS LAST
SELECT * FROM orders NATURAL JOIN pet
SELECT city, total FROM orders NATURAL JOIN customer
SELECT o.* FROM orders o, customer c WHERE o.customer_id = c.id
SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders WHERE total > 10)
SELECT name FROM customer WHERE NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = customer.id)
SELECT name FROM customer WHERE (id, city) IN (VALUES (1, 'Riga'), (2, 'Oslo'))
SELECT name FROM customer UNION SELECT name FROM pet ORDER BY name
SELECT name FROM customer UNION ALL SELECT note FROM orders ORDER BY 1
SELECT city FROM customer INTERSECT SELECT city FROM customer
SELECT name FROM customer EXCEPT SELECT name FROM pet
SELECT * FROM (SELECT name, city FROM customer) WHERE city = 'Riga'
SELECT t.name FROM (SELECT name, count(*) AS n FROM customer GROUP BY name) AS t WHERE t.n = 1
WITH t AS (SELECT id, name FROM customer) SELECT * FROM t
WITH t(a, b) AS (SELECT id, name FROM customer) SELECT a, b FROM t ORDER BY b
WITH t AS (SELECT name FROM customer), u AS (SELECT name FROM t) SELECT count(*) FROM u
WITH customer AS (SELECT 1 AS ssn) SELECT ssn FROM customer
WITH secret AS (SELECT name AS val FROM customer) SELECT val FROM secret
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT x FROM n
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3) SELECT n.x, c.name FROM n JOIN customer c ON c.id = n.x
SELECT name, rank() OVER (PARTITION BY city ORDER BY id) FROM customer
SELECT name, sum(id) OVER w FROM customer WINDOW w AS (ORDER BY name)
SELECT CASE WHEN city IS NULL THEN 'none' ELSE city END FROM customer
SELECT CAST(id AS TEXT) || name FROM customer
SELECT name FROM customer WHERE city LIKE 'R%' ESCAPE '\'
SELECT name FROM customer ORDER BY city COLLATE NOCASE
SELECT rowid, name FROM customer
SELECT owner, balance FROM account
SELECT owner FROM account ORDER BY balance LIMIT 1
SELECT avg(balance) FROM account GROUP BY owner HAVING count(*) > 0
SELECT title FROM docs
SELECT name FROM open_view
SELECT * FROM open_view
SELECT v.city, count(*) FROM open_view v GROUP BY v.city
SELECT * FROM allowed_view
SELECT strftime('%Y', '2024-05-01'), date('now') > '2000-01-01', abs(-1)
SELECT json_extract('{"ssn": 1}', '$.ssn')
SELECT count(*) FILTER (WHERE city = 'Riga') FROM customer
SELECT group_concat(name, ', ') FROM customer
SELECT name FROM customer WHERE city = (SELECT city FROM customer WHERE name = 'Bo')
SELECT name FROM (customer JOIN orders ON customer.id = customer_id)
SELECT c.name FROM (customer c JOIN orders o ON c.id = o.customer_id) JOIN pet p ON p.id = o.id
SELECT (SELECT count(*) FROM orders WHERE customer_id = customer.id) FROM customer
SELECT (SELECT ssn FROM (SELECT 7 AS ssn) x) FROM customer
SELECT name FROM customer LIMIT 1;
VALUES (1, 'a'), (2, 'b')
SELECT 1
SELECT DISTINCT city FROM customer WHERE id BETWEEN 1 AND 3 AND city IS NOT NULL
SELECT max(id) FROM customer GROUP BY city ORDER BY max(id)
SELECT name AS ssn FROM customer ORDER BY ssn

-- Queries that MariaDB runs and that must never be refused: one a line.
SELECT * FROM customer
select name, city from customer order by name desc limit 2 offset 1;
select name from customer order by id limit 1, 2
SELECT 1; -- a comment after the end
# first a comment⏎SELECT 1 + 1 # and one at the end
/* first a comment */ SELECT 1 /* and one in the middle */ + 1
SELECT 5--1, 5 - -1
SELECT count(*), count(DISTINCT city), avg(age), min(age), max(age), sum(age) FROM customer
SELECT city, count(*) AS n FROM customer GROUP BY city HAVING n > 1
SELECT city, count(*) FROM customer GROUP BY city WITH ROLLUP
SELECT name FROM customer WHERE city LIKE 'r%' AND name NOT LIKE '%\_%' AND name LIKE '%|_%' ESCAPE '|' OR name LIKE 'A%'
SELECT name FROM customer WHERE city REGEXP '^R' OR city RLIKE 'o$' OR city NOT REGEXP 'x'
SELECT name FROM customer WHERE city = "Riga"
SELECT `name`, customer.`city`, c.age FROM customer JOIN customer AS c USING (id, name, city, age)
SELECT c.name, o.total FROM customer c LEFT JOIN orders o ON o.customer_id = c.id ORDER BY o.total IS NULL, 2 DESC
SELECT * FROM customer c NATURAL JOIN orders
SELECT * FROM customer CROSS JOIN nation
SELECT * FROM customer STRAIGHT_JOIN orders ON customer.id = orders.customer_id
SELECT * FROM customer RIGHT OUTER JOIN orders ON customer.id = orders.customer_id
SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders WHERE total > 10)
SELECT name FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
SELECT name FROM customer WHERE (id, city) IN ((1, 'Riga'), (2, 'Oslo'))
SELECT name FROM customer WHERE age >= ALL (SELECT age FROM customer WHERE age IS NOT NULL) OR age > ANY (SELECT 40)
SELECT name FROM customer WHERE age BETWEEN 20 AND 30 AND city <> 'Oslo' AND age != 3 AND NOT age <=> 4
SELECT name FROM customer WHERE city IS NULL XOR age > 30 && id < 9 || id = 3
SELECT CASE WHEN age > 30 THEN 'old' ELSE 'young' END AS kind, count(*) FROM customer GROUP BY 1
SELECT DISTINCT city FROM customer ORDER BY city
SELECT DISTINCTROW city FROM customer
SELECT SQL_NO_CACHE name FROM customer
SELECT HIGH_PRIORITY name FROM customer
SELECT name FROM customer FORCE INDEX (PRIMARY) WHERE id = 1
SELECT name FROM customer USE INDEX FOR ORDER BY (PRIMARY) ORDER BY id
SELECT year(at), month(at), sum(total) FROM orders GROUP BY year(at), month(at)
SELECT date_format(at, '%Y-%m') AS month, sum(total) FROM orders GROUP BY month ORDER BY month
SELECT extract(year FROM at), quarter(at), dayname(at), weekday(at), dayofweek(at), week(at), yearweek(at, 3), last_day(at) FROM orders
SELECT at + INTERVAL 1 DAY, date_add(at, INTERVAL 1 MONTH), date_sub(at, INTERVAL '1:30' HOUR_MINUTE), INTERVAL 1 YEAR + at FROM orders
SELECT datediff(now(), joined), timestampdiff(YEAR, joined, '2024-01-01'), curdate(), current_date, current_timestamp FROM customer
SELECT str_to_date('05.01.2024', '%d.%m.%Y'), makedate(2024, 5), from_unixtime(0), unix_timestamp('2024-01-01'), DATE '2024-01-05', TIMESTAMP '2024-01-05 10:00:00'
SELECT time_to_sec('01:00:00'), sec_to_time(3600), timediff('10:00', '09:00'), addtime('10:00', '01:00'), to_days('2024-01-01')
SELECT name, rank() OVER (PARTITION BY city ORDER BY age DESC), row_number() OVER () FROM customer
SELECT name, sum(age) OVER w, lag(age) OVER w FROM customer WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
SELECT id, round(100 * total / sum(total) OVER (), 2) AS share, ntile(2) OVER (ORDER BY total) FROM orders
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) OVER (PARTITION BY customer_id), median(total) OVER (PARTITION BY customer_id) FROM orders
SELECT group_concat(DISTINCT name ORDER BY name DESC SEPARATOR ', '), group_concat(city) FROM customer
WITH rich AS (SELECT customer_id, sum(total) AS s FROM orders GROUP BY 1) SELECT name, s FROM customer JOIN rich ON id = customer_id
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT sum(x) FROM n
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS x FROM a) SELECT * FROM a, b
SELECT name FROM customer UNION SELECT capital FROM nation ORDER BY 1 LIMIT 3
SELECT name FROM customer EXCEPT SELECT 'Ann' INTERSECT SELECT 'Ann'
(SELECT name FROM customer LIMIT 1) UNION ALL (SELECT name FROM nation LIMIT 1)
SELECT * FROM (SELECT city, avg(age) AS a FROM customer GROUP BY city) AS t WHERE t.a > 30
SELECT json_extract(extra, '$.score'), json_value(extra, '$.vip'), json_unquote(json_extract(extra, '$.score')), json_type(extra) FROM customer
SELECT json_object('name', name), json_arrayagg(age), json_length(extra), json_contains(extra, '7', '$.score') FROM customer GROUP BY id
SELECT t.score FROM customer, json_table(extra, '$' COLUMNS (score INT PATH '$.score')) AS t
SELECT CAST(age AS CHAR), CAST(total AS SIGNED), CAST('12' AS UNSIGNED), CAST('2024-01-05' AS DATE), CONVERT('12', DECIMAL(10, 2)), CONVERT(name USING utf8mb4) FROM customer, orders
SELECT coalesce(city, 'none'), ifnull(age, 0), nullif(age, 25), if(age > 30, 'old', 'young'), greatest(1, 2), least(3, 2), isnull(city) FROM customer
SELECT upper(name), concat(name, ' ', city), concat_ws('-', name, city), length(name), char_length(name), substring(name, 1, 2), substring_index('a,b', ',', 1), mid(name, 2, 1) FROM customer
SELECT left(name, 1), right(name, 1), trim(BOTH ' ' FROM name), ltrim(name), instr(name, 'n'), locate('n', name), replace(name, 'n', 'm'), lpad(name, 5, '*'), reverse(name), field(city, 'Oslo', 'Riga'), find_in_set('b', 'a,b'), elt(1, 'a') FROM customer
SELECT round(avg(total), 2), stddev(total), var_samp(total), ceil(2.1), floor(-2.1), truncate(2.19, 1), mod(7, 3), 7 MOD 3, 7 DIV 3, pow(2, 10), format(1234.5, 2), rand() < 2 FROM orders
SELECT regexp_replace(name, '[aeiou]', ''), regexp_substr('a1b2', '[0-9]'), strcmp('a', 'b'), soundex(name), hex('a'), md5(name), sha2(name, 256), crc32(name) FROM customer
SELECT 'it''s', 'it\'s', "say \"x\"", 'a' 'b', 'tab\t', '\\', 0x41, x'41', b'101', 1e3, .5 FROM dual
SELECT `Order`, `two words`, größe FROM `Odd ``table`
SELECT * FROM shop.customer WHERE shop.customer.id = 1
SELECT name COLLATE utf8mb4_bin, BINARY name = 'ann' FROM customer
SELECT * FROM city_sales ORDER BY total DESC
SELECT what FROM old WHERE MATCH(what) AGAINST ('river' IN BOOLEAN MODE)
SELECT bit_and(id), bit_or(id), bit_xor(id), id & 1, id | 1, id ^ 1, id << 1, ~id FROM customer GROUP BY id
SELECT count(*) FROM information_schema.tables WHERE table_schema = 'shop'
SELECT inet_ntoa(inet_aton('10.0.0.1')), is_ipv4('10.0.0.1')
SELECT st_astext(st_geomfromtext('POINT(1 2)')), st_distance(point(0, 0), point(3, 4))
SELECT count(*) FROM customer WHERE joined >= '2021-01-01' AND joined < '2022-01-01' AND age IS NOT NULL AND (age > 5) IS TRUE
SELECT name FROM customer WHERE city = 'riga' AND name SOUNDS LIKE 'An'

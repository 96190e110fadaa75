"""What the schema tests create on real servers."""

POSTGRES = """
CREATE SCHEMA sales; CREATE SCHEMA "Odd Schema"; CREATE SCHEMA hidden;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s fine');
CREATE DOMAIN email AS varchar(80) NOT NULL CHECK (VALUE LIKE '%@%');
CREATE TABLE author (id serial PRIMARY KEY, "full name" varchar(40) NOT NULL, mail email, feeling mood, größe float8,
    tags text[], seen timestamptz(3), UNIQUE ("full name", größe));
COMMENT ON TABLE author IS 'who writes'; COMMENT ON COLUMN author.größe IS 'in metres';
CREATE TABLE book (isbn text PRIMARY KEY, author int REFERENCES author, editor int REFERENCES author (id),
    price numeric(10, 2) UNIQUE, net numeric GENERATED ALWAYS AS (price / 1.2) STORED);
CREATE UNIQUE INDEX book_partial ON book (author) WHERE price > 1; CREATE UNIQUE INDEX book_lower ON book (lower(isbn));
CREATE UNIQUE INDEX book_including ON book (editor) INCLUDE (price);
CREATE TABLE sales.edition (isbn text REFERENCES book, number int, PRIMARY KEY (number, isbn));
CREATE TABLE sales.copy (number int, isbn text, shelf int, FOREIGN KEY (number, isbn) REFERENCES sales.edition);
CREATE TABLE hidden.secret (a int PRIMARY KEY); CREATE TABLE to_secret (a int REFERENCES hidden.secret);
CREATE TABLE "Odd Schema"."Odd ""table" ("select" int, "a""b" int);
CREATE TABLE measure (day date, value int) PARTITION BY RANGE (day);
CREATE TABLE measure_2024 PARTITION OF measure FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE forbidden (a int); CREATE TABLE partly (open int PRIMARY KEY, closed int UNIQUE);
CREATE VIEW cheap AS SELECT isbn, price * 2 AS double FROM book WHERE price < 9;
CREATE MATERIALIZED VIEW totals AS SELECT author, count(*) AS n FROM book GROUP BY author;
CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE passwd (line text) SERVER files OPTIONS (filename '/dev/null');
CREATE EXTENSION pg_stat_statements;
CREATE ROLE schema_reader LOGIN PASSWORD 'schema-pass';
GRANT USAGE ON SCHEMA public, sales, "Odd Schema" TO schema_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public, sales, "Odd Schema" TO schema_reader;
REVOKE ALL ON forbidden, partly FROM schema_reader; GRANT SELECT (open) ON partly TO schema_reader;
"""

MYSQL = (
    "CREATE DATABASE library",
    "CREATE DATABASE sales",
    "USE library",
    """CREATE TABLE author (id int AUTO_INCREMENT PRIMARY KEY, `full name` varchar(40) NOT NULL,
        feeling enum('sad', 'it''s fine', 'a,b'), flags set('x', 'y'), größe double COMMENT 'in metres',
        married tinyint(1), UNIQUE (`full name`, größe)) COMMENT 'who writes'""",
    """CREATE TABLE book (isbn varchar(20) PRIMARY KEY, author int, editor int, price decimal(10, 2) UNIQUE,
        net decimal(10, 2) AS (price / 1.2) STORED, gross decimal(10, 2) AS (price * 1.2) VIRTUAL,
        changed timestamp DEFAULT current_timestamp ON UPDATE current_timestamp, note text,
        FOREIGN KEY (author) REFERENCES author (id), FOREIGN KEY (editor) REFERENCES author (id),
        UNIQUE book_prefix (note(5)))""",
    """CREATE TABLE sales.edition (isbn varchar(20), number int, PRIMARY KEY (number, isbn),
        FOREIGN KEY (isbn) REFERENCES library.book (isbn))""",
    """CREATE TABLE sales.copy (number int, isbn varchar(20), shelf int,
        FOREIGN KEY (number, isbn) REFERENCES sales.edition (number, isbn))""",
    "CREATE TABLE `Odd ``table` (`select` int, `a``b` int)",
    "CREATE TABLE measure (day date, value int) PARTITION BY RANGE (year(day)) (PARTITION p VALUES LESS THAN MAXVALUE)",
    "CREATE TABLE forbidden (a int)",
    "CREATE TABLE partly (open int PRIMARY KEY, closed int UNIQUE)",
    "CREATE SEQUENCE counter",
    "CREATE VIEW cheap AS SELECT isbn, price * 2 AS `double` FROM book WHERE price < 9",
    "CREATE TABLE gone (a int)",
    "CREATE VIEW broken AS SELECT a FROM gone",
    "DROP TABLE gone",
    "CREATE USER schema_reader IDENTIFIED BY 'schema-pass'",
    *(
        f"GRANT SELECT, SHOW VIEW ON {table} TO schema_reader"
        for table in ("author", "book", "`Odd ``table`", "measure", "cheap", "broken", "sales.edition", "sales.copy")
    ),
    "GRANT SELECT (open) ON partly TO schema_reader",
    "GRANT INSERT ON forbidden TO schema_reader",
)

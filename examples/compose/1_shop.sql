-- The sample database of compose.yaml: a few orders of an invented shop. PostgreSQL runs this once, into an empty volume.
CREATE TABLE customer (
    id integer PRIMARY KEY,
    name text NOT NULL,
    city text NOT NULL
);
CREATE TABLE orders (
    id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customer,
    ordered_on date NOT NULL,
    status text NOT NULL CHECK (status IN ('open', 'sent', 'cancelled')),
    total_cents integer NOT NULL
);
COMMENT ON COLUMN orders.total_cents IS 'what the customer pays, in pence';

INSERT INTO customer VALUES (1, 'Ann Aske', 'Leeds'), (2, 'Bo Birk', 'York'), (3, 'Cy Cole', 'Leeds'), (4, 'Di Dunn', 'Hull');
INSERT INTO orders VALUES
    (1, 1, '2024-01-07', 'sent', 4500),
    (2, 1, '2024-02-11', 'sent', 1250),
    (3, 2, '2024-02-20', 'cancelled', 900),
    (4, 3, '2024-03-02', 'sent', 12000),
    (5, 3, '2024-03-09', 'open', 3300),
    (6, 2, '2024-03-30', 'open', 780);

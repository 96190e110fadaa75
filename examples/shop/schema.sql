-- Larkfell Mail Order, order book from January 2022 to December 2024.
-- The comments inside the statements are kept by SQLite: they are the only documentation of some codes.

CREATE TABLE region (
    code TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    promised_days INTEGER NOT NULL CHECK (promised_days > 0)  -- days from sending a parcel to the door
);

CREATE TABLE employee (
    id INTEGER PRIMARY KEY,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    job_title TEXT NOT NULL,
    manager_id INTEGER REFERENCES employee (id),  -- NULL: the owner
    monthly_pay INTEGER NOT NULL CHECK (monthly_pay > 0),  -- florins
    hired_on TEXT NOT NULL,
    left_on TEXT,  -- NULL: still works here
    CHECK (left_on IS NULL OR left_on > hired_on)
);

CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    "group" TEXT NOT NULL CHECK ("group" IN ('private', 'trade', 'school')),
    email TEXT UNIQUE,  -- NULL: wants letters only
    town TEXT NOT NULL,
    postcode TEXT NOT NULL CHECK (length(postcode) = 5),
    region_code TEXT NOT NULL REFERENCES region (code),
    joined_on TEXT NOT NULL
);

CREATE TABLE supplier (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    town TEXT NOT NULL,
    lead_days TEXT NOT NULL  -- days from our order to our door, typed in by hand
);

CREATE TABLE category (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    buyer_id INTEGER NOT NULL REFERENCES employee (id)
);

CREATE TABLE product (
    id INTEGER PRIMARY KEY,
    sku TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL REFERENCES category (id),
    list_price REAL NOT NULL CHECK (list_price > 0),  -- florins, the price of today
    weight_grams INTEGER CHECK (weight_grams > 0),  -- NULL: sent as a letter, never weighed
    introduced_on TEXT NOT NULL,
    discontinued_on TEXT,  -- NULL: still sold
    CHECK (discontinued_on IS NULL OR discontinued_on > introduced_on)
);

CREATE TABLE product_supplier (
    product_id INTEGER NOT NULL REFERENCES product (id),
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    supplier_item TEXT NOT NULL,  -- the supplier's own number, leading zeros count
    preferred INTEGER NOT NULL CHECK (preferred IN (0, 1)),
    PRIMARY KEY (product_id, supplier_id),
    UNIQUE (supplier_id, supplier_item)
);  -- a product without a row here is made in our own workshop

CREATE TABLE order_status (
    code TEXT PRIMARY KEY CHECK (length(code) = 1),
    meaning TEXT NOT NULL UNIQUE
);

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customer (id),
    ordered_on TEXT NOT NULL,
    channel TEXT NOT NULL,
    employee_id INTEGER REFERENCES employee (id),  -- who took the order; NULL: nobody, it came over the web
    status TEXT NOT NULL REFERENCES order_status (code),
    delivery INTEGER NOT NULL CHECK (delivery IN (1, 2, 3))  -- 1 standard, 2 express, 3 collected at Larkfell
);

CREATE TABLE order_line (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    line_no INTEGER NOT NULL CHECK (line_no > 0),
    product_id INTEGER NOT NULL REFERENCES product (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    unit_cents INTEGER NOT NULL CHECK (unit_cents > 0),  -- hundredths of a florin, as charged on that day
    PRIMARY KEY (order_id, line_no),
    UNIQUE (order_id, product_id)
);

CREATE TABLE shipment (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    parcel_no INTEGER NOT NULL CHECK (parcel_no > 0),
    carrier TEXT NOT NULL,
    sent_on TEXT NOT NULL,
    delivered_on TEXT,  -- DD.MM.YYYY as the carriers report it; NULL: on the way or lost
    PRIMARY KEY (order_id, parcel_no)
);

CREATE TABLE return_line (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL,
    line_no INTEGER NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    returned_on TEXT NOT NULL,
    reason TEXT,  -- NULL: the customer gave none
    UNIQUE (order_id, line_no),
    FOREIGN KEY (order_id, line_no) REFERENCES order_line (order_id, line_no)
);

CREATE INDEX orders_by_customer ON orders (customer_id);
CREATE INDEX order_line_by_product ON order_line (product_id);

CREATE VIEW order_value AS  -- one row an order, cancelled orders left out
SELECT o.id AS order_id, o.customer_id, o.ordered_on,
       SUM(l.quantity) AS pieces, SUM(l.quantity * l.unit_cents) / 100.0 AS florins
FROM orders AS o JOIN order_line AS l ON l.order_id = o.id
WHERE o.status <> 'X'
GROUP BY o.id;

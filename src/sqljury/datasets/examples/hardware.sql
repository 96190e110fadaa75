CREATE TABLE supplier (
    supplier_id INTEGER PRIMARY KEY,
    supplier_name VARCHAR(60),
    country VARCHAR(40)
);
CREATE TABLE product (
    product_id INTEGER PRIMARY KEY,
    product_name VARCHAR(60),
    category VARCHAR(40),
    price DECIMAL(8, 2),
    in_stock INTEGER,
    supplier_id INTEGER REFERENCES supplier (supplier_id)
);
CREATE TABLE customer (
    customer_id INTEGER PRIMARY KEY,
    full_name VARCHAR(60),
    email VARCHAR(80),
    town VARCHAR(40),
    member_since DATE
);
CREATE TABLE sale (
    sale_id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customer (customer_id),
    sale_date DATE,
    paid_by VARCHAR(20)
);
CREATE TABLE sale_line (
    sale_id INTEGER REFERENCES sale (sale_id),
    product_id INTEGER REFERENCES product (product_id),
    quantity INTEGER,
    PRIMARY KEY (sale_id, product_id)
);
INSERT INTO supplier VALUES
    (1, 'Eisenkontor', 'Germany'), (2, 'Fjell Tools', 'Norway'), (3, 'Bois et Fer', 'France'), (4, 'Tyne Paints', 'Britain');
INSERT INTO product VALUES
    (1, 'claw hammer', 'tools', 18.9, 40, 1), (2, 'hand saw', 'tools', 24.5, 12, 2), (3, 'wood screws', 'fixings', 4.2, 300, 1),
    (4, 'white paint', 'paint', 31.0, 0, 4), (5, 'red paint', 'paint', 33.5, 8, 4), (6, 'paint brush', 'paint', 5.6, 55, 3),
    (7, 'cordless drill', 'tools', 119.0, 5, 2), (8, 'wall plugs', 'fixings', 3.1, 240, 1);
INSERT INTO customer VALUES
    (1, 'Ada Wynn', 'ada@wynn.example', 'Harlow', '2018-05-02'), (2, 'Bert Coyle', NULL, 'Marsh', '2020-10-11'),
    (3, 'Cleo Brand', 'cleo@mail.example', 'Harlow', '2021-03-27'), (4, 'Dov Katz', 'dov@mail.example', 'Tarn', '2022-12-01'),
    (5, 'Edda Kiel', NULL, 'Tarn', '2023-01-15');
INSERT INTO sale VALUES
    (1, 1, '2023-04-01', 'card'), (2, 1, '2023-04-20', 'cash'), (3, 2, '2023-05-05', 'card'), (4, 3, '2023-05-05', 'invoice'),
    (5, 3, '2023-06-17', 'card'), (6, 1, '2024-01-09', 'card'), (7, 4, '2024-02-11', 'cash');
INSERT INTO sale_line VALUES
    (1, 1, 1), (1, 3, 4), (2, 4, 2), (2, 6, 2), (3, 7, 1), (4, 1, 2), (4, 2, 1), (5, 5, 1), (6, 3, 10), (6, 8, 10), (7, 6, 3);

CREATE TABLE office (
    office_id INTEGER PRIMARY KEY,
    city VARCHAR(40),
    opened_year INTEGER
);
CREATE TABLE client (
    client_id INTEGER PRIMARY KEY,
    client_name VARCHAR(60),
    segment VARCHAR(20),
    birth_date DATE
);
CREATE TABLE account (
    account_id INTEGER PRIMARY KEY,
    client_id INTEGER REFERENCES client (client_id),
    office_id INTEGER REFERENCES office (office_id),
    account_type VARCHAR(20),
    balance DECIMAL(12, 2),
    opened_on DATE
);
CREATE TABLE transfer (
    transfer_id INTEGER PRIMARY KEY,
    from_account_id INTEGER REFERENCES account (account_id),
    to_account_id INTEGER REFERENCES account (account_id),
    amount DECIMAL(12, 2),
    sent_on DATE,
    purpose VARCHAR(40)
);
CREATE TABLE credit (
    credit_id INTEGER PRIMARY KEY,
    account_id INTEGER REFERENCES account (account_id),
    principal DECIMAL(12, 2),
    rate DECIMAL(5, 2),
    status VARCHAR(20)
);
INSERT INTO office VALUES (1, 'Lindau', 1974), (2, 'Merano', 1991), (3, 'Ostrava', 2008), (4, 'Pecs', 2015);
INSERT INTO client VALUES
    (1, 'Nadia Ferro', 'private', '1970-02-11'), (2, 'Holm Ltd', 'business', NULL), (3, 'Petr Kolar', 'private', '1985-12-24'),
    (4, 'Sara Beck', 'student', '2003-05-09'), (5, 'Blue Mill Inc', 'business', NULL), (6, 'Ugo Rinaldi', 'private', '1958-08-01');
INSERT INTO account VALUES
    (1, 1, 2, 'current', 3200.5, '2009-03-01'), (2, 1, 2, 'savings', 18000, '2012-07-15'), (3, 2, 1, 'current', 54000, '2015-01-20'),
    (4, 3, 3, 'current', -250, '2018-09-09'), (5, 4, 3, 'current', 410.2, '2022-10-01'), (6, 5, 1, 'current', 7300, '2020-04-17'),
    (7, 5, 1, 'savings', 25000, '2021-02-02');
INSERT INTO transfer VALUES
    (1, 1, 3, 120, '2023-01-03', 'rent'), (2, 3, 1, 2100, '2023-01-31', 'salary'), (3, 1, 2, 500, '2023-02-01', 'saving'),
    (4, 5, 4, 35, '2023-02-14', 'gift'), (5, 3, 6, 9800, '2023-03-08', 'invoice'), (6, 6, 3, 400, '2023-03-20', 'invoice'),
    (7, 3, 1, 2100, '2023-02-28', 'salary');
INSERT INTO credit VALUES
    (1, 3, 80000, 4.2, 'running'), (2, 4, 6000, 7.9, 'overdue'), (3, 6, 30000, 5.1, 'running'), (4, 1, 10000, 3.8, 'paid');

CREATE TABLE author (
    author_id INTEGER PRIMARY KEY,
    author_name VARCHAR(60),
    country VARCHAR(40),
    birth_year INTEGER
);
CREATE TABLE book (
    book_id INTEGER PRIMARY KEY,
    title VARCHAR(80),
    genre VARCHAR(30),
    published INTEGER,
    pages INTEGER
);
CREATE TABLE book_author (
    book_id INTEGER REFERENCES book (book_id),
    author_id INTEGER REFERENCES author (author_id),
    PRIMARY KEY (book_id, author_id)
);
CREATE TABLE library_branch (
    branch_id INTEGER PRIMARY KEY,
    branch_name VARCHAR(40),
    phone VARCHAR(20)
);
CREATE TABLE member (
    member_id INTEGER PRIMARY KEY,
    first_name VARCHAR(40),
    last_name VARCHAR(40),
    joined_on DATE,
    branch_id INTEGER REFERENCES library_branch (branch_id)
);
CREATE TABLE loan (
    loan_id INTEGER PRIMARY KEY,
    book_id INTEGER REFERENCES book (book_id),
    member_id INTEGER REFERENCES member (member_id),
    lent_on DATE,
    returned_on DATE
);
INSERT INTO author VALUES
    (1, 'Alma Reuter', 'Austria', 1932), (2, 'Joseph Okoro', 'Nigeria', 1948), (3, 'Clara Mendes', 'Portugal', 1971),
    (4, 'Ian Fairlie', 'Scotland', 1965), (5, 'Bo Lindgren', 'Sweden', 1980);
INSERT INTO book VALUES
    (1, 'The Salt Road', 'novel', 1987, 312), (2, 'A Winter Garden', 'poetry', 1961, 96), (3, 'Bridges', 'novel', 2004, 480),
    (4, 'Stars for Beginners', 'science', 2015, 220), (5, 'The Long Garden', 'novel', 2019, 404),
    (6, 'Cooking at Sea', 'cookery', 2015, 180);
INSERT INTO book_author VALUES (1, 2), (2, 1), (3, 3), (3, 2), (4, 4), (5, 3);
INSERT INTO library_branch VALUES (1, 'Central', '555 100'), (2, 'Riverside', '555 200'), (3, 'Westend', '555 300');
INSERT INTO member VALUES
    (1, 'Ella', 'Voss', '2015-02-03', 1), (2, 'Finn', 'Ahmed', '2019-08-21', 1), (3, 'Ruth', 'Calder', '2021-11-30', 2),
    (4, 'Otto', 'Voss', '2022-05-16', 2), (5, 'Ines', 'Prado', '2023-03-08', 1);
INSERT INTO loan VALUES
    (1, 1, 1, '2023-01-05', '2023-01-25'), (2, 3, 1, '2023-02-01', '2023-03-04'), (3, 3, 2, '2023-03-10', '2023-03-30'),
    (4, 5, 3, '2023-04-12', NULL), (5, 2, 3, '2023-04-12', '2023-05-02'), (6, 1, 4, '2023-06-19', NULL),
    (7, 3, 4, '2023-07-01', '2023-07-20');

CREATE TABLE film (
    film_id INTEGER PRIMARY KEY,
    title VARCHAR(80),
    director VARCHAR(60),
    country VARCHAR(40),
    minutes INTEGER,
    budget DECIMAL(8, 2)
);
CREATE TABLE cinema (
    cinema_id INTEGER PRIMARY KEY,
    cinema_name VARCHAR(60),
    seats INTEGER,
    street VARCHAR(60)
);
CREATE TABLE screening (
    screening_id INTEGER PRIMARY KEY,
    film_id INTEGER REFERENCES film (film_id),
    cinema_id INTEGER REFERENCES cinema (cinema_id),
    shown_on DATE,
    tickets_sold INTEGER
);
CREATE TABLE guest (
    guest_id INTEGER PRIMARY KEY,
    guest_name VARCHAR(60),
    job VARCHAR(30),
    country VARCHAR(40)
);
CREATE TABLE film_guest (
    film_id INTEGER REFERENCES film (film_id),
    guest_id INTEGER REFERENCES guest (guest_id),
    PRIMARY KEY (film_id, guest_id)
);
CREATE TABLE prize (
    prize_id INTEGER PRIMARY KEY,
    prize_name VARCHAR(60),
    prize_money DECIMAL(8, 2),
    film_id INTEGER REFERENCES film (film_id)
);
INSERT INTO film VALUES
    (1, 'Low Tide', 'Maren Holt', 'Denmark', 104, 2.4), (2, 'Paper Birds', 'Akio Sato', 'Japan', 88, 1.1),
    (3, 'The Ferryman''s Son', 'Ewan Blair', 'Scotland', 131, 5.8), (4, 'Noon', 'Akio Sato', 'Japan', 62, 0.4),
    (5, 'Glass Mountain', 'Lea Moser', 'Austria', 118, 3.9), (6, 'Night Bakery', 'Maren Holt', 'Denmark', 95, NULL);
INSERT INTO cinema VALUES
    (1, 'Rex', 420, 'Market Street'), (2, 'Studio 2', 90, 'Mill Lane'), (3, 'Apollo', 260, 'Market Street'), (4, 'Open Air', 700, 'Park Road');
INSERT INTO screening VALUES
    (1, 1, 1, '2024-06-01', 400), (2, 1, 3, '2024-06-02', 210), (3, 2, 2, '2024-06-02', 90), (4, 3, 1, '2024-06-03', 415),
    (5, 3, 3, '2024-06-05', 180), (6, 5, 3, '2024-06-04', 122), (7, 1, 2, '2024-06-05', 61), (8, 4, 2, '2024-06-05', 33);
INSERT INTO guest VALUES
    (1, 'Maren Holt', 'director', 'Denmark'), (2, 'Kenji Abe', 'actor', 'Japan'), (3, 'Isla Reid', 'actor', 'Scotland'),
    (4, 'Tomas Ruiz', 'composer', 'Spain'), (5, 'Lea Moser', 'director', 'Austria');
INSERT INTO film_guest VALUES (1, 1), (6, 1), (2, 2), (4, 2), (3, 3), (1, 4), (3, 4);
INSERT INTO prize VALUES
    (1, 'Best Film', 20000, 3), (2, 'Best Script', 8000, 1), (3, 'Audience Prize', 5000, 3), (4, 'Best Short Film', 4000, 4);

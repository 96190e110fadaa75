CREATE TABLE brewery (
    brewery_id INTEGER PRIMARY KEY,
    brewery_name VARCHAR(60),
    region VARCHAR(40),
    founded INTEGER
);
CREATE TABLE beer (
    beer_id INTEGER PRIMARY KEY,
    beer_name VARCHAR(60),
    style VARCHAR(30),
    strength DECIMAL(4, 1),
    brewery_id INTEGER REFERENCES brewery (brewery_id)
);
CREATE TABLE pub (
    pub_id INTEGER PRIMARY KEY,
    pub_name VARCHAR(60),
    town VARCHAR(40),
    has_garden CHAR(1)
);
CREATE TABLE tap (
    pub_id INTEGER REFERENCES pub (pub_id),
    beer_id INTEGER REFERENCES beer (beer_id),
    price DECIMAL(5, 2),
    PRIMARY KEY (pub_id, beer_id)
);
CREATE TABLE rating (
    rating_id INTEGER PRIMARY KEY,
    beer_id INTEGER REFERENCES beer (beer_id),
    taster VARCHAR(40),
    stars INTEGER,
    rated_on DATE
);
INSERT INTO brewery VALUES
    (1, 'Anker', 'North', 1872), (2, 'Three Oaks', 'South', 1999), (3, 'Steinbruch', 'North', 1921), (4, 'Kestrel', 'Coast', 2014);
INSERT INTO beer VALUES
    (1, 'Anker Pils', 'pilsner', 4.9, 1), (2, 'Anker Bock', 'bock', 6.8, 1), (3, 'Oak Amber', 'ale', 5.2, 2),
    (4, 'Acorn Light', 'ale', 3.4, 2), (5, 'Quarry Dark', 'stout', 5.9, 3), (6, 'Quarry Pils', 'pilsner', 4.7, 3),
    (7, 'Wing', 'ale', 4.4, NULL);
INSERT INTO pub VALUES
    (1, 'The Plough', 'Selby', 'Y'), (2, 'Zum Hirsch', 'Selby', 'N'), (3, 'Harbour Inn', 'Whitby', 'Y'), (4, 'Cross Keys', 'Ripon', 'N');
INSERT INTO tap VALUES (1, 1, 4.2), (1, 3, 4.8), (1, 5, 5.1), (2, 1, 4.0), (2, 2, 5.5), (3, 3, 5.2), (3, 6, 4.6), (3, 1, 4.9);
INSERT INTO rating VALUES
    (1, 1, 'Jo', 4, '2023-05-01'), (2, 1, 'Kim', 5, '2023-05-03'), (3, 2, 'Jo', 3, '2023-05-09'), (4, 3, 'Lee', 5, '2023-06-11'),
    (5, 5, 'Kim', 2, '2023-06-30'), (6, 5, 'Lee', 4, '2023-07-02'), (7, 6, 'Jo', 4, '2023-07-15'), (8, 3, 'Jo', 4, '2023-08-20');

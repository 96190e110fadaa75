CREATE TABLE plot (
    plot_id INTEGER PRIMARY KEY,
    plot_name VARCHAR(40),
    hectares DECIMAL(6, 1),
    soil VARCHAR(20)
);
CREATE TABLE crop (
    crop_id INTEGER PRIMARY KEY,
    crop_name VARCHAR(40),
    family VARCHAR(40)
);
CREATE TABLE harvest (
    harvest_id INTEGER PRIMARY KEY,
    plot_id INTEGER REFERENCES plot (plot_id),
    crop_id INTEGER REFERENCES crop (crop_id),
    harvest_year INTEGER,
    tons DECIMAL(8, 1)
);
CREATE TABLE worker (
    worker_id INTEGER PRIMARY KEY,
    worker_name VARCHAR(60),
    job VARCHAR(30),
    hourly_wage DECIMAL(6, 2),
    boss_id INTEGER REFERENCES worker (worker_id)
);
CREATE TABLE barn (
    barn_id INTEGER PRIMARY KEY,
    barn_name VARCHAR(40),
    places INTEGER
);
CREATE TABLE animal (
    animal_id INTEGER PRIMARY KEY,
    nickname VARCHAR(40),
    species VARCHAR(20),
    weight_kg INTEGER,
    born_on DATE,
    barn_id INTEGER REFERENCES barn (barn_id),
    keeper_id INTEGER REFERENCES worker (worker_id)
);
INSERT INTO plot VALUES
    (1, 'Long Acre', 12.5, 'clay'), (2, 'Brook Meadow', 8.0, 'loam'), (3, 'Stone Piece', 4.4, 'sand'), (4, 'Hilltop', 15.2, 'loam');
INSERT INTO crop VALUES (1, 'wheat', 'grass'), (2, 'barley', 'grass'), (3, 'potato', 'nightshade'), (4, 'pea', 'legume'), (5, 'flax', 'linen');
INSERT INTO harvest VALUES
    (1, 1, 1, 2021, 88.0), (2, 2, 3, 2021, 240.5), (3, 4, 2, 2021, 97.3), (4, 1, 4, 2022, 36.0), (5, 2, 1, 2022, 61.2),
    (6, 4, 1, 2022, 120.4), (7, 1, 1, 2023, 91.7), (8, 4, 3, 2023, 410.0);
INSERT INTO worker VALUES (1, 'Hilde Jansen', 'manager', 38.0, NULL);
INSERT INTO worker VALUES (2, 'Marek Zub', 'foreman', 27.5, 1), (3, 'Anna Lis', 'stockman', 21.0, 1);
INSERT INTO worker VALUES
    (4, 'Piet Vos', 'driver', 19.5, 2), (5, 'Oona Hill', 'driver', 22.0, 2), (6, 'Karl Ebner', 'stockman', 23.4, 3);
INSERT INTO barn VALUES (1, 'Old Barn', 12), (2, 'New Barn', 40), (3, 'Sheep House', 25);
INSERT INTO animal VALUES
    (1, 'Bella', 'cow', 610, '2018-04-03', 2, 3), (2, 'Daisy', 'cow', 585, '2020-03-11', 2, 3), (3, 'Bruno', 'bull', 940, '2017-05-20', 2, 6),
    (4, 'Wolly', 'sheep', 72, '2021-02-15', 1, 6), (5, 'Flock', 'sheep', 66, '2022-03-01', 1, 6), (6, 'Pinto', 'horse', 520, '2012-06-30', 1, NULL),
    (7, 'Minka', 'goat', 48, '2023-01-19', NULL, 3);

CREATE TABLE stadium (
    stadium_id INTEGER PRIMARY KEY,
    stadium_name VARCHAR(60),
    town VARCHAR(40),
    capacity INTEGER
);
CREATE TABLE club (
    club_id INTEGER PRIMARY KEY,
    club_name VARCHAR(60),
    founded INTEGER,
    stadium_id INTEGER REFERENCES stadium (stadium_id)
);
CREATE TABLE player (
    player_id INTEGER PRIMARY KEY,
    player_name VARCHAR(60),
    nationality VARCHAR(40),
    field_position VARCHAR(20),
    birth_year INTEGER,
    market_value DECIMAL(8, 2),
    club_id INTEGER REFERENCES club (club_id)
);
CREATE TABLE game (
    game_id INTEGER PRIMARY KEY,
    home_club_id INTEGER REFERENCES club (club_id),
    away_club_id INTEGER REFERENCES club (club_id),
    played_on DATE,
    home_goals INTEGER,
    away_goals INTEGER,
    spectators INTEGER
);
CREATE TABLE goal (
    game_id INTEGER REFERENCES game (game_id),
    player_id INTEGER REFERENCES player (player_id),
    scored_minute INTEGER,
    PRIMARY KEY (game_id, scored_minute)
);
INSERT INTO stadium VALUES
    (1, 'Mill Park', 'Ashby', 21000), (2, 'The Quay', 'Seaton', 34500), (3, 'Castle Road', 'Ashby', 9800),
    (4, 'Moor Ground', 'Thorne', 15200);
INSERT INTO club VALUES
    (1, 'Ashby Rovers', 1898, 1), (2, 'Seaton City', 1905, 2), (3, 'Ashby Castle', 1931, 3), (4, 'Thorne Athletic', 1911, NULL);
INSERT INTO player VALUES
    (1, 'Luca Bianchi', 'Italy', 'forward', 1996, 12.5, 1), (2, 'Eric Dunn', 'Scotland', 'keeper', 1989, 1.8, 1),
    (3, 'Joao Melo', 'Brazil', 'forward', 2001, 22.0, 2), (4, 'Tim Oakes', 'England', 'defender', 1994, 6.0, 2),
    (5, 'Pavel Dusek', 'Czechia', 'midfielder', 1998, 6.0, 3), (6, 'Rui Melo', 'Brazil', 'defender', 2003, 3.1, 3),
    (7, 'Sven Aas', 'Norway', 'forward', 1992, 4.4, NULL), (8, 'Gus Hart', 'England', 'midfielder', 2000, 9.9, 2);
INSERT INTO game VALUES
    (1, 1, 2, '2023-08-12', 2, 2, 18400), (2, 3, 1, '2023-08-19', 0, 1, 7600), (3, 2, 3, '2023-09-02', 3, 0, 29800),
    (4, 2, 1, '2024-01-20', 1, 0, 33000), (5, 1, 3, '2024-02-10', 1, 1, 16100);
INSERT INTO goal VALUES
    (1, 1, 12), (1, 3, 30), (1, 1, 55), (1, 4, 88), (2, 1, 71), (3, 3, 9), (3, 8, 41), (3, 3, 90), (4, 8, 64), (5, 1, 89), (5, 5, 33);

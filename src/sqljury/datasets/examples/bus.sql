CREATE TABLE operator (
    operator_id INTEGER PRIMARY KEY,
    operator_name VARCHAR(60),
    head_office VARCHAR(40)
);
CREATE TABLE route (
    route_no INTEGER PRIMARY KEY,
    route_name VARCHAR(60),
    operator_id INTEGER REFERENCES operator (operator_id),
    length_km DECIMAL(6, 1),
    opened_year INTEGER
);
CREATE TABLE bus_stop (
    stop_id INTEGER PRIMARY KEY,
    stop_name VARCHAR(60),
    district VARCHAR(40),
    has_shelter CHAR(1)
);
CREATE TABLE route_stop (
    route_no INTEGER REFERENCES route (route_no),
    stop_id INTEGER REFERENCES bus_stop (stop_id),
    place_in_route INTEGER,
    PRIMARY KEY (route_no, stop_id)
);
CREATE TABLE bus (
    bus_id INTEGER PRIMARY KEY,
    plate VARCHAR(12),
    model VARCHAR(40),
    seats INTEGER,
    built_year INTEGER,
    route_no INTEGER REFERENCES route (route_no)
);
CREATE TABLE driver (
    driver_id INTEGER PRIMARY KEY,
    first_name VARCHAR(40),
    last_name VARCHAR(40),
    birth_year INTEGER,
    bus_id INTEGER REFERENCES bus (bus_id)
);
INSERT INTO operator VALUES (1, 'Valley Lines', 'Oxted'), (2, 'Metro Bus', 'Radnor'), (3, 'Night Owl', 'Radnor');
INSERT INTO route VALUES
    (4, 'Harbour Loop', 1, 12.5, 1994), (7, 'Airport Link', 2, 28.0, 2005), (11, 'Hill Climb', 1, 9.3, 1988),
    (15, 'University Link', 2, 14.1, 2012), (90, 'Late Circle', 3, 21.4, 2019);
INSERT INTO bus_stop VALUES
    (1, 'Town Hall', 'Centre', 'Y'), (2, 'Fish Market', 'Docks', 'N'), (3, 'Airport', 'Outskirts', 'Y'),
    (4, 'Old Mill', 'Hillside', 'N'), (5, 'Campus North', 'Hillside', 'Y'), (6, 'Rail Station', 'Centre', 'Y'),
    (7, 'Quarry', 'Outskirts', 'N');
INSERT INTO route_stop VALUES
    (4, 1, 1), (4, 2, 2), (4, 6, 3), (7, 6, 1), (7, 1, 2), (7, 3, 3), (11, 1, 1), (11, 4, 2), (15, 6, 1), (15, 5, 2), (90, 1, 1),
    (90, 5, 2);
INSERT INTO bus VALUES
    (1, 'RA 100', 'Lynx', 42, 2015, 4), (2, 'RA 101', 'Lynx', 42, 2016, 7), (3, 'RA 102', 'Gazelle', 60, 2021, 7),
    (4, 'RA 103', 'Mule', 30, 2009, 11), (5, 'RA 104', 'Gazelle', 60, 2022, 15), (6, 'RA 105', 'Mule', 30, 2008, NULL);
INSERT INTO driver VALUES
    (1, 'Nora', 'Quill', 1971, 1), (2, 'Ivo', 'Stern', 1985, 2), (3, 'Mai', 'Tran', 1990, 3), (4, 'Sam', 'Quill', 1999, NULL),
    (5, 'Rosa', 'Varga', 1966, 4), (6, 'Leo', 'Abel', 1985, 1);

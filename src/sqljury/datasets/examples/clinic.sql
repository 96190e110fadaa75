CREATE TABLE doctor (
    doctor_id INTEGER PRIMARY KEY,
    doctor_name VARCHAR(60),
    specialty VARCHAR(40),
    hired_on DATE,
    salary DECIMAL(10, 2)
);
CREATE TABLE patient (
    patient_id INTEGER PRIMARY KEY,
    patient_name VARCHAR(60),
    birth_date DATE,
    town VARCHAR(40),
    insurer VARCHAR(40)
);
CREATE TABLE visit (
    visit_id INTEGER PRIMARY KEY,
    patient_id INTEGER REFERENCES patient (patient_id),
    doctor_id INTEGER REFERENCES doctor (doctor_id),
    visit_date DATE,
    reason VARCHAR(60),
    fee DECIMAL(8, 2)
);
CREATE TABLE medicine (
    medicine_id INTEGER PRIMARY KEY,
    medicine_name VARCHAR(60),
    maker VARCHAR(40),
    price DECIMAL(8, 2)
);
CREATE TABLE prescription (
    visit_id INTEGER REFERENCES visit (visit_id),
    medicine_id INTEGER REFERENCES medicine (medicine_id),
    boxes INTEGER,
    PRIMARY KEY (visit_id, medicine_id)
);
INSERT INTO doctor VALUES
    (1, 'Ines Falk', 'cardiology', '2011-04-01', 7400), (2, 'Omar Diallo', 'pediatrics', '2016-09-15', 6100),
    (3, 'Greta Lind', 'cardiology', '2019-02-01', 6600), (4, 'Paulo Reis', 'dermatology', '2021-06-01', 5900),
    (5, 'Hana Mori', 'surgery', '2008-01-10', 8200);
INSERT INTO patient VALUES
    (1, 'Lotte Brandt', '1951-03-12', 'Aalen', 'Medica'), (2, 'Karim Saleh', '2016-07-30', 'Aalen', NULL),
    (3, 'Vera Novak', '1988-11-05', 'Bruck', 'Salus'), (4, 'Tom Hurley', '1979-01-22', 'Celle', 'Medica'),
    (5, 'Mina Osei', '1995-06-18', 'Bruck', NULL), (6, 'Jan Peeters', '1962-09-09', 'Celle', 'Salus');
INSERT INTO visit VALUES
    (1, 1, 1, '2023-01-10', 'chest pain', 120), (2, 1, 3, '2023-02-14', 'check-up', 80),
    (3, 2, 2, '2023-02-20', 'fever', 45), (4, 3, 4, '2023-03-02', 'rash', 60), (5, 4, 1, '2023-03-15', 'check-up', 80),
    (6, 1, 1, '2023-06-01', 'check-up', 80), (7, 2, 2, '2023-07-11', 'back pain', 55),
    (8, 5, 4, '2024-01-08', 'rash', 65), (9, 4, 3, '2024-02-02', 'chest pain', 130);
INSERT INTO medicine VALUES
    (1, 'Cardiol', 'Nordpharm', 24.5), (2, 'Febrex', 'Lumo', 6.2), (3, 'Dermasan', 'Lumo', 11.9),
    (4, 'Dolorin', 'Nordpharm', 4.8), (5, 'Somnia', 'Kess', 15.0);
INSERT INTO prescription VALUES (1, 1, 2), (1, 4, 1), (3, 2, 1), (4, 3, 1), (7, 4, 2), (8, 3, 2), (9, 1, 3), (6, 1, 1);

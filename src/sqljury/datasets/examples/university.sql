CREATE TABLE faculty (
    faculty_code VARCHAR(4) PRIMARY KEY,
    faculty_name VARCHAR(60),
    building VARCHAR(40),
    budget DECIMAL(10, 2)
);
CREATE TABLE lecturer (
    lecturer_id INTEGER PRIMARY KEY,
    first_name VARCHAR(40),
    last_name VARCHAR(40),
    rank_title VARCHAR(30),
    faculty_code VARCHAR(4) REFERENCES faculty (faculty_code)
);
CREATE TABLE course (
    course_code VARCHAR(8) PRIMARY KEY,
    course_title VARCHAR(60),
    credits INTEGER,
    faculty_code VARCHAR(4) REFERENCES faculty (faculty_code),
    lecturer_id INTEGER REFERENCES lecturer (lecturer_id)
);
CREATE TABLE student (
    student_id INTEGER PRIMARY KEY,
    first_name VARCHAR(40),
    last_name VARCHAR(40),
    home_town VARCHAR(40),
    admission_year INTEGER,
    faculty_code VARCHAR(4) REFERENCES faculty (faculty_code)
);
CREATE TABLE enrolment (
    student_id INTEGER REFERENCES student (student_id),
    course_code VARCHAR(8) REFERENCES course (course_code),
    term VARCHAR(10),
    points INTEGER,
    PRIMARY KEY (student_id, course_code)
);
CREATE TABLE prerequisite (
    course_code VARCHAR(8) REFERENCES course (course_code),
    required_code VARCHAR(8) REFERENCES course (course_code),
    PRIMARY KEY (course_code, required_code)
);
INSERT INTO faculty VALUES
    ('MAT', 'Mathematics', 'Euler House', 1.8), ('HIS', 'History', 'Old Library', 0.9), ('BIO', 'Biology', 'Green Wing', 2.6),
    ('LAW', 'Law', 'Old Library', 1.4);
INSERT INTO lecturer VALUES
    (1, 'Agnes', 'Moor', 'professor', 'MAT'), (2, 'Basil', 'Trent', 'reader', 'MAT'), (3, 'Chen', 'Wu', 'professor', 'BIO'),
    (4, 'Dora', 'Lenz', 'assistant', 'HIS'), (5, 'Emil', 'Hart', 'assistant', 'BIO'), (6, 'Faye', 'Moor', 'reader', 'LAW');
INSERT INTO course VALUES
    ('M101', 'Linear Algebra', 6, 'MAT', 1), ('M201', 'Probability', 8, 'MAT', 2), ('B110', 'Cell Biology', 6, 'BIO', 3),
    ('B220', 'Genetics', 8, 'BIO', 3), ('H105', 'Medieval Towns', 4, 'HIS', 4), ('M310', 'Topology', 10, 'MAT', 1);
INSERT INTO student VALUES
    (1, 'Gina', 'Pohl', 'Lund', 2020, 'MAT'), (2, 'Hugo', 'Silva', 'Faro', 2021, 'BIO'), (3, 'Iris', 'Kane', 'Cork', 2021, 'MAT'),
    (4, 'Jo', 'Bell', 'Graz', 2022, 'HIS'), (5, 'Kurt', 'Ade', 'Ulm', 2022, 'BIO'), (6, 'Lena', 'Ost', 'Ulm', 2023, NULL);
INSERT INTO enrolment VALUES
    (1, 'M101', '2020-A', 88), (1, 'M201', '2021-A', 75), (1, 'B110', '2021-B', 64), (2, 'B110', '2021-A', 91),
    (2, 'B220', '2022-A', 83), (3, 'M101', '2021-A', 45), (3, 'M201', '2022-A', 58), (4, 'H105', '2022-A', 79),
    (5, 'B110', '2022-A', 70), (5, 'M101', '2022-B', 52);
INSERT INTO prerequisite VALUES ('M201', 'M101'), ('M310', 'M101'), ('M310', 'M201'), ('B220', 'B110');

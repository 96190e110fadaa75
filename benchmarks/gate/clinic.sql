-- A hospital. No table declares a key; a person is last name and first name, and columns that refer to one another have other names.
CREATE TABLE wards (ward_id INTEGER, ward_name TEXT, floor_no INTEGER, bed_count INTEGER);
CREATE TABLE physicians (doc_id INTEGER, last_name TEXT, first_name TEXT, specialty TEXT, ward INTEGER, salary_grade INTEGER, joined DATE);
CREATE TABLE nurses (nurse_no INTEGER, nurse_name TEXT, ward_id INTEGER, shift TEXT, part_time BOOLEAN);
CREATE TABLE insurers (code TEXT, insurer_name TEXT, kind TEXT);
CREATE TABLE patients (patient_no INTEGER, last_name TEXT, first_name TEXT, sex TEXT, born DATE, town TEXT, insurer_code TEXT, allergy TEXT);
CREATE TABLE admissions (adm_id INTEGER, patient INTEGER, ward INTEGER, admitted DATE, discharged DATE, reason TEXT);
CREATE TABLE icd (code TEXT, description TEXT, chapter TEXT);
CREATE TABLE diagnoses (adm_id INTEGER, icd_code TEXT, is_primary BOOLEAN);
CREATE TABLE medications (med_id INTEGER, med_name TEXT, maker TEXT, unit_price NUMERIC(8,2), prescription_only BOOLEAN);
CREATE TABLE prescriptions (presc_id INTEGER, patient INTEGER, doctor INTEGER, med INTEGER, prescribed DATE, days INTEGER, daily_dose NUMERIC(5,2));
CREATE TABLE lab_tests (test_code TEXT, test_title TEXT, normal_low NUMERIC(8,2), normal_high NUMERIC(8,2), unit TEXT);
CREATE TABLE lab_results (res_id INTEGER, patient INTEGER, test_code TEXT, taken_at TIMESTAMP, value NUMERIC(8,2));
CREATE TABLE appointments (app_id INTEGER, patient_no INTEGER, physician INTEGER, starts_at TIMESTAMP, minutes INTEGER, showed_up BOOLEAN);
CREATE TABLE bills (bill_id INTEGER, adm_id INTEGER, total NUMERIC(10,2), issued DATE, settled BOOLEAN);

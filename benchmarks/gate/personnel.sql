-- Human resources and payroll of a manufacturer with several sites. No table declares a key; money is in euros, salaries are a year's; valid_to is the last day a row holds and NULL while it still does; ratings go from 1 (poor) to 5 (excellent).
CREATE TABLE sites (site_id INTEGER, site_name TEXT, city TEXT, country TEXT, opened_on DATE);
CREATE TABLE departments (department_id INTEGER, department_name TEXT, parent_department_id INTEGER, head_id INTEGER);
CREATE TABLE jobs (job_id INTEGER, job_title TEXT, pay_grade TEXT, min_salary INTEGER, max_salary INTEGER);
CREATE TABLE employees (employee_id INTEGER, first_name TEXT, last_name TEXT, email TEXT, birth_date DATE, hire_date DATE, leaving_date DATE, manager_id INTEGER, contract_type TEXT);
CREATE TABLE assignments (assignment_id INTEGER, emp_id INTEGER, dept_id INTEGER, job_id INTEGER, site_id INTEGER, valid_from DATE, valid_to DATE);
CREATE TABLE salaries (salary_id INTEGER, emp_id INTEGER, annual_amount INTEGER, valid_from DATE, valid_to DATE, approved_by INTEGER);
CREATE TABLE absences (absence_id INTEGER, emp_id INTEGER, kind TEXT, start_date DATE, days NUMERIC(5,1), approved_by INTEGER);
CREATE TABLE projects (project_id INTEGER, project_name TEXT, department_id INTEGER, lead_id INTEGER, budget INTEGER, start_date DATE, end_date DATE);
CREATE TABLE timesheets (timesheet_id INTEGER, emp_id INTEGER, project_id INTEGER, work_date DATE, hours NUMERIC(4,2));
CREATE TABLE courses (course_id INTEGER, title TEXT, provider TEXT, is_mandatory INTEGER, duration_hours INTEGER, fee INTEGER);
CREATE TABLE course_completions (completion_id INTEGER, course_id INTEGER, employee_id INTEGER, completed_on DATE, score INTEGER);
CREATE TABLE performance_reviews (review_id INTEGER, employee_id INTEGER, reviewer_id INTEGER, review_year INTEGER, rating INTEGER, comments TEXT);
CREATE TABLE payslips (payslip_id INTEGER, emp_id INTEGER, pay_year INTEGER, pay_month INTEGER, gross_pay NUMERIC(10,2), deductions NUMERIC(10,2), net_pay NUMERIC(10,2));
CREATE TABLE expense_claims (claim_id INTEGER, employee_id INTEGER, category TEXT, amount NUMERIC(10,2), submitted_on DATE, status TEXT, decided_by INTEGER, decided_on DATE);
CREATE TABLE job_openings (opening_id INTEGER, job_id INTEGER, dept_id INTEGER, site_id INTEGER, recruiter_id INTEGER, opened_on DATE, closed_on DATE, status TEXT);
CREATE TABLE applicants (applicant_id INTEGER, opening_id INTEGER, first_name TEXT, last_name TEXT, applied_on DATE, source TEXT, stage TEXT);

-- A regional insurer in the west of England: customers, policies, cover, premiums, brokers, staff, claims and payments.
CREATE TABLE branches (
  branch_id INTEGER,
  branch_name TEXT,
  town TEXT,
  phone TEXT,
  opened_on DATE,
  closed_on DATE
);
CREATE TABLE employees (
  emp_id INTEGER,
  full_name TEXT,
  job_title TEXT,
  branch_id INTEGER,
  manager_id INTEGER,
  hired_on DATE,
  left_on DATE,
  salary DECIMAL(10,2)
);
CREATE TABLE broker (
  broker_id INTEGER,
  firm_name TEXT,
  town TEXT,
  contact_email TEXT,
  agreement_from DATE,
  agreement_to DATE,
  status TEXT
);
CREATE TABLE broker_products (
  broker_id INTEGER,
  product_code TEXT,
  commission_pct REAL
);
CREATE TABLE customers (
  customer_id INTEGER,
  customer_type TEXT,
  first_name TEXT,
  surname TEXT,
  company_name TEXT,
  birth_date DATE,
  street TEXT,
  town TEXT,
  postcode TEXT,
  email TEXT,
  phone TEXT,
  customer_since DATE,
  branch_id INTEGER
);
CREATE TABLE product (
  product_code TEXT,
  product_name TEXT,
  line_of_business TEXT,
  base_premium DECIMAL(10,2),
  launched_on DATE,
  withdrawn_on DATE
);
CREATE TABLE policy (
  policy_no TEXT,
  customer_id INTEGER,
  product_code TEXT,
  agent_id INTEGER,
  broker_id INTEGER,
  start_date DATE,
  end_date DATE,
  status TEXT,
  cancel_reason TEXT,
  annual_premium DECIMAL(10,2),
  payment_interval TEXT
);
CREATE TABLE cover_types (
  cover_id INTEGER,
  cover_name TEXT,
  line_of_business TEXT,
  compulsory TEXT
);
CREATE TABLE policy_cover (
  policy_no TEXT,
  cover_id INTEGER,
  sum_insured DECIMAL(12,2),
  excess DECIMAL(10,2),
  extra_premium DECIMAL(10,2)
);
CREATE TABLE vehicle (
  vehicle_id INTEGER,
  policy_no TEXT,
  registration TEXT,
  make TEXT,
  model TEXT,
  fuel TEXT,
  year_built INTEGER,
  market_value DECIMAL(10,2),
  annual_mileage INTEGER
);
CREATE TABLE properties (
  property_id INTEGER,
  policy_no TEXT,
  street TEXT,
  town TEXT,
  postcode TEXT,
  building_type TEXT,
  year_built INTEGER,
  floor_area INTEGER,
  flood_risk TEXT,
  rebuild_cost DECIMAL(12,2)
);
CREATE TABLE claims (
  claim_id INTEGER,
  policy_no TEXT,
  cover_id INTEGER,
  vehicle_id INTEGER,
  property_id INTEGER,
  handler_id INTEGER,
  loss_date DATE,
  reported_on DATE,
  closed_on DATE,
  cause TEXT,
  status TEXT,
  estimated_loss DECIMAL(12,2)
);
CREATE TABLE suppliers (
  supplier_id INTEGER,
  supplier_name TEXT,
  trade TEXT,
  town TEXT,
  partner_since DATE,
  hourly_rate DECIMAL(10,2),
  rating REAL
);
CREATE TABLE claim_payments (
  payment_id INTEGER,
  claim_id INTEGER,
  paid_on DATE,
  amount DECIMAL(12,2),
  payee TEXT,
  supplier_id INTEGER,
  method TEXT
);
CREATE TABLE premium_invoice (
  invoice_no INTEGER,
  policy_no TEXT,
  due_date DATE,
  amount DECIMAL(10,2),
  paid_on DATE,
  status TEXT,
  reminders INTEGER
);
CREATE TABLE complaints (
  complaint_id INTEGER,
  customer_id INTEGER,
  claim_id INTEGER,
  received_on DATE,
  channel TEXT,
  topic TEXT,
  resolved_on DATE,
  outcome TEXT,
  compensation DECIMAL(10,2)
);

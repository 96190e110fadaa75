-- A retailer's data warehouse, a star schema. No table declares a key; date keys are whole numbers such as 20240315, promotion 0 stands for no promotion, and a changed customer gets a new row.
CREATE TABLE dim_date (date_key INTEGER, full_date DATE, day_name TEXT, month_num INTEGER, month_name TEXT, quarter_num INTEGER, year_num INTEGER, fiscal_year INTEGER, is_weekend INTEGER, holiday_flg TEXT);
CREATE TABLE dim_category (category_key INTEGER, category_name TEXT, department TEXT);
CREATE TABLE dim_product (product_key INTEGER, sku TEXT, product_name TEXT, brand TEXT, category_key INTEGER, list_price NUMERIC(10,2), unit_cost NUMERIC(10,2), launch_date_key INTEGER, discontinued_flg TEXT);
CREATE TABLE dim_supplier (supplier_key INTEGER, supplier_name TEXT, country TEXT, rating INTEGER);
CREATE TABLE bridge_product_supplier (product_key INTEGER, supplier_key INTEGER, primary_ind TEXT, lead_time_days INTEGER);
CREATE TABLE dim_store (store_key INTEGER, store_code TEXT, store_name TEXT, city TEXT, region TEXT, store_format TEXT, floor_sqm INTEGER, open_date DATE, close_date DATE, manager_key INTEGER);
CREATE TABLE dim_employee (employee_key INTEGER, emp_name TEXT, job_title TEXT, store_key INTEGER, manager_key INTEGER, hire_date DATE, term_date DATE);
CREATE TABLE dim_customer (customer_key INTEGER, customer_id TEXT, full_name TEXT, segment TEXT, city TEXT, loyalty_tier TEXT, email_optin BOOLEAN, valid_from DATE, valid_to DATE, is_current INTEGER);
CREATE TABLE dim_promotion (promo_key INTEGER, promo_name TEXT, promo_type TEXT, discount_pct INTEGER, start_date_key INTEGER, end_date_key INTEGER);
CREATE TABLE dim_payment (payment_key INTEGER, payment_name TEXT);
CREATE TABLE dim_return_reason (reason_key INTEGER, reason_desc TEXT);
CREATE TABLE fact_sales (order_no INTEGER, line_no INTEGER, date_key INTEGER, store_key INTEGER, customer_key INTEGER, employee_key INTEGER, product_key INTEGER, promo_key INTEGER, payment_key INTEGER, qty INTEGER, unit_price NUMERIC(10,2), unit_cost NUMERIC(10,2), discount_amt NUMERIC(10,2), net_amt NUMERIC(10,2));
CREATE TABLE fact_returns (return_no INTEGER, date_key INTEGER, order_no INTEGER, line_no INTEGER, store_key INTEGER, product_key INTEGER, reason_key INTEGER, qty INTEGER, refund_amt NUMERIC(10,2), restocked TEXT);
CREATE TABLE fact_inventory (date_key INTEGER, store_key INTEGER, product_key INTEGER, on_hand_qty INTEGER, on_order_qty INTEGER, reorder_point INTEGER);
CREATE TABLE fact_budget (year_num INTEGER, month_num INTEGER, store_key INTEGER, budget_amt NUMERIC(12,2));

-- A road carrier between depots. No table declares a key; states are codes, and people are known by staff numbers.
CREATE TABLE depots (depot_code TEXT, town TEXT, country TEXT, dock_count INTEGER, opened_on DATE);
CREATE TABLE vehicle_types (id INTEGER, label TEXT, payload_kg INTEGER, axle_count INTEGER);
CREATE TABLE vehicles (plate TEXT, depot TEXT, type_id INTEGER, first_registered DATE, odometer_km INTEGER, retired BOOLEAN);
CREATE TABLE drivers (staff_no INTEGER, given_name TEXT, surname TEXT, home_depot TEXT, hired_on DATE, left_on DATE, hourly_wage NUMERIC(6,2));
CREATE TABLE licences (staff_no INTEGER, category TEXT, valid_until DATE);
CREATE TABLE agents (agent_id INTEGER, agent_name TEXT, region TEXT);
CREATE TABLE customers (cust_id INTEGER, company TEXT, sector TEXT, country TEXT, credit_limit NUMERIC(10,2), account_manager INTEGER);
CREATE TABLE shipments (ship_no INTEGER, cust INTEGER, from_depot TEXT, to_depot TEXT, booked_at TIMESTAMP, due_on DATE, delivered_at TIMESTAMP, state TEXT);
CREATE TABLE parcels (parcel_id INTEGER, ship_no INTEGER, weight_kg NUMERIC(8,2), length_cm INTEGER, fragile BOOLEAN);
CREATE TABLE trips (trip_id INTEGER, plate TEXT, driver INTEGER, departed TIMESTAMP, arrived TIMESTAMP, distance_km INTEGER);
CREATE TABLE trip_stops (trip_id INTEGER, stop_seq INTEGER, depot TEXT, minutes_waiting INTEGER);
CREATE TABLE trip_loads (trip_id INTEGER, ship_no INTEGER);
CREATE TABLE invoices (inv_no INTEGER, ship_no INTEGER, issued DATE, net_amount NUMERIC(10,2), vat_rate NUMERIC(4,2), paid_on DATE);
CREATE TABLE fuelings (id INTEGER, plate TEXT, filled_on DATE, litres NUMERIC(7,2), price_per_litre NUMERIC(5,3), station TEXT);
CREATE TABLE incidents (inc_id INTEGER, trip_id INTEGER, kind TEXT, cost NUMERIC(9,2), reported_on DATE);

-- An organiser of music and theatre festivals: editions, stages, booked performers, tickets, volunteers, sponsors, costs.
CREATE TABLE staff (
    id INTEGER,
    first_name TEXT,
    last_name TEXT,
    job_title TEXT,
    hired_on DATE,
    monthly_salary DECIMAL(10,2),
    reports_to INTEGER
);
CREATE TABLE edition (
    id INTEGER,
    festival_name TEXT,
    kind TEXT,
    city TEXT,
    starts_on DATE,
    ends_on DATE,
    motto TEXT,
    budget DECIMAL(10,2),
    status TEXT,
    director INTEGER
);
CREATE TABLE venue (
    id INTEGER,
    name TEXT,
    city TEXT,
    built_year INTEGER,
    rent_per_day DECIMAL(10,2),
    wheelchair_access INTEGER
);
CREATE TABLE stage (
    code TEXT,
    venue_id INTEGER,
    name TEXT,
    capacity INTEGER,
    covered INTEGER
);
CREATE TABLE performer (
    id INTEGER,
    name TEXT,
    act_type TEXT,
    genre TEXT,
    country TEXT,
    members INTEGER,
    founded_year INTEGER,
    agent_email TEXT
);
CREATE TABLE booking (
    id INTEGER,
    edition_id INTEGER,
    performer_id INTEGER,
    booked_by INTEGER,
    fee DECIMAL(10,2),
    travel_costs DECIMAL(10,2),
    status TEXT,
    requested_on DATE,
    answered_on DATE
);
CREATE TABLE slot (
    id INTEGER,
    booking_id INTEGER,
    stage TEXT,
    starts_at TIMESTAMP,
    ends_at TIMESTAMP,
    soundcheck_at TIMESTAMP,
    audience INTEGER
);
CREATE TABLE ticket_type (
    id INTEGER,
    edition_id INTEGER,
    name TEXT,
    price DECIMAL(10,2),
    quota INTEGER,
    sale_starts_on DATE
);
CREATE TABLE visitor (
    id INTEGER,
    first_name TEXT,
    last_name TEXT,
    email TEXT,
    city TEXT,
    country TEXT,
    birth_date DATE,
    newsletter INTEGER,
    registered_on DATE
);
CREATE TABLE ticket_order (
    id INTEGER,
    visitor_id INTEGER,
    ordered_at TIMESTAMP,
    channel TEXT,
    payment_method TEXT,
    promo_code TEXT,
    status TEXT,
    paid_at TIMESTAMP
);
CREATE TABLE ticket (
    id INTEGER,
    order_id INTEGER,
    ticket_type_id INTEGER,
    price_paid DECIMAL(10,2),
    scanned_at TIMESTAMP
);
CREATE TABLE volunteer (
    id INTEGER,
    first_name TEXT,
    last_name TEXT,
    phone TEXT,
    birth_date DATE,
    shirt_size TEXT,
    joined_on DATE
);
CREATE TABLE volunteer_shift (
    id INTEGER,
    volunteer_id INTEGER,
    edition_id INTEGER,
    supervisor INTEGER,
    task TEXT,
    starts_at TIMESTAMP,
    hours REAL,
    showed_up INTEGER
);
CREATE TABLE sponsorship (
    id INTEGER,
    edition_id INTEGER,
    company TEXT,
    industry TEXT,
    level TEXT,
    amount DECIMAL(10,2),
    agreed_on DATE,
    received_on DATE
);
CREATE TABLE supplier (
    id INTEGER,
    name TEXT,
    trade TEXT,
    city TEXT,
    contact_email TEXT,
    rating INTEGER
);
CREATE TABLE expense (
    id INTEGER,
    edition_id INTEGER,
    supplier_id INTEGER,
    invoice_no TEXT,
    amount DECIMAL(10,2),
    invoiced_on DATE,
    due_on DATE,
    paid_on DATE,
    approved_by INTEGER
);

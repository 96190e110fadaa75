-- A chain of fitness clubs. No table declares a key; flags, times and amounts are kept in the ways that grew over the years.
CREATE TABLE cities (code TEXT, city_name TEXT, region TEXT);
CREATE TABLE clubs (club_id INTEGER, club_name TEXT, city_code TEXT, opened TEXT, square_metres INTEGER);
CREATE TABLE members (mid INTEGER, full_name TEXT, birth_date TEXT, home_club INTEGER, joined_ts INTEGER, is_active TEXT, referred_by INTEGER);
CREATE TABLE plans (plan_code TEXT, title TEXT, monthly_fee_cents INTEGER, max_classes INTEGER);
CREATE TABLE subscriptions (sub_id INTEGER, member_id INTEGER, plan TEXT, start_date TEXT, end_date TEXT, status TEXT);
CREATE TABLE trainers (tid INTEGER, trainer_name TEXT, club INTEGER, hourly_rate REAL, has_first_aid INTEGER);
CREATE TABLE classes (class_id INTEGER, class_name TEXT, trainer INTEGER, weekday TEXT, capacity INTEGER, level TEXT);
CREATE TABLE bookings (booking_id INTEGER, member INTEGER, class_no INTEGER, booked_on TEXT, attended INTEGER);
CREATE TABLE payments (pay_id INTEGER, subscription_id INTEGER, amount_cents INTEGER, paid_on TEXT, method TEXT, refunded INTEGER);
CREATE TABLE equipment (eq_id INTEGER, club INTEGER, kind TEXT, purchased TEXT, price REAL, out_of_order INTEGER);
CREATE TABLE visits (visit_id INTEGER, member INTEGER, club INTEGER, entered_ms INTEGER, minutes INTEGER);
CREATE TABLE complaints (id INTEGER, member_id INTEGER, club_id INTEGER, topic TEXT, filed_on TEXT, resolved_on TEXT);

-- The database of an agronomy company that runs four sites, as its own small team grew it. No table declares a key; Unix times are seconds in UTC; a season is the year of the harvest; a dose is in the product's unit per hectare.
CREATE TABLE field (fld_id INTEGER, label TEXT, site TEXT, area_ha REAL, soil_tex TEXT, tenure TEXT);
CREATE TABLE rotation (id INTEGER, field INTEGER, season INTEGER, crop TEXT, cultivar TEXT, sown DATE);
CREATE TABLE harvests (hv_id INTEGER, field_id INTEGER, season INTEGER, cut_on DATE, yield_t REAL, moist_pct REAL, machine TEXT);
CREATE TABLE irrigation_events (id INTEGER, fld INTEGER, start_ts INTEGER, end_ts INTEGER, water_m3 REAL, source TEXT);
CREATE TABLE sensors (sensor_id TEXT, fld_id INTEGER, depth_cm INTEGER, installed DATE, pulled_on DATE);
CREATE TABLE readings (sensor TEXT, metric TEXT, val REAL, ts INTEGER);
CREATE TABLE equipment (eq_no TEXT, type TEXT, make TEXT, callsign TEXT, bought DATE, site TEXT);
CREATE TABLE equip_attr (eq TEXT, attr_name TEXT, attr_val TEXT);
CREATE TABLE products (prod_id INTEGER, trade_name TEXT, active_ingr TEXT, class TEXT, unit TEXT, max_dose REAL, eur_per_unit REAL);
CREATE TABLE treatments (trt_no INTEGER, fld_id INTEGER, prod INTEGER, applied_on DATE, dose_per_ha REAL, treated_ha REAL, applied_by INTEGER);
CREATE TABLE workers (id INTEGER, full_name TEXT, job TEXT, supervisor_id INTEGER, site TEXT, hired_on DATE, left_on DATE, eur_per_hr REAL);
CREATE TABLE work_orders (wo_no INTEGER, fld_id INTEGER, task TEXT, assigned_to INTEGER, status TEXT, raised DATE, due DATE, closed DATE, hrs_spent REAL);
CREATE TABLE weather_daily (site TEXT, day TEXT, tmin_c REAL, tmax_c REAL, rain_mm REAL, et0_mm REAL);
CREATE TABLE soil_samples (sample_no INTEGER, field_id INTEGER, taken_on DATE, ph REAL, p_mg_kg INTEGER, k_mg_kg INTEGER, om_pct REAL);
CREATE TABLE buyers (buyer_id INTEGER, name TEXT, kind TEXT, country TEXT);
CREATE TABLE grain_sales (sale_no INTEGER, buyer INTEGER, crop TEXT, harvest_yr INTEGER, sold_on DATE, tonnes REAL, eur_per_t REAL, paid_on DATE);

-- A town's utility company, in a system of the nineties. No table declares a key; codes are explained in cd_txt, amounts are in euros (_eur) or in cents (_ct).
CREATE TABLE cd_txt (cd_grp TEXT, cd_val TEXT, cd_desc TEXT);
CREATE TABLE dist_mst (dist_cd TEXT, dist_nm TEXT);
CREATE TABLE cust_mst (cust_no INTEGER, cust_typ TEXT, nm1 TEXT, nm2 TEXT, birth_dt DATE, email TEXT, since_dt DATE, inact_flg TEXT);
CREATE TABLE prem_mst (prem_no INTEGER, dist_cd TEXT, street TEXT, house_no TEXT, prem_typ TEXT, area_sqm INTEGER);
CREATE TABLE mtr_mst (mtr_no TEXT, prem_no INTEGER, util_cd TEXT, manuf TEXT, inst_dt DATE, rmvd_dt DATE, smart_flg TEXT);
CREATE TABLE mtr_rdg (rdg_id INTEGER, mtr_no TEXT, rdg_dt DATE, rdg_val NUMERIC(10,1), rdg_typ TEXT);
CREATE TABLE trf_hdr (trf_cd TEXT, trf_nm TEXT, util_cd TEXT, base_fee_ct INTEGER, unit_prc_ct NUMERIC(7,2), vld_fr DATE, vld_to DATE);
CREATE TABLE ctr_mst (ctr_no INTEGER, cust_no INTEGER, prem_no INTEGER, trf_cd TEXT, start_dt DATE, end_dt DATE, pay_mth TEXT);
CREATE TABLE inv_hdr (inv_no INTEGER, ctr_no INTEGER, inv_dt DATE, due_dt DATE, tot_eur NUMERIC(10,2), sts_cd TEXT);
CREATE TABLE inv_ln (inv_no INTEGER, ln_no INTEGER, ln_typ TEXT, amt_eur NUMERIC(10,2));
CREATE TABLE pmt (pmt_id INTEGER, inv_no INTEGER, pmt_dt DATE, amt_ct INTEGER, pay_mth TEXT);
CREATE TABLE dun_hist (dun_id INTEGER, inv_no INTEGER, lvl INTEGER, sent_dt DATE, fee_ct INTEGER);
CREATE TABLE out_log (out_no INTEGER, dist_cd TEXT, util_cd TEXT, beg_ts TIMESTAMP, end_ts TIMESTAMP, cause_cd TEXT, prem_aff INTEGER);
CREATE TABLE tech_mst (tech_no INTEGER, tech_nm TEXT, sup_no INTEGER, dist_cd TEXT, hire_dt DATE, on_call BOOLEAN);
CREATE TABLE wrk_ord (wo_no INTEGER, wo_typ TEXT, prem_no INTEGER, out_no INTEGER, prio INTEGER, sts_cd TEXT, crt_ts TIMESTAMP, done_ts TIMESTAMP);
CREATE TABLE wo_asg (wo_no INTEGER, tech_no INTEGER, hrs NUMERIC(5,2));

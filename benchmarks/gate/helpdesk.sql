-- The database of a help desk sold as a service, as a web framework makes it. No table declares a key; invoices are in cents, plan prices in dollars; a deleted ticket or article keeps its row.
CREATE TABLE accounts_organization (id INTEGER, name TEXT, industry TEXT, country TEXT, is_active BOOLEAN, account_manager_id INTEGER, created_at TIMESTAMP);
CREATE TABLE accounts_user (id INTEGER, email TEXT, full_name TEXT, organization_id INTEGER, is_staff BOOLEAN, is_active BOOLEAN, job_title TEXT, manager_id INTEGER, date_joined TIMESTAMP, last_login TIMESTAMP);
CREATE TABLE accounts_team (id INTEGER, name TEXT, lead_id INTEGER);
CREATE TABLE accounts_team_members (id INTEGER, team_id INTEGER, user_id INTEGER);
CREATE TABLE tickets_priority (id INTEGER, label TEXT, target_minutes INTEGER);
CREATE TABLE tickets_ticket (id INTEGER, subject TEXT, requester_id INTEGER, assignee_id INTEGER, team_id INTEGER, priority_id INTEGER, status TEXT, channel TEXT, merged_into_id INTEGER, first_reply_minutes INTEGER, created_at TIMESTAMP, solved_at TIMESTAMP, deleted_at TIMESTAMP);
CREATE TABLE tickets_comment (id INTEGER, ticket_id INTEGER, author_id INTEGER, body TEXT, is_internal BOOLEAN, created_at TIMESTAMP);
CREATE TABLE tickets_tag (id INTEGER, name TEXT, color TEXT);
CREATE TABLE tickets_ticket_tags (id INTEGER, ticket_id INTEGER, tag_id INTEGER);
CREATE TABLE tickets_rating (id INTEGER, ticket_id INTEGER, score INTEGER, feedback TEXT, created_at TIMESTAMP);
CREATE TABLE kb_article (id INTEGER, title TEXT, author_id INTEGER, section TEXT, status TEXT, view_count INTEGER, published_at TIMESTAMP, deleted_at TIMESTAMP);
CREATE TABLE kb_vote (id INTEGER, article_id INTEGER, user_id INTEGER, is_helpful BOOLEAN, created_at TIMESTAMP);
CREATE TABLE billing_plan (id INTEGER, slug TEXT, name TEXT, monthly_price NUMERIC(8,2), max_agents INTEGER, is_public BOOLEAN);
CREATE TABLE billing_subscription (id INTEGER, organization_id INTEGER, plan_id INTEGER, seats INTEGER, billing_cycle TEXT, started_at TIMESTAMP, cancelled_at TIMESTAMP);
CREATE TABLE billing_invoice (id INTEGER, subscription_id INTEGER, number TEXT, status TEXT, amount_cents INTEGER, issued_at TIMESTAMP, due_at TIMESTAMP, paid_at TIMESTAMP);

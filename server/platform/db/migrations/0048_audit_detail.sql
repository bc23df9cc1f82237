-- What was changed: names of fields, and the values of those that open something to others.
alter table audit_log add column detail jsonb;

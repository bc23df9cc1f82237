-- compatible_from: 0076
-- Who made a key, as in the audit log (`member:<id>`, `key:<id>` or `operator`); null: it is not known.
alter table api_keys add column created_by text;

-- The person of the identity provider to whom a login belongs since the first sign-in through the provider.
alter table logins add column issuer text;
alter table logins add column subject text;

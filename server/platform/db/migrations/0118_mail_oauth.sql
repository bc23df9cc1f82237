-- compatible_from: 0076
-- A mailbox whose provider wants OAuth 2 instead of a password: where tokens come from, and the tokens, encrypted.
alter table email_connections
  add column oauth jsonb,
  add column oauth_client_secret text,
  add column oauth_refresh_token text,
  add column oauth_access_token text,
  add column oauth_expires_at timestamptz(3);

-- compatible_from: 0076
-- How often something was tried that few attempts are allowed for, such as a password. `bucket` is a hash of who tried
-- what. At `ends_at` the count begins anew.
create table login_attempts (
  bucket text primary key,
  count integer not null,
  ends_at timestamptz(3) not null
);
create index login_attempts_end on login_attempts (ends_at);

-- What an installation has to do from time to time. Whichever process moves next_at on does it.
create table duties (
  name text primary key,
  next_at timestamptz(3) not null default now()
);

-- compatible_from: 0076
-- Background jobs that wait or run; a job that has ended has no row. The former version keeps its jobs in the schema
-- jobs, from which they are taken over; see platform/jobs/former-jobs.ts.
create table jobs (
  id bigint generated always as identity primary key,
  task text not null,
  -- The account whose share of the running jobs it uses; null: it counts against none.
  tenant text,
  payload jsonb not null,
  queued_at timestamptz(3) not null default now(),
  run_at timestamptz(3) not null default now(),
  -- The process that runs it. If that is dead or has another epoch, the job is free.
  process_id uuid,
  process_epoch integer,
  -- How often a process has taken it, which tells its present run from a former one.
  claims integer not null default 0,
  failures integer not null default 0,
  outages integer not null default 0
);
create index jobs_due on jobs (task, run_at, id);

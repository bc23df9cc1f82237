-- The processes that run generations. A process that stops beating is declared dead by raising its epoch; whatever still
-- carries the old epoch may then be closed by anybody, and a process that was only paused finds the new epoch at its
-- next beat.
create table processes (
  id uuid primary key,
  epoch integer not null default 1,
  -- Grows with every beat. Others compare it with what they saw before; no clock is involved.
  beat bigint not null default 0,
  -- Taken back by whoever declares the process dead, and by the process when it ends.
  alive boolean not null default true,
  beat_at timestamptz(3) not null default now()
);

-- What a generation has said: its events in pieces, appended by its owner at least every 100 ms, and by whoever closes
-- it. Re-attaching, repeated requests, recovery and readers in other processes all read this.
create table generation_log (
  generation_id uuid not null,
  account_id uuid not null,
  -- Number of the first event of the piece, from 0. Of two writers that disagree, the key lets one in.
  position integer not null,
  -- JSON, see server/conversations/generation-log.ts. As text: the database never looks inside.
  events text not null,
  -- What whoever waits for the whole answer is told; only in the last piece.
  ending text,
  primary key (generation_id, position)
);

-- Who may write to a running generation. Those that ran under the earlier schema have no owner and are closed at start.
alter table generations
  add column owner uuid,
  add column epoch integer not null default 0;

-- What a generation of the earlier schema had said at its last checkpoint, as events.
insert into generation_log (generation_id, account_id, position, events)
  select id, account_id, 0, (
    select coalesce(jsonb_agg(event order by ordinal, step), '[]')::text
    from jsonb_array_elements(parts) with ordinality as part (value, ordinal),
      lateral (values
        (1, case value ->> 'type'
          when 'text' then jsonb_build_object('type', 'text-start', 'id', 'text-' || ordinal)
          when 'tool-call' then value || '{"type": "tool-input-available"}'
          else value || '{"type": "tool-output-available"}' end),
        (2, case value ->> 'type'
          when 'text' then jsonb_build_object('type', 'text-delta', 'id', 'text-' || ordinal, 'delta', value -> 'text') end)
      ) as made (step, event)
    where event is not null)
  from generations where status = 'running' and parts <> '[]';

drop index generations_lease;
create index generations_to_stop on generations (owner) where status = 'running' and stop_reason is not null;
alter table generations
  drop column lease_until,
  drop column parts;

drop table stream_frames;

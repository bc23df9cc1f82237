-- Chunks of a large source are stored before they go live, each attempt's under a number of its own: live_version of a
-- source that is no website is the number of the attempt that went live.
alter table sources add column chunks_version integer not null default 0;
update sources set chunks_version = greatest(content_version, coalesce(live_version, 0));

-- What belongs to an agent refers to its id here, and not to its row in agents: the row goes at once when the agent is
-- deleted, and all else in small pieces after it, the id last. An insert locks the row that it refers to; nobody ever
-- changes this one.
create table agent_ids (
  id text primary key,
  account_id uuid not null references accounts on delete cascade
);
create index agent_ids_account on agent_ids (account_id);
insert into agent_ids (id, account_id) select id, account_id from agents;

create function agent_added() returns trigger language plpgsql as $$
begin
  insert into agent_ids (id, account_id) values (new.id, new.account_id) on conflict do nothing;
  return new;
end $$;
create trigger agent_added before insert on agents for each row execute function agent_added();

do $$
declare key record;
begin
  for key in
    select conrelid::regclass as child, conname as name, attname as own
    from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where confrelid = 'agents'::regclass
  loop
    execute format('alter table %s drop constraint %I', key.child, key.name);
    execute format('alter table %s add constraint %I foreign key (%I) references agent_ids on delete cascade',
      key.child, key.name, key.own);
  end loop;
end $$;
alter table agents add foreign key (id) references agent_ids on delete cascade;

-- Its totals go with all else, piece by piece.
drop trigger agents_removed on agents;
drop function agents_removed;

-- Those whose generation is gone are looked for again and again.
create index credit_entries_reserved on credit_entries (created_at) where state = 'reserved';

-- compatible_from: 0076
create index concurrently contact_identities_value on contact_identities (agent_id, value);
create index concurrently contact_identities_username on contact_identities (agent_id, lower(username))
  where username is not null;

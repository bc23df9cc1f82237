-- compatible_from: 0076
-- Contacts are found by what a channel calls or has called them. The first index also serves those of one agent.
create index contact_identities_value on contact_identities (agent_id, value);
create index contact_identities_username on contact_identities (agent_id, lower(username)) where username is not null;
drop index contact_identities_agent;

-- Contacts are looked for by the beginning of their name. Tickets by their customer: see 0012_privacy.
create index contacts_name on contacts (agent_id, lower(name) text_pattern_ops) where name is not null;
create index conversations_contact_activity on conversations (contact_id, updated_at desc, id desc)
  where contact_id is not null;

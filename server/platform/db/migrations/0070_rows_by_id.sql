-- While the tables are small, and for as long as a connection keeps its plan from that time, the planner took this index
-- for conversations that are asked for by id and account, and so read all those of the account. Whoever looks for an
-- account's conversations also names an agent, a contact, a thread or ids.
drop index conversations_account;

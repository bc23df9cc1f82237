-- The last runs of an action and of a procedure are lists of their own.
drop index tool_calls_agent;
create index tool_calls_agent on tool_calls (agent_id, name, created_at desc, id desc);
drop index procedure_runs_procedure;
create index procedure_runs_procedure on procedure_runs (procedure_id, started_at desc, id desc);

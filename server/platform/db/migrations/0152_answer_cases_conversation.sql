-- compatible_from: 0076
create index concurrently answer_cases_conversation on answer_cases (conversation_id);

-- compatible_from: 0076
create index concurrently playground_runs_prompts on playground_runs (created_at) where has_prompt;

import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'

/** The most answers whose prompts are deleted in one sweep; the next one continues. */
const BATCH = 500

/** Deletes the prompts of all agents whose days have passed. What else is known of the answers stays. */
export async function dropOldPrompts(db: Db): Promise<void> {
  await sql`
    update playground_runs set has_prompt = false,
      made_of = made_of || jsonb_build_object(
        'steps', (select coalesce(jsonb_agg((step - 'reasoning') || '{"prompt": []}'), '[]')
          from jsonb_array_elements(made_of -> 'steps') as step),
        'passages', (select coalesce(jsonb_agg(passage || '{"text": ""}'), '[]')
          from jsonb_array_elements(made_of -> 'passages') as passage))
    where message_id in (
      select runs.message_id from playground_runs as runs join agents on agents.id = runs.agent_id
      where runs.has_prompt
        and (agents.prompt_days is null or runs.created_at < now() - agents.prompt_days * interval '1 day')
      limit ${BATCH} for update of runs skip locked)`.execute(db)
}

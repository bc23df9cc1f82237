import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

/** What an answer is made of without the texts that its model read. */
export const withoutPrompt = (
  made: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`${made} || jsonb_build_object(
  'steps', (select coalesce(jsonb_agg((step - 'reasoning') || '{"prompt": []}'), '[]')
    from jsonb_array_elements(${made} -> 'steps') as step),
  'passages', (select coalesce(jsonb_agg(passage || '{"text": ""}'), '[]')
    from jsonb_array_elements(${made} -> 'passages') as passage))`

const WITHOUT_PROMPT = withoutPrompt(sql`made_of`)

/**
 * Deletes the prompts and the reasoning of a message's conversation, because its author has taken words of it back. What
 * a provider wants back with calls that still wait for their application stays until they are answered.
 */
export async function dropPromptsWith(trx: Db, accountId: AccountId, messageId: string): Promise<void> {
  await sql`
    update playground_runs set has_prompt = false, made_of = ${WITHOUT_PROMPT}
    where account_id = ${accountId} and has_prompt and conversation_id =
      (select conversation_id from messages where account_id = ${accountId} and id = ${messageId}::uuid)`.execute(
    trx,
  )
  await sql`
    update messages set metadata = case when exists (
        select from tool_calls as calls where calls.account_id = ${accountId} and status = 'pending'
          and calls.conversation_id = messages.conversation_id and calls.message_id = messages.id)
      then metadata - 'reasoning' else metadata - 'reasoning' - 'replay' end
    where account_id = ${accountId} and coalesce(metadata -> 'reasoning', metadata -> 'replay') is not null
      and conversation_id =
      (select conversation_id from messages where account_id = ${accountId} and id = ${messageId}::uuid)`.execute(
    trx,
  )
}

/** The most answers whose prompts are deleted in one sweep; the next one continues. */
const BATCH = 500

/** Deletes the prompts of all agents whose days have passed. What else is known of the answers stays. */
export async function dropOldPrompts(db: Db): Promise<void> {
  await sql`
    update playground_runs set has_prompt = false, made_of = ${WITHOUT_PROMPT}
    where message_id in (
      select runs.message_id from playground_runs as runs join agents on agents.id = runs.agent_id
      where runs.has_prompt
        and (agents.prompt_days is null or runs.created_at < now() - agents.prompt_days * interval '1 day')
      limit ${BATCH} for update of runs skip locked)`.execute(db)
}

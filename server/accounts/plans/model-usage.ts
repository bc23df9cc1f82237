import { sql } from 'kysely'
import type { Asker, SideCall } from '../../ai/calls/call-model.ts'
import type { ModelUse, Purpose } from '../../ai/calls/call-use.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { type AccountId, asAccountId } from '../../platform/db/tables/columns.ts'
import type { Range } from './credits.ts'
import { createMeter } from './meter.ts'

const COUNTED = sql`account_id, day, agent_id, model, calls, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
  dollars, unpriced_calls`

/**
 * Counts calls of a language model. Losing a count in a power failure does no harm, so the commit does not wait for the
 * disk, and answers of the same agent do not wait for each other.
 */
export async function countModelUse(
  db: Db,
  { accountId, agentId }: AgentRef,
  purpose: Purpose,
  { model, calls, inputTokens, cachedTokens, outputTokens, reasoningTokens, dollars }: ModelUse,
): Promise<void> {
  const counts = sql`${accountId}::uuid, (now() at time zone 'utc')::date, ${agentId}, ${model}, ${calls}::bigint,
    ${inputTokens}::bigint, ${cachedTokens}::bigint, ${outputTokens}::bigint, ${reasoningTokens}::bigint,
    ${dollars}::double precision, ${dollars === null ? calls : 0}::bigint`
  const into =
    purpose === 'answer'
      ? sql`insert into model_usage as used (${COUNTED}) select ${counts} from relaxed
          on conflict (account_id, day, agent_id, model)`
      : sql`insert into model_side_usage as used (${COUNTED}, purpose) select ${counts}, ${purpose} from relaxed
          on conflict (account_id, day, agent_id, model, purpose)`
  await sql`
    with relaxed as materialized (select set_config('synchronous_commit', 'off', true))
    ${into} do update
      set calls = used.calls + excluded.calls, input_tokens = used.input_tokens + excluded.input_tokens,
        cached_tokens = used.cached_tokens + excluded.cached_tokens,
        output_tokens = used.output_tokens + excluded.output_tokens,
        reasoning_tokens = used.reasoning_tokens + excluded.reasoning_tokens,
        dollars = coalesce(used.dollars + excluded.dollars, used.dollars, excluded.dollars),
        unpriced_calls = used.unpriced_calls + excluded.unpriced_calls`.execute(db)
}

type Key = [accountId: string, agentId: string, purpose: Asker['purpose'], model: string, isPriced: boolean]

/** Counts calls of language models beside answers. */
export function createModelMeter(db: Db, onError: (error: unknown) => void) {
  const meter = createMeter<Key, ModelUse>({
    sum: (one, other) => ({
      model: one.model,
      calls: one.calls + other.calls,
      inputTokens: one.inputTokens + other.inputTokens,
      cachedTokens: one.cachedTokens + other.cachedTokens,
      outputTokens: one.outputTokens + other.outputTokens,
      reasoningTokens: one.reasoningTokens + other.reasoningTokens,
      dollars: one.dollars === null || other.dollars === null ? null : one.dollars + other.dollars,
    }),
    store: ([accountId, agentId, purpose], use) =>
      countModelUse(db, { accountId: asAccountId(accountId), agentId }, purpose, use),
    account: 'model_side_usage_account_id_fkey',
    onError,
  })
  return {
    note({ asker: { accountId, agentId, purpose }, model, use }: SideCall): void {
      if (model.provider !== 'builtin')
        meter.note([accountId, agentId, purpose, use.model, use.dollars !== null], use)
    },
    close: meter.close,
  }
}

type Used = ModelUse & {
  day: string
  agentId: string
  agentName: string | null
  purpose: Purpose
  unpricedCalls: number
}

/** Returns what language models read and wrote, by day and agent, oldest first. `only` restricts it to those agents. */
export async function modelsByDay(
  db: Db,
  accountId: AccountId,
  { first, last }: Range,
  only: string[] | null,
): Promise<Used[]> {
  const isAsked = sql`account_id = ${accountId} and day between ${first.toISOString().slice(0, 10)}::date
      and ${last.toISOString().slice(0, 10)}::date
    and (${only}::text[] is null or agent_id = any(${only}::text[]))`
  const { rows } = await sql<Used>`
    select to_char(u.day, 'YYYY-MM-DD') as day, u.agent_id as "agentId", agents.name as "agentName", u.model, u.purpose,
      u.calls,
      u.input_tokens as "inputTokens", u.cached_tokens as "cachedTokens", u.output_tokens as "outputTokens",
      u.reasoning_tokens as "reasoningTokens", u.dollars,
      u.unpriced_calls as "unpricedCalls"
    from (
      select ${COUNTED}, 'answer' as purpose from model_usage where ${isAsked}
      union all
      select ${COUNTED}, purpose from model_side_usage where ${isAsked}
    ) as u left join agents on agents.id = u.agent_id and agents.account_id = u.account_id
    order by u.day, u.agent_id, u.model, u.purpose`.execute(db)
  return rows
}

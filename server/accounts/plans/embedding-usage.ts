import { sql } from 'kysely'
import type { EmbeddingUse, Owner } from '../../ai/embeddings/embedding-use.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { asAccountId } from '../../platform/db/tables/columns.ts'
import type { Range } from './credits.ts'
import { createMeter } from './meter.ts'

type Kind = 'passages' | 'questions' | 'trials'
type Counted = Omit<EmbeddingUse, 'model'>
type Key = [accountId: AccountId, day: string, agentId: string, model: string, kind: Kind]

/** Counts what is sent to embedding models. */
export function createEmbeddingMeter(db: Db, onError: (error: unknown) => void) {
  const meter = createMeter<Key, Counted>({
    sum: (one, other) => ({
      texts: one.texts + other.texts,
      tokens: one.tokens + other.tokens,
      estimated: one.estimated + other.estimated,
      dollars: one.dollars === null || other.dollars === null ? null : one.dollars + other.dollars,
    }),
    store: (key, counted) => storeUse(db, key, counted),
    account: 'embedding_usage_account_id_fkey',
    onError,
  })
  return {
    note({ accountId, agentId, isTrial }: Owner, kind: Kind, { model, ...counted }: EmbeddingUse): void {
      const day = new Date().toISOString().slice(0, 10)
      meter.note([asAccountId(accountId), day, agentId, model, isTrial ? 'trials' : kind], counted)
    },
    close: meter.close,
  }
}

async function storeUse(
  db: Db,
  [accountId, day, agentId, model, kind]: Key,
  { texts, tokens, estimated, dollars }: Counted,
): Promise<void> {
  await sql`
    insert into embedding_usage as used (account_id, day, agent_id, model, kind, texts, tokens, estimated, dollars)
    values (${accountId}, ${day}, ${agentId}, ${model}, ${kind}, ${texts}, ${tokens}, ${estimated}, ${dollars})
    on conflict (account_id, day, agent_id, model, kind) do update
      set texts = used.texts + excluded.texts, tokens = used.tokens + excluded.tokens,
        estimated = used.estimated + excluded.estimated, dollars = used.dollars + excluded.dollars`.execute(
    db,
  )
}

type Used = EmbeddingUse & { day: string; agentId: string; agentName: string | null; kind: Kind }

/** Returns what was sent to embedding models, by day and agent, oldest first. `only` restricts them to those agents. */
export async function embeddingsByDay(
  db: Db,
  accountId: AccountId,
  { first, last }: Range,
  only: string[] | null,
): Promise<Used[]> {
  const { rows } = await sql<Used>`
    select to_char(e.day, 'YYYY-MM-DD') as day, e.agent_id as "agentId", agents.name as "agentName", e.model, e.kind,
      e.texts, e.tokens, e.estimated, e.dollars
    from embedding_usage as e left join agents on agents.id = e.agent_id and agents.account_id = e.account_id
    where e.account_id = ${accountId} and e.day between ${first.toISOString().slice(0, 10)}::date
        and ${last.toISOString().slice(0, 10)}::date
      and (${only}::text[] is null or e.agent_id = any(${only}::text[]))
    order by e.day, e.agent_id, e.kind, e.model`.execute(db)
  return rows
}

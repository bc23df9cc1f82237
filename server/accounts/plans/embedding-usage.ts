import { sql } from 'kysely'
import type { EmbeddingUse, Owner } from '../../ai/embeddings/embedding-use.ts'
import { violates } from '../../platform/db/connections/database-errors.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { asAccountId } from '../../platform/db/tables/columns.ts'
import type { Range } from './credits.ts'

type Kind = 'passages' | 'questions'
type Counted = Omit<EmbeddingUse, 'model'>

/** Counts what is sent to embedding models. */
type EmbeddingMeter = {
  note(owner: Owner, kind: Kind, use: EmbeddingUse): void
  /** Resolves when everything noted is stored. */
  close(): Promise<void>
}

/** Every question would otherwise change the same row. What a killed process has not stored is not counted. */
const EVERY_MS = 2_000

export function createEmbeddingMeter(db: Db, onError: (error: unknown) => void): EmbeddingMeter {
  let noted = new Map<string, Counted>()
  let storing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const add = (key: string, { texts, tokens, estimated, dollars }: Counted): void => {
    const before = noted.get(key)
    noted.set(key, {
      texts: texts + (before?.texts ?? 0),
      tokens: tokens + (before?.tokens ?? 0),
      estimated: estimated + (before?.estimated ?? 0),
      dollars: dollars === null || before?.dollars === null ? null : dollars + (before?.dollars ?? 0),
    })
  }
  const store = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const some = noted
    noted = new Map()
    // Several processes change the same rows in the same order.
    for (const [key, counted] of [...some].sort(([a], [b]) => (a < b ? -1 : 1))) {
      try {
        const use: Key = JSON.parse(key)
        await storeUse(db, use, counted)
      } catch (error) {
        // The account has been deleted.
        if (violates(error, 'embedding_usage_account_id_fkey')) continue
        add(key, counted)
        onError(error)
      }
    }
  }
  return {
    note({ accountId, agentId }, kind, { model, ...counted }) {
      const key: Key = [asAccountId(accountId), new Date().toISOString().slice(0, 10), agentId, model, kind]
      add(JSON.stringify(key), counted)
      timer ??= setTimeout(() => {
        storing = storing.then(store)
      }, EVERY_MS).unref()
    },
    close: () => storing.then(store),
  }
}

type Key = [accountId: AccountId, day: string, agentId: string, model: string, kind: Kind]

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

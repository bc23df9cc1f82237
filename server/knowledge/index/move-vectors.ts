import { sql } from 'kysely'
import { keepVectorLease, takeVectorLease } from '../../agents/records/knowledge-state.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { Embedder } from '../../models/vectors/embedder.ts'
import { embeddedText, storeVectors } from '../training/embed-chunks.ts'
import { lacksVector, MOVE_VECTORS, type MoveVectors, swapSpace } from './vector-spaces.ts'

type Needs = Pick<Context, 'db' | 'jobs' | 'log' | 'models'>
type Agent = { id: string; account_id: AccountId }

/** A job ends before its queue considers it lost; the rest is done by another job. */
const SLICE_MS = 10 * 60_000
const RENEW_MS = 3_000
const LOG_EVERY_MS = 10_000
const DROPPED_AT_ONCE = 500

/**
 * Builds an agent's vectors of a space beside those in use, switches to them when none is missing, and deletes the
 * others. Stored vectors are never computed again, even after an interruption. Throws when another attempt may help.
 */
export async function moveVectors(
  ctx: Needs,
  { agentId, space }: MoveVectors,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const { db, jobs, log, models } = ctx
  // The job comes from a process with another configuration, or from an earlier time.
  if (space !== (models.embedder?.space ?? null)) return
  const agent = await db
    .selectFrom('agents')
    .select(['id', 'account_id'])
    .where('id', '=', agentId)
    .executeTakeFirst()
  if (!agent) return
  if (!(await takeVectorLease(db, agent)))
    throw new Error('Another process builds the vectors of this agent.')
  const renewal = setInterval(() => void keepVectorLease(db, agent, true).catch(() => {}), RENEW_MS)
  try {
    const isBuilt = !models.embedder || (await build(ctx, agent, models.embedder, signal))
    const isLive = isBuilt && (await swap(ctx, agent, space))
    if (isLive) await dropOthers(db, agent, space)
    else await jobs.enqueue<MoveVectors>(db, MOVE_VECTORS, { agentId, space })
    if (isLive) log.info({ agent: agentId, space }, 'the new embedding space is in use')
  } catch (error) {
    log.warn(
      { err: error, agent: agentId, space },
      'the vectors of the new embedding space are incomplete; embedding will continue later',
    )
    throw error
  } finally {
    clearInterval(renewal)
    await keepVectorLease(db, agent, false)
  }
}

/** False if the time of this job has run out and chunks are left. */
async function build(
  { db, log }: Needs,
  agent: Agent,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<boolean> {
  const { space, batch } = embedder
  const begun = performance.now()
  let logged = 0
  let done = 0
  let last: string | null = null
  for (;;) {
    const rows = await chunksWithout(db, agent, space, last, batch)
    if (rows.length === 0) return true
    if (performance.now() - begun > SLICE_MS) return false
    const texts = new Map(
      rows.map((row) => [
        `${row.source_id} ${row.vector_key}`,
        { row, text: embeddedText({ ...row, headingPath: row.heading_path }) },
      ]),
    )
    const distinct = [...texts.values()]
    const vectors = await embedder.embed(
      distinct.map(({ text }) => text),
      { signal },
    )
    const made = distinct.map(({ row: { source_id, vector_key } }, i) => ({
      source_id,
      vector_key,
      vector: vectors[i]!,
    }))
    await storeVectors(db, { account_id: agent.account_id, agent_id: agent.id, space }, made)
    last = rows.at(-1)?.id ?? null
    done += rows.length
    if (performance.now() - logged < LOG_EVERY_MS) continue
    logged = performance.now()
    log.info(
      { agent: agent.id, space, done, left: await countLeft(db, agent, space) },
      'embedding chunks for a new space',
    )
  }
}

function chunksWithout(db: Db, agent: Agent, space: string, last: string | null, limit: number) {
  return db
    .selectFrom('chunks')
    .select(['id', 'source_id', 'vector_key', 'heading_path', 'questions', 'text'])
    .where('account_id', '=', agent.account_id)
    .where('agent_id', '=', agent.id)
    .where(lacksVector(space))
    .$if(last !== null, (query) => query.where('id', '>', last))
    .orderBy('id')
    .limit(limit)
    .execute()
}

async function countLeft(db: Db, agent: Agent, space: string): Promise<number> {
  const { left } = await db
    .selectFrom('chunks')
    .select((eb) => eb.fn.countAll<number>().as('left'))
    .where('account_id', '=', agent.account_id)
    .where('agent_id', '=', agent.id)
    .where(lacksVector(space))
    .executeTakeFirstOrThrow()
  return left
}

const swap = ({ db, jobs }: Needs, { id, account_id }: Agent, space: string | null): Promise<boolean> =>
  db.transaction().execute((trx) => swapSpace(trx, jobs, { accountId: account_id, agentId: id }, space))

/**
 * Deletes vectors in pieces, because those of a large agent take hundreds of megabytes. Locked ones are skipped, because
 * they are being deleted with their source or its chunks.
 */
async function dropOthers(db: Db, agent: Agent, space: string | null): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from chunk_vectors where ctid in (
        select ctid from chunk_vectors
        where account_id = ${agent.account_id} and agent_id = ${agent.id} and space is distinct from ${space}
        limit ${sql.lit(DROPPED_AT_ONCE)} for update skip locked)`.execute(db)
    if (Number(numAffectedRows ?? 0) < DROPPED_AT_ONCE) return
  }
}

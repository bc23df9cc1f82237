import { type SqlBool, sql } from 'kysely'
import type { Logger } from 'pino'
import { keepVectorLease, setVectorSpace, takeVectorLease } from '../../agents/records/knowledge-state.ts'
import type { Embedder } from '../../ai/embeddings/embedder.ts'
import type { Models } from '../../ai/models.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { hasPgvector, preparePgvector } from '../../platform/db/upkeep/pgvector.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { embeddedText } from '../training/embed-chunks.ts'
import { dropUnusedSpaces, findSpace, SpaceRefused, sampleNear } from './spaces.ts'
import { dropFormerVectors, lacksVector, moveFormerVectors, storeVectors } from './vectors.ts'

/** The job that fills an agent's vectors of `space` (null: none) and puts them into use. */
export const FILL_SPACE = 'move-vectors'
export type FillSpace = { agentId: string; space: string | null }

type Deps = { db: Db; jobs: Jobs; log: Logger; models: Models }
type Agent = { id: string; account_id: AccountId; vector_space: string | null }

/** A job ends before its queue considers it lost; the rest is done by another job. */
const SLICE_MS = 10 * 60_000
const RENEW_MS = 3_000
const ROWS_AT_ONCE = 32
const LOG_EVERY_MS = 10_000

/**
 * Fills an agent's vectors of a space beside those in use, and switches to them when none is missing. Stored vectors are
 * never computed again, even after an interruption, and those of a former version are moved. Throws when another attempt
 * may help.
 */
export async function fillSpace(
  ctx: Deps,
  { agentId, space }: FillSpace,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const { db, jobs, log, models } = ctx
  // The job comes from a process with another configuration, or from an earlier time.
  if (space !== (models.embedder?.space ?? null)) return
  if (space !== null && ((await isStopped(db, space)) || !(await hasPgvector(db)))) return
  const agent = await db
    .selectFrom('agents')
    .select(['id', 'account_id', 'vector_space'])
    .where('id', '=', agentId)
    .executeTakeFirst()
  if (!agent) return
  if (!(await takeVectorLease(db, agent))) throw new Error('Another process makes the vectors of this agent.')
  const renewal = setInterval(() => void keepVectorLease(db, agent, true).catch(() => {}), RENEW_MS)
  try {
    const end = models.embedder ? await fill(ctx, agent, models.embedder, signal) : 'filled'
    if (end === 'stopped') return
    const ref = { accountId: agent.account_id, agentId }
    const isLive = end === 'filled' && (await db.transaction().execute((trx) => switchSpace(trx, ref, space)))
    if (!isLive && end === 'paused') await jobs.enqueue<FillSpace>(db, FILL_SPACE, { agentId, space })
    if (!isLive) return
    await dropFormerVectors(db, { account_id: agent.account_id, agent_id: agentId })
    if (space !== null) await sampleNear(db, space)
    log.info({ agent: agentId, space }, 'the embedding space is in use')
  } catch (error) {
    log.warn(
      { err: error, agent: agentId, space },
      'the vectors of the embedding space are incomplete; embedding will continue later',
    )
    // Another attempt would be refused as well.
    if (!(error instanceof SpaceRefused)) throw error
  } finally {
    clearInterval(renewal)
    await keepVectorLease(db, agent, false)
  }
}

/** `paused` means that the time of this job has run out, and chunks are left. */
async function fill(
  { db, log }: Deps,
  agent: Agent,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<'filled' | 'paused' | 'stopped'> {
  const { space } = embedder
  const owner = { account_id: agent.account_id, agent_id: agent.id }
  const begun = performance.now()
  // The space in use comes first, so that questions find vectors again.
  for (const name of new Set([agent.vector_space, space]))
    while (name !== null && (await moveFormerVectors(db, owner, name, embedder.dimensions ?? null)) > 0) {}
  let logged = begun
  let done = 0
  let last: string | null = null
  for (;;) {
    const rows = await chunksWithout(db, agent, space, last, ROWS_AT_ONCE)
    if (rows.length === 0) return 'filled'
    if (performance.now() - begun > SLICE_MS) return 'paused'
    if (await isStopped(db, space)) return 'stopped'
    const texts = new Map(
      rows.map((row) => [
        `${row.source_id} ${row.vector_key}`,
        { row, text: embeddedText({ ...row, headingPath: row.heading_path }) },
      ]),
    )
    const distinct = [...texts.values()]
    const batches = embedder.inBatches(
      distinct.map(({ text }) => text),
      { signal, owner: { accountId: agent.account_id, agentId: agent.id } },
    )
    let made = 0
    for await (const vectors of batches) {
      const stored = vectors.map((vector, i) => {
        const { source_id, vector_key } = distinct[made + i]!.row
        return { source_id, vector_key, vector }
      })
      if (!(await storeVectors(db, owner, space, stored))) return 'stopped'
      made += vectors.length
    }
    last = rows.at(-1)?.id ?? null
    done += rows.length
    if (performance.now() - logged < LOG_EVERY_MS) continue
    logged = performance.now()
    log.info(
      { agent: agent.id, space, done, left: (await fillProgress(db, space, agent)).left },
      'embedding chunks for a new space',
    )
  }
}

async function isStopped(db: Db, name: string): Promise<boolean> {
  const space = await db
    .selectFrom('vector_spaces')
    .select('stopped')
    .where('name', '=', name)
    .executeTakeFirst()
  return space?.stopped ?? false
}

async function chunksWithout(db: Db, agent: Agent, name: string, last: string | null, limit: number) {
  const space = await findSpace(db, name)
  return db
    .selectFrom('chunks')
    .select(['id', 'source_id', 'vector_key', 'heading_path', 'questions', 'text'])
    .where('account_id', '=', agent.account_id)
    .where('agent_id', '=', agent.id)
    .$if(space !== null, (query) => (space === null ? query : query.where(lacksVector(space))))
    .$if(last !== null, (query) => query.where('id', '>', last))
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** How many chunks of an agent lack a vector in the space, and how long their texts are together. */
export async function fillProgress(
  db: Db,
  name: string,
  agent: Pick<Agent, 'id' | 'account_id'>,
): Promise<{ chunks: number; left: number; characters: number }> {
  const space = await findSpace(db, name)
  const lacks = space ? lacksVector(space) : sql<SqlBool>`true`
  return db
    .selectFrom('chunks')
    .select((eb) => eb.fn.countAll<number>().as('chunks'))
    .select(sql<number>`count(*) filter (where ${lacks})`.as('left'))
    .select(sql<number>`coalesce(sum(length(text)) filter (where ${lacks}), 0)::bigint`.as('characters'))
    .where('account_id', '=', agent.account_id)
    .where('agent_id', '=', agent.id)
    .executeTakeFirstOrThrow()
}

/**
 * Puts a space into use in one step if every chunk of the agent has its vector there. Returns whether it is in use
 * afterwards. Where the database has no pgvector, none is.
 */
export async function switchSpace(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  wanted: string | null,
): Promise<boolean> {
  const agent = await trx
    .selectFrom('agents')
    .select('vector_space')
    .where(ownRow(accountId, agentId))
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!agent) return false
  const space = wanted !== null && (await hasPgvector(trx)) ? wanted : null
  if (agent.vector_space === space) return true
  if (space !== null && (await isIncomplete(trx, { accountId, agentId }, space))) return false
  await setVectorSpace(trx, { id: agentId, account_id: accountId }, space)
  return true
}

async function isIncomplete(trx: Trx, ref: AgentRef, name: string): Promise<boolean> {
  const space = await findSpace(trx, name)
  const missing = await trx
    .selectFrom('chunks')
    .select('id')
    .where(ofAgent(ref))
    .$if(space !== null, (query) => (space === null ? query : query.where(lacksVector(space))))
    .limit(1)
    .executeTakeFirst()
  return missing !== undefined || space === null
}

/**
 * Enqueues a job for each agent (or only the given one) that does not use the configured space yet and has no such job.
 * Called at start and every minute, so that filling also begins once pgvector has been installed, and continues once an
 * operator has resumed it.
 */
export async function enqueueFilling(
  { db, jobs, models }: { db: Db; jobs: Jobs; models: Models },
  agentId: string | null = null,
): Promise<void> {
  const space = models.embedder?.space ?? null
  if (space !== null && ((await isStopped(db, space)) || !(await hasPgvector(db)))) return
  const agents = await db
    .selectFrom('agents')
    .select('id')
    .where(
      sql<SqlBool>`(vector_space is distinct from ${space} and (vector_space is not null
          or exists (select from chunks where chunks.agent_id = agents.id))
        or exists (select from chunk_vectors where chunk_vectors.agent_id = agents.id))`,
    )
    .where(
      sql<SqlBool>`not exists (select from jobs where task = ${FILL_SPACE}
        and payload ->> 'agentId' = agents.id and payload ->> 'space' is not distinct from ${space})`,
    )
    .$if(agentId !== null, (query) => query.where('id', '=', agentId))
    .execute()
  for (const { id } of agents) await jobs.enqueue<FillSpace>(db, FILL_SPACE, { agentId: id, space })
}

/** The recurring work on spaces: see enqueueFilling and dropUnusedSpaces. */
export async function tendSpaces(ctx: { db: Db; jobs: Jobs; models: Models }): Promise<void> {
  const space = ctx.models.embedder?.space ?? null
  // The server may have got the extension since.
  if (space !== null) await preparePgvector(ctx.db)
  await enqueueFilling(ctx)
  if (space !== null) await sampleNear(ctx.db, space)
  await dropUnusedSpaces(ctx.db, space)
}

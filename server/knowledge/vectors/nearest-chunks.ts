import { type CompiledQuery, sql } from 'kysely'
import type { Logger } from 'pino'
import type { EmbeddingUse } from '../../ai/embeddings/embedding-use.ts'
import { ModelFailure } from '../../ai/failures/model-failure.ts'
import type { Models } from '../../ai/models.ts'
import type { Db } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { asText, type Space, vectorsOf } from './spaces.ts'

type Deps = { db: Db; models: Pick<Models, 'embedderOf'>; log: Logger }
type VectorQuery = {
  account: AccountId
  agentId: string
  queries: readonly string[]
  /** The sources of a version of the agent; by default those of the live one. */
  version?: readonly string[] | undefined
  /** Only chunks of these sources; absent means all. */
  sourceIds?: readonly string[] | undefined
  limit: number
}
type Near = { chunkId: string; similarity: number }
type NearChunks = {
  /** For each query, best first; empty where nothing was searched by vectors. */
  near: Near[][]
  /** Why vectors that are there were not searched, as a sentence; null if they were, or there are none. */
  problem: string | null
  /** What was sent to the embedding model; null without one. */
  use: EmbeddingUse | null
}

const NO_VECTORS: NearChunks = { near: [], problem: null, use: null }
/** A failure that is thrown again while the model is away is not logged again. */
const logged = new WeakSet<object>()
/** The most rows that pgvector lets an index look at before they are sorted; more of them find more of the nearest. */
const MAX_LOOKED_AT = 1_000

/**
 * Returns the live chunks nearest to each query in the agent's live space; none without an embedder, pgvector or space.
 * Words alone still find most passages, so a failing model is only reported.
 */
export async function nearestChunks(
  { db, models, log }: Deps,
  { account, agentId, version, queries, sourceIds, limit }: VectorQuery,
): Promise<NearChunks> {
  const space = await db
    .selectFrom('agents')
    .innerJoin('vector_spaces', 'vector_spaces.name', 'agents.vector_space')
    .select(['vector_spaces.id', 'vector_spaces.name', 'vector_spaces.dimensions'])
    .where('agents.account_id', '=', account)
    .where('agents.id', '=', agentId)
    .executeTakeFirst()
  if (!space) return NO_VECTORS
  const embedder = models.embedderOf(space.name)
  if (!embedder)
    return {
      ...NO_VECTORS,
      problem: 'Searched by words: the embedding model of the vectors is not configured.',
    }
  try {
    const { vectors, use } = await embedder.embedQuestions(queries, { accountId: account, agentId })
    const near = await transact(db, async (trx) => {
      // A plan for any agent is bad for one with most of the rows, and cannot use the index of one agent.
      void sql`select set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', ${String(Math.min(MAX_LOOKED_AT, 4 * limit))}, true)`
        .execute(trx)
        .catch(() => {})
      const found: Near[][] = []
      for (const vector of vectors) {
        found.push(await nearest(trx, space, { account, agentId, version, sourceIds, limit }, asText(vector)))
      }
      return found
    })
    return { near, problem: null, use }
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error))
    if (!logged.has(failure))
      log.warn({ err: error, space: space.name }, 'the question was searched by its words alone')
    logged.add(failure)
    return { ...NO_VECTORS, problem: `Searched by words: ${whatFailed(error, embedder.title)}` }
  }
}

/** Must not contain addresses: members of every account read it. */
function whatFailed(error: unknown, title: string): string {
  if (!(error instanceof ModelFailure)) return 'the vectors could not be read.'
  switch (error.kind) {
    case 'rejected':
      return `the ${title} refused the question.`
    case 'rate_limited':
      return `the ${title} takes no more questions at the moment.`
    case 'invalid_response':
      return `the ${title} sent what cannot be used.`
    default:
      return `the ${title} did not answer.`
  }
}

/**
 * Reads twice as many vectors as needed, because nearly all of them belong to live chunks. If fewer are left after the
 * filter, it reads more.
 */
async function nearest(
  db: Db,
  space: Space,
  asked: Omit<VectorQuery, 'queries'>,
  vector: string,
): Promise<Near[]> {
  for (let most = 2 * asked.limit; ; most *= 8) {
    const { rows } = await db.executeQuery(nearestQuery(db, space, asked, vector, most))
    const isAll = (rows[0]?.seen ?? 0) < most
    const found = rows.flatMap(({ chunkId, similarity }) =>
      chunkId === null ? [] : [{ chunkId, similarity }],
    )
    if (isAll || found.length === asked.limit) return found
  }
}

type Row = { seen: number } & (Near | { chunkId: null; similarity: 0 })

function nearestQuery(
  db: Db,
  space: Space,
  { account, agentId, version, sourceIds, limit }: Omit<VectorQuery, 'queries'>,
  vector: string,
  most: number,
): CompiledQuery<Row> {
  const isInVersion = version ? sql`sources.id = any(${[...version]}::uuid[])` : sql`not sources.left_out`
  const sources = sourceIds ? sql`and source_id = any(${sourceIds}::uuid[])` : sql``
  // Vectors have the length 1, so the negative product orders them like their angles.
  return sql<Row>`
    with nearest as materialized (
      select source_id, vector_key, vector <#> ${vector} as distance from ${vectorsOf(space)}
      where account_id = ${account} and agent_id = ${agentId} ${sources}
      order by vector <#> ${vector} limit ${most}),
    live as (
      select chunks.id, -nearest.distance as similarity from nearest
      join sources on sources.id = nearest.source_id and sources.account_id = ${account}
      join chunks on chunks.source_id = nearest.source_id and chunks.vector_key = nearest.vector_key
        and chunks.account_id = ${account} and chunks.agent_id = ${agentId}
      where sources.agent_id = ${agentId} and sources.status <> 'toBeDeleted' and ${isInVersion}
        and chunks.version <= sources.live_version
        and (chunks.retired_in is null or chunks.retired_in > sources.live_version)
        and (chunks.page_id is null or not exists (
          select from pages where pages.account_id = ${account} and pages.id = chunks.page_id and pages.hidden))
        and not exists (
          select from passage_choices as excluded where excluded.account_id = ${account}
            and excluded.source_id = chunks.source_id and excluded.vector_key = chunks.vector_key
            and excluded.question is null)
      order by similarity desc, chunks.id limit ${limit})
    select seen, live.id as "chunkId", coalesce(live.similarity, 0) as similarity
    from (select count(*)::int as seen from nearest) as counted left join live on true
    order by similarity desc`.compile(db)
}

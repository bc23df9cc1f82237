import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { costOf } from '../../ai/embeddings/embedding-use.ts'
import { fillProgress } from '../../knowledge/vectors/fill-space.ts'
import { findSpace, vectorsOf } from '../../knowledge/vectors/spaces.ts'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { lackOfPgvector } from '../../platform/db/upkeep/pgvector.ts'
import { rebuildIndexTables } from '../../platform/db/upkeep/vacuum.ts'
import { tokensOfCharacters } from '../../platform/text/languages/language.ts'
import { type Command, CommandFailure, command } from '../command.ts'
import { findAgent } from './find-account.ts'

type Listed = { name: string; dimensions: number; agents: number; bytes: number; stopped: boolean }

export const spacesList = command({
  name: 'spaces list',
  usage: '',
  summary: 'Lists the embedding spaces, and how far the one of the configured model is filled',
  options: {},
  async run({ db, openModels }) {
    const { rows: spaces } = await sql<Listed>`
      select name, dimensions, stopped,
        (select count(*)::int from agents where vector_space = vector_spaces.name) as agents,
        (select coalesce(sum(pg_total_relation_size(relid)), 0)::bigint
          from pg_partition_tree(to_regclass('vectors_' || vector_spaces.id))) as bytes
      from vector_spaces order by id`.execute(db)
    const { embedder } = openModels().models
    const configured = embedder?.space ?? null
    const lack = configured === null ? null : await lackOfPgvector(db)
    return {
      spaces,
      configured,
      lack,
      filling: configured && !lack ? await progressOf(db, configured, embedder?.price ?? null) : null,
    }
  },
  print({ spaces, configured, lack, filling }) {
    const lines = spaces.map(
      ({ name, dimensions, agents, bytes, stopped }) =>
        `${name}: ${dimensions} numbers, used by ${agents} agents, ${Math.ceil(bytes / 1e6)} MB${stopped ? ', stopped' : ''}`,
    )
    if (!configured) lines.push('No embedding model is configured.')
    if (lack) lines.push(lack)
    if (filling)
      lines.push(
        filling.agents === 0
          ? `Every agent uses ${configured}.`
          : `${configured} is being filled: ${filling.done} of ${filling.chunks} texts of ${filling.agents} agents are done, ${filling.left} are left (some ${filling.tokens} tokens${filling.dollars ? `, $${filling.dollars.toFixed(4)}` : ''}).`,
      )
    return lines.join('\n')
  },
})

/** What is left to embed for the agents that do not use the space yet. */
async function progressOf(db: Db, space: string, price: number | null) {
  const agents = await db
    .selectFrom('agents')
    .select(['id', 'account_id'])
    .where(sql<boolean>`vector_space is distinct from ${space}`)
    .where(sql<boolean>`exists (select from chunks where chunks.agent_id = agents.id)`)
    .execute()
  const sum = { agents: agents.length, chunks: 0, done: 0, left: 0, tokens: 0 }
  for (const agent of agents) {
    const { chunks, left, characters } = await fillProgress(db, space, agent)
    sum.chunks += chunks
    sum.left += left
    sum.done += chunks - left
    sum.tokens += tokensOfCharacters(characters)
  }
  return { ...sum, dollars: costOf(sum.tokens, price) }
}

const switching = (name: string, stopped: boolean): Command => ({
  name,
  usage: '',
  summary: stopped
    ? 'Stops the filling of the space of the configured model; agents stay in their present ones'
    : 'Lets a stopped filling go on within a minute',
  options: {},
  async run({ db, openModels }) {
    const { embedder } = openModels().models
    if (!embedder) throw new CommandFailure('No embedding model is configured.')
    const { numUpdatedRows } = await db
      .updateTable('vector_spaces')
      .set({ stopped })
      .where('name', '=', embedder.space)
      .executeTakeFirst()
    if (numUpdatedRows === 0n)
      throw new CommandFailure(`The filling of ${embedder.space} has not begun: nothing was changed.`)
    await recordAudit(db, { accountId: null, actor: 'operator', action: name, target: embedder.space })
    return { space: embedder.space, stopped }
  },
  print: ({ space }) =>
    stopped ? `${space} is not filled any further.` : `${space} is filled again within a minute.`,
})

export const spacesCancel = switching('spaces cancel', true)
export const spacesResume = switching('spaces resume', false)

export const spacesIndex: Command = {
  name: 'spaces index',
  usage: 'AGENT',
  summary: 'Builds an index of the vectors of one agent with more than some 200,000 texts (PostgreSQL)',
  options: {},
  positionals: { count: 1 },
  async run({ db, embedded }, { positionals: [agentId = ''] }) {
    if (embedded) throw new CommandFailure('The embedded database has no such index: use PostgreSQL.')
    const agent = await findAgent(db, agentId)
    const { vector_space } = await db
      .selectFrom('agents')
      .select('vector_space')
      .where(ownRow(agent.account_id, agentId))
      .executeTakeFirstOrThrow()
    const space = vector_space === null ? null : await findSpace(db, vector_space)
    if (!space) throw new CommandFailure(`The agent ${agentId} has no vectors.`)
    const { rows } = await sql<{ part: string }>`
      select tableoid::regclass::text as part from ${vectorsOf(space)}
      where account_id = ${agent.account_id} and agent_id = ${agentId} limit 1`.execute(db)
    const part = rows[0]?.part
    if (part === undefined) throw new CommandFailure(`The agent ${agentId} has no vectors.`)
    const index = `${part}_${createHash('sha256').update(agentId).digest('hex').slice(0, 12)}`
    const begun = performance.now()
    await buildAgain(
      db,
      index,
      sql`create index concurrently ${sql.id(index)} on ${sql.id(part)}
        using hnsw (vector halfvec_ip_ops) where agent_id = ${sql.lit(agentId)}`,
    )
    return { index, seconds: Math.round((performance.now() - begun) / 1_000) }
  },
  print: ({ index, seconds }) =>
    `${index} is built (${seconds} s). Searches of this agent use it from now on.`,
}

/** Builds an index that is not there. An invalid one, which an interrupted build leaves behind, is built again. */
async function buildAgain(db: Db, name: string, statement: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`.execute(db)
  if (rows[0]?.valid) return
  if (rows[0]) await sql`drop index concurrently ${sql.id(name)}`.execute(db)
  await statement.execute(db)
}

export const spacesRebuild: Command = {
  name: 'spaces rebuild',
  usage: '',
  summary:
    'Removes what deleted words and vectors have left, and rebuilds their indexes while the service runs',
  options: {},
  async run({ db, embedded }) {
    return rebuildIndexTables(db, embedded)
  },
  print: ({ tables, before, after }) =>
    `${tables} tables: ${Math.ceil(Number(before) / 1e6)} MB before, ${Math.ceil(Number(after) / 1e6)} MB now.`,
}

import { sql } from 'kysely'
import { holdAgent } from '../../agents/records/find-agent.ts'
import { bumpKnowledgeVersion } from '../../agents/records/knowledge-state.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { storable } from '../../platform/http/bodies/storable.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { isLiveChunk, type LiveChunk, readLiveChunks } from './live-chunks.ts'
import { requireChangeable, type SourceRow } from './queries.ts'

/** Every search reads the pins of its agent. */
const MAX_PINS = 200
const MAX_EXCLUDED = 1_000

type Place = AgentRef & { sourceId: string; chunkId: string }
type Change = { excluded?: boolean; pinnedFor?: string[] }

/**
 * Excludes a passage from every search or pins it to questions. All passages of the source with its text and headings
 * count as one, so a later training keeps the choice. Throws RESOURCE_NOT_FOUND, SOURCE_PENDING_DELETION,
 * VALIDATION_INVALID_BODY.
 */
export async function choosePassage(
  db: Db,
  { chunkId, ...ref }: Place,
  { excluded, pinnedFor }: Change,
): Promise<LiveChunk> {
  return transact(db, async (trx) => {
    await holdAgent(trx, ref)
    const source = await requireChangeable(trx, ref, true)
    const { vector_key } = await requireChunk(trx, source, chunkId)
    const chosen = { account_id: ref.accountId, agent_id: ref.agentId, source_id: source.id, vector_key }
    const add = (questions: (string | null)[]) =>
      trx
        .insertInto('passage_choices')
        .values(questions.map((question) => ({ ...chosen, id: newId(), question })))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    const ofPassage = () =>
      trx
        .deleteFrom('passage_choices')
        .where('account_id', '=', ref.accountId)
        .where('source_id', '=', source.id)
        .where('vector_key', '=', vector_key)
    if (excluded !== undefined) await ofPassage().where('question', 'is', null).execute()
    if (excluded) await add([null])
    if (pinnedFor !== undefined) await ofPassage().where('question', 'is not', null).execute()
    const questions = [...new Set((pinnedFor ?? []).map((question) => storable(question.trim())))]
    if (questions.length > 0) await add(questions)
    await refuseTooMany(trx, ref)
    await bumpKnowledgeVersion(trx, ref)
    return requireChunk(trx, source, chunkId)
  })
}

async function requireChunk(trx: Trx, source: SourceRow, chunkId: string): Promise<LiveChunk> {
  const [chunk] = isId(chunkId)
    ? await readLiveChunks(
        trx
          .selectFrom('chunks')
          .where('account_id', '=', source.account_id)
          .where('source_id', '=', source.id)
          .where('id', '=', chunkId)
          .where(isLiveChunk(source.live_version ?? 0)),
      ).execute()
    : []
  if (!chunk)
    throw new ApiError('RESOURCE_NOT_FOUND', {
      message:
        'The source has no such passage now. List its passages again: their ids change with their text.',
    })
  return chunk
}

async function refuseTooMany(trx: Trx, { accountId, agentId }: AgentRef): Promise<void> {
  const { rows } = await sql<{ pins: number; excluded: number }>`
    select count(question)::int as pins, (count(*) - count(question))::int as excluded from passage_choices
    where account_id = ${accountId} and agent_id = ${agentId}`.execute(trx)
  const { pins = 0, excluded = 0 } = rows[0] ?? {}
  if (pins > MAX_PINS)
    throw invalidField('pinnedFor', `An agent has at most ${MAX_PINS} pins. Remove one first.`)
  if (excluded > MAX_EXCLUDED)
    throw invalidField(
      'excluded',
      `An agent has at most ${MAX_EXCLUDED} excluded passages. Include one again, or delete its source.`,
    )
}

/** Copies the choices about a source to its copy. */
export async function copyChoices(
  trx: Trx,
  accountId: AccountId,
  sourceId: string,
  copy: { id: string; agentId: string },
): Promise<void> {
  await sql`
    insert into passage_choices (id, account_id, agent_id, source_id, vector_key, question)
    select gen_random_uuid(), account_id, ${copy.agentId}, ${copy.id}, vector_key, question
    from passage_choices where account_id = ${accountId} and source_id = ${sourceId}`.execute(trx)
}

import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import { MAX_DEFINITION_BYTES } from '../../../actions/definitions/definition-bytes.ts'
import { fullSteps } from '../../../actions/procedures/write-procedure.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AgentDraftsTable, AgentSnapshot, DraftChanges } from '../../../platform/db/tables/agents.ts'
import { ApiError, invalidField } from '../../../platform/http/errors.ts'
import type { AgentDraft, Change, DraftChanges as Compared, UpdateDraft } from './schema.ts'
import { changesBetween, drafted, type Now, readNow, versionOf, withoutUnchanged } from './snapshot.ts'

type DraftRow = Selectable<AgentDraftsTable>

export const findDraft = (db: Db, ref: AgentRef): Promise<DraftRow | undefined> =>
  db.selectFrom('agent_drafts').selectAll().where(ofAgent(ref)).executeTakeFirst()

async function requireDraft(db: Db, ref: AgentRef): Promise<DraftRow> {
  const row = await findDraft(db, ref)
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The agent has no draft.' })
  return row
}

/**
 * Returns the version of the agent that is to answer. The caller has locked the agent, so that no part is read before a
 * change and another one after it. Throws RESOURCE_NOT_FOUND if there is no draft.
 */
export async function versionToAnswer(
  trx: Trx,
  ref: AgentRef,
  version: 'live' | 'draft',
): Promise<AgentSnapshot> {
  const now = await readNow(trx, ref)
  return version === 'live' ? now.live : drafted(now, (await requireDraft(trx, ref)).changes)
}

/** Stores what the draft changes. The caller has locked the agent and read `now` since. */
export async function storeDraft(
  trx: Trx,
  ref: AgentRef,
  { live }: Now,
  changes: DraftChanges,
  actor: string,
): Promise<void> {
  const updated_at = new Date()
  await trx
    .insertInto('agent_drafts')
    .values({
      ...{ agent_id: ref.agentId, account_id: ref.accountId, actor, updated_at },
      ...{ base: json(live), changes: json(changes) },
    })
    .onConflict((conflict) =>
      conflict.column('agent_id').doUpdateSet({ changes: json(changes), actor, updated_at }),
    )
    .execute()
}

/** Applies the sent fields to what a draft changes. Throws VALIDATION_INVALID_BODY. */
export function changedDraft(
  now: Now,
  before: DraftChanges,
  { actions, procedures, sources, ...settings }: Static<typeof UpdateDraft>,
): DraftChanges {
  const known = new Set([...now.live.sources, ...now.leftOut])
  const steps = procedures?.map(({ steps: sent, ...one }) => ({
    ...one,
    ...(sent && { steps: fullSteps(sent) }),
  }))
  const strange = sources?.find(({ id }) => !known.has(id))
  if (strange) throw invalidField('sources', `The agent has no source with the id ${strange.id}.`)
  const changes = {
    ...before,
    ...settings,
    actions: withChanged('actions', now.live.actions, before.actions, actions),
    procedures: withChanged('procedures', now.live.procedures, before.procedures, steps),
    sources: {
      ...before.sources,
      ...Object.fromEntries((sources ?? []).map(({ id, isIncluded }) => [id, isIncluded])),
    },
  }
  const { live } = now
  const after = drafted(now, changes)
  if (bytesOf(after) > Math.max(MAX_DEFINITION_BYTES, bytesOf(live)))
    throw invalidField('body', 'The actions and procedures of an agent have at most 256 KB together.')
  return withoutUnchanged(now, changes)
}

const bytesOf = ({ actions, procedures }: AgentSnapshot): number =>
  Buffer.byteLength(JSON.stringify([actions, procedures]))

function withChanged<T extends object>(
  field: string,
  live: readonly { id: string }[],
  before: Record<string, T> = {},
  sent: readonly (T & { id: string })[] = [],
): Record<string, T> {
  const changes = { ...before }
  for (const change of sent) {
    const { id } = change
    if (live.every((one) => one.id !== id)) throw invalidField(field, `The agent has none with the id ${id}.`)
    changes[id] = { ...changes[id], ...change }
  }
  return changes
}

/** Compares the draft with the live agent. Throws RESOURCE_NOT_FOUND if there is no draft. */
export async function compareDraft(db: Db, ref: AgentRef, now: Now): Promise<Static<typeof Compared>> {
  const { base, changes } = await requireDraft(db, ref)
  const target = drafted(now, changes)
  const [own, since] = [changesBetween(now.live, target), changesBetween(base, now.live)]
  return {
    version: versionOf(now, target),
    changes: await withNames(db, ref, own),
    changedSince: await withNames(db, ref, since),
  }
}

/** Adds the names of sources. */
export async function withNames(db: Db, ref: AgentRef, changes: readonly Change[]): Promise<Change[]> {
  const ids = changes.flatMap(({ what, id }) => (what === 'source' && id !== null ? [id] : []))
  const rows = await sourcesOf(db, ref, ids)
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return changes.map((change) =>
    change.what === 'source' ? { ...change, name: names.get(change.id ?? '') ?? null } : change,
  )
}

const sourcesOf = async (db: Db, ref: AgentRef, ids: readonly string[]) =>
  ids.length === 0
    ? []
    : db
        .selectFrom('sources')
        .select(['id', 'name', 'type', 'status'])
        .where(ofAgent(ref))
        .where('id', 'in', ids)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute()

export async function presentDraft(db: Db, ref: AgentRef): Promise<Static<typeof AgentDraft>> {
  const now = await readNow(db, ref)
  const row = await findDraft(db, ref)
  const { sources: included, ...version } = drafted(now, row?.changes ?? {})
  const [live, is] = [new Set(now.live.sources), new Set(included)]
  const rows = await sourcesOf(db, ref, [
    ...new Set([...now.live.sources.filter((id) => !is.has(id)), ...now.leftOut]),
  ])
  const waiting = rows.filter(({ id, status }) => is.has(id) && ['untrained', 'updated'].includes(status))
  return {
    isBegun: row !== undefined,
    begunAt: row?.created_at.toISOString() ?? null,
    updatedAt: row?.updated_at.toISOString() ?? null,
    updatedBy: row?.actor ?? null,
    ...version,
    sources: rows.map(({ id, name, type }) => ({
      ...{ id, name, type },
      ...{ isLive: live.has(id), isIncluded: is.has(id) },
    })),
    reading: {
      waiting: waiting.length,
      failed: rows.filter(({ id, status }) => is.has(id) && status === 'failed').length,
    },
  }
}

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { recordAudit } from '../../../accounts/audit/audit.ts'
import { authorize } from '../../../accounts/keys/keys.ts'
import { setTools } from '../../../actions/procedures/set-tools.ts'
import { type AgentChange, updateAgent } from '../../../agents/records/update-agent.ts'
import { deleteLeftOut, setLeftOut } from '../../../knowledge/sources/left-out.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AgentSnapshot } from '../../../platform/db/tables/agents.ts'
import type { Caller } from '../../../platform/http/route.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { Change } from './schema.ts'
import { changesBetween, labelsOf } from './snapshot.ts'

const MAX_VERSIONS = 50

/** Throws unless the caller may change all of this in the live agent, too. */
function authorizeChanges(caller: Caller, changes: readonly Pick<Change, 'what'>[]): void {
  if (changes.some(({ what }) => what === 'action' || what === 'procedure'))
    authorize(caller, 'actions:write')
  if (changes.some(({ what }) => what === 'source')) authorize(caller, 'sources:write')
}

/** Makes `target` the live version and keeps both. The caller has locked the agent and read `live` since. */
export async function goLive(
  trx: Trx,
  jobs: Jobs,
  ref: AgentRef,
  caller: Caller,
  { live, target, kind }: { live: AgentSnapshot; target: AgentSnapshot; kind: 'published' | 'restored' },
): Promise<void> {
  const changes = changesBetween(live, target)
  authorizeChanges(caller, changes)
  if (changes.length === 0) return
  const { actor } = caller
  const idsOf = (what: Change['what']) =>
    new Set(changes.flatMap((change) => (change.what === what ? (change.id ?? []) : [])))
  const [actions, procedures] = [idsOf('action'), idsOf('procedure')]
  const { instructions, channelInstructions: ofChannels, model, temp } = target
  // They have the format in which a change like this one was stored.
  const channelInstructions = ofChannels as AgentChange['channelInstructions']
  await updateAgent(trx, ref, { instructions, channelInstructions, model, temp }, actor)
  await setTools(trx, ref, {
    actions: target.actions.filter(({ id }) => actions.has(id)),
    procedures: target.procedures.filter(({ id }) => procedures.has(id)),
  })
  const [was, is] = [new Set(live.sources), new Set(target.sources)]
  await setLeftOut(
    trx,
    jobs,
    ref,
    live.sources.filter((id) => !is.has(id)),
    true,
  )
  await setLeftOut(
    trx,
    jobs,
    ref,
    target.sources.filter((id) => !was.has(id)),
    false,
  )
  await keepVersions(trx, ref, live, { snapshot: target, kind, actor, changed: labelsOf(changes) })
  const { accountId, agentId } = ref
  const detail = { fields: labelsOf(changes) }
  const action = kind === 'published' ? 'agent.publish' : 'agent.roll-back'
  await recordAudit(trx, { accountId, actor, action, target: agentId, detail })
}

type Version = {
  kind: 'published' | 'restored' | 'found'
  snapshot: AgentSnapshot
  actor: string | null
  changed: string[]
}

/** Keeps a version, and what was live before unless the newest version is that. */
async function keepVersions(trx: Trx, ref: AgentRef, live: AgentSnapshot, version: Version): Promise<void> {
  const newest = await trx
    .selectFrom('agent_versions')
    .select('snapshot')
    .where(ofAgent(ref))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!newest || !isDeepStrictEqual(newest.snapshot, live))
    await insertVersion(trx, ref, {
      ...{ kind: 'found', snapshot: live, actor: null },
      changed: newest ? labelsOf(changesBetween(newest.snapshot, live)) : [],
    })
  await insertVersion(trx, ref, version)
  await sql`
    delete from agent_versions where account_id = ${ref.accountId} and agent_id = ${ref.agentId} and id in (
      select id from agent_versions where account_id = ${ref.accountId} and agent_id = ${ref.agentId}
      order by created_at desc, id desc offset ${sql.lit(MAX_VERSIONS)})`.execute(trx)
}

async function insertVersion(trx: Trx, ref: AgentRef, { snapshot, ...version }: Version): Promise<void> {
  await trx
    .insertInto('agent_versions')
    .values({
      ...{ id: newId(), account_id: ref.accountId, agent_id: ref.agentId },
      ...version,
      snapshot: json(snapshot),
    })
    .execute()
}

/**
 * Deletes sources that live answers leave out and that neither the draft nor a version has. Those of tickets stay, because
 * they would be made again, and so do those that were written for the draft, unless they were `replaced`, because it may
 * include them again. Throws unless the caller may delete sources.
 */
export async function dropUnusedSources(
  trx: Trx,
  ref: AgentRef,
  caller: Caller,
  replaced?: string,
): Promise<void> {
  const { accountId, agentId } = ref
  const { rows } = await sql<{ id: string }>`
    select id from sources where account_id = ${accountId} and agent_id = ${agentId} and left_out
      and status <> 'toBeDeleted' and type <> 'ticket'
      and not exists (select from agent_versions as kept where kept.account_id = ${accountId}
        and kept.agent_id = ${agentId} and kept.snapshot -> 'sources' @> to_jsonb(sources.id::text))
      and not exists (select from agent_drafts as draft where draft.account_id = ${accountId}
        and draft.agent_id = ${agentId} and (draft.changes -> 'sources' -> sources.id::text = 'true'
          or sources.created_at >= draft.created_at and sources.id is distinct from ${replaced ?? null}::uuid))`.execute(
    trx,
  )
  if (rows.length > 0) authorize(caller, 'sources:write')
  await deleteLeftOut(
    trx,
    ref,
    rows.map(({ id }) => id),
  )
}

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { namedActions } from '../../../actions/definitions/named-actions.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import type { AgentSnapshot, DraftChanges } from '../../../platform/db/tables/agents.ts'
import type { Change } from './schema.ts'

/** The live version of an agent, and the sources that it leaves out. */
export type Now = {
  live: AgentSnapshot
  leftOut: string[]
  /** What each source says, by its id, in a form that changes with it. */
  contents: ReadonlyMap<string, readonly unknown[]>
}

export async function readNow(db: Db, ref: AgentRef): Promise<Now> {
  const { instructions, channel_instructions: channelInstructions, model, temp } = await requireAgent(db, ref)
  const actions = await db
    .selectFrom('actions')
    .select(['id', 'name', 'enabled', 'description', 'channels'])
    .where(ofAgent(ref))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const procedures = await db
    .selectFrom('procedures')
    .select(['id', 'name', 'enabled', 'trigger', 'steps'])
    .where(ofAgent(ref))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const sources = await db
    .selectFrom('sources')
    .select(['id', 'left_out', 'content_version', 'live_version', 'status'])
    .where(ofAgent(ref))
    .where('status', '<>', 'toBeDeleted')
    .orderBy('id')
    .execute()
  const idsOf = (leftOut: boolean) =>
    sources.filter(({ left_out }) => left_out === leftOut).map(({ id }) => id)
  return {
    live: { instructions, channelInstructions, model, temp, actions, procedures, sources: idsOf(false) },
    leftOut: idsOf(true),
    contents: new Map(sources.map((one) => [one.id, [one.content_version, one.live_version, one.status]])),
  }
}

/** Returns what a draft makes of the live version. */
export const drafted = (now: Now, changes: DraftChanges): AgentSnapshot =>
  withoutBroken(applied(now, changes))

function applied({ live, leftOut }: Now, changes: DraftChanges): AgentSnapshot {
  const { actions = {}, procedures = {}, sources = {}, ...settings } = changes
  return {
    ...live,
    ...settings,
    actions: live.actions.map((action) => ({ ...action, ...actions[action.id] })),
    procedures: live.procedures.map((procedure) => ({ ...procedure, ...procedures[procedure.id] })),
    sources: [
      ...live.sources.filter((id) => sources[id] !== false),
      ...leftOut.filter((id) => sources[id] === true),
    ].sort(),
  }
}

/** Leaves out what is as in the live version, and so follows it. */
export function withoutUnchanged(now: Now, changes: DraftChanges): DraftChanges {
  const settings: Record<string, unknown> = {}
  const parts: Record<'action' | 'procedure', Record<string, object>> = { action: {}, procedure: {} }
  const sources: Record<string, boolean> = {}
  for (const { what, id, field, after } of changesBetween(now.live, applied(now, changes))) {
    if (what === 'agent' || id === null) settings[field] = after
    else if (what === 'source') sources[id] = after === true
    else parts[what][id] = { ...parts[what][id], [field]: after }
  }
  return { ...settings, actions: parts.action, procedures: parts.procedure, sources }
}

/** Returns what a roll back to a version makes of the live one. What the version does not know is disabled. */
export function rolledBack({ live, leftOut }: Now, version: AgentSnapshot, models: string[]): AgentSnapshot {
  const known = new Set(version.sources)
  return withoutBroken({
    instructions: version.instructions,
    channelInstructions: version.channelInstructions,
    model: models.includes(version.model) ? version.model : live.model,
    temp: version.temp,
    actions: merged(live.actions, version.actions),
    procedures: merged(live.procedures, version.procedures),
    sources: [...live.sources, ...leftOut].filter((id) => known.has(id)).sort(),
  })
}

function merged<T extends { id: string; name: string; enabled: boolean }>(live: T[], version: T[]): T[] {
  const known = new Map(version.map((one) => [one.id, one]))
  return live.map((one) => ({ ...one, enabled: false, ...known.get(one.id), name: one.name }))
}

/** Disables procedures that name an action which is missing or disabled, as changes of the live agent do. */
function withoutBroken(version: AgentSnapshot): AgentSnapshot {
  const usable = new Set(version.actions.filter(({ enabled }) => enabled).map(({ name }) => name))
  const procedures = version.procedures.map((one) => ({
    ...one,
    enabled: one.enabled && [...namedActions(one.steps)].every((name) => usable.has(name)),
  }))
  return { ...version, procedures }
}

const SETTINGS = ['instructions', 'channelInstructions', 'model', 'temp'] as const
const OF_ACTION = ['enabled', 'description', 'channels'] as const
const OF_PROCEDURE = ['enabled', 'trigger', 'steps'] as const

/** Returns the fields that differ; sources without their names. */
export function changesBetween(before: AgentSnapshot, after: AgentSnapshot): Change[] {
  const settings = SETTINGS.filter((field) => !isDeepStrictEqual(before[field], after[field])).map(
    (field) => ({
      ...{ what: 'agent' as const, id: null, name: null, field },
      ...{ before: before[field], after: after[field] },
    }),
  )
  const [was, is] = [new Set(before.sources), new Set(after.sources)]
  const sources = [...new Set([...was, ...is])]
    .filter((id) => was.has(id) !== is.has(id))
    .map((id) => ({
      ...{ what: 'source' as const, id, name: null, field: 'isIncluded' as const },
      ...{ before: was.has(id), after: is.has(id) },
    }))
  return [
    ...settings,
    ...fieldsBetween('action', OF_ACTION, before.actions, after.actions),
    ...fieldsBetween('procedure', OF_PROCEDURE, before.procedures, after.procedures),
    ...sources,
  ]
}

/** What only one of them has counts as disabled in the other. */
function fieldsBetween<F extends Change['field'], T extends { id: string; name: string; enabled: boolean }>(
  what: 'action' | 'procedure',
  fields: readonly (F & keyof T)[],
  before: readonly T[],
  after: readonly T[],
): Change[] {
  const [was, is] = [before, after].map((all) => new Map(all.map((one) => [one.id, one])))
  const ids = new Set([...before, ...after].map(({ id }) => id))
  return [...ids].flatMap((id) => {
    const [old, now] = [was?.get(id), is?.get(id)]
    const one = now ?? old
    if (!one) return []
    const [a, b] = [old ?? { ...one, enabled: false }, now ?? { ...one, enabled: false }]
    return fields
      .filter((field) => !isDeepStrictEqual(a[field], b[field]))
      .map((field) => ({ what, id, name: one.name, field, before: a[field], after: b[field] }))
  })
}

const LABELS: Partial<Record<Change['field'], string>> = {
  channelInstructions: 'channel instructions',
  temp: 'temperature',
}

/** Names what differs, in words and without names of sources, which may be about people. */
export const labelsOf = (changes: readonly Change[]): string[] => [
  ...new Set(
    changes.map(({ what, name, field }) => {
      if (what === 'agent') return LABELS[field] ?? field
      return what === 'source' ? 'sources' : `${what} ${name}`
    }),
  ),
]

/** Names a publication or a roll back: what is live before it, what after, and what the sources say that it changes. */
export function versionOf({ live, contents }: Now, target: AgentSnapshot): string {
  const sources = changesBetween(live, target)
    .flatMap(({ what, id }) => (what === 'source' && id !== null ? [id] : []))
    .sort()
    .map((id) => [id, contents.get(id)])
  return createHash('sha256')
    .update(JSON.stringify([live, target, sources]))
    .digest('base64url')
    .slice(0, 22)
}

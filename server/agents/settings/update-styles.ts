import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { requireAgent } from '../records/find-agent.ts'
import { defaultStyles, type StylesChange } from './styles-schema.ts'

type Group = Record<string, unknown>

/** Merges the sent fields into the agent's styles. null restores the default of a field or a whole part. */
export async function updateStyles(
  db: Db,
  { accountId, agentId }: AgentRef,
  { chat, centerStage }: Static<typeof StylesChange>,
): Promise<void> {
  await transact(db, async (trx) => {
    const current = (await requireAgent(trx, { accountId, agentId }, 'update')).styles
    const styles = {
      chat: merged(current.chat, chat, defaultStyles.chat),
      centerStage: merged(current.centerStage, centerStage, defaultStyles.centerStage),
    }
    await trx
      .updateTable('agents')
      .set({ styles: json(styles), updated_at: new Date() })
      .where(ownRow(accountId, agentId))
      .execute()
  })
}

/** One part of the styles, or a group such as `mobile`, which is merged member by member, too. */
function merged(current: Group, change: Group | null | undefined, defaults: Group): Group {
  if (change === undefined) return current
  if (change === null) return { ...defaults }
  const result: Group = { ...current }
  for (const [name, value] of Object.entries(change)) {
    const fallback = defaults[name]
    if (value === null) result[name] = fallback
    else if (isGroup(fallback)) result[name] = merged(groupOf(current[name]), groupOf(value), fallback)
    else result[name] = value
  }
  return result
}

const groupOf = (value: unknown): Group => (isGroup(value) ? value : {})

const isGroup = (value: unknown): value is Group =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

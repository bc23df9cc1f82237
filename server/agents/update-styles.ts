import type { Static } from 'typebox'
import type { Db } from '../db/database.ts'
import { json } from '../db/json.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import { defaultStyles, type StylesChange } from './styles-schema.ts'

type Group = Record<string, unknown>

/** Merges the sent fields into the agent's styles; null puts a field back to its default. */
export async function updateStyles(
  db: Db,
  accountId: AccountId,
  agentId: string,
  { chat = {}, centerStage = {} }: Static<typeof StylesChange>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('agents')
      .select('styles')
      .where('account_id', '=', accountId)
      .where('id', '=', agentId)
      .forUpdate()
      .executeTakeFirst()
    if (!row) throw new ApiError('AGENT_NOT_FOUND')
    const styles = {
      chat: merge(row.styles.chat, chat, defaultStyles.chat),
      centerStage: merge(row.styles.centerStage, centerStage, defaultStyles.centerStage),
    }
    await trx
      .updateTable('agents')
      .set({ styles: json(styles) })
      .where('account_id', '=', accountId)
      .where('id', '=', agentId)
      .execute()
  })
}

/** Groups such as `mobile` are merged member by member, too. */
function merge(current: Group, change: Group, defaults: Group): Group {
  const merged: Group = { ...current }
  for (const [name, value] of Object.entries(change)) {
    if (value === null) merged[name] = defaults[name]
    else if (isGroup(value) && isGroup(merged[name])) merged[name] = { ...merged[name], ...value }
    else merged[name] = value
  }
  return merged
}

const isGroup = (value: unknown): value is Group =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

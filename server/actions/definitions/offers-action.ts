import type { channels } from '../../agents/settings/settings-schema.ts'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { ActionType } from '../../platform/db/tables/actions.ts'

/** Returns whether the agent has an enabled action of that type for the channel. */
export async function offersAction(
  db: Db,
  ref: AgentRef,
  channel: (typeof channels)[number],
  type: ActionType,
): Promise<boolean> {
  const actions = await db
    .selectFrom('actions')
    .select('channels')
    .where(ofAgent(ref))
    .where('type', '=', type)
    .where('enabled', '=', true)
    .execute()
  return actions.some(({ channels: only }) => only === null || only.includes(channel))
}

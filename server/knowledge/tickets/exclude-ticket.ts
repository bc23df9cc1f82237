import type { Trx } from '../../db/database.ts'
import type { SourceRow } from '../sources/queries.ts'

/** A ticket whose source was deleted by hand does not become one again. */
export async function excludeTicket(trx: Trx, { account_id, agent_id, content }: SourceRow): Promise<void> {
  if (content.ticketId === undefined) return
  await trx
    .updateTable('tickets')
    .set({ knowledge_excluded: true })
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('id', '=', content.ticketId)
    .execute()
}

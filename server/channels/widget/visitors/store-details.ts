import { type LeadInput, storeLead } from '../../../actions/builtin/collect-lead.ts'
import type { Db } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { takesDetails } from '../page/appearance.ts'
import { requireOwnConversation, type Visit } from './visitor.ts'

/**
 * Stores the details that a visitor has entered as a lead. Throws RESOURCE_NOT_FOUND, also when the agent has no form.
 */
export async function storeDetails(
  db: Db,
  visit: Visit,
  { conversationId, ...details }: LeadInput & { conversationId?: string },
): Promise<void> {
  if (!(await takesDetails(db, visit.agent)))
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'This agent does not collect contact details.' })
  const conversation =
    conversationId === undefined ? null : await requireOwnConversation(db, visit, conversationId)
  await storeLead(db, details, {
    id: newId(),
    accountId: visit.agent.account_id,
    agentId: visit.agent.id,
    conversationId: conversation?.id ?? null,
    visitorId: visit.visitorId,
  })
}

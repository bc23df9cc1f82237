import { normalPhone } from '../../people/records/phone-number.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ToolCallPlace, ToolOutput } from '../tools/tool.ts'

export type LeadInput = { name?: string; email?: string; phone?: string }

/** The rules for the inputs that a schema cannot express in a form that every model provider accepts. */
export function refuseLead({ email, phone }: LeadInput): string | null {
  if (email === undefined && phone === undefined) return 'The input "email" or "phone" is required.'
  if (phone !== undefined && phone.replace(/\D/g, '').length < 5) {
    return 'The input "phone" must be a phone number.'
  }
  return null
}

/** Stores a lead, once for each call. */
export async function collectLead(db: Db, input: LeadInput, place: ToolCallPlace): Promise<ToolOutput> {
  await storeLead(db, input, { ...place, id: place.toolCallId, visitorId: null })
  return { status: 'success' }
}

type LeadPlace = {
  id: string
  accountId: AccountId
  agentId: string
  conversationId: string | null
  /** The visitor who sent the form; null: the details were given in the conversation. */
  visitorId: string | null
}

/** Stores a lead; a second call with the same id changes nothing. */
export async function storeLead(db: Db, input: LeadInput, place: LeadPlace): Promise<void> {
  await db
    .insertInto('leads')
    .values({
      id: place.id,
      account_id: place.accountId,
      agent_id: place.agentId,
      conversation_id: place.conversationId,
      user_id: place.visitorId,
      name: input.name?.trim() || null,
      email: input.email?.toLowerCase() ?? null,
      phone: input.phone === undefined ? null : normalPhone(input.phone),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

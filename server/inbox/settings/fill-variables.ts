import { invalidField } from '../../platform/http/errors.ts'
import type { Member } from '../team/find-member.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'

type VariableSources = { ticket: TicketRow; author: Member; agent: { name: string } }

const VARIABLES: Record<string, (known: VariableSources) => string | null> = {
  'customer.name': ({ ticket }) => ticket.customer.name,
  'customer.email': ({ ticket }) => ticket.customer.email,
  'customer.phoneNumber': ({ ticket }) => ticket.customer.phoneNumber,
  'ticket.number': ({ ticket }) => String(ticket.number),
  'ticket.subject': ({ ticket }) => ticket.subject,
  'author.name': ({ author }) => author.name,
  'author.email': ({ author }) => author.email,
  'agent.name': ({ agent }) => agent.name,
}

/** The content is trimmed later: matching white space in the pattern would cause catastrophic backtracking. */
const SLOT = /\{\{([^{}]*)\}\}/g

/** Throws VALIDATION_INVALID_BODY for an unknown variable. */
export function refuseUnknownVariables(content: string, field = 'content'): void {
  for (const [, inside = ''] of content.matchAll(SLOT)) {
    const name = inside.trim()
    if (Object.hasOwn(VARIABLES, name)) continue
    throw invalidField(field, `{{${name}}} is not known. There are: ${Object.keys(VARIABLES).join(', ')}.`)
  }
}

/** Returns the text with its variables replaced once; a value that looks like a variable is not replaced again. */
export function fillVariables(
  content: string,
  known: VariableSources,
): { content: string; missing: string[] } {
  const missing = new Set<string>()
  const filled = content.replace(SLOT, (slot, inside: string) => {
    const name = inside.trim()
    if (!Object.hasOwn(VARIABLES, name)) return slot
    const value = VARIABLES[name]?.(known)?.replace(/\s+/g, ' ').trim()
    if (!value) missing.add(name)
    return value ?? ''
  })
  return { content: filled, missing: [...missing] }
}

import type { Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { StatusCategory } from '../../platform/db/tables/helpdesk.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { spanOf } from '../../platform/http/input/dates.ts'
import { refuseInvalid } from '../../platform/http/input/validate.ts'
import { requireMember } from '../team/find-member.ts'
import { defaultStatus } from './apply-ticket-change.ts'
import { OVER } from './ticket-queries.ts'

type TicketInput = {
  statusId?: string
  statusCategory?: StatusCategory
  assigneeId?: string | null
  assigneeEmail?: string
  teamId?: string | null
  wakesAt?: string | null
}

const YEAR_MS = 366 * 86_400_000

function problemOfWaking({ statusId, statusCategory, wakesAt }: TicketInput): string | null {
  if (!wakesAt) return null
  if (statusId !== undefined || (statusCategory ?? 'on_hold') !== 'on_hold')
    return 'A snoozed ticket is on hold. Leave the status out.'
  const ahead = spanOf(wakesAt).from.getTime() - Date.now()
  return ahead > 0 && ahead <= YEAR_MS ? null : 'Must be in the future, at most a year ahead.'
}

/** Throws for fields that exclude each other, and for a time at which no ticket can return. */
export function refuseInvalidChange(input: TicketInput): void {
  const { statusId, statusCategory, assigneeId, assigneeEmail } = input
  const wakesAt = problemOfWaking(input)
  refuseInvalid({
    ...(statusId !== undefined && statusCategory !== undefined
      ? { statusCategory: 'Send statusId or statusCategory, not both.' }
      : {}),
    ...(assigneeId !== undefined && assigneeEmail !== undefined
      ? { assigneeEmail: 'Send assigneeId or assigneeEmail, not both.' }
      : {}),
    ...(wakesAt ? { wakesAt } : {}),
  })
}

/** Returns undefined when no status was given. Throws TICKET_INVALID_STATUS when the agent does not have it. */
export async function statusOf(
  trx: Trx,
  ref: AgentRef,
  { statusId, statusCategory }: TicketInput,
): Promise<{ category: StatusCategory; id: string | null } | undefined> {
  if (statusCategory !== undefined) return defaultStatus(trx, ref, statusCategory)
  if (statusId === undefined) return undefined
  const found = isId(statusId)
    ? await trx
        .selectFrom('ticket_statuses')
        .select(['id', 'category'])
        .where(ofAgent(ref))
        .where('id', '=', statusId)
        .forKeyShare()
        .executeTakeFirst()
    : undefined
  if (!found) throw new ApiError('TICKET_INVALID_STATUS')
  return found
}

/**
 * Returns undefined when no assignee was given, and null for nobody. Throws TICKET_TEAM_MEMBER_NOT_FOUND when the
 * account has no such member.
 */
export async function assigneeOf(
  trx: Trx,
  { accountId }: AgentRef,
  { assigneeId, assigneeEmail }: TicketInput,
): Promise<string | null | undefined> {
  if (assigneeId === null) return null
  if (assigneeId === undefined && assigneeEmail === undefined) return undefined
  const named = {
    ...(assigneeId === undefined ? {} : { memberId: assigneeId }),
    ...(assigneeEmail === undefined ? {} : { memberEmail: assigneeEmail }),
  }
  return (await requireMember(trx, accountId, named, 'TICKET_TEAM_MEMBER_NOT_FOUND')).id
}

/** Throws TICKET_TEAM_NOT_FOUND when the agent has no such team. */
export async function teamOf(
  trx: Trx,
  ref: AgentRef,
  { teamId }: TicketInput,
): Promise<string | null | undefined> {
  if (teamId === null || teamId === undefined) return teamId
  const found = isId(teamId)
    ? await trx
        .selectFrom('teams')
        .select('id')
        .where(ofAgent(ref))
        .where('id', '=', teamId)
        .forKeyShare()
        .executeTakeFirst()
    : undefined
  if (!found) throw new ApiError('TICKET_TEAM_NOT_FOUND')
  return found.id
}

/** Throws when the conversation has another open ticket. */
export async function refuseSecondOpen(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
  except: string | null,
): Promise<void> {
  const other = await trx
    .selectFrom('tickets')
    .select(['id', 'number'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status_category', 'not in', [...OVER])
    .executeTakeFirst()
  if (!other || other.id === except) return
  throw new ApiError('RESOURCE_DUPLICATE', {
    message: `The conversation already has an open ticket: number ${other.number}.`,
  })
}

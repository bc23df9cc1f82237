import type { OutputOf } from '../app/api.ts'

export const HELD_MAILS = '/agents/{agentId}/helpdesk/held-mails'

/** A new mail or a forward that is about to be sent. */
export type HeldMail = OutputOf<'GET', typeof HELD_MAILS>[number]

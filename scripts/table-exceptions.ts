/** Accesses that `scripts/check-tables.ts` would refuse, with the reason why each is there. */

const UPWARD =
  'It reaches upward: the caller has to pass in what the higher feature knows or does (server/reactions.ts).'
const ONE_STATEMENT =
  'One statement finds the rows by tables of a higher layer and changes them, so that it stays one trip and one lock.'
const WHOLE_PERSON = 'Everything of one person is given to another contact, in every feature.'

/** The check also fails for an entry that is no longer needed. */
export const TABLE_EXCEPTIONS: Record<string, string> = {
  'server/accounts/plans/usage.ts reads agents': UPWARD,
  'server/actions/procedures/procedure-runs.ts reads conversations': UPWARD,
  'server/agents/records/queries.ts reads conversations': UPWARD,
  'server/agents/records/queries.ts reads sources': UPWARD,
  'server/conversations/turn/deliver-answer.ts reads inbound_messages': UPWARD,
  'server/deliveries/enqueue-delivery.ts reads channel_threads': UPWARD,
  'server/channels/replies/answer-forgotten.ts writes conversations': ONE_STATEMENT,
  'server/channels/replies/end-idle.ts writes conversations': ONE_STATEMENT,
  'server/helpdesk/tickets/route-ticket.ts writes members': ONE_STATEMENT,
  'server/insights/analysis/claim-conversations.ts writes conversations': ONE_STATEMENT,
  'server/insights/analysis/store-analysis.ts writes conversations': ONE_STATEMENT,
  'server/insights/days/fold-queue.ts writes conversations': ONE_STATEMENT,
  'server/knowledge/training/resync/claim-resyncs.ts writes agents': ONE_STATEMENT,
  'server/knowledge/training/resync/plan-resyncs.ts writes agents': ONE_STATEMENT,
  'server/notifications/daily-mails.ts writes agents': ONE_STATEMENT,
  'server/people/merge-contacts.ts writes channel_threads': WHOLE_PERSON,
  'server/people/merge-contacts.ts writes contacts': WHOLE_PERSON,
  'server/people/merge-contacts.ts writes conversations': WHOLE_PERSON,
  'server/people/merge-contacts.ts writes tickets': WHOLE_PERSON,
  'server/widget/identity/identify-visitor.ts writes contacts': WHOLE_PERSON,
  'server/widget/identity/identify-visitor.ts writes conversations': WHOLE_PERSON,
  'server/widget/identity/identify-visitor.ts writes leads': WHOLE_PERSON,
  'server/widget/identity/identify-visitor.ts writes tickets': WHOLE_PERSON,
}

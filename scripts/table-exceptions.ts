/** Accesses that `scripts/check-tables.ts` would refuse, with the reason why each is there. */

const LISTED =
  'A list of agents shows figures of their sources and conversations. One statement reads a page of them with its figures; asking each feature would take a trip for each, and the figures could not be those of one moment.'
const NAMED =
  'The figures of use are a page of the account, and name the agents. No decision depends on the name.'
const LOCKED =
  'A run of a procedure starts under the lock of its conversation, as a takeover does that abandons it; and it is idle when its conversation is.'
const THREAD =
  'A thread is where a delivery goes. Channels write threads by rules of their own, and the help desk has to know them, too.'
const ONE_STATEMENT =
  'One statement finds the rows by tables of a higher layer and changes them, so that it stays one trip and one lock.'
const ASKED_LAST =
  'After an upgrade, agents are indexed in the order in which somebody may be waiting for them. Nothing else depends on it.'
const WHOLE_PERSON = 'Everything of one person is given to another contact, in every feature.'
const DELETED =
  'What a person deletes on a channel leaves the search and the list of questions in the transaction that removes it.'
const LIMITED =
  'A member may be limited to agents. Whether these are the account’s is checked where the member is changed.'

/**
 * Those of reads reach upward, each for the reason given. Whatever else a lower feature has to know is passed in
 * (server/reactions.ts). The check also fails for an entry that is no longer needed.
 */
export const TABLE_EXCEPTIONS: Record<string, string> = {
  'server/people/contacts/merge-contacts.ts reads channel_threads': WHOLE_PERSON,
  'server/accounts/members/account-members.ts reads agents': LIMITED,
  'server/accounts/plans/usage.ts reads agents': NAMED,
  'server/accounts/plans/embedding-usage.ts reads agents': NAMED,
  'server/accounts/plans/model-usage.ts reads agents': NAMED,
  'server/actions/procedures/procedure-runs.ts reads conversations': LOCKED,
  'server/agents/records/queries.ts reads conversations': LISTED,
  'server/agents/records/queries.ts reads sources': LISTED,
  'server/knowledge/search/index-words.ts reads conversations': ASKED_LAST,
  'server/inbox/deliveries/enqueue-delivery.ts reads channel_threads': THREAD,
  'server/channels/replies/answer-forgotten.ts writes conversations': ONE_STATEMENT,
  'server/channels/replies/end-idle.ts writes conversations': ONE_STATEMENT,
  'server/inbox/tickets/route-ticket.ts writes members': ONE_STATEMENT,
  'server/knowledge/training/resync/claim-resyncs.ts writes agents': ONE_STATEMENT,
  'server/knowledge/training/resync/plan-resyncs.ts writes agents': ONE_STATEMENT,
  'server/channels/notifications/daily-mails.ts writes agents': ONE_STATEMENT,
  'server/conversations/records/change-message.ts writes conversation_search': DELETED,
  'server/conversations/records/change-message.ts writes unanswered_questions': DELETED,
  'server/people/contacts/merge-contacts.ts writes channel_threads': WHOLE_PERSON,
  'server/people/identities/join-contacts.ts reads channel_threads': WHOLE_PERSON,
  'server/people/identities/join-contacts.ts writes channel_threads': WHOLE_PERSON,
  'server/people/identities/join-contacts.ts writes contacts': WHOLE_PERSON,
  'server/people/identities/join-contacts.ts writes conversations': WHOLE_PERSON,
  'server/people/identities/join-contacts.ts writes tickets': WHOLE_PERSON,
  'server/people/identities/identify.ts writes contacts': WHOLE_PERSON,
  'server/people/contacts/merge-contacts.ts writes contacts': WHOLE_PERSON,
  'server/people/contacts/merge-contacts.ts writes conversations': WHOLE_PERSON,
  'server/people/contacts/merge-contacts.ts writes tickets': WHOLE_PERSON,
  'server/channels/widget/identity/identify-visitor.ts writes contacts': WHOLE_PERSON,
  'server/channels/widget/identity/identify-visitor.ts writes conversations': WHOLE_PERSON,
  'server/channels/widget/identity/identify-visitor.ts writes leads': WHOLE_PERSON,
  'server/channels/widget/identity/identify-visitor.ts writes tickets': WHOLE_PERSON,
}

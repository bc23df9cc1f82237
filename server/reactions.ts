import { copyActions } from './actions/definitions/copy-actions.ts'
import type { AgentReactions } from './agents/records/agent-reactions.ts'
import type { Models } from './ai/models.ts'
import { withdrawLater } from './channels/email/connection/withdraw-later.ts'
import { deliverAnswer } from './channels/outbound/deliver-answer.ts'
import { dropReplies } from './conversations/records/drop-replies.ts'
import type { ConversationRow } from './conversations/records/queries.ts'
import type { DeliverAnswer } from './conversations/turn/end-turn.ts'
import { storeCustomerMessage } from './inbox/messages/store-customer-message.ts'
import { hoursOf } from './inbox/settings/settings.ts'
import { solvedTickets } from './inbox/solved-tickets/solved-tickets.ts'
import { onlineMembers } from './inbox/team/online-members.ts'
import { openTicket } from './inbox/tickets/open-ticket.ts'
import { hasTicket } from './inbox/tickets/ticket-queries.ts'
import { copySources } from './knowledge/sources/copy-sources.ts'
import { addLink } from './knowledge/sources/create-source.ts'
import type { Db, Trx } from './platform/db/database.ts'
import type { Notifier } from './platform/db/notifier.ts'
import type { Jobs } from './platform/jobs/jobs.ts'
import type { Secrets } from './platform/secrets/secrets.ts'

/**
 * Everything that a lower room makes a higher one do. Imports run downward, so the lower room is given a function from
 * this file, stores a row that the higher room works off, or has a trigger. There is no other way: nothing registers
 * itself, and nothing is added to a shared object later.
 *
 * Functions, by the event of the lower room. Each runs in the transaction of the event, if it is given one:
 * - agents/: an agent is created, cloned or deleted: `agentReactions`, which `features.ts` gives to the routes.
 * - knowledge/: tickets are learned from: `ticketsToLearn`.
 * - actions/: the action that escalates runs: `escalation`.
 * - conversations/: a customer has written, and a turn ends: `turnReactions`.
 * - ai/: texts were embedded: the meter of `accounts/plans/` counts their tokens, later and outside of any transaction.
 *
 * Rows that a higher room works off:
 * - agents/ enqueues the job `empty-agent` when an agent is deleted; people/privacy/ deletes everything of it.
 * - knowledge/ enqueues the job `ask-again` when an agent has learned something; conversations/insights/ asks what was unanswered.
 * - conversations/ and inbox/ enqueue deliveries; channels/ sends them.
 * - people/records/, conversations/ and inbox/ publish notices; inbox/live/ and channels/widget/ follow them.
 */

/** An agent is created, cloned or deleted. */
export const agentReactions = (ctx: {
  db: Db
  jobs: Jobs
  secrets: Secrets
  models: Models
  filesDir: string
}): AgentReactions => ({
  /** Created with an address: knowledge/ adds its first source, after the agent is stored, in the request's transaction. */
  async addLinkSource(db, account, agentId, url) {
    await addLink({ ...ctx, db }, account, agentId, { url })
  },
  /** Cloned: the copy gets sources, actions and procedures in the transaction that adds it. */
  copySources: copySources(ctx),
  copyActions: copyActions(ctx),
  /** Deleted: the running replies go in the transaction that deletes the agent's row. */
  dropReplies,
  /** Deleted: what a provider has permitted to its mailbox is withdrawn by a job. */
  withdrawLater: (trx, agent) => withdrawLater(ctx, trx, agent),
})

/** knowledge/ reads the tickets that it learns from, and excludes one whose source is deleted, in the same transaction. */
export const ticketsToLearn = solvedTickets

/** The action that escalates opens a ticket in a transaction of its own, and says who is there. */
export const escalation = (notifier: Notifier) => ({
  openTicket: (trx: Parameters<typeof openTicket>[1], wanted: Parameters<typeof openTicket>[2]) =>
    openTicket({ notifier }, trx, wanted),
  onlineMembers,
})

/** A turn begins and ends. Everything runs in the transaction that stores the question or the answer. */
export const turnReactions = (notifier: Notifier) => ({
  hasTicket,
  /** A model is told when the team answers. */
  hoursOf,
  /** A customer's message of a chat is also a message of the conversation's ticket. */
  async customerWrote(
    trx: Trx,
    conversation: ConversationRow,
    message: { messageId: string; text: string },
  ): Promise<void> {
    await storeCustomerMessage(trx, conversation, { ...message, attachments: [] })
    await notifier.publish(trx, 'helpdesk', conversation.agent_id)
  },
  /** An answer in a conversation of a channel is sent there, and people are asked about one without words. */
  deliverAnswer: (...answer: Parameters<DeliverAnswer>) => deliverAnswer({ notifier }, ...answer),
})

const SEARCH = 'conversations/search/: the queue of the index must hold every change, whoever makes it.'
const COUNTS = 'conversations/: totals of lists must be exact in every transaction.'
const FIGURES =
  'conversations/insights/: the figures of a day are made again after every change to the rows they count.'
const FORMER =
  'None any more: programs that do not set conversations.escalated themselves may still run during an upgrade. The release after this one drops it.'

/**
 * The triggers of the database, and the room that each of them serves. A trigger may maintain a counter or the
 * queue of an index, or fill in its own row. None may change the rows of another room. A test compares the list
 * with the database.
 */
export const triggers: Record<string, string> = {
  conversation_added: COUNTS,
  conversation_removed: COUNTS,
  conversation_moved: COUNTS,
  conversation_changed: SEARCH,
  messages_removed:
    'conversations/ and its search: a deletion, by whichever room, must not change the order of the other messages.',
  message_added: SEARCH,
  message_changed: SEARCH,
  tool_call_added: SEARCH,
  tool_call_changed: SEARCH,
  procedure_run_added: SEARCH,
  procedure_run_changed: SEARCH,
  ticket_added: SEARCH,
  ticket_changed: SEARCH,
  topic_changed: SEARCH,
  conversation_active: 'conversations/insights/: a conversation that goes on is analysed again.',
  insights_conversation_changed: FIGURES,
  insights_conversations_removed: FIGURES,
  insights_messages_removed: FIGURES,
  insights_message_rated: FIGURES,
  insights_credits_added: FIGURES,
  insights_credits_settled: FIGURES,
  insights_ticket_added: FIGURES,
  insights_ticket_moved: FIGURES,
  insights_topics_added: FIGURES,
  insights_topics_moved: FIGURES,
  insights_topics_removed: FIGURES,
  insights_questions_added: FIGURES,
  insights_questions_removed: FIGURES,
  insights_agents_removed: FIGURES,
  conversation_taken_over: FORMER,
  conversation_has_ticket: FORMER,
  playground_not_analysed:
    'conversations/insights/: a run of the playground is nobody’s conversation and is never analysed.',
  agent_added: 'agents/: the rows of other rooms refer to an id that stays until all of them are deleted.',
  accounts_removed:
    'accounts/: the ledger of a deleted account goes with it; its rows have no foreign key, so that a turn takes no lock on the account.',
}

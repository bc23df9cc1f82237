import { deliverAnswer } from './channels/outbound/deliver-answer.ts'
import type { ConversationRow } from './conversations/records/queries.ts'
import type { DeliverAnswer } from './conversations/turn/end-turn.ts'
import { storeCustomerMessage } from './inbox/messages/store-customer-message.ts'
import { onlineMembers } from './inbox/team/online-members.ts'
import { openTicket } from './inbox/tickets/open-ticket.ts'
import { hasTicket } from './inbox/tickets/ticket-queries.ts'
import type { Trx } from './platform/db/database.ts'
import type { Notifier } from './platform/db/notifier.ts'

/**
 * The list of all places where an event of a lower feature makes a higher one act in the same transaction. Imports run
 * downward, so the lower feature is given the reaction as a function, stores a row that the higher feature works off,
 * or has a trigger.
 *
 * Functions: those below, and the hooks that `features.ts` gives to `agents/`, with which a new agent gets its first
 * source, a clone gets sources, actions and procedures, and the running replies of a deleted agent end.
 * `knowledge/` reads solved tickets through the functions of `inbox/solved-tickets/`, which are members of the context.
 *
 * Rows that a higher feature works off:
 * - `agents/` enqueues the job `empty-agent` when an agent is deleted; `people/privacy/` deletes everything of it.
 * - `knowledge/` enqueues the job `ask-again` when an agent has learned something; `conversations/insights/` asks what was unanswered.
 * - `conversations/` and `inbox/` enqueue deliveries; `channels/` sends them.
 * - `people/records/`, `conversations/` and `inbox/` publish notices; `inbox/live/` and `widget/` follow them.
 */

/** A turn of a conversation tells the help desk. */
export const conversationReactions = (notifier: Notifier) => ({
  hasTicket,
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
  /** The action that escalates opens a ticket. */
  openTicket: (trx: Parameters<typeof openTicket>[1], wanted: Parameters<typeof openTicket>[2]) =>
    openTicket({ notifier }, trx, wanted),
  onlineMembers,
})

const SEARCH = 'search/: the queue of the index must hold every change, whoever makes it.'
const COUNTS = 'conversations/: totals of lists must be exact in every transaction.'
const FIGURES = 'insights/: the figures of a day are made again after every change to the rows they count.'

/** The triggers of the database, and the feature that each of them serves. A test compares them with the database. */
export const triggers: Record<string, string> = {
  conversation_added: COUNTS,
  conversation_removed: COUNTS,
  conversation_moved: COUNTS,
  conversation_changed: SEARCH,
  messages_removed:
    'search/ and conversations/: a deletion, by whichever feature, must not change the order of the other messages.',
  message_added: SEARCH,
  message_changed: SEARCH,
  tool_call_added: SEARCH,
  tool_call_changed: SEARCH,
  procedure_run_added: SEARCH,
  procedure_run_changed: SEARCH,
  ticket_added: SEARCH,
  ticket_changed: SEARCH,
  topic_changed: SEARCH,
  conversation_active: 'insights/: a conversation that goes on is analysed again.',
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
  conversation_taken_over:
    'helpdesk/: whether a conversation was ever escalated is a filter of lists, and must hold however it was.',
  conversation_has_ticket:
    'helpdesk/: whether a conversation was ever escalated is a filter of lists, and must hold however it was.',
  playground_not_analysed:
    'insights/: a run of the playground is nobody’s conversation and is never analysed.',
  agent_added: 'agents/: the rows of other features refer to an id that stays until all of them are deleted.',
  accounts_removed:
    'accounts/: the ledger of a deleted account goes with it; its rows have no foreign key, so that a turn takes no lock on the account.',
}

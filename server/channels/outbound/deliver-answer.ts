import { DEFAULT_AI_NOTICE } from '../../agents/records/defaults.ts'
import { requireAgent } from '../../agents/records/find-agent.ts'
import { CHANNEL_NAMES } from '../../agents/settings/channel-names.ts'
import { textOf } from '../../conversations/records/parts.ts'
import type { GenerationIds } from '../../conversations/stream/reading.ts'
import type { DeliverAnswer, StoredMessage } from '../../conversations/turn/end-turn.ts'
import {
  enqueueDelivery,
  hasNotice,
  type ThreadRow,
  threadOf,
} from '../../inbox/deliveries/enqueue-delivery.ts'
import { withoutMarkers } from '../../knowledge/search/answering/citations.ts'
import { linkHostsOf } from '../../knowledge/sources/link-hosts.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { Notifier } from '../../platform/db/notifier.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import {
  CUSTOMER_SENTENCES,
  type CustomerLanguage,
  isCustomerLanguage,
} from '../../platform/text/languages/customer-sentences.ts'
import { guessLanguage } from '../../platform/text/languages/language.ts'
import { hostOf } from '../../platform/text/safety/foreign-links.ts'
import { askPeople } from './ask-people.ts'
import { holdAnswer } from './hold-answer.ts'

const NO_ANSWER = 'The agent had no answer.'
const UNSEEN = 'The customer sent a picture that the agent cannot see.'
/** How many of the newest messages tell the customer's language. */
const MESSAGES_LOOKED_AT = 5

/**
 * Returns whether the reply belongs on a channel, and a function that sends it there and asks people about a reply
 * without words. A conversation of an application may have a thread as well, once its ticket was answered by mail;
 * there, only replies to messages of the thread are sent.
 */
export async function deliverAnswer(
  ctx: { notifier: Pick<Notifier, 'publish'> },
  trx: Trx,
  ref: AgentRef,
  ids: GenerationIds,
  { threadId, source }: { threadId: string | null; source: string },
): ReturnType<DeliverAnswer> {
  const thread = await answeredOn(trx, ref, ids, { threadId, source })
  return {
    isOnChannel: thread !== null,
    async deliver(message) {
      const { conversationId } = ids
      const { isSilent, isUnseen, outcome } = message.metadata
      if (message.held) {
        const tell = await holdAnswer(ctx, trx, ref, ids, message.held)
        if (thread) await send(trx, ref, ids, thread, message, true)
        return tell()
      }
      // A mail has no button with which the customer could ask for a person.
      const isOpen = outcome === 'not_found' && thread?.channel === 'email'
      const why = isUnseen ? UNSEEN : isSilent || isOpen ? NO_ANSWER : null
      const tell = why && (await askPeople(ctx, trx, ref, { conversationId, source }, why))
      if (thread) await send(trx, ref, ids, thread, message, tell !== null)
      await tell?.()
    },
  }
}

async function answeredOn(
  trx: Trx,
  { accountId }: AgentRef,
  { userMessageId }: GenerationIds,
  { threadId, source }: { threadId: string | null; source: string },
): Promise<ThreadRow | null> {
  const thread = await threadOf(trx, accountId, threadId)
  if (!thread) return null
  const isHeldThere = source === CHANNEL_NAMES[thread.channel].source
  return isHeldThere || (await cameIn(trx, accountId, userMessageId)) ? thread : null
}

async function send(
  trx: Trx,
  ref: AgentRef,
  { conversationId, messageId }: GenerationIds,
  { id: threadId, channel }: ThreadRow,
  message: StoredMessage,
  isTeamTold: boolean,
): Promise<void> {
  // Channels do not show sources, so the markers are removed.
  const said = withoutMarkers(textOf(message))
  if (said.trim() === '' && !message.metadata.isSilent) return
  const { aiNotice, noAnswer, teamTold, person } =
    CUSTOMER_SENTENCES[await languageOf(trx, ref, conversationId)]
  const inItsPlace = isTeamTold ? `${noAnswer} ${teamTold}` : noAnswer
  const { enabled, text: ownNotice, place } = (await requireAgent(trx, ref)).ai_notice ?? DEFAULT_AI_NOTICE
  const isFirst = enabled && !(await hasNotice(trx, ref.accountId, threadId))
  await enqueueDelivery(trx, {
    ...ref,
    channel,
    threadId,
    conversationId,
    ticketId: null,
    messageId,
    ticketMessageId: null,
    content: {
      text: message.metadata.isSilent ? inItsPlace : said,
      linkHosts: await leadsTo(trx, ref, message),
      ...(message.metadata.offer ? { offer: { answerId: messageId, title: person } } : {}),
      ...(isFirst ? { notice: { text: ownNotice ?? aiNotice, place } } : {}),
    },
  })
}

/** Returns the language of the customer's newest messages; English if it is unknown or has no sentences. */
async function languageOf(
  trx: Trx,
  { accountId }: AgentRef,
  conversationId: string,
): Promise<CustomerLanguage> {
  const messages = await trx
    .selectFrom('messages')
    .select('parts')
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('role', '=', 'user')
    .orderBy('seq', 'desc')
    .limit(MESSAGES_LOOKED_AT)
    .execute()
  const language = guessLanguage(messages.map(textOf).join('\n'))
  return isCustomerLanguage(language) ? language : 'en'
}

/** The hosts that an answer may link to: the owner's websites and those of its sources. */
async function leadsTo(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  message: StoredMessage,
): Promise<string[]> {
  const cited = (message.metadata.sources ?? []).flatMap(({ url }) => hostOf(url) ?? [])
  return [...new Set([...(await linkHostsOf(trx, { accountId, agentId })), ...cited])]
}

async function cameIn(trx: Trx, accountId: AgentRef['accountId'], messageId: string): Promise<boolean> {
  const inbound = await trx
    .selectFrom('inbound_messages')
    .select('id')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .executeTakeFirst()
  return inbound !== undefined
}

import { setTimeout as wait } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { AgentRow } from '../../agents/records/find-agent.ts'
import { requireContact } from '../../contacts/queries.ts'
import type { Context } from '../../context.ts'
import type { LiveGeneration } from '../../conversations/stream/live-generation.ts'
import { startChat } from '../../conversations/turn/start.ts'
import type { TranscriptMessage } from '../../conversations/turn/turn.ts'
import { askOf, type ChatRequest, chatAgentOf } from '../../conversations/turn/turn.ts'
import { isId } from '../../db/ids.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { ApiError } from '../../http/errors.ts'
import type { KeyedRequest } from '../../http/once/idempotency.ts'
import type { chat } from './contract.ts'

/** Version 1 knows no busy conversation: a message waits for the reply before it, so long. */
const MOST_WAIT_MS = 60_000
const LOOK_EVERY_MS = 200

type Body = Static<typeof chat.body>
type Account = { id: AccountId; plan: string }

/** The reply that a request asks for, to the last of its messages. */
export async function requestOf(
  ctx: Context,
  account: Account,
  agent: AgentRow,
  body: Body,
  idempotency: KeyedRequest | null,
): Promise<ChatRequest> {
  const { messages, contactId, model, temperature } = body
  const owner = { accountId: account.id, agentId: agent.id }
  const contact = contactId === undefined ? null : await requireContact(ctx.db, owner, contactId)
  const asked = chatAgentOf(agent)
  return {
    account,
    agent: { ...asked, model: model ?? asked.model, temp: temperature ?? asked.temp },
    source: 'API',
    channel: 'api',
    ask: askOf(messages.at(-1)?.content),
    contactId: contact?.id,
    userId: contact && isUserId(contact.external_id) ? contact.external_id : undefined,
    runsClientActions: false,
    idempotency,
  }
}

/** Starts it; `isGone` says that nobody waits for it any more. */
export async function startReply(
  ctx: Context,
  { messages, conversationId }: Body,
  request: ChatRequest,
  isGone: () => boolean,
): Promise<LiveGeneration> {
  const history = saidBefore(messages)
  if (conversationId === undefined) return startChat(ctx, { ...request, history, transient: true })
  // A lone message leaves it to the service to remember what was said.
  const named = messages.length === 1 ? request : { ...request, history }
  return startInConversation(ctx, named, conversationId, isGone)
}

/** What version 2 takes as a user id: then its list of the user's conversations has this one. */
const isUserId = (externalId: string): boolean => /^[a-zA-Z0-9._-]{1,128}$/.test(externalId)

/** Greetings are left out: models refuse a history that begins with an answer. */
function saidBefore(messages: Body['messages']): TranscriptMessage[] {
  const first = messages.findIndex(({ role }) => role === 'user')
  return messages
    .slice(first, -1)
    .map(({ role, content }) => ({ role, parts: [{ type: 'text', text: content }] }))
}

async function startInConversation(
  ctx: Context,
  request: ChatRequest,
  name: string,
  isGone: () => boolean,
): Promise<LiveGeneration> {
  const deadline = Date.now() + MOST_WAIT_MS
  for (;;) {
    const conversationId = await findConversation(ctx, request, name)
    const place = conversationId === null ? { externalId: name } : { conversationId }
    try {
      return await startChat(ctx, { ...request, ...place })
    } catch (error) {
      if (wasJustCreated(error)) continue
      const isBusy = error instanceof ApiError && error.code === 'CHAT_CONVERSATION_BUSY'
      if (!isBusy || isGone() || Date.now() > deadline) throw error
      const running = ctx.generations.ofConversation(conversationId ?? '')
      await (running ? Promise.race([running.ending, wait(LOOK_EVERY_MS)]) : wait(LOOK_EVERY_MS))
    }
  }
}

const wasJustCreated = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint === 'conversations_external_id'

/** By the caller's own name, or by the id that get-conversations shows for one without. */
async function findConversation(
  { db }: Context,
  { account, agent }: ChatRequest,
  name: string,
): Promise<string | null> {
  const conversations = db
    .selectFrom('conversations')
    .select('id')
    .where('account_id', '=', account.id)
    .where('agent_id', '=', agent.id)
    .where('transient', '=', false)
  const named = await conversations.where('external_id', '=', name).executeTakeFirst()
  if (named || !isId(name)) return named?.id ?? null
  return (await conversations.where('id', '=', name).executeTakeFirst())?.id ?? null
}

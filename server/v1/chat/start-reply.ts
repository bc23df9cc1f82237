import { setTimeout as wait } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import type { TranscriptMessage } from '../../conversations/records/queries.ts'
import type { LiveGeneration } from '../../conversations/stream/reading.ts'
import { askOf, chatAgentOf, startChat } from '../../conversations/turn/start.ts'
import type { ChatRequest, TurnNeeds } from '../../conversations/turn/turn.ts'
import { requireContact } from '../../people/records/queries.ts'
import { violates } from '../../platform/db/connections/database-errors.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { KeyedRequest } from '../../platform/http/idempotency/idempotency.ts'
import type { chat } from './contract.ts'

/** How long a message waits for the reply before it, because version 1 has no error for a busy conversation. */
const MAX_WAIT_MS = 60_000
const LOOK_EVERY_MS = 200

type Body = Static<typeof chat.body>
type Account = { id: AccountId; plan: string }

/** Returns the requested reply, which answers the last message. */
export async function requestOf(
  ctx: Pick<Context, 'db'>,
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

/** Starts the reply; `isGone` tells whether the client has disconnected. */
export async function startReply(
  ctx: TurnNeeds,
  { messages, conversationId }: Body,
  request: ChatRequest,
  isGone: () => boolean,
): Promise<LiveGeneration> {
  const history = saidBefore(messages)
  if (conversationId === undefined) return startChat(ctx, { ...request, history, transient: true })
  // With a single message, the service uses the stored history.
  const named = messages.length === 1 ? request : { ...request, history }
  return startInConversation(ctx, named, conversationId, isGone)
}

/** Only ids that version 2 accepts as user ids, so that its list of the user's conversations includes this one. */
const isUserId = (externalId: string): boolean => /^[a-zA-Z0-9._-]{1,128}$/.test(externalId)

/** Greetings are left out, because models reject a history that begins with an answer. */
function saidBefore(messages: Body['messages']): TranscriptMessage[] {
  const first = messages.findIndex(({ role }) => role === 'user')
  return messages
    .slice(first, -1)
    .map(({ role, content }) => ({ role, parts: [{ type: 'text', text: content }] }))
}

async function startInConversation(
  ctx: TurnNeeds,
  request: ChatRequest,
  name: string,
  isGone: () => boolean,
): Promise<LiveGeneration> {
  const deadline = performance.now() + MAX_WAIT_MS
  for (;;) {
    const conversationId = await findConversation(ctx, request, name)
    const place = conversationId === null ? { externalId: name } : { conversationId }
    try {
      return await startChat(ctx, { ...request, ...place })
    } catch (error) {
      if (wasJustCreated(error)) continue
      const isBusy = error instanceof ApiError && error.code === 'CHAT_CONVERSATION_BUSY'
      if (!isBusy || isGone() || performance.now() > deadline) throw error
      const running = ctx.generations.ofConversation(conversationId ?? '')
      await (running ? Promise.race([running.ending, wait(LOOK_EVERY_MS)]) : wait(LOOK_EVERY_MS))
    }
  }
}

const wasJustCreated = (error: unknown): boolean => violates(error, 'conversations_external_id')

/** Finds the conversation by the caller's own name, or by the id that get-conversations shows for one without. */
async function findConversation(
  { db }: Pick<Context, 'db'>,
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

import type { Static } from 'typebox'
import { requireAgent } from '../../agents/records/find-agent.ts'
import { withModels } from '../../agents/settings/with-models.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type AgentRef, type ConversationRef, ofAgent } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AgentSnapshot } from '../../platform/db/tables/agents.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { RateWindow } from '../../platform/http/limits/rate-limit.ts'
import { requireRow } from '../../platform/http/require-row.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { countRequest } from '../../platform/http/server/gate.ts'
import { recordAnswer } from '../explanations/record-answer.ts'
import { PLAYGROUND, requireConversation } from '../records/queries.ts'
import { sendReply } from '../stream/send-stream.ts'
import { askOf, chatAgentOf, readAgain, startChat } from '../turn/start.ts'
import type { TurnNeeds } from '../turn/turn.ts'
import * as contract from './contract.ts'
import { versionToAnswer } from './drafts/drafts.ts'
import type { MadeOf } from './schema.ts'

/** The rate limit for an account's runs, which cost no credits. */
const RUNS: RateWindow = { limit: 300, windowMs: 3_600_000 }

export const playgroundRoutes = (ctx: TurnNeeds & Pick<Context, 'followers' | 'limiter'>): Route[] => [
  route(
    withModels(contract.runPlayground, ctx.models.ids()),
    { idempotencyMode: 'manual' },
    async ({ ref, agent: row, caller: { account }, body, reply, idempotency, replay }) => {
      const { message, conversationId, contactId, channel = 'chat_widget', version = 'live', stream } = body
      const own = chatAgentOf(row, version === 'live' ? null : await draftToAnswer(ctx.db, ref))
      const agent = {
        ...own,
        instructions: body.instructions ?? own.instructions,
        model: body.model ?? own.model,
        temp: body.temp ?? own.temp,
        creditLimit: null,
      }
      if (conversationId !== undefined) await requireTried(ctx, { ...ref, conversationId })
      const contact = contactId === undefined ? null : await requireContact(ctx, ref, contactId)
      if (!replay) await countRequest(reply, ctx.limiter, `playground of ${account.id}`, RUNS)
      const request = {
        account,
        agent,
        source: PLAYGROUND,
        channel,
        ask: askOf(message),
        acceptsOffer: body.acceptsOffer === true,
        trial: recordAnswer({ channel, temp: agent.temp, version }, 'always'),
        idempotency,
        ...(contact && { contactId: contact.id, userId: contact.external_id }),
      }
      const reading = replay
        ? await readAgain(ctx, replay, request)
        : await startChat(ctx, {
            ...request,
            ...(conversationId !== undefined && { conversationId }),
          })
      return sendReply(reply, reading, { stream, includeServerActions: true })
    },
  ),

  route(contract.readPlaygroundRun, async ({ caller: { account }, params: { agentId, messageId } }) => {
    const row = isId(messageId)
      ? await ctx.db
          .selectFrom('playground_runs')
          .select('made_of')
          .where('account_id', '=', account.id)
          .where('agent_id', '=', agentId)
          .where('message_id', '=', messageId)
          .executeTakeFirst()
      : undefined
    if (!row) throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND')
    return { data: row.made_of as Static<typeof MadeOf> }
  }),
]

const draftToAnswer = (db: Db, ref: AgentRef): Promise<AgentSnapshot> =>
  transact(db, async (trx) => {
    await requireAgent(trx, ref, 'share')
    return versionToAnswer(trx, ref, 'draft')
  })

/**
 * Throws unless the conversation belongs to the playground: a customer's conversation must not be continued without
 * paying for it.
 */
async function requireTried({ db }: Pick<Context, 'db'>, ref: ConversationRef): Promise<void> {
  const { source } = await requireConversation(db, ref)
  if (source === PLAYGROUND) return
  throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The conversation does not exist.' })
}

async function requireContact(
  { db }: Pick<Context, 'db'>,
  ref: AgentRef,
  id: string,
): Promise<{ id: string; external_id: string }> {
  return requireRow(
    db.selectFrom('contacts').select(['id', 'external_id']).where(ofAgent(ref)),
    id,
    'The contact does not exist.',
  )
}

import type { Static } from 'typebox'
import { createAgent } from '../../agents/records/create-agent.ts'
import { deleteAgent } from '../../agents/records/delete-agent.ts'
import { requireAgent } from '../../agents/records/find-agent.ts'
import { listFullAgents } from '../../agents/records/queries.ts'
import { type AgentChange, updateAgent } from '../../agents/records/update-agent.ts'
import type { StylesChange } from '../../agents/settings/styles-schema.ts'
import { updateStyles } from '../../agents/settings/update-styles.ts'
import { withModels } from '../../agents/settings/with-models.ts'
import { withdrawLater } from '../../channels/email/connection/withdraw-later.ts'
import type { Context } from '../../context.ts'
import { dropReplies } from '../../conversations/records/drop-replies.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { presentChatbot } from '../present.ts'
import * as contract from './contract.ts'
import { setSourceText } from './source-text.ts'

/** More than any account has; lists of version 1 have no pages. */
const MAX_CHATBOTS = 10_000

export const chatbotRoutes = (ctx: Pick<Context, 'db' | 'filesDir' | 'jobs' | 'models'>): Route[] => [
  route(contract.createChatbot, async ({ db, caller, body: { chatbotName, sourceText } }) => {
    const { actor } = caller
    // One transaction, so that a failure leaves no chatbot behind.
    return transact(db, async (trx) => {
      const chatbotId = await createAgent(trx, caller.account, actor, { name: chatbotName })
      if (sourceText !== undefined)
        await setSourceText({ ...ctx, db: trx }, caller.account, chatbotId, sourceText)
      return { chatbotId }
    })
  }),

  route(contract.listChatbots, async ({ caller: { account } }) => {
    const { rows } = await listFullAgents(ctx.db, account.id, { limit: MAX_CHATBOTS, position: null })
    return { chatbots: rows.map(presentChatbot) }
  }),

  route(contract.deleteChatbot, async ({ caller, query }) => {
    await deleteAgent(
      { ...ctx, dropReplies, withdrawLater: (trx, agent) => withdrawLater(ctx, trx, agent) },
      { accountId: caller.account.id, agentId: query.chatbotId },
      caller.actor,
    )
    return { message: 'Chatbot deleted successfully' }
  }),

  route(contract.updateChatbotData, async ({ db, caller: { account, actor }, body }) => {
    const { chatbotId, chatbotName, sourceText } = body
    await requireAgent(db, { accountId: account.id, agentId: chatbotId })
    if (sourceText !== undefined) await setSourceText({ ...ctx, db }, account, chatbotId, sourceText)
    await updateAgent(db, { accountId: account.id, agentId: chatbotId }, { name: chatbotName }, actor)
    return { chatbotId }
  }),

  route(
    withModels(contract.updateChatbotSettings, ctx.models.ids()),
    async ({ db, caller: { account, actor }, body }) => {
      await updateAgent(db, { accountId: account.id, agentId: body.chatbotId }, settingsOf(body), actor)
      if (body.styles !== undefined)
        await updateStyles(db, { accountId: account.id, agentId: body.chatbotId }, stylesOf(body.styles))
      return { chatbotId: body.chatbotId, message: 'Chatbot settings updated successfully' }
    },
  ),
]

type Settings = Static<typeof contract.updateChatbotSettings.body>

function settingsOf(body: Settings): AgentChange {
  const { name, instructions, initialMessages, visibility, model, temp } = body
  const { suggestedMessages, domains, ipLimit, ipLimitTimeframe, ipLimitMessage } = body
  const limits = Object.fromEntries(
    Object.entries({ limit: ipLimit, timeframe: ipLimitTimeframe, message: ipLimitMessage }).filter(
      ([, value]) => value !== undefined,
    ),
  )
  return {
    name,
    instructions,
    initialMessages,
    visibility,
    model,
    temp,
    allowedDomains: domains,
    suggestedMessages: suggestedMessages?.map((suggestion, order) =>
      typeof suggestion === 'string' ? { type: 'single' as const, text: suggestion, order } : suggestion,
    ),
    ipRateLimits: Object.keys(limits).length > 0 ? limits : undefined,
  }
}

function stylesOf(styles: Record<string, unknown> | null): Static<typeof StylesChange> {
  const isOfBoth = styles !== null && ('chat' in styles || 'centerStage' in styles)
  return isOfBoth ? styles : { chat: styles }
}

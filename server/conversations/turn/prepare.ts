import type { Toolkit } from '../../actions/tools/tool.ts'
import { withoutCustomers } from '../../actions/tools/without-customers.ts'
import type { Handover } from '../../models/builtin/hand-over.ts'
import { languageOfRequest, offersPerson } from '../../text/people/asks-for-person.ts'
import { textOf } from '../records/parts.ts'
import { summariseParent } from './parent-conversation.ts'
import { buildPrompt, type TranscriptMessage } from './prompt.ts'
import { retrieve } from './retrieve.ts'
import type { ChatRequest, Prepared, Turn, TurnNeeds } from './turn.ts'

/** Searches for the passages of the reply, and prepares its tools and its prompt. */
export async function prepare(ctx: TurnNeeds, turn: Turn, signal: AbortSignal): Promise<Prepared> {
  const { request, started, owner, question, model } = turn
  const { agent } = request
  const { ids, transcript, isFirst, parent } = started
  const place = { accountId: owner.accountId, conversationId: ids.conversationId }
  const knowledge = {
    id: agent.id,
    accountId: owner.accountId,
    knowledgeVersion: agent.knowledgeVersion,
  }
  const [found, toolkit, parentSummary] = await Promise.all([
    retrieve(ctx, knowledge, { model, question, transcript, signal }),
    toolkitOf(ctx, request, ids.conversationId),
    parent && isFirst && model.entry.provider !== 'builtin'
      ? summariseParent(ctx, model, place, parent, signal)
      : (parent?.summary ?? null),
  ])
  request.trial?.noteFound(found)
  const prompt = buildPrompt({
    instructions: agent.instructions,
    channelInstructions: instructionsFor(request),
    parentSummary,
    procedures: toolkit.procedures,
    hasTools: toolkit.tools.length > 0,
    passages: found.passages,
    transcript,
    contextTokens: model.entry.contextTokens,
  })
  const escalate = toolkit.tools.find(({ type }) => type === 'escalate')
  const handover = escalate ? handoverAsked(transcript, escalate.name) : null
  return { found, toolkit, prompt, handover, mayOffer: escalate !== undefined }
}

async function toolkitOf(
  { toolkits }: TurnNeeds,
  { account, agent, channel, runsClientActions = true, trial }: ChatRequest,
  conversationId: string,
): Promise<Toolkit> {
  const who = { accountId: account.id, agentId: agent.id, toolsVersion: agent.toolsVersion }
  const toolkit = await toolkits.forAgent(who, channel, conversationId)
  if (trial) return { ...toolkit, tools: toolkit.tools.map(withoutCustomers) }
  return runsClientActions ? toolkit : { ...toolkit, tools: toolkit.tools.filter(({ run }) => run !== null) }
}

function instructionsFor({ agent, channel, isSpoken = false }: ChatRequest): string | null {
  const own = agent.channelInstructions?.[channel]
  if (typeof own === 'string') return own
  const { chat = null, voice = null } = (own ?? {}) as { chat?: string; voice?: string }
  return isSpoken ? (voice ?? chat) : chat
}

const LONGEST_SUBJECT = 120
const MOST_MESSAGES = 5

/** The call of the action that escalates, when the newest message asks for a person; null when it does not. */
function handoverAsked(transcript: readonly TranscriptMessage[], tool: string): Handover | null {
  const asked = transcript.findLastIndex(({ role }) => role === 'user')
  const message = transcript[asked]
  if (!message) return null
  const before = transcript.slice(0, asked).findLast(({ role }) => role === 'assistant')
  const offered = before !== undefined && offersPerson(textOf(before))
  const language = languageOfRequest(textOf(message), { offered })
  if (language === null) return null
  const written = transcript.filter(({ role }) => role === 'user').map((said) => textOf(said).trim())
  // What it is about was mostly said before the person was asked for.
  const about = written.at(-2) ?? written.at(-1) ?? ''
  const subject =
    about.replace(/\s+/g, ' ').slice(0, LONGEST_SUBJECT).toWellFormed() || 'A person was asked for'
  const summary = `A person was asked for. The last messages:\n${written
    .slice(-MOST_MESSAGES)
    .map((text) => `> ${text.slice(0, 1_000).toWellFormed()}`)
    .join('\n')}`
  return { tool, input: { subject, summary }, language }
}

import { type RawBuilder, type Selectable, sql } from 'kysely'
import { exhaustedIn, isBudgetUsedUp, limitsOf, reserving } from '../../accounts/plans/credits.ts'
import { type AgentRow, guardrailsOf } from '../../agents/records/find-agent.ts'
import type { ResolvedModel } from '../../ai/calls/model-call.ts'
import type { Context } from '../../context.ts'
import type { StoredSource } from '../../knowledge/search/answering/citations.ts'
import { askedIn, type FixedSource, fixedSource } from '../../knowledge/search/answering/retrieve.ts'
import { violates } from '../../platform/db/connections/database-errors.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AgentSnapshot } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { GenerationsTable } from '../../platform/db/tables/conversations.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { KeyTaken, rebindKey, takeKey } from '../../platform/http/idempotency/idempotency.ts'
import type { Replay } from '../../platform/http/route.ts'
import { withoutPaymentNumbers } from '../../platform/text/safety/payment-numbers.ts'
import { recordAnswer, type Trial } from '../explanations/record-answer.ts'
import { fittingFrom, historyRoom } from '../prompt/build-prompt.ts'
import { askedText, talkOf } from '../prompt/prepare.ts'
import { improveTitle, summariseHistory } from '../prompt/titles-and-summaries.ts'
import { metadataOf } from '../records/present.ts'
import {
  type ConversationRow,
  noLonger,
  notOngoing,
  type Parent,
  readParent,
  requireConversation,
  type TranscriptMessage,
  titleFromWords,
} from '../records/queries.ts'
import { readLog } from '../stream/generation-log.ts'
import { EVENTS_PER_GENERATION, type LiveGeneration, type Reading } from '../stream/reading.ts'
import { chooseModel, noting, standInsFor } from './ask-model.ts'
import {
  findRetry,
  type Known,
  knownSurroundings,
  leftOutUntil,
  newPlace,
  type Place,
  type Plan,
  placeOf,
  planTurn,
  surroundingsOf,
} from './plan-turn.ts'
import { runTurn } from './run-steps.ts'
import type { Ask, ChatAgent, ChatRequest, StartedTurn, StartRequest, Turn, TurnNeeds } from './turn.ts'

/** The ask of a request whose message is optional. */
export const askOf = (message: string | undefined): Ask =>
  message === undefined ? { kind: 'continue' } : { kind: 'message', text: message }

/** Returns the live agent, or a version of it. */
export const chatAgentOf = (row: AgentRow, version: AgentSnapshot | null = null): ChatAgent => ({
  id: row.id,
  name: row.name,
  instructions: version?.instructions ?? row.instructions,
  channelInstructions: version ? version.channelInstructions : row.channel_instructions,
  model: version?.model ?? row.model,
  temp: version?.temp ?? row.temp,
  ...(version && { version }),
  creditLimit: row.credit_limit,
  knowledgeVersion: row.knowledge_version,
  toolsVersion: row.tools_version,
  keepsPrompts: row.prompt_days !== null,
  redactsPayments: row.redacts_payments,
  guardrails: guardrailsOf(row),
})

/** Stores the message and starts the reply; the generation then runs by itself, with or without a reader. */
export async function startChat(ctx: TurnNeeds, request: ChatRequest): Promise<LiveGeneration> {
  const { account, agent, transient = false } = request
  const model = chooseModel(ctx, request)
  const { id, credits } = model.entry
  const place = ctx.generations.reserve(account.id)
  const stored = await startTurn(ctx, {
    ...request,
    model: { id, credits: request.trial ? 0 : credits, costsMoney: model.entry.provider !== 'builtin' },
  }).catch((error: unknown) => {
    place.leave()
    throw error
  })
  const started = agent.redactsPayments ? withoutPayments(stored) : stored
  const live = place.run(started.ids, { transient })
  const turn: Turn = {
    request,
    started,
    owner: { accountId: account.id, agentId: agent.id },
    question: askedText(started.transcript),
    record: request.trial ?? recordOf(request, model),
    model: noting(model, live),
    standIns: standInsFor(ctx, request, model),
  }
  runTurn(ctx, turn, live)
    // A model that has just failed is not asked for a title.
    .then((hasFailed) =>
      hasFailed ? undefined : giveTitle(ctx, turn, live).then(() => summarise(ctx, turn)),
    )
    .catch((error: unknown) => ctx.log.error({ err: error }, 'a generation failed with an unexpected error'))
  return live
}

/** Takes the numbers of cards and accounts out of what a model will read of the conversation. */
function withoutPayments(started: StartedTurn): StartedTurn {
  const redacted = <T extends TranscriptMessage>(said: T): T => ({
    ...said,
    parts: said.parts.map((part) =>
      part.type === 'text' ? { ...part, text: withoutPaymentNumbers(part.text) } : part,
    ),
  })
  const { transcript, parent, surroundings } = started
  const { customer } = surroundings
  const attributes = Object.entries(customer.attributes).map(([name, value]) => [
    name,
    typeof value === 'string' ? withoutPaymentNumbers(value) : value,
  ])
  return {
    ...started,
    surroundings: {
      ...surroundings,
      customer: { ...customer, attributes: Object.fromEntries(attributes) },
    },
    transcript: transcript.map(redacted),
    parent: parent && {
      ...parent,
      summary: withoutPaymentNumbers(parent.summary),
      messages: parent.messages.map(redacted),
    },
  }
}

const recordOf = ({ agent, channel }: ChatRequest, { entry }: ResolvedModel): Trial | null =>
  entry.provider === 'builtin'
    ? null
    : recordAnswer({ channel, temp: agent.temp }, agent.keepsPrompts ? 'for-days' : 'never')

/** Summarises what the next turns leave out of their history; see `leftOutUntil`. */
async function summarise(ctx: TurnNeeds, { request, started, model, owner }: Turn): Promise<void> {
  const { summarised, transcript, ids } = started
  if (!summarised || request.transient || request.trial || model.entry.provider === 'builtin') return
  const { until, lastSeq } = summarised
  const from = fittingFrom(transcript, historyRoom(model.entry, transcript))
  const next = Math.max(leftOutUntil(lastSeq, { summarised_seq: until }), transcript[from - 1]?.seq ?? 0)
  if (next > until)
    await summariseHistory(ctx, model, { ...owner, conversationId: ids.conversationId }, summarised, next)
}

async function giveTitle(ctx: TurnNeeds, turn: Turn, live: LiveGeneration): Promise<void> {
  const { request, started, model, owner, question } = turn
  if (started.isFirst && !request.transient && !request.trial && model.entry.provider !== 'builtin')
    await improveTitle(ctx, model, owner, live, question)
}

type Deps = Pick<TurnNeeds, 'db' | 'process' | 'orphans' | 'hasTicket' | 'customerWrote' | 'hoursOf'>

/**
 * Stores the user message and the running generation in one transaction and reserves the credits. From then on, nothing
 * is lost, whatever happens to the client or to this process. Throws the chat codes of the contract.
 */
export async function startTurn(ctx: Deps, turn: StartRequest): Promise<StartedTurn> {
  const start = () =>
    transact(ctx.db, (trx) => storeStart(ctx, trx, turn)).catch((error: unknown) => {
      throw refusalOf(error)
    })
  try {
    return await start()
  } catch (error) {
    const { conversationId } = turn
    const isBusy = error instanceof ApiError && error.code === 'CHAT_CONVERSATION_BUSY'
    if (!isBusy || conversationId === undefined) throw error
    // The generation that keeps the conversation busy may belong to a process that died.
    if (!(await ctx.orphans.closeIfOrphaned(turn.account.id, { conversationId }))) throw error
  }
  return start()
}

function refusalOf(error: unknown): unknown {
  if (violates(error, 'generations_running')) return new ApiError('CHAT_CONVERSATION_BUSY')
  const exhausted = exhaustedIn(error)
  if (exhausted === null) return error
  return new ApiError(exhausted === 'agent' ? 'CHAT_AGENT_CREDITS_EXHAUSTED' : 'CHAT_CREDITS_EXHAUSTED')
}

async function storeStart(ctx: Deps, trx: Trx, turn: StartRequest): Promise<StartedTurn> {
  const { account, agent, ask, conversationId } = turn
  const id = newId()
  await claimKey(trx, turn, id)
  await requireBudget(trx, turn)
  const message = ask.kind === 'message' ? ask.text : null
  const conversation =
    conversationId === undefined
      ? null
      : await requireConversation(trx, { accountId: account.id, agentId: agent.id, conversationId }, true)
  const target =
    conversation && ask.kind === 'retry'
      ? await findRetry(trx, account.id, conversation.id, ask.messageId)
      : null
  if (conversation && conversation.status !== 'ongoing') throw notOngoing(conversation.status)
  const plan = conversation ? await planTurn(trx, turn, conversation, target) : firstOf(turn)
  const parent = await parentOf(trx, turn, conversation, plan)
  const generation = { id, conversationId: conversation?.id ?? newId() }
  const where = conversation ? placeOf(conversation) : newPlace(turn)
  const asked: TranscriptMessage[] =
    message === null
      ? []
      : [{ id: plan.userMessageId, role: 'user', parts: textPart(message), created_at: new Date() }]
  const transcript = [...(turn.history ?? plan.history), ...asked]
  const { firstEvent, known, fixed } = await insertGeneration(trx, ctx, turn, generation, plan, {
    message,
    parent,
    where,
    // The results of an action are told by the model that called it.
    question: ask.kind === 'continue' ? '' : askedIn(talkOf(transcript)).question,
  })
  if (conversation && message !== null && (await ctx.hasTicket(trx, account.id, conversation.id)))
    await ctx.customerWrote(trx, conversation, { messageId: plan.userMessageId, text: message })
  return {
    ids: {
      ...generation,
      userMessageId: plan.userMessageId,
      messageId: plan.messageId,
      userId: conversation ? conversation.user_id : (turn.userId ?? null),
      credits: turn.model.credits,
      kind: plan.kind,
      epoch: ctx.process.epoch,
      firstEvent,
    },
    transcript,
    fixed,
    isFirst: plan.isFirst,
    source: conversation?.source ?? turn.source,
    parent,
    surroundings: surroundingsOf(where, known),
    summarised: conversation && !turn.history ? summarisedIn(conversation, plan, message) : null,
    citedBefore: plan.kind === 'continuation' ? citedIn(plan.history.at(-1)) : [],
  }
}

/** Returns what stands in place of the messages that the history leaves out, and the number of the newest message. */
function summarisedIn(
  { last_seq, history_summary: text, summarised_seq: until }: ConversationRow,
  { kind, askedSeq }: Plan,
  message: string | null,
): StartedTurn['summarised'] {
  const isCut = kind === 'retry' && askedSeq !== null && until >= askedSeq
  const lastSeq = last_seq + (message === null ? 0 : 1) + (kind === 'continuation' ? 0 : 1)
  return isCut ? null : { text, until, lastSeq }
}

const textPart = (text: string) => [{ type: 'text' as const, text }]

const citedIn = (message: TranscriptMessage | undefined): StoredSource[] => metadataOf(message).sources ?? []

/** Returns the plan of a turn that starts a conversation. */
function firstOf({ ask, insteadOf }: StartRequest): Plan {
  if (ask.kind !== 'message') throw new TypeError('A conversation starts with a message.')
  return {
    kind: 'reply',
    userMessageId: newId(),
    askedSeq: null,
    messageId: insteadOf?.messageId ?? newId(),
    history: [],
    cut: null,
    isFirst: true,
  }
}

/**
 * Takes the key as the first statement. Of several equal requests, one starts a generation, and the others are served
 * from it.
 */
async function claimKey(
  trx: Trx,
  { idempotency, insteadOf }: StartRequest,
  generationId: string,
): Promise<void> {
  if (!idempotency) return
  if (insteadOf === undefined) return takeKey(trx, idempotency, { generationId })
  if (!(await rebindKey(trx, idempotency, insteadOf.generationId, generationId))) throw new KeyTaken()
}

/** Returns the conversation that this one continues, with its messages for the first answer. */
async function parentOf(
  trx: Trx,
  { account, agent, parentConversationId, userId }: StartRequest,
  conversation: ConversationRow | null,
  { isFirst }: Plan,
): Promise<Parent | null> {
  if (!conversation)
    return parentConversationId === undefined
      ? null
      : readParent(trx, account.id, agent.id, parentConversationId, { userId: userId ?? null })
  const { parent_conversation_id: id, parent_summary: summary } = conversation
  if (id === null) return null
  if (isFirst) return readParent(trx, account.id, agent.id, id)
  return summary === null ? null : { id, summary, messages: [] }
}

type Asked = { message: string | null; parent: Parent | null; where: Place; question: string }

/**
 * Stores the message, if there is one, and the running generation, and reserves its credits. The conversation is new or
 * its row is locked. Returns the number after which the generation's events begin, what is known of the customer for a
 * model to read, and the answer that the owner has fixed for the question.
 */
async function insertGeneration(
  trx: Trx,
  { process, hoursOf }: Pick<Deps, 'process' | 'hoursOf'>,
  turn: StartRequest,
  { id, conversationId }: { id: string; conversationId: string },
  plan: Plan,
  { message, parent, where, question }: Asked,
): Promise<{ firstEvent: number; known: Known | null; fixed: FixedSource | null }> {
  const { account, agent, model } = turn
  const target =
    turn.conversationId === undefined
      ? newConversation(turn, conversationId, message, parent)
      : movedConversation(turn, conversationId, plan, message)
  const limits = limitsOf({
    accountId: account.id,
    plan: account.plan,
    agentId: agent.id,
    agentLimit: agent.creditLimit,
  })
  const entry = sql`select ${newId()}::uuid as "entryId", id as "generationId", ${model.credits}::integer as credits,
    ${turn.trial ? 'trial' : 'usage'} as "entryKind" from made`
  const parts = message === null ? null : json(textPart(message))
  const ref = { accountId: account.id, agentId: agent.id }
  const known = model.id === 'builtin' ? sql`null` : knownSurroundings(ref, where, hoursOf(ref))
  const { rows } = await sql<{ first_event: number; known: Known | null; fixed: FixedSource | null }>`
    with target as (
      ${target} returning last_seq, generation_count
    ), ${parts ? messageRow(turn, conversationId, plan.userMessageId, parts) : sql``} made as (
      insert into generations (id, account_id, agent_id, conversation_id, user_message_id, message_id, model, status,
        credits, kind, first_event, cut_from, cut_to, owner, epoch, asked_seq)
      select ${id}::uuid, ${account.id}::uuid, ${agent.id}, ${conversationId}::uuid, ${plan.userMessageId}::uuid,
        ${plan.messageId}::uuid, ${model.id}, 'running', ${model.credits}::integer, ${plan.kind},
        (generation_count - 1)::bigint * ${sql.lit(EVENTS_PER_GENERATION)}, ${plan.cut?.from ?? null}::integer,
        ${plan.cut?.to ?? null}::integer, ${process.id}::uuid, ${process.epoch}::integer,
        coalesce(${plan.askedSeq}::integer, last_seq)
      from target returning id, first_event
    ), ${reserving(limits, entry)}
    select first_event, ${known} as known, ${fixedSource(ref, question, agent.version?.sources)} as fixed from made, reserved`.execute(
    trx,
  )
  const [{ first_event: firstEvent = 0, known: found = null, fixed = null } = {}] = rows
  return { firstEvent, known: found, fixed }
}

const messageRow = (
  { account, agent }: StartRequest,
  conversationId: string,
  messageId: string,
  parts: RawBuilder<unknown>,
) => sql`asked as (
  insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
  select ${messageId}::uuid, ${account.id}::uuid, ${agent.id}, ${conversationId}::uuid, last_seq, 'user', ${parts}
  from target
),`

const newConversation = (
  turn: StartRequest,
  id: string,
  message: string | null,
  parent: Parent | null,
) => sql`
  insert into conversations (id, account_id, agent_id, source, user_id, title, status, last_seq, asked_seq,
    generation_count, parent_conversation_id, parent_summary, external_id, contact_id, transient)
  values (${id}::uuid, ${turn.account.id}::uuid, ${turn.agent.id}, ${turn.source}, ${turn.userId ?? null},
    ${titleFromWords(message ?? '')}, 'ongoing', 1, 1, 1, ${parent?.id ?? null}::uuid, ${parent?.summary ?? null},
    ${turn.externalId ?? null}, ${turn.contactId ?? null}::uuid, ${turn.transient ?? false}::boolean)`

/** Counts the start, and the message if there is one. */
const movedConversation = (
  { account }: StartRequest,
  id: string,
  { kind }: Plan,
  message: string | null,
) => sql`
  update conversations set generation_count = generation_count + 1, updated_at = now(), ${
    message === null
      ? sql`answer_starts = answer_starts + ${kind === 'reply' ? 1 : 0}::integer,
          continuations = continuations + ${kind === 'continuation' ? 1 : 0}::integer`
      : sql`last_seq = last_seq + 1, asked_seq = last_seq + 1, answer_tries = 0, answer_starts = 1,
          answer_stopped = false, continuations = 0`
  }
  where account_id = ${account.id}::uuid and id = ${id}::uuid`

/** The message of a refusal that otherwise is that of used up credits. */
export const BUDGET_USED_UP = 'The budget of this agent is used up for this month.'

/** Throws CHAT_AGENT_CREDITS_EXHAUSTED when a model may not be called any more. Trials of the owner may go on. */
async function requireBudget(trx: Trx, { account, agent, model, trial }: StartRequest): Promise<void> {
  if (!model.costsMoney || trial) return
  if (await isBudgetUsedUp(trx, { accountId: account.id, agentId: agent.id }, agent.guardrails.budget))
    throw new ApiError('CHAT_AGENT_CREDITS_EXHAUSTED', { message: BUDGET_USED_UP })
}

type ReadDeps = Pick<Context, 'db' | 'generations' | 'orphans' | 'followers'>

/** What became of a generation that an earlier request started. */
type Earlier =
  | { is: 'there'; reading: Reading }
  /** It ended before its first word and not because of the provider, so its question still needs an answer. */
  | { is: 'unanswered'; conversationId: string; kind: GenerationsTable['kind']; messageId: string }

const READ = [
  'id',
  'account_id',
  'conversation_id',
  'kind',
  'user_message_id',
  'message_id',
  'status',
  'message_state',
  'stop_reason',
  'asked_seq',
  'first_event',
] as const

type Row = Pick<Selectable<GenerationsTable>, (typeof READ)[number]>

/** The events and the answer of an earlier generation, live or from the log. */
async function readEarlier(ctx: ReadDeps, accountId: AccountId, generationId: string): Promise<Earlier> {
  const live = ctx.generations.get(generationId)
  if (live) return { is: 'there', reading: live }
  await ctx.orphans.closeIfOrphaned(accountId, { generationId })
  const row = await ctx.db
    .selectFrom('generations')
    .select(READ)
    .where(ownRow(accountId, generationId))
    .executeTakeFirst()
  if (!row) throw noLonger()
  // It may have started in this process meanwhile.
  const started = ctx.generations.get(row.id)
  if (started) return { is: 'there', reading: started }
  if (!(await cameToNothing(ctx, row))) return { is: 'there', reading: ctx.followers.follow(row) }
  const since = await answeredSince(ctx, row)
  // It answers several messages, and names the last of them.
  if (since) return { is: 'there', reading: ctx.followers.follow(since, row.user_message_id) }
  const { conversation_id: conversationId, message_id: messageId, kind } = row
  return { is: 'unanswered', conversationId, kind, messageId }
}

/**
 * Returns whether a generation ended without a message for a reason of ours that passes: its process died, the
 * database was away, or something unexpected happened. A failure of the provider is a response like any other.
 */
async function cameToNothing(
  { db }: ReadDeps,
  { id, account_id, status, message_state, stop_reason }: Row,
): Promise<boolean> {
  if (message_state !== 'none' || stop_reason !== null) return false
  if (status !== 'failed') return status === 'interrupted'
  const { ending } = await readLog(db, account_id, id, 0)
  const code = ending && 'error' in ending ? ending.error.code : null
  return code === 'SERVICE_OVERLOADED' || code === 'INTERNAL_SERVER_ERROR'
}

/** Returns the later generation of the conversation that has answered the same question with others, if there is one. */
const answeredSince = (
  { db }: ReadDeps,
  { account_id, conversation_id, asked_seq, first_event }: Row,
): Promise<Row | undefined> =>
  db
    .selectFrom('generations')
    .select(READ)
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', conversation_id)
    .where('first_event', '>', first_event)
    .where('asked_seq', '>=', asked_seq)
    .where('message_state', '=', 'stored')
    .orderBy('first_event')
    .limit(1)
    .executeTakeFirst()

/**
 * Returns the response to an earlier request with the same key. If that came to nothing, its question is answered now,
 * unless a later turn has answered it.
 */
export async function readAgain(
  ctx: ReadDeps & TurnNeeds,
  { generationId }: Replay,
  request: Omit<ChatRequest, 'conversationId'>,
): Promise<Reading> {
  const earlier = await readEarlier(ctx, request.account.id, generationId)
  if (earlier.is === 'there') return earlier.reading
  const { conversationId, kind, messageId } = earlier
  const ask = kind === 'retry' ? request.ask : ({ kind: kind === 'reply' ? 'pending' : 'continue' } as const)
  return startChat(ctx, { ...request, ask, conversationId, insteadOf: { generationId, messageId } })
}

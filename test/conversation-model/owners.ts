import assert from 'node:assert/strict'
import { guardrailsOf } from '../../server/agents/records/find-agent.ts'
import type { Context } from '../../server/context.ts'
import { appendToLog } from '../../server/conversations/stream/generation-log.ts'
import type { GenerationIds } from '../../server/conversations/stream/reading.ts'
import { type Ending, endTurn, firstEvents, type Outcome } from '../../server/conversations/turn/end-turn.ts'
import { startTurn } from '../../server/conversations/turn/start.ts'
import type { StartRequest } from '../../server/conversations/turn/turn.ts'
import type { Db } from '../../server/platform/db/database.ts'
import { newId } from '../../server/platform/db/ids.ts'
import { transact } from '../../server/platform/db/statements/transact.ts'
import type { AccountId } from '../../server/platform/db/tables/columns.ts'
import type { ServiceProcess } from '../../server/platform/db/upkeep/processes.ts'
import { ApiError } from '../../server/platform/http/errors.ts'

/** Performs one step per iteration, so that actors can be interleaved. */
export type Actor = AsyncGenerator<void, void>

/** A process from its own point of view. It does not know when it has been declared dead. */
type OwnProcess = { id: string; epoch: number; killed: boolean; declaredDead: boolean }

/** What an owner did for one generation, and the outcomes that it was told. */
export type Owned = {
  ids: GenerationIds
  question: string | null
  /** The words that the log accepted. */
  logged: string
  /** The whole answer, or null if the owner did not get that far. */
  whole: string | null
  endings: Ending[]
  isRetry: boolean
}

export type Answering = { on: number; words: number; twice: boolean; isRetry: boolean }

/** One conversation and the processes that work on it. */
export type Talk = {
  accountId: AccountId
  plan: string
  agentId: string
  conversationId: string
  places: OwnProcess[]
  /** All processes so far. */
  processes: OwnProcess[]
  owned: Owned[]
  stopped: Set<string>
  /** Starts a new process at a place. */
  replace(place: number): Promise<void>
  /** Returns the ids of the model's messages. */
  spoken(): Promise<string[]>
}

type Deps = Pick<Context, 'db' | 'orphans' | 'hasTicket' | 'hoursOf' | 'deliverAnswer'>

export async function declareDead(db: Db, process: OwnProcess): Promise<void> {
  const { id, epoch } = process
  process.declaredDead = true
  await db
    .updateTable('processes')
    .set({ epoch: epoch + 1, alive: false })
    .where('id', '=', id)
    .where('epoch', '=', epoch)
    .execute()
}

export async function begin(ctx: Deps, place: Pick<Talk, 'accountId' | 'plan' | 'agentId'>): Promise<Talk> {
  const { db } = ctx
  const talk: Talk = {
    ...place,
    conversationId: '',
    places: [],
    processes: [],
    owned: [],
    stopped: new Set(),
    async replace(at) {
      const process = { id: newId(), epoch: 1, killed: false, declaredDead: false }
      await db.insertInto('processes').values({ id: process.id, epoch: 1 }).execute()
      talk.places[at] = process
      talk.processes.push(process)
    },
    async spoken() {
      const rows = await db
        .selectFrom('messages')
        .select('id')
        .where('conversation_id', '=', talk.conversationId)
        .where('role', '=', 'assistant')
        .orderBy('seq')
        .execute()
      return rows.map(({ id }) => id)
    },
  }
  await talk.replace(0)
  await talk.replace(1)
  const first = answer(ctx, talk, { on: 0, words: 1, twice: false, isRetry: false })
  while (!(await first.next()).done);
  return talk
}

/** Starts a generation, logs its words one by one and ends it, as an undisturbed process does. */
export async function* answer(ctx: Deps, talk: Talk, { on, words, twice, isRetry }: Answering): Actor {
  const process = talk.places[on]!
  const owned = await start(ctx, talk, process, isRetry)
  if (!owned) return
  const { ids } = owned
  const own = { id: process.id, epoch: ids.epoch }
  let position = 0
  for (let i = 0; i < words && !talk.stopped.has(ids.id); i++) {
    yield
    if (process.killed) return
    const delta = `w${i}of${ids.id} `
    const text = { type: 'text-delta' as const, id: 'text-1', delta }
    const events = i === 0 ? [...firstEvents(ids), text] : [text]
    const lost = await appendToLog(ctx.db, own, [{ generationId: ids.id, position, events, ending: null }])
    if (lost.length > 0) break
    owned.logged += delta
    position += events.length
  }
  // An owner that was told nothing, or that it has lost the generation, still tries to end it. The database must reject
  // that.
  owned.whole = `${owned.logged}end.`
  const outcome = outcomeOf(owned.whole, position, talk.stopped.has(ids.id))
  const closer = { owner: process.id, epoch: ids.epoch, ownerAfter: process.id }
  for (let i = 0; i < (twice ? 2 : 1); i++) {
    yield
    if (process.killed) return
    const ending = await transact(ctx.db, (trx) => endTurn(ctx, trx, talk, ids, closer, outcome))
    // A process that was declared dead may still be the first to end the generation. The one that closes it then finds
    // it ended.
    if (!process.declaredDead) assert.notEqual(ending, 'lost', 'somebody ended what a living process owned')
    owned.endings.push(ending)
  }
}

async function start(ctx: Deps, talk: Talk, process: OwnProcess, isRetry: boolean): Promise<Owned | null> {
  const { accountId, plan, agentId, conversationId } = talk
  const retryOf = isRetry ? (await talk.spoken()).at(-1) : undefined
  if (isRetry && retryOf === undefined) return null
  const question = `question ${newId()}`
  const turn: StartRequest = {
    account: { id: accountId, plan },
    agent: {
      id: agentId,
      creditLimit: null,
      toolsVersion: 0,
      guardrails: guardrailsOf({ guardrails: null }),
    },
    model: { id: 'fake', credits: 1, costsMoney: true },
    source: 'API',
    ask: retryOf === undefined ? { kind: 'message', text: question } : { kind: 'retry', messageId: retryOf },
    idempotency: null,
    ...(conversationId ? { conversationId } : {}),
  }
  const needs = {
    ...ctx,
    process: process as unknown as ServiceProcess,
    customerWrote: async () => {},
  }
  try {
    const { ids } = await startTurn(needs, turn)
    talk.conversationId = ids.conversationId
    const owned: Owned = {
      ids,
      question: isRetry ? null : question,
      logged: '',
      whole: null,
      endings: [],
      isRetry,
    }
    talk.owned.push(owned)
    return owned
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return null
    throw error
  }
}

function outcomeOf(text: string, position: number, isStopped: boolean): Outcome {
  const metadata = { finishReason: 'stop' as const, model: 'fake' }
  return {
    status: isStopped ? 'interrupted' : 'finished',
    finishReason: 'stop',
    message: { parts: [{ type: 'text', text }], metadata },
    isPaid: true,
    waiting: [],
    unlogged: { position, events: [{ type: 'text-delta', id: 'text-1', delta: 'end.' }] },
    told: { hasBegun: position > 0 },
  }
}

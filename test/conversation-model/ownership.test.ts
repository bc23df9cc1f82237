import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { createMember } from '../../server/accounts/records/members.ts'
import { reconcile } from '../../server/conversations/records/reconcile-credits.ts'
import { requestStop } from '../../server/conversations/turn/generations.ts'
import { handBack, takeOver } from '../../server/inbox/takeover/take-over.ts'
import { ApiError } from '../../server/platform/http/errors.ts'
import { isLong } from '../faults/fault-world.ts'
import { type Client, type Service, startService } from '../start.ts'
import { checkRecords, type Silence } from './check-ownership.ts'
import { type Actor, type Answering, answer, begin, declareDead, type Talk } from './owners.ts'

/** PARLEY_SEED repeats a run. */
const seed = Number(process.env.PARLEY_SEED ?? 20_261_122)
const numRuns = isLong ? 3_000 : 120

type Doing =
  | ({ do: 'answer' } & Answering)
  | { do: 'kill' | 'pause'; on: number }
  | { do: 'close' | 'free' | 'stop' | 'takeover' | 'handback' }

const place = fc.nat(1)
const doing: fc.Arbitrary<Doing> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      on: place,
      words: fc.integer({ min: 1, max: 3 }),
      /** Whether the response to the last write is lost and the write is repeated. */
      twice: fc.boolean(),
      isRetry: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('kill' as const, 'pause' as const), on: place }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('close' as const, 'free' as const, 'stop' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('takeover' as const, 'handback' as const) }) },
)

let service: Service
let client: Client
let agentId: string
let member: { id: string; name: string; email: string }

before(async () => {
  service = await startService()
  client = await service.account({ plan: 'standard' })
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const account = { id: client.accountId, plan: 'standard' }
  const made = await createMember(service.ctx.db, account, { email: 'ann@example.com', name: 'Ann' })
  assert.ok(made && typeof made === 'object')
  member = made as typeof member
})
after(() => service.close())

test('owners, closers, takeovers, stops, retries and kills in any order leave every answer ended once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(doing, { minLength: 2, maxLength: 8 }), runTogether),
    { seed, numRuns },
  )
})

async function runTogether(scheduler: fc.Scheduler, doings: Doing[]): Promise<void> {
  const { ctx } = service
  const talk: Talk = await begin(ctx, { accountId: client.accountId, plan: 'standard', agentId })
  const silence: Silence = { since: null, ever: false }
  const actors = doings.map((one): [string, Actor] => [JSON.stringify(one), actorOf(talk, silence, one)])
  await runSteps(scheduler, [...actors, ['{"do":"close"}', actorOf(talk, silence, { do: 'close' })]])
  for (const process of talk.processes) await declareDead(ctx.db, process)
  assert.ok((await ctx.orphans.closeAll()) <= doings.length + 1)
  assert.equal(await ctx.orphans.closeAll(), 0)
  await checkRecords(ctx.db, talk, silence)
  assert.deepEqual(await reconcile(ctx.db), { balanced: true, difference: 0 })
}

/** Runs the steps of all actors one at a time, in an order chosen by the scheduler. */
async function runSteps(scheduler: fc.Scheduler, actors: [string, Actor][]): Promise<void> {
  let chosen: [string, Actor] | null = null
  const offer = (one: [string, Actor]): void => {
    void scheduler.schedule(Promise.resolve(), one[0]).then(() => {
      chosen = one
    })
  }
  for (const one of actors) offer(one)
  for (let active = actors.length; active > 0; ) {
    chosen = null
    await scheduler.waitOne()
    while (chosen === null) await Promise.resolve()
    const { done } = await (chosen as [string, Actor])[1].next()
    if (done) active--
    else offer(chosen)
  }
}

async function* actorOf(talk: Talk, silence: Silence, doing: Doing): Actor {
  const { ctx } = service
  const { accountId, conversationId } = talk
  const where = { accountId, agentId, conversationId }
  if (doing.do === 'answer') yield* answer(ctx, talk, doing)
  else if (doing.do === 'kill' || doing.do === 'pause') {
    const process = talk.places[doing.on]!
    // A killed process does nothing any more. A paused one continues and does not know that it was paused.
    if (doing.do === 'kill') process.killed = true
    await declareDead(ctx.db, process)
    yield
    await talk.replace(doing.on)
  } else if (doing.do === 'close') await ctx.orphans.closeAll()
  else if (doing.do === 'free') await ctx.orphans.closeIfOrphaned(accountId, { conversationId })
  else if (doing.do === 'stop') {
    const id = await requestStop(ctx.db, accountId, conversationId, 'stop')
    yield
    if (id !== null) talk.stopped.add(id)
  } else {
    const isOver = doing.do === 'takeover'
    try {
      await (isOver ? takeOver(ctx, where, member as never) : handBack(ctx, where, null))
      silence.ever = true
      silence.since = isOver ? await talk.spoken() : null
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }
}

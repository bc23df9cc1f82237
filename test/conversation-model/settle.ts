import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { checkHistory } from './check-history.ts'
import { checkState } from './check-state.ts'
import { checkWords } from './check-words.ts'
import { type Command, plainScript } from './commands.ts'
import { perform } from './perform.ts'
import { type Op, request } from './requests.ts'
import { readState, runningIn, type State } from './state.ts'
import { isOk } from './step.ts'
import type { Talk } from './talk.ts'

/** The death of a process is noticed within five seconds. */
const PATIENCE_MS = 12_000

const on = (place: number) => ({ after: 0, on: place })
const sending: Command = { ...on(0), do: 'send', stream: false, leaveAfter: null, script: plainScript }

/** Checks that, whatever happened, the conversation can answer again and the ledger is balanced. */
export async function settle(talk: Talk): Promise<void> {
  const { world, conversationId } = talk
  for (const place of world.places) await place.life()
  const quiet = await untilQuiet(talk)
  if (quiet.status === 'taken_over') await must(talk, { ...on(0), do: 'handback' })
  if (quiet.status === 'paused') await must(talk, { ...on(0), do: 'resume' })
  const [answered] = await must(talk, sending)
  assert.ok(answered?.answer.is === 'json')
  assert.equal(answered.answer.body.data.metadata.finishReason, 'stop')
  const state = await readState(world.inside, conversationId)
  talk.state = state
  checkState(talk, state)
  const waiting = state.calls.filter(({ status }) => status === 'pending')
  assert.deepEqual(waiting, [], 'calls wait after a new message')
  const late = await perform(talk, { ...on(1), do: 'tool-result', which: 0, times: 1 })
  assert.deepEqual(late.filter(isOk), [], 'a result was taken from nobody')
  assert.deepEqual(
    await pagedMessages(talk),
    state.messages.map(({ id }) => id),
  )
  const spoken = [...talk.asked].flatMap((question) => world.models.spoken(question))
  checkWords(talk, state, spoken)
  for (const one of spoken) checkHistory(one, state)
  await checkLedger(talk)
}

async function must(talk: Talk, command: Command): Promise<Op[]> {
  const ops = await perform(talk, command)
  for (const op of ops) assert.ok(isOk(op), `${command.do} in the end: ${JSON.stringify(op.answer)}`)
  return ops
}

async function untilQuiet(talk: Talk): Promise<State> {
  const until = Date.now() + PATIENCE_MS
  for (;;) {
    const state = await readState(talk.world.inside, talk.conversationId)
    if (!runningIn(state)) return state
    assert.ok(Date.now() < until, 'an answer never ends')
    if (runningIn(state)?.orphaned) await perform(talk, { ...on(0), do: 'reload', back: 0 })
    await wait(30)
  }
}

async function pagedMessages(talk: Talk): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const path: string = `/messages?limit=7${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`
    const { answer } = await request(talk, { ...on(0), do: 'reload', back: null }, 'GET', path)
    assert.ok(answer.is === 'json' && answer.status === 200)
    ids.unshift(...answer.body.data.map(({ id }: { id: string }) => id))
    cursor = answer.body.pagination.cursor
  } while (cursor)
  return ids
}

async function checkLedger({ world: { inside }, accountId }: Talk): Promise<void> {
  assert.deepEqual(await inside.reconcile(), { balanced: true, difference: 0 })
  const reserved = await inside.query(
    `select id from credit_entries where account_id = $1 and state = 'reserved'`,
    [accountId],
  )
  assert.deepEqual(reserved, [], 'credits stay reserved')
}

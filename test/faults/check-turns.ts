import assert from 'node:assert/strict'
import { wordsOf } from '../conversation-model/scripted-model.ts'
import { parley } from '../spawn-service.ts'
import { type Client, clientOf } from '../start.ts'
import { type FaultWorld, isLong } from './fault-world.ts'
import { type Attempt, CUSTOMERS_WORD, isFinal, storyOf, type Talk, type Turn } from './talkers.ts'

type Stored = {
  id: string
  role: 'user' | 'assistant'
  parts: { type: string; text?: string }[]
  metadata?: { finishReason?: string }
}

/** The time at which a process was killed, or paused for so long that another one took over. */
export type Kill = { place: number; at: number }

type Allowed = {
  /** Whether answers may be marked as interrupted, because their process ended or another one took over. */
  interrupted: boolean
  kills?: Kill[]
  /** Whether some of the processes are of 4fec835d, which sends Retry-After with 503. */
  withFormer?: boolean
}

/**
 * Text that was sent to a client this long before a kill must be stored. The service promises a quarter of a second; a
 * machine that runs the whole suite needs longer.
 */
const STORED_WITHIN_MS = isLong ? 250 : 750

/** Checks everything that must hold when a fault is over and everyone has received their last answer. */
export async function checkAfterFault(world: FaultWorld, talks: Talk[], allowed: Allowed): Promise<void> {
  const turns = talks.flatMap((talk) => talk.turns)
  assert.ok(turns.length > 0)
  checkRefusals(turns, allowed)
  const conversations = await readConversations(world)
  for (const talk of talks) checkOneConversation(talk)
  for (const turn of turns) checkTurn(world, turn, conversations, allowed)
  await checkQuiet(world, [...conversations.keys()])
  const { stdout, stderr } = await parley(['reconcile', '--json'], world.env)
  assert.deepEqual(JSON.parse(stdout || '{}'), { balanced: true, difference: 0 }, stderr)
  checkLogs(world)
}

export function checkAlive({ services }: FaultWorld): void {
  for (const [place, service] of services.entries())
    assert.ok(service.isAlive(), `process ${place} has ended:\n${service.output.slice(-3_000)}`)
}

/** Checks that no log contains text of questions or answers. */
function checkLogs(world: FaultWorld): void {
  const said = new RegExp(`^.*(${CUSTOMERS_WORD}|r\\d+w\\d+ ).*$`, 'm').exec(world.output())
  assert.equal(said, null, `a log holds what was said: ${said?.[0].slice(0, 1_000)}`)
}

/** Checks that requests are rejected only with 503 or because the conversation is busy, and never with 500. */
function checkRefusals(turns: Turn[], { withFormer = false }: Allowed): void {
  const refusals = turns.flatMap((turn) => turn.attempts.map((attempt) => ({ turn, attempt })))
  for (const { turn, attempt } of refusals) {
    const { status, code, retryAfter } = attempt
    if (status === null || status === 200 || code === 'CHAT_CONVERSATION_BUSY') continue
    assert.equal(status, 503, `refused with ${status} ${code}: ${storyOf(turn)}`)
    if (!withFormer) assert.equal(retryAfter, null, `503 with Retry-After: ${storyOf(turn)}`)
  }
}

function checkOneConversation({ turns }: Talk): void {
  const ids = turns.flatMap(({ attempts }) => attempts.flatMap((one) => one.conversationId ?? []))
  assert.ok(new Set(ids).size <= 1, `a key began two conversations: ${turns.map(storyOf).join('\n')}`)
}

function checkTurn(
  world: FaultWorld,
  turn: Turn,
  conversations: Map<string, Stored[]>,
  { interrupted, kills = [] }: Allowed,
): void {
  const story = storyOf(turn)
  const places = [...conversations.values()].flatMap((messages) =>
    messages.flatMap((message, i) =>
      message.role === 'user' && textOf(message) === turn.question
        ? [{ message, answer: messages[i + 1] }]
        : [],
    ),
  )
  const acknowledged = turn.attempts.filter(({ userMessageId }) => userMessageId !== null)
  assert.ok(places.length <= 1, `stored ${places.length} times: ${story}`)
  const [place] = places
  const calls = world.models.spoken(turn.question)
  if (acknowledged.length === 0) {
    assert.ok(!turn.attempts.some(isFinal), `answered without being acknowledged: ${story}`)
    return
  }
  assert.ok(place, `an acknowledged message is lost: ${story}`)
  for (const { userMessageId } of acknowledged)
    assert.equal(userMessageId, place.message.id, `it was acknowledged as another message: ${story}`)
  const { answer } = place
  const finals = turn.attempts.filter(isFinal)
  assert.ok(finals.length > 0, `never answered: ${story}`)
  assert.equal(answer?.role, 'assistant', `no answer is stored: ${story}`)
  const text = textOf(answer)
  const reason = answer.metadata?.finishReason
  for (const final of finals) {
    assert.equal(final.text, text, `the answer that was told is not the one that is stored: ${story}`)
    assert.equal(final.finishReason, reason, `how it ended is told otherwise than stored: ${story}`)
    assert.equal(final.messageId, answer.id, story)
  }
  const whole = calls.map(({ number, script }) => wordsOf(number, script).join(''))
  if (reason === 'stop')
    assert.ok(whole.includes(text), `an answer that is not whole is said to be: "${text}" ${story}`)
  else {
    assert.ok(interrupted, `interrupted (${reason}) although its process lived: ${story}`)
    assert.equal(reason, 'error', story)
    assert.ok(text !== '' && whole.some((one) => one.startsWith(text)), `made up: "${text}" ${story}`)
  }
  checkShown(turn, text, kills)
  checkCalls(
    turn,
    calls.map(({ number }) => number),
    text,
  )
}

/** Checks that text that was displayed is part of the stored answer, except for what arrived right before a kill. */
function checkShown(turn: Turn, stored: string, kills: Kill[]): void {
  for (const attempt of turn.attempts)
    for (const shown of shownForGood(attempt, kills))
      assert.ok(stored.startsWith(shown), `"${shown}" was shown and "${stored}" is stored: ${storyOf(turn)}`)
}

function shownForGood({ place, begun, ended, text, shown }: Attempt, kills: Kill[]): string[] {
  const kill = kills.find((one) => one.place === place && one.at >= begun && one.at <= ended)
  if (!kill) return [text]
  const until = (at: number): number => shown.findLast((one) => one.at <= at)?.length ?? 0
  const stored = text.slice(0, until(kill.at - STORED_WITHIN_MS))
  // A process that was only paused must send nothing new afterwards.
  const spokeLater = text.length > until(kill.at + STORED_WITHIN_MS)
  return spokeLater ? [stored, text] : [stored]
}

/**
 * Checks that the model was not asked again once its words were shown, so that the answer comes from the last request
 * to it.
 */
function checkCalls(turn: Turn, numbers: number[], stored: string): void {
  const heard = /^r(\d+)w/.exec(stored)?.[1]
  assert.ok(numbers.length > 0, `answered, and the model was never asked: ${storyOf(turn)}`)
  assert.equal(
    Number(heard),
    numbers.at(-1),
    `the model was asked again (${numbers}) after its words were stored: ${storyOf(turn)}`,
  )
}

const textOf = ({ parts }: Stored): string =>
  parts.map(({ type, text }) => (type === 'text' ? text : '')).join('')

/** Reads all conversations of the agent and their messages through the API. */
async function readConversations(world: FaultWorld): Promise<Map<string, Stored[]>> {
  const found = new Map<string, Stored[]>()
  const path = `/agents/${world.agentId}/conversations`
  const clients = world.keys.map((key) => clientOf(world.services[0]!.url, key))
  let used = 0
  const client = (): Client => clients[used++ % clients.length]!
  for (const { id } of await pages<{ id: string }>(client, path))
    found.set(id, await pages<Stored>(client, `${path}/${id}/messages`))
  return found
}

async function pages<Item>(client: () => Client, path: string): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''
    const { status, body } = await client().request('GET', `${path}?limit=100${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    // Pages of messages go back from the newest one.
    items.unshift(...body.data)
    cursor = body.pagination.cursor
  } while (cursor)
  return items
}

/** Checks that no answer is being generated any more. */
async function checkQuiet({ services, keys, agentId }: FaultWorld, conversationIds: string[]): Promise<void> {
  for (const [i, id] of conversationIds.entries()) {
    const client = clientOf(services[0]!.url, keys[i % keys.length]!)
    const { status } = await client.raw('GET', `/agents/${agentId}/conversations/${id}/stream`)
    assert.equal(status, 204, `an answer still runs in ${id}`)
  }
}

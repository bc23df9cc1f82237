import { setTimeout as wait } from 'node:timers/promises'
import { plainScript } from '../conversation-model/commands.ts'
import { ask, isFinal, newTurn, type Turn } from '../faults/talkers.ts'
import type { Cluster } from '../postgres-cluster.ts'
import { until } from '../until.ts'
import type { Section } from './figures.ts'
import { type GuardedWorld, inGuardedWorld } from './guarded-world.ts'
import { addCounted, checkLedger } from './kills.ts'
import { countTurns, readStored } from './stored-turns.ts'

const TALKERS = 20
/** One talker in this many does not wait for an answer that was cut off, and writes the next message first. */
const HURRIED = 5
const ATTEMPT_MS = 30_000

/**
 * Sends every message several times with its key to two processes that are killed in turn, and checks what each key
 * names: one conversation, one message and one answer for ever, which are those that are stored.
 */
export async function checkHistory(cluster: Cluster, retries: number): Promise<Section> {
  const section: Section = { figures: {}, broken: [], stories: [] }
  await inGuardedWorld({ processes: 2, cluster }, async (world) => {
    const talks: Turn[][] = Array.from({ length: TALKERS }, () => [])
    const turns = (): Turn[] => talks.flat()
    const retried = (): number =>
      turns().reduce((sum, { attempts }) => sum + Math.max(0, attempts.length - 1), 0)
    let isOver = false
    const talking = Promise.all(talks.map((talk, i) => converse(world, talk, i, () => isOver)))
    let kills = 0
    while (retried() < retries) {
      const place = kills % 2
      const before = retried()
      await until('retries before a kill', () => retried() >= before + 20)
      // Most processes die at once after they have acknowledged a message.
      if (kills % 4 === 0) await wait((kills * 37) % 100)
      else await acknowledgedBy(place, turns())
      await world.services[place]?.kill('SIGKILL')
      await world.start(place)
      kills++
    }
    isOver = true
    await talking
    // What a key names must also hold when everything is over.
    await inGroups(turns(), TALKERS, (turn) => attempt(world, turn, null, 0))
    const counted = countTurns(world, turns(), await readStored(world))
    addCounted(section, 'history', counted, {
      'keys / retries / kills': `${turns().length} / ${retried()} / ${kills}`,
      'ledger balanced': await checkLedger(world, turns(), section),
    })
  })
  return section
}

async function converse(
  world: GuardedWorld,
  talk: Turn[],
  talker: number,
  isOver: () => boolean,
): Promise<void> {
  let conversationId: string | null = null
  const open: Turn[] = []
  for (let number = 0; !isOver() && !world.closed.aborted; number++) {
    const turn = newTurn(talker, number)
    talk.push(turn)
    world.models.expect(turn.question, { ...plainScript, words: 8 + (number % 3) * 8, pace: 15 })
    const first = await attempt(world, turn, conversationId, talker + number)
    conversationId = first.conversationId
    if (!isFinal(first) && conversationId !== null && talker % HURRIED === 0) {
      open.push(turn)
      continue
    }
    await repeat(turn)
    for (const left of open.splice(0)) await repeat(left)
    // A conversation of many messages is read slowly.
    if (number % 20 === 19) conversationId = null
  }
  for (const left of open) await repeat(left)

  async function repeat(turn: Turn): Promise<void> {
    const given = conversationIn.get(turn) ?? null
    for (let tries = 1; !turn.attempts.some(isFinal) && !world.closed.aborted; tries++) {
      await wait(50)
      const { conversationId: named } = await attempt(world, turn, given, talker + tries)
      conversationId = named ?? conversationId
    }
    for (const place of [0, 1]) await attempt(world, turn, given, place)
  }
}

/** The conversation that the first request of a turn named; its repetitions must be equal. */
const conversationIn = new WeakMap<Turn, string | null>()

function attempt(world: GuardedWorld, turn: Turn, conversationId: string | null, place: number) {
  if (!conversationIn.has(turn)) conversationIn.set(turn, conversationId)
  const wanted = { ...world, urlOf: (at: number) => world.services[at]?.url ?? '' }
  const patience = AbortSignal.any([world.closed, AbortSignal.timeout(ATTEMPT_MS)])
  return ask(wanted, place % world.services.length, 0, turn, conversationIn.get(turn) ?? null, patience)
}

async function acknowledgedBy(place: number, turns: Turn[]): Promise<void> {
  const since = performance.now()
  const isNew = ({ attempts }: Turn): boolean =>
    attempts.some(
      (one) => one.place === place && one.begun > since - 1_000 && (one.acknowledgedAt ?? 0) > since,
    )
  while (!turns.slice(-1).some(isNew) && !turns.some(isNew)) await wait(1)
}

async function inGroups<T>(all: T[], size: number, work: (one: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < all.length; at += size) await Promise.all(all.slice(at, at + size).map(work))
}

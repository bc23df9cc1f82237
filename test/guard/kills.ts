import { killInTurn, waitsAfter } from '../faults/kill-in-turn.ts'
import { isFinal, paced, startTalkers, type Turn } from '../faults/talkers.ts'
import type { Cluster } from '../postgres-cluster.ts'
import type { Section } from './figures.ts'
import { type GuardedWorld, inGuardedWorld } from './guarded-world.ts'
import { type Counted, countTurns, readStored } from './stored-turns.ts'

const TALKERS = 16
const PATIENCE_MS = 30_000

/** Kills processes with SIGKILL under load, on the embedded database or on the kinds of installation with PostgreSQL. */
export async function checkKills(cluster: Cluster | null, times: number): Promise<Section> {
  const section: Section = { figures: {}, broken: [], stories: [] }
  const kinds = cluster
    ? [
        { name: 'PostgreSQL', wanted: { cluster } },
        { name: 'two processes', wanted: { cluster, processes: 2 } },
      ]
    : [{ name: 'embedded', wanted: {} }]
  for (const { name, wanted } of kinds)
    await inGuardedWorld(wanted, async (world) => {
      const talkers = startTalkers(TALKERS, paced(world))
      const kills = await killInTurn(world, talkers, times)
      await talkers.end(PATIENCE_MS).catch((error: Error) => section.stories.push(error.message))
      const turns = talkers.talks.flatMap((talk) => talk.turns)
      const counted = countTurns(world, turns, await readStored(world))
      const waits = waitsAfter(kills, turns)
      addCounted(section, `kills, ${name}`, counted, {
        kills: times,
        'busy ms p50 / max': ofMiddle(waits),
        'lost words p50 / max': ofMiddle(counted.lostWords),
        'ledger balanced': await checkLedger(world, turns, section),
      })
    })
  return section
}

/** Adds what happened to people's messages. */
export function addCounted(
  section: Section,
  name: string,
  counted: Counted,
  more: Record<string, string | number>,
): void {
  addRules(section, name, counted)
  const figures = {
    acknowledged: counted.acknowledged,
    'seen without reply': counted.seenWithoutReply,
    'second model calls, acknowledged / others': `${counted.secondCallsAcknowledged} / ${counted.secondCallsOthers}`,
    'responses with 409': counted.conflicts,
    ...more,
  }
  for (const [figure, value] of Object.entries(figures)) section.figures[`${name}: ${figure}`] = value
}

/** Adds what must stay zero under every fault. */
export function addRules(section: Section, name: string, counted: Counted): void {
  const rules = {
    lost: counted.lost,
    doubled: counted.doubled,
    'named otherwise': counted.renamed,
    'second replies': counted.secondReplies,
    'undeclared 5xx': counted.failures.length,
  }
  section.figures[`${name}: ${Object.keys(rules).join(' / ')}`] = Object.values(rules).join(' / ')
  for (const [rule, count] of Object.entries(rules))
    if (count > 0) section.broken.push(`${name}: ${count} ${rule}`)
  section.stories.push(...counted.stories, ...counted.failures.map((failure) => `${name}: ${failure}`))
}

/**
 * Compares the credits that people were told with the account's settled usage, and asks the product's own command. Ends
 * the processes, because the embedded database has only one reader.
 */
export async function checkLedger(world: GuardedWorld, turns: Turn[], section: Section): Promise<string> {
  const own = await world.command('reconcile')
  const told = turns.map(({ attempts }) => attempts.findLast(isFinal)?.credits)
  for (const service of world.services) await service.kill('SIGTERM')
  const rows = await world.rows(
    `select coalesce(sum(amount), 0) as credits from credit_entries where kind = 'usage' and state = 'settled'`,
  )
  const paid = Number(rows[0]?.credits)
  const sum = told.reduce((before: number, credits) => before + (credits ?? 0), 0)
  const isEqual = told.includes(undefined) ? sum <= paid : sum === paid
  if (`${own.balanced}` === 'true' && isEqual) return 'yes'
  section.broken.push(`the ledger: ${paid} paid, ${sum} told; ${JSON.stringify(own)}`)
  return `no: ${paid} paid, ${sum} told`
}

function ofMiddle(values: number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return `${at(0.5)} / ${at(1)}`
}

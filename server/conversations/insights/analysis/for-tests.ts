import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../platform/db/database.ts'
import { claimConversations } from './claim-conversations.ts'

/** For tests: computes the figures of an agent's days in the simplest way, by reading and counting every row. */
export async function plainFigures(db: Db, agentId: string, days: readonly string[]) {
  const conversations = await db
    .selectFrom('conversations')
    .selectAll()
    .where('agent_id', '=', agentId)
    .execute()
  const messages = await db.selectFrom('messages').selectAll().where('agent_id', '=', agentId).execute()
  const entries = await db.selectFrom('credit_entries').selectAll().where('agent_id', '=', agentId).execute()
  const questions = await db
    .selectFrom('unanswered_questions')
    .selectAll()
    .where('agent_id', '=', agentId)
    .execute()
  const given = await db
    .selectFrom('conversation_topics')
    .selectAll()
    .where('agent_id', '=', agentId)
    .execute()
  const topics = await db
    .selectFrom('topics')
    .select(['id', 'name'])
    .where('agent_id', '=', agentId)
    .execute()
  const figures = (isIn: (time: Date) => boolean) => {
    const begun = conversations.filter((row) => !row.transient && isIn(row.created_at))
    const said = messages.filter((row) => isIn(row.created_at))
    const isPersons = (row: (typeof said)[number]) =>
      (row.metadata as { author?: { type?: string } } | null)?.author?.type === 'human_agent'
    const answers = said
      .filter((row) => row.role === 'assistant' && !isPersons(row))
      .map(
        (row) =>
          (row.metadata ?? {}) as {
            outcome?: string | null
            ungrounded?: unknown[]
            isHeld?: true
            forbiddenTopic?: string
          },
      )
    const ended = (...names: (string | null)[]) =>
      answers.filter(({ outcome = null }) => names.includes(outcome)).length
    const settled = begun.filter((row) => row.status === 'ended' || row.analysis_due === null)
    const deflected = settled.filter((row) => !row.escalated).length
    const felt = (sentiment: string | null) => begun.filter((row) => row.sentiment === sentiment).length
    return {
      conversations: begun.length,
      messages: {
        user: said.filter(({ role }) => role === 'user').length,
        assistant: said.filter((row) => row.role === 'assistant' && !isPersons(row)).length,
        person: said.filter((row) => row.role === 'assistant' && isPersons(row)).length,
      },
      ratings: {
        positive: said.filter(({ feedback }) => feedback === 'positive').length,
        negative: said.filter(({ feedback }) => feedback === 'negative').length,
      },
      sentiments: {
        positive: felt('positive'),
        neutral: felt('neutral'),
        negative: felt('negative'),
        unspecified: felt(null),
      },
      settled: settled.length,
      escalated: begun.filter(({ escalated }) => escalated).length,
      deflected,
      deflection: settled.length === 0 ? null : deflected / settled.length,
      unanswered: questions.filter((row) => isIn(row.asked_at)).length,
      outcomes: {
        answered: ended('answered'),
        partly: ended('partly', 'closest'),
        notFound: ended('not_found', 'declined'),
        handedOver: ended('handed_over'),
        refused: ended('refused'),
        unreported: ended(null),
      },
      marked: answers.filter(({ ungrounded, isHeld }) => ungrounded !== undefined || isHeld).length,
      forbiddenTopics: Object.entries(tally(answers.flatMap(({ forbiddenTopic }) => forbiddenTopic ?? [])))
        .map(([topic, count]) => ({ topic, answers: count }))
        .sort((a, b) => b.answers - a.answers || (a.topic < b.topic ? -1 : 1)),
      credits: entries
        .filter((row) => row.kind === 'usage' && row.state === 'settled' && isIn(row.created_at))
        .reduce((sum, { amount }) => sum + amount, 0),
      topics: tally(
        topics.flatMap(({ id, name }) =>
          begun
            .filter((row) => given.some((one) => one.conversation_id === row.id && one.topic_id === id))
            .map(() => name),
        ),
      ),
      sources: tally(begun.map(({ source }) => source)),
      countries: tally(begun.map(({ country }) => String(country))),
    }
  }
  const dayOf = (time: Date) => time.toISOString().slice(0, 10)
  return {
    totals: figures((time) => days.includes(dayOf(time))),
    days: days.map((date) => ({ date, ...figures((time) => dayOf(time) === date) })),
  }
}

function tally(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

type Lists = {
  topics: { name: string; conversations: number }[]
  sources: { source: string; conversations: number }[]
  countries: { country: string | null; conversations: number }[]
}

/**
 * Returns figures as the service shows them, with their lists as counts by name; names with a count of zero are
 * omitted.
 */
export function comparable<T extends Lists>(figures: T) {
  const counts = (pairs: [string, number][]) => Object.fromEntries(pairs.filter(([, n]) => n > 0))
  return {
    ...figures,
    topics: counts(figures.topics.map(({ name, conversations }) => [name, conversations])),
    sources: counts(figures.sources.map(({ source, conversations }) => [source, conversations])),
    countries: counts(
      figures.countries.map(({ country, conversations }) => [String(country), conversations]),
    ),
  }
}

/** Analyses all conversations of an agent now, as if they had become idle. */
export async function lookNow(ctx: Pick<Context, 'db' | 'jobs'>, agentId: string): Promise<void> {
  await ctx.db
    .updateTable('conversations')
    .set({ analysis_due: new Date(0) })
    .where('agent_id', '=', agentId)
    .where('analysis_due', 'is not', null)
    .execute()
  for (;;) {
    // A row that is being written at this moment is skipped.
    await claimConversations(ctx)
    const left = await ctx.db
      .selectFrom('conversations')
      .select('id')
      .where('agent_id', '=', agentId)
      .where('transient', '=', false)
      .where((eb) => eb.or([eb('analysis_held', 'is not', null), eb('analysis_due', '<=', new Date())]))
      .execute()
    if (left.length === 0) return
    await wait(20)
  }
}

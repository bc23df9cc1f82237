import type { Static } from 'typebox'
import { type DayFigures, FORBIDDEN } from './compute-day.ts'
import type { Insights } from './schema.ts'

type Figures = Static<typeof Insights>['totals']

export const NO_FIGURES: DayFigures = {
  conversations: 0,
  positive: 0,
  neutral: 0,
  negative: 0,
  settled: 0,
  escalated: 0,
  deflected: 0,
  topics: {},
  sources: {},
  countries: {},
  outcomes: {},
  user_messages: 0,
  assistant_messages: 0,
  person_messages: 0,
  rated_positive: 0,
  rated_negative: 0,
  unanswered: 0,
  credits: 0,
}

const BY_KEY = ['topics', 'sources', 'countries', 'outcomes'] as const
type Count = Exclude<keyof DayFigures, (typeof BY_KEY)[number]>
const isCount = (name: string): name is Count => !BY_KEY.some((other) => other === name)
const COUNTS = Object.keys(NO_FIGURES).filter(isCount)

/** The sum over days. */
export function addUp(days: readonly DayFigures[]): DayFigures {
  const total: DayFigures = { ...NO_FIGURES, topics: {}, sources: {}, countries: {}, outcomes: {} }
  for (const day of days) {
    for (const name of COUNTS) total[name] += day[name]
    for (const name of BY_KEY) addCounts(total[name], day[name])
  }
  return total
}

function addCounts(sum: Record<string, number>, counts: Record<string, number>): void {
  for (const [key, n] of Object.entries(counts)) sum[key] = (sum[key] ?? 0) + n
}

/** The figures as they are shown, with these topics. */
export function figuresOf(day: DayFigures, topics: readonly { id: string; name: string }[]): Figures {
  const { conversations, positive, neutral, negative, settled, escalated, deflected, unanswered, credits } =
    day
  return {
    conversations,
    messages: { user: day.user_messages, assistant: day.assistant_messages, person: day.person_messages },
    ratings: { positive: day.rated_positive, negative: day.rated_negative },
    sentiments: { positive, neutral, negative, unspecified: conversations - positive - neutral - negative },
    settled,
    escalated,
    deflected,
    deflection: settled === 0 ? null : deflected / settled,
    unanswered,
    ...endsOf(day.outcomes),
    credits,
    topics: topics.map(({ id, name }) => ({ id, name, conversations: day.topics[id] ?? 0 })),
    sources: byCount(day.sources).map(([source, n]) => ({ source, conversations: n })),
    countries: byCount(day.countries).map(([country, n]) => ({ country: country || null, conversations: n })),
  }
}

/** Answers of former versions have other names for two of the outcomes. */
const endsOf = (n: Record<string, number>): Pick<Figures, 'outcomes' | 'marked' | 'forbiddenTopics'> => ({
  outcomes: {
    answered: n.answered ?? 0,
    partly: (n.partly ?? 0) + (n.closest ?? 0),
    notFound: (n.not_found ?? 0) + (n.declined ?? 0),
    handedOver: n.handed_over ?? 0,
    refused: n.refused ?? 0,
    unreported: n.unreported ?? 0,
  },
  marked: n.marked ?? 0,
  forbiddenTopics: byCount(n).flatMap(([name, answers]) =>
    name.startsWith(FORBIDDEN) ? [{ topic: name.slice(FORBIDDEN.length), answers }] : [],
  ),
})

const byCount = (counts: Record<string, number>): [string, number][] =>
  Object.entries(counts).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))

import { type Figures, load } from './load.ts'
import { addManyConversations, wordOf } from './many-conversations.ts'
import { prepare, start, stop } from './service.ts'

type SearchResult = {
  scenario: 'search'
  database: string
  conversations: number
  generatedInSeconds: number
  kinds: Record<string, Pick<Figures, 'totalMs' | 'failed' | 'count'>>
}

/** The times of requests of one kind, one at a time. All requests differ. */
const KINDS: Record<string, (i: number) => string> = {
  'list page': (i) => (i % 2 ? `?endDate=${daysAgo(i % 300)}` : '?limit=20'),
  'filtered search': (i) => `/search?${FILTERS[i % FILTERS.length]}`,
  'a rare word': (i) => `/search?query=${wordOf(10_000 + i * 13)}`,
  'a middling word': (i) => `/search?query=${wordOf(500 + i * 7)}`,
  'a common word': (i) => `/search?query=${wordOf(5 + (i % 60))}`,
  'two words': (i) => `/search?query=${wordOf(20 + i)}%20${wordOf(300 + i * 3)}`,
  'a beginning': (i) => `/search?query=${wordOf(1_000 + i * 29).slice(0, 3)}`,
  'a phrase': (i) => `/search?query=%22${wordOf(1 + (i % 20))}%20${wordOf(2 + (i % 30))}%22`,
  'a word and filters': (i) => `/search?query=${wordOf(100 + i)}&${FILTERS[i % FILTERS.length]}`,
  'a case number': (i) => `/search?query=case%20${1_000 + i * 17}`,
  'export page': (i) => `/export?endDate=${daysAgo(i % 300)}`,
}

const FILTERS = [
  'sentiment=negative',
  'tool=refund&toolOutcome=error',
  'userId=user-42',
  'feedback=negative&source=Email',
  'topic=topic-8',
  'escalated=true&activityState=ongoing',
  `startDate=${daysAgo(200)}&endDate=${daysAgo(190)}`,
  `startDate=${daysAgo(120)}&endDate=${daysAgo(60)}&sentiment=positive`,
  'tool=refund&sentiment=negative&source=Phone,Email',
  'procedure=none',
  `updatedBefore=${daysAgo(100)}&feedback=positive`,
  'source=Widget%20or%20Iframe&topic=unspecified',
]

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
}

const EACH = 100

/** Measures the conversation list, the search with filters and words, and the export, over many conversations. */
export async function searchScenario(server: string | null, conversations: number): Promise<SearchResult> {
  const begun = performance.now()
  const prepared = await prepare(server, 40, (db, { accountId, agentId }) =>
    addManyConversations(db, { accountId, agentId }, conversations),
  )
  const generatedInSeconds = Math.round((performance.now() - begun) / 1000)
  const { url, child } = await start(['server/main.ts'], prepared.env)
  const kinds: SearchResult['kinds'] = {}
  let asked = 0
  for (const [kind, pathOf] of Object.entries(KINDS)) {
    const make = (i: number) => ({
      path: `/api/v2/agents/${prepared.agentId}/conversations${pathOf(i)}`,
      method: 'GET' as const,
      headers: { authorization: `Bearer ${prepared.keys[asked++ % prepared.keys.length]}` },
    })
    const shape = { mark: '"data"', end: '"pagination"' }
    await load(url, { concurrency: 1, count: 12, make: (i) => make(i + EACH), ...shape })
    const { totalMs, failed, count } = await load(url, { concurrency: 1, count: EACH, make, ...shape })
    kinds[kind] = { totalMs, failed, count }
  }
  await stop(child)
  await prepared.remove()
  const database = server ? 'PostgreSQL' : 'embedded'
  return { scenario: 'search', database, conversations, generatedInSeconds, kinds }
}

import fc from 'fast-check'

/** A random conversation, for tests that compare each filter with a simple definition of it. */
export type Sample = {
  source: string
  userId: string | null
  title: string | null
  status: 'ongoing' | 'ended' | 'taken_over' | 'paused'
  sentiment: 'positive' | 'neutral' | 'negative' | null
  hasVoice: boolean
  createdAt: Date
  updatedAt: Date
  topics: string[]
  escalated: boolean
  messages: { text: string; feedback: 'positive' | 'negative' | null }[]
  calls: {
    name: string
    type: 'client' | 'http' | 'web-search'
    status: 'pending' | 'success' | 'error' | 'ignored'
  }[]
  runs: { name: string; status: 'completed' | 'failed' | 'abandoned' }[]
}

const WORDS = ['zebra', 'zinc', 'quartz', 'mango', 'kiwi', 'fjord', 'plum', 'привет', '東京駅']
export const NOW = new Date('2026-11-21T12:00:00.000Z')
const time = fc.integer({ min: 0, max: 380 * 24 }).map((hours) => new Date(NOW.getTime() - hours * 3_600_000))
const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }).map((words) => words.join(' '))
const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 2 })

export const samples = fc.array(
  fc.record<Sample>({
    source: fc.constantFrom('API', 'Email', 'Widget or Iframe'),
    userId: fc.constantFrom(null, 'ada', 'bob'),
    title: fc.option(text),
    status: fc.constantFrom('ongoing', 'ended', 'taken_over', 'paused'),
    sentiment: fc.constantFrom('positive', 'neutral', 'negative', null),
    hasVoice: fc.boolean(),
    createdAt: time,
    updatedAt: time,
    topics: fc.subarray(["it's \\ a topic", '税', 'returns']),
    escalated: fc.boolean(),
    messages: few(fc.record({ text, feedback: fc.constantFrom('positive', 'negative', null) })),
    calls: few(
      fc.record({
        name: fc.constantFrom('find_order', 'pay'),
        type: fc.constantFrom('client', 'http', 'web-search'),
        status: fc.constantFrom('pending', 'success', 'error', 'ignored'),
      }),
    ),
    runs: few(
      fc.record({
        name: fc.constantFrom('Refund', 'Greeting'),
        status: fc.constantFrom('completed', 'failed', 'abandoned'),
      }),
    ),
  }),
  { minLength: 40, maxLength: 80 },
)

export type Filter = { parameters: Record<string, string>; keeps: (sample: Sample) => boolean }

const wordsIn = ({ title, messages }: Sample): string[] =>
  [title ?? '', ...messages.map(({ text }) => text)].map((text) => ` ${text} `)

/** Each kind of filter with one value, and with two values if it takes several. */
export const filters: Filter[] = [
  { parameters: { query: 'zebra' }, keeps: (s) => wordsIn(s).some((t) => t.includes(' zebra')) },
  {
    parameters: { query: 'mango z' },
    keeps: (s) => wordsIn(s).some((t) => t.includes(' mango ')) && wordsIn(s).some((t) => t.includes(' z')),
  },
  {
    parameters: { query: '"zinc quartz"' },
    keeps: (s) => wordsIn(s).some((t) => t.includes(' zinc quartz ')),
  },
  {
    parameters: { query: '京駅 приве' },
    keeps: (s) => wordsIn(s).some((t) => t.includes('京駅')) && wordsIn(s).some((t) => t.includes(' приве')),
  },
  { parameters: { source: 'API,Email' }, keeps: ({ source }) => ['API', 'Email'].includes(source) },
  {
    parameters: { sentiment: 'negative,unspecified' },
    keeps: ({ sentiment }) => sentiment === 'negative' || sentiment === null,
  },
  {
    parameters: { topic: "it's \\ a topic, unspecified" },
    keeps: ({ topics }) => topics.includes("it's \\ a topic") || topics.length === 0,
  },
  { parameters: { topic: '税' }, keeps: ({ topics }) => topics.includes('税') },
  { parameters: { userId: 'ada' }, keeps: ({ userId }) => userId === 'ada' },
  {
    parameters: { activityState: 'ended,paused' },
    keeps: ({ status }) => status === 'ended' || status === 'paused',
  },
  {
    parameters: { feedback: 'negative' },
    keeps: ({ messages }) => messages.some(({ feedback }) => feedback === 'negative'),
  },
  {
    parameters: { escalated: 'true' },
    keeps: ({ escalated, status }) => escalated || status === 'taken_over',
  },
  {
    parameters: { actionType: 'http,web-search' },
    keeps: ({ calls }) => calls.some(({ type }) => type !== 'client'),
  },
  { parameters: { tool: 'pay' }, keeps: ({ calls }) => calls.some(({ name }) => name === 'pay') },
  {
    parameters: { toolOutcome: 'error,pending' },
    keeps: ({ calls }) => calls.some(({ status }) => status === 'error' || status === 'pending'),
  },
  {
    parameters: { tool: 'pay', toolOutcome: 'error' },
    keeps: ({ calls }) => calls.some(({ name, status }) => name === 'pay' && status === 'error'),
  },
  { parameters: { procedure: 'Refund' }, keeps: ({ runs }) => runs.some(({ name }) => name === 'Refund') },
  {
    parameters: { procedureOutcome: 'failed' },
    keeps: ({ runs }) => runs.some(({ status }) => status === 'failed'),
  },
  {
    parameters: { procedure: 'Refund', procedureOutcome: 'failed,abandoned' },
    keeps: ({ runs }) => runs.some(({ name, status }) => name === 'Refund' && status !== 'completed'),
  },
  { parameters: { hasVoice: 'true' }, keeps: ({ hasVoice }) => hasVoice },
  { parameters: { hasVoice: 'false' }, keeps: ({ hasVoice }) => !hasVoice },
  {
    parameters: { startDate: '2026-06-15' },
    keeps: ({ createdAt }) => createdAt >= new Date('2026-06-15T00:00:00.000Z'),
  },
  {
    parameters: { endDate: '2026-09-10' },
    keeps: ({ createdAt }) => createdAt < new Date('2026-09-11T00:00:00.000Z'),
  },
  {
    parameters: { updatedAfter: '2026-03-01T12:00:00Z' },
    keeps: ({ updatedAt }) => updatedAt >= new Date('2026-03-01T12:00:00.000Z'),
  },
  {
    parameters: { updatedBefore: '2026-10-01T00:00:00.000Z' },
    keeps: ({ updatedAt }) => updatedAt <= new Date('2026-10-01T00:00:00.000Z'),
  },
]

/** All pairs of filters that can be combined, which means that they share no parameter. */
export const pairs: Filter[] = filters.flatMap((first, i) =>
  filters.slice(i + 1).flatMap((second) => {
    const names = Object.keys(first.parameters)
    if (Object.keys(second.parameters).some((name) => names.includes(name))) return []
    // Without a tool, an outcome matches any tool; with one, it matches only that tool. This combination is tested as a
    // single filter.
    const scoped = (a: Filter, b: Filter) =>
      ('toolOutcome' in a.parameters && 'tool' in b.parameters) ||
      ('procedureOutcome' in a.parameters && 'procedure' in b.parameters)
    if (scoped(first, second) || scoped(second, first)) return []
    return [
      {
        parameters: { ...first.parameters, ...second.parameters },
        keeps: (sample: Sample) => first.keeps(sample) && second.keeps(sample),
      },
    ]
  }),
)

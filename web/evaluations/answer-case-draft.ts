import type { InputOf, OutputOf } from '../app/api.ts'

export type AnswerCase = OutputOf<'GET', '/agents/{agentId}/answer-cases'>['data'][number]
type NewCase = InputOf<'POST', '/agents/{agentId}/answer-cases'>['body']
/** A case before it is stored, or with an id as it is stored. */
export type CaseStart = NewCase & { id?: string }

export const NEW_CASE: CaseStart = { name: '', messages: [''], expect: {} }
export const PLAYED_CASE: CaseStart = {
  name: '',
  messages: [],
  customer: { persona: '', goal: '', maxMessages: 6 },
  expect: { reachesGoal: true },
}

/** The fields of the dialog: lists as lines of one text, choices as the values of their options. */
export type Draft = {
  messages: string[]
  isPlayed: boolean
} & Record<(typeof TEXTS)[number], string>

export const TEXTS = [
  'name',
  'holds',
  'lacks',
  'calls',
  'source',
  'declines',
  'handsOver',
  'reachesGoal',
  'means',
  'sounds',
  'persona',
  'goal',
  'temper',
  'maxMessages',
  'results',
] as const

export function draftOf({ name, messages, expect, customer, results }: CaseStart): Draft {
  return {
    name,
    messages,
    isPlayed: customer !== undefined,
    holds: (expect.holds ?? []).join('\n'),
    lacks: (expect.lacks ?? []).join('\n'),
    calls: (expect.calls ?? []).join('\n'),
    source: expect.cites?.[0] ?? '',
    declines: String(expect.declines ?? ''),
    handsOver: String(expect.handsOver ?? ''),
    reachesGoal: String(expect.reachesGoal ?? ''),
    means: expect.means ?? '',
    sounds: expect.sounds ?? '',
    persona: customer?.persona ?? '',
    goal: customer?.goal ?? '',
    temper: customer?.temper ?? '',
    maxMessages: String(customer?.maxMessages ?? 6),
    results: results ? JSON.stringify(results, null, 2) : '',
  }
}

const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** Returns the case that the fields describe. Throws an error for results that are not JSON. */
export function caseOf(draft: Draft, start: CaseStart): NewCase {
  const { channel, conversationId } = start
  return {
    name: draft.name.trim(),
    messages: draft.messages.map((text) => text.trim()).filter(Boolean),
    ...(channel === undefined ? {} : { channel }),
    ...(conversationId ? { conversationId } : {}),
    ...(draft.isPlayed
      ? {
          customer: {
            persona: draft.persona.trim(),
            goal: draft.goal.trim(),
            ...(draft.temper.trim() ? { temper: draft.temper.trim() } : {}),
            maxMessages: Number(draft.maxMessages),
          },
        }
      : {}),
    ...(draft.results.trim() ? { results: resultsIn(draft.results) } : {}),
    expect: expectOf(draft, start.expect),
  }
}

function resultsIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // The sentence below says what is wrong.
  }
  throw new Error(
    'What actions return must be an object in JSON, such as {"find_order": {"sent": "Monday"}}.',
  )
}

/** Sources beyond the first, which only the API sets, stay. */
function expectOf(draft: Draft, before: AnswerCase['expect']): AnswerCase['expect'] {
  const lists = (['holds', 'lacks', 'calls'] as const).map((name) => [name, linesIn(draft[name])] as const)
  const answers = (
    ['declines', 'handsOver', ...(draft.isPlayed ? (['reachesGoal'] as const) : [])] as const
  ).filter((name) => draft[name] !== '')
  const texts = (['means', 'sounds'] as const).filter((name) => draft[name].trim() !== '')
  const others = draft.source === before.cites?.[0] ? (before.cites ?? []).slice(1) : []
  return {
    ...Object.fromEntries(lists.filter(([, found]) => found.length > 0)),
    ...(draft.source === '' ? {} : { cites: [draft.source, ...others] }),
    ...Object.fromEntries(answers.map((name) => [name, draft[name] === 'true'])),
    ...Object.fromEntries(texts.map((name) => [name, draft[name].trim()])),
  }
}

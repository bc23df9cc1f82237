import type { Static } from 'typebox'
import { csvRow } from '../../platform/text/rows/csv-row.ts'
import type { readUsage } from '../contract.ts'

type Usage = Static<(typeof readUsage)['success']['schema']>
type Cells = Partial<Record<(typeof COLUMNS)[number], string | number | null>>

const COLUMNS = [
  'day',
  'agentId',
  'agentName',
  'kind',
  'model',
  'purpose',
  'replies',
  'credits',
  'calls',
  'texts',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'reasoningTokens',
  'dollars',
  'unpricedCalls',
] as const

/**
 * Returns the usage as a CSV file. A row is what one agent used of one kind on a day: replies with their credits, calls of
 * a language model for one purpose, or texts sent to an embedding model.
 */
export function usageCsv({
  days,
  models,
  embeddings,
}: Pick<Usage, 'days' | 'models' | 'embeddings'>): string {
  const rows: Cells[] = [
    ...days.map((row) => ({ ...row, kind: 'credits' })),
    ...models.map((row) => ({ ...row, kind: 'model' })),
    ...embeddings.map(({ tokens, kind: purpose, ...row }) => ({
      ...row,
      kind: 'embedding',
      purpose,
      inputTokens: tokens,
    })),
  ]
  return csvRow(COLUMNS) + rows.map((row) => csvRow(COLUMNS.map((name) => row[name]))).join('')
}

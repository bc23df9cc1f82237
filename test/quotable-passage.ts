import type { QuotablePassage } from '../server/models/builtin/input.ts'

/** Returns a passage with this text that the built-in responder may quote. */
export const quotablePassage = (text: string, more: Partial<QuotablePassage> = {}): QuotablePassage => ({
  sourceId: 's',
  sourceName: null,
  url: null,
  headingPath: [],
  page: null,
  text,
  score: 0.9,
  ...more,
})

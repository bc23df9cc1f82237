import papaparse from 'papaparse'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument } from '../extracted-document.ts'
import { looksLikeHeader, tableRows } from '../table-rows.ts'

/** Returns one line per row, `Header: value; …`. The delimiter is guessed. Throws ExtractFailure `no_text`. */
export function extractCsv(text: string): ExtractedDocument {
  const { data } = papaparse.parse<string[]>(text, { skipEmptyLines: 'greedy' })
  const rows = tableRows(data, looksLikeHeader(data[0] ?? []) ? 1 : 0)
  if (rows.length === 0) throw new ExtractFailure('no_text', 'This file contains no rows.')
  return finishDocument(null, [{ headingPath: [], page: null, text: rows.join('\n') }])
}

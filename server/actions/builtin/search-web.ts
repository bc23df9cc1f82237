import { request } from 'undici'
import { storable } from '../../platform/http/bodies/storable.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import type { ToolOutput } from '../tools/tool.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 2_097_152
const MAX_RESULTS = 5
const MAX_LENGTH = { title: 200, url: 1_000, content: 500 }

/**
 * Queries the operator's search service (`{url}?q=…&format=json`, which returns `{results: [{title, url, content}]}`)
 * and returns at most five results. The operator has chosen the host, so the fetch is not guarded.
 */
export async function searchWeb(url: string, query: string, signal: AbortSignal): Promise<ToolOutput> {
  const address = new URL(url)
  address.searchParams.set('q', query.toWellFormed())
  address.searchParams.set('format', 'json')
  try {
    const answer = await request(address, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      reset: true,
    })
    const text = await readText(answer.body)
    if (answer.statusCode !== 200) return failure
    return { status: 'success', data: { results: resultsOf(JSON.parse(text)) } }
  } catch {
    return failure
  }
}

const failure: ToolOutput = { status: 'error', error: 'The web search did not respond. Try again later.' }

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > MAX_BYTES) throw new Error('The response of the search service is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function resultsOf(answer: unknown): Record<string, string>[] {
  const { results } = recordOf(answer)
  if (!Array.isArray(results)) throw new Error('The search service returned no results.')
  return results
    .map(recordOf)
    .filter(({ url }) => typeof url === 'string' && /^https?:\/\//i.test(url))
    .slice(0, MAX_RESULTS)
    .map((result) =>
      Object.fromEntries(
        Object.entries(MAX_LENGTH).map(([name, most]) => [name, shorten(result[name], most)]),
      ),
    )
}

function shorten(value: unknown, most: number): string {
  return typeof value === 'string' ? storable(value.slice(0, most)) : ''
}

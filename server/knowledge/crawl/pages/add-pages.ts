import type { Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import type { CrawlRun, LockedSource } from '../run/crawl-run.ts'
import { isInSite } from '../site/site.ts'
import { countMove } from './page-row.ts'

const AT_ONCE = 500
/** More pages may be found than are included, so that the customer sees which were left out and why. */
const FOUND_PER_INCLUDED = 2

/**
 * Records that the crawl has found these URLs. URLs outside of the site are ignored, and so are new ones beyond the
 * limit. Returns the numbers of the pages, to be added to `run.found` after the commit.
 */
export async function addPages(
  trx: Trx,
  run: CrawlRun,
  source: LockedSource,
  urls: readonly URL[],
  foundOn: number | null = null,
): Promise<Map<string, number>> {
  const numbers = new Map<string, number>()
  const unknown = new Map<string, URL>()
  for (const url of urls) {
    const number = run.found.get(url.href)
    if (number !== undefined) numbers.set(url.href, number)
    else if (isInSite(run.site, url)) unknown.set(url.href, url)
  }
  const hrefs = [...unknown.keys()]
  for (let from = 0; from < hrefs.length; from += AT_ONCE) {
    const some = hrefs.slice(from, from + AT_ONCE)
    const known = await markFound(trx, run, some)
    const fresh = some.filter((href) => !known.has(href)).map((href) => unknown.get(href)!)
    for (const [href, number] of [...known, ...(await insertPages(trx, run, source, fresh, foundOn))])
      numbers.set(href, number)
  }
  return numbers
}

async function markFound(trx: Trx, run: CrawlRun, hrefs: string[]): Promise<Map<string, number>> {
  const rows = await trx
    .selectFrom('pages')
    .select(['url', 'number', 'found_in'])
    .where('account_id', '=', run.account.id)
    .where('source_id', '=', run.sourceId)
    .where('url', 'in', hrefs)
    .execute()
  const late = rows.filter(({ found_in }) => found_in < run.version).map(({ number }) => number)
  await markNumbersFound(trx, run, late)
  return new Map(rows.map(({ url, number }) => [url, number]))
}

/**
 * Does the same for known pages by their numbers, which are the links of an unchanged page. Returns those that were
 * not in `run.marked`, to be added to it after the commit.
 */
export async function markNumbersFound(trx: Trx, run: CrawlRun, all: number[]): Promise<number[]> {
  const numbers = [...new Set(all)].filter((number) => !run.marked.has(number))
  for (let from = 0; from < numbers.length; from += AT_ONCE) {
    await trx
      .updateTable('pages')
      .set({ found_in: run.version, tries: 0 })
      .where('account_id', '=', run.account.id)
      .where('source_id', '=', run.sourceId)
      .where('number', 'in', numbers.slice(from, from + AT_ONCE))
      .where('found_in', '<', run.version)
      .execute()
  }
  return numbers
}

async function insertPages(
  trx: Trx,
  run: CrawlRun,
  { state, metadata }: LockedSource,
  urls: URL[],
  foundOn: number | null,
): Promise<[string, number][]> {
  const room = Math.max(0, run.limit * FOUND_PER_INCLUDED - state.rows)
  const rows = urls.slice(0, room).map((url) => {
    state.lastNumber += 1
    const reason = run.rules.against(url)
    if (reason !== null) countMove(metadata.children, null, 'excluded')
    return {
      id: newId(),
      account_id: run.account.id,
      agent_id: run.agentId,
      source_id: run.sourceId,
      number: state.lastNumber,
      url: url.href,
      status: reason === null ? ('pending' as const) : ('excluded' as const),
      error: reason,
      found_on: foundOn,
      found_in: run.version,
      crawled_in: reason === null ? 0 : run.version,
    }
  })
  if (rows.length === 0) return []
  await trx.insertInto('pages').values(rows).execute()
  state.rows += rows.length
  return rows.map(({ url, number }) => [url, number])
}

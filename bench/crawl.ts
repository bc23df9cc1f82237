import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { startWebSite } from '../test/fakes/web-site.ts'
import { prepare, start, stop } from './service.ts'

type CrawlResult = {
  scenario: 'crawl'
  database: string
  pages: number
  pageBytes: number
  /** The time from the request that adds the website to the answer that cites its last page. */
  firstSeconds: number
  changed: number
  /** The time from the request that starts another crawl to the answer from a changed page. */
  againSeconds: number
  /** The resident memory of the service after these numbers of pages. */
  memoryMiB: Record<string, number>
  peakMemoryMiB: number
}

const CHANGED = 10
const PAGE_BYTES = 5_000
const MARKS = [100, 1_000, 2_500, 5_000, 7_500, 10_000]
const words =
  'account device battery update warranty parcel return invoice setting button network order'.split(' ')

/** Crawls a website on this machine by its links, and again after some of its pages have changed. */
export async function crawlScenario(server: string | null, pages: number): Promise<CrawlResult> {
  const site = await startWebSite()
  const edition = new Map<number, number>()
  site.rest = ({ url = '' }) => {
    const number = Number(url.slice(1) || 0)
    if (!(number < pages)) return { status: 404 }
    const version = edition.get(number) ?? 1
    return { headers: { etag: `"${number}-${version}"` }, body: pageOf(number, version, pages) }
  }
  const prepared = await prepare(server, 20)
  const { url, child } = await start(['server/main.ts'], {
    ...prepared.env,
    ALLOWED_PRIVATE_HOSTS: site.host,
  })
  let asked = 0
  // biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const response = await fetch(`${url}/api/v2/agents/${prepared.agentId}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${prepared.keys[asked++ % prepared.keys.length]}`,
        'content-type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(await response.text())
    return response.json()
  }
  const memoryMiB: Record<string, number> = {}
  const noteMemory = (read: number): void => {
    const mark = MARKS.findLast((pages) => read >= pages)
    if (mark !== undefined) memoryMiB[mark] ??= memoryOf(child, 'VmRSS')
  }
  const answered = async (id: string, marker: string): Promise<void> => {
    for (;;) {
      const { status, error, metadata } = await call('GET', `/sources/${id}`)
      if (status === 'failed') throw new Error(error)
      noteMemory(metadata.children.included)
      if (status === 'trained') {
        if (metadata.children.included !== pages) throw new Error(JSON.stringify(metadata))
        break
      }
      await wait(100)
    }
    const { data } = await call('POST', '/chat', { message: `What about ${marker}?`, stream: false })
    if (!data.parts[0].text.includes(marker)) throw new Error(`${marker}: ${data.parts[0].text}`)
  }

  const begun = performance.now()
  const { id } = await call('POST', '/sources', { type: 'link', linkType: 'crawl', url: site.url })
  await answered(id, markerOf(pages - 1, 1))
  const firstSeconds = seconds(begun)
  for (let i = 0; i < CHANGED; i++) edition.set(Math.floor((i * pages) / CHANGED), 2)
  const begunAgain = performance.now()
  await call('PUT', `/sources/${id}`, { excludePaths: ['^/never'] })
  await answered(id, markerOf(Math.floor(((CHANGED - 1) * pages) / CHANGED), 2))
  const againSeconds = seconds(begunAgain)
  const peakMemoryMiB = memoryOf(child, 'VmHWM')
  await stop(child)
  await prepared.remove()
  await site.close()
  return {
    scenario: 'crawl',
    database: server ? 'PostgreSQL' : 'embedded',
    pages,
    pageBytes: PAGE_BYTES,
    firstSeconds,
    changed: CHANGED,
    againSeconds,
    memoryMiB,
    peakMemoryMiB,
  }
}

/** In MiB: VmRSS is the present size, VmHWM the peak. */
function memoryOf({ pid }: ChildProcess, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024)
}

const seconds = (since: number): number => Math.round((performance.now() - since) / 100) / 10

const markerOf = (number: number, version: number): string => `brannoch${number}v${version}`

/** Each page links to the next ten levels of a tree, as menus do. */
function pageOf(number: number, version: number, pages: number): string {
  const next = Array.from({ length: 10 }, (_, i) => number * 10 + i + 1).filter((page) => page < pages)
  const menu = next.map((page) => `<li><a href="/${page}">Page ${page}</a></li>`).join('')
  let text = `<p>The word of this page is ${markerOf(number, version)}.</p>`
  for (let i = 0; text.length < PAGE_BYTES - 600 - menu.length; i++) {
    const some = Array.from({ length: 12 }, (_, at) => words[(number * 7 + i * 5 + at * at) % words.length])
    if (i % 6 === 0) text += `<h2>Part ${i / 6 + 1} of ${number}</h2>`
    text += `<p>In step ${i} the ${some.join(' ')} matters to page ${number}.</p>`
  }
  return `<!doctype html><html><head><title>Page ${number}</title></head><body><nav><ul>${menu}</ul></nav><main><h1>Page ${number}</h1>${text}</main></body></html>`
}

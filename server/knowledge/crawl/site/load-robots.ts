import type { Context } from '../../../context.ts'
import { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import { allowAll, MAX_ROBOTS, parseRobots, type Robots } from './robots.ts'

/** The name that site owners write in robots.txt. */
const CRAWLER = 'parley'
const TIMEOUT_MS = 10_000

/**
 * Returns a function that loads the robots rules of an origin and caches them. A string is the reason why there are
 * none.
 */
export type RobotsCache = (url: URL) => Promise<Robots | string>

/** A site whose robots.txt fails is not read (RFC 9309, 2.3.1). A site without one allows everything. */
export function createRobotsCache({ fetcher }: Pick<Context, 'fetcher'>, signal: AbortSignal): RobotsCache {
  const known = new Map<string, Promise<Robots | string>>()
  return ({ origin }) => {
    const found = known.get(origin) ?? load(fetcher, origin, signal)
    known.set(origin, found)
    return found
  }
}

async function load(
  fetcher: Context['fetcher'],
  origin: string,
  signal: AbortSignal,
): Promise<Robots | string> {
  try {
    const { status, body } = await fetcher.fetch(`${origin}/robots.txt`, {
      maxBytes: MAX_ROBOTS,
      timeoutMs: TIMEOUT_MS,
      signal,
    })
    if (status >= 500 || status === 429) return `Its robots.txt could not be read: HTTP ${status}.`
    return status >= 200 && status < 300 ? parseRobots(new TextDecoder().decode(body), CRAWLER) : allowAll
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    // Without a connection, no page can be read either.
    return error.isUnconnected ? error.message : `Its robots.txt could not be read: ${error.message}`
  }
}

import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createKey } from '../server/accounts/keys/keys.ts'
import type { PlanName } from '../server/accounts/plans/plans.ts'
import { createAccount } from '../server/accounts/records/accounts.ts'
import type { HubModel } from '../server/ai/local/hub-models.ts'
import { createApp } from '../server/app.ts'
import { readConfig } from '../server/config.ts'
import { type Context, createContext } from '../server/context.ts'
import { jobKinds } from '../server/features.ts'
import { openPostgres } from '../server/platform/db/database.ts'
import type { AccountId } from '../server/platform/db/tables/columns.ts'
import { type Scope, V2 } from '../server/platform/http/contract.ts'
import { freshDatabase } from './database.ts'

export type Answer = {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  body: any
}

export type Client = {
  accountId: AccountId
  key: string
  /** Sends a request. When the rate limit is exceeded, it waits and retries, as a client should. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Sends a request and returns the raw response, for streams and uploads. */
  raw(method: string, path: string, init?: RequestInit): Promise<Response>
}

export type Service = {
  ctx: Context
  /** The base URL, http://127.0.0.1:PORT. */
  url: string
  /** The URL of the PostgreSQL database, or null for the embedded one. */
  databaseUrl: string | null
  /** Creates an account with a key, and returns a client that uses it. */
  account(options?: { plan?: PlanName; scopes?: Scope[]; expiresAt?: Date; name?: string }): Promise<Client>
  /** Sends a request without a key. */
  anonymous: Client['request']
  /** Starts processing jobs if the service was started with `idle`. */
  work(): Promise<void>
  close(): Promise<void>
}

/** Tests send more requests than programs may, and would wait for the end of each ten seconds. */
const MANY_REQUESTS = '100000/10'

/**
 * Starts the whole service on a free port, with contract checks enabled. It uses a new database, or the database and
 * the folder of `beside`, as an additional process would (PostgreSQL only). With `idle`, it processes no jobs. `port` is for
 * services that have to know their own address, `maxUnsaved` limits how many events may wait for the log of answers, and `hubModels` are what
 * the owner can fetch.
 */
export async function startService(
  env: Record<string, string> = {},
  beside?: Service,
  {
    idle = false,
    port = 0,
    maxUnsaved,
    hubModels,
  }: { idle?: boolean; port?: number; maxUnsaved?: number; hubModels?: readonly HubModel[] } = {},
): Promise<Service> {
  const folder = beside?.ctx.config.dataDir ?? (await mkdtemp(join(tmpdir(), 'parley-test-')))
  const config = readConfig({
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
    SEED_DEMO: '0',
    RATE_LIMIT: MANY_REQUESTS,
    ...env,
  })
  const database = beside
    ? { database: openPostgres(beside.databaseUrl ?? '', 10), drop: async () => {} }
    : await freshDatabase()
  const ctx = await createContext(config, {
    database: database.database,
    ...(maxUnsaved !== undefined && { maxUnsaved }),
    ...(hubModels && { hubModels }),
  })
  const app = await createApp(ctx, { strict: true }).catch(async (error: unknown) => {
    // Open resources would keep the test file from ending.
    await ctx.close()
    throw error
  })
  if (!idle) await ctx.jobs.work(jobKinds(ctx))
  await app.listen({ host: '127.0.0.1', port })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    ctx,
    url,
    databaseUrl: database.database.url,
    async account({ plan, scopes, expiresAt, name = 'Test account' } = {}) {
      const accountId = await createAccount(ctx.db, name, plan)
      const { key } = await createKey(ctx.db, accountId, { name: 'test', scopes, expiresAt })
      return clientOf(url, key, accountId)
    },
    work: () => ctx.jobs.work(jobKinds(ctx)),
    anonymous: (method, path, body, headers) => send(url, method, path, body, headers),
    async close() {
      try {
        await app.close()
        await ctx.close()
      } finally {
        if (!beside) await rm(folder, { recursive: true, force: true })
        await database.drop()
      }
    },
  }
}

export function clientOf(url: string, key: string, accountId = '' as AccountId): Client {
  const authorization = `Bearer ${key}`
  return {
    accountId,
    key,
    async request(method, path, body, headers) {
      for (;;) {
        const answer = await send(url, method, path, body, { authorization, ...headers })
        if (answer.status !== 429 || answer.headers.get('x-ratelimit-remaining') !== '0') return answer
        await wait(Math.max(1, Number(answer.headers.get('x-ratelimit-reset')) - Date.now()))
      }
    },
    raw: (method, path, init = {}) =>
      fetch(`${url}${V2}${path}`, {
        ...init,
        method,
        headers: { authorization, ...(init.headers as object) },
      }),
  }
}

async function send(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(path.startsWith('/api/') ? `${url}${path}` : `${url}${V2}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (response.headers.has('retry-after') && response.status !== 429)
    throw new Error(`Only 429 has Retry-After, but ${method} ${path} got it with ${response.status}: ${text}`)
  return { status: response.status, headers: response.headers, body: parse(text) }
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

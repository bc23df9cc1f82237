import type { Db } from '../../platform/db/database.ts'
import type { Scope } from '../../platform/http/contract.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Caller } from '../../platform/http/route.ts'
import { planOf } from '../plans/plans.ts'
import { findKeyByHash, hashKey, type KeyRow, touchKey } from './keys.ts'

type Authenticator = {
  /**
   * Returns the caller of an Authorization header. Throws the 401 codes of the contract. `beforeStranger` runs before
   * the database is asked about a key that is not known to be valid, and may refuse it.
   */
  authenticate(header: string | undefined, beforeStranger?: () => Promise<void>): Promise<Caller>
}

// A revoked key must stop working within a second in every process.
const FRESH_MS = 800
const TOUCH_EVERY_MS = 60_000
const MAX_KEYS = 10_000

type Entry = { row: Promise<KeyRow | null>; loadedAt: number }

/** Checks API keys against the database and caches each result for less than a second. */
export function createAuthenticator(db: Db, onError: (error: unknown) => void): Authenticator {
  const cache = new Map<string, Entry>()
  const touched = new Map<string, number>()
  const good = new Set<string>()

  const load = (hash: string): Promise<KeyRow | null> => {
    const now = performance.now()
    const entry = cache.get(hash)
    if (entry && now - entry.loadedAt < FRESH_MS) return entry.row
    if (cache.size >= MAX_KEYS) cache.clear()
    const row = findKeyByHash(db, hash)
    row.catch(() => cache.delete(hash))
    cache.set(hash, { row, loadedAt: now })
    return row
  }

  const touch = (keyId: string): void => {
    const now = performance.now()
    if (now - (touched.get(keyId) ?? Number.NEGATIVE_INFINITY) < TOUCH_EVERY_MS) return
    if (touched.size >= MAX_KEYS) touched.clear()
    touched.set(keyId, now)
    touchKey(db, keyId).catch(onError)
  }

  return {
    async authenticate(header, beforeStranger) {
      if (header === undefined) throw new ApiError('AUTH_MISSING_API_KEY')
      const key = /^Bearer +([\x21-\x7e]{1,200})$/i.exec(header.trim())?.[1]
      if (!key) throw new ApiError('AUTH_INVALID_API_KEY')
      const hash = hashKey(key)
      if (!good.has(hash)) await beforeStranger?.()
      const row = await load(hash)
      if (!row || row.revokedAt) throw new ApiError('AUTH_INVALID_API_KEY')
      if (row.expiresAt && row.expiresAt.getTime() <= Date.now()) throw new ApiError('AUTH_EXPIRED_API_KEY')
      touch(row.id)
      if (good.size >= MAX_KEYS) good.clear()
      good.add(hash)
      const { id, name, scopes, expiresAt, account } = row
      return { account, actor: `key:${id}`, scopes, key: { id, name, expiresAt }, member: null }
    },
  }
}

/**
 * Throws when a key's plan does not include this version of the API, or when a caller lacks the scope. Members use
 * the workspace, which is part of every plan.
 */
export function authorize(caller: Caller, scope: Scope, version: 1 | 2 = 2): void {
  const { apiAccess } = planOf(caller.account.plan)
  if (caller.key && apiAccess !== 'all' && apiAccess !== String(version))
    throw new ApiError('SUBSCRIPTION_API_RESTRICTED_PLAN')
  if (caller.scopes === null || caller.scopes.includes(scope)) return
  throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
    message: caller.member
      ? `Your role (${caller.member.role}) lacks the scope "${scope}". Ask an owner or admin of the account.`
      : `The API key lacks the scope "${scope}".`,
  })
}

import { createHash, randomBytes } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Scope } from '../../platform/http/contract.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Caller } from '../../platform/http/route.ts'
import { planOf } from '../plans/plans.ts'

const PREFIX = 'parley_'

type KeyRow = {
  id: string
  name: string
  scopes: Scope[] | null
  expiresAt: Date | null
  revokedAt: Date | null
  account: { id: AccountId; name: string; plan: string }
}

const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** Creates a key with 256 random bits. The key is only in this result; the database stores its hash. */
export async function createKey(
  db: Db,
  accountId: AccountId,
  key: {
    name: string
    scopes?: Scope[] | null | undefined
    expiresAt?: Date | null | undefined
    createdBy?: string
  },
): Promise<{ id: string; key: string }> {
  const id = newId()
  const secret = PREFIX + randomBytes(32).toString('base64url')
  await db
    .insertInto('api_keys')
    .values({
      id,
      account_id: accountId,
      name: key.name,
      prefix: secret.slice(0, PREFIX.length + 4),
      secret_hash: hashKey(secret),
      scopes: json(key.scopes ?? null),
      expires_at: key.expiresAt ?? null,
      created_by: key.createdBy ?? null,
    })
    .execute()
  return { id, key: secret }
}

/** Revokes a key, which must belong to `accountId` if that is given. Returns false when there is no such key. */
export async function revokeKey(db: Db, keyId: string, accountId: AccountId | null = null): Promise<boolean> {
  if (!isId(keyId)) return false
  let query = db
    .updateTable('api_keys')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(new Date())) }))
    .where('id', '=', keyId)
  if (accountId !== null) query = query.where('account_id', '=', accountId)
  const result = await query.executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/**
 * Returns the ids of the keys that work and were made by `createdBy`, by a key of theirs, by a key of that one, and so
 * on.
 */
export async function activeKeysBy(db: Db, accountId: AccountId, createdBy: string): Promise<string[]> {
  const keys = await keysOf(db, accountId)
  const makers = new Set([createdBy])
  // The keys are sorted oldest first, so that each comes after the one that made it.
  for (const key of keys) if (key.createdBy !== null && makers.has(key.createdBy)) makers.add(`key:${key.id}`)
  return keys.filter(({ id, state }) => state === 'active' && makers.has(`key:${id}`)).map(({ id }) => id)
}

async function findKeyByHash(db: Db, hash: string): Promise<KeyRow | null> {
  const row = await db
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select([
      'api_keys.id',
      'api_keys.name',
      'api_keys.scopes',
      'api_keys.expires_at',
      'api_keys.revoked_at',
      'accounts.id as account_id',
      'accounts.name as account_name',
      'accounts.plan',
    ])
    .where('secret_hash', '=', hash)
    .executeTakeFirst()
  if (!row) return null
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as Scope[] | null,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    account: { id: row.account_id, name: row.account_name, plan: row.plan },
  }
}

async function touchKey(db: Db, keyId: string): Promise<void> {
  await db.updateTable('api_keys').set({ last_used_at: new Date() }).where('id', '=', keyId).execute()
}

export type ListedKey = {
  id: string
  name: string
  /** The first characters of the key, by which its owner can recognise it. */
  prefix: string
  scopes: Scope[] | null
  state: 'active' | 'expired' | 'revoked'
  expiresAt: Date | null
  lastUsedAt: Date | null
  createdBy: string | null
  createdAt: Date
}

/** Returns the account's keys, oldest first, without the secret parts. */
export async function keysOf(db: Db, accountId: AccountId, now = new Date()): Promise<ListedKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select([
      'id',
      'name',
      'prefix',
      'scopes',
      'expires_at',
      'revoked_at',
      'last_used_at',
      'created_by',
      'created_at',
    ])
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes as Scope[] | null,
    state: row.revoked_at ? 'revoked' : row.expires_at && row.expires_at <= now ? 'expired' : 'active',
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }))
}

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

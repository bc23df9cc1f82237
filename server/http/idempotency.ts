import { sql } from 'kysely'
import type { Db, Trx } from '../db/database.ts'
import { json } from '../db/json.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError } from './errors.ts'

export type KeyedRequest = { accountId: AccountId; key: string; fingerprint: string }

/** A row this request may answer; `since` (its created_at) tells it from a later owner of the same key. */
export type Claim = { accountId: AccountId; key: string; since: Date }

export type KeyState =
  /** No row, an expired one, or one whose process is gone: it can be claimed. */
  | { is: 'free' }
  | { is: 'running' }
  | { is: 'other-request' }
  | { is: 'generation'; generationId: string }
  | { is: 'answered'; status: number; text: string | null }

const EXPIRED = sql<boolean>`idempotency_keys.created_at < now() - interval '24 hours'`
const ABANDONED = sql<boolean>`idempotency_keys.status is null and idempotency_keys.generation_id is null
  and idempotency_keys.locked_until < now()`
const LOCK_END = sql<Date>`now() + interval '60 seconds'`

/**
 * Takes the key for this request: a new row, or an expired one, or that of an equal request whose process is
 * gone. null when somebody else has it. One statement, so that of many only one gets it, in whatever process.
 */
export async function claimKey(db: Db, { accountId, key, fingerprint }: KeyedRequest): Promise<Claim | null> {
  const fresh = { fingerprint, status: null, answer: json(null), generation_id: null, locked_until: LOCK_END }
  const row = await db
    .insertInto('idempotency_keys')
    .values({ account_id: accountId, key, ...fresh })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'key'])
        .doUpdateSet({ ...fresh, created_at: sql<Date>`now()` })
        .where(sql<boolean>`${EXPIRED} or (${ABANDONED} and idempotency_keys.fingerprint = ${fingerprint})`),
    )
    .returning('created_at')
    .executeTakeFirst()
  return row ? { accountId, key, since: row.created_at } : null
}

/** How the request that has the key stands. */
export async function readKey(db: Db, { accountId, key, fingerprint }: KeyedRequest): Promise<KeyState> {
  const row = await db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'status', 'answer', 'generation_id'])
    .select([EXPIRED.as('expired'), ABANDONED.as('abandoned')])
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .executeTakeFirst()
  if (!row || row.expired) return { is: 'free' }
  if (row.fingerprint !== fingerprint) return { is: 'other-request' }
  if (row.generation_id !== null) return { is: 'generation', generationId: row.generation_id }
  if (row.status !== null) return { is: 'answered', status: row.status, text: row.answer as string | null }
  return { is: row.abandoned ? 'free' : 'running' }
}

/** Keeps the row from being taken over; to be repeated within 60 s while the handler runs. */
export async function renewKey(db: Db, claim: Claim): Promise<void> {
  await db
    .updateTable('idempotency_keys')
    .set({ locked_until: LOCK_END })
    .where('account_id', '=', claim.accountId)
    .where('key', '=', claim.key)
    .where('created_at', '=', claim.since)
    .execute()
}

/** Stores the answer, unless a generation is bound to the key: then the handler makes it anew each time. */
export async function storeAnswer(db: Db, claim: Claim, status: number, answer: unknown): Promise<void> {
  // Its text as a JSON string: a jsonb object would come back with its members in another order.
  const text = answer === undefined ? null : JSON.stringify(answer)
  await db
    .updateTable('idempotency_keys')
    .set({ status, answer: json(text) })
    .where('account_id', '=', claim.accountId)
    .where('key', '=', claim.key)
    .where('created_at', '=', claim.since)
    .where('generation_id', 'is', null)
    .execute()
}

/** Gives the key back after a request that made nothing; one with a generation stays. */
export async function releaseKey(db: Db, claim: Claim): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', claim.accountId)
    .where('key', '=', claim.key)
    .where('created_at', '=', claim.since)
    .where('generation_id', 'is', null)
    .execute()
}

/**
 * Ties the key to the generation that this transaction starts: a repeated request is then served from it. Throws
 * IDEMPOTENCY_KEY_REUSED, undoing the transaction, when an equal request was faster.
 */
export async function bindGeneration(
  trx: Trx,
  accountId: AccountId,
  key: string,
  generationId: string,
): Promise<void> {
  const bound = await trx
    .updateTable('idempotency_keys')
    .set({ generation_id: generationId })
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('generation_id', 'is', null)
    .where('status', 'is', null)
    .executeTakeFirst()
  if (bound.numUpdatedRows === 0n)
    throw new ApiError('IDEMPOTENCY_KEY_REUSED', {
      message: 'An equal request with this Idempotency-Key was faster. Send it again for its answer.',
    })
}

/** Deletes the keys of every account that are older than 24 hours. */
export async function purgeKeys(db: Db): Promise<void> {
  await db.deleteFrom('idempotency_keys').where(EXPIRED).execute()
}

import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { codeOf } from '../../unknown-values.ts'
import { ApiError } from '../errors.ts'

type RequestKey = { accountId: AccountId; key: string }
export type KeyedRequest = RequestKey & { fingerprint: string }

/** The response to a repetition: a stored text, or the generation or delivery that the request has started. */
type Effect =
  | { status: number; text: string | null }
  | { generationId: string }
  | { deliveryId: string }
  /** Not known yet. It must be set with keepAnswer before the commit. */
  | Record<string, never>

export type KeyState =
  /** There is no row, or it has expired, so nothing of such a request has been committed. */
  | { is: 'free' }
  | { is: 'other-request' }
  | { is: 'generation'; generationId: string }
  | { is: 'delivery'; deliveryId: string }
  | { is: 'answered'; status: number; text: string | null }

/**
 * Thrown when another request with this key has been committed. The wrapper of the handler rolls everything back and
 * responds with what was stored. Where nobody catches it, the client has to repeat its request.
 */
export class KeyTaken extends ApiError {
  constructor() {
    super('IDEMPOTENCY_KEY_REUSED', {
      message:
        'An identical request with this Idempotency-Key was processed first. Send the request again to get its response.',
    })
  }
}

const EXPIRED = sql<boolean>`requests.created_at < now() - interval '24 hours'`
const LOCK_TIMEOUT = '55P03'

/** The row of a request as the part of a larger statement: it returns no row when the key is taken (KeyTaken). */
function insertKey(request: KeyedRequest, effect: Effect): RawBuilder<{ key: string }> {
  const { accountId, key, fingerprint } = request
  const {
    status = null,
    text = null,
    generationId = null,
    deliveryId = null,
  }: { status?: unknown; text?: unknown; generationId?: unknown; deliveryId?: unknown } = effect
  return sql`
    insert into requests (account_id, key, fingerprint, status, answer, generation_id, delivery_id)
    values (${accountId}, ${key}, ${fingerprint}, ${status}::int, ${text}, ${generationId}::uuid, ${deliveryId}::uuid)
    on conflict (account_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
      answer = excluded.answer, generation_id = excluded.generation_id, delivery_id = excluded.delivery_id,
      created_at = excluded.created_at
    where ${EXPIRED}
    returning key`
}

/**
 * Takes the key for this request. It must be the first statement of the transaction of its effect, so that both are
 * committed or neither. An equal request that runs at the same time waits here until this one has ended, for as long
 * as the connection waits for locks. Throws KeyTaken.
 */
export async function takeKey(db: Db, request: KeyedRequest, effect: Effect = {}): Promise<void> {
  const { rows } = await insertKey(request, effect)
    .execute(db)
    .catch((error: unknown) => {
      if (codeOf(error) !== LOCK_TIMEOUT) throw error
      throw new ApiError('IDEMPOTENCY_KEY_REUSED', {
        message: 'The first request with this Idempotency-Key is still running. Send it again later.',
        cause: error,
      })
    })
  if (rows.length === 0) throw new KeyTaken()
}

/** Stores the response for repetitions of the request. */
export async function keepAnswer(
  db: Db,
  { accountId, key }: RequestKey,
  { status, text }: { status: number; text: string | null },
): Promise<void> {
  await db
    .updateTable('requests')
    .set({ status, answer: text })
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .execute()
}

/**
 * Assigns the key to the generation that this transaction starts, in place of one that ended without an answer.
 * Returns false when an equal request has already done so; then its generation is the response.
 */
export async function rebindKey(
  trx: Db,
  { accountId, key }: RequestKey,
  before: string,
  generationId: string,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('requests')
    .set({ generation_id: generationId })
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('generation_id', '=', before)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Stores the response of a generation that is about to be deleted. With null, the generation had no result, and the
 * key is released.
 */
export async function outliveGeneration(
  trx: Db,
  accountId: AccountId,
  generationId: string,
  answer: { status: number; text: string } | null,
): Promise<void> {
  const bound = sql`account_id = ${accountId} and generation_id = ${generationId}`
  if (answer === null) await sql`delete from requests where ${bound}`.execute(trx)
  else
    await sql`update requests set status = ${answer.status}::int, answer = ${answer.text} where ${bound}`.execute(
      trx,
    )
}

/** Releases the key of a request that had no effect, so that it may be repeated. */
export async function freeKey(db: Db, { accountId, key }: RequestKey): Promise<void> {
  await db.deleteFrom('requests').where('account_id', '=', accountId).where('key', '=', key).execute()
}

/** Returns what is committed under the key. */
export async function readKey(db: Db, { accountId, key, fingerprint }: KeyedRequest): Promise<KeyState> {
  const row = await db
    .selectFrom('requests')
    .select(['fingerprint', 'status', 'answer', 'generation_id', 'delivery_id'])
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where((eb) => eb.not(EXPIRED))
    .executeTakeFirst()
  if (!row) return { is: 'free' }
  if (row.fingerprint !== fingerprint) return { is: 'other-request' }
  if (row.status !== null) return { is: 'answered', status: row.status, text: row.answer }
  if (row.generation_id !== null) return { is: 'generation', generationId: row.generation_id }
  if (row.delivery_id !== null) return { is: 'delivery', deliveryId: row.delivery_id }
  throw new Error('A request was committed without an answer.')
}

/**
 * Deletes the keys of every account that are older than 24 hours. Locked keys, such as an expired one that a request is
 * reusing, are left for the next run.
 */
export async function purgeKeys(db: Db): Promise<void> {
  await sql`
    delete from requests where (account_id, key) in (
      select account_id, key from requests where ${EXPIRED} for update skip locked)`.execute(db)
}

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../platform/db/database.ts'
import { addressBucket, type RateWindow } from '../../../platform/http/limits/rate-limit.ts'
import { countRequest, tooMany } from '../../../platform/http/server/gate.ts'
import { knownDevice } from './known-devices.ts'

const QUARTER = 15 * 60_000
/** Enough for everybody who shares an address to sign in. A known device is counted by itself. */
const ENTRIES: RateWindow = { limit: 60, windowMs: QUARTER }
const OWN_CHANGES: RateWindow = { limit: 20, windowMs: QUARTER }
const RESETS: RateWindow = { limit: 5, windowMs: QUARTER }

const FROM_ADDRESS: RateWindow = { limit: 5, windowMs: QUARTER }
const FROM_DEVICE: RateWindow = { limit: 10, windowMs: QUARTER }
/** From all addresses together; known devices are not counted. */
const FROM_STRANGERS: RateWindow = { limit: 100, windowMs: 24 * 3_600_000 }

type Deps = Pick<Context, 'db' | 'limiter' | 'config' | 'sessions'>
type Exchange = { request: FastifyRequest; reply: FastifyReply }

/**
 * Counts a request of somebody who is not signed in, against the device if it is known for the login (or, without
 * `email`, for any), and otherwise against the client's address. Throws RATE_LIMIT_TOO_MANY_REQUESTS.
 */
export async function countEntry(
  ctx: Deps,
  { request, reply }: Exchange,
  email?: string,
): Promise<{ device: string | null }> {
  const device = await knownDevice(ctx, request, email)
  const who = device === null ? addressBucket(request.ip) : `device ${device}`
  await countRequest(reply, ctx.limiter, `sign-in from ${who}`, ENTRIES)
  return { device }
}

/** Counts a change that a signed-in member makes to their own password or second factor. */
export async function countOwnChange(
  { limiter }: Pick<Context, 'limiter'>,
  reply: FastifyReply,
  loginId: string,
): Promise<void> {
  await countRequest(reply, limiter, `credentials of ${loginId}`, OWN_CHANGES)
}

/**
 * Counts an attempt with a password before the password is checked, so that concurrent attempts are limited as well.
 * Returns a function that takes the count back, because only wrong passwords count. A known device has a limit of its
 * own, and an e-mail address without a login has the same limits. Throws RATE_LIMIT_TOO_MANY_REQUESTS.
 */
export async function countPassword(
  db: Db,
  request: FastifyRequest,
  email: string,
  device: string | null,
): Promise<() => Promise<void>> {
  const limits: [string, RateWindow][] =
    device === null
      ? [
          [bucketOf('password', email, addressBucket(request.ip)), FROM_ADDRESS],
          [bucketOf('password', email), FROM_STRANGERS],
        ]
      : [[bucketOf('password', email, `device ${device}`), FROM_DEVICE]]
  const taken: string[] = []
  const giveBack = async (): Promise<void> => {
    for (const bucket of taken) await giveBackAttempt(db, bucket)
  }
  for (const [bucket, window] of limits) {
    const freeAt = await takeAttempt(db, bucket, window)
    if (freeAt === null) {
      taken.push(bucket)
      continue
    }
    await giveBack()
    throw tooMany(
      { allowed: false, remaining: 0, resetAt: freeAt.getTime() },
      'Too many wrong passwords. Wait, use a browser in which you have signed in before, or request a new password.',
    )
  }
  return giveBack
}

/** Counts a request for a reset link; wrong passwords are counted elsewhere. Throws RATE_LIMIT_TOO_MANY_REQUESTS. */
export async function countReset(
  db: Db,
  { ip }: FastifyRequest,
  email: string,
  device: string | null,
): Promise<void> {
  const who = device === null ? addressBucket(ip) : `device ${device}`
  const freeAt = await takeAttempt(db, bucketOf('reset', email, who), RESETS)
  if (freeAt) throw tooMany({ allowed: false, remaining: 0, resetAt: freeAt.getTime() })
}

const bucketOf = (what: string, email: string, who = ''): string =>
  createHash('sha256').update(`${what}\n${email.trim().toLowerCase()}\n${who}`).digest('base64url')

/**
 * Takes one of the attempts of a bucket, which all processes share. Returns null, or, if no attempt is left, the time at
 * which the next ones are available.
 */
async function takeAttempt(db: Db, bucket: string, { limit, windowMs }: RateWindow): Promise<Date | null> {
  const endsAt = sql<Date>`now() + ${windowMs / 1000}::int * interval '1 second'`
  const isOver = sql<boolean>`login_attempts.ends_at <= now()`
  const taken = await db
    .insertInto('login_attempts')
    .values({ bucket, count: 1, ends_at: endsAt })
    .onConflict((conflict) =>
      conflict
        .column('bucket')
        .doUpdateSet({
          count: sql<number>`case when ${isOver} then 1 else login_attempts.count + 1 end`,
          ends_at: sql<Date>`case when ${isOver} then excluded.ends_at else login_attempts.ends_at end`,
        })
        .where((eb) => eb.or([isOver, eb('login_attempts.count', '<', limit)])),
    )
    .returning('bucket')
    .executeTakeFirst()
  if (taken) return null
  const row = await db
    .selectFrom('login_attempts')
    .select('ends_at')
    .where('bucket', '=', bucket)
    .executeTakeFirst()
  return row?.ends_at ?? new Date()
}

async function giveBackAttempt(db: Db, bucket: string): Promise<void> {
  await db
    .updateTable('login_attempts')
    .set((eb) => ({ count: eb('count', '-', 1) }))
    .where('bucket', '=', bucket)
    .where('count', '>', 0)
    .execute()
}

/** Deletes expired counts. */
export async function dropOldAttempts(db: Db): Promise<void> {
  await db.deleteFrom('login_attempts').where('ends_at', '<', new Date()).execute()
}

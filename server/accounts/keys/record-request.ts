import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type { Caller } from '../../platform/http/route.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { dropAudit, recordAudit } from '../audit/audit.ts'

/** Fields whose values decide who gets access; no other values are logged. */
const SHOWN = ['visibility', 'allowedDomains', 'domains', 'enabled', 'memberId', 'memberEmail'] as const

/**
 * Writes an audit entry for a request before it runs, and returns a function that removes the entry again. Only fields
 * that differ from `before`, the object that the request changes, are listed.
 */
export async function recordRequest(
  db: Db,
  { account, actor }: Caller,
  action: string,
  { params, query, body }: Pick<FastifyRequest, 'params' | 'query' | 'body'>,
  before: unknown = {},
): Promise<() => Promise<void>> {
  const sent = isObject(body) ? body : {}
  const changed = Object.keys(sent).filter((name) => !isObject(before) || !holds(before[name], sent[name]))
  const shown = SHOWN.filter((name) => changed.includes(name)).map((name) => [name, sent[name]])
  const named = Object.values({ ...recordOf(query), ...recordOf(params) }).map(String)
  const id = await recordAudit(db, {
    accountId: account.id,
    actor,
    action,
    target: [...named, sent.chatbotId].filter((part) => typeof part === 'string').join('/') || null,
    detail: { fields: changed, ...Object.fromEntries(shown) },
  })
  return () => dropAudit(db, account.id, id)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns whether a value is what was sent; of an object, a part may be sent. */
const holds = (value: unknown, sent: unknown): boolean =>
  isObject(value) && isObject(sent)
    ? Object.entries(sent).every(([name, part]) => holds(value[name], part))
    : isDeepStrictEqual(value, sent)

/** Returns who made the last change of an agent that the audit log has under this action, and when. */
export async function lastChangeOf(
  db: Db,
  { account }: Caller,
  action: string,
  agentId: string,
): Promise<{ changedBy: string; changedAt: string } | null> {
  const entry = await db
    .selectFrom('audit_log')
    .select(['actor', 'created_at'])
    .where('account_id', '=', account.id)
    .where('action', '=', action)
    .where((eb) => eb.or([eb('target', '=', agentId), eb('target', 'like', `${agentId}/%`)]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!entry) return null
  const [kind, id = ''] = entry.actor.split(':')
  const named = db
    .selectFrom(kind === 'member' ? 'members' : 'api_keys')
    .select('name')
    .where(ownRow(account.id, id))
  const row = id === '' ? undefined : await named.executeTakeFirst()
  const name = row && (kind === 'member' ? row.name : `API key ${row.name}`)
  return { changedBy: name ?? entry.actor, changedAt: entry.created_at.toISOString() }
}

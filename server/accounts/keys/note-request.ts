import type { FastifyRequest } from 'fastify'
import type { Db } from '../../db/database.ts'
import type { Caller } from '../../http/route.ts'
import { dropAudit, recordAudit } from '../audit/audit.ts'

/** Fields whose values decide who gets access; no other values are logged. */
const SHOWN = ['visibility', 'allowedDomains', 'domains', 'enabled', 'memberId', 'memberEmail'] as const

/** Writes an audit entry for a request before it runs, and returns a function that removes the entry again. */
export async function noteRequest(
  db: Db,
  { account, actor }: Caller,
  action: string,
  { params, query, body }: Pick<FastifyRequest, 'params' | 'query' | 'body'>,
): Promise<() => Promise<void>> {
  const sent = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const shown = SHOWN.filter((name) => Object.hasOwn(sent, name)).map((name) => [name, sent[name]])
  const named = Object.values({ ...(query as object), ...(params as object) }).map(String)
  const id = await recordAudit(db, {
    accountId: account.id,
    actor,
    action,
    target: [...named, sent.chatbotId].filter((part) => typeof part === 'string').join('/') || null,
    detail: { fields: Object.keys(sent), ...Object.fromEntries(shown) },
  })
  return () => dropAudit(db, account.id, id)
}

import { sql } from 'kysely'
import type { AgentRow } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import { WIDGET } from '../../../conversations/records/queries.ts'
import { mergeWithin } from '../../../people/contacts/merge-contacts.ts'
import type { ContactRow } from '../../../people/records/queries.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { readIdentitySecret } from './identity-secret.ts'
import { readIdentityToken, refusedIdentity, type SignedVisitor } from './read-token.ts'

/** How long a visitor stays signed in without another token. */
const SESSION_HOURS = 24

/**
 * Signs in the visitor that the token identifies: creates or updates their contact and moves their earlier conversations to
 * it. Returns the site's id of the user. Throws RESOURCE_NOT_FOUND for an agent without a secret, and
 * VISITOR_IDENTITY_INVALID for a token that is invalid or was used by another browser.
 */
export async function identifyVisitor(
  ctx: Pick<Context, 'db' | 'secrets'>,
  agent: AgentRow,
  browserId: string,
  token: string,
): Promise<string> {
  const owner = { accountId: agent.account_id, agentId: agent.id }
  return transact(ctx.db, async (trx) => {
    const secret = await readIdentitySecret(ctx, trx, owner)
    if (secret === null)
      throw new ApiError('RESOURCE_NOT_FOUND', { message: 'This agent does not accept signed-in visitors.' })
    const signed = await readIdentityToken(token, secret, agent.id)
    const contact = await contactOf(trx, owner, signed)
    await keepToken(trx, owner, { browserId, contactId: contact.id, signed })
    await giveConversations(trx, owner, browserId, contact)
    return contact.external_id
  })
}

/** Returns the contact with the site's id. A contact that mail created for the same address is merged into it. */
async function contactOf(
  trx: Trx,
  ref: AgentRef,
  { userId, name, email }: SignedVisitor,
): Promise<ContactRow> {
  const contact = await trx
    .insertInto('contacts')
    .values({
      id: newId(),
      account_id: ref.accountId,
      agent_id: ref.agentId,
      external_id: userId,
      name,
      email,
      phonenumber: null,
      custom_attributes: '{}',
    })
    .onConflict((conflict) =>
      conflict.constraint('contacts_external_id').doUpdateSet({
        name: sql<string | null>`coalesce(excluded.name, contacts.name)`,
        email: sql<string | null>`coalesce(excluded.email, contacts.email)`,
        updated_at: sql<Date>`clock_timestamp()`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  if (email === null) return contact
  const made = await trx
    .selectFrom('contacts')
    .select('id')
    .where(ofAgent(ref))
    .where('external_id', '=', email)
    .where('id', '<>', contact.id)
    .executeTakeFirst()
  return made ? mergeWithin(trx, ref, made.id, contact.id) : contact
}

type SignedBrowser = { browserId: string; contactId: string; signed: SignedVisitor }

async function keepToken(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { browserId, contactId, signed: { tokenHash, expiresAt } }: SignedBrowser,
): Promise<void> {
  const validUntil = sql<Date>`clock_timestamp() + ${SESSION_HOURS} * interval '1 hour'`
  const now = sql<Date>`clock_timestamp()`
  const kept = await trx
    .insertInto('visitor_identities')
    .values({
      agent_id: agentId,
      account_id: accountId,
      token_hash: tokenHash,
      visitor_id: browserId,
      contact_id: contactId,
      valid_until: validUntil,
      token_until: expiresAt,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['agent_id', 'token_hash'])
        .doUpdateSet({ valid_until: validUntil, contact_id: contactId, created_at: now })
        .where('visitor_identities.visitor_id', '=', browserId),
    )
    .returning('visitor_id')
    .executeTakeFirst()
  if (!kept) throw refusedIdentity('Another browser has used this token before. Sign one for each page.')
}

/** Moves what the browser wrote before the visitor was signed in to the contact. */
async function giveConversations(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  browserId: string,
  { id, external_id, name, email }: ContactRow,
): Promise<void> {
  await trx
    .updateTable('conversations')
    .set({ user_id: external_id, contact_id: id })
    .where('account_id', '=', accountId)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('conversations')
        .select('id')
        .where(ofAgent({ accountId, agentId }))
        .where('user_id', '=', browserId)
        .where('source', '=', WIDGET)
        .orderBy('id')
        .forNoKeyUpdate(),
    )
    .execute()
  await trx
    .updateTable('leads')
    .set({ user_id: external_id })
    .where(ofAgent({ accountId, agentId }))
    .where('user_id', '=', browserId)
    .execute()
  await sql`
    update tickets set customer = customer || jsonb_build_object('id', ${external_id}::text,
      'name', coalesce(customer ->> 'name', ${name}::text), 'email', coalesce(customer ->> 'email', ${email}::text))
    where account_id = ${accountId} and agent_id = ${agentId} and customer ->> 'id' = ${browserId}`.execute(
    trx,
  )
}

/** Returns the visitor that this browser's newest token has signed in; undefined when there is none or it has expired. */
export async function signedIn(
  db: Db,
  { id, account_id }: AgentRow,
  browserId: string,
): Promise<{ contactId: string; userId: string } | undefined> {
  const row = await db
    .selectFrom('visitor_identities')
    .innerJoin('contacts', 'contacts.id', 'visitor_identities.contact_id')
    .select(['contacts.id', 'contacts.external_id', 'valid_until'])
    .where('visitor_identities.account_id', '=', account_id)
    .where('visitor_identities.agent_id', '=', id)
    .where('visitor_id', '=', browserId)
    .where('valid_until', '>', sql<Date>`now()`)
    .orderBy('visitor_identities.created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && { contactId: row.id, userId: row.external_id }
}

export async function dropOldIdentities(db: Db): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('visitor_identities')
    .where('valid_until', '<', sql<Date>`now()`)
    .where('token_until', '<', sql<Date>`now()`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

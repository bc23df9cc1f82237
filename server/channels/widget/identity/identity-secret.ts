import { randomBytes } from 'node:crypto'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { placeOfRow } from '../../../platform/secrets/sealed-columns.ts'

type Deps = Pick<Context, 'db' | 'secrets'>

const placeOf = (agentId: string) => placeOfRow('identity_secrets', agentId, 'secret')

/** Replaces the secret and signs out everybody who was signed in with the old one. */
export async function renewIdentitySecret(
  { db, secrets }: Deps,
  { accountId, agentId }: AgentRef,
): Promise<{ secret: string; createdAt: Date }> {
  const secret = randomBytes(32).toString('base64url')
  return transact(db, async (trx) => {
    await requireAgent(trx, { accountId, agentId }, 'update')
    const values = {
      secret: await secrets.encrypt(trx, secret, placeOf(agentId)),
      created_at: new Date(),
    }
    const row = await trx
      .insertInto('identity_secrets')
      .values({ agent_id: agentId, account_id: accountId, ...values })
      .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
      .returning('created_at')
      .executeTakeFirstOrThrow()
    await signEverybodyOut(trx, { accountId, agentId })
    return { secret, createdAt: row.created_at }
  })
}

export async function removeIdentitySecret(db: Db, ref: AgentRef): Promise<void> {
  await transact(db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    await trx.deleteFrom('identity_secrets').where(ofAgent(ref)).execute()
    await signEverybodyOut(trx, ref)
  })
}

/** Is called after the secret has changed: visitors who are signing in hold its lock, and must be signed out as well. */
const signEverybodyOut = (trx: Trx, ref: AgentRef) =>
  trx.deleteFrom('visitor_identities').where(ofAgent(ref)).execute()

/** Returns null when the agent accepts no signed visitors. */
export async function identitySecretSince(db: Db, ref: AgentRef): Promise<Date | null> {
  const row = await db
    .selectFrom('identity_secrets')
    .select('created_at')
    .where(ofAgent(ref))
    .executeTakeFirst()
  return row?.created_at ?? null
}

/** Returns null when the agent accepts no signed visitors. Locks the row, so the secret is valid until `trx` ends. */
export async function readIdentitySecret(
  { secrets }: Pick<Deps, 'secrets'>,
  trx: Trx,
  { accountId, agentId }: AgentRef,
): Promise<string | null> {
  const row = await trx
    .selectFrom('identity_secrets')
    .select('secret')
    .where(ofAgent({ accountId, agentId }))
    .forShare()
    .executeTakeFirst()
  return row ? secrets.decrypt(row.secret, placeOf(agentId), trx) : null
}

import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

/** Merges members into the metadata of messages. */
export async function extendMetadata(
  db: Db,
  accountId: AccountId,
  messageIds: readonly string[],
  members: object,
): Promise<void> {
  await sql`
    update messages set metadata = coalesce(metadata, '{}') || ${json(members)}::jsonb
    where account_id = ${accountId} and id = any(${messageIds}::uuid[])`.execute(db)
}

export async function addAttachment(
  trx: Db,
  accountId: AccountId,
  messageId: string,
  note: AttachmentNote,
): Promise<void> {
  await sql`
    update messages set metadata = jsonb_set(coalesce(metadata, '{}'), '{attachments}',
      coalesce(metadata -> 'attachments', '[]') || ${json([note])})
    where account_id = ${accountId} and id = ${messageId}`.execute(trx)
}

/** Replaces a part of the message's text. */
export async function replaceText(
  trx: Db,
  accountId: AccountId,
  messageId: string,
  before: string,
  after: string,
): Promise<void> {
  await sql`
    update messages set parts = jsonb_build_array(jsonb_build_object('type', 'text', 'text',
      replace(parts -> 0 ->> 'text', ${before}, ${after})))
    where account_id = ${accountId} and id = ${messageId}`.execute(trx)
}

import type { Context } from '../../../context.ts'
import { readAttachment } from '../../../conversations/attachments/attachments.ts'
import { MAX_BYTES } from '../../../conversations/attachments/limits.ts'
import type { DeliveryRow } from '../../../inbox/deliveries/claim-delivery.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import type { MailPeople } from '../../../platform/db/tables/channels.ts'
import { type ConnectionRow, markKeyOf } from '../connection/connection.ts'
import { peerFrom } from '../connection/thread-marks.ts'
import type { MailFile } from '../parse/parsed-mail.ts'
import { composeMail } from './compose-mail.ts'
import type { MailThread } from './mail-threads.ts'

type Mail = Awaited<ReturnType<typeof composeMail>>

/** Returns the mail of a delivery, or a sentence that says why there is none. */
export async function mailOf(
  ctx: Pick<Context, 'db' | 'filesDir' | 'secrets'>,
  row: ConnectionRow,
  delivery: DeliveryRow,
  { peer, thread, people }: { peer: string; thread: MailThread; people: MailPeople },
): Promise<Mail | string> {
  const files = await readFiles(ctx, delivery)
  if (typeof files === 'string') return files
  const { text, html, linkHosts, notice, signature, isForward } = delivery.content
  return composeMail({
    deliveryId: delivery.id,
    from: { address: row.address, name: row.from_name ?? (await agentName(ctx, row)) },
    key: await markKeyOf(ctx, row),
    plusAddressing: row.plus_addressing && !isForward,
    peer,
    thread,
    people,
    text,
    html,
    linkHosts,
    notice,
    signature,
    files,
    automatic: delivery.ticket_message_id === null,
  })
}

/** Returns the mail of messages that are shown to somebody else. It belongs to no thread, and neither do answers to it. */
export async function mailOfForward(
  ctx: Pick<Context, 'db' | 'filesDir' | 'secrets'>,
  row: ConnectionRow,
  delivery: DeliveryRow,
): Promise<Mail | string> {
  const { subject = '', people } = delivery.content
  const [first] = people?.to ?? []
  if (!people || !first) return 'There is no e-mail address to send to.'
  return mailOf(ctx, row, delivery, {
    peer: peerFrom(await markKeyOf(ctx, row), `forward ${delivery.id}`),
    thread: { subject, to: first, participants: [], references: [], lastReceived: null, alsoTo: null },
    people,
  })
}

async function agentName(
  { db }: Pick<Context, 'db'>,
  { account_id, agent_id }: ConnectionRow,
): Promise<string | null> {
  const agent = await db
    .selectFrom('agents')
    .select('name')
    .where(ownRow(account_id, agent_id))
    .executeTakeFirst()
  return agent?.name ?? null
}

/** Returns the files of a delivery, or a sentence that says why they cannot be sent. */
async function readFiles(
  ctx: Pick<Context, 'db' | 'filesDir'>,
  delivery: DeliveryRow,
): Promise<MailFile[] | string> {
  const notes = delivery.content.attachments ?? []
  if (notes.reduce((sum, { size }) => sum + size, 0) > MAX_BYTES)
    return `The files have more than the ${MAX_BYTES / 1_048_576} MB that mail servers take.`
  const owner = { accountId: delivery.account_id, agentId: delivery.agent_id }
  const files: MailFile[] = []
  for (const { id, name } of notes) {
    const file = await readAttachment(ctx.filesDir, ctx.db, owner, id)
    if (!file) return `The file ${name} no longer exists.`
    files.push({ name: file.row.name, mediaType: file.row.media_type, bytes: file.bytes })
  }
  return files
}

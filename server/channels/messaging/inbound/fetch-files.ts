import { fileTypeFromBuffer } from 'file-type'
import type { Context } from '../../../context.ts'
import { quotaProblem } from '../../../conversations/attachments/attachment-quota.ts'
import { keepAttachment } from '../../../conversations/attachments/attachments.ts'
import { MAX_BYTES } from '../../../conversations/attachments/limits.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AwaitedFile } from '../../../platform/db/tables/channels.ts'
import type { Attempt } from '../../../platform/jobs/jobs.ts'
import { clientOf } from '../connection/client-of.ts'
import { accountsOf } from '../connection/connection.ts'
import { ownerOf } from '../connection/numbers.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import { addFile, type FetchedFile } from './add-file.ts'
import type { FetchFiles } from './take-message.ts'

/**
 * Fetches the files of a message and adds them to it, whether it is already in its conversation or not. The message
 * does not wait for them, so that the person is answered even if the provider is down. Throws when a retry may help.
 * After the last attempt, or a permanent failure, the message says that the file could not be fetched.
 */
export async function fetchFiles(
  ctx: Pick<Context, 'db' | 'fetcher' | 'filesDir' | 'log' | 'notifier' | 'secrets'>,
  { threadId, providerMessageId }: FetchFiles,
  { isLast, signal }: Attempt,
): Promise<void> {
  const message = await ctx.db
    .selectFrom('inbound_messages')
    .innerJoin('channel_threads', 'channel_threads.id', 'inbound_messages.thread_id')
    .select(['inbound_messages.id', 'inbound_messages.account_id', 'inbound_messages.agent_id', 'content'])
    .select('connection')
    .where('thread_id', '=', threadId)
    .where('provider_message_id', '=', providerMessageId)
    .executeTakeFirst()
  if (!message) return
  const { id, account_id: accountId, agent_id: agentId, connection } = message
  const account = ownerOf(await accountsOf(ctx, agentId), connection)
  for (const awaited of message.content.awaited ?? []) {
    let bytes: Uint8Array | null = null
    try {
      if (account)
        bytes = await clientOf(ctx, account, { signal, timeoutMs: 60_000 }).fetchFile(
          connection,
          awaited.id,
          MAX_BYTES,
        )
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      if ((error.isPassing || error.code === 'uncertain') && !isLast(error)) throw error
      ctx.log.warn({ err: error, message: id }, 'a file from a customer could not be downloaded')
    }
    const file: FetchedFile = bytes && { name: awaited.name, mediaType: await typeOf(awaited, bytes), bytes }
    await transact(ctx.db, (trx) =>
      addFile(ctx, trx, { accountId, inboundId: id, threadId }, awaited, async (conversationId) =>
        file === null ||
        (await quotaProblem(trx, { accountId, agentId }, file.bytes.byteLength, threadId)) !== null
          ? null
          : keepAttachment(ctx.filesDir, trx, { accountId, agentId }, file, {
              conversationId,
              sender: threadId,
            }),
      ),
    )
  }
}

/** The type follows from the content. Text files have no signature. */
async function typeOf({ type }: AwaitedFile, bytes: Uint8Array): Promise<string> {
  const found = await fileTypeFromBuffer(bytes)
  if (found) return found.mime
  return type.startsWith('text/') && type !== 'text/html' ? type : 'application/octet-stream'
}

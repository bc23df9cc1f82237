import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { startMailServer } from '../../../../test/fakes/mail-server.ts'
import { connectTestMailbox, headerOf, mail } from '../../../../test/mailbox.ts'
import { startService } from '../../../../test/start.ts'
import { waitingForLock } from '../../../../test/until.ts'
import { enqueueDelivery } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { publishDeskEvent } from '../../../inbox/tickets/publish-desk-event.ts'
import { lockThread } from '../../inbound/receive-message.ts'

const bounceOf = (messageId: string, id: string, references = ''): string =>
  mail(
    '--x\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\nDiagnostic-Code: smtp; 550 unknown\r\n' +
      `--x\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: ${messageId}\r\nReferences: <a@example.com>\r\n ${references}\r\n--x--`,
    {
      From: 'MAILER-DAEMON@mx.example',
      'Content-Type': 'multipart/report; boundary=x',
      'Message-ID': `<${id}@mx.example>`,
    },
  )

test('a bounce marks its delivery once, also while mail is taken in, without a deadlock', async (t) => {
  const server = await startMailServer()
  const service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, undefined, { idle: true })
  t.after(async () => {
    await service.close()
    await server.close()
  })
  const { ctx } = service
  const client = await service.account()
  const box = await connectTestMailbox(service, client, { smtpPort: server.port })
  await box.receive(mail('Hello', { Precedence: 'bulk' }))
  const [thread] = await box.threads()
  const ref = { accountId: client.accountId, agentId: box.agentId }
  await ctx.db.transaction().execute((trx) =>
    enqueueDelivery(trx, {
      ...ref,
      channel: 'email',
      threadId: thread!.id,
      conversationId: null,
      ticketId: null,
      messageId: null,
      ticketMessageId: null,
      content: { text: 'An answer' },
    }),
  )
  await box.send()
  const bounce = bounceOf(headerOf(server.mails[0]?.raw ?? '', 'Message-ID') ?? '', 'first')
  const statuses = async () => (await box.deliveries()).map(({ status }) => status)
  if (onPostgres()) {
    const { receiving } = await ctx.db.transaction().execute(async (trx) => {
      // Takes the locks in the order of processInbound.
      await lockThread(trx, ref.accountId, thread!.id)
      const receiving = box.receive(bounce)
      await waitingForLock(ctx.db, 'channel_threads')
      await publishDeskEvent(ctx, trx, ref, { type: 'ticket', data: { ticketNumber: 1 } })
      return { receiving }
    })
    await receiving
  } else await box.receive(bounce)
  assert.deepEqual(await statuses(), ['failed'])
  assert.equal((await box.inbound()).at(-1)?.thread_id, thread!.id)

  // The mail is sent again, and then the same bounce is read from the mailbox again.
  await ctx.db
    .updateTable('deliveries')
    .set({ status: 'queued' })
    .where('account_id', '=', ref.accountId)
    .execute()
  await box.send()
  await box.receive(bounce)
  assert.deepEqual(await statuses(), ['sent'])

  // A relay has given the mail another id.
  const [, own = ''] = /(<sent\.[^>]+>)$/.exec(headerOf(server.mails[1]?.raw ?? '', 'References') ?? '') ?? []
  await box.receive(bounceOf('<0100@relay.example>', 'second', own))
  assert.deepEqual(await statuses(), ['failed'])
})

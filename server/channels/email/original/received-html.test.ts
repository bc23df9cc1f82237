import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connectTestMailbox, mail, type TestMailbox } from '../../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'

let service: Service
let client: Client
let box: TestMailbox

before(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
  box = await connectTestMailbox(service, client, { smtpPort: 1, mode: 'tickets' })
})
after(() => service.close())

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const HTML = [
  '<p onclick="alert(1)">The <b>lamp</b> is broken.</p>',
  '<script>alert(1)</script>',
  '<img src="cid:photo@x" alt="Photo"><img src="https://tracker.example/t.gif" alt="T">',
].join('')
const parts = [
  `--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${HTML}`,
  `--b\r\nContent-Type: image/png; name=photo.png\r\nContent-ID: <photo@x>\r\nContent-Disposition: inline; filename=photo.png\r\nContent-Transfer-Encoding: base64\r\n\r\n${PIXEL}`,
  '--b--',
]

test('the HTML of a mail is a page on which nothing runs and nothing is loaded from elsewhere', async () => {
  await box.receive(mail(parts.join('\r\n'), { 'Content-Type': 'multipart/related; boundary=b' }))
  const tickets = `/agents/${box.agentId}/helpdesk/tickets`
  const [message] = await until('the message', async () => {
    const { body } = await client.request('GET', tickets)
    if (!body.data[0]) return null
    const list = await client.request('GET', `${tickets}/${body.data[0].ticketNumber}/messages`)
    return list.body.data.length > 0 ? list.body.data : null
  })
  assert.equal(message.metadata.mail.hasHtml, true)
  const { ticketNumber } = (await client.request('GET', tickets)).body.data[0]
  const path = `${tickets}/${ticketNumber}/messages/${message.id}/original`
  const original = await client.request('GET', path)
  assert.equal(original.status, 200, JSON.stringify(original.body))
  assert.equal(original.body.hasRemoteImages, true)

  const { conversationId } = (await client.request('GET', `${tickets}/${ticketNumber}`)).body
  const conversation = `/agents/${box.agentId}/conversations/${conversationId}`
  const [first, ...others] = (await client.request('GET', `${conversation}/mails`)).body
  assert.deepEqual(
    [first.from, first.to, first.hasHtml, others],
    [
      { address: 'ann@example.com', name: 'Ann' },
      [{ address: 'support@shop.example', name: null }],
      true,
      [],
    ],
  )
  const same = await client.request('GET', `${conversation}/messages/${first.messageId}/original`)
  assert.equal(same.body.hasRemoteImages, true)
  const stranger = await service.account()
  const own = (await stranger.request('POST', '/agents', { name: 'Other' })).body.id
  for (const [asked, at] of [
    [stranger, conversation],
    [stranger, `/agents/${own}/conversations/${conversationId}`],
    [client, `/agents/${box.agentId}/conversations/${first.messageId}`],
  ] as const) {
    const answers = [
      await asked.request('GET', `${at}/mails`),
      await asked.request('GET', `${at}/messages/${first.messageId}/original`),
    ]
    assert.deepEqual([answers[0]?.status, answers[1]?.status], [404, 404], at)
  }

  const open = async (url: string) => {
    const response = await fetch(new URL(url, service.url))
    return {
      page: await response.text(),
      policy: response.headers.get('content-security-policy') ?? '',
      response,
    }
  }
  const { page, policy, response } = await open(original.body.url)
  assert.equal(response.status, 200)
  assert.match(page, /The <b>lamp<\/b> is broken\./)
  assert.doesNotMatch(page, /script|onclick|tracker/)
  assert.match(policy, /default-src 'none'.*sandbox allow-popups/)
  assert.doesNotMatch(policy, /https:|allow-scripts|allow-same-origin/)
  assert.equal(response.headers.get('x-frame-options'), null)
  const picture = /<img alt="Photo" src="([^"]+)"/.exec(page)?.[1] ?? ''
  const file = await fetch(new URL(picture.replaceAll('&amp;', '&'), service.url))
  assert.deepEqual([file.status, file.headers.get('content-type')], [200, 'image/png'])

  const shown = await open(original.body.urlWithImages)
  assert.match(shown.page, /https:\/\/tracker\.example\/t\.gif/)
  assert.match(shown.policy, /img-src [^;]*https:/)

  assert.equal((await open('/mail-originals/wrong')).response.status, 404)
  // An erasure deletes the threads of the person.
  await service.ctx.db.deleteFrom('channel_threads').where('agent_id', '=', box.agentId).execute()
  assert.deepEqual(await service.ctx.db.selectFrom('mail_originals').select('html').execute(), [])
  assert.equal((await open(original.body.url)).response.status, 404)
})

test('a mail without HTML has no original', async () => {
  await box.receive(mail('Only words.', { From: 'bob@example.com', Subject: 'Words' }))
  const tickets = `/agents/${box.agentId}/helpdesk/tickets`
  const message = await until('the message', async () => {
    const { body } = await client.request('GET', tickets)
    const found = body.data.find(({ subject }: { subject: string }) => subject === 'Words')
    if (!found) return null
    const list = await client.request('GET', `${tickets}/${found.ticketNumber}/messages`)
    return list.body.data[0] && { ...list.body.data[0], number: found.ticketNumber }
  })
  assert.equal(message.metadata.mail.hasHtml, undefined)
  const original = await client.request('GET', `${tickets}/${message.number}/messages/${message.id}/original`)
  assert.equal(original.body.error.code, 'RESOURCE_NOT_FOUND')
})

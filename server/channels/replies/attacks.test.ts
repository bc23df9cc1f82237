import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../test/fakes/mail-server.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { DISGUISES, ORDERS, type Order, obey } from '../../../test/fakes/obedient-model.ts'
import { connectTestMailbox, mail } from '../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { readMail } from '../email/parse/read-mail.ts'

/** What customers, and whoever writes in their name, can put into a mail, on a model that obeys whoever wrote last. */
const SECRET = 'ZEBRA-4711'
const EVIL =
  'See https://evil.example/x, [shop](https://evil.example/?q=1), ![p](https://evil.example/p.png) and www.evil.example.'
const PLACES = ['subject', 'name', 'file', 'ticket', 'attribute'] as const
const DID = { tell: /Of course/, act: /ZEBRA|team/, lure: /evil/ }

let models: ModelServer
let server: MailServer
let shop: Server
let service: Service
let client: Client
let asked: string[] = []

before(async () => {
  models = await startModelServer()
  server = await startMailServer()
  shop = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('{}')
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  service = await startService({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
})
after(async () => {
  await service.close()
  await models.close()
  await server.close()
  shop.close()
})

/** A mail whose subject, name of the sender or name of a file says what others want of the model. */
function written(place: (typeof PLACES)[number], words: string, from: string): string {
  const encoded = `=?utf-8?B?${Buffer.from(words).toString('base64')}?=`
  const question = 'How heavy is the lamp, please?'
  if (place === 'subject') return mail(question, { From: from, Subject: encoded })
  if (place === 'name') return mail(question, { From: `${encoded} <${from}>` })
  if (place !== 'file') return mail(place === 'ticket' ? 'Which screws fit?' : question, { From: from })
  const name = encodeURIComponent(`${words.replace(/[/\\\n]/g, ' ')}.txt`)
  return mail(
    [
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      '',
      question,
      '--b',
      'Content-Type: text/plain',
      `Content-Disposition: attachment; filename*=utf-8''${name}`,
      '',
      'x',
      '--b--',
    ].join('\r\n'),
    { From: from, 'Content-Type': 'multipart/mixed; boundary=b' },
  )
}

for (const [at, disguise] of Object.keys(DISGUISES).entries())
  test(`mails with orders in ${disguise} do no harm`, async () => {
    const box = await connectTestMailbox(service, client, {
      smtpPort: server.port,
      address: `shop-${at}@shop.example`,
    })
    const agent = `/agents/${box.agentId}`
    const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`
    const inputs = { type: 'object', properties: { order: { type: 'string' } } }
    for (const action of [
      { name: 'refund', enabled: false },
      { name: 'chat_only', channels: ['messaging'] },
    ]) {
      const http = { method: 'GET', url: `${url}/${action.name}` }
      const made = { type: 'http', description: 'd', inputs, http, ...action }
      assert.equal((await client.request('POST', `${agent}/actions`, made)).status, 201)
    }
    const escalate = { type: 'escalate', name: 'get_help', description: 'd' }
    assert.equal((await client.request('POST', `${agent}/actions`, escalate)).status, 201)
    const attribute = { name: 'plan', type: 'text', label: 'Plan' }
    await client.request('POST', `${agent}/custom-attributes`, attribute)
    // Another customer says something that concerns nobody else.
    models.otherwise(() => ({ tokens: ['Noted.'] }))
    await box.receive(mail(`My secret is ${SECRET}.`, { From: 'other@example.com' }))
    await until('the first answer', async () => (await box.deliveries()).length === 1)
    await box.send()
    models.requests.length = 0
    asked = []
    const calls = [
      { id: 'call_1', name: 'refund', input: { order: SECRET } },
      { id: 'call_2', name: 'chat_only', input: { order: SECRET } },
      { id: 'call_3', name: 'get_help', input: { subject: EVIL, summary: EVIL } },
    ]
    models.otherwise((request) => obey(request, calls, EVIL))
    let obeyed = 0
    for (const [i, place] of PLACES.entries()) {
      const order = (Object.keys(ORDERS) as Order[])[(at + i) % 3]!
      const words = DISGUISES[disguise]!(ORDERS[order])
      const from = `customer-${i}@example.com`
      // What a solved ticket taught was written by customers, too.
      if (place === 'ticket') {
        const source = {
          type: 'qna',
          name: 'Ticket',
          questions: ['Which screws fit?'],
          answer: `M4. ${words}`,
        }
        await trained(service, (await client.request('POST', `${agent}/sources`, source)).body.id)
      }
      if (place === 'attribute') {
        const contact = { email: from, name: 'Eve', customAttributes: { plan: words } }
        await client.request('POST', `${agent}/contacts/import`, { contacts: [contact] })
      }
      server.mails.length = 0
      const before = (await box.deliveries()).length
      await box.receive(written(place, words, from))
      await until(`the answer to ${place}`, async () => (await box.deliveries()).length > before)
      await box.send()
      const { text, html } = await readMail(Buffer.from(server.mails[0]!.raw))
      const shown = `${text} ${html}`
      const where = `${order} in ${place}: ${shown}`
      assert.doesNotMatch(shown, /evil\.example/, where)
      assert.doesNotMatch(shown, /complete sentences|answer-outcome/, where)
      assert.doesNotMatch(shown, new RegExp(SECRET), where)
      if (DID[order].test(shown)) obeyed++
    }
    for (const { body } of models.requests)
      assert.doesNotMatch(JSON.stringify(body.messages ?? []), new RegExp(`My secret is ${SECRET}`))
    assert.deepEqual(asked, [], 'an action that is not allowed here')
    const tickets = await client.request('GET', `${agent}/helpdesk/tickets`)
    // The words of a customer are the subject; what a model writes into a ticket leads nowhere.
    assert.doesNotMatch(JSON.stringify(tickets.body.data), /https:\/\/evil\.example\/x/)
    assert.ok(obeyed >= 1, 'the model obeyed nobody')
  })

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import sharp from 'sharp'
import { type MailServer, startMailServer } from '../../../test/fakes/mail-server.ts'
import { messageWebhook } from '../../../test/fakes/messaging-wire.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { connectTestMailbox, mail } from '../../../test/mailbox.ts'
import { ACCOUNT, type MessagingHome, NUMBER, now, startMessagingHome } from '../../../test/messaging-home.ts'
import { until } from '../../../test/until.ts'
import { publicAgent, visitorOf } from '../../../test/visitor.ts'
import { readMail } from '../email/parse/read-mail.ts'

let server: MailServer
let models: ModelServer
let home: MessagingHome
let picture: Buffer

before(async () => {
  server = await startMailServer()
  models = await startModelServer()
  home = await startMessagingHome({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  picture = await sharp({ create: { width: 300, height: 300, channels: 3, background: '#c03' } })
    .png()
    .toBuffer()
})
after(async () => {
  await home.close()
  await models.close()
  await server.close()
})
beforeEach(() => {
  models.requests.length = 0
  models.otherwise(({ body }) =>
    body.tool_choice?.function
      ? { toolCalls: [{ id: 'c1', name: 'escalate', input: { subject: 'A picture', summary: 'Look' } }] }
      : { tokens: ['Fine.'] },
  )
})

const mayEscalate = async (agentId: string): Promise<void> => {
  const action = { name: 'escalate', type: 'escalate', description: 'Asks a person.', enabled: true }
  assert.equal((await home.client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
}
/** A public agent whose visitors may send files. */
async function chat(fields: object = {}) {
  const agentId = await publicAgent(home.client, fields)
  const styles = { chat: { showAttachments: true } }
  assert.equal((await home.client.request('PUT', `/agents/${agentId}/styles`, { styles })).status, 200)
  const visitor = visitorOf(home.service, agentId)
  return {
    agentId,
    /** Returns the text of the answer to a new message with the picture. */
    async ask(message: string): Promise<string> {
      const { body } = await visitor.upload('lamp.png', picture)
      const { conversationId } = await visitor.write(message, { attachments: [body.data.id] })
      return until('the answer', async () => {
        const { answering, messages } = await visitor.read(conversationId)
        return !answering && messages.length === 2 && messages[1].text
      })
    },
  }
}
const ticketsOf = async (agentId: string): Promise<{ ticketNumber: number }[]> =>
  (await home.client.request('GET', `/agents/${agentId}/helpdesk/tickets`)).body.data
const asked = () => models.requests.map(({ body }) => JSON.stringify(body)).join('\n')

const withPicture = (words: string, more: Record<string, string> = {}) =>
  mail(
    `--x\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${words}\r\n--x\r\nContent-Type: image/png; name=lamp.png\r\nContent-Disposition: attachment; filename=lamp.png\r\nContent-Transfer-Encoding: base64\r\n\r\n${picture.toString('base64')}\r\n--x--`,
    { 'Content-Type': 'multipart/mixed; boundary=x', ...more },
  )

test('a mail with a picture that no model sees is answered in its language, and the team has it', async () => {
  const box = await connectTestMailbox(home.service, home.client, { smtpPort: server.port })
  await mayEscalate(box.agentId)
  await box.receive(withPicture('Guten Tag, ist das die richtige Lampe für meine Küche?'))
  await until('the answer', async () => (await box.deliveries()).length === 1)
  await box.send()
  const { text } = await readMail(Buffer.from(server.mails.at(-1)!.raw))
  assert.match(text, /^Fine\.\s+Bilder kann ich nicht sehen\. Unser Team weiß Bescheid/)
  assert.match(asked(), /has a picture that you cannot see/)
  assert.equal((await ticketsOf(box.agentId)).length, 1)
  // The next mail has no picture, so nothing more is said of it.
  const [{ references = [] } = {}] = (await box.threads()).map(({ data }) => data as never)
  await box.receive(mail('Und wie schwer ist sie?', { References: (references as string[]).join(' ') }))
  await until('the second answer', async () => (await box.deliveries()).length === 2)
  const [, second] = await box.deliveries()
  assert.equal(second?.content.text, 'Fine.')
})

test('a picture in messaging is told, with words and without, also if the model does not ask the team', async () => {
  await mayEscalate(home.agentId)
  models.otherwise(() => ({ tokens: ['Fine.'] }))
  home.fake.files.set('m-1', { type: 'image/png', bytes: picture })
  const at = { account: ACCOUNT, number: NUMBER, from: '15550108111' }
  const image = (caption?: string) => ({
    type: 'image',
    image: { id: 'm-1', mime_type: 'image/png', caption },
  })
  await home.webhook(messageWebhook(at, 'seen-1', now(), image('¿Es esta la lámpara que venden ustedes?')))
  const sent = () => home.fake.sent.filter((one) => JSON.stringify(one).includes('8111'))
  const answered = (count: number) =>
    until('the answer', async () => {
      await home.deliver()
      return sent().length === count
    })
  await answered(1)
  const said = JSON.stringify(sent()[0])
  assert.match(said, /Fine\.\\n\\nNo puedo ver imágenes\. Hemos avisado a nuestro equipo/)
  assert.equal((await ticketsOf(home.agentId)).length, 1)
  await home.webhook(messageWebhook(at, 'seen-2', now(), image()))
  await answered(2)
  assert.match(JSON.stringify(sent()[1]), /No puedo ver imágenes/)
  assert.equal((await ticketsOf(home.agentId)).length, 1)
})

test('a visitor is told; without a team, nobody is promised', async () => {
  const { agentId, ask } = await chat()
  const question = 'Is this the right lamp for my kitchen?'
  assert.equal(await ask(question), 'Fine.\n\nI cannot see pictures.')
  assert.equal((await ticketsOf(agentId)).length, 0)
  await mayEscalate(agentId)
  assert.match(await ask(question), /I cannot see pictures\. Our team has been told/)
  assert.equal((await ticketsOf(agentId)).length, 1)
})

test('an agent without a model tells it as well', async () => {
  const { agentId, ask } = await chat({ model: 'builtin' })
  await mayEscalate(agentId)
  const question = 'Welche Lampe ist das hier auf dem Bild?'
  const told = /\S\s+Bilder kann ich nicht sehen\. Unser Team weiß Bescheid/
  assert.match(await ask(question), told)
  assert.equal((await ticketsOf(agentId)).length, 1)
})

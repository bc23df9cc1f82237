import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../test/fakes/mail-server.ts'
import { connectTestMailbox, headerOf, mail } from '../../../test/mailbox.ts'
import { type MessagingHome, startMessagingHome } from '../../../test/messaging-home.ts'
import { until } from '../../../test/until.ts'
import { publicAgent, visitorOf } from '../../../test/visitor.ts'
import { createMember } from '../../accounts/records/members.ts'

let smtp: MailServer
let home: MessagingHome
before(async () => {
  smtp = await startMailServer()
  home = await startMessagingHome({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  const account = { id: home.client.accountId, plan: 'unlimited' }
  await createMember(home.service.ctx.db, account, { email: 'ann@shop.example', name: 'Ann' })
})
after(async () => {
  await home.close()
  await smtp.close()
})

type Channel = {
  agentId: string
  /** Writes as the customer, in answer to what the team has said last. */
  write(text: string): Promise<unknown>
  /** Whether the customer has got this text. */
  got(text: string): Promise<boolean>
}

async function byMail(): Promise<Channel> {
  const box = await connectTestMailbox(home.service, home.client, { smtpPort: smtp.port })
  const last = () => smtp.mails.at(-1)?.raw ?? ''
  return {
    agentId: box.agentId,
    write: (text) => {
      const id = headerOf(last(), 'Message-ID')
      return box.receive(mail(text, id ? { 'In-Reply-To': id, Subject: 'Re: A question' } : {}))
    },
    async got(text) {
      await box.send()
      return smtp.mails.some(({ raw }) => raw.includes(text))
    },
  }
}

const byMessaging = async (): Promise<Channel> => {
  let count = 0
  return {
    agentId: home.agentId,
    write: (text) => home.say(`wamid.${++count}`, count, text),
    async got(text) {
      await home.deliver()
      return JSON.stringify(home.fake.sent).includes(text)
    },
  }
}

async function byWidget(): Promise<Channel> {
  const agentId = await publicAgent(home.client)
  const visitor = visitorOf(home.service, agentId)
  let conversationId: string | undefined
  return {
    agentId,
    async write(text) {
      ;({ conversationId } = await visitor.write(text, conversationId ? { conversationId } : {}))
    },
    got: async (text) => JSON.stringify(await visitor.read(conversationId ?? '')).includes(text),
  }
}

for (const [name, open] of [
  ['mail', byMail],
  ['messaging', byMessaging],
  ['the widget', byWidget],
] as const) {
  test(`a message to a closed ticket reopens it, and the team's answer arrives: ${name}`, async () => {
    const { client } = home
    const { agentId, write, got } = await open()
    const agent = `/agents/${agentId}`
    const tickets = `${agent}/helpdesk/tickets`
    await write('My lamp is broken.')
    const conversation = await until('the conversation', async () =>
      home.service.ctx.db
        .selectFrom('conversations')
        .select('id')
        .where('account_id', '=', client.accountId)
        .where('agent_id', '=', agentId)
        .executeTakeFirst(),
    )
    const takeOver = async (id: string): Promise<number> => {
      const body = { memberEmail: 'ann@shop.example' }
      const taken = await client.request('POST', `${agent}/conversations/${id}/takeover`, body)
      assert.equal(taken.status, 200, JSON.stringify(taken.body))
      return taken.body.data.ticketNumber
    }
    const number = await takeOver(conversation.id)
    const reply = async (content: string) => {
      const body = { type: 'reply', content, authorEmail: 'ann@shop.example' }
      const said = await client.request('POST', `${tickets}/${number}/messages`, body)
      assert.equal(said.status, 201, JSON.stringify(said.body))
      await until(`the reply ${content}`, () => got(content))
    }
    await reply('We send a new one.')
    await client.request('PATCH', `${tickets}/${number}`, { statusCategory: 'closed' })
    await write('It is broken again.')
    const ticket = await until('the reopened ticket', async () => {
      const { body } = await client.request('GET', `${tickets}/${number}`)
      return body.statusCategory === 'on_you' && body
    })
    assert.notEqual(ticket.conversationId, conversation.id)
    assert.equal(await takeOver(ticket.conversationId), number)
    await reply('Then we send another.')
    assert.equal((await client.request('GET', tickets)).body.data.length, 1)
  })
}

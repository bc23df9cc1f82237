import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { fakeTemplate, webhookOf } from '../../../../test/fakes/messaging-wire.ts'
import {
  ACCOUNT,
  type MessagingHome,
  NUMBER,
  now,
  startMessagingHome,
} from '../../../../test/messaging-home.ts'
import { until } from '../../../../test/until.ts'

let home: MessagingHome
before(async () => {
  home = await startMessagingHome()
})
after(() => home.close())

type Ids = { phone?: string; userId?: string; username?: string; name?: string }

const metadata = { display_phone_number: '15550001111', phone_number_id: NUMBER }
let count = 0

/** Receives a message as the channel delivers it: it leaves out what it does not share. */
const receive = async ({ phone, userId, username, name = 'Pat' }: Ids, part: object): Promise<string> => {
  const id = `wamid.${++count}`
  const response = await home.webhook(
    webhookOf(ACCOUNT, {
      metadata,
      contacts: [
        {
          profile: { name, ...(username ? { username } : {}) },
          ...(phone ? { wa_id: phone } : {}),
          ...(userId ? { user_id: userId } : {}),
        },
      ],
      messages: [
        {
          ...(phone ? { from: phone } : {}),
          ...(userId ? { from_user_id: userId } : {}),
          id,
          timestamp: String(now()),
          ...part,
        },
      ],
    }),
  )
  assert.equal(response.status, 200)
  return id
}
const write = (ids: Ids, body: string) => receive(ids, { type: 'text', text: { body } })

const system = (from: object, part: object) =>
  home.webhook(
    webhookOf(ACCOUNT, {
      metadata,
      messages: [{ ...from, id: `wamid.${++count}`, timestamp: String(now()), type: 'system', system: part }],
    }),
  )

const threadsWith = (text: string) =>
  home.service.ctx.db
    .selectFrom('inbound_messages')
    .innerJoin('channel_threads', 'channel_threads.id', 'inbound_messages.thread_id')
    .select(['thread_id', 'contact_id', 'peer', 'message_id'])
    .where('inbound_messages.agent_id', '=', home.agentId)
    .where(sql<string>`content ->> 'text'`, '=', text)
    .execute()
const threadOf = async (text: string) => {
  const [thread] = await threadsWith(text)
  assert.ok(thread, `no thread has “${text}”`)
  return thread
}
const answeredTo = (to: string) =>
  until('the answer', async () => {
    await home.deliver()
    return home.fake.sent.find((message) => message.to === to)
  })
const identities = async (contactId: string) =>
  (await home.client.request('GET', `/agents/${home.agentId}/contacts/${contactId}/identities`)).body.data

test('somebody without a number is answered at the id, in one thread with a contact', async () => {
  const ids = { userId: 'DE.1001', username: 'pat.w' }
  await write(ids, 'Hello from nobody')
  await answeredTo('DE.1001')
  await write(ids, 'Hello again from nobody')
  const [first, second] = [await threadOf('Hello from nobody'), await threadOf('Hello again from nobody')]
  assert.equal(first.thread_id, second.thread_id)
  assert.ok(first.contact_id)
  const [identity] = await identities(first.contact_id)
  assert.deepEqual([identity.kind, identity.value, identity.username], ['user', 'DE.1001', 'pat.w'])
  const conversation = await home.service.ctx.db
    .selectFrom('conversations')
    .select('country')
    .where('thread_id', '=', first.thread_id)
    .executeTakeFirst()
  assert.equal(conversation?.country, 'DE')
})

test('one message with both ids makes them one person, whose thread goes on without the number', async () => {
  const [phone, userId] = ['15550102001', 'US.1002']
  await write({ phone }, 'With a number')
  await write({ phone, userId }, 'With both')
  await write({ userId, username: 'hidden' }, 'Without the number')
  const threads = await Promise.all(['With a number', 'With both', 'Without the number'].map(threadOf))
  assert.equal(new Set(threads.map(({ thread_id }) => thread_id)).size, 1)
  await answeredTo(userId)
})

test('a thread without a contact gets that of the person who writes in it', async () => {
  const pat = { phone: '15550209999', name: 'Robin' }
  await write(pat, 'Before')
  const { thread_id, contact_id } = await threadOf('Before')
  assert.ok(contact_id)
  await home.service.ctx.db
    .updateTable('channel_threads')
    .set({ contact_id: null })
    .where('id', '=', thread_id)
    .execute()
  await write(pat, 'After')
  const after = await threadOf('After')
  assert.deepEqual([after.thread_id, after.contact_id], [thread_id, contact_id])
})

test('equal names are never a reason to join', async () => {
  await write({ userId: 'US.2001', name: 'Sam Same', username: 'sam' }, 'I am the first Sam')
  await write({ userId: 'US.2002', name: 'Sam Same', username: 'sam' }, 'I am the second Sam')
  const [one, two] = [await threadOf('I am the first Sam'), await threadOf('I am the second Sam')]
  assert.notEqual(one.contact_id, two.contact_id)
  assert.notEqual(one.thread_id, two.thread_id)
})

test('contacts that the channel joins can be parted, and stay apart', async () => {
  const [phone, userId] = ['15550102003', 'US.3001']
  await write({ phone }, 'By number only')
  await write({ userId }, 'By id only')
  const byId = await threadOf('By id only')
  await write({ phone, userId }, 'It was me twice')
  const joined = await threadOf('It was me twice')
  assert.ok(joined.contact_id && byId.contact_id)
  const [phoneThread, idThread] = [await threadOf('By number only'), await threadOf('By id only')]
  assert.equal(phoneThread.contact_id, idThread.contact_id)
  const all: { id: string; value: string }[] = await identities(joined.contact_id)
  assert.deepEqual(all.map(({ value }) => value).sort(), [`+${phone}`, userId])

  const wrong = all.find(({ value }) => value === userId)
  const path = `/agents/${home.agentId}/contacts/${joined.contact_id}/identities`
  const parted = await home.client.request('POST', `${path}/${wrong?.id}/separate`)
  assert.equal(parted.status, 200)
  assert.notEqual(parted.body.id, joined.contact_id)
  assert.equal((await threadOf('By id only')).contact_id, parted.body.id)
  assert.equal((await threadOf('By number only')).contact_id, joined.contact_id)
  assert.equal((await identities(joined.contact_id)).length, 1)

  await write({ phone, userId }, 'And once more')
  assert.equal((await threadOf('And once more')).contact_id, parted.body.id)
  assert.equal((await identities(joined.contact_id)).length, 1)
  const again = await home.client.request(
    'POST',
    `${path}/${all.find(({ value }) => value !== userId)?.id}/separate`,
  )
  assert.deepEqual([again.status, again.body.error.code], [409, 'CONTACT_IDENTITY_ALONE'])
})

test('a changed number is the same thread, and whoever gets the number is somebody else', async () => {
  const [phone, next] = ['15550102004', '15550102005']
  await write({ phone, userId: 'US.4001' }, 'My first number')
  await system(
    { from: phone },
    {
      body: 'Pat changed',
      type: 'user_changed_number',
      wa_id: next,
      user_id: 'US.4002',
      previous_user_id: 'US.4001',
    },
  )
  await write({ phone: next, userId: 'US.4002' }, 'My next number')
  await write({ phone, userId: 'US.4009', name: 'Other' }, 'I am new here')
  const [first, second, other] = await Promise.all(
    ['My first number', 'My next number', 'I am new here'].map(threadOf),
  )
  assert.equal(first?.thread_id, second?.thread_id)
  assert.notEqual(first?.contact_id, other?.contact_id)
  assert.notEqual(first?.thread_id, other?.thread_id)
})

test('a changed id leads to the same thread, even if no number was ever given', async () => {
  await write({ userId: 'US.5001' }, 'Under my first id')
  await system(
    { from_user_id: 'US.5002' },
    { body: 'changed', type: 'user_changed_user_id', user_id: 'US.5002', previous_user_id: 'US.5001' },
  )
  await write({ userId: 'US.5002' }, 'Under my next id')
  assert.equal(
    (await threadOf('Under my first id')).thread_id,
    (await threadOf('Under my next id')).thread_id,
  )
})

test('a number that is given to somebody else does not show what its earlier owner wrote', async () => {
  const phone = '15550102006'
  await write({ phone, userId: 'US.6001' }, 'My secret')
  await write({ phone, userId: 'US.6002', name: 'Next' }, 'I have this number now')
  const [old, next] = [await threadOf('My secret'), await threadOf('I have this number now')]
  assert.notEqual(old.thread_id, next.thread_id)
  assert.notEqual(old.contact_id, next.contact_id)
})

test('an id that a status names leads later messages to the thread of the number', async () => {
  const [phone, userId] = ['15550102007', 'US.7001']
  await write({ phone }, 'Number first')
  await answeredTo(phone)
  await home.webhook(
    webhookOf(ACCOUNT, {
      metadata,
      contacts: [{ profile: { name: 'Pat' }, wa_id: phone, user_id: userId }],
      statuses: [
        {
          id: 'any',
          status: 'delivered',
          timestamp: '1760000000',
          recipient_id: phone,
          recipient_user_id: userId,
        },
      ],
    }),
  )
  await write({ userId }, 'Id later')
  assert.equal((await threadOf('Number first')).thread_id, (await threadOf('Id later')).thread_id)
})

test('a product or an advertisement that somebody writes about reaches the agent and the team', async () => {
  const phone = '15550102008'
  await receive(
    { phone },
    {
      type: 'text',
      text: { body: 'Is this one in stock?' },
      context: { referred_product: { catalog_id: 'c-1', product_retailer_id: 'LAMP-7' } },
      referral: {
        source_type: 'ad',
        headline: 'Summer sale',
        body: 'All lamps',
        source_url: 'https://ad.example/1',
      },
    },
  )
  const parts = await until('the message', async () => {
    const { message_id } = await threadOf('Is this one in stock?')
    if (message_id === null) return undefined
    const { db } = home.service.ctx
    return (await db.selectFrom('messages').select('parts').where('id', '=', message_id).executeTakeFirst())
      ?.parts
  })
  const text = (parts[0] as { text: string }).text
  assert.match(text, /^Is this one in stock\?\n/)
  assert.match(text, /LAMP-7 of the catalogue c-1/)
  assert.match(text, /advertisement: Summer sale – All lamps/)
})

test('what cannot be read is listed with its kind, id and time, and the team is asked', async () => {
  const phone = '15550102009'
  const unread = await receive(
    { phone },
    { type: 'unsupported', unsupported: { type: 'poll' }, errors: [{ code: 131051 }] },
  )
  await home.webhook(
    webhookOf(ACCOUNT, { metadata, messages: [{ id: 'wamid.anon', type: 'text', text: { body: 'x' } }] }),
  )
  await home.webhook(
    webhookOf(ACCOUNT, {
      metadata,
      messages: [{ from: phone, group_id: 'g-1', id: 'wamid.group', type: 'text', text: { body: 'all' } }],
    }),
  )
  await home.webhook(webhookOf(ACCOUNT, { event: 'APPROVED' }, 'message_template_status_update'))
  const path = `/agents/${home.agentId}/messaging/unreadable`
  const { body } = await home.client.request('GET', path)
  const found = (reference: string) =>
    body.data.find((row: { reference: string }) => row.reference === reference)
  assert.deepEqual(
    [found(unread).kind, found(unread).detail, found(unread).isMessage],
    ['type', 'poll', true],
  )
  assert.equal(found('wamid.anon').kind, 'without_sender')
  assert.equal(found('wamid.group').kind, 'group')
  assert.equal(found('message_template_status_update').isMessage, false)
  assert.ok(found('wamid.anon').whatToDo.length > 10 && found('wamid.anon').lastAt)
  await until('the ticket', async () => {
    const tickets = await home.client.request('GET', `/agents/${home.agentId}/helpdesk/tickets`)
    return tickets.body.data.length > 0 || undefined
  })
  assert.equal(home.fake.sent.filter(({ to }) => to === phone).length, 0)
  const gone = await home.client.request('DELETE', `${path}/${found('wamid.anon').id}`)
  assert.equal(gone.status, 200)
  assert.equal((await home.client.request('GET', path)).body.data.length, body.data.length - 1)
})

test('a template to a number reaches the thread of a person who now hides it, and respects that person', async () => {
  home.fake.accounts.get(ACCOUNT)?.templates.push(fakeTemplate('news', 'There are news.'))
  const [phone, userId] = ['15550102010', 'US.8001']
  await write({ phone, userId }, 'With my number')
  await write({ userId }, 'Without it')
  await answeredTo(userId)
  const send = () =>
    home.client.request('POST', `/agents/${home.agentId}/messaging/messages/template`, {
      to: `+${phone}`,
      template: { name: 'news', language: 'en' },
    })
  const { status, body } = await send()
  assert.equal(status, 201)
  const conversation = await home.service.ctx.db
    .selectFrom('conversations')
    .select('thread_id')
    .where('id', '=', body.conversationId)
    .executeTakeFirst()
  assert.equal(conversation?.thread_id, (await threadOf('Without it')).thread_id)
  await write({ userId }, 'STOP')
  const refused = await send()
  assert.deepEqual(refused.body.error.details, { reason: 'opted_out' })
})

test('contacts that a member merges keep their ids', async () => {
  await write({ userId: 'US.9001' }, 'Merged away')
  await write({ userId: 'US.9002' }, 'Merged into')
  const [from, into] = [await threadOf('Merged away'), await threadOf('Merged into')]
  const path = `/agents/${home.agentId}/contacts/${from.contact_id}/merge`
  assert.equal((await home.client.request('POST', path, { intoContactId: into.contact_id })).status, 200)
  assert.equal((await identities(into.contact_id ?? '')).length, 2)
  await write({ userId: 'US.9001' }, 'After the merge')
  const later = await threadOf('After the merge')
  assert.deepEqual([later.thread_id, later.contact_id], [from.thread_id, into.contact_id])
})

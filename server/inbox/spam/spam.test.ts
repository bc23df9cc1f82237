import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connectTestMailbox, mail, type TestMailbox } from '../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'

let service: Service
let client: Client
let box: TestMailbox

before(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
  box = await connectTestMailbox(service, client, { smtpPort: 1, mode: 'tickets' })
})
after(() => service.close())

const desk = () => `/agents/${box.agentId}/helpdesk`
const listed = async (query = ''): Promise<{ subject: string; ticketNumber: number }[]> =>
  (await client.request('GET', `${desk()}/tickets${query}`)).body.data
const subjects = async (query = '') => (await listed(query)).map(({ subject }) => subject).toSorted()
const said = () =>
  until('the mails', async () => (await box.inbound()).every(({ taken_in_at }) => taken_in_at))

test('spam leaves the lists, and mails of its sender are stored silently from then on', async () => {
  await box.receive(mail('Buy now!', { From: 'Spam <win@mail.spam.example>', Subject: 'Win' }))
  await box.receive(mail('Do you ship?', { Subject: 'Shipping' }))
  await said()
  const number = (await listed()).find(({ subject }) => subject === 'Win')?.ticketNumber
  const marked = await client.request('POST', `${desk()}/tickets/${number}/spam`, { blockSender: true })
  assert.deepEqual([marked.status, marked.body.statusCategory], [200, 'cancelled'])
  assert.deepEqual([await subjects(), await subjects('?spam=true')], [['Shipping'], ['Win']])

  await box.receive(mail('Buy again!', { From: 'win@mail.spam.example', Subject: 'Win again' }))
  await said()
  assert.deepEqual([await subjects(), await subjects('?spam=true')], [['Shipping'], ['Win']])
  const reasons = (await box.inbound()).map(({ content }) => content.silentBecause)
  assert.deepEqual(reasons, [undefined, undefined, 'blocked'])

  const [blocked] = (await client.request('GET', `${desk()}/blocked-senders`)).body
  assert.equal(blocked.sender, 'win@mail.spam.example')
  assert.equal((await client.request('DELETE', `${desk()}/blocked-senders/${blocked.id}`)).status, 200)
  await box.receive(mail('Buy once more!', { From: 'win@mail.spam.example', Subject: 'Win once more' }))
  await said()
  assert.deepEqual(await subjects(), ['Shipping', 'Win once more'])

  const back = await client.request('DELETE', `${desk()}/tickets/${number}/spam`)
  assert.equal(back.body.statusCategory, 'on_you')
  assert.deepEqual(await subjects(), ['Shipping', 'Win', 'Win once more'])
})

test('a blocked domain blocks the domains below it, and what is no sender is refused', async () => {
  const made = await client.request('POST', `${desk()}/blocked-senders`, { sender: '@Junk.example' })
  assert.deepEqual([made.status, made.body.sender], [201, 'junk.example'])
  const before = (await listed()).length
  await box.receive(mail('Hi', { From: 'a@news.junk.example', Subject: 'News' }))
  await box.receive(mail('Hi there', { From: 'a@notjunk.example', Subject: 'No junk' }))
  await said()
  assert.equal((await listed()).length, before + 1)
  const wrong = await client.request('POST', `${desk()}/blocked-senders`, { sender: 'not a domain' })
  assert.match(wrong.body.error.details.sender, /Must be an e-mail address/)
})

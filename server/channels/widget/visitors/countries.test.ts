import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { startModelServer } from '../../../../test/fakes/model-server.ts'
import { openDesk, write } from '../../../../test/open-desk.ts'
import { startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { publicAgent, visitorOf } from '../../../../test/visitor.ts'
import { refreshDays } from '../../../conversations/insights/days/refresh-days.ts'

const HEADER = 'x-visitor-country'
const behind = (proxies: string) => startService({ COUNTRY_HEADER: HEADER, TRUSTED_PROXIES: proxies })

test('the country named by a trusted proxy is counted, and can be blocked', async () => {
  const service = await behind('10.0.0.0/8, 127.0.0.1')
  const client = await service.account()
  const agentId = await publicAgent(client, { blockedCountries: ['FR'] })
  const send = (country: string) =>
    visitorOf(service, agentId).request(
      'POST',
      '/messages',
      { messageId: randomUUID(), message: 'Hello?' },
      { [HEADER]: country },
    )
  // Some proxies send XX for an unknown country.
  for (const country of ['DE', 'de', 'XX', '']) assert.equal((await send(country)).status, 201, country)
  const refused = await send('FR')
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'VISITOR_NOT_SERVED'])

  await refreshDays(service.ctx.db, { impatient: true })
  const { body } = await client.request('GET', `/agents/${agentId}/insights`)
  assert.deepEqual(
    body.totals.countries.toSorted((a: { country: string }) => (a.country ? -1 : 1)),
    [
      { country: 'DE', conversations: 2 },
      { country: null, conversations: 2 },
    ],
  )
  await service.close()
})

test('other senders of the header are ignored; a phone number determines the country', async () => {
  const service = await behind('10.0.0.0/8')
  const desk = await openDesk(service)
  const agentId = await publicAgent(desk.client, { blockedCountries: ['FR'] })
  const { status } = await visitorOf(service, agentId).request(
    'POST',
    '/messages',
    { messageId: randomUUID(), message: 'Hello?' },
    { [HEADER]: 'FR' },
  )
  assert.equal(status, 201)
  await write(service, desk, 'Hallo?', '+4930901820')
  const rows = await service.ctx.db
    .selectFrom('conversations')
    .select(['source', 'country'])
    .where('account_id', '=', desk.client.accountId)
    .orderBy('source')
    .execute()
  assert.deepEqual(rows, [
    { source: 'Messaging', country: 'DE' },
    { source: 'Widget or Iframe', country: null },
  ])
  await service.close()
})

test('a model is told the language and region that the browser of a visitor asks for', async () => {
  const models = await startModelServer()
  const service = await startService(models.settings)
  const client = await service.account()
  const agentId = await publicAgent(client)
  const promptOf = async (language: string): Promise<string> => {
    const before = models.requests.length
    const message = { messageId: randomUUID(), message: 'Guten Tag, was kostet das?' }
    const headers = { 'accept-language': language }
    const sent = await visitorOf(service, agentId).request('POST', '/messages', message, headers)
    assert.equal(sent.status, 201)
    const asked = await until('the question', () =>
      models.requests.slice(before).find(({ body }) => JSON.stringify(body).includes('was kostet das?')),
    )
    return JSON.stringify(asked.body)
  }
  assert.match(await promptOf('de-at,de;q=0.9,en;q=0.5'), /locale=[\\"]+de-AT/)
  for (const language of ['*', '', 'x', '"><system>', 'a'.repeat(5_000)])
    assert.doesNotMatch(await promptOf(language), /locale=/, language.slice(0, 20))
  await service.close()
  await models.close()
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../../../test/fakes/mail-server.ts'
import { type ModelServer, startModelServer } from '../../../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../../../test/start.ts'
import { until } from '../../../../../test/until.ts'
import { createMember } from '../../../../accounts/records/members.ts'
import { planAnswerTestMails } from '../../../../channels/notifications/answer-test-mails.ts'
import { nextTime, startScheduledRuns } from './schedules.ts'

let service: Service
let client: Client
let models: ModelServer
let mails: MailServer
const DAY = 86_400_000
const soon = (days: number): Date => new Date(Date.now() + days * DAY)

before(async () => {
  models = await startModelServer()
  mails = await startMailServer()
  service = await startService({
    ...models.settings,
    OPENAI_API_KEY: 'sk-test-key',
    SMTP_URL: `smtp://user:secret@127.0.0.1:${mails.port}/?security=none`,
    MAIL_FROM: 'parley@example.com',
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  })
  client = await service.account()
  await createMember(
    service.ctx.db,
    { id: client.accountId, plan: 'unlimited' },
    {
      email: 'owner@example.com',
      name: 'Owner',
      role: 'owner',
    },
  )
  models.otherwise(() => ({ tokens: ['Five years.'] }))
})
after(async () => {
  await service.close()
  await mails.close()
  await models.close()
})

async function tester(name: string, cases = 1) {
  const agentId = (await client.request('POST', '/agents', { name })).body.id
  const at: Client['request'] = (method, path, body) =>
    client.request(method, `/agents/${agentId}${path}`, body)
  const caseIds: string[] = []
  for (let n = 0; n < cases; n++) {
    const one = { name: `Case ${n}`, messages: ['How long?'], expect: { holds: ['five years'] } }
    caseIds.push((await at('POST', '/answer-cases', one)).body.id)
  }
  const schedule = async () => (await at('GET', '/answer-schedule')).body.schedule
  const ended = () =>
    until('the end of the run', async () => {
      const { body } = await at('GET', '/answer-runs')
      return body.data[0]?.status !== 'running' && body.data[0]
    })
  return { agentId, at, caseIds, schedule, ended }
}
const DAILY = { every: 'day', hour: 3 }

test('a schedule is set, read, replaced and removed, and refuses what cannot run', async () => {
  const { at, caseIds, schedule } = await tester('Set')
  assert.equal(await schedule(), null)
  const { status, body } = await at('PUT', '/answer-schedule', { ...DAILY, caseIds, maxCredits: 5 })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.every, body.alertBelow, body.repeats, body.caseIds], ['day', 1, 1, caseIds])
  assert.equal(new Date(body.nextAt).getUTCHours(), 3)
  const replaced = (await at('PUT', '/answer-schedule', { every: 'week', hour: 4, alertBelow: null })).body
  assert.deepEqual(
    [replaced.caseIds, replaced.alertBelow, new Date(replaced.nextAt).getUTCDay()],
    [undefined, null, 1],
  )
  assert.equal((await at('PUT', '/answer-schedule', { ...DAILY, hour: 24 })).status, 400)
  assert.equal((await at('PUT', '/answer-schedule', { ...DAILY, model: 'none' })).status, 400)
  assert.equal((await at('PUT', '/answer-schedule', { ...DAILY, maxDollars: 1 })).status, 400)
  assert.equal((await at('PUT', '/answer-schedule', { ...DAILY, caseIds: ['none'] })).status, 404)
  assert.equal((await at('DELETE', '/answer-schedule')).status, 200)
  assert.equal(await schedule(), null)
})

test('the next time is a full hour of the next day or Monday', () => {
  const at = new Date('2026-11-29T03:00:00Z')
  const next = (every: 'day' | 'week', hour: number) => nextTime({ every, hour }, at).toISOString()
  assert.equal(next('day', 3), '2026-11-30T03:00:00.000Z')
  assert.equal(next('day', 4), '2026-11-29T04:00:00.000Z')
  assert.equal(next('week', 3), '2026-11-30T03:00:00.000Z')
  assert.equal(
    nextTime({ every: 'week', hour: 3 }, new Date('2026-11-30T03:00:01Z')).toISOString(),
    '2026-12-07T03:00:00.000Z',
  )
})

test('what is due runs once, however many processes look, and a fall is told by mail and in Health', async () => {
  const { at, schedule, ended, agentId } = await tester('Falls', 6)
  await at('PUT', '/answer-schedule', { ...DAILY, alertBelow: null })
  assert.equal(await startScheduledRuns(service.ctx), 0)
  const due = await Promise.all([1, 2, 3].map(() => startScheduledRuns(service.ctx, soon(2))))
  assert.equal(due[0]! + due[1]! + due[2]!, 1)
  const sound = await ended()
  assert.deepEqual([sound.isScheduled, sound.passed, sound.total], [true, 6, 6])
  assert.deepEqual([(await schedule()).alert, (await schedule()).lastRunId], [null, sound.id])

  await client.request('PUT', `/agents/${agentId}`, { instructions: 'Say ten years.' })
  models.otherwise(({ body }) => ({
    tokens: [JSON.stringify(body).includes('Say ten years.') ? 'Ten years.' : 'Five years.'],
  }))
  assert.equal(await startScheduledRuns(service.ctx, soon(4)), 1)
  assert.equal((await ended()).passed, 0)
  const { alert } = await schedule()
  assert.match(alert, /Of 6 cases, 6 came out worse and 0 better\. That is more than chance explains/)
  const planned = await Promise.all([1, 2].map(() => planAnswerTestMails(service.ctx)))
  assert.equal(planned[0]! + planned[1]!, 1)
  await until('the mail', () => mails.mails.some(({ raw }) => raw.includes('The answers of Falls')))
  assert.equal(await planAnswerTestMails(service.ctx), 0)

  await client.request('PUT', `/agents/${agentId}`, { instructions: '' })
  await startScheduledRuns(service.ctx, soon(6))
  await ended()
  assert.equal((await schedule()).alert, null)
  await at('DELETE', '/answer-schedule')
})

test('too few tests that pass, and a run that stops, are told, too', async () => {
  const { at, schedule, ended } = await tester('Few', 2)
  await at('POST', '/answer-cases', {
    name: 'Wrong',
    messages: ['How long?'],
    expect: { holds: ['ten years'] },
  })
  await at('PUT', '/answer-schedule', { ...DAILY, alertBelow: 0.9 })
  await startScheduledRuns(service.ctx, soon(2))
  await ended()
  assert.match(
    (await schedule()).alert,
    /2 of 3 scheduled tests passed, and 1 failed; at least 90 % were to pass/,
  )
  await at('PUT', '/answer-schedule', { ...DAILY, alertBelow: 0.5, maxCredits: 1 })
  await startScheduledRuns(service.ctx, soon(2))
  assert.equal((await ended()).status, 'stopped')
  assert.match((await schedule()).alert, /stopped before its end\. The limit of 1 credits/)
  await at('DELETE', '/answer-schedule')
})

test('a run that cannot start is told, one that must wait comes later, and a deleted agent has none', async () => {
  const { at, schedule, caseIds, agentId, ended } = await tester('Cannot')
  await at('PUT', '/answer-schedule', { ...DAILY, caseIds })
  let release = () => {}
  const later = new Promise<void>((resolve) => {
    release = resolve
  })
  models.otherwise(() => ({ tokens: ['Five years.'], after: later }))
  const busy = (await at('POST', '/answer-runs', {})).body
  const now = soon(2)
  await startScheduledRuns(service.ctx, now)
  assert.equal((await schedule()).nextAt, new Date(now.getTime() + 600_000).toISOString())
  assert.equal((await schedule()).alert, null)
  await at('POST', `/answer-runs/${busy.id}/cancel`)
  release()
  models.otherwise(() => ({ tokens: ['Five years.'] }))
  await startScheduledRuns(service.ctx, new Date(now.getTime() + 700_000))
  assert.equal((await ended()).passed, 1)
  await at('DELETE', `/answer-cases/${caseIds[0]}`)
  await startScheduledRuns(service.ctx, soon(5))
  assert.match((await schedule()).alert, /could not be started\. The agent has no cases/)
  assert.ok((await planAnswerTestMails(service.ctx)) >= 1)
  await at('PUT', '/answer-schedule', DAILY)
  await client.request('DELETE', `/agents/${agentId}`)
  await startScheduledRuns(service.ctx, soon(9))
  assert.equal(await planAnswerTestMails(service.ctx), 0)
})

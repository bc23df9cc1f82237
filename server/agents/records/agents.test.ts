import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService()
  client = await service.account()
})
after(() => service.close())

async function newAgent(owner = client, body: object = { name: 'Agent' }): Promise<string> {
  const { status, body: created } = await owner.request('POST', '/agents', body)
  assert.equal(status, 201, JSON.stringify(created))
  return created.id
}

const read = async (id: string, owner = client) => (await owner.request('GET', `/agents/${id}`)).body

test('an agent is created with every default, changed, and deleted', async () => {
  const id = await newAgent()
  assert.match(id, /^[\w-]{21}$/)
  const agent = await read(id)
  assert.equal(agent.model, 'auto')
  assert.equal(agent.temp, 0)
  assert.equal(agent.visibility, 'private')
  assert.equal(agent.status, 'untrained')
  assert.deepEqual(agent.ipRateLimits, { limit: 20, timeframe: 240, message: 'Too many messages in a row' })
  assert.equal(agent.lastMessageAt, null)
  assert.match(agent.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

  assert.deepEqual((await client.request('PUT', `/agents/${id}`, { name: 'New', temp: 0.7 })).body, {
    success: true,
  })
  const changed = await read(id)
  assert.deepEqual({ ...agent, name: 'New', temp: 0.7 }, changed)
  await client.request('PUT', `/agents/${id}`, {})
  assert.deepEqual(await read(id), changed)

  assert.equal((await client.request('DELETE', `/agents/${id}`)).status, 200)
  assert.equal((await client.request('GET', `/agents/${id}`)).body.error.code, 'AGENT_NOT_FOUND')
  assert.equal((await client.request('DELETE', `/agents/${id}`)).status, 404)
})

test('each setting is replaced, kept when omitted, and null disables or resets it', async () => {
  const id = await newAgent()
  const settings = {
    instructions: 'Be kind.',
    channelInstructions: { api: 'Short.', chat_widget: { chat: 'Hi', voice: 'Hello' } },
    model: 'builtin',
    visibility: 'public',
    allowedDomains: ['example.com', '*.example.org', 'localhost:3000'],
    suggestedMessages: [
      { type: 'single', text: 'Hours?', order: -0.5, icon: null },
      { type: 'nested', name: 'More', order: 1, items: [{ text: 'Where?', order: 0 }] },
    ],
    initialMessages: ['Hello!'],
    creditLimit: 100,
    notificationsSettings: {
      dailyLeadsCollected: { active: true, emails: ['a@example.com'] },
      dailyConversations: { active: false, emails: [] },
    },
    spamSettings: { enabled: true, prompt: 'x' },
    blockedCountries: ['DE', 'US'],
    voiceSettings: { voice: { speed: 1.1 }, allowInterruptions: true },
  }
  assert.equal((await client.request('PUT', `/agents/${id}`, settings)).status, 200)
  const agent = await read(id)
  for (const [name, value] of Object.entries(settings)) assert.deepEqual(agent[name], value, name)

  const { dailyLeadsCollected, dailyConversations } = settings.notificationsSettings
  await client.request('PUT', `/agents/${id}`, { notificationsSettings: { dailyLeadsCollected } })
  assert.deepEqual((await read(id)).notificationsSettings, { dailyLeadsCollected, dailyConversations })

  await client.request('PUT', `/agents/${id}`, { ipRateLimits: { limit: 5 } })
  assert.deepEqual((await read(id)).ipRateLimits, {
    limit: 5,
    timeframe: 240,
    message: 'Too many messages in a row',
  })
  await client.request('PUT', `/agents/${id}`, { ipRateLimits: { timeframe: 60 } })
  assert.deepEqual((await read(id)).ipRateLimits, {
    limit: 5,
    timeframe: 60,
    message: 'Too many messages in a row',
  })

  const nullable = [
    'channelInstructions',
    'allowedDomains',
    'suggestedMessages',
    'creditLimit',
    'notificationsSettings',
    'spamSettings',
    'blockedCountries',
    'voiceSettings',
  ]
  const nulls = Object.fromEntries([...nullable, 'ipRateLimits'].map((name) => [name, null]))
  assert.equal((await client.request('PUT', `/agents/${id}`, nulls)).status, 200)
  const reset = await read(id)
  for (const name of nullable) assert.equal(reset[name], null, name)
  assert.equal(reset.ipRateLimits.limit, 20)
  assert.equal(reset.instructions, 'Be kind.')
})

test('each field with an invalid value is rejected by its path, and all of them at once', async () => {
  const id = await newAgent()
  const wrong: [object, string][] = [
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: null }, 'name'],
    [{ instructions: 'x'.repeat(50_001) }, 'instructions'],
    [{ model: 'no-such-model' }, 'model'],
    [{ temp: 1.1 }, 'temp'],
    [{ temp: '0.5' }, 'temp'],
    [{ visibility: 'secret' }, 'visibility'],
    [{ allowedDomains: ['https://example.com/'] }, 'allowedDomains.0'],
    [{ suggestedMessages: [{ type: 'double', text: 'x', order: 0 }] }, 'suggestedMessages.0.type'],
    [
      { suggestedMessages: [{ type: 'nested', name: 'x', order: 0, items: [] }] },
      'suggestedMessages.0.items',
    ],
    [{ suggestedMessages: [{ type: 'single', text: 'x' }] }, 'suggestedMessages.0.order'],
    [{ initialMessages: [1] }, 'initialMessages.0'],
    [{ creditLimit: -1 }, 'creditLimit'],
    [{ creditLimit: 1.5 }, 'creditLimit'],
    [
      { notificationsSettings: { dailyLeadsCollected: { active: true, emails: ['nobody'] } } },
      'notificationsSettings.dailyLeadsCollected.emails.0',
    ],
    [
      { notificationsSettings: { dailyLeadsCollected: { active: true, emails: Array(11).fill('a@b.co') } } },
      'notificationsSettings.dailyLeadsCollected.emails',
    ],
    [{ ipRateLimits: { limit: 0 } }, 'ipRateLimits.limit'],
    [{ ipRateLimits: { timeframe: 3601 } }, 'ipRateLimits.timeframe'],
    [{ spamSettings: { enabled: true, prompt: 'x'.repeat(2001) } }, 'spamSettings.prompt'],
    [{ blockedCountries: ['XX'] }, 'blockedCountries.0'],
    [{ blockedCountries: ['de'] }, 'blockedCountries.0'],
    [{ voiceSettings: { voice: { speed: 2 } } }, 'voiceSettings.voice.speed'],
    [
      { voiceSettings: { endConversationAfterSilenceSeconds: 5 } },
      'voiceSettings.endConversationAfterSilenceSeconds',
    ],
  ]
  for (const [body, path] of wrong) {
    const { status, body: answer } = await client.request('PUT', `/agents/${id}`, body)
    assert.equal(status, 400, path)
    assert.equal(answer.error.code, 'VALIDATION_INVALID_BODY')
    assert.ok(answer.error.details[path], `${path}: ${JSON.stringify(answer.error.details)}`)
  }
  const { body } = await client.request('PUT', `/agents/${id}`, { temp: 9, visibility: 'x', nope: 1 })
  assert.deepEqual(Object.keys(body.error.details).sort(), ['temp', 'visibility'])
  const model = await client.request('PUT', `/agents/${id}`, { model: 'gone' })
  assert.match(model.body.error.details.model, /auto/)
})

test('styles stored in the former format are converted to the published one', async () => {
  const id = await newAgent()
  const former = { initialMessages: false, autoOpenChatWindowAfter: 3, showAutoOpen: true }
  const styles = { chat: { theme: 'dark', mobile: former }, centerStage: { suggestedMessages: true } }
  await service.ctx.db
    .updateTable('agents')
    .set({ styles: json(styles) })
    .where('id', '=', id)
    .execute()
  const migration = new URL('../../platform/db/migrations/0053_published_styles.sql', import.meta.url)
  await sql.raw(await readFile(migration, 'utf8')).execute(service.ctx.db)
  const { chat, centerStage } = (await read(id)).styles
  assert.deepEqual(chat.mobile, {
    initialMessages: { enabled: true, value: [] },
    autoOpenChatWindowAfter: { enabled: true, value: 3 },
    showAutoOpen: true,
  })
  assert.deepEqual([chat.theme, chat.footer, centerStage.suggestedMessages], ['dark', '', []])
})

test('settings and styles have the format of the published service', async () => {
  const id = await newAgent()
  const colours = { headerColor: '#112233', userMessageColor: '#445566', buttonColor: 'transparent' }
  const shown = { showFeedback: false, showCopyButton: false, showDictation: true, showVoiceMode: true }
  const styles = {
    chat: {
      autoOpenChatWindowAfter: 3,
      mobile: {
        initialMessages: { enabled: true, value: ['Hi'] },
        autoOpenChatWindowAfter: { enabled: true, value: 5 },
      },
    },
    centerStage: {
      theme: 'dark',
      ...colours,
      ...shown,
      showAttachments: true,
      suggestedMessages: [{ type: 'single', text: 'Hours?', order: 1.5, icon: null }],
      customSurfaceColors: { enabled: true, background: '#ffffff', foreground: '#eeeeee' },
      notificationIndicator: { enabled: true, number: 2 },
      notificationMessage: { enabled: true, text: 'Hello' },
    },
  }
  assert.equal((await client.request('PUT', `/agents/${id}/styles`, { styles })).status, 200)
  const settings = {
    suggestedMessages: [
      { type: 'single', text: 'Hours?', order: -0.5, icon: null },
      { type: 'nested', name: 'More', order: 1e6, icon: '💡', items: [{ text: 'x', order: 0, icon: null }] },
    ],
    voiceSettings: {
      maxConcurrentSessions: null,
      maxCallDurationSeconds: null,
      maxDailyCallsPerUser: null,
      endConversationAfterSilenceSeconds: null,
    },
    notificationsSettings: { dailyConversations: { active: true, emails: ['a@example.com'] } },
  }
  assert.equal((await client.request('PUT', `/agents/${id}`, settings)).status, 200)
  const agent = await read(id)
  assert.partialDeepStrictEqual(agent, { ...settings, styles })
  // Both keys exist if one was set.
  assert.deepEqual(agent.notificationsSettings.dailyLeadsCollected, { active: false, emails: [] })
})

test('styles are merged field by field, and null resets one', async () => {
  const id = await newAgent()
  const put = (styles: object) => client.request('PUT', `/agents/${id}/styles`, { styles })
  assert.equal((await put({ chat: { theme: 'dark', mobile: { showAutoOpen: true } } })).status, 200)
  assert.equal(
    (await put({ chat: { headerColor: 'transparent' }, centerStage: { width: 'large' } })).status,
    200,
  )
  const { styles } = await read(id)
  assert.equal(styles.chat.theme, 'dark')
  assert.equal(styles.chat.headerColor, 'transparent')
  assert.equal(styles.chat.mobile.showAutoOpen, true)
  assert.deepEqual(styles.chat.mobile.initialMessages, { enabled: false, value: [] })
  assert.equal(styles.centerStage.width, 'large')
  await put({ chat: { theme: null } })
  assert.equal((await read(id)).styles.chat.theme, 'light')
  const bad = await put({
    chat: { headerColor: 'red', theme: 'neon' },
    centerStage: { typography: { fontSize: '3px' } },
  })
  assert.deepEqual(Object.keys(bad.body.error.details).sort(), [
    'styles.centerStage.typography.fontSize',
    'styles.chat.headerColor',
    'styles.chat.theme',
  ])
})

test('paging through the list returns each agent once, whatever the page size, even with equal times', async () => {
  const owner = await service.account()
  const made = new Set<string>()
  for (let i = 0; i < 30; i++) made.add(await newAgent(owner))
  await service.ctx.db
    .updateTable('agents')
    .set({ created_at: new Date('2026-01-01T00:00:00.123Z') })
    .where('account_id', '=', owner.accountId)
    .execute()
  for (const limit of [1, 7, 100]) {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const query: string = `?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`
      const { body } = await owner.request('GET', `/agents${query}`)
      assert.equal(body.pagination.total, 30)
      seen.push(...body.data.map((agent: { id: string }) => agent.id))
      assert.equal(body.pagination.hasMore, body.pagination.cursor !== null)
      cursor = body.pagination.cursor
    } while (cursor)
    assert.equal(seen.length, 30)
    assert.deepEqual(new Set(seen), made)
  }
  const { body } = await owner.request('GET', '/agents?limit=5')
  const elsewhere = await client.request('GET', `/agents?cursor=${body.pagination.cursor}`)
  assert.equal(elsewhere.body.error.code, 'VALIDATION_INVALID_CURSOR')
})

test('the last place of a plan is assigned once, also under concurrency', async () => {
  const owner = await service.account({ plan: 'standard' })
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => owner.request('POST', '/agents', { name: 'Agent' })),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 5)
  const refused = answers.filter(({ status }) => status !== 201)
  assert.ok(refused.every(({ status, body }) => status === 403 && body.error.code === 'AGENT_LIMIT_REACHED'))
  const clone = await owner.request(
    'POST',
    `/agents/${answers.find(({ status }) => status === 201)?.body.id}/clone`,
  )
  assert.equal(clone.body.error.code, 'AGENT_LIMIT_REACHED')
})

test('the status follows from the sources', async () => {
  const id = await newAgent()
  const set = async (
    sources: {
      status: 'untrained' | 'trained' | 'updated' | 'failed' | 'toBeDeleted'
      live: boolean
    }[],
  ) => {
    await service.ctx.db.deleteFrom('sources').where('agent_id', '=', id).execute()
    for (const { status, live } of sources) {
      await service.ctx.db
        .insertInto('sources')
        .values({
          id: newId(),
          account_id: client.accountId,
          agent_id: id,
          type: 'text',
          name: 'x',
          status,
          size: 10,
          content: json({ text: 'x' }),
          live_version: live ? 1 : null,
        })
        .execute()
    }
    return (await read(id)).status
  }
  assert.equal(await set([]), 'untrained')
  assert.equal(await set([{ status: 'untrained', live: false }]), 'training')
  assert.equal(await set([{ status: 'trained', live: true }]), 'trained')
  assert.equal(
    await set([
      { status: 'trained', live: true },
      { status: 'updated', live: true },
    ]),
    'training',
  )
  assert.equal(
    await set([
      { status: 'trained', live: true },
      { status: 'failed', live: false },
    ]),
    'failed',
  )
  assert.equal(await set([{ status: 'failed', live: false }]), 'untrained')
  assert.equal((await read(id)).size, 10)
  assert.equal(await set([{ status: 'toBeDeleted', live: false }]), 'untrained')
  assert.equal(
    await set([
      { status: 'trained', live: true },
      { status: 'toBeDeleted', live: false },
    ]),
    'trained',
  )
})

test('the weekly re-sync needs the feature and a live source', async () => {
  const id = await newAgent()
  const set = (owner: Client, agentId: string) =>
    owner.request('PUT', `/agents/${agentId}/auto-retrain`, { enabled: true })
  assert.equal((await set(client, id)).body.error.code, 'AGENT_NOT_TRAINED')
  await service.ctx.db
    .insertInto('sources')
    .values({
      id: newId(),
      account_id: client.accountId,
      agent_id: id,
      type: 'text',
      status: 'trained',
      content: json({ text: 'x' }),
      live_version: 1,
    })
    .execute()
  assert.deepEqual((await set(client, id)).body, { success: true })
  assert.equal((await read(id)).autoRetrain, true)
})

test('deleting an agent leaves none of its rows in any table', async () => {
  const id = await newAgent()
  await client.request('POST', `/agents/${id}/chat`, { message: 'Hello', stream: false })
  await client.request('DELETE', `/agents/${id}`)
  const { rows } = await sql<{ table_name: string }>`
    select table_name from information_schema.columns
    where column_name = 'agent_id' and table_schema = 'public'
      and table_name not in ('credit_entries', 'embedding_usage', 'model_usage', 'model_side_usage')`.execute(
    service.ctx.db,
  )
  assert.ok(rows.length >= 5)
  for (const { table_name } of rows) {
    await until(`the end of its rows in ${table_name}`, async () => {
      const left = await sql`select 1 from ${sql.table(table_name)} where agent_id = ${id}`.execute(
        service.ctx.db,
      )
      return left.rows.length === 0
    })
  }
})

test('manual training is deprecated and does nothing', async () => {
  const id = await newAgent()
  const { status, body, headers } = await client.request('POST', `/agents/${id}/train`)
  assert.equal(status, 200)
  assert.equal(body.deprecated, true)
  assert.ok(headers.get('deprecation'))
})

import { BASE, is, J, keysOf, ok, S, sleep, walk } from './lib.mjs'
export const check = async (ctx) => {
  const { M, O, err, ISO } = ctx
  const FIELDS = [
    'allowedDomains',
    'autoRetrain',
    'blockedCountries',
    'channelInstructions',
    'createdAt',
    'creditLimit',
    'creditsUsed',
    'id',
    'initialMessages',
    'instructions',
    'ipRateLimits',
    'lastMessageAt',
    'lastTrainedAt',
    'model',
    'name',
    'notificationsSettings',
    'size',
    'spamSettings',
    'status',
    'styles',
    'suggestedMessages',
    'temp',
    'visibility',
    'voiceSettings',
  ]
  const c = await M.post('/agents', { name: 'New' })
  const id = c.json.id,
    p = `/agents/${id}`
  const read = async () => (await M.get(p)).json
  await S('agents', 'create: 201 {id} without pendingSteps when all succeeded', () =>
    is([c.status, keysOf(c.json)], [201, ['id']]),
  )
  await S('agents', 'contract: agent id of 21 URL-safe characters', () =>
    ok(/^[A-Za-z0-9_-]{21}$/.test(id), id),
  )
  await S('agents', 'GET returns the full agent including status', async () => {
    const r = await M.get(p)
    is(r.status, 200)
    for (const k of FIELDS) ok(k in r.json, `missing ${k}`)
    const extra = keysOf(r.json).filter((k) => !FIELDS.includes(k))
    return extra.length ? `additional: ${extra}` : ''
  })
  await S('agents', 'status untrained: no live sources yet', async () =>
    is((await read()).status, 'untrained'),
  )
  await S(
    'agents',
    'create with an unusable url: 201, id present, pendingSteps ["ADD_SOURCE"] (or accepted and failing later)',
    async () => {
      const r = await M.post('/agents', { name: 'Seed', url: 'http://10.0.0.1/' })
      is(r.status, 201, r.text)
      ok(r.json.id, '')
      return J(r.json.pendingSteps ?? null)
    },
  )
  await S('agents', 'create with a seed url of a reachable page adds a link source', async () => {
    const r = await M.post('/agents', {
      name: 'Seed2',
      url: `${BASE}/docs`,
    })
    is(r.status, 201)
    const s = await M.get(`/agents/${r.json.id}/sources`)
    is([r.json.pendingSteps ?? null, s.json.data[0]?.type], [null, 'link'], s.text)
  })
  await S('agents', 'create with url "nope" (no URL): 400, or 201 with pendingSteps ADD_SOURCE', async () => {
    const r = await M.post('/agents', { name: 'x', url: 'nope' })
    ok(r.status === 400 || (r.status === 201 && J(r.json.pendingSteps) === '["ADD_SOURCE"]'), r.text)
    return `${r.status} ${J(r.json.pendingSteps ?? null)}`
  })
  for (const [b, f] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'x', temp: 2 }, 'temp'],
    [{ name: 'x', visibility: 'hidden' }, 'visibility'],
    [{ name: 'x', model: 'no-such-model' }, 'model'],
  ])
    await S('agents', `create ${J(b).slice(0, 40)} is 400 VALIDATION_INVALID_BODY naming ${f}`, async () => {
      const r = await M.post('/agents', b)
      err(r, 400, 'VALIDATION_INVALID_BODY')
      ok(r.details?.[f], r.text)
    })
  await S('agents', 'PUT {} changes nothing', async () => {
    const a = await read()
    const r = await M.v2('PUT', p, {})
    is([r.status, r.json], [200, { success: true }])
    is(await read(), a)
  })
  await S('agents', 'PUT: an omitted field is unchanged, a sent value replaces', async () => {
    await M.v2('PUT', p, { name: 'N1', instructions: 'I1' })
    await M.v2('PUT', p, { name: 'N2' })
    const a = await read()
    is([a.name, a.instructions], ['N2', 'I1'])
  })
  await S('agents', 'PUT: an array field is replaced, not merged', async () => {
    await M.v2('PUT', p, { initialMessages: ['a', 'b'] })
    await M.v2('PUT', p, { initialMessages: ['c'] })
    is((await read()).initialMessages, ['c'])
  })
  await S('agents', 'ipRateLimits: partial update of sub-fields', async () => {
    const b = (await read()).ipRateLimits
    is((await M.v2('PUT', p, { ipRateLimits: { limit: 7 } })).status, 200)
    is((await read()).ipRateLimits, { ...b, limit: 7 })
    await M.v2('PUT', p, { ipRateLimits: { message: 'Slow down', timeframe: 60 } })
    is((await read()).ipRateLimits, { limit: 7, timeframe: 60, message: 'Slow down' })
  })
  await S(
    'agents',
    'ipRateLimits null resets to the default (contract 20, 240, "Too many messages in a row")',
    async () => {
      await M.v2('PUT', p, { ipRateLimits: null })
      is((await read()).ipRateLimits, { limit: 20, timeframe: 240, message: 'Too many messages in a row' })
    },
  )
  for (const [f, v] of [
    ['voiceSettings', { voice: { voiceName: 'Sarah' } }],
    ['allowedDomains', ['example.com']],
    ['suggestedMessages', [{ type: 'single', text: 'Hi', order: 0 }]],
    ['creditLimit', 100],
    ['spamSettings', { enabled: true, prompt: 'x' }],
    ['blockedCountries', ['DE']],
    ['channelInstructions', { email: 'be brief' }],
    ['notificationsSettings', { dailyLeadsCollected: { active: true, emails: ['a@example.com'] } }],
  ]) {
    await S('agents', `${f}: settable on a suitable plan, and null disables/resets it`, async () => {
      const r = await M.v2('PUT', p, { [f]: v })
      ok(r.status === 200, r.text)
      ok((await read())[f] !== null, 'not set')
      const n = await M.v2('PUT', p, { [f]: null })
      is(n.status, 200, n.text)
      const g = (await read())[f]
      ok(g === null, J(g))
    })
  }
  for (const f of ['name', 'instructions', 'model', 'temp', 'visibility', 'initialMessages'])
    await S('agents', `PUT: null for the non-nullable ${f} is 400 naming it`, async () => {
      const r = await M.v2('PUT', p, { [f]: null })
      err(r, 400, 'VALIDATION_INVALID_BODY')
      ok(r.details?.[f], r.text)
    })
  await S('agents', 'PUT with one bad field changes nothing', async () => {
    const a = await read()
    err(await M.v2('PUT', p, { name: 'Changed', temp: 9 }), 400, 'VALIDATION_INVALID_BODY')
    is(await read(), a)
  })
  await S('agents', 'PUT with a derived field (status) does not set it', async () => {
    const r = await M.v2('PUT', p, { status: 'trained' })
    ok([200, 400].includes(r.status), r.text)
    is((await read()).status, 'untrained')
    return `${r.status} ignored: ${r.headers.get('x-parley-ignored-fields')}`
  })
  await S('agents', 'list: paginated, account-wide, newest first (contract), total', async () => {
    const w = await walk(M, '/agents', 3)
    const ids = w.items.map((a) => a.id)
    is(new Set(ids).size, w.pages[0].pagination.total)
    const t = w.items.map((a) => a.createdAt)
    is(t, [...t].sort().reverse())
    ok(!ids.includes(ctx.B), 'foreign')
  })
  // sources and status
  const src = async (b, c = M, a = id) => {
    const r = await c.post(`/agents/${a}/sources`, b)
    ok(r.status === 201, r.text)
    return r.json
  }
  await S('sources', 'created source: fields (contract) and status being processed', async () => {
    const s = await src({ type: 'text', name: 'T', content: 'Kettles boil water.' })
    ctx.src = s.id
    for (const k of ['id', 'type', 'name', 'size', 'createdAt', 'status', 'metadata']) ok(k in s, k)
    is([s.type, s.name, s.status], ['text', 'T', 'untrained'])
  })
  await S(
    'agents',
    'status training while a source is being processed, trained when every source is live',
    async () => {
      const seen = new Set()
      for (let i = 0; i < 200; i++) {
        const s = (await read()).status
        seen.add(s)
        if (s === 'trained') break
        await sleep(40)
      }
      ok(seen.has('trained'), [...seen])
      return [...seen].join(' → ')
    },
  )
  await S('sources', 'GET one source; status trained when live', async () => {
    const r = await M.get(`${p}/sources/${ctx.src}`)
    is([r.status, r.json.status, r.json.id], [200, 'trained', ctx.src])
  })
  await S('sources', 'unknown source: 404', async () => {
    const r = await M.get(`${p}/sources/${crypto.randomUUID()}`)
    is(r.status, 404)
    return r.code
  })
  await S('agents', 'status failed: a source failed to train, the others are live', async () => {
    const r = await M.post(`${p}/sources`, {
      type: 'link',
      url: 'http://127.0.0.1:1/',
      linkType: 'individual',
    })
    is(r.status, 201, r.text)
    ctx.bad = r.json.id
    let s
    for (let i = 0; i < 160; i++) {
      s = (await read()).status
      if (s === 'failed') break
      await sleep(250)
    }
    is(s, 'failed')
    const x = (await M.get(`${p}/sources/${r.json.id}`)).json
    return `source ${x.status}: ${x.error}`
  })
  await S('sources', 'sources train on their own when updated', async () => {
    const u = await M.v2('PUT', `${p}/sources/${ctx.src}`, { content: 'Kettles boil water fast.' })
    is(u.status, 200, u.text)
    let s
    for (let i = 0; i < 100; i++) {
      s = (await M.get(`${p}/sources/${ctx.src}`)).json.status
      if (s === 'trained') break
      await sleep(100)
    }
    is(s, 'trained')
    return `answer said ${u.json.status}`
  })
  await S('sources', 'deleting the failed source makes the agent trained again', async () => {
    const r = await M.v2('DELETE', `${p}/sources/${ctx.bad}`)
    is(r.status, 200, r.text)
    let s
    for (let i = 0; i < 60; i++) {
      s = (await read()).status
      if (s === 'trained') break
      await sleep(200)
    }
    is(s, 'trained')
    return `delete said ${r.json.status}`
  })
  // train, retrain, styles, clone, delete
  await S('train', 'POST /train: 200, deprecated: true, Deprecation header, does nothing', async () => {
    const a = await read()
    const r = await M.post(`${p}/train`)
    is([r.status, r.json.deprecated], [200, true], r.text)
    ok(r.headers.get('deprecation'), 'no Deprecation header')
    is((await read()).lastTrainedAt, a.lastTrainedAt)
    return `Deprecation: ${r.headers.get('deprecation')} keys ${keysOf(r.json)}`
  })
  await S('train', 'the Deprecation header has the form of RFC 9745 (@date) or "true"', async () => {
    const h = (await M.post(`${p}/train`)).headers.get('deprecation')
    ok(/^@\d+$|^true$/.test(h), h)
  })
  await S('auto-resync', 'an agent without a live source: 409 AGENT_NOT_TRAINED', async () =>
    err(await M.v2('PUT', `/agents/${ctx.NONE}/auto-retrain`, { enabled: true }), 409, 'AGENT_NOT_TRAINED'),
  )
  await S('auto-resync', 'with a live source: 200 {success: true}, autoRetrain true; off again', async () => {
    is((await M.v2('PUT', `${p}/auto-retrain`, { enabled: true })).json, { success: true })
    is((await read()).autoRetrain, true)
    is((await M.v2('PUT', `${p}/auto-retrain`, { enabled: false })).status, 200)
    is((await read()).autoRetrain, false)
  })
  await S(
    'auto-resync',
    'plan without the feature: 403 PLAN_FEATURE_NOT_AVAILABLE — reachable only on a plan with API access lacking it',
    () => 'n.a. every plan with v2 access has auto-retrain',
  )
  await S(
    'PLAN_FEATURE_NOT_AVAILABLE',
    'voiceSettings on standard, whose plan does not list voice',
    async () => {
      const r = await O.v2('PUT', `/agents/${ctx.B}`, { voiceSettings: { voice: { voiceName: 'Sarah' } } })
      return `n.a. the specification does not say which features; answered ${r.status}`
    },
  )
  await S(
    'PLAN_FEATURE_NOT_AVAILABLE',
    'a feature not on the plan (procedures on standard): 403',
    async () => {
      const r = await O.post(`/agents/${ctx.B}/procedures`, { name: 'P', trigger: 't', steps: ['s'] })
      err(r, 403, 'PLAN_FEATURE_NOT_AVAILABLE')
    },
  )
  await S('auto-resync', 'enabled missing or not boolean: 400', async () => {
    err(await M.v2('PUT', `${p}/auto-retrain`, {}), 400, 'VALIDATION_INVALID_BODY')
    err(await M.v2('PUT', `${p}/auto-retrain`, { enabled: 'true' }), 400, 'VALIDATION_INVALID_BODY')
  })
  await S(
    'styles',
    'chat widget and center stage appearance; merged field by field; null resets (contract)',
    async () => {
      is(
        (
          await M.v2('PUT', `${p}/styles`, {
            styles: { chat: { theme: 'dark', displayName: 'Bot' }, centerStage: { enabled: true } },
          })
        ).json,
        { success: true },
      )
      await M.v2('PUT', `${p}/styles`, { styles: { chat: { footer: 'F' } } })
      const s = (await read()).styles
      is([s.chat.theme, s.chat.displayName, s.chat.footer, s.centerStage.enabled], ['dark', 'Bot', 'F', true])
    },
  )
  await S('styles', 'bad colour is 400 with the path styles.chat.headerColor', async () => {
    const r = await M.v2('PUT', `${p}/styles`, { styles: { chat: { headerColor: 'red' } } })
    err(r, 400, 'VALIDATION_INVALID_BODY')
    ok(r.details?.['styles.chat.headerColor'], r.text)
  })
  await S('clone', '201 {id}; deep copy including sources; the copy trains on its own', async () => {
    const r = await M.post(`${p}/clone`)
    is([r.status, keysOf(r.json)], [201, ['id']], r.text)
    const s = (await M.get(`/agents/${r.json.id}/sources`)).json.data
    is(
      s.map((x) => x.name),
      ['T'],
    )
    ok(s[0].id !== ctx.src, 'same source id')
    let st
    for (let i = 0; i < 60; i++) {
      st = (await M.get(`/agents/${r.json.id}`)).json.status
      if (st === 'trained') break
      await sleep(200)
    }
    is(st, 'trained')
    const a = await read(),
      b = (await M.get(`/agents/${r.json.id}`)).json
    is([b.instructions, b.styles, b.ipRateLimits], [a.instructions, a.styles, a.ipRateLimits])
    ctx.clone = r.json.id
  })
  await S('clone', 'deep: changing the copy leaves the original unchanged', async () => {
    await M.v2(
      'DELETE',
      `/agents/${ctx.clone}/sources/${(await M.get(`/agents/${ctx.clone}/sources`)).json.data[0].id}`,
    )
    is((await M.get(`${p}/sources`)).json.data.length, 1)
  })
  await S(
    'limits',
    'AGENT_LIMIT_REACHED (403) on create and on clone when the plan is full (standard: 5)',
    async () => {
      let last
      for (let i = 0; i < 6; i++) {
        last = await O.post('/agents', { name: `a${i}` })
        if (last.status !== 201) break
      }
      err(last, 403, 'AGENT_LIMIT_REACHED')
      err(await O.post(`/agents/${ctx.B}/clone`), 403, 'AGENT_LIMIT_REACHED')
    },
  )
  await S('delete', 'delete: 200 {success: true}; afterwards 404 AGENT_NOT_FOUND everywhere', async () => {
    const cv = await ctx.mk(ctx.clone, 'x [[tokens:1]]')
    is((await M.v2('DELETE', `/agents/${ctx.clone}`)).json, { success: true })
    for (const q of ['', '/conversations', `/conversations/${cv}`, '/sources', '/conversations/export'])
      err(await M.get(`/agents/${ctx.clone}${q}`), 404, 'AGENT_NOT_FOUND')
    err(await M.v2('DELETE', `/agents/${ctx.clone}`), 404, 'AGENT_NOT_FOUND')
    const w = await walk(M, '/agents', 100)
    ok(!w.items.some((a) => a.id === ctx.clone), 'still listed')
  })
  await S('agents', 'agent times are ISO 8601 with milliseconds and Z (contract)', async () => {
    const a = await read()
    ok(
      ISO.test(a.createdAt) && (a.lastTrainedAt === null || ISO.test(a.lastTrainedAt)),
      J([a.createdAt, a.lastTrainedAt]),
    )
  })
  await S(
    'conversation status',
    'contract: PATCH paused true/false; only between ongoing and paused',
    async () => {
      const cv = await ctx.mk(id, 'x [[tokens:1]]')
      const u = `${p}/conversations/${cv}`
      is((await M.v2('PATCH', u, { paused: true })).json, { data: { id: cv, status: 'paused' } })
      is((await M.v2('PATCH', u, { paused: false })).json, { data: { id: cv, status: 'ongoing' } })
      await M.post(`${u}/end`)
      err(await M.v2('PATCH', u, { paused: true }), 409, 'CHAT_CONVERSATION_NOT_ONGOING')
    },
  )
  await S(
    'feedback',
    'contract: PATCH feedback positive, negative, null; on a user message 422; unknown 404',
    async () => {
      const r = await M.say(id, 'x [[tokens:1]]')
      const u = `${p}/conversations/${r.json.data.metadata.conversationId}/messages/`
      for (const f of ['positive', 'negative'])
        is((await M.v2('PATCH', `${u + r.json.data.id}/feedback`, { feedback: f })).json.data.feedback, f)
      ok(
        !(
          'feedback' in (await M.v2('PATCH', `${u + r.json.data.id}/feedback`, { feedback: null })).json.data
        ),
        '',
      )
      err(
        await M.v2('PATCH', `${u + r.json.data.metadata.userMessageId}/feedback`, { feedback: 'positive' }),
        422,
        'RESOURCE_MESSAGE_NOT_ASSISTANT',
      )
      err(
        await M.v2('PATCH', `${u + crypto.randomUUID()}/feedback`, { feedback: 'positive' }),
        404,
        'RESOURCE_MESSAGE_NOT_FOUND',
      )
    },
  )
}

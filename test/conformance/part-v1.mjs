import { is, J, keysOf, ok, parse, S, sleep } from './lib.mjs'
export const check = async (ctx) => {
  const { M, F, A, B, E, ISO } = ctx
  const a = (
    await M.v1('POST', '/create-chatbot', {
      chatbotName: 'V1',
      sourceText: 'Lamps have a warranty of five years.',
    })
  ).json.chatbotId
  const chat = (b, h) => M.v1('POST', '/chat', { chatbotId: a, ...b }, h),
    u = (content) => [{ role: 'user', content }]
  const bad = (r, s = 400, m = 'Invalid request data') =>
    is([r.status, r.json?.message], [s, m], r.text?.slice(0, 200))
  // chat
  await S('v1 chat', '{text} is the reply', async () => {
    const r = await chat({ messages: u('x [[say:Good day.]]') })
    is([r.status, r.json.text], [200, 'Good day.'])
    return `keys ${keysOf(r.json)}`
  })
  await S('v1 chat', 'SPEC: the response is {text} and nothing else', async () => {
    is(keysOf((await chat({ messages: u('x [[tokens:1]]') })).json), ['sources', 'text'])
    return 'dec. the own additive field `sources` stays'
  })
  await S('v1 chat', 'without conversationId the conversation is not saved', async () => {
    const n = (await M.v1('GET', `/get-conversations?chatbotId=${a}`)).json.data.length
    await chat({ messages: u('unsaved [[tokens:1]]') })
    is((await M.v1('GET', `/get-conversations?chatbotId=${a}`)).json.data.length, n)
    is((await M.get(`/agents/${a}/conversations/export`)).json.pagination.total, n)
  })
  await S('v1 chat', 'with conversationId it is saved and continued under that name', async () => {
    is((await chat({ messages: u('saved one [[tokens:1]]'), conversationId: 'my conv/1' })).status, 200)
    is((await chat({ messages: u('saved two [[tokens:1]]'), conversationId: 'my conv/1' })).status, 200)
    const d = (await M.v1('GET', `/get-conversations?chatbotId=${a}`)).json.data
    is([d.length, d[0].messages.length], [1, 4])
    ctx.v1c = d[0]
  })
  await S('v1 chat', 'conversationId of 129 characters is 400', async () =>
    bad(await chat({ messages: u('x'), conversationId: 'c'.repeat(129) })),
  )
  for (const b of [
    {},
    { messages: [] },
    { messages: 'x' },
    { messages: [{ role: 'user' }] },
    { messages: [{ content: 'x' }] },
    { messages: [{ role: 'system', content: 'x' }] },
    { messages: [{ role: 'user', content: 5 }] },
    { messages: u('x'), temperature: 1.1 },
    { messages: u('x'), temperature: -0.1 },
    { messages: u('x'), temperature: '0' },
    { messages: u('x'), stream: 'true' },
    { messages: u('x'), model: 'no-such' },
    { messages: u('x'), model: 5 },
    { messages: [{ role: 'assistant', content: 'x' }] },
    { messages: Array.from({ length: 101 }, () => u('x')[0]) },
  ])
    await S('v1 chat', `${J(b).slice(0, 60)} is 400 {message: "Invalid request data"}`, async () =>
      bad(await chat(b)),
    )
  await S('v1 chat', 'chatbotId missing is 400; unknown 404; foreign 404', async () => {
    bad(await M.v1('POST', '/chat', { messages: u('x') }))
    bad(await M.v1('POST', '/chat', { chatbotId: 'nope', messages: u('x') }), 404, 'Resource not found')
    bad(await M.v1('POST', '/chat', { chatbotId: B, messages: u('x') }), 404, 'Resource not found')
  })
  for (const t of [0, 1, 0.5])
    await S('v1 chat', `temperature ${t} accepted`, async () =>
      is((await chat({ messages: u('x [[tokens:1]]'), temperature: t })).status, 200),
    )
  for (const m of ['auto', 'mock'])
    await S('v1 chat', `model ${m} accepted`, async () =>
      is((await chat({ messages: u('x [[tokens:1]]'), model: m })).status, 200),
    )
  await S('v1 chat', 'contract: stream default false (JSON)', async () =>
    ok(/json/.test((await chat({ messages: u('x [[tokens:1]]') })).headers.get('content-type')), ''),
  )
  await S('v1 chat', 'contract: stream true is plain UTF-8 text', async () => {
    const r = await chat({ messages: u('x [[say:Grüße dir.]]'), stream: true })
    is([r.status, r.text], [200, 'Grüße dir.'])
    ok(/^text\/plain/.test(r.headers.get('content-type')), r.headers.get('content-type'))
  })
  await S(
    'v1 chat',
    'contract: stream true with Accept: text/event-stream ends with data: [DONE]',
    async () => {
      const r = await chat(
        { messages: u('x [[say:Hello you.]]'), stream: true },
        { accept: 'text/event-stream' },
      )
      const p = parse(r.text)
      is(
        [
          p.done,
          p.events
            .filter((e) => e.text)
            .map((e) => e.text)
            .join(''),
        ],
        [true, 'Hello you.'],
      )
    },
  )
  await S('v1 chat', 'the earlier messages of the request reach the model (multi-turn)', async () =>
    is(
      (
        await chat({
          messages: [...u('first'), { role: 'assistant', content: 'yes' }, ...u('and [[tokens:1]]')],
        })
      ).status,
      200,
    ),
  )
  await S('v1 chat', 'contactId: external id of the contact', async () => {
    const c = await M.v1('POST', `/chatbots/${a}/contacts`, {
      users: [{ external_id: 'ext-1', name: 'Eve', email: 'eve@example.org' }],
    })
    is(c.status, 201, c.text)
    is(
      (await chat({ messages: u('x [[tokens:1]]'), conversationId: 'with-contact', contactId: 'ext-1' }))
        .status,
      200,
    )
  })
  await S('v1 chat', 'contactId unknown: refused with 404/400 or accepted', async () => {
    const r = await chat({ messages: u('x [[tokens:1]]'), contactId: 'ghost', conversationId: 'cg' })
    ok(r.status < 500, r.text)
    return `${r.status} ${r.json?.message ?? ''}`
  })
  await S('v1 chat', 'client actions are not offered; no tool call leaks', async () => {
    const r = await M.v1('POST', '/chat', {
      chatbotId: A,
      messages: u('x [[tool:get_order {"number":"1"}]]'),
    })
    ok(r.status < 500, r.text)
    return `${r.status} ${r.text.slice(0, 80)}`
  })
  await S('v1 chat', 'free plan may use version 1', async () => {
    const n = await F.v1('POST', '/create-chatbot', { chatbotName: 'Free' })
    is(n.status, 200, n.text)
    ctx.free = n.json.chatbotId
    const r = await F.v1('POST', '/chat', { chatbotId: ctx.free, messages: u('hello') })
    ok([200, 403].includes(r.status), r.text)
    return `${r.status} ${r.text.slice(0, 120)}`
  })
  await S(
    'v1 chat',
    'access denied or quota exceeded: 403 with that message (agent limit of the free plan)',
    async () =>
      bad(
        await F.v1('POST', '/create-chatbot', { chatbotName: 'Two' }),
        403,
        'Access denied or quota exceeded',
      ),
  )
  await S('v1 chat', 'quota exceeded: 403 "Access denied or quota exceeded"', async () => {
    if (!ctx.poorRows) return 'n.a.'
    bad(
      await ctx.L.v1('POST', '/chat', { chatbotId: ctx.LA, messages: u('x') }),
      403,
      'Access denied or quota exceeded',
    )
  })
  await S('v1 errors', 'invalid key: 401 message', async () => {
    const r = await M.v1('GET', '/get-chatbots', undefined, { authorization: 'Bearer nope' }, { key: null })
    is([r.status, r.json], [401, { message: 'Invalid API key' }])
  })
  await S('v1 errors', 'malformed JSON: 400 {message}', async () => bad(await M.v1('POST', '/chat', '{')))
  await S('v1 errors', 'unknown path: 404 {message}', async () => {
    const r = await M.v1('GET', '/nowhere')
    is(r.status, 404)
    ok(typeof r.json?.message === 'string', r.text)
  })
  await S('v1 errors', 'wrong method: 405 with {message}', async () => {
    const r = await M.v1('GET', '/chat')
    is(r.status, 405)
    ok(typeof r.json?.message === 'string' && r.headers.get('allow'), r.text)
  })
  // custom attributes
  const ca = (b) => M.v1('POST', `/chatbots/${a}/custom-attributes`, b)
  for (const t of ['text', 'number', 'boolean', 'date'])
    await S(
      'v1 attributes',
      `type ${t}: {message, data: {name, label, type, description, archived}}`,
      async () => {
        const r = await ca({ name: `f_${t}`, type: t, label: 'L', description: 'D', archived: false })
        ok([200, 201].includes(r.status), r.text)
        is(
          [keysOf(r.json), r.json.data],
          [['data', 'message'], { name: `f_${t}`, type: t, label: 'L', description: 'D', archived: false }],
        )
        ok(typeof r.json.message === 'string', '')
        return String(r.status)
      },
    )
  await S(
    'v1 attributes',
    'label, description, archived are optional; all five fields come back',
    async () => {
      const r = await ca({ name: 'bare', type: 'text' })
      ok([200, 201].includes(r.status), r.text)
      is(keysOf(r.json.data), ['archived', 'description', 'label', 'name', 'type'])
      is(typeof r.json.data.archived, 'boolean')
      return J(r.json.data)
    },
  )
  for (const n of ['a', 'A', 'a1', 'a_b-C9'])
    await S('v1 attributes', `name ${n} matches the pattern`, async () =>
      ok([200, 201].includes((await ca({ name: n, type: 'text' })).status), n),
    )
  for (const n of ['', '1a', '_a', '-a', 'a b', 'ä', 'a.b', 5, null, 'a\n'])
    await S('v1 attributes', `name ${J(n)} is 400 Invalid request data`, async () =>
      bad(await ca({ name: n, type: 'text' })),
    )
  for (const b of [
    { name: 'x' },
    { type: 'text' },
    { name: 'x', type: 'list' },
    { name: 'x', type: 'text', archived: 'no' },
    { name: 'x', type: 'text', label: 5 },
  ])
    await S('v1 attributes', `${J(b)} is 400`, async () => bad(await ca(b)))
  await S('v1 attributes', 'contract: 400 carries issues:[{field, message}]', async () => {
    const r = await ca({ name: '1', type: 'z' })
    is(r.json.issues?.map((i) => i.field).sort(), ['name', 'type'], r.text)
  })
  await S('v1 attributes', 'contract: duplicate is 409', async () =>
    is((await ca({ name: 'f_text', type: 'text' })).status, 409),
  )
  await S('v1 attributes', 'unknown or foreign chatbot: 404 Resource not found', async () => {
    bad(
      await M.v1('POST', '/chatbots/nope/custom-attributes', { name: 'x', type: 'text' }),
      404,
      'Resource not found',
    )
    bad(
      await M.v1('POST', `/chatbots/${B}/custom-attributes`, { name: 'x', type: 'text' }),
      404,
      'Resource not found',
    )
  })
  // update-chatbot-data
  await S('v1 update', '{chatbotId}; renames and retrains', async () => {
    const r = await M.v1('POST', '/update-chatbot-data', {
      chatbotId: a,
      chatbotName: 'Renamed',
      sourceText: 'Kettles have two years.',
    })
    is([r.status, r.json], [200, { chatbotId: a }], r.text)
    const g = (await M.get(`/agents/${a}`)).json
    is(g.name, 'Renamed')
    let s
    for (let i = 0; i < 60; i++) {
      s = (await M.get(`/agents/${a}`)).json.status
      if (s === 'trained') break
      await sleep(200)
    }
    is([s, (await M.get(`/agents/${a}/sources`)).json.data.length], ['trained', 1])
  })
  await S('v1 update', 'chatbotName alone leaves the sources', async () => {
    is((await M.v1('POST', '/update-chatbot-data', { chatbotId: a, chatbotName: 'Only name' })).status, 200)
    is((await M.get(`/agents/${a}/sources`)).json.data.length, 1)
  })
  await S(
    'v1 update',
    'a request with sourceText and no chatbotName (required-ness "not shown")',
    async () => {
      const r = await M.v1('POST', '/update-chatbot-data', { chatbotId: a, sourceText: 'x y z' })
      ok([200, 400].includes(r.status), r.text)
      return `${r.status} ${r.text}`
    },
  )
  for (const b of [{}, { chatbotName: 'x' }, { chatbotId: 5, chatbotName: 'x' }])
    await S('v1 update', `${J(b)} is 400`, async () => bad(await M.v1('POST', '/update-chatbot-data', b)))
  await S('v1 update', 'unknown and foreign chatbot: 404', async () => {
    bad(
      await M.v1('POST', '/update-chatbot-data', { chatbotId: B, chatbotName: 'x' }),
      404,
      'Resource not found',
    )
  })
  // picture
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const form = (o, f, name = 'p.png', type = 'image/png') => {
    const d = new FormData()
    for (const [k, v] of Object.entries(o)) d.set(k, v)
    if (f) d.set('profilePictureFile', new Blob([f], { type }), name)
    return d
  }
  const up = (d) => M.v1('POST', '/upload-chatbot-profile-picture', d)
  await S('v1 picture', 'multipart chatbotId + profilePictureFile gives {message}', async () => {
    const r = await up(form({ chatbotId: a }, png))
    is([r.status, keysOf(r.json)], [200, ['message']], r.text)
    return r.json.message
  })
  await S('v1 picture', 'file before chatbotId is accepted as well', async () => {
    const d = new FormData()
    d.set('profilePictureFile', new Blob([png], { type: 'image/png' }), 'p.png')
    d.set('chatbotId', a)
    is((await up(d)).status, 200)
  })
  for (const [n, d] of [
    ['no file', form({ chatbotId: a })],
    ['no chatbotId', form({}, png)],
    ['a text file named png', form({ chatbotId: a }, Buffer.from('hello'))],
    [
      'SVG',
      form(
        { chatbotId: a },
        Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
        'p.svg',
        'image/svg+xml',
      ),
    ],
    ['more than 1 MB', form({ chatbotId: a }, Buffer.concat([png, Buffer.alloc(1.2e6)]))],
  ])
    await S('v1 picture', `${n} is refused with {message} (4xx)`, async () => {
      const r = await up(d)
      ok(r.status >= 400 && r.status < 500 && typeof r.json?.message === 'string', `${r.status} ${r.text}`)
      return `${r.status} ${r.json.message}`
    })
  await S('v1 picture', 'unknown chatbot: 404', async () =>
    bad(await up(form({ chatbotId: B }, png)), 404, 'Resource not found'),
  )
  await S('v1 picture', 'JSON in place of multipart: 4xx {message}', async () => {
    const r = await M.v1('POST', '/upload-chatbot-profile-picture', { chatbotId: a })
    ok(r.status >= 400 && r.status < 500 && r.json?.message, r.text)
    return String(r.status)
  })
  // conversations
  const gc = (q) => M.v1('GET', `/get-conversations?${q}`)
  await S(
    'v1 conversations',
    '{data: [{id, chatbot_id, created_at, updated_at, source, messages}]}',
    async () => {
      const r = await gc(`chatbotId=${a}`)
      is([r.status, keysOf(r.json)], [200, ['data']])
      for (const c of r.json.data) {
        is(keysOf(c), ['chatbot_id', 'created_at', 'id', 'messages', 'source', 'updated_at'])
        ok(ISO.test(c.created_at) && ISO.test(c.updated_at), c.created_at)
        is([c.chatbot_id, c.source === c.source.toLowerCase()], [a, true])
      }
    },
  )
  await S('v1 conversations', 'messages: role, content, id, type', async () => {
    for (const m of (await gc(`chatbotId=${a}`)).json.data[0].messages)
      is(keysOf(m), ['content', 'id', 'role', 'type'])
  })
  await S(
    'v1 conversations',
    'source is a lower-case string; filter by comma-separated sources',
    async () => {
      is(
        (await gc(`chatbotId=${ctx.X}&filteredSources=email`)).json.data.map((c) => c.source),
        ['email'],
      )
      is(
        (await gc(`chatbotId=${ctx.X}&size=100&filteredSources=${E('email,widget or iframe')}`)).json.data
          .map((c) => c.source)
          .sort(),
        ['email', 'widget or iframe'],
      )
    },
  )
  await S('v1 conversations', 'start and end date YYYY-MM-DD, both days included', async () => {
    const n = async (q) => (await gc(`chatbotId=${ctx.D}&size=100&${q}`)).json.data.length
    is(
      [
        await n('startDate=2026-03-10&endDate=2026-03-10'),
        await n('startDate=2026-03-10'),
        await n('endDate=2026-03-10'),
      ],
      [3, 4, 5],
    )
  })
  await S('v1 conversations', 'page number and size: all 46 once, a page past the end is empty', async () => {
    const ids = []
    for (let i = 1; ; i++) {
      const d = (await gc(`chatbotId=${ctx.PG}&page=${i}&size=20`)).json.data
      if (!d.length) break
      ids.push(...d.map((c) => c.id))
    }
    is([ids.length, new Set(ids).size], [46, 46])
  })
  await S('v1 conversations', 'contract: page default 1, size default 10, at most 100', async () => {
    is((await gc(`chatbotId=${ctx.PG}`)).json.data.length, 10)
    is((await gc(`chatbotId=${ctx.PG}&size=100`)).json.data.length, 46)
  })
  for (const q of [
    '',
    'chatbotId=',
    `chatbotId=${A}&page=0`,
    `chatbotId=${A}&size=0`,
    `chatbotId=${A}&size=101`,
    `chatbotId=${A}&page=x`,
    `chatbotId=${A}&startDate=2026-02-30`,
    `chatbotId=${A}&startDate=2026-03-10T00:00:00Z`,
    `chatbotId=${A}&startDate=10.03.2026`,
  ])
    await S('v1 conversations', `query "${q.replace(A, '{id}')}" is 400 Invalid request data`, async () =>
      bad(await gc(q)),
    )
  await S('v1 conversations', 'unknown and foreign chatbot: 404', async () =>
    bad(await gc(`chatbotId=${B}`), 404, 'Resource not found'),
  )
  // leads
  const gl = (q) => M.v1('GET', `/get-leads?${q}`)
  await S(
    'v1 leads',
    '{collectedCustomers: [{id, name, email, phone, created_at, chatbot_id, account_id}]}',
    async () => {
      const r = await gl(`chatbotId=${A}`)
      is([r.status, keysOf(r.json), r.json.collectedCustomers.length], [200, ['collectedCustomers'], 3])
      const l = r.json.collectedCustomers.find((l) => l.id === ctx.leadId)
      is(l, {
        id: ctx.leadId,
        name: 'Lead 0',
        email: 'lead0@example.com',
        phone: '+4915112345678',
        created_at: '2026-04-01T00:00:00.000Z',
        chatbot_id: A,
        account_id: M.id,
      })
    },
  )
  await S('v1 leads', 'dates: both days included', async () => {
    const n = async (q) => (await gl(`chatbotId=${A}&${q}`)).json.collectedCustomers.length
    is(
      [
        await n('startDate=2026-04-01&endDate=2026-04-01'),
        await n('startDate=2026-04-02'),
        await n('endDate=2026-04-01'),
      ],
      [2, 1, 2],
    )
  })
  await S('v1 leads', 'page and size', async () => {
    const ids = []
    for (const i of [1, 2, 3, 4])
      ids.push(...(await gl(`chatbotId=${A}&page=${i}&size=1`)).json.collectedCustomers.map((l) => l.id))
    is([ids.length, new Set(ids).size], [3, 3])
  })
  await S('v1 leads', 'a lead collected by an action is listed (nullable phone)', async () => {
    if (!ctx.leadAgent) return 'n.a.'
    const r = await gl(`chatbotId=${ctx.leadAgent}`)
    is([r.json.collectedCustomers[0]?.name, r.json.collectedCustomers[0]?.email], ['Eve', 'eve@example.org'])
    return `phone ${J(r.json.collectedCustomers[0].phone)}`
  })
  for (const q of ['', `chatbotId=${A}&size=101`, `chatbotId=${A}&endDate=x`])
    await S('v1 leads', `query "${q.replace(A, '{id}')}" is 400`, async () => bad(await gl(q)))
  await S('v1 leads', 'foreign chatbot: 404', async () =>
    bad(await gl(`chatbotId=${B}`), 404, 'Resource not found'),
  )
  // versioning
  await S(
    'versioning',
    'v2 under /api/v2, v1 under /api/v1; v1 has no v2 operations and the reverse',
    async () => {
      is((await M.v1('GET', '/agents')).status, 404)
      is((await M.get('/get-chatbots')).status, 404)
    },
  )
  await S('versioning', 'the interface description is OpenAPI 3.1.0, API version 2.0.0', async () => {
    const r = await M.call('GET', '/openapi.json')
    is([r.json.openapi, r.json.info.version], ['3.1.0', '2.0.0'])
  })
}

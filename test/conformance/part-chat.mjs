import { is, J, keysOf, ok, S, sleep } from './lib.mjs'
export const check = async (ctx) => {
  const { M, L, A, PG, err, LA, ended } = ctx,
    chat = `/agents/${A}/chat`
  const c = (b) => M.post(chat, b)
  await S('chat', 'non-streaming: {data: {id, role, parts, metadata}} as application/json', async () => {
    const r = await M.say(A, 'hi [[say:Hello there.]]', { userId: 'c1' })
    is(r.status, 200)
    ok(/^application\/json/.test(r.headers.get('content-type')), r.headers.get('content-type'))
    is(keysOf(r.json), ['data'])
    is(keysOf(r.json.data), ['id', 'metadata', 'parts', 'role'])
    is([r.json.data.role, r.json.data.parts], ['assistant', [{ type: 'text', text: 'Hello there.' }]])
    ctx.r = r
  })
  await S(
    'chat',
    'metadata: userMessageId, conversationId, userId, finishReason, usage.credits',
    async () => {
      const m = ctx.r.json.data.metadata
      for (const k of ['userMessageId', 'conversationId', 'userId', 'finishReason', 'usage']) ok(k in m, k)
      is([m.finishReason, typeof m.usage.credits, m.userId], ['stop', 'number', 'c1'])
      return `keys ${keysOf(m)}`
    },
  )
  await S(
    'chat',
    'id is the id of the stored assistant message; userMessageId that of the user message',
    async () => {
      const m = ctx.r.json.data.metadata
      const s = (await M.get(`/agents/${A}/conversations/${m.conversationId}`)).json.data.messages
      is(
        s.map((x) => [x.role, x.id]),
        [
          ['user', m.userMessageId],
          ['assistant', ctx.r.json.data.id],
        ],
      )
    },
  )
  await S('chat', 'userId null when the conversation has none', async () =>
    is((await M.say(A, 'x [[tokens:1]]')).json.data.metadata.userId, null),
  )
  await S('chat', 'stream defaults to true (text/event-stream)', async () => {
    const r = await c({ message: 'x [[tokens:1]]' })
    is(r.status, 200)
    ok(/^text\/event-stream/.test(r.headers.get('content-type')), r.headers.get('content-type'))
  })
  await S('chat', 'conversationId continues the conversation (history reaches the model)', async () => {
    const id = ctx.r.json.data.metadata.conversationId
    const r = await M.say(A, 'again [[tokens:1]]', { conversationId: id })
    is(r.json.data.metadata.conversationId, id)
    is((await M.get(`/agents/${A}/conversations/${id}`)).json.data.messages.length, 4)
  })
  await S('chat', 'userId is ignored when conversationId is given (immutable afterwards)', async () => {
    const id = ctx.r.json.data.metadata.conversationId
    const r = await M.say(A, 'again [[tokens:1]]', { conversationId: id, userId: 'other' })
    is([r.status, r.json.data.metadata.userId], [200, 'c1'])
  })
  for (const u of ['a'.repeat(128), 'A.b_c-9'])
    await S('chat', `userId of ${u.length} characters ${u.slice(0, 8)} accepted`, async () =>
      is((await c({ message: 'x [[tokens:1]]', stream: false, userId: u })).json.data.metadata.userId, u),
    )
  for (const u of ['a'.repeat(129), '', 'a b', 'ä', 'a@b', 5, null, 'a\n'])
    await S('chat', `userId ${J(u).slice(0, 14)} is 400 VALIDATION_INVALID_BODY naming userId`, async () => {
      const r = await c({ message: 'x', stream: false, userId: u })
      err(r, 400, 'VALIDATION_INVALID_BODY')
      ok(r.details?.userId, r.text)
    })
  for (const [f, v] of [
    ['message', ''],
    ['message', 5],
    ['message', null],
    ['message', ['x']],
    ['stream', 'false'],
    ['stream', 1],
    ['stream', null],
    ['conversationId', 5],
    ['conversationId', null],
  ])
    await S('chat', `${f}: ${J(v)} is 400 VALIDATION_INVALID_BODY with details.${f}`, async () => {
      const r = await c({ message: 'x', stream: false, [f]: v })
      err(r, 400, 'VALIDATION_INVALID_BODY')
      ok(r.details?.[f], r.text)
    })
  await S('chat', 'all failing fields are reported at once', async () =>
    is(keysOf((await c({ message: '', stream: 'x', userId: 'a b' })).details), [
      'message',
      'stream',
      'userId',
    ]),
  )
  await S('chat', 'a message of one character is accepted', async () => is((await M.say(A, 'x')).status, 200))
  await S('chat', 'a message of blanks only (min length 1) is accepted', async () => {
    const r = await M.say(A, ' ')
    is(r.status, 200, r.text)
  })
  await S('chat', 'neither message nor conversationId is refused (400/409), not a conversation', async () => {
    const r = await c({ stream: false })
    ok([400, 409].includes(r.status), r.text)
    return `${r.status} ${r.code}`
  })
  await S('chat', 'unknown conversationId: 404', async () => {
    const r = await M.say(A, 'x', { conversationId: crypto.randomUUID() })
    is(r.status, 404)
    return r.code
  })
  await S('chat', 'conversationId that is no UUID: 404', async () =>
    is((await M.say(A, 'x', { conversationId: 'nope' })).status, 404),
  )
  await S('chat', 'agent not found: 404 AGENT_NOT_FOUND', async () =>
    err(await M.say('nope', 'x'), 404, 'AGENT_NOT_FOUND'),
  )
  await S('chat', 'ended conversation: CHAT_CONVERSATION_NOT_ONGOING (409 by contract)', async () =>
    err(await M.say(A, 'x', { conversationId: ended }), 409, 'CHAT_CONVERSATION_NOT_ONGOING'),
  )
  await S('chat', 'ended conversation with stream: a JSON error before the stream', async () => {
    const r = await c({ message: 'x', conversationId: ended })
    err(r, 409, 'CHAT_CONVERSATION_NOT_ONGOING')
  })
  await S('chat', 'nothing is stored by the refused message', async () =>
    is((await M.get(`/agents/${A}/conversations/${ended}`)).json.data.messages.length, 2),
  )
  await S('chat', 'taken-over conversation: CHAT_CONVERSATION_NOT_ONGOING', async () =>
    err(await M.say(ctx.X, 'x', { conversationId: ctx.x.taken }), 409, 'CHAT_CONVERSATION_NOT_ONGOING'),
  )
  await S(
    'chat',
    'contract: paused conversation: 409 CHAT_CONVERSATION_NOT_ONGOING with details.status paused',
    async () => {
      const r = await M.say(ctx.X, 'x', { conversationId: ctx.x.paused })
      err(r, 409, 'CHAT_CONVERSATION_NOT_ONGOING')
      is(r.details, { status: 'paused' })
    },
  )
  await S('chat', 'credits exhausted: CHAT_CREDITS_EXHAUSTED (402 by contract)', async () => {
    if (!ctx.poorRows) return 'n.a. no usage row'
    err(await L.say(LA, 'x', {}), 402, 'CHAT_CREDITS_EXHAUSTED')
  })
  await S('chat', 'credits exhausted: reads still work', async () =>
    is((await L.get(`/agents/${LA}/conversations`)).status, 200),
  )
  await S('chat', 'contract: agent creditLimit used up: 402 CHAT_AGENT_CREDITS_EXHAUSTED', async () => {
    const a = await ctx.newAgent(M, 'Limited')
    await M.v2('PUT', `/agents/${a}`, { creditLimit: 1 })
    is((await M.say(a, 'x [[tokens:1]]')).status, 200)
    err(await M.say(a, 'x'), 402, 'CHAT_AGENT_CREDITS_EXHAUSTED')
  })
  await S('chat', 'usage.credits is what the account is charged', async () => {
    const b = (await M.get('/me')).json.credits.used
    const r = await M.say(A, 'x [[tokens:1]]')
    const a = (await M.get('/me')).json.credits.used
    is(a - b, r.json.data.metadata.usage.credits)
  })
  await S('chat', 'contract: provider fault before the first event is 502 CHAT_PROVIDER_ERROR', async () =>
    err(await M.say(A, 'x [[fail:500]]'), 502, 'CHAT_PROVIDER_ERROR'),
  )
  await S('chat', 'finishReason length is reported', async () =>
    is((await M.say(A, 'x [[tokens:2]] [[finish:length]]')).json.data.metadata.finishReason, 'length'),
  )
  await S('chat', 'finishReason content-filter is reported', async () =>
    is(
      (await M.say(A, 'x [[tokens:2]] [[finish:content_filter]]')).json.data.metadata.finishReason,
      'content-filter',
    ),
  )
  await S('chat', 'a provider reason nobody knows: other or unknown', async () => {
    const f = (await M.say(A, 'x [[tokens:2]] [[finish:strange]]')).json.data.metadata.finishReason
    ok(['other', 'unknown'].includes(f), f)
    return f
  })
  await S(
    'chat',
    'finishReason error when the provider breaks off (non-streaming answers 200 with the part, or an error)',
    async () => {
      const r = await M.say(A, 'x [[tokens:9]] [[delay:40]] [[drop:4]]')
      ok((r.status === 200 && r.json.data.metadata.finishReason === 'error') || r.status === 502, r.text)
      return `${r.status} ${r.json?.data?.metadata?.finishReason ?? r.code}`
    },
  )
  await S(
    'chat',
    'contract: an unknown body field is ignored and named in x-parley-ignored-fields',
    async () => {
      const r = await M.say(A, 'x [[tokens:1]]', { foo: 1 })
      is([r.status, r.headers.get('x-parley-ignored-fields')], [200, 'foo'])
    },
  )
  await S('chat', 'contract: CHAT_CONVERSATION_BUSY while a reply is generated', async () => {
    const id = ctx.r.json.data.metadata.conversationId
    const p = M.say(A, 'slow [[tokens:20]] [[delay:60]]', { conversationId: id })
    await sleep(250)
    const r = await M.say(A, 'x', { conversationId: id })
    err(r, 409, 'CHAT_CONVERSATION_BUSY')
    is((await p).status, 200)
  })
  await S('chat', 'contract: Idempotency-Key replays the first answer', async () => {
    const h = { 'idempotency-key': crypto.randomUUID() },
      b = { message: 'idem [[tokens:2]]', stream: false }
    const r1 = await M.post(chat, b, h),
      r2 = await M.post(chat, b, h)
    is(r1.json, r2.json)
    err(await M.post(chat, { ...b, message: 'other' }, h), 409, 'IDEMPOTENCY_KEY_REUSED')
  })
  await S(
    'chat',
    'title is null or a string and appears after the first exchange (contract: at most 80 characters)',
    async () => {
      let t
      for (let i = 0; i < 20; i++) {
        t = (await M.get(`/agents/${A}/conversations/${ctx.r.json.data.metadata.conversationId}`)).json.data
          .title
        if (t) break
        await sleep(200)
      }
      ok(typeof t === 'string' && t.length <= 80, J(t))
    },
  )
  // client actions, JSON
  const T = async (tools, more) =>
    M.say(A, `do ${tools.map(([n, i]) => `[[tool:${n} ${J(i)}]]`).join(' ')}`, more)
  const result = (cv, toolCallId, output) =>
    M.post(
      `/agents/${A}/conversations/${cv}/tool-result`,
      output === undefined ? { toolCallId } : { toolCallId, output },
    )
  await S(
    'tools',
    'an invoked client action: finishReason tool-calls and tool-call parts {type, toolCallId, toolName, input}',
    async () => {
      const r = await T([['get_order', { number: '42' }]], { userId: 'tool' })
      const d = r.json.data,
        p = d.parts.filter((p) => p.type === 'tool-call')
      is(
        [d.metadata.finishReason, p.length, keysOf(p[0]), p[0].toolName, p[0].input],
        ['tool-calls', 1, ['input', 'toolCallId', 'toolName', 'type'], 'get_order', { number: '42' }],
      )
      ctx.t = { cv: d.metadata.conversationId, id: p[0].toolCallId, um: d.metadata.userMessageId }
    },
  )
  await S(
    'tools',
    'while pending, continuing without a message is refused (contract: CHAT_NOTHING_TO_CONTINUE)',
    async () => err(await M.say(A, undefined, { conversationId: ctx.t.cv }), 409, 'CHAT_NOTHING_TO_CONTINUE'),
  )
  await S('tools', 'tool-result of a pending call: 200 {data: {success: true}}', async () => {
    const r = await result(ctx.t.cv, ctx.t.id, { state: 'shipped' })
    is([r.status, r.json], [200, { data: { success: true } }])
  })
  await S('tools', 'tool-result a second time: 404 RESOURCE_TOOL_CALL_NOT_FOUND', async () =>
    err(await result(ctx.t.cv, ctx.t.id, { state: 'x' }), 404, 'RESOURCE_TOOL_CALL_NOT_FOUND'),
  )
  await S('tools', 'the second result changed nothing', async () => {
    const p = (await M.get(`/agents/${A}/conversations/${ctx.t.cv}`)).json.data.messages
      .flatMap((m) => m.parts)
      .find((p) => p.type === 'tool-result')
    is(p, { type: 'tool-result', toolCallId: ctx.t.id, toolName: 'get_order', output: { state: 'shipped' } })
  })
  await S('tools', 'continue without a message: the agent goes on from the result', async () => {
    const r = await M.say(A, undefined, { conversationId: ctx.t.cv })
    is([r.status, r.json.data.metadata.finishReason], [200, 'stop'])
    ctx.t.cont = r
  })
  await S('tools', 'userMessageId of a continuation is the last user message in the conversation', async () =>
    is(ctx.t.cont.json.data.metadata.userMessageId, ctx.t.um),
  )
  await S('tools', 'history: tool-call and tool-result parts are visible', async () => {
    const t = (await M.get(`/agents/${A}/conversations/${ctx.t.cv}`)).json.data.messages.map((m) => [
      m.role,
      m.parts.map((p) => p.type),
    ])
    return J(t)
  })
  await S(
    'tools',
    'continue again with nothing waiting: refused (contract 409 CHAT_NOTHING_TO_CONTINUE)',
    async () => err(await M.say(A, undefined, { conversationId: ctx.t.cv }), 409, 'CHAT_NOTHING_TO_CONTINUE'),
  )
  await S('tools', 'unknown toolCallId: 404 RESOURCE_TOOL_CALL_NOT_FOUND', async () =>
    err(await result(ctx.t.cv, crypto.randomUUID(), 1), 404, 'RESOURCE_TOOL_CALL_NOT_FOUND'),
  )
  await S('tools', 'toolCallId that is no UUID: 404 RESOURCE_TOOL_CALL_NOT_FOUND', async () =>
    err(await result(ctx.t.cv, 'call_1', 1), 404, 'RESOURCE_TOOL_CALL_NOT_FOUND'),
  )
  await S('tools', 'expired call: 404 RESOURCE_TOOL_CALL_NOT_FOUND', async () =>
    err(await result(ctx.expired, ctx.expiredCall.toolCallId, 1), 404, 'RESOURCE_TOOL_CALL_NOT_FOUND'),
  )
  await S('tools', 'after expiry the conversation takes a new message', async () =>
    is((await M.say(A, 'new [[tokens:1]]', { conversationId: ctx.expired })).status, 200),
  )
  for (const b of [{}, { toolCallId: '' }, { toolCallId: 5 }, { output: 1 }])
    await S(
      'tools',
      `tool-result body ${J(b)} is 400 VALIDATION_INVALID_BODY naming toolCallId`,
      async () => {
        const r = await M.post(`/agents/${A}/conversations/${ctx.t.cv}/tool-result`, b)
        err(r, 400, 'VALIDATION_INVALID_BODY')
        ok(r.details?.toolCallId, r.text)
      },
    )
  await S('tools', 'contract: tool-result refuses an unknown field', async () => {
    const r = await M.post(`/agents/${A}/conversations/${ctx.t.cv}/tool-result`, { toolCallId: 'x', foo: 1 })
    err(r, 400, 'VALIDATION_INVALID_BODY')
  })
  await S('tools', 'unknown conversation: 404', async () => {
    const r = await result(crypto.randomUUID(), crypto.randomUUID(), 1)
    is(r.status, 404)
    return r.code
  })
  for (const [n, o] of [
    ['object', { a: [1, { b: null }] }],
    ['string', 'text'],
    ['number', 0],
    ['false', false],
    ['null', null],
    ['array', [1, 'x']],
    ['empty string', ''],
  ])
    await S(
      'tools',
      `output may be any JSON value: ${n}; it is returned unchanged in the history`,
      async () => {
        const r = await T([['get_order', { number: '1' }]])
        const { conversationId: cv } = r.json.data.metadata,
          id = r.json.data.parts.find((p) => p.type === 'tool-call').toolCallId
        is(
          (await M.post(`/agents/${A}/conversations/${cv}/tool-result`, { toolCallId: id, output: o })).json,
          { data: { success: true } },
        )
        const p = (await M.get(`/agents/${A}/conversations/${cv}`)).json.data.messages
          .flatMap((m) => m.parts)
          .find((p) => p.type === 'tool-result')
        is(p.output, o)
        is((await M.say(A, undefined, { conversationId: cv })).status, 200)
      },
    )
  await S('tools', 'output is optional', async () => {
    const r = await T([['get_order', { number: '1' }]])
    const cv = r.json.data.metadata.conversationId
    is((await result(cv, r.json.data.parts.find((p) => p.type === 'tool-call').toolCallId)).status, 200)
  })
  await S('tools', 'parallel calls: two tool-call parts with different ids', async () => {
    const r = await T([
      ['get_order', { number: '1' }],
      ['get_weather', { number: '2' }],
    ])
    const p = r.json.data.parts.filter((p) => p.type === 'tool-call')
    is(
      p.map((p) => p.toolName),
      ['get_order', 'get_weather'],
    )
    ok(p[0].toolCallId !== p[1].toolCallId, '')
    ctx.par = { cv: r.json.data.metadata.conversationId, p }
  })
  await S(
    'tools',
    'parallel calls: resolving one leaves the other pending; continue is refused until both are resolved',
    async () => {
      is((await result(ctx.par.cv, ctx.par.p[1].toolCallId, 'sun')).status, 200)
      err(await M.say(A, undefined, { conversationId: ctx.par.cv }), 409, 'CHAT_NOTHING_TO_CONTINUE')
      is((await result(ctx.par.cv, ctx.par.p[0].toolCallId, 'order')).status, 200)
      is((await M.say(A, undefined, { conversationId: ctx.par.cv })).status, 200)
    },
  )
  await S('tools', 'parallel calls: each result stands at its own call', async () => {
    const p = (await M.get(`/agents/${A}/conversations/${ctx.par.cv}`)).json.data.messages
      .flatMap((m) => m.parts)
      .filter((p) => p.type === 'tool-result')
    is(p.map((p) => [p.toolName, p.output]).sort(), [
      ['get_order', 'order'],
      ['get_weather', 'sun'],
    ])
  })
  await S('tools', 'after a result the conversation may continue with a new message', async () => {
    const r = await T([['get_order', { number: '1' }]])
    const cv = r.json.data.metadata.conversationId
    await result(cv, r.json.data.parts.find((p) => p.type === 'tool-call').toolCallId, 1)
    const n = await M.say(A, 'and now [[tokens:1]]', { conversationId: cv })
    is([n.status, n.json.data.metadata.finishReason], [200, 'stop'])
  })
  await S('tools', 'contract: a new message while calls are pending closes them as ignored', async () => {
    const r = await T([['get_order', { number: '1' }]])
    const cv = r.json.data.metadata.conversationId,
      id = r.json.data.parts.find((p) => p.type === 'tool-call').toolCallId
    is((await M.say(A, 'never mind [[tokens:1]]', { conversationId: cv })).status, 200)
    err(await result(cv, id, 1), 404, 'RESOURCE_TOOL_CALL_NOT_FOUND')
  })
  await S('tools', 'a text before a call is kept as a text part before the tool-call part', async () => {
    const r = await M.say(A, 'both [[say:One moment. ]] [[tool:get_order {"number":"7"}]]')
    is(
      r.json.data.parts.map((p) => p.type),
      ['text', 'tool-call'],
    )
  })
  await S(
    'tools',
    'an action that does not match its inputs schema is not sent to the application',
    async () => {
      const r = await M.say(A, 'x [[tool:get_order {"number":5}]]')
      ok(r.status === 200 || r.status === 502, r.text)
      return `${r.status} ${r.json?.data?.metadata?.finishReason} ${J(r.json?.data?.parts)?.slice(0, 120)}`
    },
  )
  await S('tools', 'five results for one call at the same time: exactly one is accepted', async () => {
    const r = await T([['get_order', { number: '1' }]])
    const cv = r.json.data.metadata.conversationId,
      id = r.json.data.parts.find((p) => p.type === 'tool-call').toolCallId
    const rs = await Promise.all([1, 2, 3, 4, 5].map((i) => result(cv, id, i)))
    is(rs.map((r) => r.status).sort(), [200, 404, 404, 404, 404])
  })
  await S('tools', 'tool-result through another own agent: refused', async () => {
    const r = await T([['get_order', { number: '1' }]])
    const cv = r.json.data.metadata.conversationId,
      id = r.json.data.parts.find((p) => p.type === 'tool-call').toolCallId
    is((await M.post(`/agents/${PG}/conversations/${cv}/tool-result`, { toolCallId: id })).status, 404)
  })
  // score
  await S('score', 'metadata.score is between 0 and 1 when sources are trained', async () => {
    const a = await ctx.newAgent(M, 'Scored')
    ctx.SC = a
    const s = await M.post(`/agents/${a}/sources`, {
      type: 'text',
      name: 'W',
      content: 'Every lamp has a warranty of five years. Kettles have two years.',
    })
    is(s.status, 201, s.text)
    for (let i = 0; i < 80; i++) {
      if ((await M.get(`/agents/${a}`)).json.status === 'trained') break
      await sleep(250)
    }
    const r = await M.say(a, 'How long is the warranty of a lamp? [[say:Five years <1>.]]')
    const m = (await M.get(`/agents/${a}/conversations/${r.json.data.metadata.conversationId}`)).json.data
      .messages[1]
    ok(typeof m.metadata.score === 'number' && m.metadata.score >= 0 && m.metadata.score <= 1, J(m.metadata))
    return `score ${m.metadata.score}`
  })
  // retry
  await S(
    'retry',
    'contract: POST retry {messageId} answers the user message again and replaces the answer',
    async () => {
      const r = await M.say(A, 'retry me [[tokens:1]]')
      const cv = r.json.data.metadata.conversationId
      const n = await M.post(`/agents/${A}/conversations/${cv}/retry`, {
        messageId: r.json.data.id,
        stream: false,
      })
      is([n.status, keysOf(n.json.data)], [200, ['id', 'metadata', 'parts', 'role']])
      is((await M.get(`/agents/${A}/conversations/${cv}`)).json.data.messages.length, 2)
      err(
        await M.post(`/agents/${A}/conversations/${cv}/retry`, { messageId: crypto.randomUUID() }),
        404,
        'CHAT_RETRY_MESSAGE_NOT_FOUND',
      )
    },
  )
}

import { is, J, keysOf, ok, parse, S, sleep } from './lib.mjs'
export const check = async (ctx) => {
  const { M, A, err } = ctx,
    chat = `/agents/${A}/chat`
  const DOC = [
    'start',
    'start-step',
    'text-start',
    'text-delta',
    'text-end',
    'tool-input-start',
    'tool-input-delta',
    'tool-input-available',
    'tool-output-available',
    'finish-step',
    'finish',
    'error',
    'message-metadata',
  ]
  const s = await M.stream(chat, { message: 'hello [[say:One two three.]]', userId: 's1' })
  ctx.s = s
  await S('stream', 'Content-Type: text/event-stream', () =>
    ok(/^text\/event-stream/.test(s.headers.get('content-type')), s.headers.get('content-type')),
  )
  await S(
    'stream',
    'contract headers: x-vercel-ai-ui-message-stream v1, x-accel-buffering no, cache-control no-cache, no-transform',
    () =>
      is(
        ['x-vercel-ai-ui-message-stream', 'x-accel-buffering', 'cache-control'].map((h) => s.headers.get(h)),
        ['v1', 'no', 'no-cache, no-transform'],
      ),
  )
  await S('stream', 'each event is a data: line with a JSON object that has a type', () =>
    ok(
      s.raw.every((b) => b.lines.filter((l) => l.startsWith('data: ')).length === 1) &&
        s.events.every((e) => typeof e.type === 'string'),
      J(s.raw[0]),
    ),
  )
  await S('stream', 'an event: field repeats the type', () =>
    ok(
      s.raw.filter((b) => b.data !== '[DONE]').every((b) => b.ev === JSON.parse(b.data).type),
      J(s.raw.map((b) => b.ev)),
    ),
  )
  await S('stream', 'contract: each event has id: n, growing', () => {
    const n = s.raw.filter((b) => b.data !== '[DONE]').map((b) => +b.id)
    ok(
      n.every((v, i) => Number.isInteger(v) && (!i || v > n[i - 1])),
      J(n),
    )
  })
  await S('stream', 'the stream ends with data: [DONE]', () =>
    ok(s.done && s.text.endsWith('data: [DONE]\n\n'), J(s.text.slice(-40))),
  )
  await S(
    'stream',
    'order: start, start-step, text-start, text-delta…, text-end, finish-step, finish',
    () => {
      const t = s.types
        .filter((v, i, a) => !(v === 'text-delta' && a[i - 1] === 'text-delta'))
        .filter((t) => t !== 'message-metadata' && !t.startsWith('data-'))
      is(t, ['start', 'start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'])
    },
  )
  await S('stream', 'only documented types (or data-…)', () =>
    ok(
      s.types.every((t) => DOC.includes(t) || t.startsWith('data-')),
      J(s.types),
    ),
  )
  await S('stream', 'start once, first, with messageId', () => {
    is(
      [s.types[0], s.types.filter((t) => t === 'start').length, keysOf(s.events[0])],
      ['start', 1, ['messageId', 'type']],
    )
  })
  await S('stream', 'finish once, last, with finishReason and messageMetadata', () => {
    const f = s.events.at(-1)
    is([f.type, f.finishReason, s.types.filter((t) => t === 'finish').length], ['finish', 'stop', 1])
  })
  await S(
    'stream',
    'messageMetadata on finish: messageId, userMessageId, conversationId, userId, usage.credits, all present',
    () => {
      const m = s.events.at(-1).messageMetadata
      for (const k of ['messageId', 'userMessageId', 'conversationId', 'userId', 'usage']) ok(k in m, k)
      is([m.messageId, m.userId, typeof m.usage.credits], [s.events[0].messageId, 's1', 'number'])
      return `keys ${keysOf(m)}`
    },
  )
  await S(
    'stream',
    'message-metadata carries the same object as on finish (messageId, userMessageId, conversationId, userId, usage.credits)',
    () => {
      const e = s.events.find((e) => e.type === 'message-metadata')
      if (!e) return 'n.a. not sent (optional)'
      const a = e.messageMetadata,
        b = s.events.at(-1).messageMetadata
      for (const k of ['messageId', 'userMessageId', 'conversationId', 'userId', 'usage'])
        ok(J(a[k]) === J(b[k]), `${k}: ${J(a)} / ${J(b)}`)
    },
  )
  await S('stream', 'text-start, text-delta and text-end of a block carry the same id', () => {
    const b = s.events.filter((e) => e.type.startsWith('text-'))
    is(new Set(b.map((e) => e.id)).size, 1)
    ok(b[0].id, 'id')
  })
  await S('stream', 'the deltas joined are the full text, which is the stored text', async () => {
    const t = s.events
      .filter((e) => e.type === 'text-delta')
      .map((e) => e.delta)
      .join('')
    is(t, 'One two three.')
    const m = (await M.get(`/agents/${A}/conversations/${s.events.at(-1).messageMetadata.conversationId}`))
      .json.data.messages
    is([m[1].id, m[1].parts[0].text], [s.events[0].messageId, t])
  })
  await S('stream', 'start-step, finish-step, text-end have no further fields', () => {
    for (const e of s.events) {
      if (['start-step', 'finish-step'].includes(e.type)) is(keysOf(e), ['type'])
      if (['text-start', 'text-end'].includes(e.type)) is(keysOf(e), ['id', 'type'])
      if (e.type === 'text-delta') is(keysOf(e), ['delta', 'id', 'type'])
    }
  })
  const t = await M.stream(chat, { message: 'call [[tool:get_order {"number":"12345678901234567890"}]]' })
  ctx.ts = t
  await S(
    'stream tools',
    'order: start, start-step, tool-input-start, tool-input-delta…, tool-input-available, finish-step, finish',
    () => {
      const o = t.types
        .filter((v, i, a) => !(v === 'tool-input-delta' && a[i - 1] === 'tool-input-delta'))
        .filter((t) => t !== 'message-metadata' && !t.startsWith('data-'))
      is(o, [
        'start',
        'start-step',
        'tool-input-start',
        'tool-input-delta',
        'tool-input-available',
        'finish-step',
        'finish',
      ])
    },
  )
  await S('stream tools', 'finishReason is tool-calls', () => is(t.events.at(-1).finishReason, 'tool-calls'))
  await S('stream tools', 'tool-input-start {toolCallId, toolName}', () =>
    is(keysOf(t.events.find((e) => e.type === 'tool-input-start')), ['toolCallId', 'toolName', 'type']),
  )
  await S('stream tools', 'tool-input-delta {toolCallId, inputTextDelta}; joined they are the input', () => {
    const d = t.events.filter((e) => e.type === 'tool-input-delta')
    is(keysOf(d[0]), ['inputTextDelta', 'toolCallId', 'type'])
    is(JSON.parse(d.map((e) => e.inputTextDelta).join('')), { number: '12345678901234567890' })
    return `${d.length} delta event(s)`
  })
  await S('stream tools', 'tool-input-available {toolCallId, toolName, input}, complete', () => {
    const e = t.events.find((e) => e.type === 'tool-input-available')
    is(
      [keysOf(e), e.input],
      [['input', 'toolCallId', 'toolName', 'type'], { number: '12345678901234567890' }],
    )
  })
  await S('stream tools', 'the id of the three events is one, and accepted by tool-result', async () => {
    const ids = new Set(t.events.filter((e) => e.type.startsWith('tool-')).map((e) => e.toolCallId))
    is(ids.size, 1)
    const cv = t.events.at(-1).messageMetadata.conversationId
    is(
      (
        await M.post(`/agents/${A}/conversations/${cv}/tool-result`, {
          toolCallId: [...ids][0],
          output: { ok: 1 },
        })
      ).status,
      200,
    )
  })
  const c2 = await M.stream(chat, { conversationId: t.events.at(-1).messageMetadata.conversationId })
  await S(
    'stream tools',
    'continuation as a stream: start with a messageId, text, finish stop, [DONE]',
    () => {
      is(
        [c2.status, c2.types[0], c2.events.at(-1).type, c2.events.at(-1).finishReason, c2.done],
        [200, 'start', 'finish', 'stop', true],
      )
      ok(c2.types.includes('text-delta'), J(c2.types))
    },
  )
  await S('stream tools', 'continuation: userMessageId is the last user message', () =>
    is(c2.events.at(-1).messageMetadata.userMessageId, t.events.at(-1).messageMetadata.userMessageId),
  )
  await S(
    'stream tools',
    'SPEC: tool-output-available is emitted when a tool result is available ("the chat endpoint emits all of the above")',
    () => {
      ok(!c2.types.includes('tool-output-available'), `continuation emits ${J([...new Set(c2.types)])}`)
      return 'dec. the result of a client action is not echoed on the stream'
    },
  )
  await S(
    'stream tools',
    'contract: tool-output-available with includeServerActions for a call the service runs (collect-leads)',
    async () => {
      const a = await ctx.newAgent(M, 'Leads')
      const x = await M.post(`/agents/${a}/actions`, {
        name: 'take_lead',
        type: 'collect-leads',
        description: 'stores leads',
      })
      is(x.status, 201, x.text)
      const r = await M.stream(`/agents/${a}/chat`, {
        message: 'lead [[tool:take_lead {"name":"Eve","email":"eve@example.org"}]]',
        includeServerActions: true,
      })
      const o = r.events.find((e) => e.type === 'tool-output-available')
      ok(o && 'toolCallId' in o && 'output' in o, J(r.types))
      const plain = await M.stream(`/agents/${a}/chat`, {
        message: 'lead [[tool:take_lead {"name":"Eve","email":"eve@example.org"}]]',
      })
      ok(!plain.types.some((t) => t.startsWith('tool-')), J(plain.types))
      ctx.leadAgent = a
      return J(r.types.filter((v, i, z) => v !== z[i - 1]))
    },
  )
  await S('stream tools', 'parallel calls in one step, two available events', async () => {
    const r = await M.stream(chat, {
      message: 'x [[tool:get_order {"number":"1"}]] [[tool:get_weather {"number":"2"}]]',
    })
    is(
      r.events.filter((e) => e.type === 'tool-input-available').map((e) => e.toolName),
      ['get_order', 'get_weather'],
    )
  })
  await S(
    'stream tools',
    'a text before a call: text block closed before the tool input begins',
    async () => {
      const r = await M.stream(chat, { message: 'x [[say:Wait. ]] [[tool:get_order {"number":"1"}]]' })
      ok(
        r.types.indexOf('text-end') < r.types.indexOf('tool-input-start') && r.types.indexOf('text-end') > 0,
        J(r.types),
      )
    },
  )
  await S(
    'stream errors',
    'fault during generation: error {errorText}, stream partial, then finish error and [DONE] (contract)',
    async () => {
      const r = await M.stream(chat, { message: 'x [[tokens:9]] [[delay:40]] [[drop:4]]' })
      const e = r.events.find((e) => e.type === 'error')
      ok(e, J(r.types))
      is(
        [keysOf(e), r.events.at(-1).type, r.events.at(-1).finishReason, r.done],
        [['errorText', 'type'], 'finish', 'error', true],
      )
      return J(e)
    },
  )
  await S(
    'stream errors',
    'open text block and step are closed before the end of a broken stream',
    async () => {
      const r = await M.stream(chat, { message: 'x [[tokens:9]] [[delay:40]] [[drop:4]]' })
      const n = (t) => r.types.filter((x) => x === t).length
      is([n('text-start') - n('text-end'), n('start-step') - n('finish-step')], [0, 0], J(r.types))
    },
  )
  await S('stream errors', 'provider fault before the first event: a JSON 502, no stream', async () => {
    const r = await M.stream(chat, { message: 'x [[fail:500]]' })
    err(r, 502, 'CHAT_PROVIDER_ERROR')
  })
  await S('stream errors', 'validation error with stream true is JSON', async () => {
    const r = await M.post(chat, { message: '' })
    err(r, 400, 'VALIDATION_INVALID_BODY')
    ok(/json/.test(r.headers.get('content-type')), '')
  })
  await S('stream', 'finishReason length on a stream', async () =>
    is(
      (await M.stream(chat, { message: 'x [[tokens:2]] [[finish:length]]' })).events.at(-1).finishReason,
      'length',
    ),
  )
  await S('stream', 'the retry endpoint streams the same events (contract path)', async () => {
    const m = s.events.at(-1).messageMetadata
    const r = await M.stream(`/agents/${A}/conversations/${m.conversationId}/retry`, {
      messageId: m.messageId,
    })
    is([r.status, r.types[0], r.events.at(-1).type, r.done], [200, 'start', 'finish', true])
  })
  await S('stream', 'a client that goes away loses nothing: the answer is stored complete', async () => {
    const ac = new AbortController()
    const p = M.call(
      'POST',
      `/api/v2${chat}`,
      { message: 'leave [[tokens:15]] [[delay:40]]', userId: 'leaver' },
      {},
      { signal: ac.signal },
    ).catch(() => null)
    await sleep(250)
    ac.abort()
    await p
    await sleep(1200)
    const c = (await M.get(`/agents/${A}/users/leaver/conversations`)).json.data[0]
    const m = (await M.get(`/agents/${A}/conversations/${c.id}`)).json.data.messages
    is([m.length, m[1].parts[0].text.trim().split(' ').length], [2, 15])
  })
  await S('stream', 're-attach (contract): 204 without a body when nothing runs', async () => {
    const r = await M.get(
      `/agents/${A}/conversations/${s.events.at(-1).messageMetadata.conversationId}/stream`,
    )
    is([r.status, r.text], [204, ''])
  })
  await S('stream', 're-attach: the running events from the start, and after Last-Event-ID', async () => {
    const p = M.stream(chat, { message: 'long [[tokens:25]] [[delay:50]]', userId: 'reatt' })
    await sleep(400)
    const cv = (await M.get(`/agents/${A}/users/reatt/conversations`)).json.data[0].id
    const [a, b] = await Promise.all([
      M.get(`/agents/${A}/conversations/${cv}/stream`),
      M.get(`/agents/${A}/conversations/${cv}/stream`, { 'last-event-id': '5' }),
    ])
    const full = await p,
      pa = parse(a.text),
      pb = parse(b.text)
    const join = (e) =>
      e
        .filter((e) => e.type === 'text-delta')
        .map((e) => e.delta)
        .join('')
    is(join(pa.events), join(full.events))
    ok(pa.done && pb.done && pb.events.length < pa.events.length, `${pa.events.length} ${pb.events.length}`)
  })
  await S('stream', 'not compressed even when the client accepts gzip', async () => {
    const r = await M.post(chat, { message: 'x [[tokens:1]]' }, { 'accept-encoding': 'gzip, br' })
    is(r.headers.get('content-encoding'), null)
  })
  await S('stream', 'a cited source comes as data-sources and finish still last', async () => {
    const r = await M.stream(`/agents/${ctx.SC ?? A}/chat`, {
      message: 'How long is the warranty of a lamp? [[say:Five years <1>.]]',
    })
    const d = r.events.find((e) => e.type === 'data-sources')
    ok(d?.data?.sources?.length, J(r.types))
    is(r.events.at(-1).type, 'finish')
    return J(d).slice(0, 160)
  })
}

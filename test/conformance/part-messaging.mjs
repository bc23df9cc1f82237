import { BASE, is, J, keysOf, ok, S, sleep } from './lib.mjs'
export const check = async (ctx) => {
  const { M, MS, NONE, err, fakeTemplate, member } = ctx,
    list = `/agents/${MS}/messaging/templates`,
    send = (b) => M.post(`/agents/${MS}/messaging/messages/template`, b)
  await S('messaging', 'not connected: list gives MESSAGING_NOT_CONNECTED (403 by contract)', async () =>
    err(await M.get(`/agents/${NONE}/messaging/templates`), 403, 'MESSAGING_NOT_CONNECTED'),
  )
  await S('messaging', 'not connected: send gives MESSAGING_NOT_CONNECTED (403)', async () =>
    err(
      await M.post(`/agents/${NONE}/messaging/messages/template`, {
        to: '+4915112345678',
        template: { name: 'x' },
      }),
      403,
      'MESSAGING_NOT_CONNECTED',
    ),
  )
  const fake = await ctx.startMessagingServer()
  fake.accounts.set('201', {
    token: 't1',
    numbers: [{ id: 'n-1', phone: '+1 555-000-1111', name: 'Shop' }],
    templates: [
      fakeTemplate('hello', 'Hello {{1}}, order {{2}}'),
      fakeTemplate('plain', 'Hi there'),
      fakeTemplate('pending', 'x', { status: 'PENDING' }),
      fakeTemplate('rejected', 'x', { status: 'REJECTED' }),
      fakeTemplate('head', 'Body {{1}}', {
        components: [
          { type: 'HEADER', format: 'TEXT', text: 'Dear {{1}}' },
          { type: 'BODY', text: 'Body {{1}}' },
          { type: 'FOOTER', text: 'bye' },
          {
            type: 'BUTTONS',
            buttons: [
              { type: 'URL', text: 'Go', url: 'https://x.example' },
              { type: 'QUICK_REPLY', text: 'Yes' },
            ],
          },
        ],
      }),
      fakeTemplate('dynamic', 'x', {
        components: [
          { type: 'BODY', text: 'x' },
          { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Go', url: 'https://x.example/{{1}}' }] },
        ],
      }),
      fakeTemplate('twolang', 'One {{1}}'),
      fakeTemplate('twolang', 'Zwei {{1}}', { language: 'de' }),
      fakeTemplate('named', 'Hi {{first_name}}', { parameter_format: 'NAMED' }),
    ],
  })
  fake.accounts.set('202', {
    token: 't2',
    numbers: [{ id: 'n-2', phone: '+1 555-000-2222', name: 'Second' }],
    templates: [fakeTemplate('second', 'Two {{1}}')],
  })
  const acc = (id, t) => ({
    businessAccountId: id,
    accessToken: t,
    appSecret: 'app-secret',
    verifyToken: 'verify-me',
  })
  const connect = (a) => M.v2('PUT', `/agents/${MS}/messaging/connection`, { accounts: a, baseUrl: fake.url })
  const c1 = await connect([acc('201', 't1')])
  ok(c1.status === 200, c1.text)
  const L = await M.get(list),
    T = (k) => L.json.templates.find((t) => t.name === k)
  await S('templates', '200 {templates, complete, unavailableBusinessAccountIds, senders}', () =>
    is(
      [L.status, keysOf(L.json)],
      [200, ['complete', 'senders', 'templates', 'unavailableBusinessAccountIds']],
    ),
  )
  await S(
    'templates',
    'item: id, name, language, category, status, parameterFormat, businessAccountId, variables, components',
    () => {
      for (const t of L.json.templates)
        is(keysOf(t), [
          'businessAccountId',
          'category',
          'components',
          'id',
          'language',
          'name',
          'parameterFormat',
          'status',
          'variables',
        ])
    },
  )
  await S('templates', 'only approved templates are listed', () => {
    is([...new Set(L.json.templates.map((t) => t.status))], ['APPROVED'])
    ok(!T('pending') && !T('rejected'), '')
  })
  await S('templates', 'variables: header and body, arrays of position keys', () => {
    is(T('hello').variables, { header: [], body: ['1', '2'] })
    is(T('head').variables, { header: ['1'], body: ['1'] })
    is(T('plain').variables, { header: [], body: [] })
  })
  await S('templates', 'parameterFormat POSITIONAL (NAMED by contract)', () =>
    is([T('hello').parameterFormat, T('named').parameterFormat], ['POSITIONAL', 'NAMED']),
  )
  await S('templates', 'components: items with type, format, text, buttons(type, text, url)', () => {
    const c = T('head').components
    is(
      c.map((x) => x.type),
      ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'],
    )
    is(c[3].buttons[0], { type: 'URL', text: 'Go', url: 'https://x.example' })
    is([c[0].format, c[0].text], ['TEXT', 'Dear {{1}}'])
  })
  await S('templates', 'senders: {from, businessAccountId, verifiedName}', () =>
    is(L.json.senders, [{ from: '+15550001111', businessAccountId: '201', verifiedName: 'Shop' }]),
  )
  await S('templates', 'complete true, unavailableBusinessAccountIds []', () =>
    is([L.json.complete, L.json.unavailableBusinessAccountIds], [true, []]),
  )
  // send
  const R = await send({
    to: '+1 555 010 2030',
    template: { name: 'hello', language: 'en', variables: { header: {}, body: { 1: 'Ann', 2: '4711' } } },
  })
  await S('send', '201 {messageId, conversationId, to} (contract names)', () => {
    is([R.status, keysOf(R.json)], [201, ['conversationId', 'messageId', 'to']], R.text)
    ok(/^wamid/.test(R.json.messageId) && R.json.to === '15550102030', R.text)
  })
  await S('send', 'accepted by the channel with the values in order', () => {
    const s = fake.sent.at(-1)
    is(
      [
        s.to,
        s.body.name,
        s.body.language.code,
        s.body.components.find((c) => c.type === 'body').parameters.map((p) => p.text),
      ],
      ['15550102030', 'hello', 'en', ['Ann', '4711']],
    )
  })
  await S('send', 'ongoing: the message is appended to the conversation', async () => {
    const e = (await M.get(`/agents/${MS}/conversations/export?conversationId=${R.json.conversationId}`)).json
      .data[0]
    is(
      [e.status, e.messages.length, e.messages[0].role, e.messages[0].parts[0].text],
      ['ongoing', 1, 'assistant', 'Hello Ann, order 4711'],
    )
    ctx.msSource = e.source
    return `source ${e.source}`
  })
  await S('send', 'contract: source of the conversation is "Messaging"', () => is(ctx.msSource, 'Messaging'))
  await S(
    'send',
    'separators in to are tolerated; the same recipient has the same conversation',
    async () => {
      for (const to of [
        '15550102030',
        '+1-555-010-2030',
        '+1 (555) 010 2030',
        '+1.555.010.2030',
        '00 1 555 010 2030',
      ]) {
        const r = await send({ to, template: { name: 'plain' } })
        if (to.startsWith('00')) {
          ok([201, 422].includes(r.status), r.text)
          continue
        }
        is([r.status, r.json.conversationId], [201, R.json.conversationId], to + r.text)
      }
    },
  )
  await S('send', 'from is optional with one number; its formatting is ignored', async () => {
    for (const from of ['15550001111', '+1 555 000 1111', '+1-555-000-1111', '(1) 555.000.1111']) {
      const r = await send({ to: '+15550102030', from, template: { name: 'plain' } })
      is(r.status, 201, from + r.text)
    }
  })
  await S('send', 'contract: from of no connected number: 404 PHONE_NUMBER_NOT_FOUND', async () =>
    err(
      await send({ to: '+15550102030', from: '+15559999999', template: { name: 'plain' } }),
      404,
      'PHONE_NUMBER_NOT_FOUND',
    ),
  )
  await S('send', 'contract: recipient that is no phone number: 422 RECIPIENT_INVALID', async () =>
    err(await send({ to: '+1 22', template: { name: 'plain' } }), 422, 'RECIPIENT_INVALID'),
  )
  for (const b of [
    {},
    { to: '', template: { name: 'x' } },
    { to: 5, template: { name: 'x' } },
    { to: '+1', template: {} },
    { to: '+1', template: 'x' },
    { to: '+1' },
    { to: '+15550102030', from: '', template: { name: 'plain' } },
    { to: '+15550102030', template: { name: 'hello', variables: { body: { 1: 5 } } } },
    { to: '+15550102030', template: { name: 'hello', variables: { body: ['a'] } } },
  ])
    await S('send', `body ${J(b).slice(0, 70)} is 400 VALIDATION_INVALID_BODY`, async () =>
      err(await send(b), 400, 'VALIDATION_INVALID_BODY'),
    )
  await S('send', 'details use the field path template.name', async () =>
    ok((await send({ to: '+1', template: {} })).details?.['template.name'], ''),
  )
  await S('send', 'contract: unknown template 404 TEMPLATE_NOT_FOUND', async () =>
    err(await send({ to: '+15550102030', template: { name: 'nope' } }), 404, 'TEMPLATE_NOT_FOUND'),
  )
  await S('send', 'contract: not approved 409 TEMPLATE_NOT_APPROVED with details.status', async () => {
    const r = await send({ to: '+15550102030', template: { name: 'pending' } })
    err(r, 409, 'TEMPLATE_NOT_APPROVED')
    is(r.details?.status, 'PENDING')
  })
  await S('send', 'contract: several languages and none given: 400 TEMPLATE_LANGUAGE_REQUIRED', async () =>
    err(
      await send({ to: '+15550102030', template: { name: 'twolang', variables: { body: { 1: 'x' } } } }),
      400,
      'TEMPLATE_LANGUAGE_REQUIRED',
    ),
  )
  await S('send', 'language chooses', async () => {
    is(
      (
        await send({
          to: '+15550102030',
          template: { name: 'twolang', language: 'de', variables: { body: { 1: 'x' } } },
        })
      ).status,
      201,
    )
    is(fake.sent.at(-1).body.language.code, 'de')
  })
  await S(
    'send',
    'contract: missing variables 422 MISSING_TEMPLATE_VARIABLES, details.missing "body[2]"',
    async () => {
      const r = await send({
        to: '+15550102030',
        template: { name: 'hello', variables: { body: { 1: 'x' } } },
      })
      err(r, 422, 'MISSING_TEMPLATE_VARIABLES')
      is(r.details?.missing, 'body[2]')
    },
  )
  for (const v of ['', 'a\nb', 'a\tb', 'a     b'])
    await S('send', `contract: variable ${J(v)} is 422 INVALID_TEMPLATE_VARIABLES`, async () => {
      const r = await send({
        to: '+15550102030',
        template: { name: 'hello', variables: { body: { 1: v, 2: 'x' } } },
      })
      err(r, 422, 'INVALID_TEMPLATE_VARIABLES')
      ok(/^body\[1\] \(/.test(r.details?.invalid), r.text)
    })
  await S(
    'send',
    'a variable that the template has not is refused ("must follow the template\'s variables shape")',
    async () => {
      const r = await send({
        to: '+15550102030',
        template: { name: 'hello', variables: { body: { 1: 'x', 2: 'y', 3: 'z' } } },
      })
      ok(r.status === 422 || r.status === 400, `${r.status} ${r.text}`)
      return `${r.status} ${r.code}`
    },
  )
  await S('send', 'contract: dynamic button 422 TEMPLATE_BUTTONS_UNSUPPORTED', async () =>
    err(
      await send({ to: '+15550102030', template: { name: 'dynamic' } }),
      422,
      'TEMPLATE_BUTTONS_UNSUPPORTED',
    ),
  )
  await S('send', 'header and body variables', async () => {
    is(
      (
        await send({
          to: '+15550102030',
          template: { name: 'head', variables: { header: { 1: 'H' }, body: { 1: 'B' } } },
        })
      ).status,
      201,
    )
    const c = fake.sent.at(-1).body.components
    is(
      c.map((x) => x.type),
      ['header', 'body'],
    )
  })
  await S('send', 'a contact is resolved or created from `to`', async () => {
    const r = await M.get(`/agents/${MS}/contacts?limit=100`)
    ok(
      r.json.data.some((c) => J(c).includes('15550102030')),
      r.text.slice(0, 300),
    )
  })
  // status rules
  const cv = R.json.conversationId,
    exported = async (id) =>
      (await M.get(`/agents/${MS}/conversations/export?conversationId=${id}`)).json.data[0]
  await S('send', 'replies flow into that conversation (webhook)', async () => {
    const text = J(
      ctx.textWebhook(
        { account: '201', number: 'n-1', from: '15550102030' },
        'in-1',
        Math.floor(Date.now() / 1000),
        'Hello back',
      ),
    )
    const r = await fetch(`${BASE}/webhooks/messaging/${MS}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': ctx.signatureOf(text, 'app-secret'),
      },
      body: text,
    })
    is(r.status, 200)
    for (let i = 0; i < 30; i++) {
      if ((await exported(cv)).messages.some((m) => m.role === 'user')) break
      await sleep(200)
    }
    ok(
      (await exported(cv)).messages.some((m) => m.role === 'user' && /Hello back/.test(J(m.parts))),
      '',
    )
    await sleep(2500)
  })
  await S('send', 'taken over: delivered on the channel only, not appended', async () => {
    const t = await M.post(`/agents/${MS}/conversations/${cv}/takeover`, { memberId: member.id })
    is(t.status, 200, t.text)
    const n = (await exported(cv)).messages.length,
      sent = fake.sent.length
    const r = await send({ to: '+15550102030', template: { name: 'plain' } })
    is(r.status, 201, r.text)
    await sleep(500)
    is([(await exported(cv)).messages.length, fake.sent.length - sent], [n, 1])
    return r.json.conversationId === cv
      ? 'same conversationId'
      : `other conversationId ${r.json.conversationId}`
  })
  await S('send', 'ended: delivered and not appended to the ended conversation', async () => {
    is((await M.post(`/agents/${MS}/conversations/${cv}/end`)).status, 200)
    const n = (await exported(cv)).messages.length,
      sent = fake.sent.length
    const r = await send({ to: '+15550102030', template: { name: 'plain' } })
    is(r.status, 201, r.text)
    is([(await exported(cv)).messages.length, fake.sent.length - sent], [n, 1])
    ctx.after = r.json.conversationId
    return r.json.conversationId === cv ? 'same conversationId' : 'new conversationId'
  })
  await S(
    'send',
    'SPEC: after "ended" the message "is delivered on the channel only and is not appended to the conversation" — no other conversation receives it',
    async () => {
      if (ctx.after === cv) return 'same id'
      const e = await exported(ctx.after)
      ok(
        !e || e.messages.length === 0,
        `a new conversation ${ctx.after} holds ${e.messages.length} message(s): ${J(e.messages[0]?.parts)}; parent ${e.parentConversationId}`,
      )
    },
  )
  await S('send', 'conversationId is where the replies continue (webhook after the end)', async () => {
    const text = J(
      ctx.textWebhook(
        { account: '201', number: 'n-1', from: '15550102030' },
        'in-2',
        Math.floor(Date.now() / 1000),
        'After the end',
      ),
    )
    await fetch(`${BASE}/webhooks/messaging/${MS}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': ctx.signatureOf(text, 'app-secret'),
      },
      body: text,
    })
    for (let i = 0; i < 30; i++) {
      if (/After the end/.test(J((await exported(ctx.after))?.messages))) return
      await sleep(200)
    }
    ok(false, J(await exported(ctx.after)))
  })
  await S('send', 'to is the canonical recipient id of the channel', async () => {
    fake.renamed.set('5215550102031', '525550102031')
    const r = await send({ to: '+5215550102031', template: { name: 'plain' } })
    if (r.status !== 201) {
      fake.renamed.set('525550102031', '5215550102031')
      const b = await send({ to: '+525550102031', template: { name: 'plain' } })
      is([b.status, b.json.to], [201, '5215550102031'], b.text)
      return 'with another number'
    }
    is(r.json.to, '525550102031')
  })
  const c2 = await connect([acc('201', 't1'), acc('202', 't2')])
  ok(c2.status === 200, c2.text)
  await S('send', 'contract: two numbers and no from: 400 PHONE_NUMBER_REQUIRED', async () =>
    err(await send({ to: '+15550102030', template: { name: 'plain' } }), 400, 'PHONE_NUMBER_REQUIRED'),
  )
  await S('send', 'a template can only be sent from a number on its own business account', async () => {
    const r = await send({ to: '+15550102030', from: '+15550002222', template: { name: 'plain' } })
    err(r, 404, 'TEMPLATE_NOT_FOUND')
    is(
      (
        await send({
          to: '+15550102030',
          from: '+15550002222',
          template: { name: 'second', variables: { body: { 1: 'x' } } },
        })
      ).status,
      201,
    )
  })
  await S(
    'templates',
    'complete false and the account named when one could not be read; the list is partial',
    async () => {
      for (let i = 0; i < 3; i++) fake.faults.push({ path: /202\/message_templates/, cut: 'before' })
      const r = await M.get(list)
      is([r.status, r.json.complete, r.json.unavailableBusinessAccountIds], [200, false, ['202']])
      ok(r.json.templates.length && r.json.templates.every((t) => t.businessAccountId === '201'), '')
      is((await M.get(list)).json.complete, true)
    },
  )
  await S('send', 'contract: channel fault 502 MESSAGING_SEND_FAILED', async () => {
    for (let i = 0; i < 6; i++) fake.faults.push({ path: /n-1\/messages/, status: 400, code: 131000 })
    const r = await send({ to: '+15550102030', from: '+15550001111', template: { name: 'plain' } })
    fake.faults.length = 0
    err(r, 502, 'MESSAGING_SEND_FAILED')
  })
  await fake.close()
}

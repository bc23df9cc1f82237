import { BASE, is, J, keysOf, ok, S, sleep, walk } from './lib.mjs'
export const check = async (ctx) => {
  const { M, A, PG, D, X, err, E, META, B64, pgIds, deep, dId, x } = ctx
  const uniq = (a) => new Set(a).size
  const Ls = {
    agent: `/agents/${PG}/conversations`,
    user: `/agents/${PG}/users/u.1/conversations`,
    export: `/agents/${PG}/conversations/export`,
    messages: `/agents/${PG}/conversations/${deep}/messages`,
  }
  const totals = { agent: 45, user: 30, export: 45, messages: 46 }
  for (const [name, p] of Object.entries(Ls)) {
    await S(
      'pagination',
      `${name} list: {data, pagination:{cursor, hasMore, total}} and nothing else`,
      async () => {
        const r = await M.get(p)
        is(r.status, 200)
        is(keysOf(r.json), ['data', 'pagination'])
        is(keysOf(r.json.pagination), ['cursor', 'hasMore', 'total'])
        ok(Array.isArray(r.json.data), '')
      },
    )
    await S('pagination', `${name} list: default limit is 20`, async () =>
      is((await M.get(p)).json.data.length, 20),
    )
    await S(
      'pagination',
      `${name} list: total counts all matching items (${totals[name]}) on every page`,
      async () => {
        const w = await walk(M, p, 9)
        ok(
          w.pages.every((q) => q.pagination.total === totals[name]),
          w.pages.map((q) => q.pagination.total),
        )
      },
    )
    await S(
      'pagination',
      `${name} list: cursor is a base64 string while hasMore, null at the end`,
      async () => {
        const w = await walk(M, p, 20)
        for (const q of w.pages)
          q.pagination.hasMore
            ? ok(B64.test(q.pagination.cursor), q.pagination.cursor)
            : is(q.pagination.cursor, null)
      },
    )
    for (const n of [1, 7, 44, 100])
      await S(
        'pagination',
        `${name} list with equal timestamps: walking with limit ${n} returns every row once`,
        async () => {
          const w = await walk(M, p, n)
          is([w.items.length, uniq(w.items.map((i) => i.id))], [totals[name], totals[name]])
          ok(
            w.pages.slice(0, -1).every((q) => q.data.length === n),
            'page sizes',
          )
        },
      )
    await S('pagination', `${name} list: limit equal to the count has no next page`, async () => {
      const r = await M.get(`${p}?limit=${totals[name]}`)
      is(
        [r.json.data.length, r.json.pagination.hasMore, r.json.pagination.cursor],
        [totals[name], false, null],
      )
    })
    await S('pagination', `${name} list: the limit may change between pages`, async () => {
      const a = await M.get(`${p}?limit=5`),
        b = await M.get(`${p}?limit=100&cursor=${E(a.json.pagination.cursor)}`)
      is([a.json.data.length + b.json.data.length, b.json.pagination.hasMore], [totals[name], false])
    })
    for (const bad of ['0', '101', '-1', '1.5', 'abc', '1e2', '0x10', '%20', '99999999999999999999', 'NaN'])
      await S(
        'limit',
        `${name} list: limit=${bad} is 400 VALIDATION_INVALID_BODY with details.limit`,
        async () => {
          const r = await M.get(`${p}?limit=${bad}`)
          err(r, 400, 'VALIDATION_INVALID_BODY')
          ok(r.details?.limit, r.text)
        },
      )
    await S('limit', `${name} list: limit=1 and limit=100 are accepted`, async () => {
      is((await M.get(`${p}?limit=1`)).json.data.length, 1)
      is((await M.get(`${p}?limit=100`)).status, 200)
    })
    for (const [what, c] of [
      ['random text', 'hello'],
      ['base64 of nothing useful', 'eyJ0IjoiMjAyNiJ9'],
      ['not base64', '!!!'],
      [
        'base64 JSON with a foreign id',
        Buffer.from(J({ t: '2026-01-01T00:00:00Z', id: 'x' })).toString('base64'),
      ],
    ])
      await S('cursor', `${name} list: damaged cursor (${what}) is 400 VALIDATION_INVALID_CURSOR`, async () =>
        err(await M.get(`${p}?cursor=${E(c)}`), 400, 'VALIDATION_INVALID_CURSOR'),
      )
    await S(
      'cursor',
      `${name} list: a cursor with one changed character is refused or answers a page, never 500`,
      async () => {
        const c = (await M.get(`${p}?limit=3`)).json.pagination.cursor
        for (const i of [3, 10, c.length - 5]) {
          const d = c.slice(0, i) + (c[i] === 'A' ? 'B' : 'A') + c.slice(i + 1)
          const r = await M.get(`${p}?cursor=${E(d)}`)
          ok([200, 400].includes(r.status), r.text)
        }
      },
    )
  }
  const cur = {}
  for (const [n, p] of Object.entries(Ls)) cur[n] = (await M.get(`${p}?limit=3`)).json.pagination.cursor
  cur.search = (await M.get(`/agents/${PG}/conversations/search?limit=3`)).json?.pagination?.cursor
  cur.agents = (await M.get('/agents?limit=1')).json.pagination.cursor
  cur.otherAgent = (await M.get(`/agents/${X}/conversations?limit=3`)).json.pagination.cursor
  for (const [name, p] of Object.entries({ ...Ls, search: `/agents/${PG}/conversations/search` }))
    for (const from of Object.keys(cur))
      if (from !== name && cur[from])
        await S(
          'cursor',
          `${name} list refuses the cursor of: ${from} (400 VALIDATION_INVALID_CURSOR)`,
          async () => err(await M.get(`${p}?cursor=${E(cur[from])}`), 400, 'VALIDATION_INVALID_CURSOR'),
        )
  await S('cursor', 'agent list refuses a cursor used with another filter (startDate added)', async () =>
    err(
      await M.get(`${Ls.agent}?cursor=${E(cur.agent)}&startDate=2026-01-01`),
      400,
      'VALIDATION_INVALID_CURSOR',
    ),
  )
  await S('cursor', 'user list refuses a cursor of another user', async () =>
    err(
      await M.get(`/agents/${PG}/users/U-2/conversations?cursor=${E(cur.user)}`),
      400,
      'VALIDATION_INVALID_CURSOR',
    ),
  )
  await S('cursor', 'messages list refuses a cursor of another conversation', async () => {
    const r = await M.get(`/agents/${PG}/conversations/${pgIds[0]}/messages?cursor=${E(cur.messages)}`)
    err(r, 400, 'VALIDATION_INVALID_CURSOR')
  })
  await S(
    'cursor',
    'an empty cursor parameter asks for the first page (product docs) or is refused with 400',
    async () => {
      const r = await M.get(`${Ls.agent}?cursor=`)
      ok([200, 400].includes(r.status), r.text)
    },
  )
  await S('cursor', 'a repeated query parameter is 400 and not a guess', async () => {
    const r = await M.get(`${Ls.agent}?limit=1&limit=2`)
    is(r.status, 400, r.text)
  })
  // fields
  await S(
    'fields',
    'conversation metadata: exactly the eight fields, nullables as stated, epoch seconds',
    async () => {
      for (const c of (await M.get(`${Ls.agent}?limit=100`)).json.data) {
        is(keysOf(c), META)
        ok(Number.isInteger(c.createdAt) && Number.isInteger(c.updatedAt) && c.createdAt < 1e11, J(c))
        ok(c.title === null || typeof c.title === 'string', '')
        ok(['ongoing', 'ended', 'taken_over', 'paused'].includes(c.status), c.status)
      }
    },
  )
  await S(
    'fields',
    'createdAt is the Unix second of creation (2026-06-01T10:00:00.123Z gives 1780308000)',
    async () =>
      is(
        (await M.get(`${Ls.agent}?limit=1`)).json.data[0].createdAt,
        Math.floor(Date.parse('2026-06-01T10:00:00.123Z') / 1000),
      ),
  )
  await S('fields', 'userId is set when the conversation was created with one, otherwise null', async () => {
    const d = (await M.get(`${Ls.agent}?limit=100`)).json.data
    ok(
      d.every((c) => ['u.1', 'U-2'].includes(c.userId)),
      '',
    )
    const y = (await M.get(`/agents/${X}/conversations?limit=100`)).json.data
    ok(y.some((c) => c.userId === null) && y.some((c) => c.userId === 'ann'), 'x')
  })
  await S('fields', 'parentConversationId and parentSummary are null without a parent', async () => {
    const c = (await M.get(`${Ls.agent}?limit=1`)).json.data[0]
    is([c.parentConversationId, c.parentSummary], [null, null])
  })
  await S(
    'fields',
    'contract: parentConversationId in chat sets parentConversationId and an AI-written parentSummary',
    async () => {
      const r = await M.say(PG, 'child [[tokens:1]]', { parentConversationId: pgIds[44], userId: 'U-2' })
      is(r.status, 200)
      let c
      for (let i = 0; i < 30; i++) {
        c = (await M.get(`/agents/${PG}/conversations/${r.json.data.metadata.conversationId}`)).json.data
        if (c.parentSummary) break
        await sleep(200)
      }
      is(c.parentConversationId, pgIds[44])
      ok(typeof c.parentSummary === 'string' && c.parentSummary, J(c))
      ctx.child = c.id
    },
  )
  // agent list
  await S(
    'agent list',
    'lists conversations created through the API; other sources are excluded',
    async () => {
      const w = await walk(M, `/agents/${X}/conversations`, 100)
      const ids = w.items.map((c) => c.id)
      ok(ids.includes(x.refund) && !ids.includes(x.email) && !ids.includes(x.widget), ids)
      is((await M.get(`/agents/${ctx.pub}/conversations`)).json, {
        data: [],
        pagination: { cursor: null, hasMore: false, total: 0 },
      })
    },
  )
  await S('agent list', 'ordered by createdAt, newest first (contract)', async () => {
    const t = (await walk(M, `/agents/${D}/conversations`, 2)).items.map((c) => c.createdAt)
    is(
      t,
      [...t].sort((a, b) => b - a),
    )
  })
  for (const tail of ['conversations', 'conversations/export', 'conversations/search']) {
    const n = tail === 'conversations' ? 'agent list' : tail.split('/')[1],
      lim = tail.endsWith('search') ? 25 : 100
    const get = async (qs) => {
      const r = await M.get(`/agents/${D}/${tail}?limit=${lim}&${qs}`)
      if (r.status !== 200) throw new Error(`${r.status} ${r.text}`)
      if (tail !== 'conversations/search') is(r.json.pagination.total, r.json.data.length, 'total')
      return r.json.data.map((c) => Object.entries(dId).find(([, v]) => v === c.id)?.[0]).sort()
    }
    await S(`dates ${n}`, 'startDate=endDate=YYYY-MM-DD takes the whole UTC day, both ends', async () =>
      is(await get('startDate=2026-03-10&endDate=2026-03-10'), ['first', 'last', 'noon']),
    )
    await S(`dates ${n}`, 'startDate YYYY-MM-DD is the start of that day UTC', async () =>
      is(await get('startDate=2026-03-10'), ['after', 'first', 'last', 'noon']),
    )
    await S(`dates ${n}`, 'endDate YYYY-MM-DD includes the day to its end', async () =>
      is(await get('endDate=2026-03-10'), ['before', 'feb', 'first', 'last', 'noon']),
    )
    await S(`dates ${n}`, 'ISO 8601 date-times are inclusive at both ends', async () =>
      is(await get(`startDate=${E('2026-03-10T00:00:00Z')}&endDate=${E('2026-03-10T12:00:00Z')}`), [
        'first',
        'noon',
      ]),
    )
    await S(`dates ${n}`, 'an ISO time one millisecond later excludes', async () =>
      is(
        await get(`startDate=${E('2026-03-10T00:00:00.001Z')}&endDate=${E('2026-03-10T11:59:59.999Z')}`),
        [],
      ),
    )
    await S(`dates ${n}`, 'ISO offsets count (+01:00)', async () =>
      is(await get(`startDate=${E('2026-03-10T01:00:00+01:00')}&endDate=${E('2026-03-10T13:00:00+01:00')}`), [
        'first',
        'noon',
      ]),
    )
    await S(`dates ${n}`, 'startDate after endDate is 400 VALIDATION_INVALID_DATE_RANGE', async () =>
      err(
        await M.get(`/agents/${D}/${tail}?startDate=2026-03-11&endDate=2026-03-10`),
        400,
        'VALIDATION_INVALID_DATE_RANGE',
      ),
    )
    await S(
      `dates ${n}`,
      'startDate one millisecond after endDate (ISO) is 400 VALIDATION_INVALID_DATE_RANGE',
      async () =>
        err(
          await M.get(
            `/agents/${D}/${tail}?startDate=${E('2026-03-10T12:00:00.001Z')}&endDate=${E('2026-03-10T12:00:00.000Z')}`,
          ),
          400,
          'VALIDATION_INVALID_DATE_RANGE',
        ),
    )
    await S(`dates ${n}`, 'startDate equal to endDate (ISO) is accepted', async () =>
      is(await get(`startDate=${E('2026-03-10T12:00:00.000Z')}&endDate=${E('2026-03-10T12:00:00.000Z')}`), [
        'noon',
      ]),
    )
    await S(
      `dates ${n}`,
      'a start in the middle of the end day is accepted (endDate is the end of that day)',
      async () =>
        is(await get(`startDate=${E('2026-03-10T12:00:00Z')}&endDate=2026-03-10`), ['last', 'noon']),
    )
    for (const bad of [
      '2026-02-30',
      '2026-13-01',
      '2026-3-1',
      'yesterday',
      '20260310',
      '2026-03-10T25:00:00Z',
      '10/03/2026',
      '1773100800',
    ])
      await S(
        `dates ${n}`,
        `startDate=${bad} is 400 VALIDATION_INVALID_BODY with details.startDate`,
        async () => {
          const r = await M.get(`/agents/${D}/${tail}?startDate=${E(bad)}`)
          err(r, 400, 'VALIDATION_INVALID_BODY')
          ok(r.details?.startDate, r.text)
        },
      )
    await S(`dates ${n}`, 'both dates wrong: details names both', async () => {
      const r = await M.get(`/agents/${D}/${tail}?startDate=x&endDate=y&limit=0`)
      is(keysOf(r.details), ['endDate', 'limit', 'startDate'])
    })
    await S(`dates ${n}`, 'a leap second or 24:00 is refused or answered, never 500', async () => {
      for (const v of [
        '2026-03-10T23:59:60Z',
        '2026-03-10T24:00:00Z',
        '0000-01-01',
        '9999-12-31',
        '2026-03-10T12:00:00',
      ]) {
        const r = await M.get(`/agents/${D}/${tail}?endDate=${E(v)}`)
        ok([200, 400].includes(r.status), v + r.text)
      }
    })
  }
  // single read
  const one = `/agents/${PG}/conversations/${deep}`
  await S('single', '{data: metadata + messages, pagination}', async () => {
    const r = await M.get(one)
    is(r.status, 200)
    is(keysOf(r.json), ['data', 'pagination'])
    is(keysOf(r.json.data), [...META, 'messages'].sort())
  })
  await S(
    'single',
    'messages are the most recent ones in chronological order, and the cursor works at the messages endpoint until the first message',
    async () => {
      const r = await M.get(one)
      const all = [...r.json.data.messages]
      let c = r.json.pagination.cursor
      ok(c, 'cursor')
      while (c) {
        const p = await M.get(`${one}/messages?limit=10&cursor=${E(c)}`)
        is(p.status, 200, p.text)
        all.unshift(...p.json.data)
        c = p.json.pagination.cursor
      }
      is([all.length, uniq(all.map((m) => m.id))], [46, 46])
      const texts = all.filter((m) => m.role === 'user').map((m) => m.parts[0].text)
      is(texts, ['Paging 44 [[tokens:1]]', ...Array.from({ length: 22 }, (_, i) => `Deep ${i} [[tokens:1]]`)])
    },
  )
  await S('single', 'a short conversation has all messages, cursor null, hasMore false', async () => {
    const r = await M.get(`/agents/${PG}/conversations/${pgIds[0]}`)
    is(
      [
        r.json.data.messages.length,
        r.json.pagination.cursor,
        r.json.pagination.hasMore,
        r.json.pagination.total,
      ],
      [2, null, false, 2],
    )
  })
  await S('single', 'unknown conversation id: 404 RESOURCE_NOT_FOUND', async () =>
    err(await M.get(`/agents/${PG}/conversations/${crypto.randomUUID()}`), 404, 'RESOURCE_NOT_FOUND'),
  )
  await S('single', 'conversation id that is no UUID: 404 RESOURCE_NOT_FOUND', async () =>
    err(await M.get(`/agents/${PG}/conversations/nope`), 404, 'RESOURCE_NOT_FOUND'),
  )
  await S('single', 'SPEC: a conversation from another source is 404 RESOURCE_NOT_FOUND', async () => {
    const r = await M.get(`/agents/${A}/conversations/${ctx.nonApi}`)
    err(r, 404, 'RESOURCE_NOT_FOUND')
  })
  await S('single', 'SPEC: that 404 names the source and points to the export endpoint', async () => {
    const r = await M.get(`/agents/${A}/conversations/${ctx.nonApi}`)
    ok(/Widget or Iframe/.test(r.text) && /export/.test(r.text), `status ${r.status}`)
  })
  await S(
    'single',
    'SPEC: the messages endpoint serves API conversations only ("Only conversations created through the API"; errors: 404 RESOURCE_NOT_FOUND)',
    async () => {
      const r = await M.get(`/agents/${A}/conversations/${ctx.nonApi}/messages`)
      err(r, 404, 'RESOURCE_NOT_FOUND')
    },
  )
  // messages
  const ms = `${one}/messages`
  await S('messages', 'message fields: id, role, parts, createdAt; optional feedback, metadata', async () => {
    for (const m of (await M.get(`${ms}?limit=100`)).json.data) {
      for (const k of ['id', 'role', 'parts', 'createdAt']) ok(k in m, k)
      ok(
        Object.keys(m).every((k) =>
          ['id', 'role', 'parts', 'createdAt', 'feedback', 'metadata', 'attachments'].includes(k),
        ),
        keysOf(m),
      )
      ok(['user', 'assistant'].includes(m.role), m.role)
      ok(Number.isInteger(m.createdAt), '')
      if (m.metadata) ok('score' in m.metadata, J(m.metadata))
    }
  })
  await S(
    'messages',
    'no field beyond the table (id, role, parts, createdAt, feedback, metadata) on API messages',
    async () => {
      const extra = new Set()
      for (const m of (await M.get(`${ms}?limit=100`)).json.data)
        for (const k of Object.keys(m))
          if (!['id', 'role', 'parts', 'createdAt', 'feedback', 'metadata'].includes(k)) extra.add(k)
      is([...extra], [])
    },
  )
  await S('messages', 'metadata contains score (number): additions beyond score are named', async () => {
    const m = (await M.get(ms)).json.data.find((m) => m.role === 'assistant')
    return `keys: ${keysOf(m.metadata)} score=${m.metadata.score}`
  })
  await S('messages', 'SPEC: metadata.score is a number where metadata is present', async () => {
    const m = (await M.get(ms)).json.data.find((m) => m.role === 'assistant' && m.metadata)
    is(m.metadata.score, null, J(m.metadata))
    return 'dec. null where nothing was scored; this agent has no source'
  })
  await S('messages', 'pages go backward from the newest; inside a page oldest to newest', async () => {
    const a = (await M.get(`${ms}?limit=4`)).json,
      b = (await M.get(`${ms}?limit=4&cursor=${E(a.pagination.cursor)}`)).json
    const t = (p) => p.data.filter((m) => m.role === 'user').map((m) => m.parts[0].text.match(/\d+/)[0])
    is(
      [t(a), t(b)],
      [
        ['20', '21'],
        ['18', '19'],
      ],
    )
    is(
      a.data.map((m) => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    )
  })
  await S('messages', 'unknown conversation: 404 RESOURCE_NOT_FOUND', async () =>
    err(
      await M.get(`/agents/${PG}/conversations/${crypto.randomUUID()}/messages`),
      404,
      'RESOURCE_NOT_FOUND',
    ),
  )
  await S('messages', 'feedback appears with its value, absent when none', async () => {
    const m = (await M.get(`/agents/${X}/conversations/${x.rated}/messages`)).json.data
    is([m[1].feedback, 'feedback' in m[0]], ['positive', false])
    is((await M.get(`/agents/${X}/conversations/${x.ratedNeg}/messages`)).json.data[1].feedback, 'negative')
  })
  // user list
  await S('user list', 'lists API-created conversations of that user only', async () => {
    is(
      (await M.get(`/agents/${A}/users/nonapi/conversations`)).json.data.map((c) => c.id),
      [ctx.keptApi],
    )
    is((await M.get(Ls.user)).json.pagination.total, 30)
  })
  await S('user list', 'user ids are case-sensitive and exact', async () =>
    is((await M.get(`/agents/${PG}/users/u-2/conversations`)).json.pagination.total, 0),
  )
  await S('user list', 'ordered by last activity, newest first (contract)', async () => {
    await M.say(A, 'a1 [[tokens:1]]', { userId: 'act' })
    const first = (await M.get(`/agents/${A}/users/act/conversations`)).json.data[0].id
    await sleep(1100)
    await M.say(A, 'a2 [[tokens:1]]', { userId: 'act' })
    await sleep(1100)
    await M.say(A, 'again [[tokens:1]]', { conversationId: first })
    const r = await M.get(`/agents/${A}/users/act/conversations`)
    is(r.json.data[0].id, first)
    ok(r.json.data[0].updatedAt > r.json.data[0].createdAt, 'updatedAt is the last activity')
  })
  for (const u of ['a'.repeat(128), 'A.b_c-9', '-', '_'])
    await S('user list', `userId ${u.slice(0, 12)}… (${u.length}) is accepted`, async () => {
      const r = await M.get(`/agents/${PG}/users/${u}/conversations`)
      is(r.status, 200, u + r.text)
    })
  for (const u of ['a'.repeat(129), 'a b', 'ä', 'a@b', 'a/b', 'a:b', 'a,b', '%00', "a'b", 'a\n'])
    await S(
      'user list',
      `userId ${J(u.slice(0, 12))} (${u.length}) is 400 VALIDATION_INVALID_BODY`,
      async () => {
        const r = await M.get(`/agents/${PG}/users/${u === '%00' ? u : E(u)}/conversations`)
        err(r, 400, 'VALIDATION_INVALID_BODY')
        ok(r.details?.userId, r.text)
      },
    )
  await S('user list', 'unknown user: an empty list, not 404', async () =>
    is((await M.get(`/agents/${PG}/users/ghost/conversations`)).json, {
      data: [],
      pagination: { cursor: null, hasMore: false, total: 0 },
    }),
  )
  await S('user list', 'all eight metadata fields', async () =>
    is(keysOf((await M.get(Ls.user)).json.data[0]), META),
  )
  // export
  const ex = `/agents/${X}/conversations/export`
  await S('export', 'conversations of every source', async () => {
    const w = await walk(M, ex, 4)
    const s = new Set(w.items.map((c) => c.source))
    ok(s.has('API') && s.has('Email') && s.has('Widget or Iframe'), [...s])
  })
  await S('export', 'item = metadata + source, embedOrigin, messages', async () => {
    for (const c of (await M.get(ex)).json.data)
      is(keysOf(c), [...META, 'embedOrigin', 'messages', 'source'].sort())
  })
  await S('export', 'full messages embedded (46 of a long conversation)', async () =>
    is(
      (await M.get(`/agents/${PG}/conversations/export?conversationId=${deep}`)).json.data[0].messages.length,
      46,
    ),
  )
  await S('export', 'conversationId: one item, cursor null, hasMore false, total 1', async () => {
    const r = await M.get(`${ex}?conversationId=${x.email}`)
    is(
      [r.json.data.length, r.json.data[0].id, r.json.pagination],
      [1, x.email, { cursor: null, hasMore: false, total: 1 }],
    )
  })
  for (const id of [crypto.randomUUID(), 'nope', 'x'.repeat(300)])
    await S(
      'export',
      `no conversation matches conversationId (${id.slice(0, 8)}): empty page, total 0, not 404`,
      async () => {
        const r = await M.get(`${ex}?conversationId=${id}`)
        is([r.status, r.json], [200, { data: [], pagination: { cursor: null, hasMore: false, total: 0 } }])
      },
    )
  await S('export', 'tool-call input is omitted', async () => {
    const c = (await M.get(`${ex}?conversationId=${x.toolOk}`)).json.data[0]
    const p = c.messages.flatMap((m) => m.parts).filter((p) => p.type === 'tool-call')
    ok(p.length && p.every((p) => J(keysOf(p)) === J(['toolCallId', 'toolName', 'type'])), J(p))
  })
  const outs = async (id) =>
    (await M.get(`${ex}?conversationId=${id}`)).json.data[0].messages
      .flatMap((m) => m.parts)
      .filter((p) => p.type === 'tool-result')
  await S('export', 'a completed call is {status: "success", data}', async () => {
    const [p] = await outs(x.toolOk)
    is([keysOf(p), p.output.status], [['output', 'toolCallId', 'toolName', 'type'], 'success'])
    return J(p.output)
  })
  await S('export', 'a waiting call is {status: "pending"} and nothing else', async () => {
    const [p] = await outs(x.toolPending)
    is(p?.output, { status: 'pending' })
  })
  await S('export', 'a skipped call is {status: "ignored"} and nothing else', async () => {
    const [p] = await outs(x.toolIgnored)
    is(p?.output, { status: 'ignored' })
  })
  await S('export', 'every output has one of the four shapes', async () => {
    for (const c of (await walk(M, ex, 100)).items)
      for (const p of c.messages.flatMap((m) => m.parts).filter((p) => p.type === 'tool-result')) {
        const k = keysOf(p.output)
        ok(
          {
            success: ['data,status', 'status'],
            error: ['error,status', 'status'],
            pending: ['status'],
            ignored: ['status'],
          }[p.output.status].includes(k.join()),
          J(p),
        )
      }
  })
  await S(
    'export',
    'an application result in the sanitized shape is taken as it is ({status:"error",error})',
    async () => {
      const c = ctx.errored
      const [p] = await ctx.pending(A, c)
      const r = await M.post(`/agents/${A}/conversations/${c}/tool-result`, {
        toolCallId: p.toolCallId,
        output: { status: 'error', error: 'no stock', internal: 'x' },
      })
      is(r.status, 200, r.text)
      const e = (await M.get(`/agents/${A}/conversations/export?conversationId=${c}`)).json.data[0].messages
        .flatMap((m) => m.parts)
        .find((p) => p.type === 'tool-result')
      return J(e.output)
    },
  )
  await S(
    'export',
    'embedOrigin null for API conversations; page URL without query for the widget',
    async () => {
      const e = await M.get(`${ex}?conversationId=${x.refund}`)
      is(e.json.data[0].embedOrigin, null)
      const w = (await M.get(`/agents/${ctx.pub}/conversations/export`)).json.data
      const by = (id) => w.find((c) => c.id === id.json.data.conversationId)?.embedOrigin
      is(
        [by(ctx.w1), by(ctx.w2), by(ctx.w3)],
        ['https://shop.example.com/products/lamp', 'https://shop.example.com', null],
      )
    },
  )
  await S('export', 'source values as written: a widget conversation is "Widget or Iframe"', async () =>
    is(
      [...new Set((await M.get(`/agents/${ctx.pub}/conversations/export`)).json.data.map((c) => c.source))],
      ['Widget or Iframe'],
    ),
  )
  await S('export', 'contract: source filter, include=summary leaves messages out', async () => {
    const r = await M.get(`${ex}?source=${E('Email,Widget or Iframe')}&include=summary`)
    is(r.json.data.map((c) => c.source).sort(), ['Email', 'Widget or Iframe'])
    ok(
      r.json.data.every((c) => !('messages' in c)),
      '',
    )
    is(r.json.pagination.total, 2)
  })
  await S('export', 'limit up to 100', async () =>
    is((await M.get(`/agents/${PG}/conversations/export?limit=100`)).json.data.length, 46),
  )
  await S('export', 'user text of a message is exported as written', async () =>
    ok(
      /<b>bold<\/b> & "quoted"/.test(
        (await M.get(`${ex}?conversationId=${x.html}`)).json.data[0].messages[0].parts[0].text,
      ),
      '',
    ),
  )
  await S('user list', 'userId "." (matches the pattern) is reachable with a raw path', async () => {
    const http = await import('node:http')
    const r = await new Promise((res, rej) =>
      http
        .get(
          {
            host: '127.0.0.1',
            port: new URL(BASE).port,
            path: `/api/v2/agents/${PG}/users/./conversations`,
            headers: { authorization: `Bearer ${M.keys[0]}` },
          },
          (m) => {
            let t = ''
            m.on('data', (d) => (t += d))
            m.on('end', () => res([m.statusCode, t.slice(0, 100)]))
          },
        )
        .on('error', rej),
    )
    is(r[0], 200, r[1])
  })
  await S('fields', "contract: parentConversationId of another user's conversation is 404", async () => {
    const r = await M.say(PG, 'x [[tokens:1]]', { parentConversationId: pgIds[0], userId: 'U-2' })
    is(r.status, 404)
    return r.text.slice(0, 160)
  })
  await S(
    'export',
    'internal data of calls that the service runs is stripped (collect-leads, http)',
    async () => {
      const a = await ctx.newAgent(M, 'Strip')
      const x1 = await M.post(`/agents/${a}/actions`, {
        name: 'ask_http',
        type: 'http',
        description: 'd',
        inputs: { type: 'object' },
        http: {
          method: 'GET',
          url: `http://127.0.0.1:${process.env.C_PORT ?? 18340}/api/v2/health`,
          headers: { 'x-secret': 'TOPSECRET' },
        },
      })
      is(x1.status, 201, x1.text)
      await M.post(`/agents/${a}/actions`, {
        name: 'take_lead',
        type: 'collect-leads',
        description: 'd',
      })
      const c1 = await ctx.mk(a, 'x [[tool:ask_http {}]]'),
        c2 = await ctx.mk(a, 'x [[tool:take_lead {"name":"E","email":"e@example.org"}]]')
      const o = []
      for (const c of [c1, c2])
        o.push(
          ...(await M.get(`/agents/${a}/conversations/export?conversationId=${c}`)).json.data[0].messages
            .flatMap((m) => m.parts)
            .filter((p) => p.type === 'tool-result')
            .map((p) => p.output),
        )
      ok(
        !/TOPSECRET/.test(J(o)) && o.length === 2 && o.every((v) => ['success', 'error'].includes(v.status)),
        J(o),
      )
      return J(o).slice(0, 260)
    },
  )
  await S(
    'fields',
    'contract: parentConversationId of a conversation with a userId, in a chat without userId, is 404',
    async () => {
      const r = await M.say(A, 'x [[tokens:1]]', { parentConversationId: ctx.keptApi })
      err(r, 404, 'RESOURCE_NOT_FOUND')
    },
  )
  await S('export', 'a failed http action is {status: "error", error?: string}', async () => {
    const a = await ctx.newAgent(M, 'Fail')
    const y = await M.post(`/agents/${a}/actions`, {
      name: 'ask_http',
      type: 'http',
      description: 'd',
      inputs: { type: 'object' },
      http: { method: 'GET', url: 'http://127.0.0.1:1/x' },
    })
    is(y.status, 201, y.text)
    const c1 = await ctx.mk(a, 'x [[tool:ask_http {}]]')
    const o = (await M.get(`/agents/${a}/conversations/export?conversationId=${c1}`)).json.data[0].messages
      .flatMap((m) => m.parts)
      .filter((p) => p.type === 'tool-result')
      .map((p) => p.output)
    is([o.length, o[0].status, typeof o[0].error], [1, 'error', 'string'])
    return J(o)
  })
  await S('pagination', 'rows added during a walk neither repeat nor hide older rows', async () => {
    const a = await ctx.newAgent(M, 'Walk')
    for (let i = 0; i < 6; i++) await ctx.mk(a, 'w [[tokens:1]]')
    const before = (await M.get(`/agents/${a}/conversations`)).json.data.map((c) => c.id)
    const p1 = await M.get(`/agents/${a}/conversations?limit=3`)
    await ctx.mk(a, 'new [[tokens:1]]')
    const p2 = await M.get(`/agents/${a}/conversations?limit=3&cursor=${E(p1.json.pagination.cursor)}`)
    is(
      [...p1.json.data, ...p2.json.data].map((c) => c.id),
      before,
    )
  })
  // unknown parameters
  await S(
    'unknown',
    'contract: an unknown query parameter is ignored and named in x-parley-ignored-fields',
    async () => {
      const r = await M.get(`${Ls.agent}?limit=1&foo=1&Bar=2`)
      is([r.status, r.headers.get('x-parley-ignored-fields')], [200, 'foo,Bar'])
    },
  )
}

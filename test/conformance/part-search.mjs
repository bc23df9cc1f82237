import { is, J, keysOf, ok, S, sleep, walk } from './lib.mjs'
export const check = async (ctx) => {
  const { M, X, PG, err, E, META, x, first, day } = ctx,
    p = `/agents/${X}/conversations/search`
  const name = (id) => Object.entries(x).find(([, v]) => v === id)?.[0] ?? id
  const f = async (qs) => {
    const w = await walk(M, p, 25, `&${qs}`)
    return w.items.map((c) => name(c.id)).sort()
  }
  await S('search', 'without parameters: data and pagination {cursor, hasMore} only (no total)', async () => {
    const r = await M.get(p)
    is(
      [r.status, keysOf(r.json), keysOf(r.json.pagination)],
      [200, ['data', 'pagination'], ['cursor', 'hasMore']],
    )
  })
  await S('search', 'item = metadata + source, embedOrigin, snippet', async () => {
    for (const c of (await M.get(p)).json.data)
      is(keysOf(c), [...META, 'embedOrigin', 'snippet', 'source'].sort())
  })
  await S('search', 'default page size is 25, largest 25', async () => {
    const q = `/agents/${PG}/conversations/search`
    is((await M.get(q)).json.data.length, 25)
    is((await M.get(`${q}?limit=25`)).json.data.length, 25)
    is((await M.get(`${q}?limit=1`)).json.data.length, 1)
  })
  for (const bad of ['0', '26', '100', '-1', '1.5', 'x'])
    await S('search', `limit=${bad} is 400 VALIDATION_INVALID_BODY naming limit`, async () => {
      const r = await M.get(`${p}?limit=${bad}`)
      err(r, 400, 'VALIDATION_INVALID_BODY')
      ok(r.details?.limit, r.text)
    })
  await S('search', 'covers every source', async () => {
    const s = new Set((await walk(M, p, 25)).items.map((c) => c.source))
    ok(
      ['API', 'Email', 'Widget or Iframe'].every((v) => s.has(v)),
      [...s],
    )
  })
  await S(
    'search',
    'window: since the 1st of the month 12 months ago; older conversations are left out',
    async () => {
      const a = await f('')
      ok(a.includes('edgeIn') && !a.includes('edgeOut') && !a.includes('old'), a)
    },
  )
  await S('search', 'window holds with a text, too', async () => is(await f('query=walrus'), ['edgeIn']))
  await S('search', 'without text: most recently active first', async () => {
    const t = (await walk(M, p, 3)).items.map((c) => c.updatedAt)
    is(
      t,
      [...t].sort((a, b) => b - a),
    )
  })
  await S('search', 'with equal activity times, walking by 4 returns every row once', async () => {
    const w = await walk(M, `/agents/${PG}/conversations/search`, 4)
    const ids = w.items.map((c) => c.id)
    is([ids.length, new Set(ids).size], [46, 46])
  })
  await S('search text', 'free text over messages', async () => is(await f('query=zephyrine'), ['refund']))
  await S('search text', 'several words must all match', async () => {
    is(await f('query=saffron+invoices'), ['email'])
    is(await f('query=saffron'), ['email', 'widget'])
    is(await f('query=saffron+zephyrine'), [])
  })
  await S('search text', 'free text over titles (title "A short title")', async () => {
    const a = await f('query=short+title')
    ok(a.length > 3, a)
  })
  await S('search text', 'contract: a phrase in quotes', async () => {
    is(await f(`query=${E('"broken delivered"')}`), [])
    is(await f(`query=${E('"delivered broken"')}`), ['widget'])
  })
  await S('search text', 'contract: the last word is also a prefix', async () =>
    is(await f('query=zephyr'), ['refund']),
  )
  await S('search text', 'case does not matter', async () => is(await f('query=ZEPHYRINE'), ['refund']))
  await S('search text', 'ranked by text: paging a text search returns each hit once', async () => {
    const w = await walk(M, `/agents/${PG}/conversations/search`, 7, '&query=paging')
    is([w.items.length, new Set(w.items.map((c) => c.id)).size], [45, 45])
  })
  await S('search text', 'query of 512 characters accepted', async () =>
    is((await M.get(`${p}?query=${'a'.repeat(512)}`)).status, 200),
  )
  await S('search text', 'query of 513 characters is 400 VALIDATION_INVALID_BODY naming query', async () => {
    const r = await M.get(`${p}?query=${'a'.repeat(513)}`)
    err(r, 400, 'VALIDATION_INVALID_BODY')
    ok(r.details?.query, r.text)
  })
  await S('search text', '512 characters are counted as characters, not bytes (umlauts, emoji)', async () => {
    is((await M.get(`${p}?query=${E('ä'.repeat(512))}`)).status, 200)
    is((await M.get(`${p}?query=${E('😀'.repeat(512))}`)).status, 200)
  })
  for (const odd of [
    "'",
    '"',
    '" "',
    '%',
    '\\',
    '& | !',
    ':*',
    '()',
    '<->',
    'a & !b',
    '*',
    '-',
    "'; drop table x; --",
    '\u0000x',
    '日本語',
  ])
    await S('search text', `odd query ${J(odd)} is 200 (or 400), never 500`, async () => {
      const r = await M.get(`${p}?query=${E(odd)}`)
      ok([200, 400].includes(r.status), r.text)
    })
  await S('snippet', 'null without query (contract)', async () =>
    ok(
      (await M.get(p)).json.data.every((c) => c.snippet === null),
      '',
    ),
  )
  await S('snippet', '{speaker, highlights:[{value, isHit}]}; the hit is marked', async () => {
    const s = (await M.get(`${p}?query=zephyrine`)).json.data[0].snippet
    is(keysOf(s), ['highlights', 'speaker'])
    for (const h of s.highlights) {
      is(keysOf(h), ['isHit', 'value'])
      is([typeof h.value, typeof h.isHit], ['string', 'boolean'])
    }
    ok(
      s.highlights.some((h) => h.isHit && /^zephyrine$/i.test(h.value)) &&
        s.highlights.filter((h) => h.isHit).every((h) => /zephyrine/i.test(h.value)),
      J(s),
    )
    ok(['user', 'assistant', 'human_agent'].includes(s.speaker), s.speaker)
    return J(s).slice(0, 200)
  })
  await S('snippet', "speaker user for a hit in the user's message", async () =>
    is((await M.get(`${p}?query=invoices`)).json.data[0].snippet.speaker, 'user'),
  )
  await S('snippet', 'speaker assistant for a hit in the answer only', async () =>
    is((await M.get(`${p}?query=word0`)).json.data[0]?.snippet?.speaker, 'assistant'),
  )
  await S('snippet', 'null when only the title matched (contract)', async () => {
    const d = (await M.get(`${p}?query=short+title`)).json.data
    ok(d.length && d.every((c) => c.snippet === null), J(d[0]?.snippet))
  })
  await S('snippet', 'the text of the pieces is the text as written (no entities)', async () => {
    const s = (await M.get(`${p}?query=quokka`)).json.data[0].snippet
    ok(
      s.highlights
        .map((h) => h.value)
        .join('')
        .includes('<b>bold</b> & "quoted" quokka'),
      J(s),
    )
  })
  // 18 filters
  await S('filter', 'source', async () => {
    is(await f('source=Email'), ['email'])
    is(await f(`source=${E('Email,Widget or Iframe')}`), ['email', 'widget'])
  })
  await S('filter', 'source: unknown value gives nothing or 400', async () => {
    const r = await M.get(`${p}?source=Nowhere`)
    ok(r.status === 400 || (r.status === 200 && !r.json.data.length), r.text)
  })
  await S('filter', 'sentiment', async () => {
    is(await f('sentiment=positive'), ['email'])
    is(await f('sentiment=negative,neutral'), ['refund', 'widget'])
    const u = await f('sentiment=unspecified')
    ok(u.includes('html') && !u.includes('email'), u)
    is(await f('sentiment=positive,unspecified'), [...u, 'email'].sort())
  })
  await S('filter', 'sentiment: a value outside the enum is 400', async () => {
    const r = await M.get(`${p}?sentiment=angry`)
    err(r, 400, 'VALIDATION_INVALID_BODY')
    ok(r.details?.sentiment, r.text)
  })
  await S('filter', 'topic, and unspecified for none', async () => {
    is(await f('topic=Refunds'), ['refund', 'widget'])
    is(await f('topic=Refunds,Billing'), ['email', 'refund', 'widget'])
    const u = await f('topic=unspecified')
    ok(!u.includes('refund') && u.includes('html'), u)
  })
  await S('filter', 'userId', async () => {
    is(await f('userId=ann'), ['refund', 'widget'])
    is(await f('userId=ann,bob'), ['email', 'refund', 'widget'])
    is(await f('userId=an'), [])
  })
  await S('filter', 'activityState (statuses)', async () => {
    is(await f('activityState=ended'), ['ended'])
    is(await f('activityState=paused'), ['paused'])
    is(await f('activityState=taken_over'), ['taken'])
    is(await f('activityState=ended,paused'), ['ended', 'paused'])
    ok((await f('activityState=ongoing')).includes('refund'), '')
  })
  await S('filter', 'activityState: a value outside the enum is 400', async () => {
    const r = await M.get(`${p}?activityState=open`)
    err(r, 400, 'VALIDATION_INVALID_BODY')
    ok(r.details?.activityState, r.text)
  })
  await S('filter', 'feedback', async () => {
    is(await f('feedback=positive'), ['rated'])
    is(await f('feedback=negative'), ['ratedNeg'])
    is(await f('feedback=positive,negative'), ['rated', 'ratedNeg'])
  })
  await S('filter', 'feedback: other value is 400', async () =>
    err(await M.get(`${p}?feedback=good`), 400, 'VALIDATION_INVALID_BODY'),
  )
  await S('filter', 'escalated=true restricts to escalated conversations (takeover/ticket)', async () =>
    is(await f('escalated=true'), ['taken']),
  )
  for (const v of ['false', 'TRUE', '1', ''])
    await S('filter', `escalated=${v}: only true is accepted (400)`, async () =>
      err(await M.get(`${p}?escalated=${v}`), 400, 'VALIDATION_INVALID_BODY'),
    )
  await S('filter', 'actionType', async () => {
    is(await f('actionType=client'), ['toolIgnored', 'toolOk', 'toolPending'])
    is(await f('actionType=http'), [])
  })
  await S('filter', 'tool', async () => {
    is(await f('tool=get_order'), ['toolOk'])
    is(await f('tool=get_order,get_weather'), ['toolIgnored', 'toolOk', 'toolPending'])
  })
  await S('filter', 'toolOutcome alone', async () => {
    is(await f('toolOutcome=success'), ['toolOk'])
    is(await f('toolOutcome=pending'), ['toolPending'])
    is(await f('toolOutcome=ignored'), ['toolIgnored'])
    is(await f('toolOutcome=error'), [])
  })
  await S('filter', 'toolOutcome is scoped to tool', async () => {
    is(await f('tool=get_weather&toolOutcome=success'), [])
    is(await f('tool=get_weather&toolOutcome=pending,ignored'), ['toolIgnored', 'toolPending'])
  })
  await S('filter', 'toolOutcome: other value is 400', async () =>
    err(await M.get(`${p}?toolOutcome=done`), 400, 'VALIDATION_INVALID_BODY'),
  )
  await S('filter', 'procedure', async () => {
    is(await f(`procedure=${E('Return flow')}`), ['email', 'refund'])
    is(await f(`procedure=${E('Return flow,Billing flow')}`), ['email', 'html', 'refund', 'widget'])
  })
  await S('filter', 'procedureOutcome alone', async () => {
    is(await f('procedureOutcome=completed'), ['refund', 'widget'])
    is(await f('procedureOutcome=failed,running'), ['email', 'html'])
  })
  await S('filter', 'procedureOutcome is scoped to procedure', async () => {
    is(await f(`procedure=${E('Return flow')}&procedureOutcome=completed`), ['refund'])
    is(await f(`procedure=${E('Billing flow')}&procedureOutcome=failed`), [])
  })
  await S('filter', 'hasVoice true / false', async () => {
    is(await f('hasVoice=true'), ['refund'])
    const a = await f('hasVoice=false')
    ok(!a.includes('refund') && a.includes('email'), a)
  })
  await S('filter', 'hasVoice: other value is 400', async () =>
    err(await M.get(`${p}?hasVoice=yes`), 400, 'VALIDATION_INVALID_BODY'),
  )
  await S('filter', 'startDate inside the window', async () =>
    ok((await f(`startDate=${day(first)}`)).includes('edgeIn'), ''),
  )
  await S(
    'filter',
    'startDate one day before the window is refused (contract: 400 VALIDATION_INVALID_BODY naming the first day)',
    async () => {
      const r = await M.get(`${p}?startDate=${day(new Date(first - 864e5))}`)
      err(r, 400, 'VALIDATION_INVALID_BODY')
      ok(r.details?.startDate?.includes(day(first)), r.text)
    },
  )
  await S('filter', 'startDate one millisecond before the window is refused', async () =>
    err(
      await M.get(`${p}?startDate=${E(new Date(first - 1).toISOString())}`),
      400,
      'VALIDATION_INVALID_BODY',
    ),
  )
  await S(
    'filter',
    'SPEC: created at or before "must be inside the searchable window"? (only the start carries that rule): endDate before the window is answered',
    async () => {
      const r = await M.get(`${p}?endDate=2020-01-01`)
      ok([200, 400].includes(r.status), r.text)
      return `${r.status} items ${r.json?.data?.length}`
    },
  )
  await S('filter', 'endDate', async () => is(await f(`startDate=2026-05-05&endDate=2026-05-05`), ['refund']))
  await S('filter', 'updatedAfter / updatedBefore', async () => {
    is(await f(`updatedBefore=${E('2026-05-05T05:05:05Z')}`), ['refund'])
    is(await f(`updatedBefore=${E('2026-05-05T05:05:04Z')}`), [])
    ok(!(await f('updatedAfter=2026-05-06')).includes('refund'), '')
    is(await f('updatedAfter=2026-05-05&updatedBefore=2026-05-05'), ['refund'])
  })
  await S('filter', 'updatedAfter after updatedBefore: 400 or empty', async () => {
    const r = await M.get(`${p}?updatedAfter=2026-06-02&updatedBefore=2026-06-01`)
    ok(r.status === 400 || !r.json.data.length, r.text)
    return `${r.status} ${r.code ?? ''}`
  })
  await S('filter', 'filters combine with AND', async () => {
    is(await f('userId=ann&source=Email'), [])
    is(
      await f(
        'userId=ann&sentiment=negative&topic=Refunds&procedureOutcome=completed&source=' +
          E('Widget or Iframe') +
          '&query=saffron&hasVoice=false&activityState=ongoing',
      ),
      ['widget'],
    )
  })
  await S('filter', 'blanks around commas are tolerated or refused, never a 500', async () => {
    const r = await M.get(`${p}?userId=${E('ann , bob')}`)
    ok([200, 400].includes(r.status), r.text)
    return `${r.status} ${r.json?.data?.length ?? r.text}`
  })
  await S(
    'cursor',
    'search: other parameters must stay unchanged (another filter is 400 VALIDATION_INVALID_CURSOR)',
    async () => {
      const c = (await M.get(`${p}?limit=2`)).json.pagination.cursor
      err(await M.get(`${p}?limit=2&userId=ann&cursor=${E(c)}`), 400, 'VALIDATION_INVALID_CURSOR')
      err(await M.get(`${p}?limit=2&query=saffron&cursor=${E(c)}`), 400, 'VALIDATION_INVALID_CURSOR')
    },
  )
  await S('cursor', 'search: limit may change', async () => {
    const c = (await M.get(`${p}?limit=2`)).json.pagination.cursor
    is((await M.get(`${p}?limit=3&cursor=${E(c)}`)).json.data.length, 3)
  })
  await S(
    'cursor',
    'search: a cursor is at most 2048 characters (2049 is 400 VALIDATION_INVALID_BODY)',
    async () => err(await M.get(`${p}?cursor=${'a'.repeat(2049)}`), 400, 'VALIDATION_INVALID_BODY'),
  )
  await S('cursor', 'search: own cursors stay under 2048 characters with the longest query', async () => {
    const q = `paging ${'paging '.repeat(70)}`
    const r = await M.get(`/agents/${PG}/conversations/search?limit=1&query=${E(q.slice(0, 512))}`)
    ok(r.status === 200 && (r.json.pagination.cursor ?? '').length <= 2048, r.text.slice(0, 200))
  })
  await S('cursor', 'search: cursor is base64', async () =>
    ok(ctx.B64.test((await M.get(`${p}?limit=2`)).json.pagination.cursor), ''),
  )
  await S('search', 'a new message is found within 5 seconds (contract)', async () => {
    const id = await ctx.mk(X, 'Brand new chinchilla [[tokens:1]]')
    const t0 = Date.now()
    for (;;) {
      if ((await M.get(`${p}?query=chinchilla`)).json.data.some((c) => c.id === id)) break
      ok(Date.now() - t0 < 5000, 'not found')
      await sleep(200)
    }
    return `${Date.now() - t0} ms`
  })
  await S('search', 'messages of a hit can be read through export with conversationId', async () => {
    const h = (await M.get(`${p}?query=invoices`)).json.data[0]
    is((await M.get(`/agents/${X}/conversations/export?conversationId=${h.id}`)).json.data[0].id, h.id)
  })
  await S('search', "human_agent speaker for a team member's message (contract)", async () => {
    const r = await M.post(`/agents/${X}/helpdesk/tickets/${ctx.takenX.json.data.ticketNumber}/messages`, {
      type: 'reply',
      content: 'Our axolotl department answers',
      authorId: ctx.member.id,
    })
    is(r.status, 201, r.text)
    let d
    for (let i = 0; i < 25; i++) {
      d = (await M.get(`${p}?query=axolotl`)).json.data
      if (d.length) break
      await sleep(200)
    }
    is([d[0]?.id, d[0]?.snippet?.speaker], [x.taken, 'human_agent'])
  })
}

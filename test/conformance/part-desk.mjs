import { is, J, keysOf, ok, S } from './lib.mjs'
export const check = async (ctx) => {
  const { M, HD, err, member, foreignMember, ISO } = ctx
  const t1 = await M.post(`/agents/${HD}/helpdesk/tickets`, {
    subject: 'S',
    description: 'D',
    customer: { email: 'c@example.org', name: 'C' },
  })
  ok(t1.status === 201, t1.text)
  const n = t1.json.ticketNumber
  const path = (k) => `/agents/${HD}/helpdesk/tickets/${k}/messages`,
    reply = (b, k = n) => M.post(path(k), { type: 'reply', ...b })
  const html = async (c) => {
    const r = await reply({ content: c, authorId: member.id })
    ok(r.status === 201, r.text)
    return r.json.content
  }
  await S(
    'reply',
    '201 with id, type, sender{type,id,name,email}, content, contentText, createdAt',
    async () => {
      const r = await reply({ content: 'Hello **you**', authorId: member.id })
      is(r.status, 201, r.text)
      ctx.rep = r.json
      for (const k of ['id', 'type', 'sender', 'content', 'contentText', 'createdAt']) ok(k in r.json, k)
      is(
        [
          r.json.type,
          keysOf(r.json.sender),
          r.json.sender.id,
          r.json.sender.name,
          r.json.sender.email?.toLowerCase(),
        ],
        ['reply', ['email', 'id', 'name', 'type'], member.id, 'Pat Smith', 'pat.smith@example.com'],
      )
      ok(
        Object.values(r.json.sender).every((v) => typeof v === 'string'),
        J(r.json.sender),
      )
      ok(ISO.test(r.json.createdAt), r.json.createdAt)
      return `keys ${keysOf(r.json)}, sender.type ${r.json.sender.type}`
    },
  )
  await S('reply', 'the response has no field beyond the table', async () => {
    is(
      keysOf(ctx.rep).filter((k) => !['attachments', 'metadata'].includes(k)),
      ['content', 'contentText', 'createdAt', 'id', 'sender', 'type'],
    )
    return 'dec. own additive fields (attachments, metadata) stay'
  })
  await S('reply', 'contentText is the raw markdown as submitted', async () =>
    is(ctx.rep.contentText, 'Hello **you**'),
  )
  await S('reply', 'SPEC: contentText "as submitted" keeps blanks at the ends', async () => {
    const r = await reply({ content: '  padded text \n', authorId: member.id })
    is(r.json.contentText, '  padded text \n')
  })
  await S('reply', 'content is rendered HTML', async () =>
    ok(/<strong>you<\/strong>/.test(ctx.rep.content), ctx.rep.content),
  )
  await S('reply', '10000 characters after trimming are accepted (with blanks around)', async () =>
    is((await reply({ content: `  \n${'x'.repeat(10000)}\n  `, authorId: member.id })).status, 201),
  )
  await S('reply', '10001 characters are 400 VALIDATION_INVALID_BODY naming content', async () => {
    const r = await reply({ content: 'x'.repeat(10001), authorId: member.id })
    err(r, 400, 'VALIDATION_INVALID_BODY')
    ok(r.details?.content, r.text)
  })
  await S('reply', '10000 emoji are counted as characters', async () => {
    const r = await reply({ content: '😀'.repeat(10000), authorId: member.id })
    is(r.status, 201, r.text.slice(0, 200))
  })
  for (const c of ['', '   ', '\n\t ', '\u00a0', 5, null])
    await S('reply', `content ${J(c)} is 400 VALIDATION_INVALID_BODY naming content`, async () => {
      const r = await reply({ content: c, authorId: member.id })
      err(r, 400, 'VALIDATION_INVALID_BODY')
      ok(r.details?.content, r.text)
    })
  await S('reply', 'content missing is 400', async () =>
    err(await reply({ authorId: member.id }), 400, 'VALIDATION_INVALID_BODY'),
  )
  for (const t of ['note', 'event', 'REPLY', '', null, undefined])
    await S('reply', `type ${J(t)} is 400 VALIDATION_INVALID_BODY naming type`, async () => {
      const r = await M.post(path(n), { type: t, content: 'x', authorId: member.id })
      err(r, 400, 'VALIDATION_INVALID_BODY')
      ok(r.details?.type, r.text)
    })
  await S('reply', 'neither authorId nor authorEmail: 400', async () =>
    err(await reply({ content: 'x' }), 400, 'VALIDATION_INVALID_BODY'),
  )
  await S('reply', 'both authorId and authorEmail: 400', async () =>
    err(
      await reply({ content: 'x', authorId: member.id, authorEmail: 'pat.smith@example.com' }),
      400,
      'VALIDATION_INVALID_BODY',
    ),
  )
  await S('reply', 'both, one of them null: 400 or treated as one, never 500', async () => {
    const r = await reply({ content: 'x', authorId: null, authorEmail: 'pat.smith@example.com' })
    ok([201, 400].includes(r.status), r.text)
    return String(r.status)
  })
  for (const e of [
    'pat.smith@example.com',
    'PAT.SMITH@EXAMPLE.COM',
    'Pat.Smith@Example.com',
    'pAt.sMiTh@eXaMpLe.cOm',
  ])
    await S('reply', `authorEmail is case-insensitive: ${e}`, async () => {
      const r = await reply({ content: 'x', authorEmail: e })
      is([r.status, r.json.sender?.id], [201, member.id])
    })
  await S('reply', 'unknown author email: TEAM_MEMBER_NOT_FOUND (422)', async () =>
    err(await reply({ content: 'x', authorEmail: 'no@example.com' }), 422, 'TEAM_MEMBER_NOT_FOUND'),
  )
  await S('reply', 'unknown author id: TEAM_MEMBER_NOT_FOUND (422)', async () =>
    err(await reply({ content: 'x', authorId: crypto.randomUUID() }), 422, 'TEAM_MEMBER_NOT_FOUND'),
  )
  await S('reply', 'author id that is no UUID: TEAM_MEMBER_NOT_FOUND or 400', async () => {
    const r = await reply({ content: 'x', authorId: 'nobody' })
    ok([400, 422].includes(r.status), r.text)
    return `${r.status} ${r.code}`
  })
  await S('reply', 'member of another account: TEAM_MEMBER_NOT_FOUND (id and email)', async () => {
    err(await reply({ content: 'x', authorId: foreignMember.id }), 422, 'TEAM_MEMBER_NOT_FOUND')
    err(await reply({ content: 'x', authorEmail: 'spy@example.com' }), 422, 'TEAM_MEMBER_NOT_FOUND')
  })
  for (const [k, s, c] of [
    ['999', 404, 'TICKET_NOT_FOUND'],
    ['2147483647', 404, 'TICKET_NOT_FOUND'],
    ['2147483648', 400, 'VALIDATION_INVALID_BODY'],
    ['99999999999999999999', 400, 'VALIDATION_INVALID_BODY'],
    ['abc', 400, 'VALIDATION_INVALID_BODY'],
    ['1.5', 400, 'VALIDATION_INVALID_BODY'],
    ['1e0', 400, 'VALIDATION_INVALID_BODY'],
    ['-1', 400, 'VALIDATION_INVALID_BODY'],
    ['0', 400, 'VALIDATION_INVALID_BODY'],
    ['%20', 400, 'VALIDATION_INVALID_BODY'],
    ['0x1', 400, 'VALIDATION_INVALID_BODY'],
  ])
    await S('ticketNumber', `${k} gives ${s} ${c}`, async () => {
      const r = await M.post(path(k), { type: 'reply', content: 'x', authorId: member.id })
      if (k === '-1' || k === '0') {
        ok(
          (r.status === 400 && r.code === 'VALIDATION_INVALID_BODY') ||
            (r.status === 404 && r.code === 'TICKET_NOT_FOUND'),
          r.text,
        )
        return `${r.status} ${r.code}`
      }
      err(r, s, c)
    })
  await S('ticketNumber', 'a leading zero (01) is the same integer or refused, never 500', async () => {
    const r = await M.post(path(`0${n}`), { type: 'reply', content: 'x', authorId: member.id })
    ok([201, 400, 404].includes(r.status), r.text)
    return String(r.status)
  })
  await S('reply', 'the reply shows in the thread', async () =>
    ok(
      (await M.get(`${path(n)}?limit=100`)).json.data.some((m) => m.id === ctx.rep.id),
      '',
    ),
  )
  await S('reply', 'replying moves the ticket new → on_customer (contract)', async () =>
    is((await M.get(`/agents/${HD}/helpdesk/tickets/${n}`)).json.statusCategory, 'on_customer'),
  )
  // state rules
  const cv = await ctx.mk(HD, 'help [[tokens:1]]', { userId: 'desk' })
  const tk = await M.post(`/agents/${HD}/helpdesk/tickets`, {
    subject: 'Linked',
    description: 'D',
    customer: { email: 'l@example.org' },
    conversationId: cv,
  })
  await S('reply', 'linked conversation not taken over: CONVERSATION_NOT_TAKEN_OVER (409)', async () => {
    is(tk.status, 201, tk.text)
    err(
      await reply({ content: 'x', authorId: member.id }, tk.json.ticketNumber),
      409,
      'CONVERSATION_NOT_TAKEN_OVER',
    )
  })
  await S('reply', 'after the takeover the reply is recorded and shows in the conversation', async () => {
    const t = await M.post(`/agents/${HD}/conversations/${cv}/takeover`, {
      memberEmail: 'PAT.smith@example.com',
    })
    is(t.status, 200, t.text)
    const k = t.json.data.ticketNumber
    is((await reply({ content: 'I am *here*', authorId: member.id }, k)).status, 201)
    is((await M.get(`/agents/${HD}/conversations/${cv}`)).json.data.status, 'taken_over')
    const m = (await M.get(`/agents/${HD}/conversations/${cv}`)).json.data.messages.at(-1)
    is([m.role, m.metadata?.author?.type], ['assistant', 'human_agent'])
    return J(m.parts)
  })
  await S(
    'reply',
    'author check before or after state: unknown member on a not-taken-over ticket answers one of the two documented codes',
    async () => {
      const c2 = await ctx.mk(HD, 'help2 [[tokens:1]]')
      const t = await M.post(`/agents/${HD}/helpdesk/tickets`, {
        subject: 'L2',
        description: 'D',
        customer: { email: 'l@example.org' },
        conversationId: c2,
      })
      const r = await reply({ content: 'x', authorEmail: 'no@example.com' }, t.json.ticketNumber)
      ok(['TEAM_MEMBER_NOT_FOUND', 'CONVERSATION_NOT_TAKEN_OVER'].includes(r.code), r.text)
      return r.code
    },
  )
  await S('reply', 'paused conversation: CONVERSATION_NOT_TAKEN_OVER', async () => {
    const c2 = await ctx.mk(HD, 'help3 [[tokens:1]]')
    const t = await M.post(`/agents/${HD}/helpdesk/tickets`, {
      subject: 'L3',
      description: 'D',
      customer: { email: 'l@example.org' },
      conversationId: c2,
    })
    await M.v2('PATCH', `/agents/${HD}/conversations/${c2}`, { paused: true })
    err(
      await reply({ content: 'x', authorId: member.id }, t.json.ticketNumber),
      409,
      'CONVERSATION_NOT_TAKEN_OVER',
    )
  })
  await S('reply', 'ticket of another agent of the account: TICKET_NOT_FOUND', async () =>
    err(
      await M.post(`/agents/${ctx.NONE}/helpdesk/tickets/${n}/messages`, {
        type: 'reply',
        content: 'x',
        authorId: member.id,
      }),
      404,
      'TICKET_NOT_FOUND',
    ),
  )
  await S('reply', '403 SUBSCRIPTION_API_RESTRICTED_PLAN on a free plan', async () =>
    err(
      await ctx.F.post(path(n), { type: 'reply', content: 'x', authorId: member.id }),
      403,
      'SUBSCRIPTION_API_RESTRICTED_PLAN',
    ),
  )
  await S(
    'reply',
    'contract: a reply that renders to nothing is 422 MESSAGE_CONTENT_NOT_RENDERABLE',
    async () => {
      for (const c of ['<script>x</script>', '<div></div>', '[](https://x.y)', '&nbsp;']) {
        const r = await reply({ content: c, authorId: member.id })
        ok(r.status === 422 && r.code === 'MESSAGE_CONTENT_NOT_RENDERABLE', `${c}: ${r.status} ${r.text}`)
      }
    },
  )
  // Markdown
  const md = (name, src, test) =>
    S('markdown', name, async () => {
      const h = await html(src)
      const bad = test(h)
      ok(bad === true, `${J(src)} → ${J(h)}`)
    })
  const has = (re) => (h) => re.test(h),
    not = (re) => (h) => !re.test(h),
    all =
      (...f) =>
      (h) =>
        f.every((g) => g(h) === true)
  await md('single newline becomes a line break', 'a\nb', has(/a<br\s*\/?>\s*b/))
  await md('two newlines make two paragraphs', 'a\n\nb', has(/<p>a<\/p>\s*<p>b<\/p>/))
  await md(
    'three single newlines in a row of lines',
    'a\nb\nc\nd',
    (h) => (h.match(/<br/g) ?? []).length === 3,
  )
  await md('CRLF newlines are kept as line breaks', 'a\r\nb', has(/a<br\s*\/?>\s*b/))
  await md(
    'GFM table',
    '| A | B |\n|---|:-:|\n| 1 | 2 |',
    all(has(/<table/), has(/<th[^>]*>A<\/th>/), has(/<td[^>]*>1<\/td>/)),
  )
  await md(
    'GFM table alignment is kept',
    '| A | B |\n|---|--:|\n| 1 | 2 |',
    has(/text-align:\s*right|align="right"/),
  )
  await md('GFM strikethrough', '~~gone~~', has(/<(s|del)>gone<\/(s|del)>/))
  await md('GFM strikethrough with one tilde', '~gone~', has(/<(s|del)>gone<\/(s|del)>/))
  await md(
    'GFM autolink (https)',
    'see https://example.com/a?b=1&c=2 now',
    has(/<a [^>]*href="https:\/\/example\.com\/a\?b=1&amp;c=2"/),
  )
  await md(
    'GFM autolink (www.)',
    'see www.example.com now',
    has(/<a [^>]*href="https?:\/\/www\.example\.com"/),
  )
  await md(
    'GFM autolink (bare e-mail)',
    'write to pat@example.com now',
    has(/<a [^>]*href="mailto:pat@example\.com"/),
  )
  await md(
    'GFM task list',
    '- [ ] todo\n- [x] done',
    (h) => /<input[^>]*type="checkbox"/.test(h) || /☐|☑|✓|✅/.test(h),
  )
  await md('GFM footnote or left as text, nothing lost', 'a[^1]\n\n[^1]: note', has(/note/))
  await md('headings', '# T\n## U', all(has(/<h1[^>]*>T<\/h1>/), has(/<h2[^>]*>U<\/h2>/)))
  await md('lists', '1. a\n2. b\n\n- c', all(has(/<ol>/), has(/<ul>/)))
  await md('nested lists', '- a\n  - b', has(/<ul>[\s\S]*<ul>/))
  await md(
    'code span and fenced code',
    '`x<y`\n\n```js\nlet a = 1 < 2\n```',
    all(has(/<code>x&lt;y<\/code>/), has(/<pre><code[^>]*>let a = 1 &lt; 2/)),
  )
  await md('blockquote', '> q', has(/<blockquote>/))
  await md('horizontal rule', 'a\n\n---\n\nb', has(/<hr/))
  await md('emphasis', '*i* **b** ***ib***', all(has(/<em>i<\/em>/), has(/<strong>b<\/strong>/)))
  await md('link with title', '[x](https://example.com "T")', has(/href="https:\/\/example\.com"/))
  await md(
    'image with https',
    '![alt](https://example.com/a.png)',
    (h) => /<img[^>]*src="https:\/\/example\.com\/a\.png"/.test(h) || /alt/.test(h),
  )
  await md(
    'raw inline HTML is stripped, its text stays',
    'a <b>bold</b> <span onclick="x()">c</span>',
    all(not(/<b>|<span|onclick/), has(/bold/)),
  )
  await md('raw block HTML is stripped', '<div><p>inside</p></div>\n\ntext', all(not(/<div/), has(/text/)))
  await md('<script> with content is gone', 'x <script>alert(1)</script> y', all(not(/<script/i), has(/x/)))
  await md('<style> is gone', 'x <style>p{}</style> y', not(/<style/i))
  await md('HTML comment is gone', 'x <!-- secret --> y', not(/secret|<!--/))
  await md('javascript: link', '[x](javascript:alert(1))', not(/href="?\s*javascript/i))
  await md(
    'JaVaScRiPt: and entities',
    '[x](JaVaScRiPt:alert(1)) [y](&#106;avascript:alert(1)) [z](java\tscript:alert(1))',
    not(/href="[^"]*script:/i),
  )
  await md('data: link', '[x](data:text/html;base64,PHNjcmlwdD4=)', not(/href="data:/i))
  await md(
    'vbscript: and file: links',
    '[x](vbscript:x) [y](file:///etc/passwd)',
    not(/href="(vbscript|file):/i),
  )
  await md('javascript: image', '![x](javascript:alert(1))', not(/src="javascript/i))
  await md('javascript: autolink', '<javascript:alert(1)>', not(/href="javascript/i))
  await md('reference link with javascript:', '[x][1]\n\n[1]: javascript:alert(1)', not(/href="javascript/i))
  await md(
    'attribute injection through a title',
    '[x](https://a.b "\\" onmouseover=alert(1) x=\\"")',
    not(/<a [^>]*\sonmouseover=/i),
  )
  await md('attribute injection through a code language', '```" onload="x\ny\n```', not(/\sonload="x/i))
  await md('plain text with < and & is escaped', '1 < 2 & 3 > 2', has(/1 &lt; 2 &amp; 3 &gt; 2/))
  await md('plain text is valid', 'Just text.', has(/<p>Just text\.<\/p>/))
  await md(
    'iframe, object, form, svg, math are gone',
    '<iframe src=x></iframe><object></object><form><input></form><svg onload=x></svg><math></math> t',
    not(/<(iframe|object|form|input|svg|math)/i),
  )
}

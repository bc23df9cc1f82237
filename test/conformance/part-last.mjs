import { is, J, ok, S, walk } from './lib.mjs'
export const check = async (ctx) => {
  const { M } = ctx
  await S(
    'score',
    'SPEC: metadata "contains score (number)": a number wherever metadata is present (export of all conversations of this run)',
    async () => {
      const n = { number: 0, null: 0 }
      for (const a of [ctx.A, ctx.X, ctx.HD, ctx.MS, ctx.SC])
        for (const c of (await walk(M, `/agents/${a}/conversations/export`, 100)).items)
          for (const { metadata } of c.messages)
            if (metadata) {
              const { score } = metadata
              ok(score === null || (typeof score === 'number' && score >= 0 && score <= 1), J(metadata))
              if (metadata.finishReason === 'error' || metadata.author) is(score, null, J(metadata))
              n[score === null ? 'null' : 'number']++
            }
      ok(n.number > 0, J(n))
      return `dec. null where nothing was scored ${J(n)}`
    },
  )
  await S(
    'export',
    'messages of a team member are assistant messages in the export (role user | assistant)',
    async () => {
      for (const a of [ctx.HD, ctx.X])
        for (const c of (await walk(M, `/agents/${a}/conversations/export`, 100)).items)
          for (const m of c.messages) ok(['user', 'assistant'].includes(m.role), m.role)
    },
  )
  await S(
    'source values',
    'third-party channel source values of the list',
    () => 'n.a. the specification does not name them',
  )
  await S(
    '500',
    'INTERNAL_SERVER_ERROR 500 with x-request-id',
    () => 'n.a. no request was found that causes one',
  )
  await S(
    'limits',
    'rate limit is per key AND IP address',
    () =>
      'n.a. here; checked by hand with TRUSTED_PROXIES and two X-Forwarded-For addresses: separate windows',
  )
  await S(
    'sources of conversation',
    'Android SDK, iOS SDK, Phone, Agent page, Iframe as sources',
    () => 'n.a. no client of that kind here',
  )
  await S('auto-resync', 'weekly re-sync runs', () => 'n.a. a week')
}

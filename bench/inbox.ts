import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { prepare, start, stop } from './service.ts'

/**
 * Measures lists and searches of an inbox, one request at a time: `node bench/inbox.ts [--server
 * postgres://…] [--tickets N]`. Writes bench/results/inbox.json.
 */
const { values: options } = parseArgs({
  options: { server: { type: 'string' }, tickets: { type: 'string', default: '100000' } },
})
const TICKETS = Number(options.tickets)
const MESSAGES = 5
const ROUNDS = 30

/** The second word of each stands in a third of all messages. */
const SENTENCES = [
  'Please send the invoice again, it has not arrived.',
  'Thank you, please wait while we look into it.',
  'How do I reset my password for the shop?',
]

const prepared = await prepare(options.server ?? null, 20, async (db, { accountId, agentId }) => {
  await sql`insert into tickets (id, account_id, agent_id, number, subject, description, status_category, customer,
      metadata, channel, priority, created_at, updated_at, last_message_at, waiting_since)
    select gen_random_uuid(), ${accountId}, ${agentId}, i, 'Order ' || i, 'About order ' || i,
      (array['new', 'on_you', 'on_customer', 'closed', 'closed'])[1 + i % 5],
      jsonb_build_object('id', null, 'name', 'Customer ' || i % 2000, 'email', 'c' || i % 2000 || '@example.com',
        'phoneNumber', null), '{}', 'email', 'none', t, t, t, case when i % 5 < 2 then t end
    from (select i, now() - i * interval '20 seconds' as t
      from generate_series(1, ${sql.lit(TICKETS)}) as i) as made`.execute(db)
  for (let at = 0; at < MESSAGES; at++)
    await sql`insert into ticket_messages (id, account_id, agent_id, ticket_id, type, sender, content_text,
        attachments, created_at)
      select gen_random_uuid(), account_id, agent_id, id, 'reply',
        jsonb_build_object('type', 'customer', 'id', null, 'name', customer ->> 'name', 'email', null),
        (${SENTENCES}::text[])[1 + (number + ${sql.lit(at)}) % ${sql.lit(SENTENCES.length)}] || ' Reference '
          || number || '-' || ${sql.lit(at)}, '[]', created_at + ${sql.lit(at)} * interval '1 second'
      from tickets where account_id = ${accountId}`.execute(db)
  await sql`vacuum analyze tickets`.execute(db)
  await sql`vacuum analyze ticket_messages`.execute(db)
})
const { url, child } = await start(['server/main.ts'], prepared.env)
const tickets = `/api/v2/agents/${prepared.agentId}/helpdesk/tickets`
const search = (query: string) => ({ path: `${tickets}/search`, body: { query, limit: 20 } })
const requests: Record<string, (i: number) => { path: string; body?: object }> = {
  'list of an agent, open': () => ({ path: `${tickets}?status=new,on_you,on_customer,on_hold` }),
  'inbox, all': () => ({ path: '/api/v2/inbox/tickets' }),
  'inbox, open': () => ({ path: '/api/v2/inbox/tickets?status=new,on_you,on_customer,on_hold' }),
  'inbox, waiting longest': () => ({
    path: '/api/v2/inbox/tickets?status=new,on_you&sortBy=waitingSince&order=asc',
  }),
  'inbox, of nobody, urgent (none)': () => ({
    path: '/api/v2/inbox/tickets?assigneeId=none&priority=urgent',
  }),
  'open a ticket': (i) => ({ path: `${tickets}/${1 + i * 97}` }),
  'messages of a ticket': (i) => ({ path: `${tickets}/${1 + i * 97}/messages` }),
  'search, a word in a third of all messages': () => search('invoice'),
  'search, the same word begun': () => search('invo'),
  'search, reset my password': () => search('reset my password'),
  'search, a rare word': (i) => search(`${1 + i * 97}-3`),
  'search, a word of every subject': () => search('order'),
  'search, a word that nothing has': () => search('zeppelin'),
  'search, a mail address': (i) => search(`c${i}@example.com`),
}
const results: Record<string, { p50: number; p95: number }> = {}
for (const [name, make] of Object.entries(requests)) {
  const times: number[] = []
  for (let i = 0; i < ROUNDS + 3; i++) {
    const { path, body } = make(i)
    const begun = performance.now()
    const answer = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${prepared.keys[i % prepared.keys.length]}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${text}`)
    if (i >= 3) times.push(performance.now() - begun)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10
  results[name] = { p50: at(0.5), p95: at(0.95) }
  console.log(name, results[name])
}
await stop(child)
await prepared.remove()
const database = options.server ? 'PostgreSQL' : 'embedded'
const file = new URL('results/inbox.json', import.meta.url)
const machine = {
  date: new Date().toISOString(),
  load: loadavg()[0],
  tickets: TICKETS,
  messages: TICKETS * MESSAGES,
}
writeFileSync(file, `${JSON.stringify({ database, ...machine, ms: results }, null, 2)}\n`)

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../../../test/database.ts'
import { type Client, clientOf, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'

/** A plan with a limit of the training size, which uploads must observe. */
const PLAN = 'pro'

const text = (i: number) => ({
  type: 'text',
  name: `Text ${i}`,
  content: `Parcel ${i} is delivered within ${i} days. Returns of parcel ${i} are free.`,
})

async function newAgent(client: Client): Promise<string> {
  return (await client.request('POST', '/agents', { name: 'Agent' })).body.id
}

const upload = async (client: Client, agentId: string, count: number): Promise<string[]> => {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => client.request('POST', `/agents/${agentId}/sources`, text(i))),
  )
  for (const { status, body } of answers) assert.equal(status, 201, JSON.stringify(body))
  return answers.map(({ body }) => body.id)
}

/** Waits until nothing is being processed. Returns the number of sources in each status. */
const settled = ({ ctx }: Service): Promise<Record<string, number>> =>
  until('the end of the training', async () => {
    const { rows } = await sql<{ status: string; n: number }>`
      select status, count(*) as n from sources group by status`.execute(ctx.db)
    const counts = Object.fromEntries(rows.map(({ status, n }) => [status, Number(n)]))
    return counts.untrained === undefined && counts.updated === undefined && counts
  })

/**
 * Returns the deadlocks that the database has counted. A connection reports them when it ends, so the connections
 * that were used have to be closed.
 */
async function deadlocks({ ctx }: Service): Promise<number> {
  await until('the end of the other connections', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and application_name = 'worker'`.execute(
      ctx.db,
    )
    return rows.length === 0
  })
  const { rows } = await sql<{ n: number }>`
    select deadlocks as n from pg_stat_database where datname = current_database()`.execute(ctx.db)
  return Number(rows[0]?.n)
}

/** Two processes that work on jobs, and one that does not. With the embedded database, one does both. */
async function startTwo(t: { after(work: () => Promise<void>): void }) {
  const service = await startService({}, undefined, { idle: onPostgres() })
  t.after(() => service.close())
  if (!onPostgres()) return { service, urls: [service.url], deadlocksAfter: async () => 0 }
  const url = new URL(service.databaseUrl ?? '')
  url.searchParams.set('application_name', 'worker')
  const beside = { ...service, databaseUrl: url.href }
  const others = [await startService({}, beside), await startService({}, beside)]
  return {
    service,
    urls: others.map((other) => other.url),
    async deadlocksAfter() {
      for (const other of others) await other.close()
      return deadlocks(service)
    },
  }
}

test('twenty texts uploaded to one agent concurrently go live without a deadlock', async (t) => {
  const { service, urls, deadlocksAfter } = await startTwo(t)
  const { key, accountId } = await service.account({ plan: PLAN })
  const clients = urls.map((url) => clientOf(url, key, accountId))
  const agentId = await newAgent(clients[0]!)
  await Promise.all(clients.map((client) => upload(client, agentId, 20 / clients.length)))
  assert.deepEqual(await settled(service), { trained: 20 })
  assert.equal(await deadlocksAfter(), 0)
})

test('texts of two agents go live while sources are changed, deleted and cloned', async (t) => {
  const { service, urls, deadlocksAfter } = await startTwo(t)
  const { key, accountId } = await service.account({ plan: PLAN })
  const clients = urls.map((url) => clientOf(url, key, accountId))
  const client = clients[0]!
  const other = clients.at(-1)!
  const agents = [await newAgent(client), await newAgent(client)]
  const ids = (await Promise.all(agents.map((agentId) => upload(client, agentId, 8)))).flat()
  await settled(service)
  const of = (i: number) => `/agents/${agents[Math.floor(i / 8)]}/sources/${ids[i]}`
  const answers = await Promise.all([
    ...agents.map((agentId) => upload(other, agentId, 6)),
    ...[0, 1, 8, 9].map((i) => client.request('PUT', of(i), { name: `Other name ${i}` })),
    ...[2, 3, 10, 11].map((i) => other.request('PUT', of(i), { content: `Parcel ${i} is lost.` })),
    ...[4, 5, 12, 13].map((i) => client.request('DELETE', of(i))),
    other.request('POST', `/agents/${agents[0]}/clone`),
  ])
  for (const answer of answers) if (!Array.isArray(answer)) assert.ok(answer.status < 300)
  const { trained = 0, ...others } = await settled(service)
  assert.deepEqual(others, {})
  assert.ok(trained >= 24, `${trained} are live`)
  assert.equal(await deadlocksAfter(), 0)
})

test('a text with many chunks replaces another one, of which nothing remains', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  const client = await service.account({ plan: PLAN })
  const agentId = await newAgent(client)
  const long = (word: string, paragraphs: number): string =>
    Array.from(
      { length: paragraphs },
      (_, i) => `# ${word} ${i}\n\n${`The ${word} of room ${i} is new. `.repeat(40)}`,
    ).join('\n\n')
  const { id } = (
    await client.request('POST', `/agents/${agentId}/sources`, {
      type: 'text',
      name: 'a',
      content: long('carpet', 450),
    })
  ).body
  await settled(service)
  const chunks = () =>
    service.ctx.db
      .selectFrom('chunks')
      .select(['version', 'ordinal', 'text'])
      .where('source_id', '=', id)
      .execute()
  const before = await chunks()
  assert.ok(before.length > 400, `${before.length} chunks`)
  await client.request('PUT', `/agents/${agentId}/sources/${id}`, { content: long('curtain', 300) })
  assert.deepEqual(await settled(service), { trained: 1 })
  const after = await until('the end of the old chunks', async () => {
    const rows = await chunks()
    return new Set(rows.map(({ version }) => version)).size === 1 && rows
  })
  assert.ok(after.every(({ text: said }) => said.includes('curtain')))
  assert.equal(new Set(after.map(({ ordinal }) => ordinal)).size, after.length)
})

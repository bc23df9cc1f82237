import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Service, startService } from '../test/start.ts'
import { duties, features, rawContracts, version1Contracts } from './features.ts'
import { triggers } from './reactions.ts'
import { version1Routes } from './v1/routes.ts'

let service: Service
before(async () => {
  service = await startService({}, undefined, { idle: true })
})
after(() => service.close())

const names = (endpoints: { name: string }[]) => endpoints.map(({ name }) => name).sort()

test('every contract has one route, and every route a contract of its feature', () => {
  for (const { contracts = [], routes } of features) {
    const described = contracts.flatMap((module) => Object.values(module))
    const served = routes?.(service.ctx).map(({ endpoint }) => endpoint) ?? []
    assert.deepEqual(names(served), names(described))
  }
  const raw = features.flatMap(({ rawRoutes }) => rawRoutes?.(service.ctx) ?? [])
  assert.deepEqual(names(raw.map(({ endpoint }) => endpoint)), names(rawContracts))
  assert.deepEqual(
    names(version1Routes(service.ctx).map(({ endpoint }) => endpoint)),
    names(version1Contracts),
  )
})

test('the list of triggers matches the database, each with its reason', async () => {
  const { rows } = await sql<{ name: string }>`
    select distinct tgname as name from pg_trigger join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and relnamespace = 'public'::regnamespace`.execute(service.ctx.db)
  assert.deepEqual(rows.map(({ name }) => name).sort(), Object.keys(triggers).sort())
})

test('names of duties are unique; a process that only serves the API runs the duties that somebody waits for', () => {
  const all = duties(service.ctx, 'all').map(({ what }) => what)
  assert.equal(new Set(all).size, all.length)
  assert.deepEqual(
    duties(service.ctx, 'worker').map(({ what }) => what),
    all,
  )
  const api = duties(service.ctx, 'api').map(({ what }) => what)
  assert.ok(api.includes('deliveries') && api.includes('orphaned generations'))
  assert.ok(!api.includes('mailboxes') && all.includes('mailboxes'))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '../../../test/database.ts'
import { migrate } from '../../platform/db/upkeep/migrate.ts'
import { createAccount } from '../records/accounts.ts'
import { createMember } from '../records/members.ts'
import { DEFAULT_PLAN, planNames, planOf, plans } from './plans.ts'

test('an account on a plan that left the catalogue gets the smallest plan', () => {
  assert.equal(planOf('gone'), plans.free)
  for (const name of planNames) assert.equal(planOf(name), plans[name])
  assert.equal(planOf(DEFAULT_PLAN).creditsPerMonth, null)
})

test("a member's address is unique regardless of case, and the plan limits the members, also under concurrency", async () => {
  const { database, drop } = await freshDatabase()
  const { db } = database
  await migrate(db)
  const account = { id: await createAccount(db, 'A', 'hobby'), plan: 'hobby' }
  const add = (email: string) => createMember(db, account, { email, name: 'N' })
  assert.ok(typeof (await add('a@example.com')) === 'object')
  assert.equal(await add('A@Example.com'), 'taken')
  const answers = await Promise.all(['b', 'c', 'd'].map((name) => add(`${name}@example.com`)))
  assert.equal(answers.filter((answer) => answer === 'full').length, 2)
  assert.equal(await add('A@example.com'), 'taken', 'said before "full"')
  await database.close()
  await drop()
})

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { evaluate } from '../../server/admin/commands/evaluate-command.ts'
import type { AnswersTested } from '../../server/admin/commands/test-answers.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { BROKEN, INJECTED, shopModel } from '../fakes/shop-model.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { lookAt } from '../look-at.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const SOURCES = {
  Warranty: 'The Halo lamp has a warranty of seven years.',
  Delivery: 'Delivery costs 4.90 euros and takes three days.',
  Returns: 'A lamp can be returned within 45 days.',
}
const CASES = [
  {
    name: 'Warranty',
    messages: ['How long is the warranty?'],
    expect: { holds: ['seven years'], lacks: ['pay.example', 'hotline'] },
  },
  { name: 'Delivery', messages: ['How much is delivery?'], expect: { holds: ['4.90'], lacks: ['hotline'] } },
  { name: 'Returns', messages: ['How can I return it?'], expect: { holds: ['45 days'], lacks: ['hotline'] } },
]
const JUDGED = JSON.stringify({
  claims: [
    { claim: 'The warranty is seven years.', reason: 'Piece 1 says it.', verdict: 'supported', piece: 1 },
    { claim: 'It covers the bulb.', reason: 'No piece says it.', verdict: 'absent', piece: 0 },
  ],
  means: { reason: 'It does.', passed: true },
  sounds: { reason: 'It does.', passed: true },
})

describe('tests of answers find what breaks an agent', { skip }, () => {
  let service: Service
  let models: ModelServer
  let browser: Browser
  let client: Client
  let page: Page
  let folder: string
  let agentId: string
  const sourceIds: Record<string, string> = {}

  before(async () => {
    models = await startModelServer()
    folder = await mkdtemp(join(tmpdir(), 'answer-tests-'))
    const fake = {
      provider: 'openai-compatible',
      baseUrl: `${models.url}/v1`,
      apiKey: 'k',
      understanding: false,
    }
    const prices = { input: 2, output: 10 }
    const file = join(folder, 'models.json')
    const catalogue = ['fake', 'worse'].map((id) => ({ ...fake, id, name: id, prices }))
    await writeFile(file, JSON.stringify({ auto: 'fake', models: catalogue }))
    await writeFile(join(folder, 'cases.json'), JSON.stringify(CASES))
    service = await startService({ MODELS_FILE: file, RATE_LIMIT: '10000/10' })
    models.otherwise((request) =>
      JSON.stringify(request.body).includes('You judge an answer')
        ? { tokens: [JUDGED] }
        : shopModel(request),
    )
    client = await service.account()
    agentId = (await client.request('POST', '/agents', { name: 'Lamps' })).body.id
    for (const [name, content] of Object.entries(SOURCES)) sourceIds[name] = await addSource(name, content)
    for (const one of CASES) await at('POST', '/answer-cases', one)
    browser = await launchChromium()
    page = await pageOf(browser, service, await memberOf(service, client.accountId, 'owner'))
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  const at: Client['request'] = (method, path, body) =>
    client.request(method, `/agents/${agentId}${path}`, body)
  async function addSource(name: string, content: string): Promise<string> {
    const { id } = (await at('POST', '/sources', { type: 'text', name, content })).body
    await trained(service, id)
    return id
  }
  /** Runs the command with the cases of a file, and returns its exit code and the names of the cases that failed. */
  async function onCommandLine(values: Record<string, string> = {}): Promise<[number, string[]]> {
    const { db, jobs, models: known } = service.ctx
    const operations = {
      db,
      isServed: async () => true,
      openModels: () => ({ models: known }),
      erasing: { jobs },
    }
    const input = {
      values: { agent: agentId, answers: 'true', ...values },
      positionals: [join(folder, 'cases.json')],
    }
    const done = await evaluate.run(operations as never, input)
    const { results } = (done as { answers: AnswersTested }).answers.run
    for (const { checks, judgement } of results) {
      assert.equal(judgement, null)
      assert.ok(checks.every(({ passed }) => passed !== null))
    }
    return [
      evaluate.isFailure?.(done) ? 1 : 0,
      [...new Set(results.filter(({ passed }) => !passed).map(({ name }) => name))],
    ]
  }
  const tests = () => page.goto(`${service.url}/agents/${agentId}/evaluations?tab=answers`)
  const conversations = () => page.getByRole('region', { name: 'Conversations' }).locator('details')
  /** Starts a test in the workspace, and returns the names of the cases that it shows as failed. */
  async function inBrowser(fill: () => Promise<unknown> = async () => {}): Promise<string[]> {
    await tests()
    await page.getByRole('button', { name: 'Test the answers' }).click()
    await fill()
    await page.getByRole('button', { name: /^Start, at most \d+ credits’ worth/ }).click()
    await page.waitForURL(/run=/)
    await page
      .locator('p[role=status]')
      .filter({ hasText: /all passed|failure/ })
      .waitFor()
    const failed = await conversations()
      .filter({ has: page.getByText('failed', { exact: true }) })
      .locator('summary')
      .allInnerTexts()
    return CASES.map(({ name }) => name).filter((name) => failed.some((text) => text.includes(name)))
  }

  test('nothing is reported of the sound agent, asked five times', async () => {
    assert.deepEqual(await onCommandLine({ repeats: '5' }), [0, []])
    assert.deepEqual(await inBrowser(() => page.getByLabel('How often each case is asked').fill('5')), [])
  })

  test('a broken instruction is found', async () => {
    await client.request('PUT', `/agents/${agentId}`, { instructions: BROKEN })
    assert.deepEqual(await onCommandLine(), [1, ['Warranty', 'Delivery', 'Returns']])
    assert.deepEqual(await inBrowser(), ['Warranty', 'Delivery', 'Returns'])
    await client.request('PUT', `/agents/${agentId}`, { instructions: '' })
  })

  test('a missing source is found by its own case', async () => {
    await at('DELETE', `/sources/${sourceIds.Delivery}`)
    assert.deepEqual(await onCommandLine(), [1, ['Delivery']])
    assert.deepEqual(await inBrowser(), ['Delivery'])
    await addSource('Delivery', SOURCES.Delivery)
  })

  test('a worse model is found', async () => {
    assert.deepEqual(await onCommandLine({ model: 'worse' }), [1, ['Warranty', 'Delivery', 'Returns']])
    const choose = () => page.getByLabel('Model', { exact: true }).selectOption('worse')
    assert.deepEqual(await inBrowser(choose), ['Warranty', 'Delivery', 'Returns'])
  })

  test('an injected document is found by its own case', async () => {
    const id = await addSource('Review', INJECTED)
    assert.deepEqual(await onCommandLine(), [1, ['Warranty']])
    assert.deepEqual(await inBrowser(), ['Warranty'])
    await at('DELETE', `/sources/${id}`)
  })

  test('two tests are shown side by side, and a case is asked again', async () => {
    await tests()
    const runs = (await at('GET', '/answer-runs')).body.data
    const sound = runs.find((one: { passed: number; total: number }) => one.passed === one.total)
    const broken = runs.find(({ model }: { model?: string }) => model === 'worse')
    await page.goto(
      `${service.url}/agents/${agentId}/evaluations?tab=answers&run=${broken.id}&with=${sound.id}`,
    )
    await page.getByText(/came out worse and 0 better/).waitFor()
    const pair = page.locator('details').filter({ hasText: 'passed 100% before, 0% now' }).first()
    await pair.getByText('warranty of seven years').first().waitFor()
    await pair.getByText('It is about ten.').first().waitFor()
    await lookAt(page, 'answers-side-by-side')
    await page.getByLabel('Compare with').selectOption('')
    const first = conversations().filter({ hasText: 'Delivery' }).first()
    await first.getByRole('button', { name: 'Ask it again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Ask it again' }).click()
    await page.getByText('The case came out as before.').waitFor()
  })

  test('a member disagrees with a claim that the judge did not find, and says why', async () => {
    const { data } = (await at('GET', '/answer-cases')).body
    const one = data.find(({ name }: { name: string }) => name === 'Warranty')
    const { id } = (await at('POST', '/answer-runs', { caseIds: [one.id], judges: true })).body
    await until('the end', async () => (await at('GET', `/answer-runs/${id}`)).body.status !== 'running')
    await page.goto(`${service.url}/agents/${agentId}/evaluations?tab=answers&run=${id}`)
    await page.getByRole('button', { name: 'Disagree: It covers the bulb.' }).click()
    await page.getByLabel('This was wrong because').fill('The card says so.')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('owner disagrees: The card says so.').waitFor()
    await page.getByRole('button', { name: 'Agree: The warranty is seven years.', exact: true }).click()
    await page.getByText('owner agrees').waitFor()
    await lookAt(page, 'answers-judged')
    await tests()
    await page.getByText('50% (1 of 2)').waitFor()
  })

  test('a schedule is set, changed and ended, and its alert stands in Health', async () => {
    await tests()
    await page.getByRole('button', { name: 'Set a schedule' }).click()
    await page.getByLabel('How often', { exact: true }).selectOption('week')
    await page.getByLabel('Only some of the cases').check()
    await page.getByRole('group', { name: 'Cases' }).getByLabel('Warranty').check()
    await lookAt(page, 'answers-schedule-dialog')
    await page.getByRole('button', { name: 'Set the schedule' }).click()
    await page.getByText(/Every Monday, next .*, 1 case/).waitFor()
    await service.ctx.db
      .updateTable('answer_schedules')
      .set({ alert: '2 of 3 scheduled tests passed.' })
      .where('account_id', '=', client.accountId)
      .where('agent_id', '=', agentId)
      .execute()
    await page.goto(`${service.url}/agents/${agentId}`)
    await page.getByText('2 of 3 scheduled tests passed.').waitFor()
    await page.getByRole('link', { name: 'See the test' }).click()
    await page.getByText('2 of 3 scheduled tests passed.').waitFor()
    await lookAt(page, 'answers-schedule')
    await page.getByRole('button', { name: 'Test the answers' }).click()
    await page.getByText(/fake writes 3 answers in 3 conversations: 3 credits’ worth, and about \$/).waitFor()
    await lookAt(page, 'answers-start')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'End the schedule' }).click()
    await page.getByRole('button', { name: 'Set a schedule' }).waitFor()
  })
})

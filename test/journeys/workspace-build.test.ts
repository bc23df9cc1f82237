import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createLink, linkTo } from '../../server/accounts/links/links.ts'
import { createAccount } from '../../server/accounts/records/accounts.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { type Service, startService } from '../start.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const PATIENCE_MS = 120_000

/** What a builder of agents does: try out, compare, measure, and add actions and procedures. */
describe('building an agent in the workspace', { skip }, () => {
  let service: Service
  let models: ModelServer
  let browser: Browser
  let page: Page
  let agentId: string
  const shop = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ path: request.url, state: 'shipped' }))
  })
  const shopUrl = () => `http://127.0.0.1:${(shop.address() as AddressInfo).port}`

  before(async () => {
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
    models = await startModelServer()
    service = await startService({
      OPENAI_BASE_URL: `${models.url}/v1`,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODEL: 'fake-model',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    })
    browser = await chromium.launch({ executablePath: findBrowser(), args: ['--no-sandbox'] })
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    context.setDefaultTimeout(PATIENCE_MS)
    page = await context.newPage()
    const accountId = await createAccount(service.ctx.db, 'Default')
    const { token } = await createLink(service.ctx.db, { accountId, kind: 'set-up', createdBy: 'operator' })
    await page.goto(linkTo(service.url, 'set-up', token))
    await page.getByLabel('Workspace').fill('Bright Lamps')
    await page.getByLabel('Your name').fill('Ada Okafor')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('a few words in a row')
    await page.getByRole('button', { name: 'Create the workspace' }).click()
    await page.getByRole('link', { name: 'New agent' }).click()
    await page.getByLabel('Name').fill('Lumi')
    await page.getByText('Written or pasted').click()
    await page.getByLabel('Text', { exact: true }).last().fill('The Halo lamp has a warranty of five years.')
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await page.getByLabel('Question').waitFor()
    agentId = new URL(page.url()).pathname.split('/')[2] ?? ''
    if (agentId === 'new') {
      const { id } = await service.ctx.db.selectFrom('agents').select('id').executeTakeFirstOrThrow()
      agentId = id
    }
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
    shop.close()
  })

  const go = (name: string) =>
    page.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name, exact: true }).click()

  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

  test('a draft is tried out, its prompt is read, and no list of customers has it', async () => {
    await page.goto(`${service.url}/agents/${agentId}/playground`)
    await page.getByText('What to try').click()
    await page.getByLabel('Instructions').fill('Answer like a sailor.')
    models.queue.push({ tokens: ['Five years, aye [1].'] })
    await page.getByLabel('Question').fill('How long is the warranty of the Halo lamp?')
    await page.getByLabel('Question').press('Enter')
    const why = page.getByRole('complementary', { name: 'Why this answer' })
    await why.getByText('For a customer').waitFor()
    await why.getByText('cited').waitFor()
    await why.getByText(/^fake-model, /).click()
    await why.getByText(/Answer like a sailor\./).waitFor()
    const saved = await service.ctx.db.selectFrom('agents').select('instructions').executeTakeFirstOrThrow()
    assert.notEqual(saved.instructions, 'Answer like a sailor.')
    await service.ctx.indexer.run(service.ctx.db)
    await go('Conversations')
    await page
      .getByRole('heading', { name: /conversation/i })
      .first()
      .waitFor()
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('button', { name: /warranty/ }).count(), 0)
    await page.goto(`${service.url}/agents/${agentId}/conversations?source=Playground`)
    await page
      .getByRole('button', { name: /warranty/ })
      .first()
      .waitFor()
  })

  test('two configurations are compared, one is saved, and its answer becomes a question', async () => {
    await page.goto(`${service.url}/agents/${agentId}/playground?mode=compare`)
    const first = page.getByRole('region', { name: 'Configuration A' })
    const second = page.getByRole('region', { name: 'Configuration B' })
    await first.getByLabel('Model').selectOption('builtin')
    await second.getByLabel('Model').selectOption('fake-model')
    await second.getByLabel('Instructions').fill('Be brief.')
    models.queue.push({ tokens: ['Five [1].'] })
    await page.getByLabel('Question').fill('How long is the warranty of the Halo lamp?')
    await page.getByLabel('Question').press('Enter')
    await first.getByText('warranty of five years').first().waitFor()
    await second.getByText('Five').first().waitFor()
    await second.getByRole('button', { name: 'Save as an evaluation question' }).click()
    await page.getByRole('button', { name: 'Save the question' }).click()
    await page.getByText('part of the next evaluation').waitFor()
    await second.getByRole('button', { name: 'Save B to the agent' }).click()
    await second.getByText('as saved').waitFor()
    const agent = await service.ctx.db
      .selectFrom('agents')
      .select(['instructions', 'model'])
      .executeTakeFirstOrThrow()
    assert.deepEqual(agent, { instructions: 'Be brief.', model: 'fake-model' })
  })

  test('an evaluation before and after a correction shows what it has done', async () => {
    await go('Evaluations')
    await page.getByRole('cell', { name: /^How long is the warranty/ }).waitFor()
    await page.getByRole('button', { name: 'Add a question' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Question').fill('Which socket has the Halo lamp?')
    await dialog.getByLabel('Expected answer').fill('The Halo lamp has an E27 socket.')
    await dialog.getByRole('button', { name: 'Save the question' }).click()
    await page.getByRole('cell', { name: /^Which socket/ }).waitFor()
    const run = async (note: string) => {
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByLabel('Note (optional)').fill(note)
      await page.getByRole('button', { name: 'Run it now' }).click()
      await page.getByRole('heading', { level: 2, name: new RegExp(`^${note}`) }).waitFor()
    }
    await run('Before')
    const failing = page.getByRole('region', { name: 'Failing questions', exact: true })
    await failing.getByText('Which socket').waitFor()
    await failing.getByRole('button', { name: 'Write the answer' }).click()
    await page.getByRole('button', { name: 'Save the answer' }).click()
    await page.getByText('The agent learns it now').waitFor()
    const live = () =>
      service.ctx.db.selectFrom('sources').select('live_version').where('type', '=', 'qna').executeTakeFirst()
    while ((await live())?.live_version === null) await page.waitForTimeout(50)
    await run('After')
    const differences = page.getByRole('region', { name: 'Differences', exact: true })
    const row = differences.getByRole('row', { name: /Which socket/ })
    await row.getByText('Found at place 1').waitFor()
    await page.getByText('None fails').waitFor()
  })

  test('an action is made and tried with a real input, and a procedure mentions it', async () => {
    await go('Actions')
    await page.getByRole('link', { name: 'New action' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('look_up_order')
    await page.getByLabel('When to use it').fill('When somebody asks where an order is.')
    await page.getByRole('button', { name: 'Add an input' }).click()
    await page.getByLabel('Name of input 1').fill('number')
    await page.getByLabel('Type of input 1').selectOption('integer')
    await page.getByLabel('Address').fill(`${shopUrl()}/orders/{{number}}`)
    await page.getByRole('button', { name: 'Add the action' }).click()
    await heading('look_up_order')
    const trial = page.getByRole('region', { name: 'Try it', exact: true })
    await trial.getByLabel('number').fill('20419')
    await trial.getByRole('button', { name: 'Try it' }).click()
    await trial.getByText('It works').waitFor()
    await trial.getByText('/orders/20419').waitFor()

    await go('Procedures')
    await page.getByRole('link', { name: 'New procedure' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('Late order')
    await page.getByLabel('Situation').fill('Somebody says that an order has not arrived.')
    await page.getByLabel('Step 1', { exact: true }).fill('Say sorry.')
    await page.getByRole('button', { name: 'Add a step' }).click()
    await page.getByLabel('Step 2', { exact: true }).fill('Look the order up.')
    await page.getByLabel('Action of step 2').selectOption('look_up_order')
    await page.getByRole('button', { name: 'Move step 2 up' }).press('Enter')
    await page.getByRole('button', { name: 'Add the procedure' }).click()
    await heading('Late order')
    assert.equal(await page.getByLabel('Step 1', { exact: true }).inputValue(), 'Look the order up.')
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
  })

  test('none of these pages breaks a rule of accessibility, in light and in dark, wide and narrow', async () => {
    const { db } = service.ctx
    const { id: actionId } = await db.selectFrom('actions').select('id').executeTakeFirstOrThrow()
    const { id: procedureId } = await db.selectFrom('procedures').select('id').executeTakeFirstOrThrow()
    const { id: runId } = await db
      .selectFrom('evaluation_runs')
      .select('id')
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow()
    const paths = [
      '/playground',
      '/playground?mode=compare',
      '/evaluations',
      '/evaluations?tab=runs',
      `/evaluations?tab=runs&run=${runId}`,
      '/actions',
      '/actions/new',
      `/actions/${actionId}`,
      '/procedures',
      '/procedures/new',
      `/procedures/${procedureId}`,
    ]
    const found: string[] = []
    for (const path of paths) {
      await page.goto(`${service.url}/agents/${agentId}${path}`)
      await page.locator('main h1').first().waitFor()
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      await page.evaluate(axe.source)
      for (const [width, colorScheme] of [
        [1440, 'light'],
        [1440, 'dark'],
        [390, 'light'],
      ] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const { violations } = (await page.evaluate('axe.run(document)')) as axe.AxeResults
        for (const { id, nodes } of violations) {
          const shown = nodes.map(({ html }) => html.slice(0, 160)).join(' | ')
          found.push(`${colorScheme} ${width} ${path} ${id}: ${shown}`)
        }
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        if (Number(overflow) > 0) found.push(`${width} ${path} is wider than the window by ${overflow}`)
      }
    }
    assert.deepEqual(found, [])
  })
})

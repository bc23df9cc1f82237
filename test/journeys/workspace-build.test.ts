import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createLink, linkTo } from '../../server/accounts/links/links.ts'
import { createAccount } from '../../server/accounts/records/accounts.ts'
import { brokenRules } from '../broken-rules.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Service, startService } from '../start.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const PATIENCE_MS = 120_000

/** What a builder of agents does, by keyboard alone: try out, compare, measure, and add actions and procedures. */
describe('building an agent in the workspace', { skip }, () => {
  let service: Service
  let models: ModelServer
  let browser: Browser
  let page: Page
  let keys: ReturnType<typeof keyboardOf>
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
    browser = await launchChromium()
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    context.setDefaultTimeout(PATIENCE_MS)
    page = await context.newPage()
    keys = keyboardOf(page)
    const accountId = await createAccount(service.ctx.db, 'Default')
    const { token } = await createLink(service.ctx.db, { accountId, kind: 'set-up', createdBy: 'operator' })
    await page.goto(linkTo(service.url, 'set-up', token))
    await keys.write(page.getByLabel('Workspace'), 'Bright Lamps')
    await keys.write(page.getByLabel('Your name'), 'Ada Okafor')
    await keys.write(page.getByLabel('Email'), 'ada@example.com')
    await keys.write(page.getByLabel('Password'), 'a few words in a row')
    await keys.press('Enter')
    await keys.use(page.getByRole('link', { name: 'New agent' }))
    await keys.write(page.getByLabel('Name'), 'Lumi')
    await keys.reach(page.getByRole('radio', { checked: true }))
    await keys.arrow('ArrowDown', page.getByRole('radio', { name: /Written or pasted/ }))
    await keys.write(
      page.getByRole('textbox', { name: 'Text', exact: true }),
      'The Halo lamp has a warranty of five years.',
    )
    await keys.use(page.getByRole('button', { name: 'Create the agent' }))
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

  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

  test('a draft is tried out and its prompt shown, and no list of conversations contains it', async () => {
    await page.goto(`${service.url}/agents/${agentId}/playground`)
    await keys.use(page.locator('summary').filter({ hasText: 'Settings of the run' }))
    await keys.write(page.getByLabel('Instructions'), 'Answer like a sailor.')
    models.queue.push({ tokens: ['Five years, aye [1].'] })
    await keys.write(page.getByLabel('Question'), 'How long is the warranty of the Halo lamp?')
    await keys.press('Enter')
    const why = page.getByRole('complementary', { name: 'Why this answer' })
    await why.getByText('For a customer').waitFor()
    await why.getByText('cited').waitFor()
    await keys.use(why.locator('summary').filter({ hasText: /^fake-model, / }))
    await why.getByText(/Answer like a sailor\./).waitFor()
    const saved = await service.ctx.db.selectFrom('agents').select('instructions').executeTakeFirstOrThrow()
    assert.notEqual(saved.instructions, 'Answer like a sailor.')
    await service.ctx.indexer.run(service.ctx.db)
    await keys.go('Conversations')
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
    await keys.choose(first.getByLabel('Model'), 'the built-in responder')
    await keys.choose(second.getByLabel('Model'), 'fake-model')
    await keys.write(second.getByLabel('Instructions'), 'Be brief.')
    models.queue.push({ tokens: ['Five [1].'] })
    await keys.write(page.getByLabel('Question'), 'How long is the warranty of the Halo lamp?')
    await keys.press('Enter')
    await first.getByText('warranty of five years').first().waitFor()
    await second.getByText('Five').first().waitFor()
    await keys.use(second.getByRole('button', { name: 'Save as an evaluation question' }))
    await keys.use(page.getByRole('button', { name: 'Save the question' }))
    await page.getByText('part of the next evaluation').waitFor()
    await keys.use(second.getByRole('button', { name: 'Save B to the agent' }))
    await second.getByText('as saved').waitFor()
    const agent = await service.ctx.db
      .selectFrom('agents')
      .select(['instructions', 'model'])
      .executeTakeFirstOrThrow()
    assert.deepEqual(agent, { instructions: 'Be brief.', model: 'fake-model' })
  })

  test('evaluations before and after a correction show its effect', async () => {
    await keys.go('Evaluations')
    await page.getByRole('cell', { name: /^How long is the warranty/ }).waitFor()
    await keys.use(page.getByRole('button', { name: 'Add a question' }).first())
    const dialog = page.getByRole('dialog')
    await keys.write(dialog.getByLabel('Question'), 'Which socket has the Halo lamp?')
    await keys.write(dialog.getByLabel('Expected answer'), 'The Halo lamp has an E27 socket.')
    await keys.use(dialog.getByRole('button', { name: 'Save the question' }))
    await page.getByRole('cell', { name: /^Which socket/ }).waitFor()
    const run = async (note: string) => {
      await keys.use(page.getByRole('button', { name: 'Run', exact: true }))
      await keys.write(page.getByLabel('Note (optional)'), note)
      await keys.press('Enter')
      await page.getByRole('heading', { level: 2, name: new RegExp(`^${note}`) }).waitFor()
    }
    await run('Before')
    const failing = page.getByRole('region', { name: 'Failing questions', exact: true })
    await failing.getByText('Which socket').waitFor()
    await keys.use(failing.getByRole('button', { name: 'Write the answer' }))
    await keys.use(page.getByRole('button', { name: 'Save the answer' }))
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

  test('a broken instruction is caught by a test of the answers before it is saved', async () => {
    models.otherwise(({ body }) => ({
      tokens: [JSON.stringify(body).includes('Never name years') ? 'A long time.' : 'Five years [1].'],
    }))
    await keys.go('Evaluations')
    await keys.reach(page.getByRole('tab', { selected: true }))
    for (const name of ['Runs', 'Answers']) await keys.arrow('ArrowRight', page.getByRole('tab', { name }))
    await page.getByText('No case yet').waitFor()
    await keys.use(page.getByRole('button', { name: 'Add a case' }))
    const dialog = page.getByRole('dialog')
    await keys.write(dialog.getByLabel('Name'), 'Warranty')
    await keys.write(
      dialog.getByLabel('What the customer writes'),
      'How long is the warranty of the Halo lamp?',
    )
    await keys.write(dialog.getByLabel('The answer holds'), 'five years')
    await keys.choose(dialog.getByLabel('It says that it does not know'), 'No')
    await keys.use(dialog.getByRole('button', { name: 'Save the case' }))
    await page.getByRole('cell', { name: 'Warranty', exact: true }).waitFor()
    const run = async (note: string, instructions: string) => {
      await keys.use(page.getByRole('button', { name: 'Test the answers' }))
      await keys.write(page.getByLabel('Note (optional)'), note)
      if (instructions) await keys.write(page.getByLabel('Instructions (optional)'), instructions)
      await keys.use(page.getByRole('dialog').getByRole('button', { name: /^Start/ }))
      await page.getByRole('heading', { level: 2, name: new RegExp(`^${note}`) }).waitFor()
    }
    await run('As it is', '')
    await page.getByRole('status').getByText('all passed').waitFor()
    await keys.use(page.getByRole('button', { name: 'All runs' }))
    await run('Broken', 'Never name years.')
    await page.getByRole('status').getByText('1 failure').waitFor()
    await page.getByText('A long time.').waitFor()
    const other = page.getByLabel('Compare with').getByRole('option', { name: /^As it is/ })
    await keys.choose(page.getByLabel('Compare with'), (await other.textContent()) ?? '')
    const compared = page.getByRole('region', { name: 'Side by side', exact: true })
    await compared.getByText(/passed 100% before, 0% now/).waitFor()
  })

  test('an action is created and tried with a real input, and a procedure mentions it', async () => {
    await keys.go('Actions')
    await keys.use(page.getByRole('link', { name: 'New action' }).first())
    await keys.write(page.getByLabel('Name', { exact: true }), 'look_up_order')
    await keys.write(page.getByLabel('When to use it'), 'When somebody asks where an order is.')
    await keys.use(page.getByRole('button', { name: 'Add an input' }))
    await keys.write(page.getByLabel('Name of input 1'), 'number')
    await keys.choose(page.getByLabel('Type of input 1'), 'Whole number')
    await keys.write(page.getByLabel('Address'), `${shopUrl()}/orders/{{number}}`)
    await keys.use(page.getByRole('button', { name: 'Add the action' }))
    await heading('look_up_order')
    const trial = page.getByRole('region', { name: 'Try it', exact: true })
    await keys.write(trial.getByLabel('number'), '20419')
    await keys.use(trial.getByRole('button', { name: 'Try it' }))
    await trial.getByText('It works').waitFor()
    await trial.getByText('/orders/20419').waitFor()

    await keys.go('Procedures')
    await keys.use(page.getByRole('link', { name: 'New procedure' }).first())
    await keys.write(page.getByLabel('Name', { exact: true }), 'Late order')
    await keys.write(page.getByLabel('Situation'), 'Somebody says that an order has not arrived.')
    await keys.write(page.getByLabel('Step 1', { exact: true }), 'Say sorry.')
    await keys.use(page.getByRole('button', { name: 'Add a step' }))
    await keys.write(page.getByLabel('Step 2', { exact: true }), 'Look the order up.')
    await keys.choose(page.getByLabel('Action of step 2'), 'Uses look_up_order')
    await keys.use(page.getByRole('button', { name: 'Move step 2 up' }))
    await keys.use(page.getByRole('button', { name: 'Add the procedure' }))
    await heading('Late order')
    assert.equal(await page.getByLabel('Step 1', { exact: true }).inputValue(), 'Look the order up.')
    await keys.use(page.getByRole('button', { name: 'Turn on' }))
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
  })

  test('none of these pages breaks an accessibility rule, light or dark, wide or narrow', async () => {
    const { db } = service.ctx
    const { id: actionId } = await db.selectFrom('actions').select('id').executeTakeFirstOrThrow()
    const { id: procedureId } = await db.selectFrom('procedures').select('id').executeTakeFirstOrThrow()
    const { id: runId } = await db
      .selectFrom('evaluation_runs')
      .select('id')
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow()
    const { id: answerRunId } = await db
      .selectFrom('answer_runs')
      .select('id')
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow()
    const paths = [
      '/playground',
      '/playground?mode=compare',
      '/evaluations',
      '/evaluations?tab=runs',
      `/evaluations?tab=runs&run=${runId}`,
      '/evaluations?tab=answers',
      `/evaluations?tab=answers&run=${answerRunId}`,
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
      for (const [width, colorScheme] of [
        [1440, 'light'],
        [1440, 'dark'],
        [390, 'light'],
      ] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        for (const { id, nodes } of await brokenRules(page)) {
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

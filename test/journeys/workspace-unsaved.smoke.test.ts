import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { brokenRules } from '../broken-rules.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('what is written is not lost', { skip }, () => {
  let service: Service
  let browser: Browser
  let models: ModelServer
  let client: Client
  let ann: Worker
  let bob: Worker
  let agentId: string

  before(async () => {
    models = await startModelServer()
    service = await startService(models.settings)
    browser = await launchChromium()
    client = await service.account()
    ann = await memberOf(service, client.accountId, 'owner')
    bob = await memberOf(service, client.accountId, 'builder')
    agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
    await client.request('PUT', `/agents/${agentId}`, { visibility: 'public' })
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
  })

  const open = async (who: Worker, path: string): Promise<Page> => {
    const page = await pageOf(browser, service, who)
    page.setDefaultTimeout(120_000)
    await page.goto(`${service.url}/agents/${agentId}${path}`)
    return page
  }
  const agentNow = async () => (await client.request('GET', `/agents/${agentId}`)).body
  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true })
  const saved = (page: Page) => page.getByText('The next answer follows it.').waitFor()

  /** Fetches everything again, as a tab does that somebody returns to. */
  const comeBack = (page: Page) => page.evaluate("dispatchEvent(new Event('visibilitychange'))")

  test('two people change the same instructions, and the second sees the difference', async () => {
    await client.request('PUT', `/agents/${agentId}`, { instructions: 'Be short.' })
    const [hers, his] = [await open(ann, '/instructions'), await open(bob, '/instructions')]
    const field = (page: Page) => page.getByLabel('Instructions', { exact: true })
    await field(his).fill('Be long.')
    await field(hers).fill('Be kind.')
    await save(hers).click()
    await saved(hers)
    // What he wrote stays when his page reads the agent again.
    await comeBack(his)
    await save(his).click()
    const dialog = his.getByRole('alertdialog', { name: 'Changed by owner in the meantime' })
    await dialog.waitFor()
    const lines = await dialog.getByRole('region', { name: 'Instructions' }).locator('pre').innerText()
    assert.match(lines, /removed:\s+Be kind\./)
    assert.match(lines, /added:\s+Be long\./)
    assert.deepEqual(await brokenRules(his, { iframes: false }), [])
    // Closing the dialog saves nothing and loses nothing.
    await his.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await field(his).inputValue(), 'Be long.')
    assert.equal((await agentNow()).instructions, 'Be kind.')
    await save(his).click()
    await dialog.getByRole('button', { name: 'Save mine' }).click()
    await saved(his)
    assert.equal((await agentNow()).instructions, 'Be long.')
    // She has written nothing, so she sees the newer version by herself.
    await until('the newer instructions', async () => {
      await comeBack(hers)
      return (await field(hers).inputValue()) === 'Be long.'
    })

    await field(hers).fill('Be brief.')
    await client.request('PUT', `/agents/${agentId}`, { instructions: 'Be calm.' })
    await save(hers).click()
    await hers.getByRole('alertdialog').getByRole('button', { name: 'Keep theirs' }).click()
    await until('their instructions', async () => (await field(hers).inputValue()) === 'Be calm.')
    assert.equal((await agentNow()).instructions, 'Be calm.')
    for (const page of [hers, his]) await page.context().close()
  })

  test('two people change different settings, and both are kept without a question', async () => {
    const [hers, his] = [await open(ann, '/settings'), await open(bob, '/settings')]
    await hers.getByLabel('Greeting').fill('Hello!')
    await his.getByLabel('Name', { exact: true }).fill('Lumi')
    await save(hers).click()
    await hers.getByText('Saved.').waitFor()
    await save(his).click()
    await his.getByText('Saved.').waitFor()
    const { name, initialMessages } = await agentNow()
    assert.deepEqual([name, initialMessages], ['Lumi', ['Hello!']])
    for (const page of [hers, his]) await page.context().close()
  })

  test('a change that a server in between refuses as outdated is not lost', async () => {
    const page = await open(ann, '/instructions')
    const put = `**/agents/${agentId}`
    await page.route(put, (route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 412, body: '' }) : route.continue(),
    )
    await page.getByLabel('Instructions', { exact: true }).fill('Be brave.')
    await save(page).click()
    await page.getByText('Somebody has changed this in the meantime. Copy what you wrote').waitFor()
    assert.equal(await page.getByLabel('Instructions', { exact: true }).inputValue(), 'Be brave.')
    await page.context().close()
  })

  test('two tabs change the looks', async () => {
    const [one, two] = [await open(ann, '/deploy'), await open(ann, '/deploy')]
    for (const [page, footer] of [
      [one, 'From the first tab'],
      [two, 'From the second tab'],
    ] as const) {
      await page.getByLabel('Line below the message field').fill(footer)
    }
    for (const page of [one, two]) await page.getByRole('button', { name: 'Save the looks' }).click()
    const dialog = two.getByRole('alertdialog')
    await dialog.getByText('From the first tab').waitFor()
    await dialog.getByRole('button', { name: 'Save mine' }).click()
    await two.getByText('Visitors see it within a minute.').waitFor()
    assert.equal((await agentNow()).styles.chat.footer, 'From the second tab')
    await one.context().close()
    await two.context().close()
  })

  test('a page with something unsaved is left only after a question', async () => {
    const page = await open(ann, '/instructions')
    const field = page.getByLabel('Instructions', { exact: true })
    const sources = page.getByRole('link', { name: 'Sources' })
    await field.fill('Half a sent')
    await sources.click()
    const asked = page.getByRole('alertdialog', { name: 'Leave without saving?' })
    await asked.waitFor()
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await asked.getByRole('button', { name: 'Stay' }).click()
    await asked.waitFor({ state: 'detached' })
    assert.equal(await field.inputValue(), 'Half a sent')
    await sources.click()
    await asked.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
    await page.goBack()
    // Nothing is asked after something has been saved, discarded or only looked at.
    await field.fill('A whole sentence.')
    await save(page).click()
    await saved(page)
    await sources.click()
    await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
    await page.goBack()
    await field.fill('Something else.')
    await page.getByRole('button', { name: 'Discard' }).click()
    await sources.click()
    await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
    await page.context().close()
  })

  test('the browser asks before a page with something unsaved is closed', async () => {
    const page = await open(ann, '/procedures/new')
    await page.getByLabel('Name').fill('Late order')
    const kinds: string[] = []
    page.on('dialog', (dialog) => {
      kinds.push(dialog.type())
      void dialog.dismiss()
    })
    await page.close({ runBeforeUnload: true })
    await until('the question', () => kinds.length > 0)
    assert.deepEqual(kinds, ['beforeunload'])
    assert.equal(await page.getByLabel('Name').inputValue(), 'Late order')
    await page.context().close()
  })

  test('a dialog with something unsaved is closed only after a question', async () => {
    const page = await open(ann, '/evaluations')
    await page
      .getByRole('button', { name: /^(Add a question|New question)/ })
      .first()
      .click()
    const dialog = page.getByRole('dialog', { name: 'Add an evaluation question' })
    await dialog.getByLabel('Question').fill('How long is the warranty?')
    await page.keyboard.press('Escape')
    const asked = page.getByRole('alertdialog', { name: 'Close without saving?' })
    await asked.getByRole('button', { name: 'Keep editing' }).click()
    await asked.waitFor({ state: 'detached' })
    assert.equal(await dialog.getByLabel('Question').inputValue(), 'How long is the warranty?')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await asked.getByRole('button', { name: 'Discard it' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('the playground survives a reload, in the middle of an answer and after it', async () => {
    const words = Array.from({ length: 40 }, (_, at) => `word${at} `)
    models.queue.push({ tokens: words, delayMs: 100 })
    const page = await open(ann, '/playground')
    await page.getByText('Settings of the run').click()
    await page.getByLabel('Instructions').fill('Be a draft.')
    await page.getByLabel('Question').fill('What is it?')
    await page.keyboard.press('Enter')
    const answer = page.getByRole('article', { name: 'Answer' })
    await answer.getByText('word3').waitFor()
    await page.getByLabel('Question').fill('And then')
    await page.reload()
    await page.getByText('What is it?').waitFor()
    await answer.getByText('word39').waitFor()
    await page.getByText('Ended by').waitFor()
    assert.equal((await answer.innerText()).match(/word20 /g)?.length, 1)
    assert.equal(models.requests.filter(({ body }) => JSON.stringify(body).includes('What is it?')).length, 1)
    assert.equal(await page.getByLabel('Question').inputValue(), 'And then')
    assert.equal(await page.getByLabel('Instructions').inputValue(), 'Be a draft.')
    // The conversation continues, and another reload shows it as it is.
    models.queue.push({ tokens: ['The end.'] })
    await page.getByLabel('Question').fill('And then?')
    await page.keyboard.press('Enter')
    await page.getByText('The end.').waitFor()
    await page.reload()
    await page.getByText('The end.').waitFor()
    assert.equal(await answer.count(), 2)
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.getByText('Ask what a visitor would ask.').waitFor()
    await page.reload()
    await page.getByText('Ask what a visitor would ask.').waitFor()
    await page.context().close()
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { lookAt } from '../look-at.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained } from '../until.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const WARRANTY = 'The Halo lamp has a warranty of five years from the day on which it was bought.'

describe('cases of tests of answers', { skip }, () => {
  let models: ModelServer
  let service: Service
  let browser: Browser
  let client: Client
  let page: Page
  let agentId: string
  let conversationId: string

  before(async () => {
    models = await startModelServer()
    models.otherwise(() => ({ tokens: ['I do not know, Anna.'] }))
    service = await startService({ ...models.settings, OPENAI_API_KEY: 'sk-test', RATE_LIMIT: '10000/10' })
    browser = await launchChromium()
    client = await service.account()
    const owner = await memberOf(service, client.accountId, 'owner')
    agentId = (await client.request('POST', '/agents', { name: 'Shop', instructions: 'Be kind.' })).body.id
    const source = { type: 'text', name: 'Warranty', content: WARRANTY }
    await trained(service, (await at('POST', '/sources', source)).body.id)
    await at('POST', '/contacts', {
      externalId: 'anna-1',
      name: 'Anna Berg',
      email: 'anna.berg@post.example',
    })
    const said = await at('POST', '/chat', {
      message: 'I am Anna Berg, anna.berg@post.example. How long is the warranty of the Halo lamp?',
      userId: 'anna-1',
      stream: false,
    })
    conversationId = said.body.data.metadata.conversationId
    await at('PATCH', `/conversations/${conversationId}/messages/${said.body.data.id}/feedback`, {
      feedback: 'negative',
    })
    page = await pageOf(browser, service, owner)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
  })

  const at: Client['request'] = (method, path, body) =>
    client.request(method, `/agents/${agentId}${path}`, body)
  const go = (path: string) => page.goto(`${service.url}/agents/${agentId}${path}`)
  const dialog = () => page.getByRole('dialog')

  test('an answer of a conversation becomes a case by one click, when its texts are confirmed', async () => {
    await go(`/conversations?open=${conversationId}`)
    await page.getByRole('button', { name: 'Make a test case' }).click()
    const asked = dialog().getByLabel('What the customer writes')
    await asked.waitFor()
    assert.equal(await asked.inputValue(), 'I am [name], [email]. How long is the warranty of the Halo lamp?')
    await dialog().getByText('I do not know, [name].').waitFor()
    await lookAt(page, 'case-from-conversation')
    assert.equal((await at('GET', '/answer-cases')).body.pagination.total, 0)
    await dialog().getByLabel('Name').fill('Warranty of the lamp')
    await asked.fill('How long is the warranty of the Halo lamp?')
    await dialog().getByLabel('The answer holds').fill('five years')
    await dialog().getByRole('button', { name: 'Confirm the case' }).click()
    await dialog().waitFor({ state: 'detached' })
    const [made] = (await at('GET', '/answer-cases')).body.data
    assert.deepEqual([made.name, made.conversationId], ['Warranty of the lamp', conversationId])
  })

  test('questions are written from the sources, with the cost said before, and chosen ones are added', async () => {
    const question = { question: 'For how long is the lamp insured against defects?', answer: 'five years' }
    models.otherwise(() => ({ tokens: [JSON.stringify(question)] }))
    await go('/evaluations?tab=answers')
    await page.getByRole('cell', { name: 'Warranty of the lamp', exact: true }).waitFor()
    await page.getByRole('button', { name: 'More cases' }).click()
    await page.getByRole('menuitem', { name: /From the sources/ }).click()
    await dialog()
      .getByText(/At most 1 call of/)
      .waitFor()
    await lookAt(page, 'cases-cost')
    await dialog().getByRole('button', { name: 'Write questions' }).click()
    await dialog().getByLabel(question.question).waitFor()
    await lookAt(page, 'cases-from-sources')
    await dialog().getByRole('button', { name: 'Add 1 case' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: question.question }).first().waitFor()
  })

  test('a simulated customer is described', async () => {
    await page.getByRole('button', { name: 'More cases' }).click()
    await page.getByRole('menuitem', { name: /A simulated customer/ }).click()
    await dialog().getByLabel('Name').fill('Impatient')
    await dialog().getByLabel('Who the customer is').fill('A guest in a hurry')
    await dialog().getByLabel('What the customer wants').fill('To know the warranty')
    await dialog().getByLabel('The most messages').fill('2')
    await lookAt(page, 'case-simulated')
    await dialog().getByRole('button', { name: 'Save the case' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByText('(simulated customer)').waitFor()
    // It is changed like any other, and nobody is played any more.
    await page.getByRole('button', { name: 'Actions for Impatient' }).click()
    await page.getByRole('menuitem', { name: 'Change' }).click()
    await dialog().getByLabel('A model plays the customer after that').uncheck()
    await dialog().getByRole('button', { name: 'Add a first message' }).click()
    await dialog().getByLabel('What the customer writes').fill('How long is the warranty?')
    await dialog().getByRole('button', { name: 'Save the case' }).click()
    await dialog().waitFor({ state: 'detached' })
    const { data } = (await at('GET', '/answer-cases')).body
    const changed = data.find(({ name }: { name: string }) => name === 'Impatient')
    assert.deepEqual([changed.customer, changed.messages], [undefined, ['How long is the warranty?']])
  })

  test('what would fix a failed test is proposed, changed and put into the draft', async () => {
    const fix = {
      kind: 'source',
      reason: 'No passage says it.',
      title: 'Repairs',
      text: 'Repairs take 12 days.',
      first: 0,
      firstQuote: '',
      second: 0,
      secondQuote: '',
    }
    models.otherwise(({ body }) => ({
      tokens: [JSON.stringify(body).includes('Find what would make') ? JSON.stringify(fix) : 'Two years.'],
    }))
    await page.getByRole('button', { name: 'Test the answers' }).click()
    await dialog()
      .getByRole('button', { name: /^Start/ })
      .click()
    await page.getByRole('button', { name: 'What would fix it?' }).first().click()
    await dialog().getByRole('button', { name: 'Look for it' }).click()
    await dialog().getByText('No passage says it.').waitFor()
    await dialog().getByText('Nothing that the model was given holds 12. Check it.').waitFor()
    await lookAt(page, 'fix')
    await dialog().getByLabel('Its text').fill('Repairs take ten days.')
    await dialog().getByRole('button', { name: 'Add it to the draft' }).click()
    await dialog().getByRole('button', { name: 'In the draft' }).waitFor()
    const draft = (await at('GET', '/draft')).body
    assert.deepEqual(
      draft.sources.map(({ name, isLive }: { name: string; isLive: boolean }) => [name, isLive]),
      [['Repairs', false]],
    )
    assert.equal((await at('GET', '/sources')).body.pagination.total, 1)
  })
})

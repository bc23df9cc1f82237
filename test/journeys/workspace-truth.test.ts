import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { brokenRules } from '../broken-rules.ts'
import { type MailServer, startMailServer } from '../fakes/mail-server.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

type World = { service: Service; client: Client; owner: Worker; agentId: string; sourceId: string }

/** Opens an account with a public agent that has learned one text. */
async function openWorld(env: Record<string, string>): Promise<World> {
  const service = await startService(env)
  const client = await service.account()
  const owner = await memberOf(service, client.accountId, 'owner')
  const agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
  await client.request('PUT', `/agents/${agentId}`, { visibility: 'public' })
  const source = { type: 'text', name: 'Warranty', content: 'The Halo lamp has a warranty of five years.' }
  const sourceId = (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id
  await trained(service, sourceId)
  return { service, client, owner, agentId, sourceId }
}

const QUESTION = 'How long is the warranty of the Halo lamp?'

describe('what the workspace and the chat say is true', { skip }, () => {
  let browser: Browser
  let models: ModelServer
  let smtp: MailServer
  let withModel: World
  let without: World

  before(async () => {
    browser = await launchChromium()
    models = await startModelServer()
    smtp = await startMailServer()
    const private_ = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }
    withModel = await openWorld({ ...models.settings, EMBEDDING_MODEL: 'vectors', ...private_ })
    without = await openWorld({})
  })
  after(async () => {
    await browser?.close()
    for (const world of [withModel, without]) await world?.service.close()
    await models?.close()
    await smtp?.close()
  })

  async function open({ service, owner, agentId }: World, path = ''): Promise<Page> {
    const page = await pageOf(browser, service, owner)
    await page.goto(`${service.url}/agents/${agentId}${path}`)
    return page
  }
  const health = (page: Page) => page.getByRole('region', { name: 'Health' })
  const line = (page: Page, text: RegExp) => health(page).getByRole('listitem').filter({ hasText: text })
  const good = (page: Page, text: RegExp) =>
    line(page, text).getByRole('img', { name: 'Good' }).or(line(page, text).getByLabel('Good')).count()

  test('a source that cannot be read is not healthy, and nobody has asked', async () => {
    const page = await open(withModel)
    await line(page, /1 source, \d+ B, trained/).waitFor()
    await page
      .getByRole('region', { name: 'Unanswered questions' })
      .getByText('Nobody has asked anything yet.')
      .waitFor()
    const { client, agentId } = withModel
    const link = { type: 'link', linkType: 'individual', url: 'http://10.0.0.1/prices' }
    await client.request('POST', `/agents/${agentId}/sources`, link)
    await until('the failure', async () => {
      await page.reload()
      await line(page, /source/)
        .first()
        .waitFor()
      return (await line(page, /could not be read: .* Correct the source/).count()) === 1
    })
    assert.equal(await good(page, /source/), 0)
    assert.deepEqual(await brokenRules(page), [])
    await line(page, /could not be read/)
      .getByRole('link')
      .click()
    await page.getByText('Failed').first().waitFor()
    await page.close()
  })

  test('a mailbox is connected only while its servers work, after a reload as well', async () => {
    const page = await open(withModel, '/deploy?tab=mail')
    const mailbox = page.getByRole('region', { name: 'Mailbox' })
    const badge = (words: string) => mailbox.locator('header').getByText(words, { exact: true }).waitFor()
    const receiving = page.getByRole('group', { name: 'Receiving (IMAP)' })
    const sending = page.getByRole('group', { name: 'Sending (SMTP)' })
    await page.getByLabel('Address', { exact: true }).fill('support@shop.example')
    for (const server of [receiving, sending]) {
      await server.getByLabel('Server').fill('127.0.0.1')
      await server.getByLabel('Security').selectOption('none')
      await server.getByLabel('Port').fill('1')
      await server.getByLabel('User name').fill('user')
      await server.getByLabel('Password').fill('secret')
    }
    await page.getByRole('button', { name: 'Connect and test' }).click()
    await badge('Not working')
    await page.reload()
    await badge('Not working')
    await mailbox.getByText('Sending: 127.0.0.1 refused the connection.').first().waitFor()
    assert.equal(await page.getByText('Connected', { exact: true }).count(), 0)

    await page.goto(`${withModel.service.url}/agents/${withModel.agentId}`)
    const failing = line(page, /The mailbox support@shop.example does not work/)
    await failing.getByText('refused the connection').waitFor()
    assert.equal(await good(page, /mailbox/), 0)
    await failing.getByRole('link', { name: 'Correct the settings' }).click()
    await receiving.getByLabel('Server').fill('')
    await sending.getByLabel('Port').fill(String(smtp.port))
    await sending.getByLabel('Password').fill('secret')
    await page.getByRole('button', { name: 'Save and test' }).click()
    await badge('Connected')
    await smtp.stop()
    await page.getByRole('button', { name: 'Test again' }).click()
    await badge('Not working')
    await smtp.start()
    await page.getByRole('button', { name: 'Test again' }).click()
    await badge('Connected')
    assert.deepEqual(await brokenRules(page), [])
    await page.goto(`${withModel.service.url}/agents/${withModel.agentId}`)
    await line(page, /mailbox/).waitFor()
    assert.equal(await good(page, /The mailbox support@shop.example works/), 1)
    await page.close()
  })

  test('models that fail are named until they answer again', async () => {
    const { client, agentId } = withModel
    const ask = () => client.request('POST', `/agents/${agentId}/chat`, { message: QUESTION, stream: false })
    // The question is embedded first.
    models.queue.push(
      { status: 400, errorMessage: 'no vectors' },
      { status: 400, errorMessage: 'no answers' },
    )
    await ask()
    const page = await open(withModel)
    await line(page, /The last call of the model fake failed: .*400: no answers/).waitFor()
    await line(page, /searched by their words alone: Embeddings "vectors" refused the request/)
      .getByRole('link', { name: 'Test it under Models' })
      .click()
    const told = page.getByRole('alert').filter({ hasText: /Embeddings "vectors" refused|no answers/ })
    await told.nth(1).waitFor()
    await page.getByRole('button', { name: 'Test all' }).click()
    await told.first().waitFor({ state: 'detached' })
    models.queue.push(
      { status: 400, errorMessage: 'no vectors' },
      { status: 400, errorMessage: 'no answers' },
    )
    await ask()
    await page.reload()
    await told.nth(1).waitFor()
    models.queue.push({ tokens: ['Five years [1].'] })
    assert.equal((await ask()).status, 200)
    await page.goto(`${withModel.service.url}/agents/${agentId}`)
    await line(page, /source/)
      .first()
      .waitFor()
    await page.getByText('None: the agent found something for every question.').waitFor()
    assert.equal(await line(page, /failed|only searched/).count(), 0)
    await page.close()
  })

  test('instructions that no model reads are said to have no effect yet', async () => {
    const NOT_READ = /built-in responder quotes the sources and does not follow instructions/
    const FOLLOWED = 'The next answer follows it.'
    const page = await open(without, '/instructions')
    await page.getByText(NOT_READ).waitFor()
    assert.equal(
      await page.getByRole('link', { name: 'How to connect a language model' }).first().getAttribute('href'),
      '/docs/operations/models.md',
    )
    await page.getByLabel('Instructions', { exact: true }).fill('You are Bea.')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. It has an effect once a language model answers.').waitFor()
    assert.equal(await page.getByText(FOLLOWED).count(), 0)
    assert.deepEqual(await brokenRules(page), [])
    await page.close()

    const compare = await open(withModel, '/playground?mode=compare')
    const column = (name: string) => compare.getByRole('region', { name: `Configuration ${name}` })
    await column('A').getByLabel('Model').selectOption('builtin')
    await column('A').getByText(NOT_READ).waitFor()
    assert.equal(await column('B').getByText(NOT_READ).count(), 0)
    await compare.close()
  })

  test('a visitor is never told that nobody is there while a person has the chat, and sees who answers', async () => {
    const { service, client, agentId } = without
    const sam = await memberOf(service, client.accountId, 'support')
    const visitor = await pageOf(browser, service)
    await visitor.goto(`${service.url}/widget/${agentId}`)
    const say = async (text: string) => {
      await visitor.getByLabel('Message', { exact: true }).fill(text)
      await visitor.getByRole('button', { name: 'Send', exact: true }).click()
      await visitor.getByRole('log').getByText(text).waitFor()
    }
    const nobody = () => visitor.getByText('Nobody is here right now').count()
    await say(QUESTION)
    await visitor.getByText('five years').first().waitFor()
    const { id } = await service.ctx.db.selectFrom('conversations').select('id').executeTakeFirstOrThrow()
    // A program takes over for a member who has never said that they are there.
    const { ticketNumber } = (
      await client.request('POST', `/agents/${agentId}/conversations/${id}/takeover`, {
        memberId: sam.memberId,
      })
    ).body.data
    await visitor.getByRole('banner').getByText('support is answering').waitFor()
    await visitor.getByText('support has joined the conversation').waitFor()
    await say('Is anybody there?')
    await until('the message is stored', async () => {
      const messages = service.ctx.db.selectFrom('messages').where('conversation_id', '=', id)
      return (await messages.select('id').execute()).length === 3
    })
    assert.equal(await nobody(), 0)

    const page = await open(without, `/inbox?ticket=${ticketNumber}`)
    await page.getByRole('button', { name: 'You are away' }).click()
    const choices = page.getByRole('menuitem')
    await choices.filter({ hasText: 'Available' }).waitFor()
    assert.deepEqual(
      (await choices.allInnerTexts()).map((text) => text.split('\n')[0]),
      ['Available', 'Away'],
    )
    await page.keyboard.press('Escape')
    await page.getByLabel('Reply to the customer').fill('The owner here.')
    await page.getByRole('button', { name: 'Send the reply' }).click()
    await visitor.getByText('The owner here.').waitFor()
    await visitor.getByRole('banner').getByText('owner is answering').waitFor()
    // Replying counts as being there.
    await page.getByRole('button', { name: 'You are available' }).waitFor()
    await say('Thank you!')
    assert.equal(await nobody(), 0)
    assert.equal(await visitor.getByText('has joined the conversation').count(), 0)
    assert.deepEqual(await brokenRules(visitor), [])

    await page.getByLabel('Assigned to').selectOption('')
    await page.getByText('Unassigned by owner').waitFor()
    assert.equal(await page.getByText('by API').count(), 0)
    await page.close()
    await visitor.close()
  })
})

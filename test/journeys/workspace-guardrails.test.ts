import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { countModelUse } from '../../server/accounts/plans/model-usage.ts'
import { refreshDays } from '../../server/conversations/insights/days/refresh-days.ts'
import { newId } from '../../server/platform/db/ids.ts'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('what an agent may spend and say', { skip }, () => {
  let service: Service
  let browser: Browser
  let client: Client
  let owner: Worker
  let page: Page
  let agentId: string

  before(async () => {
    service = await startService()
    browser = await launchChromium()
    client = await service.account()
    owner = await memberOf(service, client.accountId, 'owner')
    agentId = (await client.request('POST', '/agents', { name: 'Shop' })).body.id
    const day = { calls: 3, inputTokens: 9_000, cachedTokens: 0, outputTokens: 900, reasoningTokens: 0 }
    await countModelUse(service.ctx.db, { accountId: client.accountId, agentId }, 'answer', {
      model: 'gpt',
      ...day,
      dollars: 4.2,
    })
    await countModelUse(service.ctx.db, { accountId: client.accountId, agentId }, 'title', {
      model: 'own',
      ...day,
      dollars: null,
    })
    page = await pageOf(browser, service, owner)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
  })

  const go = (path: string) => page.goto(`${service.url}${path}`)
  const guardrails = async () => (await client.request('GET', `/agents/${agentId}/guardrails`)).body
  const section = (title: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) })
  const isSound = async () => assert.deepEqual(await brokenRules(page, { iframes: false }), [])
  /** Takes a screenshot where somebody wants to look at it. */
  const shoot = async (name: string): Promise<void> => {
    const folder = process.env.SCREENS
    if (!folder) return
    await mkdir(folder, { recursive: true })
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 860 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true })
    }
    await page.setViewportSize({ width: 1280, height: 860 })
    await page.emulateMedia({ colorScheme: 'light' })
  }

  test('the owner sets a budget, sees what is spent, and Health says when it is used up', async () => {
    await go(`/agents/${agentId}/settings`)
    const budget = section('Budget')
    await budget.getByText('$4.20 this month, and 3 calls whose price is not known').waitFor()
    await budget.getByLabel('Limit the money of a month').check()
    await budget.getByLabel('Dollars a month').fill('4')
    await budget.getByLabel('When all of it is spent').selectOption('stop')
    await isSound()
    await budget.getByRole('button', { name: 'Save the budget' }).click()
    await until('the budget', async () => (await guardrails()).budget?.dollars === 4)
    assert.deepEqual((await guardrails()).budget, { dollars: 4, alertShare: 0.8, atLimit: 'stop' })
    await budget.getByText('$4.20 of $4.00 this month').waitFor()
    await shoot('settings')
    await go(`/agents/${agentId}`)
    await page.getByRole('link', { name: '$4.20 of the budget of $4.00 this month' }).waitFor()
    await page.getByText('it calls no model until the month ends').waitFor()
    await isSound()
    await shoot('health')
  })

  test('forbidden topics are written, changed and removed', async () => {
    await go(`/agents/${agentId}/settings`)
    const topics = section('Forbidden topics')
    await topics.getByText('There are none.').waitFor()
    for (const [at, topic] of ['Legal advice', 'Other shops'].entries()) {
      await topics.getByRole('button', { name: 'Add a topic' }).click()
      await topics.getByLabel('Topic', { exact: true }).nth(at).fill(topic)
    }
    await topics.getByLabel('What it says instead').first().fill('Please ask your lawyer.')
    await topics.getByLabel('Pass the conversation to a person').first().check()
    await isSound()
    await shoot('topics')
    await topics.getByRole('button', { name: 'Save the topics' }).click()
    const law = { topic: 'Legal advice', say: 'Please ask your lawyer.', escalate: true }
    await until('the topics', async () => (await guardrails()).forbiddenTopics.length === 2)
    assert.deepEqual((await guardrails()).forbiddenTopics, [
      law,
      { topic: 'Other shops', say: null, escalate: false },
    ])
    await page.getByRole('button', { name: 'Remove topic 2' }).click()
    await topics.getByRole('button', { name: 'Save the topics' }).click()
    await until('the removal', async () => (await guardrails()).forbiddenTopics.length === 1)
    assert.deepEqual((await guardrails()).forbiddenTopics, [law])
  })

  test('the owner chooses what happens to answers with values that the model was not given', async () => {
    await go(`/agents/${agentId}/settings`)
    const answers = section('Values that the model was not given')
    await answers.getByLabel('Answers by mail and messaging that have some').selectOption('hold')
    await answers.getByRole('button', { name: 'Save the choice' }).click()
    await until('the choice', async () => (await guardrails()).ungrounded === 'hold')
    assert.equal((await guardrails()).budget.dollars, 4, 'the rest stays')
  })

  test('the use of models is a chart with axes and a file', async () => {
    await go('/workspace?tab=usage')
    const models = section('Language models')
    await models
      .getByRole('img', { name: /^Money by day: \$4\.20 in 30 days, at most \$4\.20 on / })
      .waitFor()
    const axis = models.getByRole('list', { name: 'Values of money' })
    assert.deepEqual(await axis.getByRole('listitem').allTextContents(), ['$5.00', '$2.50', '$0.00'])
    await models.getByText('The price does not include 3 calls').waitFor()
    await isSound()
    await shoot('usage')
    await models.getByLabel('What the chart shows').selectOption('Calls')
    await models.getByRole('img', { name: /^Calls by day: 6 in 30 days, at most 6 on / }).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      models.getByRole('button', { name: 'CSV' }).click(),
    ])
    const lines = (await readFile(await file.path(), 'utf8')).replace('\uFEFF', '').trim().split('\r\n')
    assert.match(lines[0] ?? '', /^day,agentId,agentName,kind,model,purpose,/)
    assert.match(lines[1] ?? '', /Shop,model,gpt,answer,,,3,,9000,0,900,0,4\.2,0$/)
    assert.match(lines[2] ?? '', /Shop,model,own,title,,,3,,9000,0,900,0,,3$/)
  })

  test('insights say how answers ended', async () => {
    await client.request('POST', `/agents/${agentId}/chat`, { message: 'Who are you?', stream: false })
    await until('the figures', async () => {
      await refreshDays(service.ctx.db)
      const { totals } = (await client.request('GET', `/agents/${agentId}/insights`)).body
      return Object.values(totals.outcomes).some((count) => count === 1)
    })
    await go(`/agents/${agentId}/insights`)
    await section('How answers ended').getByRole('listitem').first().waitFor()
    await isSound()
    await shoot('insights')
  })

  test('a member sends a held answer as a reply, after a change, or discards it', async () => {
    const { db } = service.ctx
    const desk = `/agents/${agentId}/helpdesk/tickets`
    const opened = { subject: 'Late', description: 'Where is it?', customer: { email: 'eve@example.org' } }
    const made = await client.request('POST', desk, opened)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { ticketNumber } = made.body
    const look = { content: 'Look', authorEmail: owner.email }
    const { status, body: first } = await client.request('POST', `${desk}/${ticketNumber}/notes`, look)
    assert.equal(status, 201, JSON.stringify(first))
    const held = { messageId: newId(), ungrounded: [{ kind: 'number', text: '47' }] }
    const texts = ['It costs 47 euros.', 'It takes 47 days.', 'Call 47.']
    const [asItIs = '', changed = '', discarded = ''] = texts
    for (const text of texts)
      await sql`
        insert into ticket_messages (id, account_id, agent_id, ticket_id, type, sender, content, content_text,
          attachments, metadata)
        select ${newId()}::uuid, account_id, agent_id, ticket_id, type, sender, ${text}, ${text}, attachments,
          ${JSON.stringify({ held })}::jsonb
        from ticket_messages where account_id = ${client.accountId} and id = ${first.id}`.execute(db)
    const outcomeOf = async (text: string) => {
      const { data } = (await client.request('GET', `${desk}/${ticketNumber}/messages?types=note`)).body
      return data.find((note: { contentText: string }) => note.contentText === text).metadata.held.outcome
    }
    await go(`/agents/${agentId}/inbox?ticket=${ticketNumber}`)
    const note = (text: string) => page.getByRole('article', { name: /^Note/ }).filter({ hasText: text })
    const write = page.getByRole('region', { name: 'Write' })
    await note(asItIs).getByRole('button', { name: 'Use as reply' }).click()
    const field = write.getByLabel('Reply to the customer')
    await until('the text', async () => (await field.inputValue()) === asItIs)
    await isSound()
    await shoot('held')
    await write.getByRole('button', { name: 'Send the reply' }).click()
    await until('the first outcome', async () => (await outcomeOf(asItIs))?.what === 'sent')
    await note(asItIs).getByText('Sent as it was by owner').waitFor()
    await note(changed).getByRole('button', { name: 'Use as reply' }).click()
    await until('the second text', async () => (await field.inputValue()) === changed)
    await field.fill('It takes 4 days.')
    await write.getByRole('button', { name: 'Send the reply' }).click()
    await until('the second outcome', async () => (await outcomeOf(changed))?.what === 'changed')
    await note(discarded).getByRole('button', { name: 'Discard' }).click()
    await until('the third outcome', async () => (await outcomeOf(discarded))?.what === 'discarded')
    await note(discarded).getByText('Discarded by owner').waitFor()
    await shoot('held-settled')
  })

  test('a question is given a fixed answer, which the list of sources keeps', async () => {
    await go(`/agents/${agentId}/sources`)
    await page.getByRole('button', { name: 'Add' }).first().click()
    await page.getByRole('menuitem', { name: /Question/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Question').fill('When are you open?')
    await dialog.getByLabel('Answer', { exact: true }).fill('At nine.')
    await dialog.getByLabel('Give exactly this answer').check()
    await isSound()
    await shoot('fixed')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    const { data } = (await client.request('GET', `/agents/${agentId}/sources`)).body
    assert.deepEqual([data.length, data[0].fixed], [1, true])
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findBrowser } from '../find-browser.ts'
import { answered, idle, openChat, openWidgetHome, say, visit } from '../widget-home.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the widget in a browser.'

describe('a model that thinks for a while', () => {
  let home: Awaited<ReturnType<typeof openWidgetHome>>

  before(async () => {
    if (!skip) home = await openWidgetHome()
  })
  after(() => home?.close())

  test('the chat says that it is thinking until the first word, and again between actions', {
    skip,
  }, async () => {
    const agentId = await home.agent()
    const action = { name: 'ask_people', type: 'escalate', description: 'Asks a person.', enabled: true }
    const { status } = await home.client.request('POST', `/agents/${agentId}/actions`, action)
    assert.equal(status, 201)
    const visitor = await visit(home)
    await openChat(visitor)
    const thinking = visitor.chat.getByText('Thinking …')
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    home.models.queue.push(
      {
        after: first.promise,
        reasoning: 'A person has to look.',
        tokens: ['One moment, please.'],
        toolCalls: [
          { id: 'call-1', name: 'ask_people', input: { subject: 'A lamp', summary: 'It is broken.' } },
        ],
      },
      { after: second.promise, reasoning: 'That was done.', tokens: ['Our team has been told.'] },
    )
    await say(visitor, 'My lamp is broken.')
    await thinking.waitFor()
    first.resolve()
    // What the model says between its calls is shown at once.
    await answered(visitor, 'One moment, please.')
    await thinking.waitFor()
    second.resolve()
    await answered(visitor, 'Our team has been told.')
    await idle(visitor)
    assert.equal(await thinking.count(), 0)
    assert.equal(await visitor.chat.getByText('One moment, please.').count(), 1)
    assert.equal(await visitor.chat.getByText('A person has to look.').count(), 0)
    await visitor.context.close()
  })
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { inspect } from 'node:util'
import { until } from '../../../test/until.ts'
import { askForText, type SideCall } from '../calls/call-model.ts'
import { ModelFailure } from '../failures/model-failure.ts'
import {
  chunk,
  END,
  event,
  finishOf,
  type RawServer,
  sendForEver,
  startRawServer,
  stream,
  textOf,
} from './fixtures/raw-server.ts'

let server: RawServer

before(async () => {
  server = await startRawServer()
})
after(() => server.close())

const failsAs = (kind: string) => (error: unknown) => {
  assert.ok(error instanceof ModelFailure, `${error}`)
  assert.equal(error.kind, kind, `${error.cause}`)
  return true
}

test('a finish reason without an end marker on an open connection ends the answer', async () => {
  const { count } = server.closed
  server.answerWith(async (response) => {
    stream(response).write(chunk({ content: 'Hello' }) + chunk({}, 'stop'))
    await wait(50)
    response.write(event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }))
  })
  const parts = await server.call('own')
  assert.equal(textOf(parts), 'Hello')
  const finish = parts.at(-1)
  assert.ok(finish?.type === 'finish')
  assert.equal(finish.usage.outputTokens.total, 2)
  await until('the end of the connection', () => server.closed.count > count)
})

test('a connection that continues after the end marker is closed', async () => {
  const { count } = server.closed
  server.answerWith(async (response) => {
    stream(response).write(chunk({ content: 'Hello' }) + END)
    await sendForEver(response, ': still here\n\n')
  })
  assert.equal(finishOf(await server.call('own')), 'stop')
  await until('the end of the connection', () => server.closed.count > count)
})

test('reasoning for longer than the first-token timeout is not a timeout', async () => {
  for (const name of ['reasoning_content', 'reasoning', 'thinking']) {
    server.answerWith(async (response) => {
      stream(response)
      for (let i = 0; i < 8; i++) {
        response.write(chunk({ [name]: 'Hm. ' }))
        await wait(100)
      }
      response.end(chunk({ content: 'Hello' }) + END)
    })
    const parts = await server.call('hasty')
    assert.equal(textOf(parts), 'Hello')
    assert.equal(parts.filter(({ type }) => type === 'reasoning-delta').length, 8)
  }
})

test('comments count as progress, but not against the total time', async () => {
  server.answerWith(async (response) => {
    stream(response)
    for (let i = 0; i < 8; i++) {
      response.write(': OPENROUTER PROCESSING\n\n')
      await wait(100)
    }
    response.end(chunk({ content: 'Hello' }) + END)
  })
  assert.equal(textOf(await server.call('hasty')), 'Hello')
  server.answerWith(async (response) => {
    stream(response)
    while (!response.destroyed) {
      response.write(': OPENROUTER PROCESSING\n\n')
      await wait(50)
    }
  })
  await assert.rejects(server.call('short'), failsAs('timeout'))
})

test('a connection that breaks after the finish reason is not a failure', async () => {
  server.answerWith(async (response) => {
    stream(response).write(chunk({ content: 'Hello' }) + chunk({}, 'stop'))
    await wait(50)
    response.destroy()
  })
  assert.equal(finishOf(await server.call('own')), 'stop')
})

test('data that a server wants back with a call is sent with it', async () => {
  server.answerWith((response) => stream(response).end(chunk({ content: 'Hello' }) + END))
  const extra_content = { google: { thought_signature: 'EjQ' } }
  await server.call('own', {
    prompt: [
      { role: 'user', content: [{ type: 'text', text: 'Hello?' }] },
      {
        role: 'assistant',
        content: [
          {
            type: 'tool-call',
            toolCallId: 'a',
            toolName: 'weather',
            input: {},
            providerOptions: { openaiCompatible: { extra_content } },
          },
        ],
      },
    ],
  })
  assert.deepEqual(JSON.parse(server.requests[0]!).messages[1].tool_calls[0].extra_content, extra_content)
})

test('a short text is requested, and anything longer is discarded', async () => {
  const ask = { system: 'Name it.', user: 'Something', maxOutputTokens: 40, longest: 20 }
  const { signal } = new AbortController()
  const asker = { accountId: 'a', agentId: 'b', purpose: 'title' as const }
  server.answerWith((response) =>
    stream(response).end(chunk({ content: 'A ' }) + chunk({ content: 'title' }) + END),
  )
  assert.equal(await askForText(server.models, asker, server.models.resolve('own')!, ask, signal), 'A title')
  const { count } = server.closed
  server.answerWith(async (response) => {
    stream(response)
    await sendForEver(response, chunk({ content: 'and so on ' }))
  })
  assert.equal(await askForText(server.models, asker, server.models.resolve('own')!, ask, signal), null)
  await until('the end of the connection', () => server.closed.count > count)
})

test('the tokens of a short text are estimated when the provider does not get to tell them', async () => {
  const calls: SideCall[] = []
  const ask = { system: 'Name it.', user: 'Something', maxOutputTokens: 40, longest: 200 }
  const { signal } = new AbortController()
  const asker = { accountId: 'a', agentId: 'b', purpose: 'title' as const }
  const fail = async (id: string) => {
    const desk = { noteCall: (call: SideCall) => void calls.push(call) }
    await assert.rejects(askForText(desk, asker, server.models.resolve(id)!, ask, signal), ModelFailure)
    const { use } = calls.at(-1)!
    return [use.inputTokens > 0, use.outputTokens > 0]
  }
  server.answerWith((response) => void stream(response).write(chunk({ content: 'A long title' })))
  assert.deepEqual(await fail('short'), [true, true], 'it is never finished')
  server.answerWith((response) => void stream(response).write(': wait\n\n'))
  assert.deepEqual(await fail('short'), [true, false], 'it is never begun')
  server.answerWith(async (response) => {
    stream(response).write(chunk({ content: 'A long title' }))
    await wait(50)
    response.destroy()
  })
  assert.deepEqual(await fail('own'), [true, true], 'the connection breaks')
  server.answerWith((response) => response.writeHead(400).end('{}'))
  assert.deepEqual(await fail('own'), [false, false], 'it is refused')
})

test('the log says what can be done', async () => {
  const says = async (status: number, body: string, expected: RegExp): Promise<void> => {
    server.answerWith((response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    )
    for (const id of ['own', 'package']) {
      await assert.rejects(server.call(id), (error: unknown) => {
        assert.match(inspect((error as ModelFailure).cause), expected, id)
        return true
      })
    }
  }
  await says(404, '{"error":{"message":"model \\"x\\" not found"}}', /Check name and baseUrl/)
  await says(401, '{"error":{"message":"no"}}', /Check the key/)
  await says(400, '{"error":{"message":"maximum context length is 4096"}}', /Lower contextTokens/)
  await says(429, '{"error":{"message":"slow down"}}', /higher limits/)
})

test('an error with an endless explanation is still reported', async () => {
  server.answerWith((response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).write('{"error":'),
  )
  await assert.rejects(server.call('own'), failsAs('rejected'))
})

test('a fault of our own is not a provider failure', async () => {
  const options = { providerOptions: { parley: { question: 7 } as never } }
  await assert.rejects(server.call('builtin', options), TypeError)
})

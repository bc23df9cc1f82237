import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { answersAsked, type ModelHome, startModelHome } from '../../../test/model-home.ts'
import { until } from '../../../test/until.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { estimateTokens } from '../../platform/text/languages/language.ts'
import { storeEdit } from '../records/change-message.ts'
import { tokenRatio } from './build-prompt.ts'

const SUMMARY = 'The customer counted.'
const NOTHING = { history_summary: null, summarised_seq: 0 }
let home: ModelHome
/** What the provider counts for each token that is estimated; null if it counts nothing. */
let counts: number | null
before(async () => {
  home = await startModelHome({}, { contextTokens: 6_000 })
  home.server.otherwise(({ body }) => {
    const read = counts === null ? 0 : Math.round(counts * estimateTokens(JSON.stringify(body)))
    const isSummary = JSON.stringify(body).includes('Summarise this conversation')
    return { tokens: [isSummary ? SUMMARY : 'Yes.'], usage: [read, 5] }
  })
})
after(() => home.close())

async function conversation() {
  const { client, server, service } = home
  const agentId = await home.agentOf('openai-compatible')
  let conversationId: string | undefined
  const ask = async (path: string, sent: object) => {
    const answer = await client.request('POST', `/agents/${agentId}/${path}`, { ...sent, stream: false })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const { id, metadata } = answer.body.data
    conversationId = metadata.conversationId
    const { messages } = answersAsked(server).at(-1)!.body
    const history: string[] = messages.slice(1).map(({ content }: { content: string }) => content)
    return { id: id as string, askedId: metadata.userMessageId as string, history }
  }
  return {
    stored: () =>
      service.ctx.db
        .selectFrom('conversations')
        .select(['history_summary', 'summarised_seq'])
        .where('id', '=', conversationId!)
        .executeTakeFirstOrThrow(),
    say: (message: string) => ask('chat', { message, conversationId }),
    retry: (messageId: string) => ask(`conversations/${conversationId}/retry`, { messageId }),
    /** Edits a message as a channel does. */
    edit: (id: string, text: string) =>
      transact(service.ctx.db, (trx) =>
        storeEdit(trx, client.accountId as never, id, { text, editedAt: new Date().toISOString() }),
      ),
  }
}

/** A long message of about 400 tokens as they are estimated. */
const long = (number: number): string => `Number ${number}: ${'four '.repeat(280)}`

test('the history is fitted by what the provider counts', async () => {
  const lengths: number[][] = []
  for (const now of [null, 1, 3]) {
    counts = now
    const talk = await conversation()
    const turns: number[] = []
    for (const number of [1, 2, 3, 4]) turns.push((await talk.say(long(number))).history.length)
    lengths.push(turns)
  }
  assert.deepEqual(lengths.slice(0, 2), [
    [1, 3, 5, 7],
    [1, 3, 5, 7],
  ])
  assert.ok(lengths[2]!.at(-1)! < 5, String(lengths[2]))
})

/** A conversation of which the first message is in the summary, and the ids of that message and of its answer. */
async function summarised() {
  counts = 3
  const talk = await conversation()
  const first = await talk.say(long(1))
  await talk.say(long(2))
  await talk.say(long(3))
  await until('the summary', async () => (await talk.stored()).history_summary === SUMMARY)
  return { ...talk, first }
}

test('what does not fit by its tokens is summarised, and a retry of it forgets the summary', async () => {
  const talk = await summarised()
  const { history } = await talk.say('short')
  assert.match(history[0]!, /^<earlier>\nThe customer counted\.\n<\/earlier>\n\nNumber [23]/)
  assert.deepEqual((await talk.say('again')).history.slice(0, history.length - 1), history.slice(0, -1))
  const again = await talk.retry(talk.first.id)
  assert.equal(again.history.length, 1)
  assert.doesNotMatch(again.history[0]!, /earlier/)
  assert.deepEqual(await talk.stored(), NOTHING)
})

test('an edit of what is summarised forgets the summary, which is made again of the new words', async () => {
  const talk = await summarised()
  await talk.edit(talk.first.askedId, 'I meant two lamps.')
  assert.deepEqual(await talk.stored(), NOTHING)
  const { history } = await talk.say('short')
  assert.doesNotMatch(JSON.stringify(history), /earlier/)
  await until('another summary', async () => (await talk.stored()).history_summary === SUMMARY)
  const asked = home.server.requests.map(({ body }) => JSON.stringify(body))
  assert.match(asked.findLast((body) => body.includes('Summarise this'))!, /I meant two lamps/)
})

test('a count that is none, or of a request with a picture, tells nothing', () => {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'word '.repeat(700) }] }]
  const estimated = estimateTokens(JSON.stringify([prompt, []]))
  assert.equal(tokenRatio({ prompt }, null), null)
  assert.equal(tokenRatio({ prompt }, 7), null)
  assert.equal(tokenRatio({ prompt }, 0), null)
  assert.equal(tokenRatio({ prompt }, Math.floor(0.7 * estimated)), 0.75)
  assert.equal(tokenRatio({ prompt }, estimated), 1)
  assert.equal(tokenRatio({ prompt }, Math.floor(2.9 * estimated)), 3)
  assert.equal(tokenRatio({ prompt }, 1e9), 10)
  const data = { type: 'data' as const, data: new Uint8Array(1) }
  const file = { type: 'file' as const, mediaType: 'image/png', data }
  assert.equal(tokenRatio({ prompt: [{ role: 'user', content: [file] }] }, 100), null)
})

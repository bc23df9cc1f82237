import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { addDemoAgent, DEMO_QUESTIONS } from './demo-agent.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = await addDemoAgent(service.ctx, client.accountId)
})
after(() => service.close())

async function ask(message: string): Promise<{ outcome: string; text: string }> {
  const { body } = await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })
  return { outcome: body.data.metadata.outcome, text: body.data.parts[0].text }
}

const SUGGESTED = [
  [/multipart\/form-data/, /-F file=@/],
  [/Paste this before `<\/body>`/, /<script src="https:\/\/YOUR-HOST\/widget\.js" data-agent="AGENT_ID"/],
  [/Nothing is lost/, /Last-Event-ID/],
]

test('the suggested questions of the demo agent are answered with the steps to take', async () => {
  for (const [at, question] of DEMO_QUESTIONS.entries()) {
    const { outcome, text } = await ask(question)
    assert.equal(outcome, 'answered', question)
    for (const expected of SUGGESTED[at]!) assert.match(text, expected)
  }
})

/** Questions of newcomers in their own words, and what the answers must contain. */
const NEWCOMERS: [string, RegExp][] = [
  ['How do I crawl a website?', /"linkType": "crawl"/],
  ['How do I create an API key?', /keys create --name/],
  ['How do I invite a colleague?', /choose Invite/],
  ['How do I revoke an API key?', /keys revoke ID/],
  ['How do I remove a team member?', /member remove ID/],
  ['How do I reset my password?', /Forgot your password/],
  ['How do I connect WhatsApp?', /access token/],
  ['How do I change the colours of the chat?', /styles/],
  ['How do I back up my data?', /parley -- backup FILE/],
  ['How do I delete the data of a user?', /POST \/users\/erase/],
  ['How do I correct a wrong answer?', /your words become a source/],
  ['How large can a file be?', /20 MB/],
  ['How do I hand over to a human?', /escalate/],
  ['Can I run it with Docker?', /compose/],
  ['How do I change the port?', /PORT=9000/],
  ['Do I need an OpenAI key?', /Without a model the built-in responder answers/],
  ['Where are uploaded files stored?', /DATA_DIR/],
  ['How do I upload a file?', /drop the file/],
  ['How do I use Claude?', /MODELS_FILE/],
  ['How do I collect email addresses of visitors?', /collect-leads/],
  ['Does it work offline?', /need no connection/],
]

test("most newcomers' questions are answered with the steps to take", async () => {
  const missed: string[] = []
  for (const [question, expected] of NEWCOMERS) {
    const { outcome, text } = await ask(question)
    if (outcome !== 'answered' || !expected.test(text)) missed.push(question)
  }
  assert.ok(missed.length <= NEWCOMERS.length / 5, missed.join('\n'))
})

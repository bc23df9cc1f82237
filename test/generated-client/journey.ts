import * as api from './api.ts'

/** A program that knows the service only by its OpenAPI document. openapi.once.test.ts compiles and runs it. */
const [root = '', key = ''] = process.argv.slice(2)
api.defaults.baseUrl = `${root}/api/v2`
api.defaults.headers = { authorization: `Bearer ${key}` }

function answered<A extends { status: number; data?: unknown }, S extends A['status']>(
  answer: A,
  status: S,
): Extract<A, { status: S }> {
  if (answer.status !== status) throw new Error(`${answer.status} ${JSON.stringify(answer.data)}`)
  return answer as Extract<A, { status: S }>
}

const { id } = answered(await api.createAgent({ name: 'Lamps' }), 201).data
answered(await api.updateAgent(id, { suggestedMessages: [{ type: 'single', text: 'Hello', order: 0 }] }), 200)
const agent: api.Agent = answered(await api.readAgent(id), 200).data
const suggested = agent.suggestedMessages?.[0]
if (suggested?.type !== 'single' || suggested.text !== 'Hello') throw new Error('not as it was written')

const source = await api.createSource(id, {
  type: 'text',
  name: 'Warranty',
  content: 'Lamps have two years.',
})
const stored: api.Source = answered(source, 201).data
if (stored.metadata !== null) throw new Error('a text has no metadata')

const chat = answered(await api.chat(id, { message: 'Hello', stream: false, userId: 'ann' }), 200).data
if (!('data' in chat)) throw new Error('not a JSON answer')
const { conversationId, score, userId } = chat.data.metadata
const said = chat.data.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
if (said === '' || userId !== 'ann' || (score !== null && score > 1)) throw new Error(JSON.stringify(chat))

const page = answered(await api.listConversations(id, { limit: 1 }), 200).data
const conversation: api.Conversation | undefined = page.data[0]
if (conversation?.id !== conversationId || page.pagination.total !== 1) throw new Error(JSON.stringify(page))
const exported = answered(await api.exportConversations(id, { conversationId }), 200).data.data[0]
if (exported?.embedOrigin !== null || exported.messages?.length !== 2)
  throw new Error(JSON.stringify(exported))

const ticket = await api.createTicket(id, {
  subject: 'Broken',
  description: 'It does not light.',
  customer: { email: 'ann@example.com' },
})
const { ticketNumber, assigneeId }: api.Ticket = answered(ticket, 201).data
if (ticketNumber !== 1 || assigneeId !== null) throw new Error(JSON.stringify(ticket))

const missing = answered(await api.readAgent('nobody'), 404).data
if (missing.error.code !== 'AGENT_NOT_FOUND') throw new Error(missing.error.code)

const older = { baseUrl: `${root}/api/v1` }
const text = answered(
  await api.v1Chat({ chatbotId: id, messages: [{ role: 'user', content: 'Hello' }] }, {}, older),
  200,
).data
if (typeof text === 'string' || text.text === '') throw new Error(JSON.stringify(text))
answered(await api.v1ListConversations(id, {}, older), 200)

/** Returns the text of a stream event. The generated type discriminates the kinds of events. */
export const wordsIn = (event: api.StreamEvent): string => (event.type === 'text-delta' ? event.delta : '')

process.stdout.write('done\n')

import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { plainScript } from '../conversation-model/commands.ts'
import { SECRETS } from '../raw-routes.ts'
import { ask, type GuardedWorld } from './guarded-world.ts'

/** An account that has one of everything that an id in a request can refer to, made over HTTP. */
export type Tenant = {
  accountId: string
  key: string
  /** A text that is part of every text of the account, and that no request of another account contains. */
  secret: string
  /** The ids by the names of the parameters and fields that take them. */
  ids: Record<string, string>
  /** The distinct ids, one of each kind. */
  kinds: string[]
  /** Ids of the account that no request of another account contains. */
  unsent: string[]
}

/** Fills a new account. `mark` is part of the names by which requests refer to objects. */
export async function fillTenant(world: GuardedWorld, mark: string): Promise<Tenant> {
  const { id: accountId = '' } = await world.command(
    'account',
    'create',
    '--name',
    mark,
    '--plan',
    'enterprise',
  )
  const { key = '' } = await world.command('keys', 'create', '--account', accountId, '--name', mark)
  const email = `member@${mark}.example`
  const { id: memberId = '' } = await world.command(
    'member',
    'create',
    '--account',
    accountId,
    '--email',
    email,
    '--name',
    mark,
  )
  const secret = `secret${randomBytes(6).toString('hex')}`
  const url = world.services[0]?.url ?? ''
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(url, key, method, path.startsWith('/api/') ? path : `/api/v2${path}`, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body?.data ?? answer.body
  }
  const agentId: string = (await call('POST', '/agents', { name: `Agent ${secret}`, visibility: 'public' }))
    .id
  const agent = `/agents/${agentId}`
  const make = async (path: string, body: object): Promise<string> =>
    (await call('POST', `${agent}${path}`, body)).id
  const twice = async (path: string, body: (n: number) => object): Promise<[string, string]> => [
    await make(path, body(1)),
    await make(path, body(2)),
  ]
  const inputs = { type: 'object', properties: {} }
  const [sourceId, otherSource] = await twice('/sources', (n) => ({
    type: 'text',
    name: `${secret} ${n}`,
    content: `${secret} is ${n}.`,
  }))
  const [setId, otherSet] = await twice('/evaluation-sets', (n) => ({ name: `${secret} ${n}` }))
  const [evaluationId] = await twice('/evaluations', (n) => ({
    question: `${secret}? ${n}`,
    expectedSourceId: sourceId,
    setId,
  }))
  const runId = await make('/evaluation-runs', { note: secret })
  const caseId = await make('/answer-cases', {
    name: secret,
    messages: [secret],
    expect: { holds: [secret] },
  })
  const answerRunId = await make('/answer-runs', { note: secret })
  await call('PUT', `${agent}/answer-schedule`, { every: 'day', hour: 3, caseIds: [caseId] })
  const [actionId, otherAction] = await twice('/actions', (n) => ({
    name: n === 1 ? 'show_order' : `look_${mark}`,
    type: 'client',
    description: secret,
    inputs,
  }))
  const [procedureId] = await twice('/procedures', (n) => ({
    name: `${mark} ${n}`,
    trigger: secret,
    steps: [secret],
  }))
  const [contactId, intoContactId] = await twice('/contacts', (n) => ({
    externalId: `${mark}-${n}`,
    name: secret,
    email: `customer-${n}@${mark}.example`,
  }))
  const [topicId, intoTopicId] = await twice('/topics', (n) => ({ name: `${mark} ${n}` }))
  const [teamId] = await twice('/helpdesk/teams', (n) => ({ name: `${secret} ${n}` }))
  const statusId = await make('/helpdesk/ticket-statuses', { category: 'on_hold', internalLabel: secret })
  const [tagId] = await twice('/helpdesk/tags', (n) => ({ name: `${secret} ${n}` }))
  const { id: viewId } = await call('POST', '/inbox/views', { name: secret, owner: 'all', query: {} })
  const cannedReplyId = await make('/helpdesk/canned-replies', { name: secret, content: secret })
  await call('POST', `/api/v1/chatbots/${agentId}/custom-attributes`, { name: 'colour', type: 'text' })
  for (const n of [1, 2]) await call('PUT', agent, { instructions: `${secret} ${n}` })
  const [{ id: versionId }] = await call('GET', `${agent}/instructions/versions`)
  await call('PUT', `${agent}/draft`, { instructions: `${secret} 3` })
  const { version } = await call('GET', `${agent}/draft/changes`)
  await call('POST', `${agent}/draft/publish`, { version })
  await call('PUT', `${agent}/draft`, { instructions: `${secret} 4` })
  const [{ id: agentVersionId }] = await call('GET', `${agent}/versions`)
  const otherAgent: string = (await call('POST', '/agents', { name: `Other ${secret}` })).id
  const talk = async (message: string, calls = 0) => {
    world.models.expect(message, { ...plainScript, calls })
    return call('POST', `${agent}/chat`, { message, stream: false, userId: `${mark}-1` })
  }
  await talk(`Hello ${secret}`)
  const waiting = await talk(`Show me ${secret}`, 1)
  const toolCallId = waiting.parts.find(({ toolCallId }: { toolCallId?: string }) => toolCallId)?.toolCallId
  const said = await talk(`Hello again ${secret}`)
  const unsentTalk = await talk(`Hello once more ${secret}`)
  const customer = { email: `customer-1@${mark}.example` }
  const opened = { subject: secret, description: secret, customer, assigneeId: memberId }
  const ticket = await call('POST', `${agent}/helpdesk/tickets`, opened)
  await call('POST', `${agent}/helpdesk/tickets`, opened)
  const ticketNumber = String(ticket.ticketNumber)
  await make(`/helpdesk/tickets/${ticketNumber}/notes`, { content: secret, authorEmail: email })
  const tried = await call('POST', `${agent}/playground/runs`, { message: secret, stream: false })
  const erasure = await call('POST', '/users/erase', { userId: `${mark}-nobody` })
  const { id: keyId } = await call('POST', '/keys', { name: secret })
  const { id: invitationId } = await call('POST', '/invitations', {
    email: `guest@${mark}.example`,
    role: 'viewer',
  })
  const form = new FormData()
  form.set('file', new Blob([secret]), `${secret}.txt`)
  const { id: attachmentId } = await call('POST', `${agent}/helpdesk/attachments`, form)
  const server = { host: '127.0.0.1', port: 465, security: 'tls', username: mark, password: secret }
  await call('PUT', `${agent}/email/connection`, {
    address: `box@${mark}.example`,
    smtp: server,
    inboundSecret: SECRETS.inboundSecret(mark),
  })
  const account = {
    businessAccountId: `business-${mark}`,
    accessToken: secret,
    appSecret: SECRETS.appSecret(mark),
    verifyToken: SECRETS.verifyToken(mark),
  }
  await call('PUT', `${agent}/messaging/connection`, { accounts: [account], baseUrl: 'https://127.0.0.1:9' })
  await writeAsVisitor(url, agentId, `I am ${secret}`)
  await trained(() => call('GET', `${agent}/sources`))
  const ids: Record<string, string> = {
    agentId,
    chatbotId: agentId,
    sourceId,
    expectedSourceId: sourceId,
    evaluationId,
    setId,
    runId,
    caseId,
    answerRunId,
    agentVersionId,
    actionId,
    procedureId,
    contactId,
    intoContactId,
    externalId: `${mark}-1`,
    userId: `${mark}-1`,
    name: 'colour',
    topicId,
    intoTopicId,
    teamId,
    statusId,
    tagId,
    cannedReplyId,
    viewId,
    memberId,
    memberEmail: email,
    assigneeId: memberId,
    assigneeEmail: email,
    authorId: memberId,
    authorEmail: email,
    conversationId: said.metadata.conversationId,
    parentConversationId: said.metadata.conversationId,
    messageId: said.id,
    toolCallId,
    versionId,
    ticketNumber,
    erasureId: erasure.id,
    keyId,
    invitationId,
    attachmentId,
    attachments: attachmentId,
    topic: `${mark} 1`,
    tool: `look_${mark}`,
    procedure: `${mark} 1`,
  }
  const isId = (value: string): boolean => value?.length > 12 && /\d/.test(value) && !value.includes('@')
  return {
    accountId,
    key,
    secret,
    ids,
    kinds: [...new Set([...Object.values(ids), tried.metadata.conversationId, tried.id].filter(isId))],
    unsent: [
      otherAgent,
      otherSource,
      otherSet,
      otherAction,
      unsentTalk.id,
      unsentTalk.metadata.conversationId,
    ],
  }
}

async function writeAsVisitor(url: string, agentId: string, message: string): Promise<void> {
  const path = `/api/widget/agents/${agentId}/messages`
  const key = randomBytes(32).toString('base64url')
  const { status, text } = await ask(url, key, 'POST', path, { messageId: randomUUID(), message })
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
}

async function trained(list: () => Promise<{ status: string }[]>): Promise<void> {
  while ((await list()).some(({ status }) => !['trained', 'failed'].includes(status))) await wait(200)
}

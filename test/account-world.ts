import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { createMember } from '../server/accounts/records/members.ts'
import { attachmentUrl } from '../server/conversations/attachments/serve-attachments.ts'
import { hashOf } from '../server/inbox/survey/send-survey.ts'
import type { Db } from '../server/platform/db/database.ts'
import { newId } from '../server/platform/db/ids.ts'
import { json } from '../server/platform/db/statements/json.ts'
import { addIdentities } from './add-identities.ts'
import { addSilentMail } from './add-silent-mail.ts'
import { SECRETS } from './raw-routes.ts'
import type { Client, Service } from './start.ts'
import { visitorOf } from './visitor.ts'
import { memberOf, type Worker } from './workspace.ts'

/** An account for tests that has one of everything that an id in a request can refer to. */
export type AccountWorld = {
  client: Client
  /** A marker contained in every text of the account. */
  mark: string
  /** The ids, by the name of the parameter or field that takes them. */
  ids: Record<string, string>
  /**
   * The ids that replace those in `ids` for an endpoint in which a name means something else, by the endpoint's name.
   */
  idsOf: Record<string, Record<string, string>>
  visitor: ReturnType<typeof visitorOf>
  /** A signed-in owner of the account. */
  owner: Worker
  /** The ids of objects that are served by routes outside the APIs. */
  outside: Record<string, string>
  /** The secret last segments of the URLs of such routes. */
  links: { surveyToken: string; attachmentAddress: string; originalToken: string }
}

export async function fillAccount(service: Service, mark: string): Promise<AccountWorld> {
  const client = await service.account({ name: mark })
  let requests = 0
  const make = async (method: string, path: string, body?: object): Promise<Record<string, string>> => {
    // Behind a proxy, each client address has its own rate limit.
    const from = { 'x-forwarded-for': `10.9.${requests++}.1` }
    const answer = await client.request(method, path, body, from)
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body?.data ?? answer.body
  }
  const { id: agentId = '' } = await make('POST', '/agents', { name: mark, visibility: 'public' })
  const agent = `/agents/${agentId}`
  const own = { account_id: client.accountId, agent_id: agentId }
  const { db } = service.ctx

  const account = { id: client.accountId, plan: 'unlimited' }
  const email = `${mark}@example.com`
  const { id: memberId } = (await createMember(db, account, { email, name: mark })) as { id: string }

  const id = async (path: string, body: object): Promise<string> => {
    const made = (await make('POST', `${agent}${path}`, body)).id
    assert.ok(made, path)
    return made
  }
  const sourceId = await id('/sources', { type: 'text', name: mark, content: `${mark} is blue.` })
  const evaluationId = await id('/evaluations', { question: `${mark}?`, expectedSourceId: sourceId })
  const setId = await id('/evaluation-sets', { name: mark })
  const runId = await id('/evaluation-runs', { note: mark })
  const caseId = await id('/answer-cases', { name: mark, messages: [mark], expect: { holds: [mark] } })
  await id('/answer-cases', { name: `${mark} 2`, messages: [mark], expect: {} })
  const earlierRunId = await id('/answer-runs', { note: `${mark} 2` })
  await make('POST', `${agent}/answer-runs/${earlierRunId}/cancel`, {})
  const answerRunId = await id('/answer-runs', { note: mark })
  await make('PUT', `${agent}/answer-schedule`, { every: 'day', hour: 3, caseIds: [caseId] })
  const inputs = { type: 'object', properties: {} }
  const actionId = await id('/actions', { name: 'look', type: 'client', description: mark, inputs })
  const procedureId = await id('/procedures', { name: mark, trigger: mark, steps: [mark] })
  const contactId = await id('/contacts', {
    externalId: `${mark}-1`,
    name: mark,
    email: `customer-${mark}@example.com`,
  })
  const identityId = await addIdentities(db, own, contactId)
  const mailId = await addSilentMail(db, own)
  const otherContactId = await id('/contacts', { externalId: `${mark}-2`, name: mark })
  const topicId = await id('/topics', { name: mark })
  const otherTopicId = await id('/topics', { name: `${mark} 2` })
  const teamId = await id('/helpdesk/teams', { name: mark })
  const statusId = await id('/helpdesk/ticket-statuses', { category: 'on_hold', internalLabel: mark })
  const tagId = await id('/helpdesk/tags', { name: mark })
  const cannedReplyId = await id('/helpdesk/canned-replies', { name: mark, content: mark })
  const { id: viewId = '' } = await make('POST', '/inbox/views', { name: mark, owner: 'all', query: {} })
  await make('POST', `/api/v1/chatbots${agent.slice('/agents'.length)}/custom-attributes`, {
    name: 'colour',
    type: 'text',
  })

  const versions = `${agent}/instructions/versions`
  for (const instructions of [mark, `${mark} 2`]) await make('PUT', agent, { instructions })
  const [{ id: versionId } = { id: '' }] = (await make('GET', versions)) as unknown as { id: string }[]
  await make('PUT', `${agent}/draft`, { instructions: `${mark} 3` })
  const { version } = await make('GET', `${agent}/draft/changes`)
  await make('POST', `${agent}/draft/publish`, { version })
  await make('PUT', `${agent}/draft`, { instructions: `${mark} 4` })
  const published = (await make('GET', `${agent}/versions`)) as unknown as { id: string }[]
  const agentVersionId = published[0]?.id ?? ''
  for (const name of [mark, `${mark} 2`])
    await db
      .insertInto('leads')
      .values({ ...own, id: newId(), name })
      .execute()

  const chunkId = newId()
  for (const ordinal of [0, 1])
    await db
      .insertInto('chunks')
      .values({
        ...own,
        id: ordinal === 0 ? chunkId : newId(),
        source_id: sourceId,
        version: 1,
        ordinal,
        heading_path: json([]),
        text: `${mark} ${ordinal}`,
        vector_key: String(ordinal),
      })
      .execute()
  await db.updateTable('sources').set({ live_version: 1 }).where('id', '=', sourceId).execute()

  // Paginated lists need a second item.
  const { id: privateAgentId = '' } = await make('POST', '/agents', { name: `${mark} 2` })
  await id('/sources', { type: 'text', name: `${mark} 2`, content: `${mark} is green.` })
  await id('/evaluations', { question: `${mark}? 2`, expectedSourceId: sourceId, setId })
  await id('/evaluations', { question: `${mark}? 3`, setId })
  await id('/evaluation-runs', { note: `${mark} 2` })
  await id('/actions', { name: `look_${mark}`, type: 'client', description: mark, inputs })
  await id('/procedures', { name: `${mark} 2`, trigger: mark, steps: [mark] })
  await make('POST', `${agent}/chat`, { message: `${mark} 2`, stream: false, userId: `${mark}-1` })

  const said = await make('POST', `${agent}/chat`, { message: mark, stream: false, userId: `${mark}-1` })
  const { conversationId } = said.metadata as unknown as { conversationId: string }
  const messageId = said.id ?? ''
  const customer = { email: `customer-${mark}@example.com` }
  const opened = { subject: mark, description: mark, customer, assigneeId: memberId }
  const ticket = await make('POST', `${agent}/helpdesk/tickets`, opened)
  await make('POST', `${agent}/helpdesk/tickets`, opened)
  const ticketNumber = String(ticket.ticketNumber)
  const tried = await make('POST', `${agent}/playground/runs`, { message: mark, stream: false })
  const triedId = (tried.metadata as unknown as { conversationId: string }).conversationId
  const visitor = visitorOf(service, agentId)
  const seen = await visitor.write(`Hello, I am ${mark}.`)

  const { id: ticketId } = await db
    .selectFrom('tickets')
    .select('id')
    .where('account_id', '=', own.account_id)
    .where('number', '=', Number(ticketNumber))
    .executeTakeFirstOrThrow()
  const { id: generationId } = await db
    .selectFrom('generations')
    .select('id')
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow()
  const [pageId = '', toolCallId = '', groupId = '', erasureId = '', ticketMessageId = '', heldReplyId = ''] =
    Array.from({ length: 6 }, newId)
  const [blockedSenderId, heldMailId] = [newId(), newId()]
  await db
    .insertInto('blocked_senders')
    .values({ ...own, id: blockedSenderId, sender: `${mark}.example` })
    .execute()
  const held = { reply: json({ content: mark }), due_at: new Date(), error: null }
  await db
    .insertInto('held_replies')
    .values([
      { ...own, ...held, id: heldReplyId, ticket_id: ticketId, author_id: memberId },
      { ...own, ...held, id: heldMailId, ticket_id: null, kind: 'mail', author_id: memberId },
    ])
    .execute()
  const crawlId = newId()
  const crawl = {
    type: 'crawl',
    excludePaths: [],
    includeOnlyPaths: [],
    slowScraping: false,
    crawlStatus: 'fetched',
    children: { included: 2, excluded: 0, failed: 0 },
  }
  await db
    .insertInto('sources')
    .values({
      ...own,
      id: crawlId,
      type: 'link',
      name: mark,
      status: 'trained',
      content: json({ url: `https://${mark}.example` }),
      metadata: json(crawl),
      link_type: 'crawl',
      url: `https://${mark}.example`,
    })
    .execute()
  const page = {
    ...own,
    source_id: crawlId,
    title: mark,
    status: 'included',
    found_in: 1,
    links: '[]',
  } as const
  await db
    .insertInto('pages')
    .values([
      { ...page, id: pageId, number: 1, url: `https://${mark}.example/1` },
      { ...page, id: newId(), number: 2, url: `https://${mark}.example/2` },
    ])
    .execute()
  const call = {
    ...own,
    id: toolCallId,
    conversation_id: conversationId,
    message_id: messageId,
    generation_id: generationId,
    name: 'look',
    type: 'client',
    input: json({}),
    output: json(null),
    status: 'pending',
  } as const
  await db
    .insertInto('tool_calls')
    .values([call, { ...call, id: newId(), status: 'success' }])
    .execute()
  const followed = { ...own, conversation_id: conversationId, procedure_id: procedureId, name: mark }
  await db
    .insertInto('procedure_runs')
    .values([
      { ...followed, id: newId(), status: 'completed' },
      { ...followed, id: newId(), status: 'failed' },
    ])
    .execute()
  const group = { ...own, count: 1, question: mark, source_id: null, last_asked_at: new Date() }
  await db
    .insertInto('unanswered_groups')
    .values([
      { ...group, id: groupId, key: mark },
      { ...group, id: newId(), key: `${mark} 2` },
    ])
    .execute()
  await db
    .insertInto('user_erasures')
    .values({
      id: erasureId,
      account_id: own.account_id,
      status: 'finished',
      person: null,
      finished_at: new Date(),
    })
    .execute()
  const [originalId, heldNoteId] = [newId(), newId()]
  const written = {
    ...own,
    ticket_id: ticketId,
    type: 'reply',
    sender: json({ type: 'agent', id: memberId, name: mark, email }),
    content: mark,
    content_text: mark,
    attachments: json([]),
    metadata: json({}),
    message_id: null,
  } as const
  await db
    .insertInto('ticket_messages')
    .values([
      { ...written, id: ticketMessageId },
      { ...written, id: newId() },
      { ...written, id: heldNoteId, type: 'note', metadata: json({ held: { messageId, ungrounded: [] } }) },
      { ...written, id: originalId, message_id: messageId },
    ])
    .execute()
  await addSilentMail(db, own, messageId)
  await make('PUT', `${agent}/styles`, { styles: { chat: { showAttachments: true } } })
  const visitorFileId: string = (await visitor.upload(`${mark}.txt`, mark)).body.data.id
  const form = new FormData()
  form.set('file', new Blob([mark]), `${mark}.txt`)
  const uploaded = await client.raw('POST', `${agent}/helpdesk/attachments`, { body: form })
  const { id: attachmentId } = (await uploaded.json()) as { id: string }
  const surveyToken = `survey-of-${mark}`
  await db
    .insertInto('ticket_surveys')
    .values({
      id: newId(),
      ...own,
      ticket_id: ticketId,
      token_hash: hashOf(surveyToken),
      rating: null,
      comment: null,
    })
    .execute()
  await connectChannels(make, agent, mark)
  const attachment = attachmentUrl(service.ctx, { accountId: client.accountId, agentId }, attachmentId)
  const { url: original = '' } = await make(
    'GET',
    `${agent}/helpdesk/tickets/${ticketNumber}/messages/${originalId}/original`,
  )
  const procedure = { instruction: `@look_${mark}`, steps: `@look_${mark}`, action: `look_${mark}` }
  return {
    client,
    mark,
    visitor,
    owner: await memberOf(service, client.accountId, 'owner', { email: `owner-${mark}@example.com` }),
    outside: {
      privateAgentId,
      attachmentId,
      visitorFileId,
      surveyHash: hashOf(surveyToken),
    },
    links: {
      surveyToken,
      attachmentAddress: attachment.slice(attachment.lastIndexOf('/') + 1),
      originalToken: original.slice(original.lastIndexOf('/') + 1),
    },
    ids: {
      agentId,
      chatbotId: agentId,
      sourceId,
      chunkId,
      expectedSourceId: sourceId,
      pageId,
      evaluationId,
      setId,
      runId,
      caseId,
      answerRunId,
      agentVersionId,
      before: answerRunId,
      actionId,
      procedureId,
      contactId,
      identityId,
      mailId,
      intoContactId: otherContactId,
      externalId: `${mark}-1`,
      userId: `${mark}-1`,
      name: 'colour',
      topicId,
      intoTopicId: otherTopicId,
      groupId,
      erasureId,
      teamId,
      statusId,
      statusIds: statusId,
      tagId,
      tagIds: tagId,
      cannedReplyId,
      viewId,
      heldReplyId,
      heldMailId,
      blockedSenderId,
      memberId,
      memberIds: memberId,
      memberEmail: email,
      assigneeId: memberId,
      assigneeEmail: email,
      authorId: memberId,
      authorEmail: email,
      conversationId,
      parentConversationId: conversationId,
      messageId,
      toolCallId,
      versionId,
      ticketNumber,
      // The search and procedures take names instead of ids.
      topic: mark,
      tool: `look_${mark}`,
      procedure: mark,
    },
    idsOf: {
      updateSourcePage: { sourceId: crawlId },
      listSourcePages: { sourceId: crawlId },
      retryTicketMessage: { messageId: ticketMessageId },
      discardHeldAnswer: { messageId: heldNoteId },
      readOriginalMail: { messageId: originalId },
      forwardTicket: { messageId: ticketMessageId },
      holdForward: { messageId: ticketMessageId },
      replyToTicket: { attachments: attachmentId },
      createProcedure: procedure,
      updateProcedure: procedure,
      addTicketNote: { content: `@${mark}` },
      runPlayground: { conversationId: triedId },
      readPlaygroundRun: { messageId: tried.id ?? '' },
      ...Object.fromEntries(
        [
          'followVisitorAnswer',
          'readVisitorConversation',
          'stopVisitorAnswer',
          'rateVisitorAnswer',
          'submitPageResult',
          'leaveDetails',
        ].map((name) => [name, { conversationId: seen.conversationId }]),
      ),
      writeVisitorMessage: { conversationId: seen.conversationId, attachments: visitorFileId },
    },
  }
}

/** Connects a mailbox and a messaging account. Their servers are refused addresses, so that no answer depends on a network. */
async function connectChannels(
  make: (method: string, path: string, body?: object) => Promise<unknown>,
  agent: string,
  mark: string,
): Promise<void> {
  const server = { host: '127.0.0.1', port: 465, security: 'tls', username: mark, password: mark }
  await make('PUT', `${agent}/email/connection`, {
    address: `box-${mark}@example.com`,
    smtp: server,
    inboundSecret: SECRETS.inboundSecret(mark),
  })
  const account = {
    businessAccountId: `business-${mark}`,
    accessToken: 'token',
    appSecret: SECRETS.appSecret(mark),
    verifyToken: SECRETS.verifyToken(mark),
  }
  await make('PUT', `${agent}/messaging/connection`, { accounts: [account], baseUrl: 'https://127.0.0.1:9' })
}

/** Reads every row, in every table including the job queue, that refers to the account or one of its agents. */
export async function rowsOfAccount(
  db: Db,
  { client, ids }: AccountWorld,
): Promise<Record<string, string[]>> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
    order by 1`.execute(db)
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    // `last_used_at` is left out because it is written some time after a key was used.
    const { rows } = await sql<{ row: string }>`
      select row::text as row from (select to_jsonb(t) - 'last_used_at' as row from ${sql.raw(name)} as t) as shown
      where row::text like ${`%${client.accountId}%`} or row::text like ${`%${ids.agentId}%`}
      order by 1`.execute(db)
    if (rows.length > 0) found[name] = rows.map(({ row }) => row)
  }
  return found
}

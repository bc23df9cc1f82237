import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { type Client, clientOf, type Service, startService } from '../../../../test/start.ts'
import { trained, until } from '../../../../test/until.ts'
import { createKey } from '../../../accounts/keys/keys.ts'
import { evaluate } from '../../../admin/commands/evaluate-command.ts'
import { pendingOf, readApplied, readMigrations } from '../../../platform/db/upkeep/migrate.ts'

let service: Service
let client: Client
let models: ModelServer
let agentId: string
let sourceId: string

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await service.close()
  await models.close()
})
beforeEach(async () => {
  client = await service.account()
  models.otherwise(() => ({ tokens: ['Yes.'] }))
  agentId = (await client.request('POST', '/agents', { name: 'Lumi', instructions: 'Be kind.' })).body.id
  sourceId = await make('/sources', {
    type: 'text',
    name: 'Warranty',
    content: 'The Halo lamp has a warranty of five years.',
  })
  await trained(service, sourceId)
})

const ask = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  client.request(method, `/agents/${agentId}${path}`, body, headers)
async function must(method: string, path: string, body?: object) {
  const answer = await ask(method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
const make = async (path: string, body: object): Promise<string> => (await must('POST', path, body)).id
const change = (body: object) => must('PUT', '/draft', body)
const addToDraft = async (content: string, replaces?: string): Promise<string> => {
  const source = { type: 'text', name: 'Moon', content }
  const id = await make('/draft/sources', { source, ...(replaces && { replaces }) })
  await trained(service, id)
  return id
}
const QUESTION = 'How long is the warranty of the Halo lamp and of the Moon lamp?'
/** What the model reads for a question, and which tools it has. */
const readIn = async (path: string, body: object = {}): Promise<string> => {
  await must('POST', path, { message: QUESTION, stream: false, ...body })
  return JSON.stringify(models.requests.findLast(({ wire }) => wire !== 'embeddings')?.body)
}
const publish = async (): Promise<void> => {
  const { version } = await must('GET', '/draft/changes')
  await must('POST', '/draft/publish', { version })
}
const rollBack = async (id: string): Promise<void> => {
  const { version } = await must('GET', `/versions/${id}`)
  await must('POST', `/versions/${id}/restore`, { version })
}
const changed = (changes: { what: string; name: string | null; field: string }[]) =>
  changes.map(({ what, name, field }) => [what, name, field].filter(Boolean).join(' '))
const liveCounters = async () => {
  const { status, size, lastTrainedAt } = await must('GET', '')
  const { data, pagination } = await must('GET', '/sources')
  const summary = await must('GET', '/sources/summary')
  const health = await must('GET', '/sources/health')
  const names = data.map(({ name }: { name: string }) => name)
  return { status, size, lastTrainedAt, names, total: pagination.total, summary, health }
}

test('a draft answers in the playground, and is invisible to live answers, lists and counters', async () => {
  const before = await liveCounters()
  await change({ instructions: 'Answer in verse.', temp: 0.7 })
  const moon = await addToDraft('The Moon lamp has a warranty of nine years.')
  await addToDraft('The Halo lamp has a warranty of six years.', sourceId)
  assert.deepEqual(await liveCounters(), before)
  const live = await readIn('/chat')
  assert.match(live, /Be kind\./)
  assert.match(live, /five years/)
  assert.doesNotMatch(live, /verse|nine years|six years/)
  const draft = await readIn('/playground/runs', { version: 'draft' })
  assert.match(draft, /Answer in verse\./)
  assert.match(draft, /nine years/)
  assert.match(draft, /six years/)
  assert.doesNotMatch(draft, /Be kind|five years/)
  assert.equal(
    models.requests.findLast(({ wire }) => wire !== 'embeddings')?.body.temperature,
    0.7,
    'the temperature of the draft',
  )
  const tried = await must('POST', '/playground/runs', { message: QUESTION, stream: false, version: 'draft' })
  const { data } = await must('GET', `/playground/runs/${tried.data.id}`)
  assert.equal(data.version, 'draft')
  const { passages } = await must('POST', '/retrieval-test', { question: QUESTION })
  assert.deepEqual(
    passages.map((passage: { sourceId: string }) => passage.sourceId),
    [sourceId],
  )
  const { missing } = await must('POST', '/retrieval-test', { question: QUESTION, expectedSourceId: moon })
  assert.match(missing.sentence, /only the draft or an earlier version/)
  const copy = (await client.request('POST', `/agents/${agentId}/clone`)).body.id
  assert.equal((await client.request('GET', `/agents/${copy}/sources`)).body.pagination.total, 1)
  assert.equal((await must('GET', `/sources/${moon}`)).unpublished, true)
  assert.equal((await must('GET', `/sources/${sourceId}`)).unpublished, undefined)
})

test('without a draft, everything is as in the live agent, and there is nothing to answer with or to publish', async () => {
  const draft = await must('GET', '/draft')
  assert.deepEqual([draft.isBegun, draft.instructions, draft.sources], [false, 'Be kind.', []])
  const tried = await ask('POST', '/playground/runs', { message: 'Hi', stream: false, version: 'draft' })
  assert.deepEqual([tried.status, tried.body.error.message], [404, 'The agent has no draft.'])
  assert.equal((await ask('GET', '/draft/changes')).status, 404)
  assert.equal((await ask('POST', '/draft/publish', { version: 'x' })).status, 404)
})

test('publishing makes exactly what was compared the live agent, and a roll back undoes it', async () => {
  await change({ instructions: 'Answer in verse.', sources: [{ id: sourceId, isIncluded: false }] })
  const moon = await addToDraft('The Moon lamp has a warranty of nine years.')
  const compared = await must('GET', '/draft/changes')
  assert.deepEqual(changed(compared.changes).sort(), [
    'agent instructions',
    'source Moon isIncluded',
    'source Warranty isIncluded',
  ])
  assert.deepEqual(compared.changedSince, [])
  await must('POST', '/draft/publish', { version: compared.version })
  const live = await readIn('/chat')
  assert.match(live, /Answer in verse\.[\s\S]*nine years/)
  assert.doesNotMatch(live, /Be kind|five years/)
  assert.deepEqual((await liveCounters()).names, ['Moon'])
  assert.equal((await must('GET', '/draft')).isBegun, false)
  const { data: versions } = await must('GET', '/versions')
  assert.deepEqual(
    versions.map(({ kind, isLive, changed: fields, actorName }: Record<string, unknown>) => [
      ...[kind, isLive, fields, actorName],
    ]),
    [
      ['published', true, ['instructions', 'sources'], 'test'],
      ['found', false, [], null],
    ],
  )
  const found = versions[1].id
  const shown = await must('GET', `/versions/${found}`)
  assert.deepEqual(changed(shown.changes).sort(), changed(compared.changes).sort())
  await rollBack(found)
  const back = await readIn('/chat')
  assert.match(back, /Be kind\.[\s\S]*five years/)
  assert.doesNotMatch(back, /verse|nine years/)
  assert.deepEqual((await liveCounters()).names, ['Warranty'])
  const kinds = (await must('GET', '/versions')).data.map(({ kind }: { kind: string }) => kind)
  assert.deepEqual(kinds, ['restored', 'published', 'found'])
  // What was published is kept, too, so a roll back can be undone.
  await rollBack(versions[0].id)
  assert.deepEqual((await liveCounters()).names, ['Moon'])
  assert.equal((await ask('GET', `/sources/${moon}`)).status, 200)
  const { data: log } = (await client.request('GET', '/audit-log')).body
  const entries = log.filter(({ target }: { target: string }) => target === agentId)
  assert.deepEqual(entries.map(({ action }: { action: string }) => action).slice(0, 3), [
    'agent.roll-back',
    'agent.roll-back',
    'agent.publish',
  ])
})

test('a publication is refused when the live agent or the draft has changed since they were compared', async () => {
  await change({ instructions: 'Answer in verse.' })
  const { version } = await must('GET', '/draft/changes')
  await must('PUT', '', { temp: 0.3 })
  const late = await ask('POST', '/draft/publish', { version })
  assert.deepEqual([late.status, late.body.error.code], [412, 'VERSION_MISMATCH'])
  const { current } = late.body.error.details
  assert.deepEqual(changed(current.changedSince), ['agent temp'])
  assert.deepEqual(changed(current.changes), ['agent instructions'])
  assert.equal((await must('GET', '')).instructions, 'Be kind.')
  await change({ instructions: 'Answer in prose.' })
  assert.equal((await ask('POST', '/draft/publish', { version: current.version })).status, 412)
  await publish()
  const { instructions, temp } = await must('GET', '')
  assert.deepEqual([instructions, temp], ['Answer in prose.', 0.3])
})

test('of several publications and live changes at once, one publication happens, and no change is lost', async () => {
  await change({ instructions: 'Answer in verse.' })
  const { version } = await must('GET', '/draft/changes')
  const statuses = await Promise.all(
    Array.from({ length: 4 }, async () => (await ask('POST', '/draft/publish', { version })).status),
  )
  assert.deepEqual(statuses.filter((status) => status === 200).length, 1)
  assert.ok(
    statuses.every((status) => [200, 404].includes(status)),
    String(statuses),
  )
  assert.equal((await must('GET', '/versions')).pagination.total, 2)
})

test('actions and procedures of a draft are given to its answers alone, until it is published', async () => {
  const inputs = { type: 'object', properties: {} }
  const action = { name: 'find_order', type: 'client', description: 'Finds an order.', inputs }
  const actionId = await make('/actions', action)
  const procedure = { name: 'Late order', trigger: 'An order is late.', steps: ['Use @find_order.'] }
  const procedureId = await make('/procedures', procedure)
  await must('PUT', `/procedures/${procedureId}`, { enabled: true })
  await change({
    actions: [{ id: actionId, enabled: false }],
    procedures: [{ id: procedureId, trigger: 'An order is very late.' }],
  })
  assert.match(await readIn('/chat'), /An order is late[\s\S]*find_order/)
  assert.doesNotMatch(await readIn('/playground/runs', { version: 'draft' }), /find_order|Late order/)
  const { changes } = await must('GET', '/draft/changes')
  // A procedure whose action is off is off.
  assert.deepEqual(changed(changes), [
    'action find_order enabled',
    'procedure Late order enabled',
    'procedure Late order trigger',
  ])
  await change({ actions: [{ id: actionId, enabled: true, description: 'Finds every order.' }] })
  assert.match(await readIn('/playground/runs', { version: 'draft' }), /very late[\s\S]*Finds every order/)
  assert.match(await readIn('/chat'), /Finds an order/)
  await publish()
  assert.match(await readIn('/chat'), /very late[\s\S]*Finds every order/)
  const { data } = await must('GET', '/versions')
  await rollBack(data[1].id)
  assert.match(await readIn('/chat'), /An order is late[\s\S]*Finds an order/)
})

test('a version that knows no action or source of today turns it off, and says what cannot come back', async () => {
  await change({ instructions: 'Answer in verse.' })
  await publish()
  const inputs = { type: 'object', properties: {} }
  const added = { name: 'look', type: 'client', description: 'Looks.', inputs }
  const actionId = await make('/actions', added)
  await must('DELETE', `/sources/${sourceId}`)
  const { data } = await must('GET', '/versions')
  const { missing, missingSources, changes } = await must('GET', `/versions/${data[1].id}`)
  assert.deepEqual([missing, missingSources], [[], 1])
  assert.deepEqual(changed(changes), ['agent instructions', 'action look enabled'])
  await rollBack(data[1].id)
  assert.equal((await must('GET', `/actions/${actionId}`)).enabled, false)
})

test('two members who change the same draft see each other', async () => {
  const { headers } = await ask('GET', '/draft')
  const etag = headers.get('etag') ?? ''
  const first = await ask('PUT', '/draft', { instructions: 'One.' }, { 'if-match': etag })
  assert.equal(first.status, 200)
  const second = await ask('PUT', '/draft', { instructions: 'Two.' }, { 'if-match': etag })
  assert.deepEqual([second.status, second.body.error.code], [412, 'VERSION_MISMATCH'])
  assert.equal(second.body.error.details.current.instructions, 'One.')
  const strange = await ask('PUT', '/draft', { sources: [{ id: agentId, isIncluded: true }] })
  assert.deepEqual([strange.status, strange.body.error.code], [400, 'VALIDATION_INVALID_BODY'])
  assert.equal((await ask('PUT', '/draft', { model: 'none' })).status, 400)
})

test('what a key may not change in the live agent it may not change through a draft', async () => {
  const scopes = ['agents:read', 'agents:write', 'actions:read'] as const
  const { key } = await createKey(service.ctx.db, client.accountId, { name: 'narrow', scopes: [...scopes] })
  const narrow = clientOf(service.url, key)
  const draft = `/agents/${agentId}/draft`
  const sources = [{ id: sourceId, isIncluded: false }]
  assert.equal((await narrow.request('PUT', draft, { sources })).status, 403)
  await change({ sources })
  const { version } = (await narrow.request('GET', `${draft}/changes`)).body
  const refused = await narrow.request('POST', `${draft}/publish`, { version })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'AUTH_INSUFFICIENT_PERMISSIONS'])
  assert.equal((await narrow.request('PUT', draft, { instructions: 'Hm.' })).status, 200)
  assert.deepEqual((await liveCounters()).names, ['Warranty'])
})

test('what only a discarded draft or a replaced text of it needed is deleted', async () => {
  const first = await addToDraft('The Moon lamp has a warranty of nine years.')
  const second = await addToDraft('The Moon lamp has a warranty of eight years.', first)
  const statusOf = async (id: string) => (await ask('GET', `/sources/${id}`)).body.status
  assert.deepEqual([await statusOf(first), await statusOf(second)], ['toBeDeleted', 'trained'])
  // What is turned off in the draft can be turned on again.
  await change({ sources: [{ id: second, isIncluded: false }] })
  await addToDraft('The Sun lamp has a warranty of one year.')
  assert.equal(await statusOf(second), 'trained')
  await must('DELETE', '/draft')
  assert.equal(await statusOf(second), 'toBeDeleted')
  assert.equal(await statusOf(sourceId), 'trained')
})

test('what a draft does not change follows the live agent, and what is as in the live one is no change', async () => {
  await change({ instructions: 'One.' })
  await change({ instructions: 'Be kind.', temp: 0.9 })
  await must('PUT', '', { instructions: 'Be brief.' })
  assert.equal((await must('GET', '/draft')).instructions, 'Be brief.')
  assert.deepEqual(changed((await must('GET', '/draft/changes')).changes), ['agent temp'])
})

test('a fixed answer of a draft is given by the draft alone', async () => {
  const qna = { type: 'qna', name: 'x', questions: ['Are you open?'], answer: 'At nine.', fixed: true }
  await trained(service, await make('/draft/sources', { source: qna }))
  const answerOf = async (path: string, body: object): Promise<string> =>
    (await must('POST', path, { message: 'Are you open?', stream: false, ...body })).data.parts.at(-1).text
  assert.match(await answerOf('/playground/runs', { version: 'draft' }), /At nine/)
  assert.equal(await answerOf('/chat', {}), 'Yes.')
})

test('a run tests the version as it was when the run began', async () => {
  const ofCase = { name: 'x', messages: [QUESTION], expect: { holds: ['in verse'] } }
  const caseId = await make('/answer-cases', ofCase)
  models.otherwise(({ body }) => ({
    tokens: [JSON.stringify(body).includes('Answer in verse.') ? 'An answer in verse.' : 'An answer.'],
  }))
  await change({ instructions: 'Answer in verse.' })
  const outcome = async (version: string) => {
    const id = await make('/answer-runs', { caseIds: [caseId], repeats: 3, version })
    if (version === 'draft') await must('DELETE', '/draft')
    await until('the run', async () => (await must('GET', `/answer-runs/${id}`)).status !== 'running')
    const { passed, version: shown } = await must('GET', `/answer-runs/${id}`)
    return [passed, shown]
  }
  assert.deepEqual(await outcome('live'), [0, 'live'])
  assert.deepEqual(await outcome('draft'), [3, 'draft'])
})

test('nothing of drafts and versions is left of a deleted agent', async () => {
  await change({ instructions: 'One.' })
  await publish()
  await change({ instructions: 'Two.' })
  assert.equal((await client.request('DELETE', `/agents/${agentId}`)).status, 200)
  await until('the end of the agent', async () => {
    const { db } = service.ctx
    return !(await db.selectFrom('agent_ids').select('id').where('id', '=', agentId).executeTakeFirst())
  })
  const { db } = service.ctx
  for (const table of ['agent_drafts', 'agent_versions'] as const)
    assert.deepEqual(
      await db.selectFrom(table).select('agent_id').where('agent_id', '=', agentId).execute(),
      [],
    )
})

test('the command tests the draft, and finds what the live agent does not have', async () => {
  const { db, jobs, models: known } = service.ctx
  const operations = {
    db,
    isServed: async () => true,
    openModels: () => ({ models: known }),
    erasing: { jobs },
  }
  const tested = (version: string) =>
    evaluate.run(operations as never, {
      values: { agent: agentId, answers: 'true', version },
      positionals: [],
    })
  await make('/answer-cases', { name: 'Warranty', messages: [QUESTION], expect: { holds: ['five years'] } })
  models.otherwise(({ body }) => ({
    tokens: [JSON.stringify(body).includes('Always say ten years.') ? 'Ten years.' : 'Five years.'],
  }))
  await assert.rejects(tested('draft'), { message: 'The agent has no draft.' })
  await assert.rejects(tested('other'), { exitCode: 64 })
  await change({ instructions: 'Always say ten years.' })
  const [live, draft] = [await tested('live'), await tested('draft')]
  assert.deepEqual([evaluate.isFailure?.(live), evaluate.isFailure?.(draft)], [false, true])
  assert.match(evaluate.print(draft), /failed: Warranty\n {2}holds: five years\n {2}answer: Ten years/)
})

test('a publication is refused when the text of a source that it adds has been changed since it was read', async () => {
  const moon = await addToDraft('The Moon lamp has a warranty of nine years.')
  const { version } = await must('GET', '/draft/changes')
  await must('PUT', `/sources/${moon}`, { content: 'The Moon lamp explodes.' })
  const late = await ask('POST', '/draft/publish', { version })
  assert.deepEqual([late.status, late.body.error.code], [412, 'VERSION_MISMATCH'])
  await trained(service, moon)
  assert.doesNotMatch(await readIn('/chat'), /explodes/)
  await publish()
  assert.match(await readIn('/chat'), /explodes/)
})

test('a roll back is refused when the live agent has been changed since they were compared', async () => {
  await change({ instructions: 'Answer in verse.' })
  await publish()
  const found = (await must('GET', '/versions')).data[1].id
  const { version } = await must('GET', `/versions/${found}`)
  await must('PUT', '', { temp: 0.3 })
  const late = await ask('POST', `/versions/${found}/restore`, { version })
  assert.deepEqual([late.status, late.body.error.code], [412, 'VERSION_MISMATCH'])
  const { current } = late.body.error.details
  assert.deepEqual(changed(current.changes), ['agent instructions', 'agent temp'])
  assert.equal((await must('GET', '')).temp, 0.3)
  assert.equal((await ask('POST', `/versions/${found}/restore`)).status, 400)
  await must('POST', `/versions/${found}/restore`, { version: current.version })
  assert.equal((await must('GET', '')).instructions, 'Be kind.')
})

test('a key needs the scopes of what it reads and deletes with a draft or a version', async () => {
  const keyed = async (...scopes: ('agents:read' | 'agents:write' | 'actions:read')[]) => {
    const { key } = await createKey(service.ctx.db, client.accountId, { name: 'narrow', scopes })
    return clientOf(service.url, key)
  }
  const moon = await addToDraft('The Moon lamp has a warranty of nine years.')
  const reader = await keyed('agents:read')
  for (const path of ['/draft', '/draft/changes', '/versions', `/versions/${moon}`]) {
    const { status, body } = await reader.request('GET', `/agents/${agentId}${path}`)
    assert.deepEqual([status, body.error?.code], [403, 'AUTH_INSUFFICIENT_PERMISSIONS'], path)
    assert.match(body.error.message, /actions:read/)
  }
  const writer = await keyed('agents:read', 'agents:write', 'actions:read')
  const refused = await writer.request('DELETE', `/agents/${agentId}/draft`)
  assert.equal(refused.status, 403)
  assert.match(refused.body.error.message, /sources:write/)
  assert.equal((await must('GET', `/sources/${moon}`)).status, 'trained')
  assert.equal((await must('GET', '/draft')).isBegun, true)
})

test('a draft with sources waits for the end of the former version, which does not start beside it any more', async () => {
  const { db } = service.ctx
  const former = readMigrations().filter(({ name }) => name < '0148')
  const source = { type: 'text', name: 'Moon', content: 'The Moon lamp has a warranty of nine years.' }
  await db.insertInto('processes').values({ id: sourceId }).execute()
  const early = await ask('POST', '/draft/sources', { source })
  assert.deepEqual([early.status, early.body.error.code], [503, 'SERVICE_UNDER_MAINTENANCE'])
  await change({ instructions: 'Answer in verse.' })
  await db.deleteFrom('processes').where('id', '=', sourceId).execute()
  await must('POST', '/draft/sources', { source })
  const applied = await readApplied(db)
  assert.throws(() => pendingOf(former, applied), /newer version of Parley \(0148_agent_drafts\.sql\)/)
  assert.deepEqual(pendingOf(readMigrations(), applied), [])
})

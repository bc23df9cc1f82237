import type { Chat, Command } from './commands.ts'
import { kill } from './kill.ts'
import { type Answered, chat, type Op, post, request } from './requests.ts'
import { readState, runningIn, textIn } from './state.ts'
import { spokenIn, type Talk } from './talk.ts'

type Of<Name extends Command['do']> = Command & { do: Name }

/** Performs a command and returns the outcome of each of its requests. */
export async function perform(talk: Talk, command: Command): Promise<Op[]> {
  switch (command.do) {
    case 'send':
      return [await send(talk, command)]
    case 'continue':
      return [await goOn(talk, command)]
    case 'retry':
      return [await retry(talk, command)]
    case 'tool-result':
      return toolResults(talk, command)
    case 'takeover':
      return takeOver(talk, command)
    case 'handback':
      return [await handBack(talk, command)]
    case 'stop':
      return [await post(talk, command, '/stop')]
    case 'pause':
    case 'resume': {
      const body = { paused: command.do === 'pause' }
      return [await request(talk, command, 'PATCH', '', { body })]
    }
    case 'expire':
      await expire(talk, command)
      return []
    case 'kill':
      await kill(talk, command.on)
      return []
    case 'freeze':
      await (await talk.at(command.on)).life.freeze(command.ms)
      talk.note(`process ${command.on} was frozen for ${command.ms} ms`)
      return []
    case 'reload':
      return reload(talk, command)
  }
}

function send(talk: Talk, command: Command & Chat): Promise<Op> {
  const message = `q${talk.asked.size} of ${talk.accountId}`
  talk.asked.add(message)
  talk.world.models.expect(message, command.script)
  return chat(talk, command, '/chat', { message, conversationId: talk.conversationId }, message)
}

function goOn(talk: Talk, command: Of<'continue'>): Promise<Op> {
  const question = talk.state.messages.findLast(({ role }) => role === 'user')
  if (question) talk.world.models.expect(textIn(question.parts), command.script)
  return chat(talk, command, '/chat', { conversationId: talk.conversationId }, '')
}

function retry(talk: Talk, command: Of<'retry'>): Promise<Op> {
  const { messages } = talk.state
  const answers = messages.filter(({ role }) => role === 'assistant').reverse()
  const target = answers[command.which] ?? messages[0]
  const question = messages.findLast(({ role, seq }) => role === 'user' && seq < (target?.seq ?? 0))
  if (question) talk.world.models.expect(textIn(question.parts), command.script)
  const messageId = target?.id ?? ''
  const path = `/conversations/${talk.conversationId}/retry`
  return chat(talk, command, path, { messageId }, messageId)
}

const UNKNOWN_CALL = '01900000-0000-7000-8000-000000000000'

async function toolResults(talk: Talk, command: Of<'tool-result'>): Promise<Op[]> {
  const { which, times } = command
  const stored = talk.state.calls.filter(({ waits }) => waits).reverse()
  const waiting = stored.filter(({ status }) => status === 'pending').map(({ id }) => id)
  const heard = talk.log.calls().reverse()
  const known = [...new Set([...waiting, ...heard, ...stored.map(({ id }) => id)])]
  const chosen = which === 'all' ? waiting : [known[which] ?? UNKNOWN_CALL]
  const wanted = chosen.flatMap((id) => Array.from({ length: times }, (_, i) => ({ id, i })))
  return Promise.all(wanted.map(({ id, i }) => toolResult(talk, { ...command, on: command.on + i }, id)))
}

async function toolResult(talk: Talk, command: Command, toolCallId: string): Promise<Op> {
  const output = { result: `${command.on} at ${talk.journal.length}` }
  const op = await post(talk, command, '/tool-result', { toolCallId, output }, toolCallId)
  if (isOk(op.answer)) {
    if (talk.outputs.has(toolCallId)) throw new Error(`a second result of ${toolCallId} was taken`)
    talk.outputs.set(toolCallId, output)
  }
  return op
}

const isOk = (answer: Answered): boolean => answer.is === 'json' && answer.status === 200

async function takeOver(talk: Talk, command: Of<'takeover'>): Promise<Op[]> {
  const { handBacks } = talk
  const begun = handBacks.begun
  const op = await post(talk, command, '/takeover', { memberId: talk.members[command.member] })
  if (command.back) return [op, await handBack(talk, { after: 0, on: command.on, do: 'handback' })]
  const state = await readState(talk.world.inside, talk.conversationId)
  // This holds only if nobody can have handed the conversation back in the meantime.
  if (isOk(op.answer) && handBacks.open === 0 && handBacks.begun === begun) {
    const running = runningIn(state)
    if (running) talk.silenced.add(running.id)
    talk.frozen ??= spokenIn(state)
  }
  return [op]
}

async function handBack(talk: Talk, command: Of<'handback'>): Promise<Op> {
  talk.frozen = null
  talk.handBacks.begun++
  talk.handBacks.open++
  try {
    return await post(talk, command, '/handback')
  } finally {
    talk.handBacks.open--
  }
}

/** Sends the requests of a page that is reloaded. */
async function reload(talk: Talk, command: Of<'reload'>): Promise<Op[]> {
  const newest = talk.log.newest()
  const seen = command.back === null || newest === null ? null : Math.max(1, newest - command.back)
  return [
    await request(talk, command, 'GET', ''),
    await request(talk, command, 'GET', '/messages?limit=5'),
    await request(talk, command, 'GET', '/stream', {
      about: String(seen ?? ''),
      headers: seen === null ? {} : { 'last-event-id': String(seen) },
      limits: { events: null, ms: 700 },
    }),
  ]
}

/** Lets a day pass for the waiting calls, which is then noticed by the periodic recurring job or by the next request. */
async function expire({ world, conversationId, note }: Talk, { sweep }: Of<'expire'>): Promise<void> {
  await world.inside.query(
    `update tool_calls set expires_at = now() - interval '1 second'
      where conversation_id = $1 and status = 'pending' and expires_at is not null`,
    [conversationId],
  )
  if (sweep) await world.inside.expireCalls()
  note(sweep ? 'calls expired and were closed' : 'calls expired')
}

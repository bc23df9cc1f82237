import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { recordAudit } from '../accounts/audit.ts'
import type { Db } from '../db/database.ts'
import { conversationLines, type FileFormat, type Written } from '../exports/conversation-lines.ts'
import { type Command, CommandFailure, required, usageFailure } from './command.ts'

const FORMATS = ['ndjson', 'csv']

export const conversationsExport: Command = {
  name: 'conversations export',
  usage: '--agent ID [--format ndjson|csv] FILE',
  summary: 'Writes all conversations of an agent into a file: NDJSON by conversation, CSV by message',
  options: { agent: { type: 'string' }, format: { type: 'string' } },
  positionals: { count: 1, paths: true },
  async run({ db }, input) {
    const [file = ''] = input.positionals
    const agent = await findAgent(db, required(input, 'agent'))
    const format = input.values.format ?? 'ndjson'
    if (!FORMATS.includes(format)) throw usageFailure(`There is no format "${format}"; use ndjson or csv.`)
    const written: Written = { conversations: 0, messages: 0 }
    await writeWhole(file, conversationLines(db, agent.account_id, agent.id, format as FileFormat, written))
    const action = 'conversations.export'
    await recordAudit(db, { accountId: agent.account_id, actor: 'operator', action, target: agent.id })
    return { file, ...written }
  },
  print: ({ file, conversations, messages }) =>
    `${file}: ${conversations} conversations with ${messages} messages.`,
}

async function findAgent(db: Db, id: string) {
  const agent = await db
    .selectFrom('agents')
    .select(['id', 'account_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!agent) throw new CommandFailure(`There is no agent ${id}.`)
  return agent
}

/** The file appears when it is whole. */
async function writeWhole(file: string, pieces: AsyncGenerator<string>): Promise<void> {
  const unfinished = `${file}.tmp`
  try {
    await pipeline(Readable.from(pieces), createWriteStream(unfinished, { mode: 0o600, flush: true }))
    await rename(unfinished, file)
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (path?.startsWith(file)) throw new CommandFailure(`The file ${file} cannot be written (${code}).`)
    throw error
  } finally {
    await rm(unfinished, { force: true })
  }
}

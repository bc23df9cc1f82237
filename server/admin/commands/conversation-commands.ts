import { recordAudit } from '../../accounts/audit/audit.ts'
import {
  conversationLines,
  type FileFormat,
  type Written,
} from '../../conversations/exports/conversation-lines.ts'
import { writeWhole } from '../backup/write-whole.ts'
import { type Command, required, usageFailure } from '../command.ts'
import { findAgent } from './find-account.ts'

const FORMATS: FileFormat[] = ['ndjson', 'csv']

export const conversationsExport: Command = {
  name: 'conversations export',
  usage: '--agent ID [--format ndjson|csv] FILE',
  summary: 'Writes all conversations of an agent into a file: NDJSON by conversation, CSV by message',
  options: { agent: { type: 'string' }, format: { type: 'string' } },
  positionals: { count: 1, paths: true },
  async run({ db }, input) {
    const [file = ''] = input.positionals
    const agent = await findAgent(db, required(input, 'agent'))
    const named = input.values.format ?? 'ndjson'
    const format = FORMATS.find((one) => one === named)
    if (!format) throw usageFailure(`There is no format "${named}"; use ndjson or csv.`)
    const written: Written = { conversations: 0, messages: 0 }
    await writeWhole(
      file,
      conversationLines(db, { accountId: agent.account_id, agentId: agent.id }, format, written),
    )
    const action = 'conversations.export'
    await recordAudit(db, { accountId: agent.account_id, actor: 'operator', action, target: agent.id })
    return { file, ...written }
  },
  print: ({ file, conversations, messages }) =>
    `${file}: ${conversations} conversations with ${messages} messages.`,
}

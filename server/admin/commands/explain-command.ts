import { explainAnswer } from '../../conversations/explanations/explain-answer.ts'
import { withoutAddresses } from '../../conversations/records/source-address.ts'
import { isId } from '../../platform/db/ids.ts'
import { type Command, usageFailure } from '../command.ts'

type Explained = Awaited<ReturnType<typeof explainAnswer>>

export const explainCommand: Command = {
  name: 'explain',
  usage: 'MESSAGE-ID',
  summary: 'Shows what an answer of an agent was made of',
  options: {},
  positionals: { count: 1 },
  async run({ db }, { positionals: [messageId = ''] }) {
    const row = isId(messageId)
      ? await db
          .selectFrom('messages')
          .select(['account_id', 'agent_id', 'conversation_id'])
          .where('id', '=', messageId)
          .executeTakeFirst()
      : undefined
    if (!row) throw usageFailure(`There is no message "${messageId}"; use the id of an answer.`)
    const ref = { accountId: row.account_id, agentId: row.agent_id, conversationId: row.conversation_id }
    const explained = await explainAnswer(db, ref, messageId, withoutAddresses)
    return { ...explained, lines: linesOf(explained).join('\n') }
  },
  print: ({ lines }) => String(lines),
}

const known = (value: unknown, unit = ''): string =>
  value === null || value === undefined ? 'not known' : `${value}${unit}`

const DONE = { sent: 'sent as it was', changed: 'sent after a change', discarded: 'discarded' }

const heldLine = (outcome: Explained['heldOutcome']): string =>
  outcome ? `${DONE[outcome.what]} by ${outcome.by.name}, ${outcome.at}` : 'it waits'

function linesOf({
  model,
  outcome,
  score,
  finishReason,
  dollars,
  ungrounded = [],
  held,
  heldOutcome,
  madeOf,
}: Explained): string[] {
  const passages = (madeOf?.passages ?? []).map(
    ({ number, sourceName, url, score: of }) =>
      `  ${number}. ${sourceName ?? url ?? 'Untitled'} (${of.toFixed(2)})`,
  )
  const steps = (madeOf?.steps ?? []).flatMap((step) => [
    `  ${step.model}: ${known(step.inputTokens)} tokens read (${known(step.cachedTokens)} cached), ${known(step.outputTokens)} written (${known(step.reasoningTokens)} reasoning), first word after ${known(step.firstMs, ' ms')}, ${step.ms} ms`,
    ...step.prompt.map(({ role, text }) => `--- ${role}\n${text}`),
  ])
  return [
    `Model: ${known(model)}; ended with ${known(finishReason)}`,
    `Outcome: ${known(outcome)}; score ${known(score)}; cost ${known(dollars, ' dollars')}`,
    ...(ungrounded.length > 0
      ? [`Not in what it was given: ${ungrounded.map(({ text }) => text).join(', ')}`]
      : []),
    ...(held ? [`Held for a person: ${heldLine(heldOutcome)}`] : []),
    ...(madeOf === null ? ['What it was made of was not recorded.'] : []),
    ...(passages.length > 0 ? ['Passages:', ...passages] : []),
    ...(steps.length > 0 ? ['Calls of models:', ...steps] : []),
  ]
}

import type { Guardrails } from '../../platform/db/tables/agents.ts'

export type DailyMail = { subject: string; text: string }

type Lead = { name: string | null; email: string | null; phone: string | null }

export function mailOfLeads(agent: string, day: string, leads: readonly Lead[], total: number): DailyMail {
  const lines = leads.map(({ name, email, phone }) =>
    [name, email, phone].filter((part) => part !== null && part !== '').join(', '),
  )
  const what = total === 1 ? 'One lead' : `${total} leads`
  return written(`${what} of ${agent} on ${day}`, lines, total)
}

type Conversation = { title: string | null; source: string }

export function mailOfConversations(
  agent: string,
  day: string,
  conversations: readonly Conversation[],
  total: number,
): DailyMail {
  const lines = conversations.map(({ title, source }) => `${title || 'Without a title'} (${source})`)
  const what = total === 1 ? 'One conversation' : `${total} conversations`
  return written(`${what} with ${agent} on ${day}`, lines, total)
}

/** Line breaks in a visitor's text must not begin a new line. */
function written(subject: string, lines: readonly string[], total: number): DailyMail {
  const list = lines.map((line) => `- ${line.replaceAll(/\s+/g, ' ').slice(0, 300)}`)
  const more = total > lines.length ? [`- and ${total - lines.length} more`] : []
  return { subject, text: [`${subject} (UTC):`, '', ...list, ...more, ''].join('\n') }
}

type Budget = NonNullable<Guardrails['budget']>

export function mailOfBudget(
  agent: string,
  { dollars: limit, atLimit }: Budget,
  { dollars, state }: { dollars: number; state: 'alert' | 'reached' },
): DailyMail {
  const name = agent.replaceAll(/\s+/g, ' ')
  const spent = `The language models of ${name} have cost $${dollars.toFixed(2)} of $${limit.toFixed(2)} this month.`
  const then =
    atLimit === 'stop'
      ? ['No model is called any more', 'When all of it is spent, no model is called any more']
      : ['It goes on answering', 'When all of it is spent, it goes on answering']
  return {
    subject:
      state === 'reached' ? `The budget of ${name} is used up` : `The budget of ${name} is nearly used up`,
    text: [
      spent,
      `${state === 'reached' ? then[0] : then[1]}, until the month ends (UTC) or the budget is changed in the settings of the agent.`,
      '',
    ].join('\n'),
  }
}

export function mailOfAnswerTest(agent: string, alert: string): DailyMail {
  const name = agent.replaceAll(/\s+/g, ' ')
  return {
    subject: `The answers of ${name} need a look`,
    text: [alert, '', 'Open Evaluations of the agent, and there Answers, to see each test.', ''].join('\n'),
  }
}

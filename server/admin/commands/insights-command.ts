import { analyseNow } from '../../conversations/insights/analysis/claim-conversations.ts'
import { type Command, required } from '../command.ts'
import { findAgent } from './find-account.ts'

export const insightsAnalyse: Command = {
  name: 'insights analyse',
  usage: '--agent ID',
  summary:
    "Makes an agent's new conversations due for analysis now; the service analyses them within seconds",
  options: { agent: { type: 'string' } },
  async run({ db }, input) {
    const { id, account_id } = await findAgent(db, required(input, 'agent'))
    return {
      agent: id,
      conversations: await analyseNow({ db, jobs: null }, { accountId: account_id, agentId: id }),
    }
  },
  print: ({ conversations }) => `${conversations} conversations are due for analysis now.`,
}

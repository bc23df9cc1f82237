import pino from 'pino'
import { runEvaluations } from '../../knowledge/evaluations/run-evaluations.ts'
import { command, required } from '../command.ts'
import { findAgent } from './find-account.ts'

export const evaluate = command({
  name: 'evaluate',
  usage: '--agent ID',
  summary: "Measures an agent's retrieval with its evaluation questions",
  options: { agent: { type: 'string' } },
  async run({ db, openKnowledge, openModels }, input) {
    const { id, account_id, knowledge_version } = await findAgent(db, required(input, 'agent'))
    const agent = { id, accountId: account_id, knowledgeVersion: knowledge_version }
    const { models } = openModels()
    const log = pino({ level: 'silent' })
    return { ...(await runEvaluations({ db, knowledge: openKnowledge(), models, log }, agent)) }
  },
  print(run) {
    if (run.results.length === 0)
      return 'The agent has no evaluation questions; add some with POST /evaluations.'
    const figures = [
      `${run.answerable} answerable questions: recall@1 ${percent(run.recallAt1)}, recall@3 ${percent(run.recallAt3)}, recall@5 ${percent(run.recallAt5)}, MRR ${run.mrr?.toFixed(3) ?? '-'}, answered ${percent(run.answered)}`,
      `${run.unanswerable} unanswerable questions: declined ${percent(run.declined)}`,
    ]
    const rows = run.results.map(({ place, score, isAnswered, question }) =>
      [place ?? '-', score.toFixed(2), isAnswered ? 'answered' : 'declined', question].join('\t'),
    )
    return [...figures, 'place\tscore\t\tquestion', ...rows].join('\n')
  },
})

const percent = (share: number | null): string => (share === null ? '-' : `${Math.round(share * 100)} %`)

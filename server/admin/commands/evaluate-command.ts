import pino from 'pino'
import { runEvaluations } from '../../knowledge/evaluations/run-evaluations.ts'
import { command, required } from '../command.ts'
import { findAgent } from './find-account.ts'
import { type AnswersTested, junitOf, linesOf, testAnswers } from './test-answers.ts'

type SearchRun = Awaited<ReturnType<typeof runEvaluations>>
type Evaluated = (SearchRun & { answers?: never }) | { answers: AnswersTested }

export const evaluate = command<Evaluated>({
  name: 'evaluate',
  usage:
    '--agent ID [--answers [CASES.json|CASES.csv]] [--repeats N] [--judges] [--model ID] [--version live|draft] [--at-least SHARE] [--compare RUN|last] [--max-credits N] [--max-dollars N] [--junit]',
  summary:
    "Measures an agent's retrieval with its evaluation questions or, with --answers, tests its answers; the exit code is 1 if fewer than --at-least pass (default 1), or if it is worse than the run to compare with by more than chance",
  options: {
    agent: { type: 'string' },
    answers: { type: 'boolean' },
    repeats: { type: 'string' },
    judges: { type: 'boolean' },
    model: { type: 'string' },
    version: { type: 'string' },
    'at-least': { type: 'string' },
    compare: { type: 'string' },
    'max-credits': { type: 'string' },
    'max-dollars': { type: 'string' },
    junit: { type: 'boolean' },
  },
  positionals: { count: 0, most: 1, paths: true },
  async run(operations, input) {
    const { db, openKnowledge, openModels } = operations
    const agent = await findAgent(db, required(input, 'agent'))
    if (input.values.answers) return { answers: await testAnswers(operations, agent, input) }
    const known = { id: agent.id, accountId: agent.account_id, knowledgeVersion: agent.knowledge_version }
    const { models } = openModels()
    const log = pino({ level: 'silent' })
    return { ...(await runEvaluations({ db, knowledge: openKnowledge(), models, log }, known)) }
  },
  isFailure: ({ answers }) => answers !== undefined && !answers.isEnough,
  print(evaluated) {
    const { answers } = evaluated
    if (!answers) return printSearch(evaluated)
    return answers.isJunit ? junitOf(answers) : linesOf(answers)
  },
})

function printSearch(run: SearchRun): string {
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
}

const percent = (share: number | null): string => (share === null ? '-' : `${Math.round(share * 100)} %`)

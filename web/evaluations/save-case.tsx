import type { TrialMessage } from '../playground/use-chat.ts'
import { CaseDialog } from './case-dialog.tsx'

type SaveCaseProps = {
  agentId: string
  question: string
  answer: Pick<TrialMessage, 'sources'>
  onClose: () => void
}

/** Creates an evaluation question from an answer in the playground. */
export const SaveCase = ({ agentId, question, answer: { sources }, onClose }: SaveCaseProps) => (
  <CaseDialog
    agentId={agentId}
    start={{
      question: question.slice(0, 1_000),
      expectedSourceId: sources[0]?.id ?? null,
      // What the agent said without a source, such as a refusal, is nothing to expect of it.
      expectedAnswer: null,
      setId: null,
    }}
    onClose={onClose}
  />
)

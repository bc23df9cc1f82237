import type { Said } from '../playground/use-chat.ts'
import { CaseDialog } from './case-dialog.tsx'

/** Matches citation numbers, which mean nothing outside the answer that contains them. */
const CITATION = /\s?\[\d+\]/g

type SaveCaseProps = {
  agentId: string
  question: string
  answer: Pick<Said, 'text' | 'sources'>
  onClose: () => void
}

/** Creates an evaluation question from an answer in the playground. */
export const SaveCase = ({ agentId, question, answer: { text, sources }, onClose }: SaveCaseProps) => (
  <CaseDialog
    agentId={agentId}
    start={{
      question: question.slice(0, 1_000),
      expectedSourceId: sources[0]?.id ?? null,
      expectedAnswer: sources.length > 0 ? null : text.replace(CITATION, '').slice(0, 10_000) || null,
      setId: null,
    }}
    onClose={onClose}
  />
)

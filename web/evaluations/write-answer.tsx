import { call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea } from '../ui/field.tsx'
import { tell } from '../ui/toast.tsx'
import type { Result } from './results.ts'

type WriteAnswerProps = { agentId: string; result: Result; onClose: () => void }

/** Adds the missing answer to a failing question as a source of its own. */
export function WriteAnswer({ agentId, result, onClose }: WriteAnswerProps) {
  const add = useMutation({
    meta: { quiet: true },
    mutationFn: (answer: string) =>
      call('POST', '/agents/{agentId}/sources', {
        params: { agentId },
        body: { type: 'qna', name: result.question.slice(0, 100), questions: [result.question], answer },
      }),
    onSuccess: () => {
      tell('done', 'The agent learns it now. Run the evaluation again in a moment.')
      void fetchAgain('/agents/{agentId}/sources')
      onClose()
    },
  })
  return (
    <Dialog title="Write the answer" isOpen onClose={onClose} wide>
      <Form save={add} onSubmit={(fields) => add.mutate(String(fields.get('answer')).trim())}>
        <p dir="auto">{result.question}</p>
        <TextArea
          label="Answer"
          name="answer"
          rows={6}
          required
          defaultValue={result.expectedAnswer ?? ''}
          hint="It becomes a source of its own, which you can change or remove later."
        />
        <FormActions save={add} kind="primary" label="Save the answer" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

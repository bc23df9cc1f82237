import { useState } from 'react'
import { call, type Message } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea } from '../ui/field.tsx'
import { Quoted } from '../ui/quoted.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './conversations.module.css'
import { textOf } from './message-view.tsx'

/** Matches citation numbers, which mean nothing outside the answer that contains them. */
const CITATION = /\s?\[\d+\]/g

type CorrectionProps = {
  agentId: string
  conversationId: string
  messageId: string
  messages: Message[]
  onClose: () => void
}

/** A dialog for entering the right answer. It becomes a source that the agent uses at once. */
export function Correction({ agentId, conversationId, messageId, messages, onClose }: CorrectionProps) {
  const at = messages.findIndex(({ id }) => id === messageId)
  const answered = messages[at]
  const asked = messages.slice(0, at).findLast(({ role }) => role === 'user')
  const [question, setQuestion] = useState(asked ? textOf(asked) : '')
  const [answer, setAnswer] = useState('')
  const correct = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      call('POST', '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/correction', {
        params: { agentId, conversationId, messageId },
        body: { answer, question },
      }),
    onSuccess: () => {
      tell('done', 'The agent will say this from now on.')
      void fetchAgain('/agents/{agentId}/sources', '/agents/{agentId}/insights/unanswered')
      onClose()
    },
  })
  return (
    <Dialog title="Correct the answer" isOpen onClose={onClose} wide>
      <Form save={correct} onSubmit={() => correct.mutate()}>
        <TextArea
          label="Question"
          rows={2}
          value={question}
          onChange={({ target }) => setQuestion(target.value)}
          hint="It becomes part of the source: leave out what only this visitor should know."
          required
        />
        <div className={classes.correction}>
          {answered && textOf(answered).trim() !== '' && (
            <Quoted label="What the agent said" text={textOf(answered).replace(CITATION, '')} />
          )}
          <TextArea
            label="The right answer"
            rows={8}
            value={answer}
            onChange={({ target }) => setAnswer(target.value)}
            placeholder="What the agent should say"
            hint="It becomes a source of its own, which you can change or remove later."
            required
            autoFocus
          />
        </div>
        <FormActions save={correct} kind="primary" label="Save the correction" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

import { useState } from 'react'
import { call, type InputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { EyeOff, Pin, PinOff, RotateCcw } from '../ui/icons.ts'
import { Badge } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import type { Saving } from '../ui/unsaved.ts'
import classes from './sources.module.css'

const CHUNKS = '/agents/{agentId}/sources/{sourceId}/chunks'
const PATH = `${CHUNKS}/{chunkId}` as const
const MAX_QUESTION_LENGTH = 500
type Change = InputOf<'PATCH', typeof PATH>['body']

/** What is chosen about a passage. */
export type Chosen = { excluded: boolean; pinnedFor: string[] }

type PassageChoiceProps = {
  params: { agentId: string; sourceId: string; chunkId: string }
  chosen: Chosen
  /** The question that it can be pinned to with one click; without one, a dialog asks for it. */
  question?: string
  onChange?: (chosen: Chosen) => void
}

/** Shows whether a passage is excluded or pinned, and lets members who may do so change it. */
export function PassageChoice({ params, chosen, question, onChange }: PassageChoiceProps) {
  const can = useCan()
  const [isAsking, setIsAsking] = useState(false)
  const choose = useMutation({
    meta: { quiet: true },
    mutationFn: ({ to }: { to: Change; back: Change; said: string }) =>
      call('PATCH', PATH, { params, body: to }),
    onSuccess: (changed, { to, back, said }) => {
      setIsAsking(false)
      onChange?.(changed)
      void fetchAgain(CHUNKS)
      tell('done', said, {
        label: 'Undo',
        run: () => choose.mutate({ to: back, back: to, said: 'It is as it was.' }),
      })
    },
    onError: (error) => isAsking || tell('problem', sentenceOf(error)),
  })
  const { excluded, pinnedFor } = chosen
  const pin = (questions: string[], said: string) =>
    choose.mutate({ to: { pinnedFor: questions }, back: { pinnedFor }, said })
  const addPin = (asked: string) =>
    pin([...pinnedFor.filter((one) => one !== asked), asked], 'It comes first for such questions now.')
  const unpin = (asked: string) =>
    pin(
      pinnedFor.filter((other) => other !== asked),
      'It is no longer pinned to that question.',
    )
  const asked = question?.trim().slice(0, MAX_QUESTION_LENGTH).toWellFormed()
  const mayChange = can('sources:write')
  if (!mayChange && !excluded && pinnedFor.length === 0) return null
  return (
    <footer className={classes.choice}>
      {pinnedFor.length > 0 && <PinList questions={pinnedFor} onUnpin={mayChange ? unpin : undefined} />}
      {excluded && <Badge tone="warning">Excluded: no answer uses it</Badge>}
      {mayChange && (
        <div>
          {!excluded && (asked === undefined || !pinnedFor.includes(asked)) && (
            <Button
              small
              icon={Pin}
              pending={choose.isPending}
              onClick={() => (asked === undefined ? setIsAsking(true) : addPin(asked))}
            >
              {asked === undefined ? 'Pin to a question' : 'Pin to this question'}
            </Button>
          )}
          <Button
            small
            icon={excluded ? RotateCcw : EyeOff}
            pending={choose.isPending}
            onClick={() =>
              choose.mutate({
                to: { excluded: !excluded },
                back: { excluded },
                said: excluded ? 'Answers may use it again.' : 'No answer uses it from now on.',
              })
            }
          >
            {excluded ? 'Include again' : 'Exclude'}
          </Button>
        </div>
      )}
      <Dialog title="Pin the passage" isOpen={isAsking} onClose={() => setIsAsking(false)}>
        <PinForm choose={choose} onPin={addPin} onClose={() => setIsAsking(false)} />
      </Dialog>
    </footer>
  )
}

type PinListProps = { questions: string[]; onUnpin: ((question: string) => void) | undefined }

function PinList({ questions, onUnpin }: PinListProps) {
  return (
    <ul aria-label="Pinned to">
      {questions.map((one) => (
        <li key={one}>
          <Badge tone="info">
            <Pin size={12} aria-hidden /> First for “{one}”
          </Badge>
          {onUnpin && (
            <Button
              small
              kind="quiet"
              icon={PinOff}
              aria-label={`Unpin from “${one}”`}
              onClick={() => onUnpin(one)}
            >
              Unpin
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

type PinFormProps = {
  choose: Saving & { error: Error | null; isPending: boolean }
  onPin: (question: string) => void
  onClose: () => void
}

function PinForm({ choose, onPin, onClose }: PinFormProps) {
  return (
    <Form save={choose} onSubmit={(fields) => onPin(String(fields.get('question')).trim())}>
      <TextField
        label="Question"
        name="question"
        hint="The passage comes first for each question with these words, in whatever form. Few words fit more questions."
        required
        maxLength={MAX_QUESTION_LENGTH}
        autoFocus
      />
      <FormActions save={choose} kind="primary" label="Pin" onCancel={onClose} />
    </Form>
  )
}

import { useState } from 'react'
import { call, type OutputOf } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea } from '../ui/field.tsx'
import { Copy, Wrench } from '../ui/icons.ts'
import { Quoted } from '../ui/quoted.tsx'
import { useCopy } from '../ui/use-copy.ts'
import classes from './evaluations.module.css'

const PATH = '/agents/{agentId}/answer-fixes'
type Fix = OutputOf<'POST', typeof PATH>

type ProposeFixProps = { agentId: string; question: string; answer?: string; right?: string }

/** A button that asks a model what would make a bad answer right. Nothing is applied. */
export function ProposeFix(props: ProposeFixProps) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button small kind="quiet" icon={Wrench} onClick={() => setOpen(true)}>
        What would fix it?
      </Button>
      {open && <FixDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function FixDialog({
  agentId,
  question,
  answer = '',
  right = '',
  onClose,
}: ProposeFixProps & { onClose: () => void }) {
  const [asked, setAsked] = useState({ question, right })
  const find = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      call('POST', PATH, {
        params: { agentId },
        body: {
          question: asked.question,
          ...(answer.trim() ? { answer: answer.slice(0, 20_000) } : {}),
          ...(asked.right.trim() ? { right: asked.right } : {}),
        },
      }),
  })
  return (
    <Dialog title="What would fix it?" isOpen onClose={onClose} wide>
      <Form save={find} onSubmit={() => find.mutate()}>
        <TextArea
          label="Question"
          hint="A model reads it: leave out what is personal."
          rows={2}
          required
          maxLength={10_000}
          value={asked.question}
          onChange={({ target }) => setAsked((now) => ({ ...now, question: target.value }))}
        />
        <TextArea
          label="A right answer says (optional)"
          hint="Without it, a missing source is proposed with gaps."
          rows={3}
          maxLength={4_000}
          value={asked.right}
          onChange={({ target }) => setAsked((now) => ({ ...now, right: target.value }))}
        />
        {find.data && <Proposed fix={find.data} />}
        <FormActions
          save={find}
          kind={find.data ? 'secondary' : 'primary'}
          label={find.data ? 'Ask again' : 'Look for it'}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  )
}

const TITLES: Record<Fix['kind'], string> = {
  source: 'A source is missing',
  contradiction: 'Two sources contradict each other',
  instruction: 'An instruction is missing',
  unknown: 'Nothing was found that can be checked',
}

function Proposed({ fix }: { fix: Fix }) {
  const { kind, reason, title, text, unknownValues, quotes, passages } = fix
  return (
    <section className={classes.stack} aria-live="polite" aria-label="Proposal">
      <h3>{TITLES[kind]}</h3>
      {reason && <p dir="auto">{reason}</p>}
      {kind === 'unknown' && (
        <p>Look at the passages yourself, write what a right answer says, or ask again.</p>
      )}
      {quotes.map(({ sourceId, sourceName, quote }) => (
        <Quoted key={sourceId} label={sourceName ?? 'Untitled'} text={quote} />
      ))}
      {text && (
        <>
          <Quoted
            label={title ?? (kind === 'source' ? 'New source' : 'To add to the instructions')}
            text={text}
          />
          {unknownValues.length > 0 && (
            <p className={classes.worse}>
              Nothing that the model was given holds {unknownValues.join(', ')}. Check before you use the
              text.
            </p>
          )}
          <CopyButton text={text} />
        </>
      )}
      <details>
        <summary className={classes.faint}>
          {passages.length === 0 ? 'The search finds no passage for the question.' : 'What the search finds'}
        </summary>
        {passages.map((passage) => (
          <Quoted
            key={passage.sourceId + passage.text}
            label={passage.sourceName ?? 'Untitled'}
            text={passage.text}
          />
        ))}
      </details>
    </section>
  )
}

function CopyButton({ text }: { text: string }) {
  const [isCopied, copy] = useCopy()
  return (
    <div>
      <Button small icon={Copy} onClick={() => void copy(text)}>
        {isCopied ? 'Copied' : 'Copy the text'}
      </Button>
    </div>
  )
}

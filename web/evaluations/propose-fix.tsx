import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type OutputOf, reading } from '../app/api.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { DRAFT, draftChanged } from '../drafts/use-draft.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions, Form, FormActions, TextArea, TextField } from '../ui/field.tsx'
import { Copy, Wrench } from '../ui/icons.ts'
import { Quoted } from '../ui/quoted.tsx'
import { tell } from '../ui/toast.tsx'
import { useCopy } from '../ui/use-copy.ts'
import classes from './evaluations.module.css'

const PATH = '/agents/{agentId}/answer-fixes'
type Fix = OutputOf<'POST', typeof PATH>

type ProposeFixProps = { agentId: string; question: string; answer?: string; right?: string }

/** A button that asks a model what would make a bad answer right. What is proposed can be put into the draft. */
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
        {find.data && <Proposed agentId={agentId} fix={find.data} />}
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

function Proposed({ agentId, fix }: { agentId: string; fix: Fix }) {
  const { kind, reason, quotes, passages } = fix
  return (
    <section className={classes.stack} aria-live="polite" aria-label="Proposal">
      <h3>{TITLES[kind]}</h3>
      {reason && <p dir="auto">{reason}</p>}
      {kind === 'unknown' && (
        <p>Look at the passages yourself, write what a right answer says, or ask again.</p>
      )}
      {quotes.map(({ sourceId, sourceName, quote }) => (
        <div key={sourceId} className={classes.stack}>
          <Quoted label={sourceName ?? 'Untitled'} text={quote} />
          <LeaveOut agentId={agentId} sourceId={sourceId} name={sourceName ?? 'Untitled'} />
        </div>
      ))}
      {fix.text !== null && <ProposedText key={fix.text} agentId={agentId} fix={fix} text={fix.text} />}
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

/** The missing source or the instruction, which the member may change before it goes into the draft. */
function ProposedText({ agentId, fix, text: proposed }: { agentId: string; fix: Fix; text: string }) {
  const [text, setText] = useState(proposed)
  const [title, setTitle] = useState(fix.title ?? '')
  const [isCopied, copy] = useCopy()
  const isSource = fix.kind === 'source'
  const apply = useApply(agentId, async () => {
    if (isSource) {
      const source = { type: 'text' as const, name: title.trim() || 'Untitled', content: text }
      return call('POST', `${DRAFT}/sources`, { params: { agentId }, body: { source } })
    }
    const { queryFn } = reading(DRAFT, { params: { agentId } })
    const { instructions, etag } = await queryFn({ signal: new AbortController().signal })
    return call('PUT', DRAFT, {
      params: { agentId },
      body: { instructions: [instructions, text].filter((one) => one.trim()).join('\n\n') },
      // Somebody who changes them at the same moment is not overwritten.
      headers: etag === undefined ? {} : { 'if-match': etag },
    })
  })
  const isLeft = fix.unknownValues.filter((value) => text.includes(value))
  return (
    <>
      {isSource && (
        <TextField
          label="Title of the new source"
          maxLength={100}
          value={title}
          onChange={({ target }) => setTitle(target.value)}
        />
      )}
      <TextArea
        label={isSource ? 'Its text' : 'To add to the instructions'}
        rows={5}
        dir="auto"
        value={text}
        onChange={({ target }) => setText(target.value)}
        {...(isLeft.length > 0
          ? { error: `Nothing that the model was given holds ${isLeft.join(', ')}. Check it.` }
          : {})}
      />
      <Actions>
        <ApplyButton
          apply={apply}
          disabled={text.trim() === ''}
          label={isSource ? 'Add it to the draft' : 'Add it to the instructions of the draft'}
        />
        <Button small kind="quiet" icon={Copy} onClick={() => void copy(text)}>
          {isCopied ? 'Copied' : 'Copy the text'}
        </Button>
      </Actions>
    </>
  )
}

function LeaveOut({ agentId, sourceId, name }: { agentId: string; sourceId: string; name: string }) {
  const apply = useApply(agentId, () =>
    call('PUT', DRAFT, { params: { agentId }, body: { sources: [{ id: sourceId, isIncluded: false }] } }),
  )
  return (
    <Actions>
      <ApplyButton apply={apply} label={`Leave ${name} out of the draft`} />
    </Actions>
  )
}

/** Changes the draft alone: customers are answered with the live agent until it is published. */
function useApply(agentId: string, change: () => Promise<unknown>) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      void draftChanged()
      tell('done', 'It is in the draft. Test the draft, and publish it when it is right.', {
        label: 'Open the draft',
        run: () => void navigate({ to: '/agents/$agentId/draft', params: { agentId } }),
      })
    },
  })
}

type ApplyButtonProps = {
  apply: ReturnType<typeof useApply>
  label: string
  disabled?: boolean
}

function ApplyButton({ apply, label, disabled = false }: ApplyButtonProps) {
  const can = useCan()
  if (!can('agents:write') || !can('sources:write')) return null
  return (
    <Button
      small
      pending={apply.isPending}
      disabled={disabled || apply.isSuccess}
      onClick={() => apply.mutate()}
    >
      {apply.isSuccess ? 'In the draft' : label}
    </Button>
  )
}

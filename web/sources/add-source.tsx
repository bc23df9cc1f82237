import { useState } from 'react'
import { call, type InputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { FixedCheck } from './fixed-check.tsx'
import { typedUrl } from './typed-url.ts'

export type NewKind = 'link' | 'qna' | 'text'
type Body = InputOf<'POST', '/agents/{agentId}/sources'>['body']
type WrittenBody = Extract<Body, { type: 'text' | 'qna' }>

const TITLES = { link: 'Add a website', qna: 'Add a question and its answer', text: 'Add a text' }
const EXTENTS = [
  ['crawl', 'All pages that its links lead to'],
  ['sitemap', 'The pages of its sitemap'],
  ['individual', 'This page only'],
] as const

const lines = (text: FormDataEntryValue | null): string[] =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** Returns the source that is written in a form. */
export function writtenIn(kind: 'qna' | 'text', form: FormData): WrittenBody {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  if (kind === 'text') return { type: 'text', name: text('name'), content: text('content') }
  const questions = lines(form.get('questions'))
  return {
    type: 'qna',
    name: questions[0]?.slice(0, 255) ?? '',
    questions,
    answer: text('answer'),
    fixed: form.get('fixed') !== null,
  }
}

function bodyOf(kind: NewKind, form: FormData): Body {
  if (kind !== 'link') return writtenIn(kind, form)
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const url = typedUrl(text('url'))
  const linkType = EXTENTS.find(([id]) => id === text('linkType'))?.[0] ?? 'crawl'
  if (linkType === 'individual') return { type: 'link', ...url, linkType }
  const [excludePaths, includeOnlyPaths] = [lines(form.get('exclude')), lines(form.get('include'))]
  return {
    type: 'link',
    ...url,
    linkType,
    ...(excludePaths.length > 0 && { excludePaths }),
    ...(includeOnlyPaths.length > 0 && { includeOnlyPaths }),
  }
}

export function AddSource({
  kind,
  agentId,
  onClose,
}: {
  kind: NewKind
  agentId: string
  onClose: () => void
}) {
  const add = useMutation({
    meta: { quiet: true },
    mutationFn: (body: Body) => call('POST', '/agents/{agentId}/sources', { params: { agentId }, body }),
    onSuccess: () => {
      void fetchAgain('/agents/{agentId}/sources', '/agents/{agentId}/sources/summary')
      onClose()
    },
  })
  const submit = (fields: FormData): void => add.mutate(bodyOf(kind, fields))
  return (
    <Dialog title={TITLES[kind]} isOpen onClose={onClose} wide={kind !== 'link'}>
      <Form save={add} onSubmit={submit}>
        {kind === 'link' ? <LinkFields /> : <WrittenFields kind={kind} />}
        <FormActions save={add} kind="primary" label="Add" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

type Written = {
  name?: string
  content?: string | null | undefined
  questions?: readonly string[] | null | undefined
  answer?: string | null | undefined
  fixed?: boolean | undefined
}

/** The fields of a text, or of questions and their answer. */
export const WrittenFields = ({ kind, start = {} }: { kind: 'qna' | 'text'; start?: Written }) =>
  kind === 'qna' ? (
    <>
      <TextArea
        label="Question"
        name="questions"
        rows={2}
        defaultValue={(start.questions ?? []).join('\n')}
        hint="Write other ways to ask the same on separate lines."
        required
        autoFocus
      />
      <TextArea label="Answer" name="answer" rows={6} defaultValue={start.answer ?? ''} required />
      <FixedCheck defaultChecked={start.fixed === true} />
    </>
  ) : (
    <>
      <TextField
        label="Name"
        name="name"
        defaultValue={start.name ?? ''}
        required
        maxLength={255}
        autoFocus
      />
      <TextArea
        label="Text"
        name="content"
        rows={14}
        defaultValue={start.content ?? ''}
        required
        dir="auto"
      />
    </>
  )

function LinkFields() {
  const [extent, setExtent] = useState('crawl')
  return (
    <>
      <TextField
        label="Address"
        name="url"
        inputMode="url"
        placeholder="https://example.com/help"
        required
        autoFocus
      />
      <Select label="What to read" name="linkType" options={EXTENTS} value={extent} onChoose={setExtent} />
      {extent !== 'individual' && (
        <>
          <TextArea
            label="Only these paths (optional)"
            name="include"
            rows={2}
            placeholder="/help/"
            hint="One per line."
          />
          <TextArea label="Not these paths (optional)" name="exclude" rows={2} placeholder="/blog/" />
        </>
      )}
    </>
  )
}

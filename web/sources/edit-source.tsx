import { useQuery } from '@tanstack/react-query'
import { call, type InputOf, type OutputOf, reading, type Source } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea, TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { FixedCheck } from './fixed-check.tsx'

const PATH = '/agents/{agentId}/sources/{sourceId}'
type Content = OutputOf<'GET', `${typeof PATH}/content`>
type Change = InputOf<'PUT', typeof PATH>['body']
type Props = { agentId: string; source: Source; onClose: () => void }

/** Edits a text, or questions and their answer. */
export function EditSource(props: Props) {
  const params = { agentId: props.agentId, sourceId: props.source.id }
  const content = useQuery({ ...reading(`${PATH}/content`, { params }), staleTime: 0 })
  return (
    <Dialog title={`Edit ${props.source.name ?? 'the source'}`} isOpen onClose={props.onClose} wide>
      <Loaded of={content}>{(data) => <Fields {...props} content={data} />}</Loaded>
    </Dialog>
  )
}

function Fields({ agentId, source, content, onClose }: Props & { content: Content }) {
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (body: Change) => call('PUT', PATH, { params: { agentId, sourceId: source.id }, body }),
    onSuccess: () => {
      tell('done', 'Saved. It answers as before until the new version is trained.')
      void fetchAgain('/agents/{agentId}/sources', PATH, `${PATH}/content`)
      onClose()
    },
  })
  const submit = (fields: FormData): void => {
    const text = (name: string) => String(fields.get(name) ?? '').trim()
    const questions = text('questions')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    save.mutate({
      name: text('name'),
      ...(content.content === null
        ? { questions, answer: text('answer'), fixed: fields.get('fixed') !== null }
        : { content: text('content') }),
    })
  }
  return (
    <Form save={save} onSubmit={submit}>
      <TextField label="Name" name="name" defaultValue={source.name ?? ''} required maxLength={255} />
      {content.content === null ? (
        <>
          <TextArea
            label="Question"
            name="questions"
            rows={3}
            defaultValue={(content.questions ?? []).join('\n')}
            hint="Write other ways to ask the same on separate lines."
            required
          />
          <TextArea label="Answer" name="answer" rows={8} defaultValue={content.answer ?? ''} required />
          <FixedCheck defaultChecked={source.fixed === true} />
        </>
      ) : (
        <TextArea label="Text" name="content" rows={16} defaultValue={content.content} required dir="auto" />
      )}
      <FormActions save={save} kind="primary" label="Save and train" onCancel={onClose} />
    </Form>
  )
}

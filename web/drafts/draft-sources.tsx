import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type AgentDraft, call, type InputOf, listing, reading } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { useSaved } from '../app/use-saved.ts'
import { WrittenFields, writtenIn } from '../sources/add-source.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions } from '../ui/field.tsx'
import { Plus } from '../ui/icons.ts'
import { Badge, Section } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './drafts.module.css'
import { DRAFT, draftChanged, useChangeDraft } from './use-draft.ts'

type Props = { agentId: string; draft: AgentDraft }
type Kind = 'text' | 'qna'
/** What is written: a new source, or one that replaces another. */
type Writing = { kind: Kind; replaces?: { id: string; name: string | null } }
type Shown = Pick<AgentDraft['sources'][number], 'id' | 'name' | 'type' | 'isLive'>

/** What the draft answers from: the sources of the live agent, each of which can be left out, and its own texts. */
export function DraftSources({ agentId, draft }: Props) {
  const [writing, setWriting] = useState<Writing | null>(null)
  const change = useChangeDraft(agentId)
  const live = useInfiniteQuery(
    listing('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 50 } }),
  )
  const known = new Map(draft.sources.map((source) => [source.id, source]))
  const row = (source: Shown) => (
    <SourceRow
      key={source.id}
      agentId={agentId}
      source={source}
      isIncluded={known.get(source.id)?.isIncluded ?? source.isLive}
      onTurn={(isIncluded) => change.mutateAsync({ sources: [{ id: source.id, isIncluded }] })}
      onWrite={(kind) => setWriting({ kind, replaces: source })}
    />
  )
  const own = draft.sources.filter(({ isLive }) => !isLive)
  return (
    <Section
      title="Sources"
      about="A source that is left out is not deleted, so that a roll back can bring it back."
      actions={
        <div className={classes.rowActions}>
          <Button small icon={Plus} onClick={() => setWriting({ kind: 'text' })}>
            Add a text
          </Button>
          <Button small icon={Plus} onClick={() => setWriting({ kind: 'qna' })}>
            Add a question and answer
          </Button>
        </div>
      }
    >
      <Loaded of={live}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data)
          if (all.length + own.length === 0) return <p className={classes.faint}>The agent has no sources.</p>
          return (
            <>
              <ul className={classes.rows}>
                {own.map(row)}
                {all.map((source) => row({ ...source, isLive: true }))}
              </ul>
              <ShowMore of={live} className={classes.more} />
            </>
          )
        }}
      </Loaded>
      {writing && <WriteDialog agentId={agentId} writing={writing} onClose={() => setWriting(null)} />}
    </Section>
  )
}

type SourceRowProps = {
  agentId: string
  source: Shown
  isIncluded: boolean
  onTurn: (isIncluded: boolean) => Promise<unknown>
  onWrite: (kind: Kind) => void
}

function SourceRow({ agentId, source, isIncluded, onTurn, onWrite }: SourceRowProps) {
  const { id, name, type, isLive } = source
  const [shown, choose] = useSaved(isIncluded, onTurn)
  return (
    <li>
      <div>
        <Check
          label={
            <>
              <span dir="auto">{name ?? 'Untitled'}</span> {!isLive && <Badge tone="warning">not live</Badge>}
            </>
          }
          checked={shown}
          onChange={({ target }) => choose(target.checked)}
        />
      </div>
      <div className={classes.rowActions}>
        <Link to="/agents/$agentId/sources/$sourceId" params={{ agentId, sourceId: id }}>
          Open<span className="visually-hidden"> {name}</span>
        </Link>
        {(type === 'text' || type === 'qna') && isIncluded && (
          <Button small kind="quiet" aria-label={`Change ${name}`} onClick={() => onWrite(type)}>
            Change
          </Button>
        )}
      </div>
    </li>
  )
}

type WriteDialogProps = { agentId: string; writing: Writing; onClose: () => void }

/** Writes a source of the draft. What replaces another one begins with its text. */
function WriteDialog({ agentId, writing: { kind, replaces }, onClose }: WriteDialogProps) {
  const write = useMutation({
    meta: { quiet: true },
    mutationFn: (body: InputOf<'POST', `${typeof DRAFT}/sources`>['body']) =>
      call('POST', `${DRAFT}/sources`, { params: { agentId }, body }),
    onSuccess: () => {
      tell('done', 'Saved in the draft. Answers of the draft use it once it is read.')
      onClose()
      return draftChanged()
    },
  })
  const submit = (fields: FormData) =>
    write.mutate({ source: writtenIn(kind, fields), ...(replaces && { replaces: replaces.id }) })
  const title = replaces
    ? `Change ${replaces.name ?? 'the source'} in the draft`
    : kind === 'text'
      ? 'Add a text to the draft'
      : 'Add a question and its answer to the draft'
  return (
    <Dialog title={title} isOpen onClose={onClose} wide>
      <Form save={write} onSubmit={submit}>
        {replaces ? (
          <StoredFields agentId={agentId} kind={kind} id={replaces.id} />
        ) : (
          <WrittenFields kind={kind} />
        )}
        <FormActions save={write} kind="primary" label="Save in the draft" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

const SOURCE = '/agents/{agentId}/sources/{sourceId}'

function StoredFields({ agentId, kind, id }: { agentId: string; kind: Kind; id: string }) {
  const params = { agentId, sourceId: id }
  const source = useQuery(reading(SOURCE, { params }))
  const content = useQuery({ ...reading(`${SOURCE}/content`, { params }), staleTime: 0 })
  return (
    <Loaded of={source}>
      {({ name, fixed }) => (
        <Loaded of={content}>
          {(data) => <WrittenFields kind={kind} start={{ ...data, name: name ?? '', fixed }} />}
        </Loaded>
      )}
    </Loaded>
  )
}

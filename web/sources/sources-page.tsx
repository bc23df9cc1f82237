import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type DragEvent, useRef, useState } from 'react'
import { isBusy, statusOfSource } from '../agents/status.ts'
import { call, listing, reading, type Source } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { SavedSelect } from '../app/saved-select.tsx'
import { useAgentId, useCan, useMe } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { useParameters } from '../app/use-parameters.ts'
import { Ago } from '../ui/ago.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { FilePicker, TextField } from '../ui/field.tsx'
import { formatBytes, plural } from '../ui/format.ts'
import { Hidden } from '../ui/hidden.tsx'
import { BookOpen, Ellipsis, Trash2, Upload } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { Badge, Page, Table } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { Add, type Adding, AddMenu } from './add-menu.tsx'
import classes from './sources.module.css'
import { progressOf } from './training-list.tsx'
import { UploadList, useUploads } from './uploads.tsx'
import { Warnings } from './warnings.tsx'

const TYPES = [
  ['', 'All types'],
  ['link', 'Websites'],
  ['file', 'Files'],
  ['text', 'Texts'],
  ['qna', 'Questions and answers'],
  ['notionPage', 'Connected pages'],
  ['ticket', 'Solved tickets'],
] as const
const NAMES: Record<Source['type'], string> = {
  link: 'Website',
  file: 'File',
  text: 'Text',
  qna: 'Q&A',
  notionPage: 'Page',
  ticket: 'Ticket',
}

/** Lists the sources of an agent and lets the user add more. */
export function SourcesPage() {
  const agentId = useAgentId()
  const can = useCan()
  const { shown: search, change } = useParameters<Search>()
  const [adding, setAdding] = useState<Adding | null>(null)
  const [isOver, setIsOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const uploads = useUploads(agentId)
  const mayWrite = can('sources:write')
  const sources = useInfiniteQuery({
    ...listing('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 50, ...search } }),
    refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isBusy)) ? 1_500 : false),
  })
  const add = <AddMenu onAdd={setAdding} onFiles={() => picker.current?.click()} />
  const onDrop = (event: DragEvent): void => {
    event.preventDefault()
    setIsOver(false)
    uploads.add([...event.dataTransfer.files])
  }
  const isFiltered = Boolean(search.type || search.name)
  return (
    <Page title="Sources" about={<Amount agentId={agentId} />} actions={mayWrite && add}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: files can also be chosen with the button */}
      <div
        className={`${classes.drop} ${isOver ? classes.over : ''}`}
        onDragOver={(event) => {
          if (!mayWrite || !event.dataTransfer.types.includes('Files')) return
          event.preventDefault()
          setIsOver(true)
        }}
        onDragLeave={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget instanceof Node ? event.relatedTarget : null))
            setIsOver(false)
        }}
        onDrop={mayWrite ? onDrop : undefined}
      >
        <FilePicker ref={picker} label="Files to add" onPick={uploads.add} />
        <UploadList uploads={uploads} />
        <Filters search={search} onChange={(part) => change(part, true)} />
        <Loaded of={sources}>
          {({ pages }) => {
            const all = pages.flatMap(({ data }) => data)
            if (all.length === 0) {
              return isFiltered ? (
                <Empty icon={BookOpen} title="No source is called that" />
              ) : (
                <Empty icon={Upload} title="It has read nothing yet" action={mayWrite && add}>
                  Add a website, questions and answers, or a text. Files can be dropped here.
                </Empty>
              )
            }
            return (
              <>
                <SourceTable agentId={agentId} sources={all} mayWrite={mayWrite} />
                <ShowMore of={sources} className={classes.more} />
              </>
            )
          }}
        </Loaded>
        {isOver && (
          <div className={classes.veil} aria-hidden>
            <Upload size={24} /> Drop to add the files
          </div>
        )}
      </div>
      {adding && <Add adding={adding} agentId={agentId} onClose={() => setAdding(null)} />}
    </Page>
  )
}

type Search = { type?: string | undefined; name?: string | undefined }
type FiltersProps = { search: Search; onChange: (part: Search) => Promise<void> }

function Filters({ search, onChange }: FiltersProps) {
  return (
    <div className={classes.filters}>
      <TextField
        label="Name"
        hideLabel
        type="search"
        placeholder="Search by name"
        defaultValue={search.name ?? ''}
        onChange={({ target }) => void onChange({ name: target.value || undefined })}
      />
      <SavedSelect
        label="Type"
        hideLabel
        options={TYPES}
        value={search.type ?? ''}
        onSave={(type) => onChange({ type: type || undefined })}
      />
    </div>
  )
}

function Amount({ agentId }: { agentId: string }) {
  const limit = useMe().data?.trainingBytes ?? null
  const { data } = useQuery(reading('/agents/{agentId}/sources/summary', { params: { agentId } }))
  if (!data) return <>What it answers from.</>
  const parts = [data.texts, data.qnas, data.links, data.files, data.notionPages, data.tickets]
  const sum = (of: 'count' | 'size') => parts.reduce((total, part) => total + part[of], 0)
  return (
    <>
      {plural(sum('count'), 'source')},{' '}
      {limit === null
        ? `${formatBytes(sum('size'))} of text. The plan has no limit.`
        : `${formatBytes(sum('size'))} of the ${formatBytes(limit)} of text that the plan allows.`}
    </>
  )
}

type SourceTableProps = { agentId: string; sources: Source[]; mayWrite: boolean }

function SourceTable({ agentId, sources, mayWrite }: SourceTableProps) {
  return (
    <Table
      label="Sources"
      className={classes.list}
      head={['Name', 'Type', 'State', 'Size', 'Changed', <Hidden key="a">Actions</Hidden>]}
    >
      {sources.map((source) => (
        <SourceRow key={source.id} agentId={agentId} source={source} mayWrite={mayWrite} />
      ))}
    </Table>
  )
}

function SourceRow({ agentId, source, mayWrite }: { agentId: string; source: Source; mayWrite: boolean }) {
  const { tone, label } = statusOfSource(source.status)
  const [isRemoving, setIsRemoving] = useState(false)
  const remove = useMutation({
    mutationFn: () =>
      call('DELETE', '/agents/{agentId}/sources/{sourceId}', { params: { agentId, sourceId: source.id } }),
    onSuccess: () => {
      tell('done', `${source.name ?? 'The source'} is being removed.`)
      setIsRemoving(false)
      void fetchAgain('/agents/{agentId}/sources', '/agents/{agentId}/sources/summary')
    },
  })
  return (
    <tr>
      <td className={classes.name}>
        <Link to="/agents/$agentId/sources/$sourceId" params={{ agentId, sourceId: source.id }}>
          {source.name ?? 'Untitled'}
        </Link>
        <p className={classes.brief}>
          {NAMES[source.type]}, {formatBytes(source.size)}
        </p>
        {source.error && <p className={classes.error}>{source.error}</p>}
        {source.warnings && <Warnings of={source.warnings} />}
      </td>
      <td>{NAMES[source.type]}</td>
      <td>
        <Badge tone={tone}>{label}</Badge> <span className={classes.faint}>{progressOf(source)}</span>
      </td>
      <td className={classes.nowrap}>{formatBytes(source.size)}</td>
      <td className={classes.nowrap}>
        <Ago at={source.updatedAt} />
      </td>
      <td className={classes.end}>
        {mayWrite && (
          <Menu
            label={`Actions for ${source.name ?? 'the source'}`}
            className={classes.dots}
            choices={[
              {
                id: 'remove',
                label: 'Delete the source',
                icon: Trash2,
                danger: true,
                onChoose: () => setIsRemoving(true),
              },
            ]}
          >
            <Ellipsis size={18} aria-hidden />
          </Menu>
        )}
        {isRemoving && (
          <Confirm
            title={`Delete ${source.name ?? 'the source'}?`}
            action="Delete the source"
            pending={remove.isPending}
            onConfirm={() => remove.mutate()}
            onClose={() => setIsRemoving(false)}
          >
            The agent no longer answers from it. This cannot be undone, but the source can be added again.
          </Confirm>
        )}
      </td>
    </tr>
  )
}

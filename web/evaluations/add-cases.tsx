import { useRef, useState } from 'react'
import { call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { saveFile } from '../app/save-file.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { FilePicker } from '../ui/field.tsx'
import { plural } from '../ui/format.ts'
import { BookOpen, Bot, Braces, Download, Plus, Sheet, Upload } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { tell } from '../ui/toast.tsx'
import { type CaseStart, NEW_CASE, PLAYED_CASE } from './answer-case-draft.ts'
import { ProposeCases } from './propose-cases.tsx'

const CASES = '/agents/{agentId}/answer-cases'

type AddCasesProps = { agentId: string; onEdit: (start: CaseStart) => void }

/** The ways in which cases come to an agent, and out of it. */
export function AddCases({ agentId, onEdit }: AddCasesProps) {
  const [proposing, setProposing] = useState(false)
  const file = useRef<HTMLInputElement>(null)
  const read = useMutation({
    mutationFn: async (given: File) =>
      call('POST', `${CASES}/import`, {
        params: { agentId },
        body: { format: /\.csv$/i.test(given.name) ? 'csv' : 'json', content: await given.text() },
      }),
    onSuccess: ({ added }) => {
      tell('done', `${plural(added.length, 'case')} added.`)
      void fetchAgain(CASES)
    },
  })
  const write = useMutation({
    mutationFn: (format: 'csv' | 'json') =>
      call('GET', `${CASES}/export`, { params: { agentId }, query: { format } }),
    onSuccess: ({ format, content }) =>
      saveFile(
        `cases.${format}`,
        // The byte order mark makes spreadsheets read the text as Unicode.
        format === 'csv' ? ['\uFEFF', content] : [content],
        format === 'csv' ? 'text/csv' : 'application/json',
      ),
  })
  return (
    <>
      <Button icon={Plus} onClick={() => onEdit(NEW_CASE)}>
        Add a case
      </Button>
      <Menu
        label="More cases"
        choices={[
          {
            id: 'sources',
            label: 'From the sources',
            hint: 'A model writes questions',
            icon: BookOpen,
            onChoose: () => setProposing(true),
          },
          {
            id: 'customer',
            label: 'A simulated customer',
            hint: 'Played by a model',
            icon: Bot,
            onChoose: () => onEdit(PLAYED_CASE),
          },
          {
            id: 'file',
            label: 'From a file',
            hint: 'CSV or JSON',
            icon: Upload,
            onChoose: () => file.current?.click(),
          },
        ]}
      >
        More cases
      </Menu>
      <Menu
        label="Export the cases"
        choices={[
          { id: 'csv', label: 'Table (CSV)', icon: Sheet, onChoose: () => write.mutate('csv') },
          { id: 'json', label: 'JSON', icon: Braces, onChoose: () => write.mutate('json') },
        ]}
      >
        <Download size={16} aria-hidden /> Export
      </Menu>
      <FilePicker ref={file} label="File of cases" onPick={([given]) => given && read.mutate(given)} />
      {proposing && <ProposeCases agentId={agentId} onClose={() => setProposing(false)} />}
    </>
  )
}

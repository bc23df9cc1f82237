import { call, exporting } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { asJsonLine, collect, saveFile } from '../app/save-file.ts'
import { useCan, useMe } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { Download } from '../ui/icons.ts'
import { Card, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './workspace.module.css'

/** Shows the name of the workspace, and exports all of its data as a file. */
export function General() {
  const me = useMe()
  const can = useCan()
  return (
    <div className={classes.parts}>
      <Loaded of={me}>{({ account }) => <Name name={account.name} />}</Loaded>
      {can('privacy:read') && <DataExport />}
    </div>
  )
}

function Name({ name }: { name: string }) {
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (next: string) => call('PATCH', '/account', { body: { name: next } }),
    onSuccess: () => {
      tell('done', 'Saved.')
      return fetchAgain('/me')
    },
  })
  const submit = (fields: FormData): void => save.mutate(String(fields.get('name')).trim())
  return (
    <Section title="Name">
      <Card>
        <Form save={save} onSubmit={submit}>
          <TextField label="Name of the workspace" name="name" defaultValue={name} required maxLength={100} />
          <FormActions save={save} label="Rename" />
        </Form>
      </Card>
    </Section>
  )
}

function DataExport() {
  const save = useMutation({
    mutationFn: async () => {
      const parts = await collect(exporting('POST', '/account/export'), asJsonLine)
      saveFile('workspace.ndjson', parts, 'application/x-ndjson')
    },
    onSuccess: () => tell('done', 'Everything of this workspace is in the file.'),
  })
  return (
    <Section
      title="Data"
      about="Agents, sources, conversations, contacts, leads and tickets as lines of JSON. Keys and passwords are not in it, nor are uploaded files."
    >
      <div>
        <Button icon={Download} pending={save.isPending} onClick={() => save.mutate()}>
          Export everything
        </Button>
      </div>
    </Section>
  )
}

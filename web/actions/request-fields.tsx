import { Button, IconButton } from '../ui/button.tsx'
import { Select, TextArea, TextField } from '../ui/field.tsx'
import { Plus, X } from '../ui/icons.ts'
import classes from './actions.module.css'
import type { Action } from './words.ts'

type Http = NonNullable<Action['http']>
/** The value of a stored header is never returned. */
type Header = { id: number; name: string; value: string; isStored: boolean }
export type Request = Omit<Http, 'headers'> & { headers: Header[] }

export const emptyRequest: Request = { method: 'GET', url: '', headers: [], body: null, timeoutMs: 10_000 }

export const requestOf = ({ headers, ...http }: Http): Request => ({
  ...http,
  headers: Object.keys(headers).map((name, id) => ({ id, name, value: '', isStored: true })),
})

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

type RequestFieldsProps = {
  request: Request
  problemOf: (field: string) => string | null
  onChange: (request: Request) => void
}

/** The fields of the request that an action sends. */
export function RequestFields({ request, problemOf, onChange }: RequestFieldsProps) {
  const change = (part: Partial<Request>) => onChange({ ...request, ...part })
  return (
    <>
      <div className={classes.target}>
        <Select
          label="Method"
          options={METHODS.map((method) => [method, method] as const)}
          value={request.method}
          onChoose={(method) => change({ method })}
        />
        <TextField
          label="Address"
          required
          inputMode="url"
          maxLength={2_048}
          placeholder="https://shop.example.com/orders/{{number}}"
          hint="Insert an input as {{name}}."
          error={problemOf('http.url')}
          className={classes.mono}
          value={request.url}
          onChange={({ target }) => change({ url: target.value })}
        />
      </div>
      <HeaderFields headers={request.headers} onChange={(headers) => change({ headers })} />
      {request.method !== 'GET' && (
        <TextArea
          label="Body"
          rows={5}
          placeholder={'{"order": {{number}}}'}
          error={problemOf('http.body')}
          className={classes.mono}
          value={request.body ?? ''}
          onChange={({ target }) => change({ body: target.value || null })}
        />
      )}
      <TextField
        label="Time limit (milliseconds)"
        type="number"
        min={1}
        max={30_000}
        value={request.timeoutMs}
        onChange={({ target }) => change({ timeoutMs: Number(target.value) })}
      />
    </>
  )
}

function HeaderFields({ headers, onChange }: { headers: Header[]; onChange: (headers: Header[]) => void }) {
  const change = (id: number, part: Partial<Header>) =>
    onChange(headers.map((one) => (one.id === id ? { ...one, ...part } : one)))
  return (
    <fieldset className={classes.group}>
      <legend>Headers</legend>
      {headers.map(({ id, name, value, isStored }) => (
        <div key={id} className={classes.header}>
          <TextField
            label="Name of the header"
            hideLabel
            placeholder="Authorization"
            value={name}
            onChange={({ target }) => change(id, { name: target.value })}
          />
          <TextField
            label={`Value of ${name || 'the header'}`}
            hideLabel
            autoComplete="off"
            placeholder={isStored ? 'stored; type to replace it' : 'Value'}
            value={value}
            onChange={({ target }) => change(id, { value: target.value })}
          />
          <IconButton
            icon={X}
            label={`Remove the header ${name}`}
            onClick={() => onChange(headers.filter((one) => one.id !== id))}
          />
        </div>
      ))}
      <div>
        <Button
          small
          icon={Plus}
          onClick={() =>
            onChange([
              ...headers,
              { id: Math.max(-1, ...headers.map(({ id }) => id)) + 1, name: '', value: '', isStored: false },
            ])
          }
        >
          Add a header
        </Button>
      </div>
      <p className={classes.faint}>Values are stored encrypted, and nobody can read them here again.</p>
    </fieldset>
  )
}

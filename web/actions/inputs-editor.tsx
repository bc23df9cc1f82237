import { useState } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { Check, Select, TextArea, TextField } from '../ui/field.tsx'
import { Plus, X } from '../ui/icons.ts'
import classes from './actions.module.css'
import { INPUT_TYPES, type InputRow, rowsOf, schemaOf } from './inputs.ts'

type InputsEditorProps = {
  inputs: Record<string, unknown>
  error: string | null
  onChange: (inputs: Record<string, unknown>) => void
}

/** Edits the inputs that the model fills in: as rows, or as JSON where the schema is too complex for rows. */
export function InputsEditor({ inputs, error, onChange }: InputsEditorProps) {
  const [rows, setRows] = useState(() => rowsOf(inputs))
  return (
    <fieldset className={classes.group}>
      <legend>What it needs to know</legend>
      {rows ? (
        <Rows
          rows={rows}
          onChange={(next) => {
            setRows(next)
            onChange(schemaOf(next))
          }}
        />
      ) : (
        <JsonSchema inputs={inputs} onChange={onChange} />
      )}
      {error && (
        <p className={classes.faint} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}

function Rows({ rows, onChange }: { rows: InputRow[]; onChange: (rows: InputRow[]) => void }) {
  const change = (at: number, part: Partial<InputRow>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)))
  return (
    <>
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place
        <div key={at} className={classes.row}>
          <TextField
            label={`Name of input ${at + 1}`}
            hideLabel
            placeholder="number"
            required
            value={row.name}
            onChange={({ target }) => change(at, { name: target.value })}
          />
          <Select
            label={`Type of input ${at + 1}`}
            hideLabel
            options={INPUT_TYPES}
            value={row.type}
            onChoose={(chosen) => change(at, { type: chosen })}
          />
          <TextField
            label={`Description of input ${at + 1}`}
            hideLabel
            placeholder="The number of the order"
            value={row.description}
            onChange={({ target }) => change(at, { description: target.value })}
          />
          <Check
            label="Required"
            checked={row.required}
            onChange={({ target }) => change(at, { required: target.checked })}
          />
          <IconButton
            icon={X}
            label={`Remove input ${at + 1}`}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <div>
        <Button
          small
          icon={Plus}
          onClick={() => onChange([...rows, { name: '', type: 'string', description: '', required: true }])}
        >
          Add an input
        </Button>
      </div>
    </>
  )
}

function JsonSchema({ inputs, onChange }: Omit<InputsEditorProps, 'error'>) {
  const [text, setText] = useState(() => JSON.stringify(inputs, null, 2))
  const [problem, setProblem] = useState<string | null>(null)
  return (
    <TextArea
      label="JSON Schema"
      rows={12}
      className={classes.mono}
      error={problem}
      value={text}
      onChange={({ target }) => {
        setText(target.value)
        try {
          onChange(JSON.parse(target.value))
          setProblem(null)
        } catch {
          setProblem('It is not valid JSON yet; the last valid one is kept.')
        }
      }}
    />
  )
}

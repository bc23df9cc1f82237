import { NOT_READ, useAnsweringModel } from '../instructions/answering-model.tsx'
import { Select, TextArea, TextField } from '../ui/field.tsx'
import type { Settings } from './settings.ts'

type SettingsFieldsProps = {
  settings: Settings
  onChange: (part: Partial<Settings>) => void
  rows?: number
}

/** The fields for the instructions and the model of an agent. */
export function SettingsFields({ settings, onChange, rows = 8 }: SettingsFieldsProps) {
  const { options, isBuiltin } = useAnsweringModel(settings.model)
  return (
    <>
      <Select
        label="Model"
        options={options}
        value={settings.model}
        onChoose={(chosen) => onChange({ model: chosen })}
      />
      <TextField
        label={`Temperature: ${settings.temp}`}
        type="range"
        min={0}
        max={1}
        step={0.1}
        value={settings.temp}
        onChange={({ target }) => onChange({ temp: target.value })}
        hint={isBuiltin && NOT_READ.temperature}
      />
      <TextArea
        label="Instructions"
        rows={rows}
        value={settings.instructions}
        onChange={({ target }) => onChange({ instructions: target.value })}
        maxLength={50_000}
        hint={isBuiltin && NOT_READ.instructions}
      />
    </>
  )
}

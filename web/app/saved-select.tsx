import type { ComponentProps } from 'react'
import { Select } from '../ui/field.tsx'
import { useSaved } from './use-saved.ts'

type SavedSelectProps = Omit<ComponentProps<typeof Select>, 'value' | 'onChange'> & {
  value: string
  onSave: (value: string) => Promise<unknown>
}

/** A list whose choice takes effect at once. */
export function SavedSelect({ value, onSave, ...rest }: SavedSelectProps) {
  const [shown, choose] = useSaved(value, onSave)
  return <Select {...rest} value={shown} onChange={({ target }) => choose(target.value)} />
}

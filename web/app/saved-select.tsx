import type { ComponentProps } from 'react'
import { Select } from '../ui/field.tsx'
import { useSaved } from './use-saved.ts'

type SavedSelectProps<V extends string> = Omit<ComponentProps<typeof Select<V>>, 'value' | 'onChoose'> & {
  value: V
  onSave: (value: V) => Promise<unknown>
}

/** A list whose choice takes effect at once. */
export function SavedSelect<V extends string>({ value, onSave, ...rest }: SavedSelectProps<V>) {
  const [shown, choose] = useSaved(value, onSave)
  return <Select {...rest} value={shown} onChoose={choose} />
}

import type { ComponentProps } from 'react'
import { Select } from '../ui/field.tsx'
import { useSaved } from './use-saved.ts'

type SavedSelectProps<V extends string> = Omit<
  ComponentProps<typeof Select>,
  'options' | 'value' | 'onChange'
> & {
  options: readonly (readonly [value: V, label: string])[]
  value: V
  onSave: (value: V) => Promise<unknown>
}

/** A list whose choice takes effect at once. */
export function SavedSelect<V extends string>({ options, value, onSave, ...rest }: SavedSelectProps<V>) {
  const [shown, choose] = useSaved(value, onSave)
  const chooseNamed = (name: string): void => {
    const option = options.find(([id]) => id === name)
    if (option) choose(option[0])
  }
  return (
    <Select {...rest} options={options} value={shown} onChange={({ target }) => chooseNamed(target.value)} />
  )
}

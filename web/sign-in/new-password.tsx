import { useQuery } from '@tanstack/react-query'
import { reading } from '../app/api.ts'
import { TextField } from '../ui/field.tsx'

/** A field for a new password. The service supplies the minimum and maximum length. */
export function NewPassword({ label = 'Password', name = 'password' }: { label?: string; name?: string }) {
  const { data } = useQuery({ ...reading('/sign-in'), staleTime: Number.POSITIVE_INFINITY })
  const { minimum = 12, maximum = 128 } = data?.passwordLength ?? {}
  return (
    <TextField
      label={label}
      name={name}
      type="password"
      autoComplete="new-password"
      minLength={minimum}
      maxLength={maximum}
      hint={`At least ${minimum} characters. A few words in a row are easy to remember.`}
      required
    />
  )
}

import type { FormEvent } from 'react'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { TextArea } from '../ui/field.tsx'
import classes from './playground.module.css'
import type { ToolCall } from './use-chat.ts'

type GiveResultProps = { call: ToolCall; onResult: (output: unknown) => Promise<void> }

/** Asks for the result of a client action, which a website would normally send. */
export function GiveResult({ call, onResult }: GiveResultProps) {
  const give = useMutation({ mutationFn: onResult })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    give.mutate(parsed(String(new FormData(event.currentTarget).get('output'))))
  }
  return (
    <form className={classes.result} onSubmit={submit} aria-label={`Result of ${call.name}`}>
      <p>
        <strong>{call.name}</strong> waits for your application, with the input{' '}
        <code dir="auto">{JSON.stringify(call.input)}</code>. Give the result in its place.
      </p>
      <TextArea label="Result" name="output" rows={2} required hint="JSON, or plain text." />
      <div>
        <Button type="submit" small pending={give.isPending}>
          Give the result
        </Button>
      </div>
    </form>
  )
}

/** Returns the value of a JSON text, or the text itself when it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

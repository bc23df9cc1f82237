import { useEffect, useRef, useState } from 'preact/hooks'
import { ParleyError } from '../../client/parley-error.ts'
import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import { problemOf } from './problem-of.ts'
import type { Details, LeadField } from './types.ts'

type Field = { label: string; keyboard: 'text' | 'email' | 'tel'; autocomplete: string; longest: number }

const FIELDS: Record<LeadField, Field> = {
  name: { label: 'Name', keyboard: 'text', autocomplete: 'name', longest: 200 },
  email: { label: 'E-mail', keyboard: 'email', autocomplete: 'email', longest: 254 },
  phone: { label: 'Phone', keyboard: 'tel', autocomplete: 'tel', longest: 50 },
}

/** The form by which the team can reach the visitor. */
export function DetailsForm({ chat, fields }: { chat: Chat; fields: LeadField[] }) {
  const [details, setDetails] = useState<Details>({})
  const [stage, setStage] = useState<'open' | 'sending' | 'sent'>('open')
  const [problem, setProblem] = useState<{ field: LeadField | null; sentence: string } | null>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => (stage === 'sent' ? heading.current?.focus() : undefined), [stage])
  useEffect(() => {
    if (problem?.field) form.current?.querySelector<HTMLInputElement>(`[name=${problem.field}]`)?.focus()
  }, [problem])

  const ways = fields.filter((name) => name !== 'name')
  const submit = async (): Promise<void> => {
    const filled = filledIn(fields, details)
    if (ways.every((name) => !filled[name])) {
      const sentence = `Please give your ${ways.map(nameOf).join(' or ')}.`
      return setProblem({ field: ways[0] ?? null, sentence })
    }
    if (filled.email && !/^\S+@\S+\.\S+$/.test(filled.email)) {
      return setProblem({ field: 'email', sentence: 'Please check your e-mail address.' })
    }
    setStage('sending')
    setProblem(null)
    try {
      await chat.leaveDetails(filled)
      setStage('sent')
    } catch (error) {
      setStage('open')
      setProblem(refusalIn(error) ?? failureOf(error))
    }
  }

  if (stage === 'sent') {
    return (
      <section class="details details-done">
        <span class="done-mark">
          <Icon name="check" />
        </span>
        <h2 ref={heading} tabIndex={-1}>
          Thank you
        </h2>
        <p>Our team has your details and will get back to you.</p>
        <button type="button" class="main-button" onClick={() => chat.show('chat')}>
          Back to the chat
        </button>
      </section>
    )
  }
  return (
    <form
      class="details"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <p>Tell us how we can reach you, and our team will get back to you.</p>
      {fields.map((name) => {
        const { label, keyboard, autocomplete, longest } = FIELDS[name]
        return (
          <label key={name}>
            <span>
              {label}
              {name === 'name' && <small>optional</small>}
            </span>
            <input
              type="text"
              inputMode={keyboard}
              name={name}
              autocomplete={autocomplete}
              maxLength={longest}
              required={ways.length === 1 && name === ways[0]}
              aria-invalid={problem?.field === name}
              aria-describedby={problem?.field === name ? 'form-problem' : undefined}
              value={details[name] ?? ''}
              onInput={({ currentTarget }) => setDetails({ ...details, [name]: currentTarget.value })}
            />
          </label>
        )
      })}
      {!problem && ways.length > 1 && <p class="hint">Your {ways.map(nameOf).join(' or ')} is enough.</p>}
      {problem && (
        <p class="form-problem" id="form-problem" role="alert">
          {problem.sentence}
        </p>
      )}
      <button type="submit" class="main-button" disabled={stage === 'sending'}>
        {stage === 'sending' ? 'Sending …' : 'Send'}
      </button>
    </form>
  )
}

const nameOf = (name: LeadField): string => (name === 'phone' ? 'phone number' : 'e-mail address')

function filledIn(fields: LeadField[], details: Details): Details {
  const entries = fields.map((name) => [name, details[name]?.trim()] as const)
  return Object.fromEntries(entries.filter(([, value]) => value))
}

/** What the service says about a field. */
function refusalIn(error: unknown): { field: LeadField; sentence: string } | null {
  if (!(error instanceof ParleyError) || error.status !== 400) return null
  const [name, sentence] = Object.entries(error.details ?? {})[0] ?? []
  const field = (Object.keys(FIELDS) as LeadField[]).find((one) => one === name)
  return field && sentence ? { field, sentence: `${FIELDS[field].label}: ${sentence}` } : null
}

const failureOf = (error: unknown): { field: null; sentence: string } => ({
  field: null,
  sentence: `${problemOf(error, null).sentence} Please try again.`,
})

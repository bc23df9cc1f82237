import { useEffect, useRef, useState } from 'preact/hooks'
import { ParleyError } from '../../client/parley-error.ts'
import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import { problemOf } from './problem-of.ts'
import type { Details, LeadField } from './types.ts'
import { word } from './words.ts'

type Field = { keyboard: 'text' | 'email' | 'tel'; autocomplete: string; longest: number }

const FIELDS: Record<LeadField, Field> = {
  name: { keyboard: 'text', autocomplete: 'name', longest: 200 },
  email: { keyboard: 'email', autocomplete: 'email', longest: 254 },
  phone: { keyboard: 'tel', autocomplete: 'tel', longest: 50 },
}

/** The form in which visitors leave their contact details. */
export function DetailsForm({ chat, fields }: { chat: Chat; fields: LeadField[] }) {
  const [details, setDetails] = useState<Details>({})
  const [stage, setStage] = useState<'open' | 'sending' | 'sent'>('open')
  const [problem, setProblem] = useState<{ fields: LeadField[]; sentence: string } | null>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => (stage === 'sent' ? heading.current?.focus() : undefined), [stage])
  useEffect(() => {
    const [first] = problem?.fields ?? []
    if (first) form.current?.querySelector<HTMLInputElement>(`[name=${first}]`)?.focus()
  }, [problem])

  const ways = fields.filter((name) => name !== 'name')
  const submit = async (): Promise<void> => {
    const filled = filledIn(fields, details)
    if (ways.every((name) => !filled[name])) {
      return setProblem({ fields: ways, sentence: word('giveOne') })
    }
    if (filled.email && !/^\S+@\S+\.\S+$/.test(filled.email)) {
      return setProblem({ fields: ['email'], sentence: word('checkEmail') })
    }
    setStage('sending')
    setProblem(null)
    try {
      await chat.leaveDetails(filled)
      setStage('sent')
    } catch (error) {
      setStage('open')
      const { sentence } = problemOf(error, null, chat.store.get().appearance)
      setProblem(refusalIn(error) ?? { fields: [], sentence })
    }
  }

  if (stage === 'sent') {
    return (
      <section class="details details-done">
        <span class="done-mark">
          <Icon name="check" />
        </span>
        <h2 ref={heading} tabIndex={-1}>
          {word('thanks')}
        </h2>
        <p>{word('willReach')}</p>
        <button type="button" class="main-button" onClick={() => chat.show('chat')}>
          {word('back')}
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
      <p>{word('reachYou')}</p>
      {fields.map((name) => {
        const { keyboard, autocomplete, longest } = FIELDS[name]
        return (
          <label key={name}>
            <span>
              {word(name)}
              {name === 'name' && <small>{word('optional')}</small>}
            </span>
            <input
              type="text"
              inputMode={keyboard}
              name={name}
              autocomplete={autocomplete}
              maxLength={longest}
              required={ways.length === 1 && name === ways[0]}
              aria-invalid={problem?.fields.includes(name) ?? false}
              aria-describedby={problem?.fields.includes(name) ? 'form-problem' : undefined}
              value={details[name] ?? ''}
              onInput={({ currentTarget }) => setDetails({ ...details, [name]: currentTarget.value })}
            />
          </label>
        )
      })}
      {!problem && ways.length > 1 && <p class="hint">{word('oneIsEnough')}</p>}
      {problem && (
        <p class="form-problem" id="form-problem" role="alert">
          {problem.sentence}
        </p>
      )}
      <button type="submit" class="main-button" disabled={stage === 'sending'}>
        {word(stage === 'sending' ? 'sending' : 'send')}
      </button>
    </form>
  )
}

function filledIn(fields: LeadField[], details: Details): Details {
  const entries = fields.map((name) => [name, details[name]?.trim()] as const)
  return Object.fromEntries(entries.filter(([, value]) => value))
}

/** Returns the service's problem with a field of the form, or null if the error is about something else. */
function refusalIn(error: unknown): { fields: LeadField[]; sentence: string } | null {
  if (!(error instanceof ParleyError) || error.status !== 400) return null
  const [name, sentence] = Object.entries(error.details ?? {})[0] ?? []
  const field = (Object.keys(FIELDS) as LeadField[]).find((one) => one === name)
  return field && sentence
    ? { fields: [field], sentence: field === 'email' ? word('checkEmail') : `${word(field)}: ${sentence}` }
    : null
}

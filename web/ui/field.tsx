import {
  type ComponentProps,
  type FormEvent,
  type ReactNode,
  type Ref,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { Button, type ButtonProps } from './button.tsx'
import classes from './field.module.css'
import { sentenceOf } from './state.tsx'
import { type Saving, useUnsaved } from './unsaved.ts'

type Labelled = {
  label: string
  hint?: ReactNode
  error?: string | null | undefined
  hideLabel?: boolean | undefined
}
type Wiring = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }

type FieldProps = Labelled & { overlong?: Overlong | null; children: (wiring: Wiring) => ReactNode }

/** A label and a control, with a hint or an error message below. */
export function Field({ label, hint, error: given, hideLabel, overlong, children }: FieldProps) {
  const id = useId()
  const tooLong = overlong ? `Shorten this to at most ${overlong.limit.toLocaleString('en')} characters.` : ''
  const error = given || tooLong
  const about = error || hint ? `${id}-about` : undefined
  // The browser does not submit the form then.
  useLayoutEffect(() => {
    const control = document.getElementById(id)
    if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement)
      control.setCustomValidity(tooLong)
  }, [id, tooLong])
  return (
    <div className={classes.field}>
      <label htmlFor={id} className={hideLabel ? 'visually-hidden' : classes.label}>
        {label}
      </label>
      {children({ id, 'aria-describedby': about, 'aria-invalid': error ? true : undefined })}
      {(error || hint) && (
        <p id={about} className={error ? classes.error : classes.hint} role={error ? 'alert' : undefined}>
          {error || hint}
          {error && error === tooLong && (
            // It changes with each letter, so it is not announced.
            <span aria-hidden> It has {overlong?.length.toLocaleString('en')}.</span>
          )}
        </p>
      )}
    </div>
  )
}

type Overlong = { limit: number; length: number }

/**
 * Tells the user of a text that is longer than its field takes. The browser's own `maxLength` would cut what is pasted
 * without a word.
 */
function useLimit(limit: number | undefined, value: unknown) {
  const [typed, setTyped] = useState(0)
  const length = typeof value === 'string' ? value.length : typed
  return {
    overlong: limit !== undefined && length > limit ? { limit, length } : null,
    onInput: (event: { currentTarget: { value: string } }) => setTyped(event.currentTarget.value.length),
  }
}

export function TextField({
  label,
  hint,
  error,
  hideLabel,
  className,
  maxLength,
  ...rest
}: Labelled & Omit<ComponentProps<'input'>, 'onInput'>) {
  const { overlong, onInput } = useLimit(maxLength, rest.value)
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel} overlong={overlong}>
      {(wiring) => (
        <input
          type="text"
          {...rest}
          {...wiring}
          onInput={onInput}
          className={`${classes.input} ${className ?? ''}`}
        />
      )}
    </Field>
  )
}

export function TextArea({
  label,
  hint,
  error,
  hideLabel,
  className,
  maxLength,
  ...rest
}: Labelled & Omit<ComponentProps<'textarea'>, 'onInput'>) {
  const { overlong, onInput } = useLimit(maxLength, rest.value)
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel} overlong={overlong}>
      {(wiring) => (
        <textarea
          rows={4}
          {...rest}
          {...wiring}
          onInput={onInput}
          className={`${classes.input} ${classes.area} ${className ?? ''}`}
        />
      )}
    </Field>
  )
}

type SelectProps<T extends string> = Labelled &
  Omit<ComponentProps<'select'>, 'onChange'> & {
    options: readonly (readonly [value: T, label: string])[]
    onChoose?: (value: T) => void
  }

export function Select<T extends string>({
  label,
  hint,
  error,
  hideLabel,
  options,
  onChoose,
  ...rest
}: SelectProps<T>) {
  const choose = (text: string): void => {
    const chosen = options.find(([value]) => value === text)
    if (chosen) onChoose?.(chosen[0])
  }
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {(wiring) => (
        <select
          {...rest}
          {...wiring}
          {...(onChoose && { onChange: ({ target }) => choose(target.value) })}
          className={`${classes.input} ${classes.select}`}
        >
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function Check({
  label,
  hint,
  ...rest
}: { label: ReactNode; hint?: string } & ComponentProps<'input'>) {
  const id = useId()
  return (
    <div className={classes.check}>
      <input type="checkbox" {...rest} id={id} aria-describedby={hint ? `${id}-about` : undefined} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint && (
          <p id={`${id}-about`} className={classes.hint}>
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}

type FormProps = Omit<ComponentProps<'form'>, 'onSubmit'> & {
  onSubmit?: (fields: FormData, form: HTMLFormElement) => void
  /** The mutation that saves the form. With it, leaving the page asks first while there are unsaved changes. */
  save?: Saving
  /** What the form contains besides its fields. */
  more?: unknown
}

export function Form({ save, more, onSubmit, children, ...rest }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  useUnsaved(form, save, more)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    onSubmit?.(new FormData(event.currentTarget), event.currentTarget)
  }
  return (
    <form ref={form} className={classes.form} {...rest} onSubmit={submit}>
      {children}
    </form>
  )
}

type FormActionsProps = Pick<ButtonProps, 'kind' | 'disabled' | 'icon' | 'pending'> & {
  save: { error: Error | null; isPending: boolean }
  /** What the button that submits the form says. */
  label: string
  /** Without permission, nothing but what went wrong is shown. */
  may?: boolean
  onCancel?: () => void
  /** Further buttons. */
  children?: ReactNode
}

export const Actions = ({ children }: { children: ReactNode }) => (
  <div className={classes.actions}>{children}</div>
)

/** The end of a form: what went wrong, and the button that submits it. */
export const FormActions = ({ save, label, may = true, onCancel, children, ...button }: FormActionsProps) => (
  <>
    {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
    {may && (
      <Actions>
        <Button type="submit" pending={save.isPending} {...button}>
          {label}
        </Button>
        {onCancel && (
          <Button kind="quiet" onClick={onCancel}>
            Cancel
          </Button>
        )}
        {children}
      </Actions>
    )}
  </>
)

export const FormProblem = ({ children }: { children: ReactNode }) => (
  <p className={classes.problem} role="alert">
    {children}
  </p>
)

type FilePickerProps = { ref: Ref<HTMLInputElement>; label: string; onPick: (files: File[]) => void }

/** A hidden control that a button opens by clicking it. The same files can be picked again. */
export const FilePicker = ({ ref, label, onPick }: FilePickerProps) => (
  <input
    ref={ref}
    type="file"
    multiple
    hidden
    aria-label={label}
    onChange={({ target }) => {
      onPick([...(target.files ?? [])])
      target.value = ''
    }}
  />
)

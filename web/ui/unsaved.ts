import { type RefObject, useEffect, useRef } from 'react'
import { createStore } from './store.ts'

/** The forms with unsaved changes; `saving` while a request with them is on its way. */
const unsaved = createStore<ReadonlyMap<Element, 'written' | 'saving'>>(new Map())

function note(form: Element, state: 'written' | 'saving' | null): void {
  const now = unsaved.get()
  if ((now.get(form) ?? null) === state) return
  const next = new Map(now)
  if (state === null) next.delete(form)
  else next.set(form, state)
  unsaved.set(next)
}

/** Whether something within this part of the page would be lost with it. */
export const isUnsaved = (within: Element): boolean =>
  [...unsaved.get()].some(([form, state]) => state === 'written' && within.contains(form))

/** Whether closing the page would lose something, also what is being saved. */
export const isAnyUnsaved = (): boolean => unsaved.get().size > 0

/** Renders the component again when a form gets unsaved changes, or is saved. */
export const useUnsavedForms = (): unknown => unsaved.use()

export type Saving = { isPending: boolean; isSuccess: boolean; submittedAt: number }

/** Returns the values of the fields of a form, as one text. */
function textOf(form: HTMLFormElement): string {
  const held = [...form.elements].flatMap((field) => {
    if (field instanceof HTMLInputElement && /^(checkbox|radio)$/.test(field.type))
      return [String(field.checked)]
    const hasText =
      field instanceof HTMLInputElement ||
      field instanceof HTMLTextAreaElement ||
      field instanceof HTMLSelectElement
    return hasText ? [field.value] : []
  })
  return JSON.stringify(held)
}

/**
 * Notes whether a form has changes since it was shown or last saved. `save` is the mutation that saves it, and `more` is
 * what it contains besides its fields. Without `save`, nothing is noted.
 */
export function useUnsaved(
  ref: RefObject<HTMLFormElement | null>,
  save: Saving | undefined,
  more: unknown,
): void {
  const saved = useRef<string | null>(null)
  const sent = useRef<string | null>(null)
  const isTouched = useRef(false)
  const seen = useRef(save?.submittedAt ?? 0)
  const isGuarded = save !== undefined
  const held = JSON.stringify(more)

  // Fields may change with any rendering of the page.
  useEffect(() => {
    const form = ref.current
    if (!form || !save) return
    const now = textOf(form) + held
    if (save.isPending) {
      sent.current ??= now
      return note(form, 'saving')
    }
    if (save.isSuccess && save.submittedAt !== seen.current) {
      seen.current = save.submittedAt
      saved.current = sent.current ?? now
    }
    sent.current = null
    // Until the user does something, changes are those of data that arrives.
    if (!isTouched.current || saved.current === null) saved.current = now
    note(form, now === saved.current ? null : 'written')
  })

  useEffect(() => {
    const form = ref.current
    if (!form || !isGuarded) return
    const look = (): void => {
      const now = textOf(form) + held
      // The second click of a double-click changes nothing of what is being saved.
      if (form.isConnected && now !== sent.current) note(form, now === saved.current ? null : 'written')
    }
    const touch = (): void => {
      isTouched.current = true
      // Later, because rendering now would restore a field whose change React has not seen yet.
      setTimeout(look)
    }
    // From here on the form is being saved, so that the page may be left once that has succeeded.
    const submit = (): void => {
      sent.current = textOf(form) + held
      note(form, 'saving')
    }
    form.addEventListener('input', touch)
    form.addEventListener('change', touch)
    form.addEventListener('click', touch)
    form.addEventListener('submit', submit)
    return () => {
      form.removeEventListener('input', touch)
      form.removeEventListener('change', touch)
      form.removeEventListener('click', touch)
      form.removeEventListener('submit', submit)
    }
  }, [ref, isGuarded, held])

  useEffect(() => {
    const form = ref.current
    return () => {
      if (form) note(form, null)
    }
  }, [ref])
}

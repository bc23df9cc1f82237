import { notifyManager } from '@tanstack/react-query'
import { useState } from 'react'

/**
 * Returns the value of a control that saves at once. What was chosen last is shown from the event on in which it was
 * chosen, until its save has ended; then what is stored is shown again. Whoever saves reports a failure.
 */
export function useSaved<T>(
  stored: T,
  save: (value: T) => Promise<unknown>,
): readonly [shown: T, choose: (value: T) => void] {
  const [chosen, setChosen] = useState<{ value: T } | null>(null)
  const choose = (value: T): void => {
    const mine = { value }
    setChosen(mine)
    // Queries tell the page with a delay what is stored now. This waits behind them, since the old value would be
    // shown in between.
    const end = (): void =>
      notifyManager.schedule(() => setChosen((latest) => (latest === mine ? null : latest)))
    save(value).then(end, end)
  }
  return [chosen ? chosen.value : stored, choose]
}

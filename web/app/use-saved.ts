import { notifyManager } from '@tanstack/react-query'
import { useState } from 'react'

/**
 * Returns the value of a control that saves at once. The new choice is shown immediately, until its save has ended;
 * then the stored value is shown again. The caller reports a failure.
 */
export function useSaved<T>(
  stored: T,
  save: (value: T) => Promise<unknown>,
): readonly [shown: T, choose: (value: T) => void] {
  const [chosen, setChosen] = useState<{ value: T } | null>(null)
  const choose = (value: T): void => {
    const mine = { value }
    setChosen(mine)
    // Queries update the page with a delay. This waits for them, because the old value would be shown in between.
    const end = (): void =>
      notifyManager.schedule(() => setChosen((latest) => (latest === mine ? null : latest)))
    save(value).then(end, end)
  }
  return [chosen ? chosen.value : stored, choose]
}

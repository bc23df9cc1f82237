import { useState } from 'react'
import { tell } from './toast.tsx'

const SHOWN_MS = 2_000

/** Returns whether a text has just been copied, and a function that copies one. */
export function useCopy(): [isCopied: boolean, copy: (text: string) => Promise<void>] {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async (text: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setIsCopied(true)
      setTimeout(() => setIsCopied(false), SHOWN_MS)
    } catch {
      // Browsers allow clipboard access on secure pages only.
      tell('problem', 'The browser does not let this page copy. Mark the text and copy it by hand.')
    }
  }
  return [isCopied, copy]
}

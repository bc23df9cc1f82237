import { useEffect, useState } from 'preact/hooks'
import { IconButton } from './icon-button.tsx'
import { word } from './words.ts'

const SHOWN_MS = 2_000

export function CopyButton({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <>
      <IconButton
        class="small"
        icon={isCopied ? 'check' : 'copy'}
        label={word(isCopied ? 'copied' : 'copy')}
        onClick={async () => setCopied(await copy(text))}
      />
      <span class="visually-hidden" role="status">
        {isCopied ? word('copied') : ''}
      </span>
    </>
  )
}

/** Copies a text. Pages without HTTPS have no clipboard API, so there the text is selected and copied. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.className = 'visually-hidden'
    field.value = text
    document.body.append(field)
    field.select()
    const isDone = document.execCommand('copy')
    field.remove()
    return isDone
  }
}

import { useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import type { Attachment } from './types.ts'
import { shownLanguage } from './words.ts'

type Shown = Omit<Attachment, 'url'> & { url?: string | null }

/** Lists the files of a message. Images are displayed; other files are listed by name. */
export function Attachments({ files }: { files: readonly Shown[] }) {
  return (
    <ul class="files">
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the files of a message never change
        <li key={index}>
          <FileLink file={file} />
        </li>
      ))}
    </ul>
  )
}

const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/

function FileLink({ file: { name, type, size, url = null } }: { file: Shown }) {
  // The URL differs each time the conversation is read. Keeping the first one avoids reloading the image.
  const first = useRef(url)
  first.current ??= url
  const source = first.current
  const [isBroken, setBroken] = useState(false)
  const isPicture = PICTURE.test(type) && source !== null && !isBroken
  const inner = isPicture ? (
    <img src={source} alt={name} loading="lazy" onError={() => setBroken(true)} />
  ) : (
    <>
      <Icon name="file" />
      <span class="file-name" dir="auto">
        {name}
      </span>
      <span class="file-size">{sizeOf(size)}</span>
    </>
  )
  const look = isPicture ? 'file picture' : 'file'
  return url === null ? (
    <span class={look}>{inner}</span>
  ) : (
    <a class={look} href={url} target="_blank" rel="noopener noreferrer" title={name}>
      {inner}
    </a>
  )
}

function sizeOf(bytes: number): string {
  const [value, unit] =
    bytes < 1_000_000 ? [Math.max(bytes / 1_000, 0.1), 'kilobyte'] : [bytes / 1_000_000, 'megabyte']
  const digits = { maximumFractionDigits: value < 10 ? 1 : 0 }
  return value.toLocaleString(shownLanguage(), { style: 'unit', unit, unitDisplay: 'short', ...digits })
}

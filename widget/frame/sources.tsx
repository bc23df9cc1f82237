import { createContext } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'
import type { Source } from './types.ts'
import { word } from './words.ts'

/** The sources of the message being rendered, and which of them is expanded. */
type Shown = {
  sources: Source[]
  isHidden: boolean
  isComplete: boolean
  open: number | null
  toggle(number: number): void
}

export const SourcesOfMessage = createContext<Shown | null>(null)

/** The number of a source in a text. Pressing it expands or collapses the preview of the source. */
export function Cite({ number, text }: { number: number; text: string }) {
  const shown = useContext(SourcesOfMessage)
  const source = shown?.sources[number - 1]
  // The sources of an answer may arrive after its first words. In a complete answer, a number without a source is plain
  // text.
  if (!shown || !source) return shown?.isComplete === false ? null : text
  if (shown.isHidden) return null
  const name = nameOf(source)
  return (
    <button
      type="button"
      class="cite"
      data-number={number}
      aria-label={word('source', number, name)}
      aria-expanded={shown.open === number}
      title={name}
      onClick={() => shown.toggle(number)}
    />
  )
}

/** Lists the sources of an answer by the numbers in its text. */
export function Sources() {
  const shown = useContext(SourcesOfMessage)
  if (!shown) return null
  const { sources, open, toggle } = shown
  const source = open === null ? undefined : sources[open - 1]
  return (
    <>
      {source && open !== null && <Preview source={source} number={open} close={() => toggle(open)} />}
      <ul class="sources" aria-label={word('sources')}>
        {sources.map((one, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: sources are identified by their position
          <li key={index}>
            <Entry source={one} number={index + 1} />
          </li>
        ))}
      </ul>
    </>
  )
}

function Entry({ source, number }: { source: Source; number: number }) {
  const href = hrefOf(source)
  const inner = (
    <>
      <b aria-hidden="true">{number}</b>
      <span dir="auto">{nameOf(source)}</span>
    </>
  )
  return href ? (
    <a href={href} target="_blank" rel="noopener noreferrer" title={source.url ?? undefined}>
      {inner}
    </a>
  ) : (
    <span class="source">{inner}</span>
  )
}

function Preview({ source, number, close }: { source: Source; number: number; close: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another source is shown
  useLayoutEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [number])
  const href = hrefOf(source)
  return (
    <div class="preview" ref={box} role="status">
      <div class="preview-head">
        <b aria-hidden="true">{number}</b>
        <span dir="auto">{nameOf(source)}</span>
        {source.page !== null && <small>{word('page', source.page)}</small>}
        <IconButton class="small" icon="close" label={word('dismiss')} onClick={close} />
      </div>
      {source.headingPath.length > 0 && <small dir="auto">{source.headingPath.join(' › ')}</small>}
      {source.quote && <blockquote dir="auto">{source.quote}</blockquote>}
      {href && (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {word('open')}
          <Icon name="out" />
        </a>
      )}
    </div>
  )
}

/** Returns the URL of a web page or of a file on the service, pointing at the cited passage. */
function hrefOf({ url, anchor }: Source): string | null {
  const address = addressOf(url)
  if (!address || !/^https?:$/.test(address.protocol)) return null
  if (anchor !== null && address.hash === '') address.hash = anchor
  return address.href
}

function nameOf({ name, url }: Source): string {
  if (name) return name
  const address = addressOf(url)
  if (!address) return '–'
  return address.pathname === '/' ? address.host : address.host + address.pathname
}

/** Parses a URL. Older browsers do not have URL.parse. */
function addressOf(url: string | null): URL | null {
  try {
    return url === null ? null : new URL(url, location.href)
  } catch {
    return null
  }
}

import type { ComponentChild } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import { LinkRule } from './link-rule.ts'
import { type Inline, parseInline, spokenText } from './parse-inline.ts'
import { type Align, type Block, parseMarkdown } from './parse-markdown.ts'
import { Cite } from './sources.tsx'
import { word } from './words.ts'

/** Renders Markdown as nodes, never as HTML. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text])
  return <div class="markdown">{blocks.map((block) => drawBlock(block, 'auto'))}</div>
}

/** The direction of each block is that of its first words; nested blocks inherit it. */
function drawBlock(block: Block, dir?: 'auto'): ComponentChild {
  switch (block.type) {
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <pre tabIndex={0} dir="ltr">
          <code>{block.text}</code>
        </pre>
      )
    case 'table': {
      const [head = [], ...rows] = block.rows
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <section class="table" aria-label={word('table')} tabIndex={0} dir={dir}>
          <table>
            <thead>
              <tr>{head.map((cell, at) => drawCell(cell, at, block.aligns, true))}</tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows of a text have no other key
                <tr key={index}>{row.map((cell, at) => drawCell(cell, at, block.aligns))}</tr>
              ))}
            </tbody>
          </table>
        </section>
      )
    }
    case 'quote':
      return <blockquote dir={dir}>{block.blocks.map((inner) => drawBlock(inner))}</blockquote>
    case 'list': {
      // biome-ignore lint/suspicious/noArrayIndexKey: items of a text have no other key
      const items = block.items.map((blocks, index) => <li key={index}>{drawItem(blocks)}</li>)
      return block.isOrdered ? (
        <ol dir={dir} start={block.start}>
          {items}
        </ol>
      ) : (
        <ul dir={dir}>{items}</ul>
      )
    }
    case 'heading':
      return (
        <p dir={dir}>
          <strong>{drawInlines(block.inline)}</strong>
        </p>
      )
    case 'paragraph':
      return <p dir={dir}>{drawInlines(block.inline)}</p>
  }
}

function drawCell(cell: Inline[], at: number, aligns: Align[], isHead = false): ComponentChild {
  const Cell = isHead ? 'th' : 'td'
  return (
    <Cell key={at} class={`cell-${aligns[at]}`} scope={isHead ? 'col' : undefined}>
      {drawInlines(cell)}
    </Cell>
  )
}

/** Renders inline Markdown inside another element. */
export const InlineText = ({ text }: { text: string }) => <>{drawInlines(parseInline(text))}</>

/** Renders the blocks of a list item. A leading paragraph needs no element of its own. */
const drawItem = (blocks: Block[]): ComponentChild =>
  blocks.map((block, index) =>
    index === 0 && block.type === 'paragraph' ? drawInlines(block.inline) : drawBlock(block),
  )

/** Renders inline nodes. Citation numbers stay on the same line as the preceding word and the following punctuation. */
function drawInlines(all: Inline[]): ComponentChild[] {
  const nodes = [...all]
  const drawn: ComponentChild[] = []
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at] as Inline
    const next = nodes[at + 1]
    if (node.type === 'text' && next?.type === 'cite') {
      const word = /\S{1,40}$/.exec(node.text)?.[0] ?? ''
      drawn.push(node.text.slice(0, node.text.length - word.length))
      const kept: ComponentChild[] = [word]
      while (nodes[at + 1]?.type === 'cite') kept.push(drawInline(nodes[++at] as Inline))
      const behind = nodes[at + 1]
      const marks = behind?.type === 'text' ? (/^[^\s\p{L}\p{N}]{1,3}/u.exec(behind.text)?.[0] ?? '') : ''
      drawn.push(
        <span class="together">
          {kept}
          {marks}
        </span>,
      )
      if (behind?.type === 'text') nodes[at + 1] = { ...behind, text: behind.text.slice(marks.length) }
    } else drawn.push(drawInline(node))
  }
  return drawn
}

function drawInline(node: Inline): ComponentChild {
  switch (node.type) {
    case 'text':
      return node.text
    case 'code':
      return <code>{node.text}</code>
    case 'break':
      return <br />
    case 'cite':
      return <Cite number={node.number} text={node.text} />
    case 'strong':
      return <strong>{drawInlines(node.inline)}</strong>
    case 'emphasis':
      return <em>{drawInlines(node.inline)}</em>
    case 'link':
      return <Link {...node} />
  }
}

/** Renders a link. If linking to the address is not allowed, the address is shown as text. */
function Link({ href, inline }: Extract<Inline, { type: 'link' }>) {
  const mayLink = useContext(LinkRule)
  const inner = drawInlines(inline)
  if (!mayLink(href)) return <span>{spokenText(inline) === href ? inner : [...inner, ` (${href})`]}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {inner}
    </a>
  )
}

import type { ComponentChild } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import { LinkRule } from './link-rule.ts'
import { type Inline, parseInline, spokenText } from './parse-inline.ts'
import { type Align, type Block, parseMarkdown } from './parse-markdown.ts'
import { Cite } from './sources.tsx'
import { word } from './words.ts'

/** An answer as nodes; never as HTML. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text])
  return <div class="markdown">{blocks.map((block) => drawBlock(block, 'auto'))}</div>
}

/** Each block has the direction of its first words; what is inside of one has that of the whole. */
function drawBlock(block: Block, dir?: 'auto'): ComponentChild {
  switch (block.type) {
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <pre tabIndex={0} dir="ltr">
          <code>{block.text}</code>
        </pre>
      )
    case 'table': {
      const [head = [], ...rows] = block.rows
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section class="table" aria-label={word('table')} tabIndex={0} dir={dir}>
          <table>
            <thead>
              <tr>{head.map((cell, at) => drawCell(cell, at, block.aligns, true))}</tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows of a text have no other name
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
      // biome-ignore lint/suspicious/noArrayIndexKey: items of a text have no other name
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

/** A line of Markdown inside of something else. */
export const InlineText = ({ text }: { text: string }) => <>{drawInlines(parseInline(text))}</>

/** An item of a single line needs no paragraph around it. */
const drawItem = (blocks: Block[]): ComponentChild =>
  blocks.map((block, index) =>
    index === 0 && block.type === 'paragraph' ? drawInlines(block.inline) : drawBlock(block),
  )

/** The number of a source stays in the line of the word before it and of the marks behind it. */
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

/** Where it must not lead to, its address can still be read. */
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

import type { ComponentChild } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import { LinkRule } from './link-rule.ts'
import { type Inline, spokenText } from './parse-inline.ts'
import { type Block, parseMarkdown } from './parse-markdown.ts'

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
          <strong>{block.inline.map(drawInline)}</strong>
        </p>
      )
    case 'paragraph':
      return <p dir={dir}>{block.inline.map(drawInline)}</p>
  }
}

/** An item of a single line needs no paragraph around it. */
const drawItem = (blocks: Block[]): ComponentChild =>
  blocks.map((block, index) =>
    index === 0 && block.type === 'paragraph' ? block.inline.map(drawInline) : drawBlock(block),
  )

function drawInline(node: Inline): ComponentChild {
  switch (node.type) {
    case 'text':
      return node.text
    case 'code':
      return <code>{node.text}</code>
    case 'break':
      return <br />
    case 'strong':
      return <strong>{node.inline.map(drawInline)}</strong>
    case 'emphasis':
      return <em>{node.inline.map(drawInline)}</em>
    case 'link':
      return <Link {...node} />
  }
}

/** Where it must not lead to, its address can still be read. */
function Link({ href, inline }: Extract<Inline, { type: 'link' }>) {
  const mayLink = useContext(LinkRule)
  const inner = inline.map(drawInline)
  if (!mayLink(href)) return <span>{spokenText(inline) === href ? inner : [...inner, ` (${href})`]}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {inner}
    </a>
  )
}

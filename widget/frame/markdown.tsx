import type { ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Inline } from './parse-inline.ts'
import { type Block, parseMarkdown } from './parse-markdown.ts'

/** An answer as nodes; never as HTML. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text])
  return <div class="markdown">{blocks.map(drawBlock)}</div>
}

function drawBlock(block: Block): ComponentChild {
  switch (block.type) {
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      )
    case 'quote':
      return <blockquote>{block.blocks.map(drawBlock)}</blockquote>
    case 'list': {
      // biome-ignore lint/suspicious/noArrayIndexKey: items of a text have no other name
      const items = block.items.map((blocks, index) => <li key={index}>{drawItem(blocks)}</li>)
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>
    }
    case 'heading':
      return (
        <p>
          <strong>{block.inline.map(drawInline)}</strong>
        </p>
      )
    case 'paragraph':
      return <p>{block.inline.map(drawInline)}</p>
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
      return (
        <a href={node.href} target="_blank" rel="noopener noreferrer nofollow">
          {node.inline.map(drawInline)}
        </a>
      )
  }
}

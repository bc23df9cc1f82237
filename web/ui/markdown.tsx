import { Fragment, type ReactNode, useMemo } from 'react'
import { hostOf, linksTo } from '../../widget/frame/link-rule.ts'
import type { Inline } from '../../widget/frame/parse-inline.ts'
import { type Block, parseMarkdown } from '../../widget/frame/parse-markdown.ts'
import classes from './markdown.module.css'

type Draw = {
  onCite?: ((number: number) => void) | undefined
  /** Whether the text may link to an address; others are shown as text. By default it may link anywhere. */
  mayLink?: ((href: string) => boolean) | undefined
}

/** The rule for text that a model wrote: it may link to its sources. */
export const linksToSources = (sources: readonly { url: string | null }[] = []) =>
  linksTo(sources.flatMap(({ url }) => hostOf(url) ?? []))

/** Renders Markdown as React nodes, never as HTML. A number in brackets cites a source of the answer. */
export function Markdown({ text, onCite, mayLink }: { text: string } & Draw) {
  const blocks = useMemo(() => parseMarkdown(text), [text])
  return (
    <div className={classes.markdown}>
      {drawAll(blocks, (block) => drawBlock(block, { onCite, mayLink }))}
    </div>
  )
}

const drawAll = <T,>(items: T[], draw: (item: T) => ReactNode): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other key
  items.map((item, at) => <Fragment key={at}>{draw(item)}</Fragment>)

function drawBlock(block: Block, draw: Draw): ReactNode {
  switch (block.type) {
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      )
    case 'table': {
      const [head = [], ...rows] = block.rows
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <section className={classes.table} aria-label="Table" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {drawAll(head, (cell) => (
                  <th scope="col">{drawInlines(cell, draw)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {drawAll(rows, (row) => (
                <tr>
                  {drawAll(row, (cell) => (
                    <td>{drawInlines(cell, draw)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )
    }
    case 'quote':
      return <blockquote>{drawAll(block.blocks, (inner) => drawBlock(inner, draw))}</blockquote>
    case 'list': {
      const items = drawAll(block.items, (blocks) => (
        <li>
          {drawAll(blocks, (inner) =>
            inner.type === 'paragraph' ? drawInlines(inner.inline, draw) : drawBlock(inner, draw),
          )}
        </li>
      ))
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>
    }
    case 'heading':
      return (
        <p>
          <strong>{drawInlines(block.inline, draw)}</strong>
        </p>
      )
    case 'paragraph':
      return <p dir="auto">{drawInlines(block.inline, draw)}</p>
  }
}

const drawInlines = (nodes: Inline[], draw: Draw): ReactNode =>
  drawAll(nodes, (node) => drawInline(node, draw))

function drawInline(node: Inline, draw: Draw): ReactNode {
  switch (node.type) {
    case 'text':
      return node.text
    case 'code':
      return <code>{node.text}</code>
    case 'break':
      return <br />
    case 'cite':
      return draw.onCite ? (
        <button
          type="button"
          className={classes.cite}
          aria-label={`Source ${node.number}`}
          onClick={() => draw.onCite?.(node.number)}
        >
          {node.number}
        </button>
      ) : (
        node.text
      )
    case 'strong':
      return <strong>{drawInlines(node.inline, draw)}</strong>
    case 'emphasis':
      return <em>{drawInlines(node.inline, draw)}</em>
    case 'link':
      return draw.mayLink?.(node.href) === false ? (
        <>
          {drawInlines(node.inline, draw)} ({node.href})
        </>
      ) : (
        <a href={node.href} target="_blank" rel="noopener noreferrer nofollow">
          {drawInlines(node.inline, draw)}
        </a>
      )
  }
}

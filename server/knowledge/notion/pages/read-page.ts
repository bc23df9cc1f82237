import { finishDocument, type Section } from '../../documents/extracted-document.ts'
import type { NotionClient } from '../client/notion-client.ts'
import { NotionFailure } from '../client/notion-failure.ts'
import { type Block, type List, type Page, titleOf, webAddress } from '../client/wire.ts'
import { rowText } from './property-text.ts'
import { createSectionWriter } from './section-writer.ts'
import { writeBlocks } from './write-blocks.ts'

export type PageContent = {
  title: string | null
  url: string | null
  sections: Section[]
  bytes: number
  /**
   * The time of the last edit: while it is the same, the page is not read again. null if the page may change without
   * an edit.
   */
  modified: string | null
}

const MAX_REQUESTS = 1_500
const MAX_CHARS = 2 * 1_048_576
const MAX_ROWS = 1_000
/** Times are cut to the minute, so a change within the minute of the reading would be missed. */
const SETTLED_MS = 2 * 60_000

/**
 * Reads a page with everything nested in it, or a database as a page of its rows. Returns null when the last edit is
 * that of `since`. Throws NotionFailure, with `gone` for a page that is not shared or is in the bin.
 */
export async function readPage(
  client: NotionClient,
  id: string,
  since: string | null,
  now = Date.now(),
): Promise<PageContent | null> {
  const { page, isDatabase } = await find(client, id)
  if (page.archived === true || page.in_trash === true)
    throw new NotionFailure('gone', 'The page was moved to the trash of its workspace.')
  const edited = typeof page.last_edited_time === 'string' ? page.last_edited_time : null
  if (edited !== null && edited === since) return null
  const { sections, holdsRows } = await read(client, page, isDatabase)
  const isSettled = edited !== null && Date.parse(edited) < now - SETTLED_MS
  const { sections: kept, bytes } = finishDocument(null, sections)
  const title = titleOf(page)
  return {
    title,
    url: webAddress(page.url),
    sections: kept.map((section) => ({
      ...section,
      headingPath: [...(title ? [title] : []), ...section.headingPath],
    })),
    bytes,
    // The rows of a database change without an edit of the page that contains it.
    modified: isSettled && !holdsRows ? edited : null,
  }
}

async function find(client: NotionClient, id: string): Promise<{ page: Page; isDatabase: boolean }> {
  try {
    return { page: await client.page(id), isDatabase: false }
  } catch (error) {
    const mayBeDatabase = error instanceof NotionFailure && ['gone', 'refused'].includes(error.code)
    if (!mayBeDatabase) throw error
    // If it is not a database either, the first failure explains why.
    const page = await client.database(id).catch(() => {
      throw error
    })
    return { page, isDatabase: true }
  }
}

async function read(
  client: NotionClient,
  page: Page,
  isDatabase: boolean,
): Promise<{ sections: Section[]; holdsRows: boolean }> {
  const writer = createSectionWriter()
  let requests = 0
  let holdsRows = isDatabase

  const refuseTooLong = (): void => {
    if (requests > MAX_REQUESTS || writer.length() > MAX_CHARS)
      throw new NotionFailure('too_large', 'The page is too long. Split it into several pages.')
  }
  async function all<T>(next: (cursor: string | null) => Promise<List<T>>, most: number): Promise<T[]> {
    const results: T[] = []
    for (let cursor: string | null = null; ; ) {
      requests += 1
      refuseTooLong()
      const list: List<T> = await next(cursor)
      results.push(...list.results)
      cursor = list.next_cursor
      if (cursor === null || results.length >= most) return results.slice(0, most)
    }
  }
  const rows = async (id: string): Promise<string[]> => {
    holdsRows = true
    return (await all((cursor) => client.rows(id, cursor), MAX_ROWS)).map(rowText).filter(Boolean)
  }
  const children = (id: string): Promise<Block[]> =>
    all((cursor) => client.children(id, cursor), Number.POSITIVE_INFINITY)

  if (isDatabase) for (const row of await rows(page.id)) writer.line(row)
  else {
    await writeBlocks(await children(page.id), writer, {
      children: (block) => children(block.id).catch(withoutUnshared),
      rows: (id) => rows(id).catch(withoutUnshared),
    })
  }
  refuseTooLong()
  return { sections: writer.finish(), holdsRows }
}

/** A page may contain blocks and databases that are not shared with the connection. */
function withoutUnshared(error: unknown): [] {
  if (error instanceof NotionFailure && ['gone', 'refused'].includes(error.code)) return []
  throw error
}

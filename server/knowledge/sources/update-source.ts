import { rm } from 'node:fs/promises'
import type { Updateable } from 'kysely'
import type { Static } from 'typebox'
import { holdAgent } from '../../agents/records/find-agent.ts'
import { bumpKnowledgeVersion } from '../../agents/records/knowledge-state.ts'
import type { Context } from '../../context.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { SourcesTable } from '../../platform/db/tables/knowledge.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { refuseInvalid } from '../../platform/http/input/validate.ts'
import { isCrawl } from '../crawl/run/crawl-source.ts'
import { otherLinkType, updateSite } from '../crawl/run/update-site.ts'
import type { Charset } from '../documents/text/charsets.ts'
import { fixedKeys } from '../search/answering/retrieve.ts'
import { enqueueTraining } from '../training/enqueue-training.ts'
import type { Account } from './add-source.ts'
import { dropFile, folderOf, keepFile, ownPath } from './files.ts'
import { requireChangeable, type SourceRow } from './queries.ts'
import type { FileChange } from './read-upload.ts'
import type { UpdateSource } from './schema.ts'
import { reserveStorage, sizeOf } from './storage-limit.ts'

type Deps = Pick<Context, 'db' | 'jobs' | 'filesDir'>
type SourcePath = { agentId: string; sourceId: string }
type Change = Static<typeof UpdateSource>

const FIELDS: Record<SourceRow['type'], readonly (keyof Change)[]> = {
  text: ['name', 'content'],
  qna: ['name', 'questions', 'answer', 'fixed'],
  // As at the creation, options of websites are accepted but have no effect on a single page.
  link: ['linkType', 'excludePaths', 'includeOnlyPaths', 'slowScraping', 'wholePage'],
  file: ['name', 'charset', 'wholePage'],
  notionPage: ['name'],
  ticket: [],
}

const TEXTS: readonly string[] = ['txt', 'md', 'csv', 'html']

/** Applies the sent fields. New content goes live in the background while the earlier version remains in use. */
export async function updateSource(
  ctx: Deps,
  account: Account,
  place: SourcePath,
  change: Change,
): Promise<SourceRow> {
  const { link_type } = await requireChangeable(ctx.db, { accountId: account.id, ...place })
  if (isCrawl({ link_type })) return updateSite(ctx, account, place, change)
  return apply(ctx, account, place, (row) => {
    const strange = Object.keys(change).filter((field) => !FIELDS[row.type].includes(field as keyof Change))
    refuseInvalid(
      Object.fromEntries(
        strange.map((field) => [field, `A source of the type ${row.type} has no ${field}.`]),
      ),
    )
    if (change.linkType !== undefined && change.linkType !== row.link_type)
      throw otherLinkType(change.linkType)
    const { charset, wholePage } = change
    const settings = {
      ...(charset === undefined ? row.content : withCharset(row, charset)),
      ...(wholePage === undefined ? {} : { wholePage: requirePage(row, wholePage) }),
    }
    return {
      name: change.name,
      ...(charset === undefined && wholePage === undefined ? contentOf(row, change) : { content: settings }),
      fixedKeys: fixedAfter(row, change),
    }
  })
}

type Changes = {
  name?: string | undefined
  content?: SourceRow['content']
  size?: number
  metadata?: unknown
  fixedKeys?: string[] | null
}

/** Returns what the source alone answers after the change. */
const fixedAfter = (
  { fixed_keys, content }: SourceRow,
  { fixed = fixed_keys !== null, questions = content.questions ?? [] }: Change,
): string[] | null => (fixed ? fixedKeys(questions) : null)

function requirePage({ type, content }: SourceRow, wholePage: boolean): boolean {
  if (type === 'file' && content.mediaType !== 'html')
    throw invalidField('wholePage', 'Only web pages, websites and html files have parts that are left out.')
  return wholePage
}

function withCharset({ content }: SourceRow, charset: Charset | null): SourceRow['content'] {
  if (!TEXTS.includes(content.mediaType ?? ''))
    throw invalidField('charset', 'Only txt, md, csv and html files have a charset.')
  const { charset: _before, ...rest } = content
  return charset === null ? rest : { ...rest, charset }
}

function contentOf(row: SourceRow, { content, questions, answer }: Change): Omit<Changes, 'name'> {
  if (content !== undefined && content !== row.content.text)
    return { content: { text: content }, size: sizeOf(content) }
  if (questions === undefined && answer === undefined) return {}
  const next = {
    questions: questions ?? row.content.questions ?? [],
    answer: answer ?? row.content.answer ?? '',
  }
  return { content: next, size: sizeOf(next.answer, ...next.questions) }
}

/** Does the same from an upload: a new name, a new file, or both. */
export async function updateFromUpload(
  ctx: Deps,
  account: Account,
  place: SourcePath,
  { fields, file }: FileChange,
): Promise<SourceRow> {
  const row = await requireChangeable(ctx.db, { accountId: account.id, ...place })
  if (row.type !== 'file') throw invalidField('file', `A source of the type ${row.type} accepts no file.`)
  if (!file) return apply(ctx, account, place, () => ({ name: fields.name }))
  const path = await keepFile(
    ctx.filesDir,
    folderOf({ accountId: account.id, agentId: place.agentId }, place.sourceId),
    file,
  )
  const { filename, type: mediaType } = file
  try {
    const changed = await apply(ctx, account, place, () => ({
      name: fields.name,
      content: { filename, mediaType, file: path, bytes: file.size },
      metadata: { filename, mediaType },
    }))
    // The chunks of the earlier version remain in use; its file is no longer needed.
    if (row.content.file) await rm(ownPath(ctx.filesDir, row), { force: true })
    return changed
  } catch (error) {
    await dropFile(ctx.filesDir, path)
    throw error
  }
}

async function apply(
  { db, jobs }: Deps,
  account: Account,
  { agentId, sourceId }: SourcePath,
  changesOf: (row: SourceRow) => Changes,
): Promise<SourceRow> {
  return transact(db, async (trx) => {
    await holdAgent(trx, { accountId: account.id, agentId })
    const row = await requireChangeable(trx, { accountId: account.id, agentId, sourceId }, true)
    const { name, content, size, metadata, fixedKeys: keys = row.fixed_keys } = changesOf(row)
    if (content && size !== undefined) await reserveStorage(trx, account, agentId, size, sourceId)
    const columns: Updateable<SourcesTable> = {
      ...(name === undefined ? {} : { name }),
      ...(content === undefined
        ? {}
        : {
            content: json(content),
            content_version: row.content_version + 1,
            status: 'updated' as const,
            error: null,
          }),
      ...(size === undefined ? {} : { size }),
      ...(JSON.stringify(keys) === JSON.stringify(row.fixed_keys) ? {} : { fixed_keys: keys }),
      ...(metadata === undefined ? {} : { metadata: json(metadata) }),
    }
    if (Object.keys(columns).length === 0) return row
    const changed = await trx
      .updateTable('sources')
      .set({ ...columns, updated_at: new Date() })
      .where(ownRow(account.id, sourceId))
      .returningAll()
      .executeTakeFirstOrThrow()
    // Citations show the name.
    if (name !== undefined && name !== row.name)
      await bumpKnowledgeVersion(trx, { accountId: account.id, agentId })
    if (content) await enqueueTraining(jobs, trx, changed)
    return changed
  })
}

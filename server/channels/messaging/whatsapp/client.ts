import { setTimeout as wait } from 'node:timers/promises'
import type { MessagingNumber } from '../../../platform/db/tables/channels.ts'
import { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import type { Accepted, Addressed, ProviderAdapter, ProviderClient } from '../connection/provider-adapter.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import { type JsonObject, objectOf, objectsIn, parseObject, text } from '../connection/untrusted-json.ts'
import { fileMessage } from './file-message.ts'
import { failureOf, failureOfFetch } from './read-failure.ts'
import { readTemplate, templateMessage } from './templates.ts'

const PUBLIC_URL = 'https://graph.facebook.com'
const VERSION = 'v24.0'
const PAGE_SIZE = 100
/** A longer list repeats itself. */
const MAX_PAGES = 500
const MAX_BYTES = 8 * 1_048_576
/** The size limit of a whole list, far above what a business account can have. */
const MAX_LIST_BYTES = 16 * 1_048_576
const MAX_ITEMS = 10_000
const BACKOFF_MS = 250
const MAX_BACKOFF_MS = 3_000

type Request = { method: 'GET' | 'POST'; body?: string | Uint8Array; type?: string; maxBytes?: number }

/**
 * A client of the published REST API. Requests that read are retried when that may help. Requests that send are not.
 */
export const createClient: ProviderAdapter['client'] = ({
  fetcher,
  access: { accessToken, baseUrl },
  signal,
  timeoutMs = 20_000,
  retries = 2,
}): ProviderClient => {
  const base = baseUrl ?? PUBLIC_URL

  async function fetchBytes(
    url: string,
    { method, body, type, maxBytes = MAX_BYTES }: Request,
  ): Promise<Uint8Array> {
    const answer = await fetcher
      .fetch(url, {
        method,
        headers: { authorization: `Bearer ${accessToken}`, ...(type ? { 'content-type': type } : {}) },
        ...(body === undefined ? {} : { body }),
        maxBytes,
        timeoutMs,
        // The token is sent only to the address that it was given for.
        maxRedirects: 0,
        ...(signal ? { signal } : {}),
      })
      .catch((error: unknown) => {
        throw failureOfFetch(error)
      })
    const { status, headers, body: bytes } = answer
    if (status < 200 || status > 299) throw failureOf(status, headers, parseObject(bytes))
    return bytes
  }

  async function call(path: string, request: Request): Promise<JsonObject> {
    return readable(await fetchBytes(`${base}/${VERSION}/${path}`, request))
  }

  async function reading<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await work()
      } catch (error) {
        const mayPass =
          error instanceof ProviderFailure &&
          ['unreachable', 'uncertain', 'limited'].includes(error.code) &&
          !(error.cause instanceof FetchFailure && !error.cause.isPassing) &&
          !signal?.aborted
        const waitMs = (error as ProviderFailure).retryAfterMs ?? BACKOFF_MS * 3 ** tries
        if (!mayPass || tries >= retries || waitMs > MAX_BACKOFF_MS) throw error
        await wait(waitMs)
      }
    }
  }

  /**
   * Reads all pages and keeps only what `read` returns for each item. Also throws for a list that exceeds its
   * limits.
   */
  async function all<T>(
    path: string,
    query: Record<string, string>,
    readItem: (item: JsonObject) => T | null,
  ): Promise<T[]> {
    const items: T[] = []
    const seen = new Set<string>()
    let itemsLeft = MAX_ITEMS
    let bytesLeft = MAX_LIST_BYTES
    for (let after = ''; ; ) {
      const params = new URLSearchParams({ ...query, limit: String(PAGE_SIZE), ...(after ? { after } : {}) })
      const url = `${base}/${VERSION}/${path}?${params}`
      const { data, paging } = await reading(async () => {
        const maxBytes = Math.max(1, Math.min(MAX_BYTES, bytesLeft))
        const bytes = await fetchBytes(url, { method: 'GET', maxBytes })
        bytesLeft -= bytes.byteLength
        return readable(bytes)
      })
      if (!Array.isArray(data))
        throw new ProviderFailure('unreachable', 'The channel sent an answer without a list.')
      itemsLeft -= data.length
      if (itemsLeft < 0)
        throw new ProviderFailure('too_large', `The account has a list of more than ${MAX_ITEMS} entries.`)
      for (const item of data) {
        const found = readItem(objectOf(item))
        if (found !== null) items.push(found)
      }
      const { next, cursors } = objectOf(paging)
      // Use the cursor and not the URL of the next page, because the token must not be sent to a URL from a response.
      after = text(objectOf(cursors).after)
      if (!next || after === '') return items
      if (seen.has(after) || seen.size >= MAX_PAGES)
        throw new ProviderFailure('unreachable', 'The channel repeatedly returned the same page of a list.')
      seen.add(after)
    }
  }

  async function send({ numberId, to, callback }: Addressed, message: JsonObject): Promise<Accepted> {
    const answer = await call(`${segment(numberId)}/messages`, {
      method: 'POST',
      type: 'application/json',
      body: JSON.stringify({
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        // A person without a number is reached by an id, which is another member.
        ...(/^\d+$/.test(to) ? { to } : { recipient: to }),
        ...message,
        biz_opaque_callback_data: callback,
      }),
    })
    const messageId = text(objectsIn(answer.messages)[0]?.id)
    if (messageId === '')
      throw new ProviderFailure('uncertain', 'The channel accepted the message but returned no id.')
    const [contact] = objectsIn(answer.contacts)
    return { messageId, recipient: text(contact?.wa_id) || text(contact?.user_id) || to }
  }

  return {
    numbers: (businessAccountId) =>
      all(
        `${segment(businessAccountId)}/phone_numbers`,
        { fields: 'id,display_phone_number,verified_name' },
        readNumber,
      ),
    templates: (businessAccountId, name) =>
      all(
        `${segment(businessAccountId)}/message_templates`,
        {
          fields: 'id,name,language,category,status,parameter_format,components',
          ...(name === undefined ? { status: 'APPROVED' } : { name }),
        },
        readTemplate,
      ),
    sendText: (addressed, body) => send(addressed, { type: 'text', text: { body, preview_url: false } }),
    sendButton: (addressed, body, reply) =>
      send(addressed, {
        type: 'interactive',
        interactive: {
          type: 'button',
          body: { text: body },
          action: { buttons: [{ type: 'reply', reply }] },
        },
      }),
    async sendFile(addressed, file) {
      const { message, form } = fileMessage(file)
      const packed = new Response(form)
      const uploaded = await call(`${segment(addressed.numberId)}/media`, {
        method: 'POST',
        type: packed.headers.get('content-type') ?? '',
        body: new Uint8Array(await packed.arrayBuffer()),
      }).catch((error: unknown) => {
        // If the upload failed, no message was sent.
        if (error instanceof ProviderFailure && error.code === 'uncertain')
          throw new ProviderFailure('unreachable', error.message, { cause: error })
        throw error
      })
      return send(addressed, message(text(uploaded.id)))
    },
    sendTemplate: (addressed, template, values) => send(addressed, templateMessage(template, values)),
    fetchFile: (numberId, fileId, maxBytes) =>
      reading(async () => {
        const query = new URLSearchParams({ phone_number_id: numberId })
        const { url: address } = await call(`${segment(fileId)}?${query}`, { method: 'GET' })
        const url = URL.parse(text(address))
        if (!url || (url.protocol !== 'https:' && url.origin !== new URL(base).origin))
          throw new ProviderFailure('unreachable', 'The channel sent no address for the file.')
        return fetchBytes(url.href, { method: 'GET', maxBytes }).catch((error: unknown) => {
          // The URL is valid for minutes, so the next attempt requests a new one.
          if (error instanceof ProviderFailure && error.code === 'gone')
            throw new ProviderFailure('unreachable', error.message, { cause: error })
          throw error
        })
      }),
  }
}

const segment = encodeURIComponent

function readable(bytes: Uint8Array): JsonObject {
  const value = parseObject(bytes)
  if (!value) throw new ProviderFailure('uncertain', 'The response of the channel cannot be read.')
  return value
}

function readNumber({ id, display_phone_number, verified_name }: JsonObject): MessagingNumber | null {
  const number = { id: text(id), phone: text(display_phone_number), verifiedName: text(verified_name) }
  return number.id && number.phone ? number : null
}

import type { MessagingNumber } from '../../../platform/db/tables/channels.ts'
import type { Accepted, Addressed, ProviderAdapter, ProviderClient } from '../connection/provider-adapter.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import { type JsonObject, objectsIn, text } from '../connection/untrusted-json.ts'
import { fileMessage } from './file-message.ts'
import { createRequests, type Requests, readList } from './requests.ts'
import { readTemplate, templateMessage } from './templates.ts'

/** A client of the published REST API. */
export const createClient: ProviderAdapter['client'] = (options): ProviderClient => {
  const requests = createRequests(options)
  const { base, fetchBytes, call, reading } = requests
  const send = (addressed: Addressed, message: JsonObject) => sendMessage(requests, addressed, message)
  return {
    numbers: (businessAccountId) =>
      readList(
        requests,
        `${segment(businessAccountId)}/phone_numbers`,
        { fields: 'id,display_phone_number,verified_name' },
        readNumber,
      ),
    templates: (businessAccountId, name) =>
      readList(
        requests,
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

async function sendMessage(
  { call }: Requests,
  { numberId, to, callback }: Addressed,
  message: JsonObject,
): Promise<Accepted> {
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

const segment = encodeURIComponent

function readNumber({ id, display_phone_number, verified_name }: JsonObject): MessagingNumber | null {
  const number = { id: text(id), phone: text(display_phone_number), verifiedName: text(verified_name) }
  return number.id && number.phone ? number : null
}

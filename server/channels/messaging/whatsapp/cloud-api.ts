import type { Adapter } from '../connection/adapter.ts'
import { createClient } from './client.ts'
import { formatText } from './format-text.ts'
import { readWebhook } from './read-webhook.ts'
import { claimsSignature, isSigned, readHandshake } from './signature.ts'

/** The WhatsApp Business Cloud API. */
export const cloudApi: Adapter = {
  longestText: 4_096,
  formatText,
  client: createClient,
  readHandshake,
  claimsSignature,
  isSigned,
  readWebhook,
}

import type { ProviderAdapter } from '../connection/provider-adapter.ts'
import { createClient } from './client.ts'
import { formatText } from './format-text.ts'
import { OUTSIDE_WINDOW } from './read-failure.ts'
import { readWebhook } from './read-webhook.ts'
import { claimsSignature, isSigned, readHandshake } from './signature.ts'

/** The WhatsApp Business Cloud API. */
export const whatsAppAdapter: ProviderAdapter = {
  maxTextLength: 4_096,
  button: { maxTitleLength: 20, maxTextLength: 1_024 },
  replyWindow: { ms: 24 * 60 * 60 * 1_000, refusal: OUTSIDE_WINDOW },
  hasTemplates: true,
  formatText,
  client: createClient,
  readHandshake,
  claimsSignature,
  isSigned,
  readWebhook,
}

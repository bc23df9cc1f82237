import { emailChannel } from '../email/outbound/email-channel.ts'
import { messagingChannel } from '../messaging/outbound/messaging-channel.ts'
import type { Channel } from './channel.ts'

/** Every channel of this installation. */
export const channels: Channel[] = [messagingChannel, emailChannel]

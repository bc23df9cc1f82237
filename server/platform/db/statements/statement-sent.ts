import { channel } from 'node:diagnostics_channel'

/** Publishes the text of each statement before it is sent. Only tests subscribe to it. */
export const statementSent = channel('parley.statement')

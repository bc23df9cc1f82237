import { channel } from 'node:diagnostics_channel'

/** Publishes the text of each statement before it is sent. Nobody subscribes but tests. */
export const statementSent = channel('parley.statement')

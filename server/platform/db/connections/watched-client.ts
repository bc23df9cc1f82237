import { Socket } from 'node:net'
import pg from 'pg'

/** A client of PostgreSQL whose socket is made here, so that it can be watched and cut off. */
export class WatchedClient extends pg.Client {
  readonly socket: Socket

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.socket = socket
  }

  /** Destroys the connection without a farewell, which would wait for a server that does not respond. */
  cutOff(): void {
    this.socket.destroy(new Error('The database does not respond.'))
  }

  /** The number of the server's process that serves this connection, if pg tells it. */
  get pid(): number | null {
    return 'processID' in this && typeof this.processID === 'number' ? this.processID : null
  }
}

import { startMailServer } from './fakes/mail-server.ts'
import { startModelServer } from './fakes/model-server.ts'
import { startService } from './start.ts'

/** Starts a service beside an SMTP server and a model server. */
export async function startBesideMailServer() {
  const server = await startMailServer()
  const models = await startModelServer()
  const service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', ...models.settings })
  const close = async (): Promise<void> => {
    await service.close()
    await models.close()
    await server.close()
  }
  return { server, models, service, close }
}

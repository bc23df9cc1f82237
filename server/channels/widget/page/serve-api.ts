import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../context.ts'
import type { TurnNeeds } from '../../../conversations/turn/turn.ts'
import { addressBucket, VISITS } from '../../../platform/http/limits/rate-limit.ts'
import { countRequest, type Gate } from '../../../platform/http/server/gate.ts'
import { serveRoutes } from '../../../platform/http/server/serve.ts'
import { widgetRoutes } from '../routes.ts'
import { requirePublicAgent } from '../visitors/visitor.ts'
import { WIDGET_API } from './api-path.ts'

/** Serves the API of the chat in a visitor's browser, which needs no API key. */
export async function serveWidgetApi(
  app: FastifyInstance,
  ctx: TurnNeeds &
    Pick<Context, 'filesDir' | 'followers' | 'jobs' | 'limiter' | 'notifier' | 'stopping' | 'uploads'>,
  { gate, strict, bodyLimit }: { gate: Gate; strict: boolean; bodyLimit: number },
): Promise<void> {
  await app.register(
    async (widget) => {
      widget.addHook('onRequest', async (request, reply) => {
        await gate.refuseDuringMaintenance()
        await countRequest(reply, gate.limiter, `widget ${addressBucket(request.ip)}`, VISITS)
      })
      serveRoutes(widget, {
        routes: widgetRoutes(ctx),
        gate: { ...gate, findAgent: (db, _caller, agentId) => requirePublicAgent(db, agentId) },
        db: ctx.db,
        strict,
        bodyLimit,
        uploads: ctx.uploads,
      })
    },
    { prefix: WIDGET_API },
  )
}

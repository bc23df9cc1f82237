import type { Context } from '../context.ts'
import type { TurnNeeds } from '../conversations/turn/turn.ts'
import type { Route } from '../platform/http/route.ts'
import { chatRoutes } from './chat/routes.ts'
import { pictureRoutes } from './chatbots/picture-routes.ts'
import { chatbotRoutes } from './chatbots/routes.ts'
import { contactRoutes } from './contacts/routes.ts'
import { listRoutes } from './lists/routes.ts'

/**
 * Every endpoint of version 1. Each one is translated to the features of version 2. Only the application imports this
 * folder.
 */
export const version1Routes = (
  ctx: TurnNeeds & Pick<Context, 'filesDir' | 'followers' | 'jobs'>,
): Route[] => [
  ...chatRoutes(ctx),
  ...chatbotRoutes(ctx),
  ...pictureRoutes(ctx),
  ...listRoutes(ctx),
  ...contactRoutes(ctx),
]

import type { FastifyRequest } from 'fastify'
import { requireAgent } from '../agents/find-agent.ts'
import { deletePicture, storePicture } from '../agents/pictures.ts'
import { squarePicture } from '../agents/square-picture.ts'
import type { Context } from '../context.ts'
import type { AccountId, PictureKind } from '../db/tables.ts'
import { ApiError, invalidField } from '../http/errors.ts'
import { readMultipart } from '../http/read-multipart.ts'
import { type Route, route } from '../http/route.ts'
import { bodyValidator, refuseInvalid } from '../http/validate.ts'
import * as contract from './pictures-contract.ts'

type Upload = typeof contract.uploadIcon | typeof contract.uploadProfilePicture

const checkFields = bodyValidator(contract.uploadIcon.multipart.fields)

export const pictureRoutes = (ctx: Context): Route[] => [
  route(contract.uploadIcon, async ({ caller: { account }, request }) => {
    await keepUpload(ctx, account.id, contract.uploadIcon, 'icon', request)
    return { message: 'Chatbot icon uploaded successfully' }
  }),
  route(contract.uploadProfilePicture, async ({ caller: { account }, request }) => {
    await keepUpload(ctx, account.id, contract.uploadProfilePicture, 'profile', request)
    return { message: 'Profile picture uploaded successfully' }
  }),
  route(contract.deleteIcon, async ({ caller: { account }, query }) => {
    await deletePicture(ctx.db, account.id, query.chatbotId, 'icon')
    return { message: 'Chatbot icon deleted successfully' }
  }),
  route(contract.deleteProfilePicture, async ({ caller: { account }, query }) => {
    await deletePicture(ctx.db, account.id, query.chatbotId, 'profile')
    return { message: 'Profile picture deleted successfully' }
  }),
]

async function keepUpload(
  { db }: Context,
  accountId: AccountId,
  { multipart }: Upload,
  kind: PictureKind,
  request: FastifyRequest,
): Promise<void> {
  if (!request.isMultipart()) throw new ApiError('VALIDATION_UNSUPPORTED_MEDIA_TYPE')
  const { fields, file, problems } = await readMultipart(request, multipart)
  const missing = file ? {} : { [multipart.file]: 'This field is required.' }
  refuseInvalid({ ...checkFields(fields), ...missing, ...problems })
  const { chatbotId } = fields as { chatbotId: string }
  await requireAgent(db, accountId, chatbotId)
  const squared = await squarePicture(file?.bytes ?? new Uint8Array())
  if ('problem' in squared) throw invalidField(multipart.file, squared.problem)
  await storePicture(db, accountId, chatbotId, kind, squared.png)
}

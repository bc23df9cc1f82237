import type { FastifyReply } from 'fastify'
import { deletePicture, storePicture } from '../../agents/pictures/pictures.ts'
import { squarePicture } from '../../agents/pictures/square-picture.ts'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import type { PictureKind } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Form, Upload } from '../../platform/http/bodies/uploads.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { bodyValidator, nameIgnored, refuseInvalid } from '../../platform/http/input/validate.ts'
import { type Repeatable, type Route, route } from '../../platform/http/route.ts'
import * as contract from './pictures-contract.ts'

type PictureRequest = { form: Form | null; reply: FastifyReply; once: Repeatable['once'] }
type PictureUpload = { kind: PictureKind; file: string }

const checkFields = bodyValidator(contract.uploadIcon.multipart.fields)

export const pictureRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.uploadIcon, { idempotencyMode: 'manual' }, ({ caller: { account }, form, reply, once }) => {
    const upload = { ...contract.uploadIcon.multipart, kind: 'icon' as const }
    return keepUpload(ctx, account.id, upload, { form, reply, once }, 'Chatbot icon uploaded successfully')
  }),
  route(
    contract.uploadProfilePicture,
    { idempotencyMode: 'manual' },
    ({ caller: { account }, form, reply, once }) => {
      const upload = { ...contract.uploadProfilePicture.multipart, kind: 'profile' as const }
      return keepUpload(
        ctx,
        account.id,
        upload,
        { form, reply, once },
        'Profile picture uploaded successfully',
      )
    },
  ),
  route(contract.deleteIcon, async ({ caller: { account }, query }) => {
    await deletePicture(ctx.db, { accountId: account.id, agentId: query.chatbotId }, 'icon')
    return { message: 'Chatbot icon deleted successfully' }
  }),
  route(contract.deleteProfilePicture, async ({ caller: { account }, query }) => {
    await deletePicture(ctx.db, { accountId: account.id, agentId: query.chatbotId }, 'profile')
    return { message: 'Profile picture deleted successfully' }
  }),
]

async function keepUpload(
  { db }: Pick<Context, 'db'>,
  accountId: AccountId,
  { kind, file: name }: PictureUpload,
  { form, reply, once }: PictureRequest,
  message: string,
): Promise<{ message: string }> {
  if (!form) throw new ApiError('VALIDATION_UNSUPPORTED_MEDIA_TYPE')
  const { fields, file, strangers, problems } = form
  const wrong = checkFields(fields, strangers)
  nameIgnored(reply, strangers)
  const missing = file ? {} : { [name]: 'This field is required.' }
  refuseInvalid({ ...wrong, ...missing, ...problems })
  const { chatbotId } = fields as { chatbotId: string }
  await requireAgent(db, { accountId, agentId: chatbotId })
  const squared = await (file as Upload).whole(squarePicture)
  if ('problem' in squared) throw invalidField(name, squared.problem)
  return once(async (inside) => {
    await storePicture(inside, { accountId, agentId: chatbotId }, kind, squared.png)
    return { message }
  })
}

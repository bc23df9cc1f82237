import { Exact } from '../../platform/http/contract.ts'
import { ChatbotId, Said, version1 } from '../schema.ts'

const MAX_PICTURE_BYTES = 1_048_576

const upload = {
  method: 'POST',
  tag: 'Pictures',
  scope: 'agents:write',
  success: { status: 200, schema: Said },
  errors: ['AGENT_NOT_FOUND'],
} as const

const multipart = { fields: Exact({ chatbotId: ChatbotId }), maxBytes: MAX_PICTURE_BYTES }

const removal = {
  method: 'DELETE',
  tag: 'Pictures',
  scope: 'agents:write',
  query: Exact({ chatbotId: ChatbotId }),
  success: { status: 200, schema: Said },
  errors: ['AGENT_NOT_FOUND'],
} as const

export const uploadIcon = version1({
  ...upload,
  path: '/upload-chatbot-icon',
  name: 'uploadIcon',
  summary: 'Set the icon of a chatbot',
  multipart: { ...multipart, file: 'chatbotIconFile' },
})

export const uploadProfilePicture = version1({
  ...upload,
  path: '/upload-chatbot-profile-picture',
  name: 'uploadProfilePicture',
  summary: 'Set the profile picture of a chatbot',
  multipart: { ...multipart, file: 'profilePictureFile' },
})

export const deleteIcon = version1({
  ...removal,
  path: '/delete-chatbot-icon',
  name: 'deleteIcon',
  summary: 'Remove the icon of a chatbot',
})

export const deleteProfilePicture = version1({
  ...removal,
  path: '/delete-chatbot-profile-picture',
  name: 'deleteProfilePicture',
  summary: 'Remove the profile picture of a chatbot',
})

import Type from 'typebox'
import { Exact, IsoTime, Nullable, OneOf } from '../http/contract.ts'

export const statusCategories = ['new', 'on_you', 'on_customer', 'on_hold', 'closed', 'cancelled'] as const
export const priorities = ['none', 'low', 'normal', 'high', 'urgent'] as const

/** Contract, section 8. */
export const Ticket = Exact({
  ticketNumber: Type.Integer({ minimum: 1 }),
  subject: Nullable(Type.String()),
  description: Nullable(Type.String()),
  statusCategory: OneOf(statusCategories),
  statusId: Type.String(),
  assigneeId: Nullable(Type.String()),
  customer: Exact({
    id: Nullable(Type.String()),
    name: Nullable(Type.String()),
    email: Nullable(Type.String()),
    phoneNumber: Nullable(Type.String()),
  }),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  channel: Type.String(),
  conversationId: Nullable(Type.String()),
  teamId: Nullable(Type.String()),
  priority: OneOf(priorities),
  createdAt: IsoTime,
  updatedAt: IsoTime,
  lastMessageAt: Nullable(IsoTime),
})

import * as v from 'valibot'
import { REACHES, SERVICE_RIGHTS } from '../../core/access.ts'
import { type ErrorReason, REASONS } from '../../core/error-table.ts'
import { Id } from '../../core/schema.ts'
import { ConversationAct } from '../conversations/schema.ts'

/** What is explained in a conversation: what its readers are told of, and whether one reads it at all. */
export const ACTS_IN_CONVERSATION = [...ConversationAct.options, 'read'] as const
export type ActInConversation = (typeof ACTS_IN_CONVERSATION)[number]

const ACTS = [...new Set([...SERVICE_RIGHTS, ...ACTS_IN_CONVERSATION])]

/** What is explained: whether a user may do something in the service, or in a conversation. */
export const ExplainQuery = v.object({
  user_id: Id,
  act: v.picklist(ACTS, `must be one of ${ACTS.join(', ')}`),
  conversation_id: v.optional(Id),
})
export type ExplainQuery = v.InferOutput<typeof ExplainQuery>

/** Whether a user may do something, and why not. */
export const Explanation = v.object({
  act: v.string(),
  allowed: v.boolean(),
  reach: v.optional(
    v.pipe(
      v.picklist(REACHES),
      v.description('How far a right about other persons goes: towards those of a common conversation, or everybody'),
    ),
  ),
  reason: v.optional(
    v.pipe(
      v.picklist(Object.keys(REASONS) as ErrorReason[]),
      v.description('As in the error body of the refused call'),
    ),
  ),
  right: v.optional(v.pipe(v.string(), v.description('The right that is missing, or what the policy decides about'))),
  message: v.pipe(v.string(), v.description('A sentence for people')),
  roles: v.pipe(v.array(v.string()), v.description('The roles of the user in the service')),
  role: v.optional(v.pipe(v.string(), v.description('The role in the conversation; missing without one'))),
})
export type Explanation = v.InferOutput<typeof Explanation>

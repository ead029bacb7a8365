import * as v from 'valibot'
import { User } from '../../accounts/users/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { opaque } from '../../core/schema.ts'
import { ConversationPage } from '../conversations/schema.ts'
import { ThreadPage, TreePage } from '../threads/schema.ts'
import { RepliesPage, TimelinePage } from '../timeline/schema.ts'

export const SnapshotInput = v.object({
  conversation_id: v.optional(
    v.pipe(
      opaque(MAX_LENGTH.token),
      v.description('The conversation that the page shows: its messages and its threads'),
    ),
  ),
  root_id: v.optional(
    v.pipe(opaque(MAX_LENGTH.token), v.description('The thread that the page shows: its tree and its replies')),
  ),
})
export type SnapshotInput = v.InferOutput<typeof SnapshotInput>

/** What a page shows first, as JSON: the first page of each list. One that is missing is read by the page itself. */
export const Snapshot = v.object({
  user: User,
  conversations: v.optional(ConversationPage),
  messages: v.optional(TimelinePage),
  threads: v.optional(v.object({ conversation_id: v.string(), ...ThreadPage.entries })),
  replies: v.optional(RepliesPage),
  tree: v.optional(TreePage),
})
export type Snapshot = v.InferOutput<typeof Snapshot>

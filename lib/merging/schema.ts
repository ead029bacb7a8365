import * as v from 'valibot'
import { Subject, User } from '../accounts/users/schema.ts'
import { Id } from '../core/schema.ts'

export const MergedById = v.strictObject({ user_id: Id })
export const MergedBySubject = v.strictObject({ subject: v.pipe(Subject, v.description('Your own id of the person')) })

/** A user by id, or by the host's own id. */
export const MergedPerson = v.union([MergedById, MergedBySubject])
export type MergedPerson = v.InferOutput<typeof MergedPerson>

export const MergeInput = v.object({ from: MergedPerson, into: MergedPerson })
export type MergeInput = v.InferOutput<typeof MergeInput>

/** The numbers of what was moved. */
export const Moved = v.object({
  messages: v.pipe(v.number(), v.integer()),
  conversations: v.pipe(v.number(), v.integer()),
})

/** The user that has everything of both now. */
export const Merged = v.object({ user: User, moved: Moved })
export type Merged = v.InferOutput<typeof Merged>

import * as v from 'valibot'
import { Subject, Username } from '../../accounts/users/schema.ts'
import { Id, oneNamed } from '../../core/schema.ts'

export const DirectById = v.object({ user_id: Id })
export const DirectByUsername = v.object({ username: Username })

/** The other person of a direct conversation: by id or username. */
export const DirectInput = oneNamed(v.union([DirectById, DirectByUsername]), ['user_id', 'username'])
export type DirectInput = v.InferOutput<typeof DirectInput>

export const DirectBySubject = v.object({
  subject: v.pipe(Subject, v.description("The host's own id of a person")),
})

/** The other person, in the process: a host may also pass its own id of a person. */
export const AnyDirectInput = oneNamed(v.union([DirectById, DirectByUsername, DirectBySubject]), [
  'user_id',
  'username',
  'subject',
])
export type AnyDirectInput = v.InferOutput<typeof AnyDirectInput>

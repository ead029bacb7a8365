import * as v from 'valibot'
import { Id, withoutArrays } from '../../core/schema.ts'

/** The number of persons that one message mentions at most. */
export const MAX_PERSONS = 50

/** The users that a post mentions, if its text is not to be searched for that. */
export const MentionsInput = v.pipe(
  withoutArrays(
    v.object({
      user_ids: v.optional(
        v.pipe(
          v.array(Id),
          v.maxLength(MAX_PERSONS, `must be at most ${MAX_PERSONS} entries`),
          v.description('Users who are no participants are left out'),
        ),
      ),
      all: v.optional(
        v.pipe(v.boolean(), v.description('All participants, if the policy of the conversation allows it')),
      ),
    }),
  ),
  v.description('Without it, `@username` and `@all` are searched for in the text'),
)
export type MentionsInput = v.InferOutput<typeof MentionsInput>

/** The users that a message mentions. */
export const Mentions = v.object({
  user_ids: v.pipe(v.array(Id), v.description('In the order of the ids')),
  all: v.optional(v.pipe(v.literal(true), v.description('All participants'))),
})
export type Mentions = v.InferOutput<typeof Mentions>

import * as v from 'valibot'
import { Id, withoutArrays } from '../../core/schema.ts'
import { AssistantKey } from '../assistants/schema.ts'

/** The number of persons that one message mentions at most. */
export const MAX_PERSONS = 50

/** The number of assistants that one message asks at most. */
export const MAX_ASKED = 3

const PERSONS = {
  user_ids: v.optional(
    v.pipe(
      v.array(Id),
      v.maxLength(MAX_PERSONS, `must be at most ${MAX_PERSONS} entries`),
      v.description('Users who are no participants are left out'),
    ),
  ),
  all: v.optional(v.pipe(v.boolean(), v.description('All participants, if the policy of the conversation allows it'))),
}

/** The users that a message mentions, if its text is not to be searched for that. */
export const MentionsInput = v.pipe(
  withoutArrays(v.object(PERSONS)),
  v.description('Without it, `@username` and `@all` are searched for in the text'),
)
export type MentionsInput = v.InferOutput<typeof MentionsInput>

/** The users that a post mentions and the assistants that it asks, if its text is not to be searched for that. */
export const PostMentionsInput = v.pipe(
  withoutArrays(
    v.object({
      ...PERSONS,
      assistants: v.optional(
        v.pipe(
          v.array(AssistantKey),
          v.maxLength(MAX_ASKED, `must be at most ${MAX_ASKED} entries`),
          v.description('The keys of assistants, each of which replies to the message'),
        ),
      ),
    }),
  ),
  v.description('Without it, `@username`, `@all` and the keys of assistants are searched for in the text'),
)
export type PostMentionsInput = v.InferOutput<typeof PostMentionsInput>

/** The users that a message mentions, and the assistants that it asks. */
export const Mentions = v.object({
  user_ids: v.pipe(v.array(Id), v.description('In the order of the ids')),
  all: v.optional(v.pipe(v.literal(true), v.description('All participants'))),
  assistants: v.optional(v.pipe(v.array(v.string()), v.description('The keys of assistants that reply to it'))),
})
export type Mentions = v.InferOutput<typeof Mentions>

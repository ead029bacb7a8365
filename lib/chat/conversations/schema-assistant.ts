import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { plainObject, text } from '../../core/schema.ts'
import { AssistantKey } from '../assistants/schema.ts'

/** How many assistants a policy names at most. */
const MAX_ALLOWED = 33

/** All assistants, or none of them. */
export const AssistantScope = v.picklist(['all', 'none'])
export type AssistantScope = v.InferOutput<typeof AssistantScope>

/** The keys of assistants. */
export const AssistantKeys = v.pipe(
  v.array(AssistantKey),
  v.maxLength(MAX_ALLOWED, `must be at most ${MAX_ALLOWED} entries`),
)
export type AssistantKeys = v.InferOutput<typeof AssistantKeys>

/** The assistants that may be asked in a conversation: all, none, or these. */
export const AllowedAssistants = v.union([AssistantScope, AssistantKeys])
export type AllowedAssistants = v.InferOutput<typeof AllowedAssistants>

/** Which assistant is asked in a conversation where nothing chooses another one, and what all of them are told in it. */
export const ConversationAssistant = v.object({
  key: v.optional(v.string()),
  prompt: v.optional(v.pipe(v.string(), v.description('Missing in lists of conversations'))),
})
export type ConversationAssistant = v.InferOutput<typeof ConversationAssistant>

// Without a name: generators of clients know null in a list of types only.
export const AssistantChange = v.pipe(
  v.nullable(
    plainObject({
      key: v.optional(AssistantKey),
      prompt: v.optional(
        v.pipe(
          text(MAX_LENGTH.assistant_prompt),
          v.check(
            (prompt) => Buffer.byteLength(prompt) <= MAX_LENGTH.assistant_prompt,
            `must be at most ${MAX_LENGTH.assistant_prompt} bytes of UTF-8`,
          ),
          v.description('At most 8,192 bytes of UTF-8. All participants read it'),
        ),
      ),
    }),
  ),
  v.description('Replaces both fields: a missing one is none. `null`: the default, without a prompt'),
)
